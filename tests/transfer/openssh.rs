//! `ssh` to a private `sshd`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::algorithm::Cipher;
use engine::host::SystemCommands;
use engine::installed::{DiscoverRequest, Installed, discover};
use engine::transfer::{self, Carrier, FdPassHelper, Run, TransferRequest, Way};
use libtest_mimic::Trial;

use crate::support;

pub(crate) fn tests() -> Vec<Trial> {
    vec![Trial::test("every_cipher_carries_bytes_both_ways", || {
        every_cipher_carries_bytes_both_ways();
        Ok(())
    })]
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
            check(carrier.run(&request).unwrap(), &request);
        }
    }
}

fn check(run: Run, request: &TransferRequest) {
    let server = run.server.expect("the server is ours");
    assert!(run.bytes > 0 && run.bytes <= request.most_bytes, "{run:?}");
    assert!(run.seconds > 0.0, "{run:?}");
    for end in [run.client, server] {
        assert!(end.user + end.system > 0.0, "{request:?}: {run:?}");
    }
}

/// OpenSSH of this machine, and a carrier of it.
fn carrier() -> Option<(Installed, Box<dyn Carrier>)> {
    support::program("ssh", "openssh-client")?;
    support::program("sshd", "openssh-server")?;
    let installed = discover(&SystemCommands, &DiscoverRequest::default());
    let helper = FdPassHelper::this_program().unwrap();
    let carrier = transfer::openssh(&installed, helper, Arc::new(AtomicBool::new(false))).unwrap();
    Some((installed, carrier))
}
