//! The command on bad input of every kind: arguments, reports, policies, configuration files.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command as Plain;

use advisor::output::{Document, json};
use assert_cmd::Command;
use serde_json::Value;

use crate::report::fast_aes;
use crate::support::program;
use crate::world::{CLIENT, Ran, SERVER, World, advisor, write_script};

#[test]
fn a_report_names_no_program_to_run() {
    let world = World::new();
    let marker = world.folder.path().join("ran");
    let program = world.folder.path().join("evil");
    write_script(
        &program,
        &format!("#!/bin/sh\ntouch {}\n", marker.display()),
    );
    let mut document: Value = serde_json::from_slice(&fs::read(world.saved()).unwrap()).unwrap();
    for side in ["client", "server"] {
        document["openssh"][side]["path"] = program.to_str().unwrap().into();
    }
    fs::write(world.saved(), document.to_string()).unwrap();
    for args in [
        &["--apply", "--side", "both"][..],
        &["--check"],
        &["doctor"],
        &["explain"],
    ] {
        world.run(args);
        assert!(!marker.exists(), "{args:?}");
    }
}

#[test]
fn a_file_whose_name_is_no_text_is_shown_and_left_alone() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let name = std::ffi::OsStr::from_bytes(b"etc/ssh/odd-\xff.conf");
    world.write(CLIENT, "Include /etc/ssh/odd-*.conf\n");
    fs::write(
        world.root().join(name),
        "Ciphers aes256-ctr,aes128-gcm@openssh.com\n",
    )
    .unwrap();
    let before = world.contents();
    let ran = world.run(&["--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("/etc/ssh/odd-\u{fffd}.conf"),
        "{}",
        ran.out
    );
    world.run(&["--apply"]).fails_with("name is no UTF-8");
    assert_eq!(world.contents(), before);
}

#[test]
fn a_named_program_that_is_absent_is_named() {
    let world = World::new();
    world
        .run(&["--ssh", "/nonexistent/ssh"])
        .fails_with("/nonexistent/ssh: not found; give --ssh the path of an ssh");
    world
        .run(&["doctor", "--sshd", "/nonexistent/sshd"])
        .fails_with("/nonexistent/sshd: not found");
}

#[test]
fn wrong_usage_is_told_and_exits_with_2() {
    let world = World::new();
    for (args, message) in [
        (&["--faster"][..], "unexpected argument '--faster'"),
        (&["--apply", "--check"], "cannot be used with"),
        (&["--check", "--rollback"], "cannot be used with"),
        (&["--json", "--csv"], "cannot be used with"),
        (&["--no-validate"], "--apply"),
        (&["--check", "measure"], "go without a command"),
        (
            &["--time-budget", "soon"],
            "give a time from 100ms to 60m, like 10s",
        ),
        (
            &["--side", "left"],
            "[possible values: client, server, both]",
        ),
        (&["explain", "--csv"], "--csv has the measurements only"),
        (
            &["--user-config", "--side", "both"],
            "--user-config is about the client only",
        ),
        (&["--cpu-disable", "sse9"], "\"sse9\" is no instruction set"),
    ] {
        world.run(args).fails_with(message);
    }
}

#[test]
fn policies_are_read_and_refused_with_their_place() {
    let world = World::new();
    let policy = world.folder.path().join("site.toml");
    let path = policy.to_str().unwrap();
    fs::write(&policy, "forbidden = [\n  'aes128-gcm'\n]\n").unwrap();
    world.run(&["--policy", path]).fails_with(&format!(
        "{path}:2:3: \"aes128-gcm\" is no cipher; write \"aes128-gcm@openssh.com\""
    ));
    fs::write(&policy, "forbidden = ['aes128-gcm@openssh.com']\n").unwrap();
    let ran = world.run(&["--policy", path, "--json"]);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        document["recommendation"]["client"]["order"][0],
        "aes256-gcm@openssh.com"
    );
    let ids: Vec<_> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].clone())
        .collect();
    assert!(ids.contains(&"policy-objection".into()), "{ids:?}");
    world
        .run(&["--policy", "/nonexistent.toml"])
        .fails_with("is none of the built-in policies (balanced, cis, fips, stig)");
    world
        .run(&["--policy", "/"])
        .fails_with("/: cannot be read");
}

#[test]
fn reports_that_are_none_are_refused_with_their_place() {
    let world = World::new();
    let saved = world.saved();
    let name = saved.display();
    for (bytes, message) in [
        (&b"\x00\xff\xfe"[..], format!("{name}:1:1: expected value")),
        (b"", format!("{name}:1:0: EOF while parsing a value")),
        (
            b"{\"schema\": \"cipher-advisor/9\"}",
            format!("{name}: its schema is \"cipher-advisor/9\""),
        ),
        (
            b"{\"schema\": \"cipher-advisor/1\",\n \"host\": 1}",
            format!("{name}:2:10: invalid type: integer `1`"),
        ),
    ] {
        fs::write(&saved, bytes).unwrap();
        world.run(&[]).fails_with(&message);
    }
    fs::write(&saved, vec![b'['; 1 << 20]).unwrap();
    world.run(&[]).fails_with("saved.json:1:");
    fs::remove_file(&saved).unwrap();
    world.run(&[]).fails_with("saved.json: cannot be read");
    fs::create_dir(&saved).unwrap();
    world.run(&[]).fails_with("saved.json: cannot be read");
}

#[test]
fn impossible_speeds_are_refused() {
    let world = World::new();
    let mut report = fast_aes();
    report.measurements[3].gb_per_s = -1.0;
    fs::write(world.saved(), json(&Document::new(report))).unwrap();
    world
        .run(&[])
        .fails_with("measurements[3] has no possible speed");
}

#[test]
fn bad_configuration_files_are_findings_with_their_place() {
    let world = World::new();
    let long_line = [b"Ciphers ".to_vec(), vec![b'a'; 1 << 20], b"\n".to_vec()].concat();
    for bytes in [
        &b"\x01\xff\xfe\x00 junk\n"[..],
        &long_line,
        b"\xef\xbb\xbfCiphers aes128-ctr\n",
        b"Match\n",
    ] {
        world.write(CLIENT, bytes);
        world.write(SERVER, bytes);
        for args in [&["--json"][..], &["explain"], &["--side", "both"]] {
            let ran = world.run(args);
            assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        }
        let ran = world.run(&["--apply", "--no-validate", "--side", "both"]);
        ran.fails_with("nothing was changed");
        assert_eq!(fs::read(world.root().join(CLIENT)).unwrap(), bytes);
    }
}

#[test]
fn missing_files_and_directories_are_no_failure() {
    let world = World::new();
    for name in [CLIENT, SERVER] {
        fs::remove_file(world.root().join(name)).unwrap();
    }
    assert_eq!(world.run(&[]).code, 0);
    for name in [CLIENT, SERVER] {
        fs::create_dir(world.root().join(name)).unwrap();
    }
    let ran = world.run(&["--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out
            .contains("this is a directory, which reads as an empty file"),
        "{}",
        ran.out
    );
    Ran::of(advisor().args(["--root", "/nonexistent"]))
        .fails_with("/nonexistent: cannot be the root of a tree");
    Ran::of(advisor().args(["--root", "/etc/passwd"]))
        .fails_with("/etc/passwd: cannot be the root of a tree");
}

#[test]
fn a_link_out_of_the_tree_is_not_followed() {
    let world = World::new();
    let outside = world.folder.path().join("outside.conf");
    fs::write(&outside, "Ciphers aes128-ctr\n").unwrap();
    let link = world.root().join("etc/ssh/ssh_config.d/00-out.conf");
    std::os::unix::fs::symlink(&outside, link).unwrap();
    let document: Value = serde_json::from_str(&world.run(&["--json"]).out).unwrap();
    assert_eq!(
        document["configuration"]["client"]["source"]["default"],
        "OpenSSH 9.2"
    );
}

/// Somebody who may not read everything.
fn unprivileged(world: &World, args: &[&str]) -> Ran {
    fs::set_permissions(world.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Plain::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    let binary = world.folder.path().join("advisor");
    fs::copy(env!("CARGO_BIN_EXE_advisor"), &binary).unwrap();
    command
        .arg(binary)
        .args(args)
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .env("HOME", "/nonexistent");
    Ran::of(&mut Command::from_std(command))
}

#[test]
fn unreadable_files_are_findings() {
    let is_root = fs::read("/etc/shadow").is_ok();
    if !is_root || program("setpriv", "util-linux").is_none() {
        crate::support::skip("needs root and setpriv");
        return;
    }
    let world = World::new();
    let file = world.root().join(SERVER);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let (root, saved) = (world.root(), world.saved());
    let args = [
        "--root",
        root.to_str().unwrap(),
        "--measurements",
        saved.to_str().unwrap(),
    ];
    let ran = unprivileged(&world, &args);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out
            .contains("/etc/ssh/sshd_config cannot be read by this user"),
        "{}",
        ran.out
    );
    fs::set_permissions(&saved, fs::Permissions::from_mode(0o600)).unwrap();
    unprivileged(&world, &args).fails_with("saved.json: cannot be read: Permission denied");
}

#[test]
fn every_ssh_in_path_has_to_understand_a_users_file() {
    if program("ssh", "openssh-client").is_none() {
        return;
    }
    let world = World::new();
    let (home, old) = (
        world.folder.path().join("home"),
        world.folder.path().join("old"),
    );
    fs::create_dir_all(&home).unwrap();
    fs::create_dir_all(&old).unwrap();
    let ask = |script: &str| {
        write_script(&old.join("ssh"), script);
        let mut command = advisor();
        command
            .env("HOME", &home)
            .env("PATH", format!("/usr/bin:/bin:{}", old.display()));
        command
            .args(["--user-config", "--json", "--measurements"])
            .arg(world.saved());
        let ran = Ran::of(&mut command);
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str::<Value>(&ran.out).unwrap()
    };
    let answering = |names: &str| {
        format!(
            "#!/bin/sh\ncase $1 in -Q) printf '{names}' ;; *) echo OpenSSH_7.4p1, OpenSSL 1.0.2k >&2 ;; esac\n"
        )
    };
    let all = r"aes128-gcm@openssh.com\naes256-gcm@openssh.com\nchacha20-poly1305@openssh.com\naes128-ctr\naes192-ctr\naes256-ctr\n";
    let told = ask(&answering(all));
    let diff = told["changes"][0]["diff"].as_str().unwrap();
    assert!(
        diff.contains("+Ciphers aes128-gcm@openssh.com,"),
        "no caret, which is fatal before 8.1: {diff}"
    );
    let told = ask(&answering(r"aes128-ctr\naes256-ctr\n"));
    let refusal = told["refusals"][0].as_str().unwrap();
    assert!(
        refusal.contains("old/ssh: this ssh reads") && refusal.contains("would refuse to start on"),
        "{refusal}"
    );
    let told = ask("#!/bin/sh\nexit 1\n");
    let diff = told["changes"][0]["diff"].as_str().unwrap();
    assert!(
        diff.contains("+Ciphers ^aes128-gcm@openssh.com,"),
        "what is no OpenSSH has no say: {diff}"
    );
}
