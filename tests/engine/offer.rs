//! What the installed programs offer, read from their own first packet.
#![cfg(unix)]
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use engine::host::SystemCommands;
use engine::installed::{client_offer, server_offer};

use crate::support::program;

#[test]
fn sshd_offers_what_its_file_says() {
    let (Some(sshd), Some(keygen)) = (
        program("sshd", "openssh-server"),
        program("ssh-keygen", "openssh-client"),
    ) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    let (file, key) = (directory.path().join("conf"), directory.path().join("key"));
    let made = Command::new(keygen)
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(&key)
        .status();
    assert!(made.unwrap().success());
    // Who has no rights must be able to read it, and is not its owner: then sshd does not look at the mode.
    if fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0) {
        fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::chown(&key, Some(1), None).unwrap();
    }
    fs::write(
        &file,
        "Ciphers aes256-ctr,aes128-gcm@openssh.com\nMACs hmac-sha2-256\n",
    )
    .unwrap();
    let offer = server_offer(&SystemCommands, &sshd, &file, &key, &[]).unwrap();
    assert_eq!(offer.ciphers, ["aes256-ctr", "aes128-gcm@openssh.com"]);
    assert_eq!(offer.macs, ["hmac-sha2-256"]);
    assert!(
        offer.version.starts_with("SSH-2.0-OpenSSH_"),
        "{}",
        offer.version
    );

    // What `sshd -T` hides: it prints the default here.
    fs::write(&file, "Ciphers -*\n").unwrap();
    let offer = server_offer(&SystemCommands, &sshd, &file, &key, &[]).unwrap();
    assert!(offer.ciphers.is_empty(), "{:?}", offer.ciphers);

    fs::write(&file, "Ciphers nonsense\n").unwrap();
    let refused = server_offer(&SystemCommands, &sshd, &file, &key, &[]).unwrap_err();
    assert!(
        refused.why.contains("Bad SSH2 cipher spec 'nonsense'"),
        "{refused}"
    );
}

#[test]
fn ssh_offers_what_its_options_say_again_and_again() {
    let Some(ssh) = program("ssh", "openssh-client") else {
        return;
    };
    let options = |more: &str| -> Vec<OsString> {
        vec![
            "-F".into(),
            "none".into(),
            format!("-oCiphers={more}").into(),
        ]
    };
    // What the program sends must not get lost when it ends: once is no proof.
    for _ in 0..20 {
        let offer = client_offer(
            &SystemCommands,
            &ssh,
            "host.invalid",
            &options("aes256-ctr,chacha20-poly1305@openssh.com"),
        )
        .unwrap();
        assert_eq!(
            offer.ciphers,
            ["aes256-ctr", "chacha20-poly1305@openssh.com"]
        );
        assert!(!offer.macs.is_empty());
    }
    let refused = client_offer(&SystemCommands, &ssh, "host.invalid", &options("nonsense"));
    let refused = refused.unwrap_err();
    assert!(refused.why.contains("Bad SSH2 cipher spec"), "{refused}");
}
