//! `Match` lines: how they are cut, which criteria a release knows, and which answers stay open. Expected
//! values of 10.x were taken from Debian's 10.0p2 and 10.6p1, which agree on all of them.
#![forbid(unsafe_code)]

use advisor::resolver::Outcome;
use engine::installed::releases::Release;

use crate::question::{DEFAULT, LATER, NOW, REFUSED, Tree, said, server};

const A: &str = "aes128-ctr";
/// Expected: both lists are possible.
const OPEN: &str = "open";

const LAST_DELIMITED: Release = Release::new(9, 8);
const FIRST_SPLIT: Release = Release::new(9, 9);
const NEWEST: Release = Release::new(10, 6);

/// A line, and what becomes of a `Ciphers` line below it for host `web1` and user `root`.
type Line = (&'static str, &'static str);

fn client(releases: &[Release], lines: &[Line]) {
    for (line, expected) in lines {
        for &release in releases {
            let tree = Tree::new();
            tree.put("main", format!("{line}\nCiphers aes128-ctr\n"));
            let answer = tree.client(release, "web1");
            let given = match &answer.considered[0].outcome {
                Outcome::Depends(_) if !answer.is_refused() => OPEN.to_owned(),
                _ => said(&answer),
            };
            assert_eq!(
                given, *expected,
                "{release}, {line}: {:#?}",
                answer.problems
            );
        }
    }
}

/// The same at the start of `sshd`, for a line any block may hold, and for `Ciphers`.
fn at_start(release: Release, lines: &[(&str, &str, &str)]) {
    for (line, neutral, ciphers) in lines {
        for (below, expected) in [("PermitTTY no", neutral), ("Ciphers aes128-ctr", ciphers)] {
            let tree = Tree::new();
            tree.put("main", format!("{line}\n{below}\n"));
            let answer = tree.server(release);
            let problems = &answer.problems;
            assert_eq!(
                said(&answer),
                *expected,
                "{release}, {line}, {below}: {problems:#?}"
            );
        }
    }
}

#[test]
fn since_9_9_a_match_line_is_cut_like_any_other() {
    let lines = [
        ("Match host='web1'", A, DEFAULT),
        ("Match 'host' 'web1'", A, REFUSED),
        ("Match \"host=web1\"", A, REFUSED),
        ("Match h\"os\"t web1", A, REFUSED),
        ("Match host we\\ b", DEFAULT, REFUSED),
        ("Match host \"we\\\"b\"", DEFAULT, DEFAULT),
        ("Match user root,\"x y\"", A, A),
        ("Match host = web1", REFUSED, A),
        ("Match host web1 '#c' x", A, REFUSED),
        ("Match host web1 ''", REFUSED, REFUSED),
        ("Match '' x", REFUSED, REFUSED),
        ("Match \"\" x", REFUSED, REFUSED),
    ];
    for (line, split, delimited) in lines {
        client(&[FIRST_SPLIT, LATER, NEWEST], &[(line, split)]);
        client(&[NOW, LAST_DELIMITED], &[(line, delimited)]);
    }
}

#[test]
fn a_criterion_may_be_joined_to_its_value() {
    let lines = [
        ("Match host=web1", A),
        ("Match HOST=web1", A),
        ("Match !host=db", A),
        ("Match user=root host=web1", A),
        ("Match originalhost='web1' user=\"root\"", A),
        ("Match localuser=root", A),
        ("Match exec=true", OPEN),
        ("Match host=", REFUSED),
        ("Match all=x", REFUSED),
        ("Match = all", A),
    ];
    client(&[FIRST_SPLIT, LATER, NEWEST], &lines);
    let later = [
        ("Match version=OpenSSH_10.*", OPEN),
        ("Match tagged=", A),
        ("Match command=x", OPEN),
        ("Match localnetwork=10.0.0.0/8", OPEN),
        // These take no value that is joined to them.
        ("Match sessiontype=shell", REFUSED),
        ("Match final=x", REFUSED),
        ("Match canonical=x", REFUSED),
    ];
    client(&[Release::new(10, 0), NEWEST], &later);
}

#[test]
fn an_empty_value_means_no_tag_and_no_command_since_10_0() {
    let lines = [
        ("Match tagged ''", A),
        ("Match tagged \"\" host web1", A),
        ("Match tagged *", DEFAULT),
        ("Match command \"\"", OPEN),
        ("Match tagged", REFUSED),
        ("Match command", REFUSED),
        ("Match user ''", REFUSED),
        ("Match sessiontype ''", REFUSED),
        ("Match version ''", REFUSED),
        ("Match exec ''", REFUSED),
        ("Match host '#c'", REFUSED),
    ];
    client(&[Release::new(10, 0), NEWEST], &lines);
    let before = [("Match tagged ''", REFUSED), ("Match tagged *", A)];
    client(&[FIRST_SPLIT], &before);
}

#[test]
fn a_session_type_is_open_until_the_file_sets_it() {
    let types = ["shell", "exec", "subsystem", "none"];
    let mut lines: Vec<(String, &str)> = vec![
        ("Match sessiontype *".into(), A),
        ("Match !sessiontype *".into(), DEFAULT),
        ("Match sessiontype nonsense".into(), DEFAULT),
    ];
    for (set, possible) in [
        ("none", &["none"][..]),
        ("subsystem", &["subsystem"]),
        ("default", &["shell", "exec"]),
    ] {
        for asked in types {
            let expected = match possible {
                [only] if *only == asked => A,
                _ if possible.contains(&asked) => OPEN,
                _ => DEFAULT,
            };
            let line = format!("SessionType {set}\nMatch sessiontype {asked}");
            lines.push((line, expected));
        }
    }
    lines.extend(types.map(|asked| (format!("Match sessiontype {asked}"), OPEN)));
    for (line, expected) in lines {
        let line: &'static str = line.leak();
        client(&[Release::new(10, 0), NEWEST], &[(line, expected)]);
    }
}

#[test]
fn networks_are_checked_and_stay_open() {
    let lines = [
        ("Match localnetwork 10.0.0.0/8", OPEN),
        ("Match localnetwork 127.0.0.1,::/0", OPEN),
        ("Match host db localnetwork 10.0.0.0/8", DEFAULT),
        ("Match localnetwork 10.0.0.1/8", REFUSED),
        ("Match localnetwork 10/8", REFUSED),
        ("Match localnetwork 10.0.0.0/33", REFUSED),
        ("Match localnetwork 10.0.0.0/8,", REFUSED),
        ("Match localnetwork !10.0.0.0/8", REFUSED),
        ("Match localnetwork 1.2.3.4/x", REFUSED),
        ("Match localnetwork 1.2.3.4/", REFUSED),
        ("Match localnetwork x", REFUSED),
    ];
    client(&[Release::new(9, 4), LATER, NEWEST], &lines);
}

#[test]
fn sshd_cuts_its_match_lines_alike() {
    let lines = [
        ("Match user=x", DEFAULT, REFUSED),
        ("Match user = x", REFUSED, REFUSED),
        ("Match 'user' \"a b\"", DEFAULT, REFUSED),
        ("Match USER=x # c", DEFAULT, REFUSED),
        ("Match user=", REFUSED, REFUSED),
        ("Match user ''", REFUSED, REFUSED),
        ("Match user x ''", REFUSED, REFUSED),
        ("Match '' x", REFUSED, REFUSED),
        ("Match all", DEFAULT, A),
        ("Match = all", DEFAULT, A),
        ("Match all ''", DEFAULT, A),
        ("Match all '' x", REFUSED, REFUSED),
        ("Match all=x", REFUSED, REFUSED),
        ("Match all # c", DEFAULT, A),
        ("Match invalid-user", DEFAULT, REFUSED),
        ("Match invalid-user user x", DEFAULT, REFUSED),
        ("Match invalid-user=x", REFUSED, REFUSED),
        (
            "Match group=a host=b address=10.0.0.0/8 localaddress=::1 localport=22 rdomain=1",
            DEFAULT,
            REFUSED,
        ),
        ("Match address=10/8", REFUSED, REFUSED),
        ("Match localnetwork 10.0.0.0/8", REFUSED, REFUSED),
    ];
    for release in [FIRST_SPLIT, LATER, NEWEST] {
        at_start(release, &lines);
    }
}

#[test]
fn criteria_are_known_completely_up_to_the_newest() {
    client(&[NEWEST], &[("Match nonsense x", REFUSED)]);
    client(&[Release::new(10, 7)], &[("Match nonsense x", OPEN)]);
    at_start(NEWEST, &[("Match nonsense x", REFUSED, REFUSED)]);
}

#[test]
fn a_rekey_limit_may_stand_in_a_match_of_sshd() {
    server("Match user x\nRekeyLimit 1G\n", DEFAULT);
}
