//! The command from outside: exit codes, streams, files, and bad input of every kind.
#![forbid(unsafe_code)]
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Plain, Stdio};

use advisor::output::{Document, json};
use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

use crate::report::{fast_aes, machine, no_aes};
use crate::schema::violations;

const CLIENT: &str = "etc/ssh/ssh_config";
const SERVER: &str = "etc/ssh/sshd_config";
const JOURNAL_ENTRY: &str = "var/lib/cipher-advisor/journal/000001.json";
const SSH_CONFIG: &str = "# The client's file.\n\nInclude /etc/ssh/ssh_config.d/*.conf\n\nHost *\n#   Ciphers aes128-ctr,aes192-ctr\n    SendEnv LANG LC_*\n";
const SSHD_CONFIG: &str =
    "Include /etc/ssh/sshd_config.d/*.conf\n\nUsePAM yes\nSubsystem sftp internal-sftp\n";

/// A tree with Debian's layout and a saved report beside it.
struct World {
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for directory in [
            "etc/ssh/ssh_config.d",
            "etc/ssh/sshd_config.d",
            "root",
            "var/lib",
        ] {
            fs::create_dir_all(world.root().join(directory)).unwrap();
        }
        world.write(CLIENT, SSH_CONFIG);
        world.write(SERVER, SSHD_CONFIG);
        fs::write(world.saved(), json(&Document::new(fast_aes()))).unwrap();
        world
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn saved(&self) -> PathBuf {
        self.folder.path().join("saved.json")
    }

    /// What was printed, without the folder that is another one every time.
    fn shown(&self, ran: &Ran) -> String {
        let folder = self.folder.path().to_str().unwrap();
        ran.out.replace(folder, "FOLDER")
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.root().join(path), bytes).unwrap();
    }

    /// The command on this tree and report.
    fn run(&self, args: &[&str]) -> Ran {
        let mut command = advisor();
        command.arg("--root").arg(self.root());
        command.arg("--measurements").arg(self.saved());
        Ran::of(command.args(args))
    }

    /// Every file of the configuration with its bytes and mode.
    fn contents(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        self.below("etc")
    }

    /// Every file and directory below one.
    fn below(&self, folder: &str) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.root().join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let mode = fs::metadata(&path).unwrap().permissions().mode();
                if path.is_dir() {
                    folders.push(path.clone());
                    found.push((path, mode, Vec::new()));
                } else {
                    let bytes = fs::read(&path).unwrap();
                    found.push((path, mode, bytes));
                }
            }
        }
        found.sort();
        found
    }
}

fn advisor() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_advisor"));
    command
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .env("PATH", "/usr/bin:/bin");
    command.env("HOME", "/nonexistent");
    command
}

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn fails_with(&self, message: &str) {
        assert_eq!((self.code, self.out.as_str()), (2, ""), "{}", self.err);
        assert!(self.err.contains(message), "{}\nlacks\n{message}", self.err);
    }
}

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
        .fails_with("is none of the built-in policies (balanced)");
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
    if !is_root || crate::support::program("setpriv", "util-linux").is_none() {
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

fn write_script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
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
