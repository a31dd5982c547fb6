//! `dbclient` to a private `dropbear` and to a private `sshd`.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::algorithm::Cipher;
use engine::installed::Installed;
use engine::installed::releases::Release;
use engine::transfer::{Carrier, Implementation, TransferFailure, TransferRequest, Way};
use libtest_mimic::Trial;

use crate::openssh::check;
use crate::stage::{both_ends, carrier_by, request};

pub(crate) fn tests() -> Vec<Trial> {
    trials![
        every_cipher_of_dropbear_carries_bytes_both_ways,
        a_session_without_time_is_a_handshake,
        no_more_than_the_most_bytes_go_through_a_session,
        a_cipher_dbclient_lacks_is_refused_in_its_words,
        a_cancelled_session_stops,
        a_missing_dropbear_is_named,
        every_byte_reaches_the_cipher,
    ]
}

const BOTH: [Implementation; 2] = [Implementation::Dropbear, Implementation::DropbearToOpenSsh];

/// Carriers of the implementations that are here, each with what is installed.
fn carriers() -> impl Iterator<Item = (Installed, Box<dyn Carrier + Send>)> {
    BOTH.into_iter().filter_map(|implementation| {
        let installed = both_ends(implementation)?;
        let carrier = carrier_by(implementation, &installed, &Arc::default()).unwrap();
        assert_eq!(carrier.implementation(), implementation);
        Some((installed, carrier))
    })
}

fn every_cipher_of_dropbear_carries_bytes_both_ways() {
    for (installed, mut carrier) in carriers() {
        let dropbear = installed.dropbear.unwrap();
        assert!(dropbear.ciphers.len() >= 2, "{dropbear:?}");
        for cipher in dropbear.ciphers {
            let is_aead = cipher.parse::<Cipher>().is_ok_and(Cipher::is_aead);
            let macs = dropbear.macs.iter().cloned().map(Some);
            let macs: Vec<_> = if is_aead { vec![None] } else { macs.collect() };
            for mac in macs {
                for way in Way::BOTH {
                    let request = TransferRequest {
                        cipher: cipher.clone(),
                        mac: mac.clone(),
                        way,
                        slice: Duration::from_millis(30),
                        most_bytes: 4 << 20,
                    };
                    check(carrier.as_mut(), &request);
                }
            }
        }
    }
}

fn a_session_without_time_is_a_handshake() {
    for (_, mut carrier) in carriers() {
        for way in Way::BOTH {
            let run = carrier
                .run(&request(way, Duration::ZERO, u64::MAX))
                .unwrap();
            assert_eq!((run.bytes, run.seconds), (0, 0.0));
            let server = run.server.unwrap();
            assert!(run.client.user + run.client.system > 0.0, "{run:?}");
            assert!(server.user + server.system > 0.0, "{run:?}");
        }
    }
}

fn no_more_than_the_most_bytes_go_through_a_session() {
    for (_, mut carrier) in carriers() {
        for way in Way::BOTH {
            let run = carrier.run(&request(way, Duration::from_secs(60), 1_000_003));
            assert_eq!(run.unwrap().bytes, 1_000_003);
        }
    }
}

fn a_cipher_dbclient_lacks_is_refused_in_its_words() {
    for (_, mut carrier) in carriers() {
        let good = request(Way::Down, Duration::from_secs(1), 1000);
        let bad = TransferRequest {
            cipher: "rot13".to_owned(),
            ..good.clone()
        };
        match carrier.run(&bad) {
            Err(TransferFailure::Refused(words)) => {
                assert!(words.contains("dbclient says: "), "{words}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(carrier.run(&good).unwrap().bytes, 1000);
    }
}

fn a_cancelled_session_stops() {
    for implementation in BOTH {
        let Some(installed) = both_ends(implementation) else {
            continue;
        };
        let cancel = Arc::new(AtomicBool::new(false));
        let mut carrier = carrier_by(implementation, &installed, &cancel).unwrap();
        let run = std::thread::spawn(move || {
            carrier.run(&request(Way::Up, Duration::from_secs(3600), u64::MAX))
        });
        std::thread::sleep(Duration::from_millis(100));
        cancel.store(true, Ordering::Relaxed);
        assert_eq!(run.join().unwrap(), Err(TransferFailure::Cancelled));
    }
}

fn a_missing_dropbear_is_named() {
    let Some(installed) = both_ends(Implementation::DropbearToOpenSsh) else {
        return;
    };
    let changed = |change: fn(&mut Installed)| {
        let mut installed = installed.clone();
        change(&mut installed);
        installed
    };
    let no_client = changed(|it| it.dropbear = None);
    let server_only =
        changed(|it| it.dropbear.as_mut().unwrap().path = "/usr/sbin/dropbear".to_owned());
    let no_server = changed(|it| it.dropbear_server = None);
    let no_sshd = changed(|it| it.server = None);
    let old_sshd = changed(|it| it.server.as_mut().unwrap().release = Release::new(7, 7));
    let (dropbear, sshd) = (Implementation::Dropbear, Implementation::DropbearToOpenSsh);
    for (implementation, installed, why, cure) in [
        (dropbear, &no_client, "no dbclient", "dropbear-bin"),
        (dropbear, &server_only, "no dbclient", "dropbear-bin"),
        (dropbear, &no_server, "no dropbear", "dropbear-bin"),
        (sshd, &no_client, "no dbclient", "dropbear-bin"),
        (sshd, &no_sshd, "no sshd", "install OpenSSH"),
        (sshd, &old_sshd, "OpenSSH 7.7", "OpenSSH 7.8"),
    ] {
        match carrier_by(implementation, installed, &Arc::default()).map(|_| ()) {
            Err(TransferFailure::Impossible { why: w, cure: c }) => {
                assert!(w.contains(why) && c.contains(cure), "{w}; {c}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Dropbear makes next to nothing of a payload that repeats itself, and its cipher would be idle.
fn every_byte_reaches_the_cipher() {
    let Some(installed) = both_ends(Implementation::Dropbear) else {
        return;
    };
    let loopback = || -> u64 {
        let table = fs::read_to_string("/proc/net/dev").unwrap();
        let line = table.lines().find_map(|it| it.trim().strip_prefix("lo:"));
        let received = line.unwrap().split_ascii_whitespace().next();
        received.unwrap().parse().unwrap()
    };
    let mut carrier = carrier_by(Implementation::Dropbear, &installed, &Arc::default()).unwrap();
    let before = loopback();
    let run = carrier.run(&request(Way::Down, Duration::from_secs(60), 2 << 20));
    assert_eq!(run.unwrap().bytes, 2 << 20);
    // Others may use the loopback too: a compressed payload would be missed by them alone.
    assert!(loopback() - before >= 2 << 20);
}
