//! What a value of `Ciphers` stands for: signs, patterns, and what no program takes.
#![forbid(unsafe_code)]

use advisor::resolver::{Outcome, Side, Source};
use engine::installed::releases::Release;

use crate::question::{BEFORE, DEFAULT, LATER, NOW, REFUSED, Tree, both, by_release, errors, said};

const ALL: &str = "chacha20-poly1305@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com";

fn value(text: &str, expected: &str) {
    both(format!("Ciphers {text}\n"), expected, expected);
}

#[test]
fn plus_appends_to_the_default() {
    value("+3des-cbc", &format!("{ALL},3des-cbc"));
    value("+aes128-ctr", DEFAULT);
}

#[test]
fn minus_removes_by_pattern() {
    let without = |gone: &[&str]| -> String {
        let left: Vec<_> = ALL.split(',').filter(|name| !gone.contains(name)).collect();
        left.join(",")
    };
    value("-aes128-ctr", &without(&["aes128-ctr"]));
    value("-chacha20*", &without(&["chacha20-poly1305@openssh.com"]));
    value(
        "-aes???-ctr",
        &without(&["aes128-ctr", "aes192-ctr", "aes256-ctr"]),
    );
    value("-AES128-CTR", DEFAULT);
    value("-nonsense", DEFAULT);
    value("-*-cbc", DEFAULT);
    value("-", DEFAULT);
    value("-aes128-ctr,-aes256-ctr", &without(&["aes128-ctr"]));
}

#[test]
fn minus_understands_negation() {
    value("-*,!aes128-ctr", "aes128-ctr");
    value("-!aes128-ctr,*", "aes128-ctr");
}

#[test]
fn minus_everything_leaves_nobody_able_to_connect() {
    let tree = Tree::new();
    tree.put("main", "Ciphers -*\n");
    for answer in [tree.client(NOW, "web1"), tree.server(NOW)] {
        assert!(answer.ciphers.is_empty());
        assert_eq!(answer.is_refused(), answer.side == Side::Server);
        assert!(errors(&answer).contains("nobody can connect"));
    }
}

#[test]
fn caret_puts_in_front() {
    value(
        "^aes256-gcm@openssh.com,aes128-ctr",
        "aes256-gcm@openssh.com,aes128-ctr,chacha20-poly1305@openssh.com,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com",
    );
    value("^3des-cbc", &format!("3des-cbc,{ALL}"));
}

#[test]
fn patterns_are_understood_after_minus_only() {
    for text in ["+*-cbc", "^aes*gcm*", "aes*"] {
        value(text, REFUSED);
    }
}

#[test]
fn a_sign_stands_once_and_in_front() {
    for text in [
        "+aes128-ctr,+aes256-ctr",
        "^aes128-ctr,^aes256-ctr",
        "aes128-ctr,+aes256-ctr",
        "^+aes128-ctr",
        "+ aes128-ctr",
        "+",
        "^",
    ] {
        value(text, REFUSED);
    }
}

#[test]
fn signs_came_one_by_one() {
    let at = |minor, text: &str, expected: &str| {
        by_release(
            Release::new(7, minor),
            format!("Ciphers {text}\n"),
            expected,
            expected,
        );
    };
    at(4, "-aes128-ctr", REFUSED);
    at(9, "^aes128-ctr", REFUSED);
    by_release(
        Release::new(6, 9),
        "Ciphers +aes128-ctr\n",
        REFUSED,
        REFUSED,
    );
    by_release(
        BEFORE,
        "Ciphers ^aes128-ctr\n",
        "aes128-ctr,chacha20-poly1305@openssh.com,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com",
        "aes128-ctr,chacha20-poly1305@openssh.com,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com",
    );
}

#[test]
fn the_default_is_that_of_the_release() {
    let tree = Tree::new();
    tree.put("main", "");
    assert_eq!(tree.client(NOW, "web1").ciphers.join(","), ALL);
    let later = tree.client(LATER, "web1");
    assert!(later.ciphers[1].starts_with("aes128-gcm"));
    assert_eq!(later.source, Source::Default("OpenSSH 10.5".into()));
    assert_eq!(said(&later), DEFAULT);
}

#[test]
fn a_list_without_any_name_is_refused() {
    let tree = Tree::new();
    tree.put("main", "Ciphers ,\n");
    assert!(tree.client(NOW, "web1").is_refused());
    assert!(tree.server(NOW).is_refused());
}

#[test]
fn macs_follow_the_same_grammar() {
    let tree = Tree::new();
    tree.put("main", "MACs ^hmac-sha2-256\nMACs hmac-sha1\n");
    assert_eq!(tree.client(NOW, "web1").macs[0], "hmac-sha2-256");
    both("MACs nonsense\n", REFUSED, REFUSED);
    both(
        "MACs -hmac-sha1*\nCiphers aes128-ctr\n",
        "aes128-ctr",
        "aes128-ctr",
    );
}

#[test]
fn problems_name_place_complaint_and_cure() {
    for (text, expected) in [
        (
            "Ciphers AES128-CTR",
            "/main:1:9: Bad SSH2 cipher spec 'AES128-CTR'.; write aes128-ctr in place of AES128-CTR",
        ),
        (
            "Ciphers aes128-gcm",
            "/main:1:9: Bad SSH2 cipher spec 'aes128-gcm'.; write aes128-gcm@openssh.com in place of aes128-gcm",
        ),
        (
            "  Ciphers = arcfour",
            "/main:1:13: Bad SSH2 cipher spec 'arcfour'.; remove arcfour: OpenSSH 7.6 dropped it",
        ),
        (
            "Ciphers aes128-ctr, aes256-ctr",
            "/main:1:21: keyword ciphers extra arguments at end of line; remove the blanks: a list has commas only",
        ),
        (
            "Ciphers aes128-ctr#c",
            "/main:1:9: Bad SSH2 cipher spec 'aes128-ctr#c'.; put a blank before the # of a comment",
        ),
        (
            "Ciphers +*-cbc",
            "/main:1:9: Bad SSH2 cipher spec '+*-cbc'.; write the names out: patterns are understood only after -",
        ),
        (
            "Ciphers ^aes128-ctr,^aes256-ctr",
            "/main:1:9: Bad SSH2 cipher spec '^aes128-ctr,^aes256-ctr'.; write the sign once, in front of the whole list",
        ),
        (
            "Cyphers x",
            "/main:1:1: Bad configuration option: cyphers; correct or remove the line: OpenSSH 9.2 does not know cyphers (or put IgnoreUnknown cyphers above it)",
        ),
    ] {
        let tree = Tree::new();
        tree.put("main", text);
        assert_eq!(errors(&tree.client(NOW, "web1")), expected);
    }
}

#[test]
fn a_refused_line_is_considered_and_resolving_goes_on() {
    let tree = Tree::new();
    tree.put(
        "main",
        "Ciphers nonsense\nCiphers aes128-ctr\nCiphers aes256-ctr\n",
    );
    let answer = tree.client(NOW, "web1");
    assert_eq!(answer.ciphers, ["aes128-ctr"]);
    let outcomes: Vec<_> = answer.considered.iter().map(|line| &line.outcome).collect();
    assert!(matches!(outcomes[0], Outcome::Refused(_)), "{outcomes:?}");
    assert_eq!(*outcomes[1], Outcome::Won);
    assert_eq!(
        *outcomes[2],
        Outcome::Shadowed(answer.considered[1].location.clone())
    );
}
