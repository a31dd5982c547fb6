//! `ssh` to another host: a private `sshd` behind a `ProxyCommand` plays it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use engine::transfer::{Carrier, TransferFailure, TransferRequest, Way, other_host};
use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::stage::{openssh, request};
use crate::support::program;

pub(crate) fn tests() -> Vec<Trial> {
    trials![
        a_host_carries_bytes_both_ways,
        a_refused_cipher_is_no_reason_to_give_up,
        a_host_that_cannot_be_reached_is,
    ]
}

fn a_host_carries_bytes_both_ways() {
    let Some((_folder, mut carrier)) = carrier("far") else {
        return;
    };
    for way in Way::BOTH {
        let run = carrier.run(&request(way, Duration::from_secs(60), 1_000_003));
        let run = run.unwrap();
        assert_eq!((run.bytes, run.server), (1_000_003, None), "{way}");
        assert!(run.seconds > 0.0 && run.client.user + run.client.system > 0.0);
        let empty = carrier
            .run(&request(way, Duration::ZERO, u64::MAX))
            .unwrap();
        assert_eq!((empty.bytes, empty.seconds), (0, 0.0), "{way}");
    }
}

fn a_refused_cipher_is_no_reason_to_give_up() {
    let Some((_folder, mut carrier)) = carrier("far") else {
        return;
    };
    let good = request(Way::Up, Duration::from_millis(20), 100_000);
    let refused = TransferRequest {
        cipher: "aes256-cbc".to_owned(),
        ..good.clone()
    };
    match carrier.run(&refused) {
        Err(TransferFailure::Refused(why)) => {
            assert!(why.contains("no matching cipher"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    assert!(carrier.run(&good).unwrap().bytes > 0);
}

fn a_host_that_cannot_be_reached_is() {
    let Some((_folder, mut carrier)) = carrier("closed") else {
        return;
    };
    let request = request(Way::Down, Duration::from_millis(20), 1000);
    match carrier.run(&request) {
        Err(TransferFailure::Impossible { why, cure }) => {
            assert!(why.starts_with("closed: "), "{why}");
            assert!(cure.contains("BatchMode=yes closed true"), "{cure}");
        }
        other => panic!("{other:?}"),
    }
}

/// A carrier to a host of a configuration with two, of which one answers.
fn carrier(host: &str) -> Option<(TempDir, Box<dyn Carrier + Send>)> {
    let installed = openssh()?;
    let sshd = program("sshd", "openssh-server")?;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let made = Command::new(program("ssh-keygen", "openssh-client")?)
        .args(["-q", "-t", "ed25519", "-N", "", "-f", &at("id")])
        .status();
    assert!(made.unwrap().success());
    let server = format!(
        "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPermitUserRC no\nPermitRootLogin yes\nSetEnv HOME=/nonexistent\n",
        at("id"),
        at("id.pub"),
    );
    fs::write(at("sshd_config"), server).unwrap();
    let client = format!(
        "Host far\n  ProxyCommand {}\nHost closed\n  ProxyCommand false\nHost *\n  IdentityFile {}\n  IdentitiesOnly yes\n  IdentityAgent none\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  Compression yes\n  RequestTTY force\n",
        server_command(&sshd, &at("sshd_config"), folder.path()),
        at("id"),
    );
    fs::write(at("ssh_config"), client).unwrap();
    let options = [OsString::from("-F"), at("ssh_config").into()];
    let carrier = other_host(&installed, host, &options, Arc::default()).unwrap();
    Some((folder, carrier))
}

/// For root with the folder that `sshd` wants, which a machine without an ssh service lacks.
fn server_command(sshd: &Path, configuration: &str, ours: &Path) -> String {
    let plain = format!("{} -i -f {configuration}", sshd.display());
    if fs::metadata(ours).unwrap().uid() != 0 || Path::new("/run/sshd").is_dir() {
        return plain;
    }
    let script = format!("mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec {plain}");
    format!("unshare --mount --propagation private sh -c '{script}'")
}
