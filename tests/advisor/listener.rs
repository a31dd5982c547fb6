//! A real `sshd` that waits for connections to this machine, with a file and a key of its own.
#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{program, skip_here};

/// It is killed at the end.
pub(crate) struct Listener {
    child: Child,
    directory: tempfile::TempDir,
    port: u16,
}

impl Listener {
    /// Starts one; `None` after saying what is missing.
    pub(crate) fn start(config: &str, options: &[&str]) -> Option<Self> {
        let sshd = program("sshd", "openssh-server")?;
        let keygen = program("ssh-keygen", "openssh-client")?;
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let made = Command::new(keygen)
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(at("key"))
            .status();
        assert!(made.unwrap().success());
        std::fs::write(at("config"), config).unwrap();
        open_to_all(directory.path());
        // Given back at once, so that sshd may have it.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = daemon(&sshd)
            .args(["-D", "-e", "-oPidFile=none", "-p"])
            .arg(port.to_string())
            .arg("-oListenAddress=127.0.0.1")
            .args(options)
            .arg("-f")
            .arg(at("config"))
            .arg("-h")
            .arg(at("key"))
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        let said = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = said.map_while(Result::ok);
        let waits = said.any(|line| line.contains("listening"));
        let listener = Self {
            child,
            directory,
            port,
        };
        if !waits {
            skip_here("sshd does not start here");
            return None;
        }
        Some(listener)
    }

    /// Its file.
    pub(crate) fn config(&self) -> PathBuf {
        self.directory.path().join("config")
    }

    /// Where it waits, on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Its process number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An `sshd` without rights may have to read the file.
fn open_to_all(directory: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(directory, open).unwrap();
}

/// `sshd`, in a mount namespace where `/run/sshd` exists if it would miss that.
fn daemon(sshd: &Path) -> Command {
    if Path::new("/run/sshd").is_dir() {
        return Command::new(sshd);
    }
    let mut command = Command::new("unshare");
    let script = "mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec \"$@\"";
    command
        .args(["--mount", "sh", "-c", script, "sh"])
        .arg(sshd);
    command
}
