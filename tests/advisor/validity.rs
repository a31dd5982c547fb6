//! Every kind of line the installed programs refuse: where, in whose words, and what to do about it.
#![forbid(unsafe_code)]

use advisor::resolver::{Effective, Severity};

use crate::oracle::Oracle;
use crate::question::{NOW, Tree};

/// A file, the place of what is wrong with it, the programs' words for it, and a part of the cure.
type Kind = (
    &'static str,
    &'static [u8],
    &'static str,
    &'static str,
    &'static str,
);

const BOTH: &[Kind] = &[
    (
        "unknown",
        b"\nCiphers nonsense\n",
        "2:9",
        "Bad SSH2 cipher spec 'nonsense'.",
        "remove or correct nonsense",
    ),
    (
        "removed",
        b"Ciphers aes128-ctr,blowfish-cbc\n",
        "1:9",
        "Bad SSH2 cipher spec 'aes128-ctr,blowfish-cbc'.",
        "OpenSSH 7.6 dropped it",
    ),
    (
        "removed later",
        b"Ciphers rijndael-cbc@lysator.liu.se\n",
        "1:9",
        "Bad SSH2 cipher spec 'rijndael-cbc@lysator.liu.se'.",
        "OpenSSH 8.5 dropped it",
    ),
    (
        "case",
        b"Ciphers AES128-CTR\n",
        "1:9",
        "Bad SSH2 cipher spec 'AES128-CTR'.",
        "write aes128-ctr",
    ),
    (
        "no owner",
        b"Ciphers aes256-gcm\n",
        "1:9",
        "Bad SSH2 cipher spec 'aes256-gcm'.",
        "write aes256-gcm@openssh.com",
    ),
    (
        "pattern",
        b"Ciphers +aes*\n",
        "1:9",
        "Bad SSH2 cipher spec '+aes*'.",
        "patterns are understood only after -",
    ),
    (
        "second sign",
        b"Ciphers +aes128-ctr,+3des-cbc\n",
        "1:9",
        "Bad SSH2 cipher spec '+aes128-ctr,+3des-cbc'.",
        "write the sign once",
    ),
    (
        "blank",
        b"Ciphers aes128-ctr, aes256-ctr\n",
        "1:21",
        "iphers extra arguments at end of line",
        "commas only",
    ),
    (
        "quoted blank",
        b"Ciphers \"aes128-ctr, aes256-ctr\"\n",
        "1:9",
        "Bad SSH2 cipher spec 'aes128-ctr, aes256-ctr'.",
        "commas only",
    ),
    (
        "hash",
        b"Ciphers aes128-ctr#c\n",
        "1:9",
        "Bad SSH2 cipher spec 'aes128-ctr#c'.",
        "put a blank before the #",
    ),
    (
        "quote",
        b"Ciphers \"aes128-ctr\n",
        "1:1",
        "invalid quotes",
        "close the quote",
    ),
    (
        "nothing",
        b"Ciphers\n",
        "1:1",
        "no argument after keyword",
        "give it a value",
    ),
    (
        "byte order mark",
        b"\xef\xbb\xbfCiphers aes128-ctr\n",
        "1:1",
        "Bad configuration option: ",
        "without a byte order mark",
    ),
    (
        "UTF-16",
        b"\xff\xfeC\0i\0p\0h\0e\0r\0s\0 \0a\0\n\0",
        "1:1",
        "",
        "save the file as UTF-8",
    ),
    (
        "CR only",
        b"Ciphers aes128-ctr\rCompression no\r",
        "1:9",
        "Bad SSH2 cipher spec 'aes128-ctr",
        "end lines with LF",
    ),
    (
        "circle",
        b"Include @/main\n",
        "1:9",
        "Too many recursive configuration includes",
        "break the circle",
    ),
];

const CLIENT: &[Kind] = &[
    (
        "criterion",
        b"Match nonsense x\n",
        "1:1",
        "Unsupported Match attribute nonsense",
        "use only criteria",
    ),
    (
        "all",
        b"Match all host x\n",
        "1:1",
        "'all' cannot be combined with other Match attributes",
        "stand alone",
    ),
];

const SERVER: &[Kind] = &[
    (
        "in a Match",
        b"Match user x\n  Ciphers aes128-ctr\n",
        "2:3",
        "Directive 'Ciphers' is not allowed within a Match block",
        "above the first Match",
    ),
    (
        "bits",
        b"Match address 10.0.0.1/8\n",
        "1:1",
        "Invalid Match address argument '10.0.0.1/8'",
        "clear the bits",
    ),
    (
        "port",
        b"Match localport 65536\n",
        "1:1",
        "Invalid LocalPort '65536' on Match line",
        "one port number",
    ),
];

#[test]
fn every_kind_has_its_place_words_and_cure() {
    let Some(oracle) = Oracle::new() else { return };
    for kind in BOTH.iter().chain(CLIENT) {
        let (file, answer) = ask(&oracle, kind, Oracle::our_ssh_of_any);
        told(kind, &answer, &oracle.ssh_complaint(&file));
    }
    for kind in BOTH.iter().chain(SERVER) {
        let (file, answer) = ask(&oracle, kind, Oracle::our_sshd);
        told(kind, &answer, &oracle.sshd_complaint(&file));
    }
}

fn ask(
    oracle: &Oracle,
    (_, text, ..): &Kind,
    ours: fn(&Oracle, &std::path::Path) -> Effective,
) -> (std::path::PathBuf, Effective) {
    let home = oracle.home().to_str().unwrap().as_bytes();
    let text = text.split(|&byte| byte == b'@').collect::<Vec<_>>();
    // Names of ciphers have an @ of their own.
    let separator = if text[0].ends_with(b"Include ") {
        home
    } else {
        b"@"
    };
    let file = oracle.write("main", text.join(separator));
    let answer = ours(oracle, &file);
    (file, answer)
}

/// What we say of it, and that the program says the same of the same line.
fn told((kind, _, place, words, cure): &Kind, answer: &Effective, theirs: &str) {
    assert!(answer.is_refused(), "{kind}");
    let problems = || {
        answer
            .problems
            .iter()
            .filter(|it| it.severity == Severity::Error)
    };
    let ours: Vec<_> = problems().map(ToString::to_string).collect();
    let fits = problems().any(|it| {
        let location = it.location.to_string();
        location.ends_with(&format!("main:{place}"))
            && it.what.contains(words)
            && it.cure.contains(cure)
    });
    assert!(fits, "{kind}: {ours:#?}");
    assert!(
        theirs.contains(words),
        "{kind}: the program says {theirs:?}"
    );
    if *kind != "circle" {
        let line = format!("line {}", place.split(':').next().unwrap());
        assert!(
            theirs.contains(&line),
            "{kind}: the program says {theirs:?}"
        );
    }
}

#[test]
fn a_server_that_offers_nothing_is_an_error_though_sshd_starts() {
    let tree = Tree::new();
    tree.put("main", "Ciphers -*\n");
    let answer = tree.server(NOW);
    let problem = &answer.problems[0];
    assert_eq!(problem.severity, Severity::Error);
    assert_eq!(
        problem.to_string(),
        "/main:1:9: '-*' removes every cipher: nobody can connect; keep at least one cipher"
    );
}

#[test]
fn a_file_others_may_write_is_told_with_the_cure() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new();
    tree.put("root/.ssh/config", "Ciphers aes128-ctr\n");
    let file = tree.real("root/.ssh/config");
    set_permissions(file, Permissions::from_mode(0o646)).unwrap();
    let answer = tree.usual("web1");
    let problem = answer
        .problems
        .iter()
        .find(|it| it.severity == Severity::Error);
    assert_eq!(
        problem.unwrap().to_string(),
        "/root/.ssh/config: Bad owner or permissions on /root/.ssh/config; give it to root or to root, and let nobody else write it: chmod go-w"
    );
}
