//! What only other releases than the installed one show: each rule of OpenSSH 7 to 10 that differs from 9.2.
//! Values of 8.4 and 10.5 were taken from builds of those releases, the rest from release notes and source.
#![forbid(unsafe_code)]

use advisor::resolver::{ClientFiles, ClientRequest, ServerRequest, Severity, resolve_server};
use engine::installed::releases::Release;

use crate::question::{BEFORE, DEFAULT, LATER, NOW, REFUSED, Tree, by_release, errors, said};

const A: &str = "aes128-ctr";
const B: &str = "aes256-ctr";
/// The last release whose tables are complete, and a later one.
const NEWEST: Release = Release::new(10, 6);
const AFTER: Release = Release::new(10, 7);

fn at(major: u32, minor: u32) -> Release {
    Release::new(major, minor)
}

fn client(release: Release, text: &str, expected: &str) {
    let tree = Tree::new();
    tree.put("main", text);
    let answer = tree.client(release, "web1");
    let problems = errors(&answer);
    assert_eq!(said(&answer), expected, "{release}, {text:?}: {problems}");
}

fn server(release: Release, text: &str, expected: &str) {
    let tree = Tree::new();
    tree.put("main", text);
    let answer = tree.server(release);
    let problems = errors(&answer);
    assert_eq!(said(&answer), expected, "{release}, {text:?}: {problems}");
}

#[test]
fn a_keyword_is_refused_before_the_release_that_brings_it() {
    for (keyword, before, since) in [
        ("Include", at(7, 2), at(7, 3)),
        ("KnownHostsCommand", at(8, 4), at(8, 5)),
        ("SessionType", at(8, 6), at(8, 7)),
        ("RequiredRSASize", at(9, 0), at(9, 1)),
        ("EnableEscapeCommandline", at(9, 1), at(9, 2)),
        ("Tag", at(9, 3), at(9, 4)),
        ("ObscureKeystrokeTiming", at(9, 4), at(9, 5)),
        ("ChannelTimeout", at(9, 5), at(9, 6)),
        ("VersionAddendum", at(9, 9), at(10, 0)),
        ("RefuseConnection", at(10, 0), at(10, 1)),
        ("WarnWeakCrypto", at(10, 0), at(10, 1)),
    ] {
        let text = format!("{keyword} x\n");
        client(before, &text, REFUSED);
        client(since, &text, DEFAULT);
    }
    for (keyword, before, since) in [
        ("Include", at(8, 1), at(8, 2)),
        ("PerSourceMaxStartups", at(8, 4), at(8, 5)),
        ("UnusedConnectionTimeout", at(9, 1), at(9, 2)),
        ("PerSourcePenalties", at(9, 7), at(9, 8)),
        ("PAMServiceName", at(9, 7), at(9, 8)),
        ("RefuseConnection", at(9, 8), at(9, 9)),
        ("SshdAuthPath", at(9, 9), at(10, 0)),
        ("AgentSocketPath", at(10, 0), NEWEST),
        ("WarnWeakCrypto", at(10, 0), NEWEST),
        ("GSSAPIDelegateCredentials", at(10, 0), NEWEST),
    ] {
        let text = format!("{keyword} x\n");
        server(before, &text, REFUSED);
        server(since, &text, DEFAULT);
    }
}

#[test]
fn a_keyword_is_refused_once_a_release_drops_it() {
    let text = "PAMAuthenticationViaKbdInt yes\n";
    server(at(10, 0), text, DEFAULT);
    server(at(10, 3), text, DEFAULT);
    server(NEWEST, text, REFUSED);
}

#[test]
fn a_refused_keyword_is_told_since_when_it_is_known() {
    let tree = Tree::new();
    tree.put("main", "Tag x\n");
    assert_eq!(
        errors(&tree.client(NOW, "web1")),
        "/main:1:1: Bad configuration option: tag; remove the line, or put IgnoreUnknown tag above it: OpenSSH 9.4 brought tag, and this is OpenSSH 9.2"
    );
    tree.put("main", "PerSourcePenalties x\n");
    assert_eq!(
        errors(&tree.server(NOW)),
        "/main:1:1: Bad configuration option: PerSourcePenalties; remove the line: OpenSSH 9.8 brought PerSourcePenalties, and this is OpenSSH 9.2"
    );
}

#[test]
fn what_is_unknown_after_the_tables_end_is_a_warning() {
    for text in ["Nonsense x\n", "Match nonsense x\n"] {
        by_release(NEWEST, text, REFUSED, REFUSED);
        by_release(AFTER, text, DEFAULT, DEFAULT);
        let tree = Tree::new();
        tree.put("main", text);
        for answer in [tree.client(AFTER, "web1"), tree.server(AFTER)] {
            assert_eq!(answer.problems[0].severity, Severity::Warning, "{text}");
        }
    }
}

#[test]
fn keywords_of_patched_programs_are_a_warning_in_any_release() {
    server(at(8, 7), "X11MaxDisplays 1000\n", DEFAULT);
    server(at(8, 7), "KerberosUseKuserok yes\n", DEFAULT);
}

#[test]
fn debians_words_for_gssapi_are_a_warning_once_another_package_brings_them() {
    for release in [NOW, at(10, 0), NEWEST] {
        client(release, "GSSAPIKeyExchange no\n", DEFAULT);
        server(release, "GSSAPIKeyExchange no\n", DEFAULT);
    }
}

#[test]
fn sshd_takes_subsystem_in_a_match_since_9_5() {
    let text = "Match user x\nSubsystem sftp internal-sftp\n";
    server(at(9, 4), text, REFUSED);
    server(at(9, 5), text, DEFAULT);
    let text = "Match user x\nChallengeResponseAuthentication no\n";
    server(BEFORE, text, REFUSED);
    server(at(8, 7), text, DEFAULT);
}

#[test]
fn match_criteria_came_one_by_one() {
    let text = |criterion: &str| format!("Match {criterion} x\nCiphers aes128-ctr\n");
    // Of a tag that is an address, no tag is one; of the networks nothing is known here.
    for (criterion, before, since) in [
        ("localnetwork", at(9, 3), at(9, 4)),
        ("tagged", at(9, 3), at(9, 4)),
    ] {
        let text = text(&format!("{criterion} 10.0.0.0/8 host"));
        client(before, &text, REFUSED);
        client(since, &text, DEFAULT);
    }
    for criterion in ["version", "sessiontype", "command"] {
        let text = text(&format!("{criterion} shell host web1 user"));
        let text = text.replace("user x", "user root");
        client(at(9, 9), &text, REFUSED);
        let tree = Tree::new();
        tree.put("main", &text);
        let answer = tree.client(LATER, "web1");
        assert_eq!(answer.alternatives, [[A]], "{criterion}");
        assert!(answer.problems.is_empty(), "{:?}", answer.problems);
    }
    server(at(9, 9), &text("version"), REFUSED);
    let text = "Match invalid-user\nPermitTTY no\n";
    server(at(9, 8), text, REFUSED);
    server(at(9, 9), text, DEFAULT);
}

#[test]
fn a_version_is_compared_where_the_program_told_its_own() {
    let tree = Tree::new();
    tree.put(
        "main",
        "Match version OpenSSH_9.*,!*\nMACs hmac-sha2-256\nMatch version OpenSSH_10.*\nCiphers aes128-ctr\nMatch all\nCiphers aes256-ctr\n",
    );
    let ssh = |version: Option<&str>| {
        tree.ask(&ClientRequest {
            version: version.map(str::to_owned),
            files: ClientFiles::Only("/main".into()),
            ..ClientRequest::new(LATER)
        })
    };
    let sshd = |version: Option<&str>| {
        let request = ServerRequest {
            version: version.map(str::to_owned),
            file: "/main".into(),
            ..ServerRequest::new(LATER)
        };
        resolve_server(&tree.files(), &request)
    };
    let debian = Some("OpenSSH_10.5p1 Debian-1");
    assert_eq!(said(&ssh(debian)), A);
    assert_eq!(said(&ssh(Some("OpenSSH_11.0p1"))), "aes256-ctr");
    assert_eq!(ssh(None).alternatives, [[A]]);
    // sshd refuses the lists in a block that is not active when it starts.
    assert_eq!(said(&sshd(debian)), REFUSED);
    assert_eq!(said(&sshd(None)), "aes256-ctr");
    assert_eq!(sshd(None).alternatives, [[A]]);
    tree.put("main", "Match version OpenSSH_10.*\nCiphers aes128-ctr\n");
    assert_eq!(said(&sshd(debian)), A);
    assert_eq!(said(&sshd(Some("OpenSSH_11.0p1"))), REFUSED);
    tree.put(
        "main",
        "Match version OpenSSH_10.* user x\nCiphers aes128-ctr\n",
    );
    assert_eq!(said(&sshd(debian)), REFUSED);
}

#[test]
fn a_tag_is_compared_since_9_4() {
    let text = "Tag x\nMatch tagged x\nCiphers aes128-ctr\nMatch tagged y\nCiphers aes256-ctr\n";
    client(at(9, 4), text, A);
    let other = "Tag y\nMatch tagged x\nCiphers aes128-ctr\nMatch tagged y\nCiphers aes256-ctr\n";
    client(at(9, 4), other, B);
}

#[test]
fn include_expands_tokens_since_9_9() {
    let tree = Tree::new();
    tree.put("root/x/a", "Ciphers aes128-ctr\n");
    tree.put("hosts/web1/root/0", "Ciphers aes256-ctr\n");
    for (text, expected) in [
        ("Include %d/x/a\n", A),
        ("Include ${HOME}/x/a\n", A),
        ("Include /hosts/%n/%u/%i\n", B),
        ("Include /hosts/%h/root/*\n", B),
        ("HostName other\nInclude /hosts/%h/root/*\n", DEFAULT),
        ("Include /hosts/%%/a\n", DEFAULT),
    ] {
        tree.put("main", text);
        let answer = tree.client(at(9, 9), "web1");
        assert_eq!(said(&answer), expected, "{text}: {:?}", answer.problems);
        assert_eq!(said(&tree.client(NOW, "web1")), DEFAULT, "{text}");
    }
}

#[test]
fn what_an_include_cannot_know_before_a_connection_is_said() {
    let tree = Tree::new();
    for text in ["${X}/a", "/x/%p", "/x/%C", "/x/%"] {
        tree.put("main", format!("Include {text}\n"));
        let answer = tree.client(at(9, 9), "web1");
        let wanted = format!("what {text} stands for is known only when ssh runs");
        assert!(errors(&answer).contains(&wanted), "{text}");
        assert!(!answer.is_refused(), "{text}");
    }
}

#[test]
fn the_systems_file_must_not_come_to_a_tilde_either() {
    let tree = Tree::new();
    tree.put("etc/ssh/ssh_config", "Include ~nobody/x\n");
    for release in [NOW, at(9, 9)] {
        let answer = tree.ask(&ClientRequest::new(release).destination("web1"));
        assert!(errors(&answer).contains("bad include path ~nobody/x."));
    }
}

#[test]
fn another_users_home_is_looked_up_in_passwd() {
    let tree = Tree::new();
    tree.put(
        "etc/passwd",
        "root:x:0:0::/root:/bin/sh\nann:x:7:7:Ann:/home/a:/bin/sh\n",
    );
    tree.put("home/a/ciphers", "Ciphers aes128-ctr\n");
    tree.put("main", "Include ~ann/ciphers ~ann ~\n");
    assert_eq!(said(&tree.client(NOW, "web1")), A);
    tree.put("main", "Include ~eve/ciphers\n");
    let answer = tree.client(NOW, "web1");
    assert_eq!(said(&answer), DEFAULT);
    assert!(errors(&answer).contains("/etc/passwd knows no eve"));
}

#[test]
fn lines_had_a_limit_up_to_7_7() {
    let line = |length: usize| format!("# {}\n", "x".repeat(length - 3));
    by_release(at(7, 7), line(4094), DEFAULT, DEFAULT);
    by_release(at(7, 7), line(4095), REFUSED, REFUSED);
    by_release(at(7, 8), line(4095), DEFAULT, DEFAULT);
}

#[test]
fn signs_are_names_before_the_release_that_brings_them() {
    for (sign, before, since) in [
        ("+", at(6, 9), at(7, 0)),
        ("-", at(7, 4), at(7, 5)),
        ("^", at(8, 0), at(8, 1)),
    ] {
        let text = format!("Ciphers {sign}aes128-ctr\n");
        by_release(before, &text, REFUSED, REFUSED);
        let tree = Tree::new();
        tree.put("main", &text);
        assert!(!tree.client(since, "web1").is_refused(), "{sign} {since}");
        assert!(!tree.server(since).is_refused(), "{sign} {since}");
    }
}

#[test]
fn ciphers_are_known_until_their_release_drops_them() {
    for (name, last, gone) in [
        ("arcfour", at(7, 5), at(7, 6)),
        ("arcfour128", at(7, 5), at(7, 6)),
        ("arcfour256", at(7, 5), at(7, 6)),
        ("blowfish-cbc", at(7, 5), at(7, 6)),
        ("cast128-cbc", at(7, 5), at(7, 6)),
        ("rijndael-cbc@lysator.liu.se", at(8, 4), at(8, 5)),
    ] {
        let text = format!("Ciphers {name}\n");
        by_release(last, &text, name, name);
        by_release(gone, &text, REFUSED, REFUSED);
        let tree = Tree::new();
        tree.put("main", &text);
        let cure = format!(
            "remove {name}: OpenSSH {}.{} dropped it",
            gone.major, gone.minor
        );
        for answer in [tree.client(LATER, "web1"), tree.server(LATER)] {
            assert!(errors(&answer).contains(&cure), "{}", errors(&answer));
        }
    }
    by_release(LATER, "Ciphers 3des-cbc\n", "3des-cbc", "3des-cbc");
}

#[test]
fn an_empty_name_in_front_is_refused_since_10_4() {
    for (value, before, since) in [
        (",aes128-ctr", A, REFUSED),
        ("+,3des-cbc", DEFAULT, REFUSED),
        ("aes128-ctr,", A, A),
        (
            "aes128-ctr,,aes256-ctr",
            "aes128-ctr,aes256-ctr",
            "aes128-ctr,aes256-ctr",
        ),
    ] {
        let text = format!("Ciphers {value}\n");
        by_release(at(10, 3), &text, before, before);
        by_release(at(10, 4), &text, since, since);
    }
}

#[test]
fn the_default_follows_the_release() {
    let order = |release: Release| {
        let tree = Tree::new();
        tree.put("main", "");
        let short = |name: &String| name.split('@').next().unwrap_or_default().to_owned();
        let of = |list: Vec<String>| list.iter().map(short).collect::<Vec<_>>().join(" ");
        (
            of(tree.client(release, "x").ciphers),
            of(tree.server(release).ciphers),
        )
    };
    const NEW: &str = "chacha20-poly1305 aes128-ctr aes192-ctr aes256-ctr aes128-gcm aes256-gcm";
    const NEWEST: &str = "chacha20-poly1305 aes128-gcm aes256-gcm aes128-ctr aes192-ctr aes256-ctr";
    let cbc = |triple: &str| format!("{NEW} aes128-cbc aes192-cbc aes256-cbc{triple}");
    assert_eq!(order(at(7, 2)), (cbc(" 3des-cbc"), NEW.into()));
    assert_eq!(order(at(7, 4)), (cbc(""), NEW.into()));
    assert_eq!(order(at(7, 6)), (NEW.into(), NEW.into()));
    assert_eq!(order(at(9, 9)), (NEW.into(), NEW.into()));
    assert_eq!(order(at(10, 0)), (NEWEST.into(), NEWEST.into()));
    assert_eq!(order(LATER), (NEWEST.into(), NEWEST.into()));
}

#[test]
fn the_old_words_of_8_4() {
    for (text, ssh, sshd) in [
        ("Ciphers 'aes128-ctr'\n", REFUSED, REFUSED),
        ("Ciphers aes128-ctr=\n", A, A),
        ("Ciphers aes128-ctr # c\n", REFUSED, A),
        ("Ciphers aes128-ctr # c\r\n", REFUSED, A),
        ("Ciphers aes128-ctr#c\n", REFUSED, A),
        ("Ciphers \"aes128-ctr # x\"\n", REFUSED, REFUSED),
        ("# a\0b\nCiphers aes128-ctr\n", A, A),
        ("Ciphers ,aes128-ctr\n", A, A),
        ("Ciphers aes128-ctr\r,aes256-ctr\n", REFUSED, REFUSED),
    ] {
        by_release(BEFORE, text, ssh, sshd);
    }
}

#[test]
fn the_old_complaints_of_8_4() {
    for (text, complaint) in [
        (
            "Ciphers aes128-ctr, aes256-ctr\n",
            "garbage at end of line; \"aes256-ctr\".",
        ),
        ("Ciphers aes128-ctr # c\n", "garbage at end of line; \"#\"."),
        ("Ciphers \"aes128-ctr\n", "Missing argument."),
        ("Ciphers==aes128-ctr\n", "Missing argument."),
    ] {
        let tree = Tree::new();
        tree.put("main", text);
        let answer = tree.client(BEFORE, "web1");
        assert!(errors(&answer).contains(complaint), "{}", errors(&answer));
    }
}

#[test]
fn a_file_writable_by_a_group_is_refused_by_all_but_debians_ssh() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let tree = Tree::new();
    tree.put("etc/ssh/ssh_config", "Include part\n");
    tree.put("etc/ssh/part", "Ciphers aes128-ctr\n");
    tree.put("etc/passwd", "root:x:0:0::/root:/bin/sh\n");
    tree.put("etc/group", "root:x:0:\n");
    let part = tree.real("etc/ssh/part");
    set_permissions(&part, Permissions::from_mode(0o620)).unwrap();
    if part.metadata().unwrap().uid() != 0 {
        return crate::support::skip_here("needs root: the file must be root's own");
    }
    for (private_groups, expected) in [(true, A), (false, REFUSED)] {
        let answer = tree.ask(&ClientRequest {
            private_groups,
            files: ClientFiles::Usual {
                user: None,
                system: Some("/etc/ssh/ssh_config".into()),
            },
            ..ClientRequest::new(LATER).destination("web1")
        });
        assert_eq!(said(&answer), expected, "{:?}", answer.problems);
    }
}
