//! The Ansible role with a real `ansible-playbook` over a local connection.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::report::GCM128;
use crate::support::program;
use crate::world::{CLIENT, SERVER, World};

const DROP_IN: &str = "etc/ssh/ssh_config.d/10-cipher-advisor.conf";

/// A controller and a tree that it manages.
struct Controller {
    playbook: PathBuf,
    world: World,
    programs: String,
}

/// What a run of a playbook came to.
struct Played {
    succeeded: bool,
    told: String,
    /// What the module returned.
    result: Value,
}

impl Controller {
    fn new() -> Option<Self> {
        let playbook = program("ansible-playbook", "ansible-core")?;
        let ssh = program("ssh", "openssh-client")?;
        let sshd = program("sshd", "openssh-server")?;
        Some(Self {
            playbook,
            world: World::new(),
            programs: format!(
                "        cipher_advisor_ssh: {}\n        cipher_advisor_sshd: {}\n",
                ssh.display(),
                sshd.display()
            ),
        })
    }

    fn play(&self, variables: &str, more: &[&str]) -> Played {
        let place = self.world.folder.path();
        let (file, returned) = (place.join("site.yml"), place.join("returned.json"));
        let _ = fs::remove_file(&returned);
        let text = format!(
            "- hosts: localhost\n  gather_facts: false\n  connection: local\n  tasks:\n    - block:\n        - ansible.builtin.import_role:\n            name: cipher_advisor\n      always:\n        - ansible.builtin.copy:\n            content: \"{{{{ cipher_advisor_result | to_json }}}}\"\n            dest: {}\n          check_mode: false\n          changed_when: false\n          diff: false\n      vars:\n        ansible_python_interpreter: /usr/bin/python3\n        cipher_advisor_command: {}\n        cipher_advisor_root: {}\n        cipher_advisor_measurements: {}\n{}{variables}",
            returned.display(),
            env!("CARGO_BIN_EXE_advisor"),
            self.world.root().display(),
            self.world.saved().display(),
            self.programs,
        );
        fs::write(&file, text).unwrap();
        let roles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/ansible/roles");
        let mut command = Command::new(&self.playbook);
        command
            .args(["-i", "localhost,"])
            .args(more)
            .arg(&file)
            .current_dir(place)
            .env("HOME", place)
            .env("LC_ALL", "C.UTF-8")
            .env("ANSIBLE_ROLES_PATH", roles)
            .env("ANSIBLE_NOCOLOR", "1")
            .env("ANSIBLE_LOCALHOST_WARNING", "false")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("ANSIBLE_CONFIG");
        let ran = command.output().unwrap();
        let told = String::from_utf8_lossy(&ran.stdout).into_owned()
            + &String::from_utf8_lossy(&ran.stderr);
        let result = fs::read(&returned).unwrap_or_else(|_| panic!("{told}"));
        Played {
            succeeded: ran.status.success(),
            result: serde_json::from_slice(&result).unwrap(),
            told,
        }
    }
}

#[test]
fn check_and_diff_foretell_what_a_run_does_and_a_second_run_does_nothing() {
    let Some(controller) = Controller::new() else {
        return;
    };
    let world = &controller.world;
    let before = world.below("");
    let foretold = controller.play("", &["--check", "--diff"]);
    assert!(foretold.succeeded, "{}", foretold.told);
    assert!(foretold.told.contains("changed=1 "), "{}", foretold.told);
    let line = "+Ciphers ^aes128-gcm@openssh.com,";
    assert!(foretold.told.contains(line), "{}", foretold.told);
    assert_eq!(world.below(""), before, "check mode writes nothing");

    let played = controller.play("", &["--diff"]);
    assert!(played.succeeded, "{}", played.told);
    assert!(played.told.contains("changed=1 "), "{}", played.told);
    for key in ["changed", "before", "after", "files", "diff", "evidence"] {
        assert_eq!(played.result[key], foretold.result[key], "{key}");
    }
    assert_eq!(played.result["after"]["client"][0], GCM128);
    assert_ne!(played.result["before"], played.result["after"]);
    assert_eq!(
        played.result["files"],
        serde_json::json!([format!("/{DROP_IN}")])
    );
    let evidence = played.result["evidence"].as_str().unwrap();
    assert!(evidence.contains("32 KiB packets"), "{evidence}");

    let seen = |path: &str| {
        let found = fs::metadata(world.root().join(path)).unwrap();
        (found.ino(), found.mtime(), found.mtime_nsec())
    };
    let (files, drop_in) = (world.below(""), seen(DROP_IN));
    for mode in [&["--check"][..], &[]] {
        let again = controller.play("", mode);
        assert!(
            again.succeeded && again.told.contains("changed=0 "),
            "{}",
            again.told
        );
        assert_eq!(again.result["before"], again.result["after"]);
    }
    assert_eq!(world.below(""), files);
    assert_eq!(seen(DROP_IN), drop_in);
}

#[test]
fn both_sides_a_policy_and_the_backups_come_back_as_results() {
    let Some(controller) = Controller::new() else {
        return;
    };
    let world = &controller.world;
    world.write(
        CLIENT,
        "Ciphers chacha20-poly1305@openssh.com,aes128-gcm@openssh.com\n",
    );
    let variables = "        cipher_advisor_side: both\n        cipher_advisor_policy: stig\n";
    let played = controller.play(variables, &[]);
    assert!(played.succeeded, "{}", played.told);
    let list = [
        "aes256-gcm@openssh.com",
        "aes256-ctr",
        "aes128-gcm@openssh.com",
        "aes128-ctr",
    ];
    for side in ["client", "server"] {
        assert_eq!(
            played.result["after"][side],
            serde_json::json!(list),
            "{side}"
        );
    }
    let backup = played.result["backup"][format!("/{CLIENT}")]
        .as_str()
        .unwrap();
    let kept = fs::read_to_string(world.root().join(backup.trim_start_matches('/'))).unwrap();
    assert!(kept.starts_with("Ciphers chacha20"), "{kept}");
    assert!(
        played.told.contains("WARNING: with the recommended list"),
        "{}",
        played.told
    );
}

#[test]
fn what_is_refused_fails_the_task_with_the_reason_and_changes_nothing() {
    let Some(controller) = Controller::new() else {
        return;
    };
    let world = &controller.world;
    world.write(
        SERVER,
        "# Ansible managed\nCiphers aes128-ctr,aes128-gcm@openssh.com\n",
    );
    let before = world.below("");
    let side = "        cipher_advisor_side: server\n";
    for mode in [&["--check"][..], &[]] {
        let played = controller.play(side, mode);
        assert!(!played.succeeded, "{}", played.told);
        let message = played.result["msg"].as_str().unwrap();
        assert!(
            message.contains("/etc/ssh/sshd_config:1: Ansible writes this file"),
            "{message}"
        );
        assert_eq!(world.below(""), before);
    }
    let forced = controller.play(
        &format!("{side}        cipher_advisor_force_managed: true\n"),
        &[],
    );
    assert!(forced.succeeded, "{}", forced.told);
    world.write(CLIENT, "Nonsense yes\n");
    let broken = controller.play("", &[]);
    assert!(!broken.succeeded, "{}", broken.told);
    assert!(
        broken.result["msg"]
            .as_str()
            .unwrap()
            .contains("/etc/ssh/ssh_config:1"),
        "{}",
        broken.result
    );
}
