//! Where a list comes from when it is in no file: the command line of a running `sshd`, and the unit that starts it.
#![forbid(unsafe_code)]

use std::path::Path;

use advisor::examination::{ExaminationRequest, Perspective, examine};
use advisor::files::SystemFiles;
use advisor::output::{SideConfiguration, words};
use advisor::policy::Policy;
use advisor::resolver::{Side, Source};

use crate::listener::Listener;
use crate::perspective::{MAIN, POLICY, process, programs, root, seen, server, try_plan};
use crate::question::Tree;

const RHEL8: &str = "OpenSSH_8.0p1";
const UNIT: &str = "[Unit]\nDescription=OpenSSH server daemon\n\n[Service]\nType=notify\n\
    EnvironmentFile=-/etc/crypto-policies/back-ends/opensshserver.config\n\
    EnvironmentFile=-/etc/sysconfig/sshd\n\
    ExecStart=/usr/sbin/sshd -D $OPTIONS $CRYPTO_POLICY\nExecReload=/bin/kill -HUP $MAINPID\n";

/// A machine like RHEL 8: the unit hands the policy to sshd.
fn rhel8() -> Tree {
    let tree = Tree::new();
    tree.put(MAIN, "Ciphers aes128-ctr\n");
    tree.put("usr/lib/systemd/system/sshd.service", UNIT);
    tree.put(
        POLICY,
        "CRYPTO_POLICY='-oCiphers=aes256-gcm@openssh.com,aes256-ctr -oMACs=hmac-sha2-256 -oCASignatureAlgorithms=rsa-sha2-256'\n",
    );
    tree.put("etc/sysconfig/sshd", "# comment\nOPTIONS=\"-u0\"\n");
    tree
}

#[test]
fn the_unit_hands_the_policy_to_sshd() {
    let answer = server(&rhel8(), RHEL8);
    assert_eq!(answer.ciphers, ["aes256-gcm@openssh.com", "aes256-ctr"]);
    assert_eq!(answer.macs, ["hmac-sha2-256"]);
    let Source::CommandLine(origin) = &answer.source else {
        panic!("{:?}", answer.source);
    };
    assert_eq!(origin.to_string(), format!("{POLICY}:1"));
    assert_eq!(answer.considered.len(), 2);
}

#[test]
fn an_empty_variable_gives_the_file_the_say() {
    let tree = rhel8();
    tree.put("etc/sysconfig/sshd", "CRYPTO_POLICY=\n");
    let answer = server(&tree, RHEL8);
    assert_eq!(answer.ciphers, ["aes128-ctr"]);
    assert!(matches!(answer.source, Source::Line(_)));
    assert!(try_plan(&tree, Side::Server, RHEL8).is_ok());
}

#[test]
fn no_line_of_the_file_is_planned_against_the_command_line() {
    let tree = rhel8();
    let refusal = try_plan(&tree, Side::Server, RHEL8).unwrap_err();
    assert_eq!(refusal.location.unwrap().to_string(), format!("{POLICY}:1"));
    assert!(
        refusal.cure.contains("update-crypto-policies"),
        "{}",
        refusal.cure
    );
    assert!(
        refusal.cure.contains("/etc/sysconfig/sshd"),
        "{}",
        refusal.cure
    );

    tree.put(
        "etc/sysconfig/sshd",
        "OPTIONS='-oCiphers=aes128-ctr,aes256-ctr'\n",
    );
    let refusal = try_plan(&tree, Side::Server, RHEL8).unwrap_err();
    assert!(
        refusal.cure.contains("/etc/sysconfig/sshd:1"),
        "{}",
        refusal.cure
    );
    assert!(
        !refusal.cure.contains("update-crypto-policies"),
        "{}",
        refusal.cure
    );
}

#[test]
fn text_and_json_tell_the_option_and_its_place() {
    let side = SideConfiguration::from(&server(&rhel8(), RHEL8));
    let json = serde_json::to_value(&side).unwrap();
    let option = "-oCiphers=aes256-gcm@openssh.com,aes256-ctr";
    assert_eq!(
        json["source"],
        serde_json::json!({ "command_line": option, "file": POLICY, "line": 1 })
    );
    assert_eq!(
        words::source(&side),
        format!("{option} on its command line, from {POLICY}:1")
    );
}

#[test]
fn drop_ins_and_variables_of_a_unit_count() {
    let tree = rhel8();
    tree.put(
        "etc/systemd/system/sshd.service.d/10-own.conf",
        "[Service]\nEnvironment=\"LIST=aes192-ctr\" X=1\nExecStart=\nExecStart=-/usr/sbin/sshd -D \\\n  -o Ciphers=${LIST}\n",
    );
    let answer = server(&tree, RHEL8);
    assert_eq!(answer.ciphers, ["aes192-ctr"]);
    // The administrator's unit hides the package's.
    tree.put(
        "etc/systemd/system/sshd.service",
        "[Service]\nExecStart=/usr/sbin/sshd -D\n",
    );
    tree.put("etc/systemd/system/sshd.service.d/10-own.conf", "");
    assert_eq!(server(&tree, RHEL8).ciphers, ["aes128-ctr"]);
    // A link to nothing masks it.
    std::fs::remove_file(tree.real("etc/systemd/system/sshd.service")).unwrap();
    std::os::unix::fs::symlink("/dev/null", tree.real("etc/systemd/system/sshd.service")).unwrap();
    assert_eq!(server(&tree, RHEL8).ciphers, ["aes128-ctr"]);
}

#[test]
fn debians_unit_has_another_name() {
    let tree = Tree::new();
    tree.put(MAIN, "");
    tree.put(
        "lib/systemd/system/ssh.service",
        "[Service]\nEnvironmentFile=-/etc/default/ssh\nExecStart=/usr/sbin/sshd -D $SSHD_OPTS\n",
    );
    tree.put(
        "etc/default/ssh",
        "# Options\nSSHD_OPTS=-oCiphers=aes256-ctr\n",
    );
    let Source::CommandLine(origin) = server(&tree, "OpenSSH_9.2p1").source else {
        panic!("not the command line");
    };
    assert_eq!(origin.to_string(), "/etc/default/ssh:2");
}

#[test]
fn a_running_listener_is_asked_before_the_unit() {
    let tree = rhel8();
    process(
        &tree,
        812,
        "sshd",
        b"/usr/sbin/sshd\0-D\0-oCiphers=aes192-ctr\0",
    );
    let answer = server(&tree, RHEL8);
    assert_eq!(answer.ciphers, ["aes192-ctr"]);
    assert_eq!(answer.source, seen(812));
    // Where nothing of the tree runs, nobody looks.
    let image = Perspective {
        processes: None,
        ..root()
    };
    let answer = image.resolve(&tree.files(), Side::Server, &programs(RHEL8), None);
    assert_eq!(answer.ciphers[0], "aes256-gcm@openssh.com");
}

#[test]
fn what_runs_as_the_unit_says_is_traced_to_the_file() {
    let tree = rhel8();
    process(
        &tree,
        812,
        "sshd",
        b"/usr/sbin/sshd\0-D\0-u0\0-oCiphers=aes256-gcm@openssh.com,aes256-ctr\0-oMACs=hmac-sha2-256\0",
    );
    let Source::CommandLine(origin) = server(&tree, RHEL8).source else {
        panic!("not the command line");
    };
    assert_eq!(origin.to_string(), format!("{POLICY}:1"));
}

#[test]
fn a_rewritten_title_is_read() {
    let tree = Tree::new();
    tree.put(MAIN, "Ciphers aes128-ctr\n");
    let title = b"sshd: /usr/sbin/sshd -D -o Ciphers aes192-ctr -p 22 [listener] 0 of 10-100 startups\0\0\0\0";
    process(&tree, 9, "sshd", title);
    let answer = server(&tree, "OpenSSH_9.2p1");
    assert_eq!(answer.ciphers, ["aes192-ctr"]);
    assert_eq!(answer.source, seen(9));
}

#[test]
fn sessions_and_other_daemons_do_not_count() {
    let tree = Tree::new();
    tree.put(MAIN, "Ciphers aes128-ctr\n");
    process(&tree, 3, "sshd", b"sshd: -oCiphers=aes192-ctr [priv]\0");
    process(&tree, 4, "sshd", b"sshd: me@pts/0\0");
    process(
        &tree,
        5,
        "sshd",
        b"/usr/sbin/sshd\0-D\0-R\0-oCiphers=aes192-ctr\0",
    );
    process(
        &tree,
        6,
        "sshd",
        b"/usr/sbin/sshd\0-f\0/other\0-oCiphers=aes192-ctr\0",
    );
    process(&tree, 7, "nginx", b"/usr/sbin/sshd\0-oCiphers=aes192-ctr\0");
    process(&tree, 8, "sshd", b"");
    let mut cut = b"sshd: /usr/sbin/sshd -D -oCiphers=aes192-ctr,".to_vec();
    cut.resize(1023, b'x');
    process(&tree, 9, "sshd", &cut);
    let answer = server(&tree, "OpenSSH_9.2p1");
    assert_eq!(answer.ciphers, ["aes128-ctr"]);
    // The daemon of that other file is asked about that file.
    tree.put("other", "");
    let other = Perspective {
        server: advisor::plan::Target::System("/other".into()),
        ..root()
    };
    let answer = other.resolve(
        &tree.files(),
        Side::Server,
        &programs("OpenSSH_9.2p1"),
        None,
    );
    assert_eq!(answer.source, seen(6));
}

#[test]
fn the_listener_of_a_container_does_not_count() {
    let tree = Tree::new();
    tree.put(MAIN, "Ciphers aes128-ctr\n");
    process(
        &tree,
        9,
        "sshd",
        b"/usr/sbin/sshd\0-D\0-oCiphers=aes192-ctr\0",
    );
    tree.put("proc/self/ns/pid", "");
    tree.put("proc/9/ns/pid", "");
    assert_eq!(server(&tree, "OpenSSH_9.2p1").ciphers, ["aes128-ctr"]);
}

#[test]
fn a_bad_option_is_reported_where_it_is_written() {
    let tree = rhel8();
    tree.put("etc/sysconfig/sshd", "\nOPTIONS=-oCiphers=arcfour\n");
    let answer = server(&tree, RHEL8);
    let problem = answer
        .problems
        .iter()
        .find(|it| it.what.contains("arcfour"));
    assert_eq!(
        problem.unwrap().location.to_string(),
        "/etc/sysconfig/sshd:2"
    );
    assert!(answer.is_refused());
}

#[test]
fn a_real_listener_is_understood() {
    let Some(listener) = Listener::start("Ciphers aes128-ctr\n", &["-oCiphers=aes192-ctr"]) else {
        return;
    };
    let perspective = Perspective {
        server: advisor::plan::Target::System(listener.config()),
        ..root()
    };
    let files = SystemFiles::new(Path::new("/")).unwrap();
    let answer = perspective.resolve(&files, Side::Server, &programs("OpenSSH_9.2p1"), None);
    assert_eq!(answer.ciphers, ["aes192-ctr"]);
    assert_eq!(answer.source, seen(listener.id()));
}

#[test]
fn a_server_without_a_host_key_is_told_apart_from_a_refused_file() {
    let tree = Tree::new();
    let report = crate::report::fast_aes();
    let is_told = |perspective: &Perspective| {
        let document = examine(&ExaminationRequest {
            files: &tree.files(),
            perspective,
            report: &report,
            policy: &Policy::default(),
            choice: None,
            sides: &[],
            force_managed: false,
            host: None,
        });
        document
            .findings
            .iter()
            .any(|finding| finding.id == "host-keys-missing")
    };
    assert!(!is_told(&root()), "no server, no key");
    tree.put(MAIN, "#HostKey /etc/ssh/ssh_host_rsa_key\nUsePAM yes\n");
    assert!(is_told(&root()));
    let image = Perspective {
        processes: None,
        ..root()
    };
    assert!(!is_told(&image), "an image gets its keys later");
    tree.put(MAIN, "  hostkey /srv/key\n");
    assert!(!is_told(&root()));
    tree.put(MAIN, "UsePAM yes\n");
    tree.put("etc/ssh/ssh_host_ed25519_key", "");
    assert!(!is_told(&root()));
}
