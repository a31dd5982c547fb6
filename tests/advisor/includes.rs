//! Include: which files, in which order, in which state, and what may go wrong with them.
#![forbid(unsafe_code)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use advisor::resolver::{ServerRequest, Severity, resolve_server};
use engine::installed::releases::Release;

use crate::oracle::{Oracle, ours};
use crate::question::{BEFORE, DEFAULT, NOW, REFUSED, Tree, by_release, errors, said};

const A: &str = "aes128-ctr";
const B: &str = "aes256-ctr";

/// Files below the oracle's home, `@` in a text standing for it; what both programs make of `main`, and we.
fn tree(files: &[(&str, &str)], client: &str, server: &str) {
    let Some(oracle) = Oracle::new() else { return };
    put(&oracle, files);
    if !client.is_empty() {
        ssh(&oracle, client);
    }
    if !server.is_empty() {
        sshd(&oracle, server);
    }
}

fn put(oracle: &Oracle, files: &[(&str, &str)]) {
    let home = oracle.home().to_str().unwrap();
    for (name, text) in files {
        let path = oracle.home().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace('@', home).replace("(at)", "@")).unwrap();
    }
}

fn ssh(oracle: &Oracle, expected: &str) {
    let main = oracle.home().join("main");
    let answer = oracle.our_ssh(&main, "web1");
    assert_eq!(said(&answer), expected, "ssh: {:#?}", answer.problems);
    assert_eq!(
        oracle.ssh(&main, "web1"),
        ours(&answer),
        "{:#?}",
        answer.problems
    );
}

fn sshd(oracle: &Oracle, expected: &str) {
    let main = oracle.home().join("main");
    let answer = oracle.our_sshd(&main);
    assert_eq!(said(&answer), expected, "sshd: {:#?}", answer.problems);
    assert_eq!(oracle.sshd(&main), ours(&answer), "{:#?}", answer.problems);
}

#[test]
fn patterns_come_in_the_order_written_and_their_files_by_bytes() {
    let (a, b) = ("Ciphers aes128-ctr\n", "Ciphers aes256-ctr\n");
    tree(&[("main", "Include @/b @/a\n"), ("a", b), ("b", a)], A, A);
    tree(
        &[("main", "Include @/d/*\n"), ("d/10-x", a), ("d/9-x", b)],
        A,
        A,
    );
    tree(
        &[
            ("main", "Include @/d/*\n"),
            ("d/B", a),
            ("d/_", b),
            ("d/a", b),
        ],
        A,
        A,
    );
    tree(
        &[("main", "Include @/d/{a,b}\n"), ("d/a", a)],
        DEFAULT,
        DEFAULT,
    );
}

#[test]
fn hidden_files_are_not_matched_and_backups_may_be() {
    let (a, b) = ("Ciphers aes128-ctr\n", "Ciphers aes256-ctr\n");
    tree(
        &[("main", "Include @/d/*\n"), ("d/.x", a)],
        DEFAULT,
        DEFAULT,
    );
    tree(
        &[
            ("main", "Include @/d/*.conf\n"),
            ("d/x.conf~", a),
            ("d/y.conf", b),
        ],
        B,
        B,
    );
    tree(
        &[
            ("main", "Include @/d/*\n"),
            ("d/x.conf~", a),
            ("d/y.conf", b),
        ],
        A,
        A,
    );
}

#[test]
fn names_may_be_quoted_or_escaped() {
    let a = "Ciphers aes128-ctr\n";
    tree(&[("main", "Include \"@/a b\"\n"), ("a b", a)], A, A);
    tree(&[("main", "Include @/a\\ b\n"), ("a b", a)], A, A);
}

#[test]
fn names_could_not_be_escaped_before_8_7() {
    let tree = Tree::new();
    tree.put("a b", "Ciphers aes128-ctr\n");
    for (text, expected) in [
        ("Include \"/a b\"\n", A),
        ("Include /a\\ b\n", DEFAULT),
        ("Include '/a b'\n", DEFAULT),
    ] {
        tree.put("main", text);
        assert_eq!(said(&tree.client(BEFORE, "web1")), expected, "{text}");
        assert_eq!(said(&tree.server(BEFORE)), expected, "{text}");
    }
}

#[test]
fn a_link_to_nothing_stopped_ssh_of_old() {
    let tree = Tree::new();
    tree.put("main", "Include /link\n");
    symlink("/missing", tree.real("link")).unwrap();
    assert_eq!(said(&tree.client(BEFORE, "web1")), REFUSED);
    assert_eq!(said(&tree.client(NOW, "web1")), DEFAULT);
}

#[test]
fn what_is_not_there_is_passed_over() {
    for text in [
        "Include @/missing\n",
        "Include @/missing/*\n",
        "Include @/.ssh\n",
    ] {
        tree(&[("main", text)], DEFAULT, DEFAULT);
    }
    let Some(oracle) = Oracle::new() else { return };
    put(&oracle, &[("main", "Include @/link\n")]);
    symlink(oracle.home().join("missing"), oracle.home().join("link")).unwrap();
    ssh(&oracle, DEFAULT);
    sshd(&oracle, REFUSED);
}

#[test]
fn an_argument_is_needed() {
    tree(&[("main", "Include\n")], REFUSED, REFUSED);
    tree(&[("main", "Include \"\"\n")], REFUSED, REFUSED);
    tree(&[("main", "Include # c\n")], DEFAULT, REFUSED);
    for text in ["Include\n", "Include \"\"\n", "Include # c\n"] {
        by_release(BEFORE, text, DEFAULT, REFUSED);
    }
}

#[test]
fn relative_names_of_a_user_lie_below_dot_ssh() {
    tree(
        &[
            ("main", "Include x ~/y\n"),
            (".ssh/x", "Ciphers aes128-ctr\n"),
        ],
        A,
        "",
    );
    tree(
        &[("main", "Include ~/y\n"), ("y", "Ciphers aes128-ctr\n")],
        A,
        "",
    );
    tree(
        &[("main", "Include ~nobody-of-that-name/y\n")],
        DEFAULT,
        DEFAULT,
    );
}

#[test]
fn relative_names_of_the_system_lie_below_etc_ssh() {
    let tree = Tree::new();
    tree.put("etc/ssh/ssh_config", "Include x\n");
    tree.put("etc/ssh/x", "Ciphers aes128-ctr\n");
    tree.put("main", "Include x\n");
    assert_eq!(said(&tree.usual("web1")), A);
    assert_eq!(said(&tree.server(NOW)), A);
}

#[test]
fn the_systems_file_must_not_say_tilde() {
    let tree = Tree::new();
    tree.put("etc/ssh/ssh_config", "Include ~/x\n");
    let answer = tree.usual("web1");
    assert!(answer.is_refused());
    assert!(
        errors(&answer)
            .contains("/etc/ssh/ssh_config:1:9: bad include path ~/x.; write the absolute path")
    );
}

#[test]
fn variables_are_literal_before_9_9_and_open_since() {
    let tree = Tree::new();
    tree.put("main", "Include ${X}/a %d/b\n");
    assert!(!errors(&tree.client(NOW, "web1")).contains("is known only when ssh runs"));
    let later = tree.client(Release::new(9, 9), "web1");
    assert!(errors(&later).contains("what ${X}/a stands for is known only when ssh runs"));
    assert!(!later.is_refused());
}

#[test]
fn sixteen_levels_are_read_and_no_more() {
    for (levels, expected) in [(16, A), (17, REFUSED)] {
        let Some(oracle) = Oracle::new() else { return };
        put(&oracle, &[("main", "Include @/1\n")]);
        for level in 1..levels {
            let text = format!("Include @/{}\n", level + 1);
            put(&oracle, &[(&level.to_string(), &text)]);
        }
        put(&oracle, &[(&levels.to_string(), "Ciphers aes128-ctr\n")]);
        ssh(&oracle, expected);
        sshd(&oracle, expected);
    }
}

#[test]
fn a_file_that_includes_itself_is_refused_and_ends() {
    tree(
        &[("main", "Include @/main\nInclude @/main\n")],
        REFUSED,
        REFUSED,
    );
    let fan = "Include @/x*\n".repeat(3);
    tree(
        &[("main", &fan), ("x1", &fan), ("x2", &fan)],
        REFUSED,
        REFUSED,
    );
}

#[test]
fn many_honest_inclusions_end_too() {
    let tree = Tree::new();
    tree.put("main", "Include /1\n");
    for level in 1..16 {
        tree.put(
            &level.to_string(),
            format!("Include /{}\n", level + 1).repeat(10),
        );
    }
    tree.put("16", "Ciphers aes128-ctr\n");
    assert!(errors(&tree.client(NOW, "web1")).contains("inclusions; the rest is not looked at"));
}

#[test]
fn under_a_block_that_does_not_match_nothing_inside_can() {
    let part = (
        "part",
        "Ciphers aes128-ctr\nHost *\nCiphers aes128-ctr\nMatch all\nCiphers aes128-ctr\n",
    );
    tree(
        &[("main", "Host other\nInclude @/part\n"), part],
        DEFAULT,
        "",
    );
    tree(&[("main", "Host web1\nInclude @/part\n"), part], A, "");
    tree(
        &[
            ("main", "Host other\nInclude @/part\n"),
            ("part", "Ciphers none\n"),
        ],
        REFUSED,
        "",
    );
}

#[test]
fn the_block_of_the_including_file_comes_back() {
    tree(
        &[
            ("main", "Host web1\nInclude @/part\nCiphers aes128-ctr\n"),
            ("part", "Host other\n"),
        ],
        A,
        "",
    );
    tree(
        &[
            ("main", "Include @/part\nCiphers aes128-ctr\n"),
            ("part", "Match user x\n"),
        ],
        A,
        A,
    );
    tree(
        &[
            ("main", "Include @/d/*\n"),
            ("d/a", "Match user x\n"),
            ("d/b", "Ciphers aes128-ctr\n"),
        ],
        A,
        A,
    );
}

#[test]
fn sshd_takes_ciphers_in_an_include_as_where_the_include_stands() {
    let part = ("part", "Ciphers aes128-ctr\n");
    tree(
        &[("main", "Match user x\nInclude @/part\n"), part],
        "",
        REFUSED,
    );
    tree(&[("main", "Match all\nInclude @/part\n"), part], "", A);
    tree(
        &[
            ("main", "Match user x\nInclude @/part\n"),
            ("part", "Match all\nCiphers aes128-ctr\n"),
        ],
        "",
        REFUSED,
    );
    tree(
        &[
            ("main", "Match user x\nInclude @/part\n"),
            ("part", "X11Forwarding no\n"),
        ],
        "",
        DEFAULT,
    );
}

#[test]
fn included_files_must_belong_to_the_user_and_be_writable_by_nobody_else() {
    for (mode, expected) in [(0o644, A), (0o666, REFUSED), (0o646, REFUSED), (0o600, A)] {
        let Some(oracle) = Oracle::new() else { return };
        put(
            &oracle,
            &[
                ("main", "Include @/part\n"),
                ("part", "Ciphers aes128-ctr\n"),
            ],
        );
        let part = oracle.home().join("part");
        fs::set_permissions(&part, Permissions::from_mode(mode)).unwrap();
        fs::set_permissions(oracle.home().join("main"), Permissions::from_mode(0o666)).unwrap();
        ssh(&oracle, expected);
        if mode != 0o600 {
            sshd(&oracle, A);
        }
    }
}

#[test]
fn debian_accepts_files_writable_by_a_group_of_one() {
    let Some(oracle) = Oracle::new() else { return };
    put(
        &oracle,
        &[
            ("main", "Include @/part\n"),
            ("part", "Ciphers aes128-ctr\n"),
        ],
    );
    let part = oracle.home().join("part");
    fs::set_permissions(&part, Permissions::from_mode(0o664)).unwrap();
    let main = oracle.home().join("main");
    let theirs = oracle.ssh(&main, "web1");
    let strict = oracle.our_ssh_without_private_groups(&main, "web1");
    assert!(strict.is_refused());
    if oracle.is_debian() {
        assert_eq!(theirs, ours(&oracle.our_ssh(&main, "web1")));
    } else {
        assert_eq!(theirs, ours(&strict));
    }
}

#[test]
fn an_unreadable_server_file_is_a_warning_and_the_default_holds() {
    let tree = Tree::new();
    tree.put("etc/ssh/sshd_config", "Ciphers aes128-ctr\n");
    let files = Denied(tree.files());
    let answer = resolve_server(&files, &ServerRequest::new(NOW));
    assert_eq!(said(&answer), DEFAULT);
    assert_eq!(answer.problems[0].severity, Severity::Warning);
    assert!(
        errors(&answer)
            .contains("cannot be read by this user, so the answer is what holds without it")
    );
    assert!(answer.files.is_empty());
}

#[test]
fn an_unreadable_included_file_stops_ssh() {
    let tree = Tree::new();
    tree.put("main", "Include /part\n");
    tree.put("part", "");
    let files = Denied(tree.files());
    let request = advisor::resolver::ClientRequest {
        files: advisor::resolver::ClientFiles::Only("/main".into()),
        ..advisor::resolver::ClientRequest::new(NOW)
    };
    let answer = advisor::resolver::resolve_client(&files, &request);
    assert!(answer.is_refused(), "{:?}", answer.problems);
}

#[test]
fn junk_gives_problems_and_no_panic() {
    let tree = Tree::new();
    let junk: Vec<u8> = (0..1 << 16)
        .map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    tree.put("main", junk);
    assert!(tree.client(NOW, "web1").is_refused());
    assert!(tree.server(NOW).is_refused());
}

#[test]
fn links_do_not_lead_out_of_the_root() {
    let tree = Tree::new();
    tree.put("main", "Include /etc/ssh/part\n");
    fs::create_dir_all(tree.real("etc/ssh")).unwrap();
    symlink("/etc/passwd", tree.real("etc/ssh/part")).unwrap();
    let answer = tree.client(NOW, "web1");
    assert_eq!(said(&answer), DEFAULT);
    assert_eq!(answer.files, [Path::new("/main")]);
}

/// A file system that lets nobody read but `main`.
struct Denied(advisor::files::SystemFiles);

impl advisor::files::Files for Denied {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        if path == Path::new("/main") {
            return self.0.read(path);
        }
        Err(std::io::ErrorKind::PermissionDenied.into())
    }
    fn status(&self, path: &Path) -> std::io::Result<advisor::files::Status> {
        self.0.status(path)
    }
    fn link_status(&self, path: &Path) -> std::io::Result<advisor::files::Status> {
        self.0.link_status(path)
    }
    fn canonical(&self, path: &Path) -> std::io::Result<std::path::PathBuf> {
        self.0.canonical(path)
    }
    fn list(&self, directory: &Path) -> std::io::Result<Vec<std::path::PathBuf>> {
        self.0.list(directory)
    }
    fn glob(&self, pattern: &Path) -> std::io::Result<Vec<std::path::PathBuf>> {
        self.0.glob(pattern)
    }
    fn root(&self) -> &Path {
        self.0.root()
    }
}
