//! `advisor transfer` and the main job with the real `ssh` and `sshd` carrying.
#![forbid(unsafe_code)]
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::program;

/// The command with a temporary directory of its own, which has to be empty in the end.
fn advisor(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_advisor"));
    command
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .env("HOME", folder)
        .env("TMPDIR", folder.join("tmp"))
        .stdin(Stdio::null());
    command
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tmp")).unwrap();
    folder
}

fn left_behind(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder.join("tmp")).unwrap();
    entries.map(|it| it.unwrap().path()).collect()
}

fn are_installed() -> bool {
    program("ssh", "openssh-client").is_some() && program("sshd", "openssh-server").is_some()
}

/// Whether this account can carry at all: a container may let nobody log in.
fn can_carry(folder: &Path) -> bool {
    let ran = run(advisor(folder).args(["doctor", "--json"]));
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let possible = document["transfers_possible"] == true;
    let told = document["unavailable_transfers"].as_array().unwrap();
    assert_eq!(
        possible,
        told.is_empty(),
        "what is not possible has a reason"
    );
    possible
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap()
}

#[test]
fn every_cipher_goes_both_ways_or_says_why() {
    let folder = folder();
    if !are_installed() || !can_carry(folder.path()) {
        return;
    }
    let ran = run(advisor(folder.path()).args(["transfer", "--json", "--time-budget", "20s"]));
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let ciphers = document["openssh"]["client"]["ciphers"].as_array().unwrap();
    let told = |list: &str, cipher: &Value| {
        let mut list = document[list].as_array().unwrap().iter();
        list.any(|it| it["cipher"] == *cipher)
    };
    for cipher in ciphers {
        let is_told = told("transfers", cipher) || told("unavailable_transfers", cipher);
        assert!(is_told, "{cipher}");
    }
    for transfer in document["transfers"].as_array().unwrap() {
        assert!(transfer["user_s_per_gib"].as_f64().unwrap() > 0.0);
        assert!(transfer["server_cpu_s_per_gib"].is_array());
    }
    assert!(document["measurements"].as_array().unwrap().is_empty());
    assert_eq!(left_behind(folder.path()), [] as [&Path; 0]);
}

#[test]
fn dropbear_carries_where_it_is_named_or_alone() {
    let needed = [
        ("dbclient", "dropbear-bin"),
        ("dropbear", "dropbear-bin"),
        ("sshd", "openssh-server"),
    ];
    if needed.iter().any(|(it, from)| program(it, from).is_none()) {
        return;
    }
    let folder = folder();
    let both = "dropbear-to-openssh";
    for (args, by, time) in [
        (["--implementation", "dropbear"], "dropbear", "15s"),
        (["--implementation", both], both, "15s"),
        // As where OpenSSH has no client; too short for more than saying who would carry.
        (["--ssh", "no-such-ssh"], "dropbear", "100ms"),
    ] {
        let mut command = advisor(folder.path());
        command.args(["transfer", "--json", "--time-budget", time]);
        let ran = run(command.args(args));
        let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let list = |name: &str| document[name].as_array().unwrap().clone();
        let closed = list("unavailable_transfers");
        let told: Vec<Value> = list("transfers").iter().chain(&closed).cloned().collect();
        assert!(!told.is_empty());
        for it in told {
            assert_eq!(it["implementation"], by, "{it}");
        }
        assert_eq!(left_behind(folder.path()), [] as [&Path; 0]);
        if time == "100ms" || closed.iter().any(|it| it["cipher"].is_null()) {
            // A container may let nobody log in, or make no mounts.
            assert_eq!(ran.status.code(), Some(2), "{ran:?}");
            continue;
        }
        assert_eq!(ran.status.code(), Some(0), "{ran:?}");
        for transfer in list("transfers") {
            assert!(transfer["user_s_per_gib"].as_f64().unwrap() > 0.0);
            assert!(transfer["server_cpu_s_per_gib"].is_array());
        }
    }
}

#[test]
fn the_main_job_carries_unless_it_is_told_what_to_rest_on() {
    let folder = folder();
    if !are_installed() || !can_carry(folder.path()) {
        return;
    }
    let carried = |args: &[&str]| {
        let ran = run(advisor(folder.path()).args(["--json"]).args(args));
        assert_eq!(ran.status.code(), Some(0), "{ran:?}");
        let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let told = ["transfers", "unavailable_transfers"];
        let told = told.map(|list| document[list].as_array().unwrap().len());
        told[0] + told[1]
    };
    assert!(carried(&[]) > 0);
    assert_eq!(carried(&["--evidence", "packet", "--time-budget", "1s"]), 0);
    assert_eq!(carried(&["--profile", "mixed", "--time-budget", "1s"]), 0);
}

#[test]
fn a_signal_ends_with_what_was_carried_and_leaves_nothing() {
    let folder = folder();
    if !are_installed() || !can_carry(folder.path()) {
        return;
    }
    let mut command = advisor(folder.path());
    command.args(["transfer", "--json", "--time-budget", "5m"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    // Its folder is there once it has begun.
    while left_behind(folder.path()).is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let ran = child.wait_with_output().unwrap();
    assert_eq!(ran.status.code(), Some(130), "{ran:?}");
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(told.contains("interrupted"), "{told}");
    serde_json::from_slice::<Value>(&ran.stdout).unwrap();
    assert_eq!(left_behind(folder.path()), [] as [&Path; 0]);
}

#[test]
fn transfers_are_about_this_machine() {
    let folder = folder();
    for args in [
        ["transfer", "--root", "/"],
        ["transfer", "--measurements", "x.json"],
        ["--evidence=transfer", "--root", "/"],
    ] {
        let ran = run(advisor(folder.path()).args(args));
        assert_eq!(ran.status.code(), Some(2), "{args:?}");
        let told = String::from_utf8_lossy(&ran.stderr);
        assert!(told.contains("about the machine it runs on"), "{told}");
    }
}
