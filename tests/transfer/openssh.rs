//! `ssh` to a private `sshd`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::algorithm::Cipher;
use engine::installed::Installed;
use engine::installed::releases::Release;
use engine::transfer::{Carrier, Run, TransferFailure, TransferRequest, Way};
use libtest_mimic::Trial;

use crate::stage::{carrier_of, openssh, request};

pub(crate) fn tests() -> Vec<Trial> {
    trials![
        every_cipher_carries_bytes_both_ways,
        a_run_without_time_is_a_handshake,
        no_more_than_the_most_bytes_are_sent,
        what_is_refused_is_said_in_the_programs_words,
        a_cancelled_run_stops,
        what_is_missing_is_named,
    ]
}

fn every_cipher_carries_bytes_both_ways() {
    let Some((installed, mut carrier)) = carrier() else {
        return;
    };
    let ciphers = installed.client.unwrap().ciphers();
    assert!(ciphers.len() >= 6, "{ciphers:?}");
    for cipher in ciphers {
        let is_aead = cipher.parse::<Cipher>().is_ok_and(Cipher::is_aead);
        let mac = (!is_aead).then(|| "umac-64-etm@openssh.com".to_owned());
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

/// The bytes arrive, and nobody worked longer than there were processors.
pub(crate) fn check(carrier: &mut dyn Carrier, request: &TransferRequest) {
    let started = Instant::now();
    let run = carrier.run(request).unwrap();
    let wall = started.elapsed().as_secs_f64();
    assert!(run.bytes > 0 && run.bytes <= request.most_bytes, "{run:?}");
    assert!(run.seconds > 0.0 && run.seconds < wall, "{run:?}");
    let ends = [run.client, run.server.expect("the server is ours")];
    let spent = ends.map(|end| end.user + end.system);
    assert!(spent.iter().all(|&it| it > 0.0), "{request:?}: {run:?}");
    let processors = std::thread::available_parallelism().unwrap().get() as f64;
    assert!(spent[0] + spent[1] <= wall * processors, "{wall} {run:?}");
}

fn a_run_without_time_is_a_handshake() {
    let Some((_, mut carrier)) = carrier() else {
        return;
    };
    let run = carrier.run(&request(Way::Up, Duration::ZERO, u64::MAX));
    let Run {
        bytes,
        seconds,
        client,
        server,
    } = run.unwrap();
    assert_eq!((bytes, seconds), (0, 0.0));
    assert!(client.user + client.system > 0.0);
    assert!(server.is_some_and(|server| server.user + server.system > 0.0));
}

fn no_more_than_the_most_bytes_are_sent() {
    let Some((_, mut carrier)) = carrier() else {
        return;
    };
    for way in Way::BOTH {
        let run = carrier.run(&request(way, Duration::from_secs(60), 1_000_003));
        assert_eq!(run.unwrap().bytes, 1_000_003);
    }
}

fn what_is_refused_is_said_in_the_programs_words() {
    let Some((_, mut carrier)) = carrier() else {
        return;
    };
    let good = request(Way::Down, Duration::from_secs(1), 1000);
    let bad = TransferRequest {
        cipher: "rot13".to_owned(),
        ..good.clone()
    };
    match carrier.run(&bad) {
        Err(TransferFailure::Refused(words)) => assert!(words.contains("rot13"), "{words}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(carrier.run(&good).unwrap().bytes, 1000);
}

fn a_cancelled_run_stops() {
    let Some(installed) = openssh() else {
        return;
    };
    let cancel = Arc::new(AtomicBool::new(false));
    let mut carrier = carrier_of(&installed, &cancel).unwrap();
    let run = std::thread::spawn(move || {
        carrier.run(&request(Way::Up, Duration::from_secs(3600), u64::MAX))
    });
    std::thread::sleep(Duration::from_millis(100));
    cancel.store(true, Ordering::Relaxed);
    assert_eq!(run.join().unwrap(), Err(TransferFailure::Cancelled));
}

fn what_is_missing_is_named() {
    let Some(installed) = openssh() else {
        return;
    };
    let mut old = installed.clone();
    old.client.as_mut().unwrap().release = Release::new(6, 4);
    let without = Installed {
        server: None,
        ..installed.clone()
    };
    for (installed, why, cure) in [
        (old, "OpenSSH 6.4 forwards", "OpenSSH 6.7 or later"),
        (without, "no sshd", "install OpenSSH"),
    ] {
        match carrier_of(&installed, &Arc::default()).map(|_| ()) {
            Err(TransferFailure::Impossible { why: w, cure: c }) => {
                assert!(w.contains(why) && c.contains(cure), "{w}; {c}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// OpenSSH of this machine, and a carrier of it.
fn carrier() -> Option<(Installed, Box<dyn Carrier + Send>)> {
    let installed = openssh()?;
    let carrier = carrier_of(&installed, &Arc::default()).unwrap();
    Some((installed, carrier))
}
