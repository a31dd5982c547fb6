//! One configuration, asked of us by the rules of a release, and of the installed programs.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;

use advisor::files::SystemFiles;
use advisor::resolver::{
    ClientFiles, ClientRequest, Effective, ServerRequest, resolve_client, resolve_server,
};
use engine::installed::releases::Release;

use crate::oracle::{Oracle, Verdict, ours};

/// Expected: the program refuses to start.
pub(crate) const REFUSED: &str = "refused";
/// Expected: the compiled default.
pub(crate) const DEFAULT: &str = "default";
/// Releases with different rules.
pub(crate) const BEFORE: Release = Release::new(8, 4);
pub(crate) const NOW: Release = Release::new(9, 2);
pub(crate) const LATER: Release = Release::new(10, 5);

/// A directory with files, below which the home and `/etc/ssh` may lie.
pub(crate) struct Tree(tempfile::TempDir);

impl Tree {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let real = self.0.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(real.parent().unwrap()).unwrap();
        fs::write(real, text).unwrap();
    }

    pub(crate) fn real(&self, path: &str) -> PathBuf {
        self.0.path().join(path.trim_start_matches('/'))
    }

    pub(crate) fn files(&self) -> SystemFiles {
        SystemFiles::new(self.0.path()).unwrap()
    }

    /// `ssh -F /main host`.
    pub(crate) fn client(&self, release: Release, destination: &str) -> Effective {
        self.ask(&ClientRequest {
            files: ClientFiles::Only("/main".into()),
            ..ClientRequest::new(release).destination(destination)
        })
    }

    /// With the files of a user whose home is `/root` and of the system.
    pub(crate) fn usual(&self, destination: &str) -> Effective {
        self.ask(&ClientRequest {
            files: ClientFiles::Usual {
                user: Some("/root/.ssh/config".into()),
                system: Some("/etc/ssh/ssh_config".into()),
            },
            ..ClientRequest::new(NOW).destination(destination)
        })
    }

    pub(crate) fn ask(&self, request: &ClientRequest) -> Effective {
        resolve_client(&self.files(), request)
    }

    /// `sshd -f /main`.
    pub(crate) fn server(&self, release: Release) -> Effective {
        let request = ServerRequest {
            file: "/main".into(),
            ..ServerRequest::new(release)
        };
        resolve_server(&self.files(), &request)
    }
}

/// An answer in the words of an expectation.
pub(crate) fn said(effective: &Effective) -> String {
    if effective.is_refused() {
        REFUSED.into()
    } else if effective.ciphers == effective.default {
        DEFAULT.into()
    } else {
        effective.ciphers.join(",")
    }
}

/// What one file means to `ssh` and `sshd` of a release.
pub(crate) fn by_release(release: Release, text: impl AsRef<[u8]>, client: &str, server: &str) {
    let tree = Tree::new();
    tree.put("main", &text);
    let shown = text.as_ref()[..text.as_ref().len().min(200)].escape_ascii();
    let (ssh, sshd) = (tree.client(release, "web1"), tree.server(release));
    assert_eq!(
        said(&ssh),
        client,
        "ssh of {release}, {shown}: {:#?}",
        ssh.problems
    );
    assert_eq!(
        said(&sshd),
        server,
        "sshd of {release}, {shown}: {:#?}",
        sshd.problems
    );
}

/// What one file means to 9.2, and that the installed programs say of it what we say of their release.
pub(crate) fn both(text: impl AsRef<[u8]>, client: &str, server: &str) {
    by_release(NOW, &text, client, server);
    let Some(oracle) = Oracle::new() else { return };
    let file = oracle.write("main", &text);
    agree(&oracle.ssh(&file, "web1"), &oracle.our_ssh(&file, "web1"));
    agree(&oracle.sshd(&file), &oracle.our_sshd(&file));
}

/// What one file means to `ssh` for a destination.
pub(crate) fn client(text: impl AsRef<[u8]>, destination: &str, expected: &str) {
    let tree = Tree::new();
    tree.put("main", &text);
    let answer = tree.client(NOW, destination);
    let shown = text.as_ref().escape_ascii();
    assert_eq!(
        said(&answer),
        expected,
        "{destination}, {shown}: {:#?}",
        answer.problems
    );
    let Some(oracle) = Oracle::new() else { return };
    let file = oracle.write("main", &text);
    agree(
        &oracle.ssh(&file, destination),
        &oracle.our_ssh(&file, destination),
    );
}

/// What one file means to `sshd`.
pub(crate) fn server(text: impl AsRef<[u8]>, expected: &str) {
    let tree = Tree::new();
    tree.put("main", &text);
    let answer = tree.server(NOW);
    let shown = text.as_ref().escape_ascii();
    assert_eq!(said(&answer), expected, "{shown}: {:#?}", answer.problems);
    let Some(oracle) = Oracle::new() else { return };
    let file = oracle.write("main", &text);
    agree(&oracle.sshd(&file), &oracle.our_sshd(&file));
}

fn agree(theirs: &Verdict, answer: &Effective) {
    assert_eq!(*theirs, ours(answer), "{:#?}", answer.problems);
}

/// The problems that make the program refuse, one a line.
pub(crate) fn errors(effective: &Effective) -> String {
    let lines: Vec<_> = effective.problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
