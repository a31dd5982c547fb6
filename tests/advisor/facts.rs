//! What findings are made of, read from files and from the kernel: `RekeyLimit` against `ssh -G`, and the
//! variables of a running daemon.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::Command;

use advisor::startup::variables;

use crate::question::{NOW, Tree};
use crate::support::program;

const FILES: [(&str, Option<u64>); 9] = [
    ("RekeyLimit 1G\n", Some(1 << 30)),
    ("RekeyLimit 512m 1h\n", Some(512 << 20)),
    ("RekeyLimit=\"16K\" none\n", Some(16 << 10)),
    ("RekeyLimit 65536\n", Some(65536)),
    ("RekeyLimit default 1h\n", None),
    ("RekeyLimit default\nRekeyLimit 1G\n", None),
    ("RekeyLimit 2G\nRekeyLimit 1G\n", Some(2 << 30)),
    (
        "Host other\nRekeyLimit 1G\nHost web1\nRekeyLimit 4G\n",
        Some(4 << 30),
    ),
    ("Ciphers aes128-ctr\n", None),
];

#[test]
fn a_rekey_limit_is_read_as_ssh_reads_it() {
    let ssh = program("ssh", "openssh-client");
    for (text, expected) in FILES {
        let tree = Tree::new();
        tree.put("main", text);
        let limit = tree.client(NOW, "web1").rekey_limit;
        assert_eq!(limit.map(|it| it.bytes), expected, "{text}");
        let Some(ssh) = &ssh else { continue };
        let output = Command::new(ssh)
            .arg("-GF")
            .arg(tree.real("main"))
            .arg("web1")
            .output();
        let output = String::from_utf8(output.unwrap().stdout).unwrap();
        let told = output
            .lines()
            .find_map(|line| line.strip_prefix("rekeylimit "));
        let bytes = told.and_then(|it| it.split(' ').next()?.parse::<u64>().ok());
        assert_eq!(bytes, Some(expected.unwrap_or(0)), "{text}");
    }
}

#[test]
fn sshd_reads_it_the_same_way_and_says_where() {
    let tree = Tree::new();
    tree.put(
        "main",
        "# keys\nRekeyLimit 1G 1h\nMatch User x\nRekeyLimit 1M\n",
    );
    let limit = tree.server(NOW).rekey_limit.unwrap();
    assert_eq!((limit.bytes, limit.location.line), (1 << 30, 2));
}

#[test]
fn a_daemons_variables_are_found_once_with_their_process() {
    let tree = Tree::new();
    for (number, name, environment) in [
        (7, "bash", "OPENSSL_ia32cap=0\0"),
        (
            812,
            "sshd",
            "LANG=C\0OPENSSL_ia32cap=~0x2\0XOPENSSL_ia32cap=1\0",
        ),
        (913, "sshd", "OPENSSL_ia32cap=~0x2\0"),
        (914, "sshd", ""),
    ] {
        tree.put(&format!("proc/{number}/comm"), format!("{name}\n"));
        tree.put(&format!("proc/{number}/environ"), environment);
    }
    let found = variables(
        &tree.files(),
        Path::new("/proc"),
        "sshd",
        &["OPENSSL_ia32cap"],
    );
    let told: Vec<_> = found
        .iter()
        .map(|(place, text)| (place.to_string(), text.as_str()))
        .collect();
    assert_eq!(
        told,
        [("/proc/812/environ".to_owned(), "OPENSSL_ia32cap=~0x2")]
    );
}
