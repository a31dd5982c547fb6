//! The command where it writes: apply, check, rollback, and what stops them.
#![forbid(unsafe_code)]

use std::fs;
use std::process::{Command as Plain, Stdio};

use advisor::output::{Document, json};
use serde_json::Value;

use crate::report::machine;
use crate::world::{CLIENT, Ran, SERVER, World, advisor, write_script};

const JOURNAL_ENTRY: &str = "var/lib/cipher-advisor/journal/000001.json";

#[test]
fn apply_check_and_rollback_make_a_circle() {
    let world = World::new();
    let before = world.contents();
    assert_eq!(world.run(&["--check"]).code, 1);
    let applied = world.run(&["--apply", "--no-validate"]);
    assert_eq!(applied.code, 0, "{}", applied.err);
    let verdict = "Written: ssh now prefers aes128-gcm, which moves 1.8 × the data here.\n";
    assert!(applied.out.starts_with(verdict), "{}", applied.out);
    assert!(
        !applied.out.contains("warning"),
        "what was cured is no finding: {}",
        applied.out
    );
    let hint = "Written. `advisor --root FOLDER/tree --rollback` puts the old bytes back.\n";
    assert!(world.shown(&applied).contains(hint), "{}", applied.out);
    let drop_in = world
        .root()
        .join("etc/ssh/ssh_config.d/10-cipher-advisor.conf");
    let text = fs::read_to_string(&drop_in).unwrap();
    assert!(
        text.contains("\nCiphers ^aes128-gcm@openssh.com,aes256-gcm@openssh.com"),
        "{text}"
    );
    assert_eq!(world.run(&["--check"]).code, 0);
    let after = world.contents();
    let again = world.run(&["--apply", "--no-validate"]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.out.contains("Nothing to write."), "{}", again.out);
    assert_eq!(world.contents(), after);
    let back = world.run(&["--rollback"]);
    assert_eq!(back.code, 0, "{}", back.err);
    assert_eq!(world.contents(), before);
    let backup = back.out.lines().find(|line| line.contains("kept in"));
    assert!(backup.is_some(), "{}", back.out);
    assert!(!back.out.contains("The old bytes are in"), "{}", back.out);
    world.run(&["--rollback"]).fails_with("nothing to put back");
    assert_eq!(world.run(&["--check"]).code, 1);
}

/// Makes the first change one that was interrupted at the very end.
fn interrupt_the_first_change(world: &World) {
    let entry = world.root().join(JOURNAL_ENTRY);
    let text = fs::read_to_string(&entry).unwrap();
    fs::write(&entry, text.replace("\"done\"", "\"begun\"")).unwrap();
}

fn progress_of_the_first_change(world: &World) -> Value {
    let text = fs::read(world.root().join(JOURNAL_ENTRY)).unwrap();
    serde_json::from_slice::<Value>(&text).unwrap()["progress"].clone()
}

#[test]
fn an_interrupted_change_is_undone_before_the_next_is_planned() {
    let world = World::new();
    let both = ["--apply", "--no-validate", "-q", "--side", "both"];
    assert_eq!(world.run(&both).code, 0);
    interrupt_the_first_change(&world);
    world.write(SERVER, "Port 22\n");
    let ran = world.run(&both);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(progress_of_the_first_change(&world), "undone");
}

#[test]
fn a_rollback_of_an_interrupted_change_undoes_it() {
    let world = World::new();
    let before = world.contents();
    assert_eq!(world.run(&["--apply", "--no-validate", "-q"]).code, 0);
    assert_ne!(world.contents(), before);
    interrupt_the_first_change(&world);
    let ran = world.run(&["--rollback"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("as it was before"), "{}", ran.out);
    assert_eq!(progress_of_the_first_change(&world), "undone");
    assert_eq!(world.contents(), before);
    let again = world.run(&["--rollback"]);
    again.fails_with("nothing to put back");
}

#[test]
fn changes_are_listed_and_put_back_by_their_number() {
    let world = World::new();
    assert!(
        world
            .run(&["--rollback", "list"])
            .out
            .contains("has written nothing here")
    );
    let start = world.contents();
    let apply = |side| {
        world
            .run(&["--apply", "--no-validate", "-q", "--side", side])
            .code
    };
    assert_eq!(apply("client"), 0);
    let client = world.contents();
    assert_eq!(apply("server"), 0);
    let listed = world.run(&["--rollback", "list"]);
    assert_eq!(listed.code, 0, "{}", listed.err);
    let lines: Vec<&str> = listed
        .out
        .lines()
        .filter(|line| line.contains("in force  "))
        .collect();
    assert_eq!(lines.len(), 2, "{}", listed.out);
    assert!(lines[0].trim_start().starts_with("1  20"), "{}", listed.out);
    assert!(
        lines[1].ends_with("/etc/ssh/sshd_config.d/10-cipher-advisor.conf"),
        "{}",
        listed.out
    );
    let both = world.contents();
    assert_eq!(world.run(&["--rollback", "1", "-q"]).code, 0);
    assert_ne!(world.contents(), both);
    world
        .run(&["--rollback", "1"])
        .fails_with("no change 1, or it was put back already");
    world
        .run(&["--rollback", "x"])
        .fails_with("give the number of a change, or list");
    let json = world.run(&["--rollback=list", "--json"]).out;
    let document: Value = serde_json::from_str(&json).unwrap();
    let states: Vec<_> = document["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["state"].clone())
        .collect();
    assert_eq!(states, ["closed", "in-force", "closed"]);
    assert_eq!(document["history"][2]["rollback_of"], 1);
    assert_eq!(world.run(&["--rollback", "-q"]).code, 0);
    assert_eq!(world.contents(), start);
    assert_ne!(client, start);
}

#[test]
fn rollback_over_a_later_change_wants_force() {
    let world = World::new();
    let before = world.contents();
    assert_eq!(world.run(&["--apply", "--no-validate"]).code, 0);
    world.write(
        "etc/ssh/ssh_config.d/10-cipher-advisor.conf",
        "Ciphers aes256-ctr\n",
    );
    let edited = world.contents();
    let refused = world.run(&["--rollback"]);
    refused.fails_with("--force puts the old bytes back all the same");
    assert_eq!(world.contents(), edited);
    let forced = world.run(&["--rollback", "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.err);
    assert_eq!(world.contents(), before);
    world.run(&["--force"]).fails_with("--rollback");
}

#[test]
fn both_sides_are_written_as_one() {
    let world = World::new();
    let ran = world.run(&["--apply", "--no-validate", "--side", "both", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["changed"], true);
    assert_eq!(document["changes"].as_array().unwrap().len(), 2);
    for side in ["client", "server"] {
        let order = &document["recommendation"][side]["order"];
        assert_eq!(
            &document["configuration"][side]["effective"], order,
            "{side}"
        );
    }
    assert_eq!(world.run(&["--check", "--side", "both"]).code, 0);
}

#[test]
fn the_installed_programs_accept_what_is_written() {
    let ssh = crate::support::program("ssh", "openssh-client");
    let sshd = crate::support::program("sshd", "openssh-server");
    let (Some(ssh), Some(sshd)) = (ssh, sshd) else {
        return;
    };
    let world = World::new();
    let programs = [
        "--ssh",
        ssh.to_str().unwrap(),
        "--sshd",
        sshd.to_str().unwrap(),
    ];
    let both = |action: &str| world.run(&[&[action, "--side", "both"][..], &programs].concat());
    let before = world.contents();
    let applied = both("--apply");
    assert_eq!(applied.code, 0, "{}", applied.err);
    let after = world.contents();
    assert_ne!(after, before);
    assert_eq!(both("--check").code, 0);
    assert_eq!(both("--apply").code, 0);
    assert_eq!(world.contents(), after);
    assert_eq!(world.run(&["--rollback"]).code, 0);
    assert_eq!(world.contents(), before);
}

#[test]
fn what_sshd_refuses_is_not_written() {
    let world = World::new();
    let sshd = world.folder.path().join("sshd");
    let script = "#!/bin/sh\ncase \"$*\" in *-t*) echo 'line 3: no' >&2; exit 255;; esac\necho 'OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.19' >&2; exit 1\n";
    write_script(&sshd, script);
    let before = world.below("");
    let ran = world.run(&[
        "--apply",
        "--side",
        "server",
        "--sshd",
        sshd.to_str().unwrap(),
    ]);
    ran.fails_with("line 3: no");
    assert_eq!(world.below(""), before);
}

#[test]
fn a_servers_order_is_a_difference_only_when_asked_for() {
    let world = World::new();
    world.write(
        CLIENT,
        "Ciphers ^aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr\n",
    );
    assert_eq!(world.run(&["--check"]).code, 0);
    assert_eq!(world.run(&["--check", "--side", "server"]).code, 1);
    assert_eq!(world.run(&["--check", "--side", "both"]).code, 1);
}

#[test]
fn what_is_written_is_no_failure_because_nobody_can_be_told() {
    let world = World::new();
    let mut command = advisor();
    command.arg("--root").arg(world.root());
    command.arg("--measurements").arg(world.saved());
    let ran = Ran::of(command.args(["--apply", "--no-validate", "-o", "/dev/full"]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err
            .contains("the change is written, but not its report"),
        "{}",
        ran.err
    );
    assert_eq!(world.run(&["--check"]).code, 0);
}

#[test]
fn without_evidence_there_is_no_advice_to_agree_with() {
    let world = World::new();
    fs::write(world.saved(), json(&Document::new(machine()))).unwrap();
    let before = world.contents();
    assert_eq!(world.run(&[]).code, 0, "a dry run shows what there is");
    world
        .run(&["--check"])
        .fails_with("no advice: it would rest on nothing");
    world
        .run(&["--apply"])
        .fails_with("no advice: it would rest on nothing");
    assert_eq!(world.contents(), before);
    world.write(CLIENT, "Ciphers aes256-ctr\n");
    assert_eq!(world.run(&["--check"]).code, 0, "one cipher has one order");
}

#[test]
fn a_plan_that_is_refused_is_told_and_applied_never() {
    let world = World::new();
    world.write(CLIENT, "Host old\n    Ciphers +3des-cbc\n");
    let before = world.contents();
    let shown = world.run(&[]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(
        shown.out.contains("this program will not write the order"),
        "{}",
        shown.out
    );
    for shown in [shown, world.run(&["--check"])] {
        let text = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let told = "Will not write: /etc/ssh/ssh_config:2:13: this line gives some hosts a list";
        assert!(text.contains(told), "{text}");
        assert!(!text.contains("Nothing to write."), "{text}");
        assert!(!text.contains("writes this"), "{text}");
    }
    let ran = world.run(&["--apply", "--no-validate"]);
    ran.fails_with("/etc/ssh/ssh_config:2:13: this line gives some hosts a list of their own");
    assert_eq!(world.contents(), before);
}

#[test]
fn a_configuration_ssh_would_refuse_fails_the_check() {
    let world = World::new();
    world.write(CLIENT, "Port 22\nCiphers aes128-gcm\n");
    let ran = world.run(&["--check"]);
    ran.fails_with("/etc/ssh/ssh_config:2:");
    ran.fails_with("Bad SSH2 cipher spec");
    for format in ["--plain", "--markdown"] {
        let shown = world.run(&[format]).out;
        let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let headline = "ssh refuses this configuration: /etc/ssh/ssh_config:2:";
        assert!(text.trim_start_matches('*').starts_with(headline), "{text}");
        let reason = "Will not write: /etc/ssh/ssh_config:2:";
        assert!(text.contains(reason), "{text}");
        assert!(!text.contains("Recommended for the client"), "{text}");
    }
    assert_eq!(world.run(&["--check", "--side", "server"]).code, 1);
}

#[test]
fn an_interrupt_ends_it_with_130_and_nothing_changed() {
    let world = World::new();
    let before = world.contents();
    // It waits for its report on standard input, which never comes.
    let mut child = Plain::new(env!("CARGO_BIN_EXE_advisor"))
        .arg("--root")
        .arg(world.root())
        .args(["--apply", "--measurements", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until_interrupts_are_caught(child.id());
    let sent = Plain::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    // Standard input is to stay open until the signal has arrived.
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(output.status.code(), Some(130));
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told, "interrupted: nothing was changed\n");
    assert_eq!(world.contents(), before);
}

/// SIGINT is bit 1 of the mask of caught signals (proc_pid_status(5)).
fn wait_until_interrupts_are_caught(pid: u32) {
    loop {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = u64::from_str_radix(mask.unwrap().trim(), 16).unwrap();
        if mask & 0b10 != 0 {
            return;
        }
        std::thread::yield_now();
    }
}
