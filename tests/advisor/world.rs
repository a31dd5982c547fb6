//! The command on a small tree with a saved report, so that nothing is measured and all is the same every time.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use advisor::output::{Document, json};
use assert_cmd::Command;
use engine::report::Report;
use tempfile::TempDir;

use crate::report::fast_aes;

pub(crate) const CLIENT: &str = "etc/ssh/ssh_config";

pub(crate) const SERVER: &str = "etc/ssh/sshd_config";

pub(crate) const SSH_CONFIG: &str = "# The client's file.\n\nInclude /etc/ssh/ssh_config.d/*.conf\n\nHost *\n#   Ciphers aes128-ctr,aes192-ctr\n    SendEnv LANG LC_*\n";

pub(crate) const SSHD_CONFIG: &str =
    "Include /etc/ssh/sshd_config.d/*.conf\n\nUsePAM yes\nSubsystem sftp internal-sftp\n";

/// A tree with Debian's layout and a saved report beside it.
pub(crate) struct World {
    pub(crate) folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self::empty(fast_aes());
        for directory in [
            "etc/ssh/ssh_config.d",
            "etc/ssh/sshd_config.d",
            "root",
            "var/lib",
        ] {
            fs::create_dir_all(world.root().join(directory)).unwrap();
        }
        world.write(CLIENT, SSH_CONFIG);
        world.write(SERVER, SSHD_CONFIG);
        world
    }

    /// Nothing but a report.
    pub(crate) fn empty(report: Report) -> Self {
        let world = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(world.root()).unwrap();
        fs::write(world.saved(), json(&Document::new(report))).unwrap();
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    pub(crate) fn saved(&self) -> PathBuf {
        self.folder.path().join("saved.json")
    }

    /// What was printed, without the folder that is another one every time.
    pub(crate) fn shown(&self, ran: &Ran) -> String {
        let folder = self.folder.path().to_str().unwrap();
        ran.out.replace(folder, "FOLDER")
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.root().join(path), bytes).unwrap();
    }

    /// The command on this tree and report.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let mut command = advisor();
        command.arg("--root").arg(self.root());
        command.arg("--measurements").arg(self.saved());
        Ran::of(command.args(args))
    }

    /// Every file of the configuration with its bytes and mode.
    pub(crate) fn contents(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        self.below("etc")
    }

    /// Every file, directory and link below one.
    pub(crate) fn below(&self, folder: &str) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.root().join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let status = fs::symlink_metadata(&path).unwrap();
                let mode = status.permissions().mode();
                let bytes = if status.is_symlink() {
                    let target = fs::read_link(&path).unwrap();
                    target.into_os_string().into_encoded_bytes()
                } else if status.is_dir() {
                    folders.push(path.clone());
                    Vec::new()
                } else {
                    fs::read(&path).unwrap()
                };
                found.push((path, mode, bytes));
            }
        }
        found.sort();
        found
    }
}

pub(crate) fn advisor() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_advisor"));
    command
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .env("PATH", "/usr/bin:/bin");
    command.env("HOME", "/nonexistent");
    command
}

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn fails_with(&self, message: &str) {
        assert_eq!((self.code, self.out.as_str()), (2, ""), "{}", self.err);
        assert!(self.err.contains(message), "{}\nlacks\n{message}", self.err);
    }
}

pub(crate) fn write_script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
