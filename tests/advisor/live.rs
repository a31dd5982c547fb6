//! What the programs really offer, and when they are not asked.
#![forbid(unsafe_code)]

use std::process::Command;

use advisor::live::{NotOffered, client};
use advisor::resolver::{ClientFiles, ClientRequest};
use assert_cmd::cargo::cargo_bin;
use engine::host::{CommandFailure, CommandOutput, CommandRequest, Commands, SystemCommands};
use engine::installed::releases::Release;

use crate::listener::Listener;
use crate::question::{NOW, Tree};
use crate::support::program;

/// Runs nothing, and says so.
struct Nobody;

impl Commands for Nobody {
    fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure> {
        panic!("would have run {request:?}");
    }
}

fn asked(tree: &Tree, release: Release) -> NotOffered {
    let answer = tree.ask(&ClientRequest {
        files: ClientFiles::Only("/main".into()),
        ..ClientRequest::new(release).destination("web1")
    });
    let ssh = "/usr/bin/ssh".as_ref();
    client(&tree.files(), &Nobody, ssh, release, &answer, Some("web1")).unwrap_err()
}

#[test]
fn a_client_whose_files_may_run_commands_is_not_asked() {
    let tree = Tree::new();
    tree.put("main", "Host other\nInclude /part\n");
    tree.put("part", "\nMatch host x exec \"touch /x\"\n");
    assert_eq!(asked(&tree, NOW), NotOffered::WouldRun("/part:2".into()));
    tree.put("main", "Include /${X}/a\n");
    assert_eq!(
        asked(&tree, Release::new(9, 9)),
        NotOffered::Unread("/main:1:9".into())
    );
}

/// Keeps what it was asked.
#[derive(Default)]
struct Asked(std::sync::Mutex<Vec<CommandRequest>>);

impl Commands for Asked {
    fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure> {
        self.0.lock().unwrap().push(request.clone());
        SystemCommands.run(&CommandRequest::new("true"))
    }
}

#[test]
fn ssh_is_told_to_ask_no_command_for_known_hosts() {
    for (release, told) in [(Release::new(8, 4), false), (Release::new(8, 5), true)] {
        let (tree, asked) = (Tree::new(), Asked::default());
        tree.put("main", "KnownHostsCommand /bin/touch /x\n");
        let answer = tree.client(release, "web1");
        let files = tree.files();
        let ssh = "/usr/bin/ssh".as_ref();
        client(&files, &asked, ssh, release, &answer, None).unwrap_err();
        let requests = asked.0.lock().unwrap();
        let is_told = |arg: &std::ffi::OsString| arg == "-oKnownHostsCommand=none";
        assert_eq!(requests[0].args.iter().any(is_told), told, "{release}");
    }
}

#[test]
fn explain_asks_the_programs_themselves() {
    if program("sshd", "openssh-server").is_none() || program("ssh", "openssh-client").is_none() {
        return;
    }
    let tree = Tree::new();
    tree.put("sshd_config", "Ciphers aes256-ctr,aes128-gcm@openssh.com\n");
    use std::os::unix::fs::PermissionsExt;
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(tree.real(""), open).unwrap();
    let run = |more: &[&str]| {
        let mut command = Command::new(cargo_bin!("advisor"));
        command.args(["explain", "web1", "--live", "--sshd-config"]);
        command.arg(tree.real("sshd_config")).args(more);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let document: serde_json::Value = serde_json::from_str(&run(&["--json"])).unwrap();
    let server = &document["configuration"]["server"];
    let expected = serde_json::json!(["aes256-ctr", "aes128-gcm@openssh.com"]);
    assert_eq!(server["effective"], expected);
    assert_eq!(
        server["offered"]["ciphers"], expected,
        "{}",
        document["findings"]
    );
    assert!(server["offered"]["strict_key_exchange"].is_boolean());
    let client = &document["configuration"]["client"];
    assert_eq!(
        client["offered"]["ciphers"], client["effective"],
        "{}",
        document["findings"]
    );
    let text = run(&[]);
    assert!(
        text.contains("offered       aes256-ctr aes128-gcm@openssh.com"),
        "{text}"
    );
    assert!(text.contains("strict kex"), "{text}");
}

#[test]
fn the_server_is_asked_with_the_options_of_the_one_that_runs() {
    let options = [
        "-oCiphers=aes192-ctr,aes256-ctr",
        "-o",
        "MACs hmac-sha2-256",
    ];
    let Some(listener) = Listener::start("Ciphers aes128-ctr\n", &options) else {
        return;
    };
    let mut command = Command::new(cargo_bin!("advisor"));
    command.args(["explain", "--live", "--json", "--sshd-config"]);
    let output = command.arg(listener.config()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let server = &document["configuration"]["server"];
    let expected = serde_json::json!(["aes192-ctr", "aes256-ctr"]);
    assert_eq!(server["effective"], expected);
    let findings = &document["findings"];
    assert_eq!(server["offered"]["ciphers"], expected, "{findings}");
    let macs = serde_json::json!(["hmac-sha2-256"]);
    assert_eq!(server["offered"]["macs"], macs, "{findings}");
}

#[test]
fn another_tree_is_not_asked() {
    let tree = Tree::new();
    tree.put("etc/ssh/sshd_config", "");
    let mut command = Command::new(cargo_bin!("advisor"));
    let output = command
        .args(["explain", "--live", "--root"])
        .arg(tree.real(""));
    let output = output.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--live asks the running system"), "{said}");
}
