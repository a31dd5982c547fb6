//! The command from outside: what it shows, where to, and in which form.
#![forbid(unsafe_code)]

use std::fs;
use std::process::{Command as Plain, Stdio};

use advisor::output::{Document, json};
use assert_cmd::Command;
use serde_json::Value;

use crate::report::{fast_aes, no_aes};
use crate::schema::violations;
use crate::world::{CLIENT, Ran, SSH_CONFIG, World, advisor, write_script};

#[test]
fn the_main_job_shows_everything_and_writes_nothing() {
    let world = World::new();
    let before = world.contents();
    let ran = world.run(&[]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!(world.shown(&ran));
    assert_eq!(world.contents(), before);
    assert!(!world.root().join("var/lib/cipher-advisor").exists());
}

#[test]
fn the_server_is_spoken_of_when_it_was_asked_for() {
    let world = World::new();
    let ran = world.run(&["--side", "server"]);
    let headline = "sshd lists chacha20-poly1305 first; by speed that is aes128-gcm.";
    assert!(ran.out.starts_with(headline), "{}", ran.out);
    assert!(
        ran.out.contains("Recommended for the server\n"),
        "{}",
        ran.out
    );
    assert!(
        !ran.out.contains("Recommended for the client"),
        "{}",
        ran.out
    );
    let applied = world.run(&["--side", "server", "--apply", "--no-validate"]);
    assert_eq!(applied.code, 0, "{}", applied.err);
    assert!(
        !applied.out.contains("--side server writes it"),
        "{}",
        applied.out
    );
    let hint = "`advisor --root FOLDER/tree --side server --rollback` puts";
    assert!(world.shown(&applied).contains(hint), "{}", applied.out);
}

#[test]
fn the_next_command_repeats_what_the_result_depends_on() {
    let world = World::new();
    let policy = world.folder.path().join("site policy.toml");
    fs::write(&policy, "name = 'site'\n").unwrap();
    let ran = world.run(&[
        "--policy",
        policy.to_str().unwrap(),
        "--profile",
        "mixed",
        "--evidence",
        "packet",
        "--ssh-config",
        "/etc/ssh/ssh_config",
    ]);
    let hint = "  Nothing was written. `advisor --root FOLDER/tree --ssh-config /etc/ssh/ssh_config --measurements FOLDER/saved.json --policy 'FOLDER/site policy.toml' --profile mixed --evidence packet --apply` writes this.\n";
    assert!(world.shown(&ran).contains(hint), "{}", ran.out);
}

#[test]
fn a_saved_reports_numbers_are_said_to_be_its() {
    let world = World::new();
    let mut report = fast_aes();
    report.host.name = "loom".to_owned();
    report.host.measured_at = 951_827_696;
    fs::write(world.saved(), json(&Document::new(report))).unwrap();
    let origin = "Numbers from FOLDER/saved.json, measured on loom on 2000-02-29.\n";
    for args in [
        &[][..],
        &["--check"],
        &["measure"],
        &["doctor"],
        &["explain"],
        &["--markdown"],
    ] {
        let ran = world.run(args);
        assert!(world.shown(&ran).contains(origin), "{args:?}: {}", ran.out);
    }
}

#[test]
fn explain_names_the_host_or_says_that_none_was_given() {
    let world = World::new();
    world.write(CLIENT, "Host old\n    Ciphers aes128-ctr\n");
    let without = world.run(&["explain"]).out;
    let told = "its block at /etc/ssh/ssh_config:1:1 does not apply: no host was given\n";
    assert!(without.contains(told), "{without}");
    let with = world.run(&["explain", "old"]).out;
    assert!(with.contains("\nCiphers in force for old\n"), "{with}");
    let other = world.run(&["explain", "new"]).out;
    assert!(!other.contains("no host was given"), "{other}");
}

#[test]
fn another_machines_report_gives_another_order() {
    let world = World::new();
    fs::write(world.saved(), json(&Document::new(no_aes()))).unwrap();
    let ran = world.run(&["--check"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(
        ran.out
            .starts_with("ssh prefers chacha20-poly1305, the fastest here: nothing to change.\n"),
        "{}",
        ran.out
    );
}

#[test]
fn every_json_document_is_what_the_schema_says() {
    let world = World::new();
    let schema = serde_json::from_str(include_str!("../../assets/report.schema.json")).unwrap();
    for args in [
        &["--json"][..],
        &["--check", "--json"],
        &["measure", "--json"],
        &["explain", "--json"],
        &["doctor", "--json"],
        &["--apply", "--no-validate", "--json"],
        &["--rollback", "--json"],
    ] {
        let ran = world.run(args);
        assert!(ran.code < 2, "{args:?}: {}", ran.err);
        let document = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(
            violations(&schema, &document),
            Vec::<String>::new(),
            "{args:?}"
        );
    }
}

#[test]
fn a_saved_document_can_be_used_again() {
    let world = World::new();
    let saved = world.folder.path().join("again.json");
    let first = world.run(&["--json", "--save", saved.to_str().unwrap()]);
    assert_eq!(first.out, fs::read_to_string(&saved).unwrap());
    fs::copy(saved, world.saved()).unwrap();
    assert_eq!(world.run(&["--json"]).out, first.out);
}

#[test]
fn standard_input_can_bring_the_report() {
    let world = World::new();
    let mut command = advisor();
    command.arg("--root").arg(world.root());
    command.args(["--check", "--measurements", "-"]);
    let ran = Ran::of(command.write_stdin(fs::read(world.saved()).unwrap()));
    assert_eq!(ran.code, 1, "{}", ran.err);
}

#[test]
fn a_users_own_file_that_overrules_the_machines_is_told() {
    let world = World::new();
    fs::create_dir(world.root().join("root/.ssh")).unwrap();
    world.write("root/.ssh/config", "Host *\n    Ciphers ^aes256-ctr\n");
    let ran = world.run(&["--json"]);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let findings = document["findings"].as_array().unwrap();
    let told = findings.iter().find(|it| it["id"] == "own-file-overrules");
    assert_eq!(told.unwrap()["file"], "/root/.ssh/config");
    let own = world.run(&["--user-config", "--json"]);
    let document: Value = serde_json::from_str(&own.out).unwrap();
    assert_eq!(document["configuration"]["client"]["source"]["line"], 2);
    assert_eq!(document["changes"][0]["file"], "/root/.ssh/config");
}

#[test]
fn explain_says_which_line_wins() {
    let world = World::new();
    world.write("etc/ssh/ssh_config.d/20-site.conf", "Ciphers ^aes256-ctr\n");
    world.write(
        CLIENT,
        format!("{SSH_CONFIG}    Ciphers aes128-ctr\nHost old\n    Ciphers +3des-cbc\n"),
    );
    let ran = world.run(&["explain"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!(world.shown(&ran));
}

#[test]
fn doctor_lists_what_was_found() {
    let world = World::new();
    let ran = world.run(&["doctor"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(!ran.out.contains("nothing was measured"), "{}", ran.out);
    insta::assert_snapshot!(world.shown(&ran));
}

#[test]
fn quiet_prints_nothing_unless_asked() {
    let world = World::new();
    let ran = world.run(&["--check", "--quiet"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (1, "", ""));
    assert!(world.run(&["--check", "-q", "--json"]).out.starts_with('{'));
}

#[test]
fn results_can_go_to_a_file() {
    let world = World::new();
    let file = world.folder.path().join("report.md");
    let ran = world.run(&["--markdown", "-o", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert!(
        fs::read_to_string(file)
            .unwrap()
            .starts_with("**ssh prefers")
    );
    let before = world.contents();
    for flag in ["-o", "--save"] {
        let nowhere = world.run(&["--apply", "--no-validate", flag, "/nonexistent/report"]);
        nowhere.fails_with("/nonexistent/report: cannot be written");
    }
    assert_eq!(world.contents(), before, "known before anything is changed");
}

#[test]
fn colour_only_where_wanted() {
    let world = World::new();
    let has_colour = |args: &[&str]| world.run(args).out.contains('\u{1b}');
    assert!(!has_colour(&["--check"]), "a pipe gets none by itself");
    assert!(has_colour(&["--check", "--color", "always"]));
    assert!(!has_colour(&["--check", "--color", "always", "--plain"]));
    let coloured = world.run(&["--color", "always"]).out;
    let stripped = anstream::adapter::strip_str(&coloured).to_string();
    assert_eq!(stripped, world.run(&[]).out, "colour carries no meaning");
}

#[test]
fn plain_text_is_ascii() {
    assert!(World::new().run(&["--plain"]).out.is_ascii());
}

#[test]
fn a_reader_may_stop_reading() {
    let world = World::new();
    let mut child = Plain::new(env!("CARGO_BIN_EXE_advisor"))
        .arg("--root")
        .arg(world.root())
        .arg("--measurements")
        .arg(world.saved())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn completions_and_manual_are_made_from_the_same_table() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = Ran::of(advisor().args(["completions", shell]));
        assert_eq!(ran.code, 0);
        assert!(ran.out.contains("time-budget"), "{shell}");
    }
    let page = Ran::of(advisor().arg("man")).out;
    assert!(
        page.contains(".TH advisor 1") && page.contains("Exit codes"),
        "{page}"
    );
}

#[test]
fn the_other_faces_are_started_or_their_package_named() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("advisor");
    fs::copy(env!("CARGO_BIN_EXE_advisor"), &binary).unwrap();
    let run = |face: &str| {
        Ran::of(
            Command::new(&binary)
                .env_clear()
                .args([face, "--flag", "x"]),
        )
    };
    run("gui").fails_with("the package cipher-advisor-gui brings it");
    write_script(
        &folder.path().join("advisor-tui"),
        "#!/bin/sh\necho \"tui got $*\"\nexit 7\n",
    );
    let ran = run("tui");
    assert_eq!((ran.code, ran.out.as_str()), (7, "tui got --flag x\n"));
    let with = |args: &[&str]| Ran::of(Command::new(&binary).env_clear().args(args));
    assert_eq!(with(&["tui", "--plain"]).out, "tui got --plain\n");
    for (args, option) in [
        (&["tui", "--root", "/image", "--json"][..], "--root"),
        (&["--ssh-config", "f", "tui"], "--ssh-config"),
        (&["tui", "-q"], "--quiet"),
        (&["gui", "--plain"], "--plain"),
    ] {
        with(args).fails_with(&format!("{option}: it shows this host as it is"));
    }
}

#[test]
fn help_and_version_are_results() {
    let help = Ran::of(advisor().arg("--help"));
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    assert!(help.out.contains("130  interrupted; nothing was changed"));
    let version = Ran::of(advisor().arg("--version"));
    assert_eq!(
        version.out,
        format!("advisor {}\n", env!("CARGO_PKG_VERSION"))
    );
}
