//! Which line wins: lines, blocks, files, the command line; Host and Match of both programs.
#![forbid(unsafe_code)]

use std::path::Path;

use advisor::resolver::{
    ClientFiles, ClientRequest, CommandOption, Location, Outcome, ServerRequest, Source,
    resolve_server,
};
use engine::installed::releases::Release;

use crate::oracle::{Oracle, ours};
use crate::question::{
    BEFORE, DEFAULT, NOW, REFUSED, Tree, both, by_release, client, errors, said, server,
};

const A: &str = "aes128-ctr";
const B: &str = "aes256-ctr";

#[test]
fn the_first_value_wins() {
    both("Ciphers aes128-ctr\nCiphers +3des-cbc\n", A, A);
}

#[test]
fn later_lines_are_checked_all_the_same() {
    both("Ciphers aes128-ctr\nCiphers none\n", REFUSED, REFUSED);
    client(
        "Ciphers aes128-ctr\nHost other\nCiphers none\n",
        "web1",
        REFUSED,
    );
}

#[test]
fn host_patterns_are_separated_by_blanks() {
    client("Host web1 db\nCiphers aes128-ctr\n", "db", A);
    client("Host web1,db\nCiphers aes128-ctr\n", "db", DEFAULT);
    client("Host web[12]\nCiphers aes128-ctr\n", "web1", DEFAULT);
    client("Host we?1 x*\nCiphers aes128-ctr\n", "web1", A);
}

#[test]
fn host_patterns_have_case() {
    client("Host WEB1\nCiphers aes128-ctr\n", "web1", DEFAULT);
}

#[test]
fn a_negated_pattern_vetoes_and_never_matches_alone() {
    client("Host * !web1\nCiphers aes128-ctr\n", "web1", DEFAULT);
    client("Host * !web1\nCiphers aes128-ctr\n", "web2", A);
    client("Host !web1\nCiphers aes128-ctr\n", "web2", DEFAULT);
}

#[test]
fn host_compares_the_name_as_typed() {
    let text = "Host web1\nHostName other\nHost other\nCiphers aes128-ctr\n";
    client(text, "web1", DEFAULT);
    for destination in ["u@other", "ssh://u@other:22", "other"] {
        client(text, destination, A);
    }
}

#[test]
fn before_8_7_a_comment_behind_host_was_patterns() {
    let tree = Tree::new();
    tree.put("main", "Host web1 # db\nCiphers aes128-ctr\n");
    assert_eq!(said(&tree.client(BEFORE, "db")), A);
    assert_eq!(said(&tree.client(NOW, "db")), DEFAULT);
}

#[test]
fn match_all_applies_and_stands_alone() {
    client("Match all\nCiphers aes128-ctr\n", "web1", A);
    client("Match !all\nCiphers aes128-ctr\n", "web1", DEFAULT);
    client("Match all host web1\nCiphers aes128-ctr\n", "web1", REFUSED);
    client("Match all # c\nCiphers aes128-ctr\n", "web1", A);
    client(
        "Match host web1 user * all\nCiphers aes128-ctr\n",
        "web1",
        REFUSED,
    );
}

#[test]
fn match_host_sees_the_name_after_hostname() {
    let text = "Host web1\nHostName Other.example.com\nMatch host other.*\nCiphers aes128-ctr\n";
    client(text, "web1", A);
    client("Match originalhost WEB1\nCiphers aes128-ctr\n", "web1", A);
    client(
        "Host *\nHostName %h.example.com\nMatch host *.example.com\nCiphers aes128-ctr\n",
        "web1",
        A,
    );
}

#[test]
fn match_user_sees_the_remote_user() {
    client("Match user git\nCiphers aes128-ctr\n", "git@web1", A);
    client("User git\nMatch user git\nCiphers aes128-ctr\n", "web1", A);
    client(
        "User git\nMatch user git\nCiphers aes128-ctr\n",
        "u@web1",
        DEFAULT,
    );
    client("Match !user git\nCiphers aes128-ctr\n", "u@web1", A);
}

#[test]
fn match_criteria_take_an_equals_sign_and_any_case() {
    client("Match HOST=web1\nCiphers aes128-ctr\n", "web1", A);
    client(
        "Match host \"web1\" user=\"u\"\nCiphers aes128-ctr\n",
        "u@web1",
        A,
    );
}

#[test]
fn match_criteria_must_be_known_and_have_values() {
    for text in [
        "Match nonsense x\n",
        "Match host\n",
        "Match\n",
        "Match # c\n",
        "Match tagged x\n",
        "Match version x\n",
    ] {
        client(text, "web1", REFUSED);
    }
    let tree = Tree::new();
    tree.put("main", "Tag x\nMatch tagged x\nCiphers aes128-ctr\n");
    assert_eq!(said(&tree.client(Release::new(9, 4), "web1")), A);
}

#[test]
fn match_final_comes_after_all_plain_settings() {
    let text = "Match final\nCiphers aes128-ctr\nMatch all\nCiphers aes256-ctr\n";
    client(text, "web1", B);
    client("Match final all\nCiphers aes128-ctr\n", "web1", A);
    client("Match !final\nCiphers aes128-ctr\n", "web1", A);
}

#[test]
fn match_canonical_applies_in_the_second_pass_only() {
    client("Match canonical\nCiphers aes128-ctr\n", "web1", DEFAULT);
    client("Match canonical all\nCiphers aes128-ctr\n", "web1", DEFAULT);
}

#[test]
fn host_patterns_see_the_hostname_in_the_second_pass() {
    client(
        "HostName Other\nMatch final\nHost other\nCiphers aes128-ctr\n",
        "web1",
        A,
    );
}

#[test]
fn an_explained_line_tells_its_block() {
    let tree = Tree::new();
    tree.put(
        "main",
        "Host other\n  Ciphers aes128-ctr\nMatch final\n  Ciphers aes256-ctr\n  Ciphers 3des-cbc\n",
    );
    let answer = tree.client(NOW, "web1");
    let told: Vec<_> = answer
        .considered
        .iter()
        .map(|line| match &line.outcome {
            Outcome::BlockDoesNotMatch(block) => format!("{} outside {block}", line.location),
            Outcome::Won => format!("{} won", line.location),
            Outcome::Shadowed(by) => format!("{} after {by}", line.location),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        told,
        [
            "/main:2:11 outside /main:1:1",
            "/main:4:11 won",
            "/main:5:11 after /main:4:11"
        ]
    );
    assert_eq!(
        answer.source,
        Source::Line(answer.considered[1].location.clone())
    );
    assert_eq!(answer.written.as_deref(), Some("aes256-ctr"));
}

#[test]
fn match_exec_is_never_run_and_both_outcomes_are_told() {
    let tree = Tree::new();
    let proof = tree.real("ran");
    tree.put(
        "main",
        format!(
            "Match exec \"touch {}\"\nCiphers aes128-ctr\nMatch all\nCiphers aes256-ctr\n",
            proof.display()
        ),
    );
    let answer = tree.client(NOW, "web1");
    assert!(!proof.exists());
    assert_eq!(answer.ciphers, [B]);
    assert_eq!(answer.alternatives, [[A]]);
    assert!(matches!(answer.considered[0].outcome, Outcome::Depends(_)));
    assert_eq!(answer.considered[1].outcome, Outcome::Won);
}

#[test]
fn match_exec_behind_a_failed_criterion_decides_nothing() {
    client(
        "Match host other exec \"false\"\nCiphers aes128-ctr\n",
        "web1",
        DEFAULT,
    );
    client(
        "Match host other exec \"echo %z\"\nCiphers aes128-ctr\n",
        "web1",
        REFUSED,
    );
    client(
        "Match host other exec \"echo %h %% %n\"\nCiphers aes128-ctr\n",
        "web1",
        DEFAULT,
    );
}

#[test]
fn what_hangs_on_exec_leaves_later_matches_open() {
    let tree = Tree::new();
    tree.put(
        "main",
        "Match exec true\nHostName inside\nMatch host inside\nCiphers aes128-ctr\n",
    );
    let answer = tree.client(NOW, "web1");
    assert_eq!(answer.alternatives, [[A]]);
    assert_eq!(said(&answer), DEFAULT);
}

#[test]
fn canonical_names_are_not_looked_up() {
    let tree = Tree::new();
    tree.put(
        "main",
        "CanonicalizeHostname yes\nHost *.example.com\nCiphers aes128-ctr\n",
    );
    let answer = tree.client(NOW, "web1");
    assert_eq!(said(&answer), DEFAULT);
    assert_eq!(answer.alternatives, [[A]]);
}

#[test]
fn for_any_host_only_what_applies_to_all_counts() {
    let tree = Tree::new();
    tree.put(
        "etc/ssh/ssh_config",
        "Host web* *.com\nCiphers aes128-ctr\nHost *\nCiphers aes256-ctr\n",
    );
    assert_eq!(tree.ask(&ClientRequest::new(NOW)).ciphers, [B]);
}

#[test]
fn ignore_unknown_hides_keywords_below_it_but_no_values() {
    client(
        "IgnoreUnknown Non*,x\nNonsense y\nCiphers aes128-ctr\n",
        "web1",
        A,
    );
    client("Nonsense y\nIgnoreUnknown *\n", "web1", REFUSED);
    client(
        "Host other\nIgnoreUnknown *\nHost *\nNonsense y\n",
        "web1",
        REFUSED,
    );
    client("IgnoreUnknown *\nCiphers none\n", "web1", REFUSED);
    server("IgnoreUnknown *\n", REFUSED);
}

#[test]
fn the_users_file_beats_the_systems_and_a_bad_system_file_breaks_both() {
    let tree = Tree::new();
    tree.put("root/.ssh/config", "Ciphers ^3des-cbc\n");
    tree.put("etc/ssh/ssh_config", "Ciphers aes128-ctr\n");
    let answer = tree.usual("web1");
    assert_eq!(
        answer.ciphers[..2],
        ["3des-cbc", "chacha20-poly1305@openssh.com"]
    );
    assert_eq!(answer.files.len(), 2);
    assert!(matches!(answer.considered[1].outcome, Outcome::Shadowed(_)));
    tree.put("etc/ssh/ssh_config", "Ciphers none\n");
    assert!(tree.usual("web1").is_refused());
}

#[test]
fn ssh_agrees_on_its_usual_files() {
    let Some(oracle) = Oracle::new() else { return };
    let usual = |tree: &Tree, host: &str| {
        tree.ask(&ClientRequest {
            private_groups: false,
            ..oracle.our_usual(host)
        })
    };
    let files = [
        (
            "root/.ssh/config",
            "Host web1\nCiphers ^3des-cbc\nInclude part\n",
        ),
        ("root/.ssh/part", "MACs hmac-sha1\n"),
        (
            "etc/ssh/ssh_config",
            "Include ssh_config.d/*.conf\nMatch final all\nCiphers aes256-ctr\n",
        ),
        (
            "etc/ssh/ssh_config.d/10-x.conf",
            "Host *.com\nCiphers aes192-ctr\n",
        ),
        ("etc/ssh/ssh_config.d/20-x.conf", "MACs hmac-sha2-256\n"),
    ];
    for changed in [
        ("root/.ssh/none", ""),
        ("root/.ssh/config", "Ciphers none\n"),
        ("root/.ssh/part", "Include ~/.ssh/config\n"),
        ("etc/ssh/ssh_config", "Include ~/x\n"),
        ("etc/ssh/ssh_config.d/15-x.conf", "Ciphers none\n"),
    ] {
        let tree = Tree::new();
        for (path, text) in files.into_iter().chain([changed]) {
            tree.put(path, text);
        }
        for host in ["web1", "a.com", "other"] {
            let Some(theirs) = oracle.ssh_usual(&tree.real(""), host) else {
                return;
            };
            assert_eq!(theirs, ours(&usual(&tree, host)), "{changed:?} {host}");
        }
    }
}

const APPENDED: &str = "chacha20-poly1305@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com,3des-cbc";
const FRONT: &str = "aes128-ctr,chacha20-poly1305@openssh.com,aes192-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com";

#[test]
fn a_file_of_ones_own_or_none_hides_the_usual_ones() {
    let tree = Tree::new();
    tree.put("root/.ssh/config", "Ciphers nonsense\n");
    tree.put("etc/ssh/ssh_config", "Ciphers nonsense\n");
    tree.put("main", "Compression yes\n");
    assert_eq!(said(&tree.client(NOW, "web1")), DEFAULT);
    let none = ClientRequest {
        files: ClientFiles::None,
        ..ClientRequest::new(NOW).destination("web1")
    };
    let answer = tree.ask(&none);
    assert_eq!(said(&answer), DEFAULT);
    assert!(answer.files.is_empty());
    let Some(oracle) = Oracle::new() else { return };
    let theirs = oracle.ssh(Path::new("none"), "web1");
    assert_eq!(theirs, ours(&oracle.our_ssh_without_files("web1")));
}

#[test]
fn the_command_line_beats_all_files_and_dash_c_beats_dash_o() {
    let Some(oracle) = Oracle::new() else { return };
    let tree = Tree::new();
    tree.put("root/.ssh/config", "Ciphers aes192-ctr\n");
    let file = oracle.write("main", "Ciphers aes192-ctr\n");
    for (dash_c, dash_o, expected) in [
        (None, Some("Ciphers=aes128-ctr"), A),
        (Some("aes256-ctr"), Some("Ciphers=aes128-ctr"), B),
        (Some("aes256-ctr"), None, B),
        (Some("+3des-cbc"), None, APPENDED),
        (Some("^aes128-ctr"), Some("Ciphers=aes256-ctr"), FRONT),
        (Some("nonsense"), None, REFUSED),
        (Some("-aes*"), None, REFUSED),
        (None, Some("Ciphers=nonsense"), REFUSED),
        (None, Some("Ciphers"), REFUSED),
    ] {
        let request = ClientRequest {
            ciphers: dash_c.map(ToOwned::to_owned),
            options: dash_o.map(ToOwned::to_owned).into_iter().collect(),
            files: ClientFiles::Only("/root/.ssh/config".into()),
            ..ClientRequest::new(NOW).destination("web1")
        };
        let answer = tree.ask(&request);
        assert_eq!(said(&answer), expected, "{dash_c:?} {dash_o:?}");
        let answer = oracle.our_ssh_with(&file, dash_c, dash_o);
        let theirs = oracle.ssh_with(&file, dash_c, dash_o);
        assert_eq!(theirs, ours(&answer), "{dash_c:?} {dash_o:?}");
    }
}

#[test]
fn sshd_takes_options_of_its_command_line_first() {
    let tree = Tree::new();
    tree.put("etc/ssh/sshd_config", "Ciphers aes128-ctr\n");
    let request = ServerRequest {
        options: vec![CommandOption {
            value: "Ciphers=aes256-ctr".into(),
            location: Location::whole(Path::new("/proc/7/cmdline")),
        }],
        ..ServerRequest::new(NOW)
    };
    let answer = resolve_server(&tree.files(), &request);
    assert_eq!(answer.ciphers, [B]);
    assert_eq!(
        answer.source,
        Source::CommandLine(Location::whole(Path::new("/proc/7/cmdline")))
    );
    assert_eq!(
        answer.considered[1].outcome.clone(),
        Outcome::Shadowed(answer.considered[0].location.clone())
    );
}

#[test]
fn sshd_refuses_ciphers_in_a_match_but_match_all() {
    server("Match user x\nCiphers aes128-ctr\n", REFUSED);
    server("Match all\nCiphers aes128-ctr\n", A);
    server(
        "Match user x\nX11Forwarding no\nMatch all\nCiphers aes128-ctr\n",
        A,
    );
    server(
        "Match user x\n  X11Forwarding no\nMACs hmac-sha1\n",
        REFUSED,
    );
    server("Match user x\nPrintMotd no\n", REFUSED);
    let tree = Tree::new();
    tree.put("main", "Match user x\n\nCiphers aes128-ctr\n");
    assert_eq!(
        errors(&tree.server(NOW)),
        "/main:3:1: Directive 'Ciphers' is not allowed within a Match block; move the line above the first Match line"
    );
}

#[test]
fn sshd_checks_its_match_criteria() {
    for text in [
        "Match user x group y host z address 10.0.0.0/8 localaddress ::1 localport 22 rdomain 1\n",
        "Match address 10.*,!192.168.0.0/16\n",
        "Match USER=x # c\n",
    ] {
        server(text, DEFAULT);
    }
    for text in [
        "Match address 10.0.0.1/8\n",
        "Match address 10/8\n",
        "Match address a,,b\n",
        "Match localport 65536\n",
        "Match exec true\n",
        "Match user\n",
        "Match # c\n",
        "Match user x all\n",
        "Match all all\n",
        "Match user x \"\" y\n",
    ] {
        server(text, REFUSED);
    }
}

#[test]
fn sshd_looks_ports_up_among_the_services() {
    let tree = Tree::new();
    tree.put(
        "etc/services",
        "ssh 22/tcp\ntftp 69/udp\nhttp 80/tcp www # c\n",
    );
    for (port, expected) in [
        ("ssh", DEFAULT),
        ("www", DEFAULT),
        ("tftp", REFUSED),
        ("x", REFUSED),
    ] {
        tree.put("main", format!("Match localport {port}\n"));
        assert_eq!(said(&tree.server(NOW)), expected, "{port}");
    }
}

#[test]
fn problems_of_a_match_tell_what_is_wrong() {
    let tree = Tree::new();
    tree.put("main", "Match nonsense x\n");
    assert_eq!(
        errors(&tree.client(NOW, "web1")),
        "/main:1:1: Unsupported Match attribute nonsense; Bad Match condition; use only criteria that OpenSSH 9.2 knows"
    );
}

#[test]
fn sshd_8_4_cuts_comments_in_match_too() {
    by_release(BEFORE, "Ciphers aes128-ctr\nMatch all # c\n", REFUSED, A);
}
