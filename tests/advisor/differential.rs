//! Random configuration trees: our lists and our verdict against those of the installed programs.
//!
//! A few hundred trees a side by default, as many as `ADVISOR_TREES` says on demand. No command is run and no
//! name looked up: `exec` and canonicalisation stay out. What a run finds is shrunk and kept in
//! `resolver.rs`.
#![cfg(unix)]
#![forbid(unsafe_code)]

use std::path::PathBuf;

use advisor::resolver::{Effective, Severity, Side};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::oracle::{Oracle, Verdict, ours};

/// Files beside the main one. `a`, `b` in the order of a glob; the last below `~/.ssh`.
const NAMES: [&str; 4] = [
    "part-a.conf",
    "part-b.conf",
    "10-c.conf",
    ".ssh/relative.conf",
];

const CIPHERS: &[&str] = &[
    "aes128-ctr",
    "aes192-ctr",
    "aes256-ctr",
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "chacha20-poly1305@openssh.com",
    "aes128-cbc",
    "3des-cbc",
];

const MACS: &[&str] = &[
    "hmac-sha2-256",
    "umac-64-etm@openssh.com",
    "hmac-sha1-96",
    "hmac-sha2-512-etm@openssh.com",
];

const HOSTS: &[&str] = &["web1", "db.example.com", "WEB", "10.0.0.1", "git@web1"];

/// The main file and its parts.
type Trees = (Text, Vec<Text>);

/// Bytes that show themselves as text.
#[derive(Clone, PartialEq, Eq)]
struct Text(Vec<u8>);

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

#[test]
fn ssh_agrees_on_random_trees() {
    let Some(oracle) = Oracle::new() else { return };
    let strategy = (trees(Side::Client), select(HOSTS));
    run(&strategy, |(trees, host)| {
        let file = write(&oracle, trees);
        compare(&oracle.ssh(&file, host), &oracle.our_ssh(&file, host))
    });
}

#[test]
fn sshd_agrees_on_random_trees() {
    let Some(oracle) = Oracle::new() else { return };
    run(&trees(Side::Server), |trees| {
        let file = write(&oracle, trees);
        compare(&oracle.sshd(&file), &oracle.our_sshd(&file))
    });
}

/// Words, quotes, blanks and odd bytes in any order, on very few lines: where trees test meaning, this tests
/// the cutting of lines.
#[test]
fn both_agree_on_odd_lines() {
    let Some(oracle) = Oracle::new() else { return };
    let lines = vec(odd_line(), 1..4).prop_map(|lines| Text(lines.concat()));
    run(&lines, |text| {
        let file = oracle.write("odd", &text.0);
        compare(&oracle.ssh(&file, "web1"), &oracle.our_ssh(&file, "web1"))?;
        compare(&oracle.sshd(&file), &oracle.our_sshd(&file))
    });
}

fn run<S: Strategy>(strategy: &S, property: impl Fn(&S::Value) -> Result<(), TestCaseError>)
where
    S::Value: std::fmt::Debug,
{
    let wanted = std::env::var("ADVISOR_TREES").ok();
    let config = Config {
        cases: wanted.map_or(300, |count| count.parse().unwrap()),
        failure_persistence: None,
        max_shrink_iters: 4096,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(strategy, |value| property(&value));
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

fn write(oracle: &Oracle, (main, parts): &Trees) -> PathBuf {
    let replaced = |bytes: &[u8]| {
        let home = oracle.home().to_str().unwrap();
        let text: Vec<_> = bytes.split(|&byte| byte == b'\x01').collect();
        text.join(home.as_bytes())
    };
    for (name, part) in NAMES.iter().zip(parts) {
        oracle.write(name, replaced(&part.0));
    }
    oracle.write("main", replaced(&main.0))
}

fn compare(theirs: &Verdict, effective: &Effective) -> Result<(), TestCaseError> {
    let ours = ours(effective);
    if !is_known_oddity(theirs, &ours, effective) {
        let problems: Vec<_> = effective.problems.iter().map(ToString::to_string).collect();
        prop_assert_eq!(theirs, &ours, "{:#?}", problems);
    }
    Ok(())
}

/// Where what the programs print is not what they do.
fn is_known_oddity(theirs: &Verdict, ours: &Verdict, effective: &Effective) -> bool {
    let Verdict::Lists { ciphers, macs } = theirs else {
        return false;
    };
    match (effective.side, ours) {
        // `ssh -G` complains about a list without any name, goes on without it, and a connection crashes.
        (Side::Client, Verdict::Refused) => {
            let mut errors = effective.problems.iter();
            errors.all(|problem| {
                problem.severity != Severity::Error || problem.what.contains("leaves no algorithm")
            }) && (ciphers.is_empty() || macs.is_empty())
        }
        // The same where this is the only thing that makes us call it an error.
        (Side::Server, Verdict::Refused) => {
            let mut errors = effective.problems.iter();
            errors.all(|problem| {
                problem.severity != Severity::Error || problem.what.contains("nobody can connect")
            }) && *ciphers == effective.default.join(",")
                && effective.ciphers.is_empty()
                && (effective.macs.is_empty() || *macs == effective.macs.join(","))
        }
        // `sshd -T` prints the default for an empty list, although the server then offers nothing.
        (
            Side::Server,
            Verdict::Lists {
                ciphers: c,
                macs: m,
            },
        ) => {
            let emptied = *ciphers == effective.default.join(",") && c.is_empty();
            (emptied || ciphers == c) && (m.is_empty() || macs == m)
        }
        _ => false,
    }
}

fn trees(side: Side) -> impl Strategy<Value = Trees> {
    let file = move |most| {
        let lines = vec(line(side), 0..most);
        (lines, any::<bool>()).prop_map(|(lines, ends)| {
            let mut bytes = lines.concat();
            if !ends && bytes.ends_with(b"\n") {
                bytes.pop();
            }
            Text(bytes)
        })
    };
    (file(8), vec(file(5), NAMES.len()))
}

fn line(side: Side) -> BoxedStrategy<Vec<u8>> {
    prop_oneof![
        8 => statement("Ciphers", list(CIPHERS)),
        2 => statement("MACs", list(MACS)),
        4 => block(side),
        3 => include(side),
        4 => neutral(side),
        1 => select(&["", "# Ciphers nonsense", "  \t", "#", "\"# x"][..])
            .prop_map(|text| format!("{text}\n").into_bytes()),
    ]
    .boxed()
}

/// A keyword and its value in one of the many ways to write them.
fn statement(
    keyword: &'static str,
    value: impl Strategy<Value = String> + 'static,
) -> BoxedStrategy<Vec<u8>> {
    quoted_statement(keyword, value, &["", "", "", "\"", "'"])
}

fn quoted_statement(
    keyword: &'static str,
    value: impl Strategy<Value = String> + 'static,
    quotes: &'static [&'static str],
) -> BoxedStrategy<Vec<u8>> {
    let before = select(&["", "", "", " ", "\t  "][..]);
    let case = select(&[0, 0, 1, 2][..]);
    let between = select(&[" ", " ", "  ", "\t", "=", " = ", " =", "= "][..]);
    let quote = select(quotes);
    let after = select(
        &[
            "\n", "\n", "\n", "\r\n", " \n", "\t\x0c\n", " # why\n", " #\r\n",
        ][..],
    );
    (before, case, between, quote, value, after)
        .prop_map(move |(before, case, between, quote, value, after)| {
            let keyword = match case {
                0 => keyword.to_owned(),
                1 => keyword.to_ascii_lowercase(),
                _ => keyword.to_ascii_uppercase(),
            };
            let quote = if value.contains(' ') { "" } else { quote };
            format!("{before}{keyword}{between}{quote}{value}{quote}{after}").into_bytes()
        })
        .boxed()
}

/// A value of `Ciphers` or `MACs`: mostly right.
fn list(names: &'static [&'static str]) -> BoxedStrategy<String> {
    let some = || {
        subsequence(names, 1..4)
            .prop_shuffle()
            .prop_map(|names| names.join(","))
    };
    let removed = select(
        &[
            "*-cbc",
            "aes*",
            "*gcm*,*-cbc",
            "*",
            "!aes128-ctr,*",
            "none",
            "*,!hmac-sha2-256",
        ][..],
    );
    let odd = select(
        &[
            "none",
            "AES128-CTR",
            "aes*",
            "+",
            "^",
            "-",
            "^+aes128-ctr",
            "aes128-ctr, aes256-ctr",
            "\"\"",
            "aes128-gcm",
            ",",
            "aes128-ctr aes256-ctr",
        ][..],
    );
    prop_oneof![
        12 => some(),
        3 => some().prop_map(|list| format!("+{list}")),
        3 => some().prop_map(|list| format!("^{list}")),
        3 => removed.prop_map(|patterns| format!("-{patterns}")),
        1 => (some(), some()).prop_map(|(a, b)| format!("{a},,{b}")),
        1 => some().prop_map(|list| format!("{list},")),
        1 => some().prop_map(|list| format!(",{list}")),
        1 => some().prop_map(|list| format!("{list},,aes*,nonsense")),
        1 => odd.prop_map(ToOwned::to_owned),
    ]
    .boxed()
}

fn block(side: Side) -> BoxedStrategy<Vec<u8>> {
    match side {
        Side::Client => prop_oneof![
            statement("Host", words(CLIENT_PATTERNS)),
            statement("Match", words(CLIENT_CRITERIA)),
        ]
        .boxed(),
        Side::Server => prop_oneof![
            2 => statement("Match", Just("all".to_owned())),
            1 => statement("Match", words(SERVER_CRITERIA)),
        ]
        .boxed(),
    }
}

const CLIENT_PATTERNS: &[&str] = &[
    "*",
    "web1",
    "web?",
    "WEB",
    "*.example.com",
    "!web1",
    "!*.com",
    "db*",
    "10.0.*",
    "web1,db",
    "a.b",
    "\"web1\"",
    "other",
];

const CLIENT_CRITERIA: &[&str] = &[
    "all",
    "final",
    "canonical",
    "!all",
    "!final",
    "host web1",
    "host web*,db*",
    "!host web1",
    "host=*.example.com",
    "originalhost web1",
    "!originalhost *.com",
    "user git",
    "user root",
    "!user git",
    "localuser root",
    "localuser nobody",
    "host \"web1\"",
    "HOST other",
    "user",
    "nonsense x",
    "host alias.example.com",
    "host='web1'",
    "\"host=web1\"",
    "'host' \"web?\"",
    "!host=\"w\"eb1",
    "user=git originalhost=web1",
    "host = web1",
    "host we\\ b1",
    "host \"\"",
    "'' x",
    "tagged x",
    "tagged ''",
    "!tagged *",
    "version OpenSSH_10*",
    "version=OpenSSH_9*,*8*",
    "all=x",
    "sessiontype=none",
    "final=x",
    "host '#c'",
];

const SERVER_CRITERIA: &[&str] = &[
    "all",
    "user root",
    "group wheel",
    "host web1",
    "address 10.0.0.0/8",
    "address 10.0.0.1/8",
    "localport 22",
    "localport x",
    "localaddress 10/8",
    "rdomain x",
    "user=git",
    "USER git",
    "user",
    "exec true",
    "user='git'",
    "\"user=git\"",
    "'user' \"a b\"",
    "user = git",
    "group=\"\"",
    "'' x",
    "all ''",
    "all=x",
    "version OpenSSH_10*",
    "version=*",
    "address=10/8",
];

fn words(from: &'static [&'static str]) -> BoxedStrategy<String> {
    let several = vec(select(from), 1..3).prop_map(|words| words.join(" "));
    prop_oneof![3 => select(from).prop_map(ToOwned::to_owned), 2 => several].boxed()
}

fn include(side: Side) -> BoxedStrategy<Vec<u8>> {
    let absolute = select(
        &[
            "\x01/part-a.conf",
            "\x01/part-b.conf",
            "\x01/part-*.conf",
            "\x01/*.conf",
            "\x01/missing",
            "\x01/.ssh",
        ][..],
    );
    let relative = select(
        &[
            "relative.conf",
            "~/part-a.conf",
            "rel*",
            "missing",
            "~/.ssh/relative.conf",
        ][..],
    );
    let one = match side {
        Side::Client => prop_oneof![3 => absolute, 1 => relative].boxed(),
        Side::Server => absolute.boxed(),
    };
    statement("Include", vec(one, 1..3).prop_map(|names| names.join(" ")))
}

fn neutral(side: Side) -> BoxedStrategy<Vec<u8>> {
    let lines = match side {
        Side::Client => &[
            ("User", "git"),
            ("User", "root"),
            ("Tag", "x"),
            ("SessionType", "none"),
            ("HostName", "alias.example.com"),
            ("HostName", "%h.example.com"),
            ("HostName", "WEB1"),
            ("HostName", "%x"),
            ("Port", "2222"),
            ("Compression", "yes"),
            ("IgnoreUnknown", "Nons*,UseKeychain"),
            ("Nonsense", "x"),
            ("UseKeychain", "yes"),
            ("SendEnv", "LANG LC_*"),
            ("Cipher", "3des"),
            ("GSSAPIAuthentication", "no"),
        ][..],
        Side::Server => &[
            ("PermitRootLogin", "no"),
            ("X11Forwarding", "no"),
            ("PrintMotd", "no"),
            ("UsePAM", "no"),
            ("AllowUsers", "a b"),
            ("LogLevel", "VERBOSE"),
            ("Nonsense", "x"),
            ("Protocol", "2"),
            ("PasswordAuthentication", "yes"),
        ][..],
    };
    prop_oneof![select(lines)]
        // Before 8.7 single quotes were part of the value, and we judge none of these values.
        .prop_flat_map(|(keyword, value)| {
            quoted_statement(keyword, Just(value.to_owned()), &["", "\""])
        })
        .boxed()
}

fn odd_line() -> BoxedStrategy<Vec<u8>> {
    let pieces = select(
        &[
            "Ciphers",
            "Ciphers ",
            "MACs ",
            "Match all",
            "aes128-ctr",
            "aes256-ctr",
            "hmac-sha2-256",
            " ",
            " ",
            "\t",
            "\r",
            "\x0c",
            "\"",
            "'",
            "\\",
            "=",
            "#",
            ",",
            "+",
            "^",
            "-",
            "*",
            "!",
            "\0",
            "\u{a0}",
            "\x0b",
        ][..],
    );
    let start = select(
        &[
            "Ciphers aes128-ctr",
            "Ciphers ",
            "Ciphers=",
            "Match all",
            "",
        ][..],
    );
    (
        start,
        vec(pieces, 0..5),
        select(&["\n", "\r\n", "\n\n"][..]),
    )
        .prop_map(|(start, pieces, end)| format!("{start}{}{end}", pieces.concat()).into_bytes())
        .boxed()
}
