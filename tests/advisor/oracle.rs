//! The installed `ssh` and `sshd` as judges of a configuration: do they accept it, and which lists result?
#![forbid(unsafe_code)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use advisor::files::SystemFiles;
use advisor::resolver::{
    ClientFiles, ClientRequest, Effective, ServerRequest, Supported, resolve_client, resolve_server,
};
use engine::installed::releases::Release;

use crate::support::{program, skip};

/// Debian's user without rights; `sshd -T` run by it needs no `/run/sshd`.
const NOBODY: u32 = 65534;

/// What a program made of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Refused,
    Lists { ciphers: String, macs: String },
}

/// What is installed, asked once.
struct Installed {
    ssh: PathBuf,
    sshd: PathBuf,
    version: String,
    release: Release,
    supported: Supported,
    host_key: Vec<u8>,
    user: String,
    uid: u32,
}

static INSTALLED: OnceLock<Option<Installed>> = OnceLock::new();

/// A private home with the installed programs beside it.
pub(crate) struct Oracle {
    home: tempfile::TempDir,
    installed: &'static Installed,
}

impl Installed {
    fn ask() -> Option<Self> {
        let ssh = program("ssh", "openssh-client")?;
        let sshd = program("sshd", "openssh-server")?;
        let keygen = program("ssh-keygen", "openssh-client")?;
        let directory = tempfile::tempdir().unwrap();
        let key = directory.path().join("key");
        let made = Command::new(keygen)
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(&key)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let uid = fs::metadata(&key).unwrap().uid();
        let printed = output(Command::new(&ssh).arg("-V"));
        let version = String::from_utf8_lossy(&printed.stderr).into_owned();
        let release = version.parse().unwrap();
        let list = |what| lines(&output(Command::new(&ssh).args(["-Q", what])).stdout);
        let supported = Supported::listed(&list("cipher"), &list("mac"), release);
        Some(Self {
            ssh,
            sshd,
            version,
            release,
            supported,
            host_key: fs::read(&key).unwrap(),
            user: user_name(uid),
            uid,
        })
    }
}

impl Oracle {
    /// `None` where a program is missing.
    pub(crate) fn new() -> Option<Self> {
        let installed = INSTALLED.get_or_init(Installed::ask).as_ref()?;
        let home = tempfile::tempdir().unwrap();
        fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(home.path().join(".ssh")).unwrap();
        let key = home.path().join("host_key");
        fs::write(&key, &installed.host_key).unwrap();
        fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
        if installed.uid == 0 {
            chown(&key, Some(NOBODY), None).unwrap();
        }
        Some(Self { home, installed })
    }

    /// Where the tests put files; also the home `~` stands for.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Writes a file into the home and gives its path.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// What `ssh -G -F file destination` says.
    pub(crate) fn ssh(&self, file: &Path, destination: &str) -> Verdict {
        let mut command = Command::new(&self.installed.ssh);
        command.env("HOME", self.home()).arg("-G").arg("-F");
        verdict(&output(command.arg(file).arg(destination)))
    }

    /// What `ssh -G` says of a file with `-c` and `-o` before it.
    pub(crate) fn ssh_with(
        &self,
        file: &Path,
        dash_c: Option<&str>,
        dash_o: Option<&str>,
    ) -> Verdict {
        let mut command = Command::new(&self.installed.ssh);
        command.env("HOME", self.home()).arg("-G");
        command.args(dash_o.map(|option| format!("-o{option}")));
        command.args(dash_c.map(|list| format!("-c{list}")));
        verdict(&output(command.arg("-F").arg(file).arg("web1")))
    }

    /// What `ssh -G` says with `/etc/ssh` and root's home replaced by those below a directory; `None` where
    /// only root could do that, or nobody.
    pub(crate) fn ssh_usual(&self, root: &Path, destination: &str) -> Option<Verdict> {
        let script = "mount --bind \"$1/etc/ssh\" /etc/ssh && mount --bind \"$1/root\" /root && echo ready >&2 && exec \"$2\" -G \"$3\"";
        let mut command = Command::new("unshare");
        command.args(["-m", "--propagation", "private", "sh", "-c", script, "sh"]);
        command.arg(root).arg(&self.installed.ssh).arg(destination);
        let output = command.env("HOME", "/root").output().ok()?;
        let ready = output.stderr.starts_with(b"ready");
        if self.installed.uid != 0 || !ready {
            skip("needs root and mount namespaces");
            return None;
        }
        Some(verdict(&output))
    }

    /// What `sshd -T -f file` says.
    pub(crate) fn sshd(&self, file: &Path) -> Verdict {
        verdict(&output(self.ask_sshd().arg("-f").arg(file)))
    }

    fn ask_sshd(&self) -> Command {
        let mut command = Command::new(&self.installed.sshd);
        if self.installed.uid == 0 {
            command.uid(NOBODY).gid(NOBODY);
        }
        // The test mode of some releases refuses `Match LocalPort`, which the server does not, without this.
        command.args(["-T", "-C", "lport=22", "-h"]);
        command.arg(self.home().join("host_key"));
        command
    }

    /// What `ssh` says where it refuses a file.
    pub(crate) fn ssh_complaint(&self, file: &Path) -> String {
        let mut command = Command::new(&self.installed.ssh);
        command.env("HOME", self.home()).arg("-G").arg("-F");
        complaint(&output(command.arg(file).arg("web1")))
    }

    /// What `sshd` says where it refuses a file.
    pub(crate) fn sshd_complaint(&self, file: &Path) -> String {
        complaint(&output(self.ask_sshd().arg("-f").arg(file)))
    }

    /// What `Match version` looks at.
    fn version(&self) -> Option<String> {
        let (version, _library) = self.installed.version.split_once(',')?;
        Some(version.to_owned())
    }

    /// Whether `ssh` is Debian's, which accepts files writable by the user's own group.
    pub(crate) fn is_debian(&self) -> bool {
        self.installed.version.contains("Debian") || self.installed.version.contains("Ubuntu")
    }

    /// What we say to the same question as [`Oracle::ssh`].
    pub(crate) fn our_ssh(&self, file: &Path, destination: &str) -> Effective {
        let request = self.request(file, destination);
        resolve_client(&whole_system(), &request)
    }

    /// What we say to the same question as [`Oracle::ssh_with`].
    pub(crate) fn our_ssh_with(
        &self,
        file: &Path,
        dash_c: Option<&str>,
        dash_o: Option<&str>,
    ) -> Effective {
        let request = ClientRequest {
            ciphers: dash_c.map(ToOwned::to_owned),
            options: dash_o.map(ToOwned::to_owned).into_iter().collect(),
            ..self.request(file, "web1")
        };
        resolve_client(&whole_system(), &request)
    }

    /// What we say to `ssh -F none`.
    pub(crate) fn our_ssh_without_files(&self, destination: &str) -> Effective {
        let request = ClientRequest {
            files: ClientFiles::None,
            ..self.request(Path::new("none"), destination)
        };
        resolve_client(&whole_system(), &request)
    }

    /// The question of [`Oracle::ssh_usual`], to ask of the tree itself.
    pub(crate) fn our_usual(&self, destination: &str) -> ClientRequest {
        ClientRequest {
            files: ClientFiles::Usual {
                user: Some("/root/.ssh/config".into()),
                system: Some("/etc/ssh/ssh_config".into()),
            },
            home: "/root".into(),
            ..self.request(Path::new("none"), destination)
        }
    }

    /// The same for a host that the tests' patterns do not name.
    pub(crate) fn our_ssh_of_any(&self, file: &Path) -> Effective {
        self.our_ssh(file, "web1")
    }

    /// The same by the rules of OpenSSH's own builds.
    pub(crate) fn our_ssh_without_private_groups(&self, file: &Path, host: &str) -> Effective {
        let request = ClientRequest {
            private_groups: false,
            ..self.request(file, host)
        };
        resolve_client(&whole_system(), &request)
    }

    fn request(&self, file: &Path, destination: &str) -> ClientRequest {
        let request = ClientRequest {
            version: self.version(),
            supported: self.installed.supported.clone(),
            files: ClientFiles::Only(file.to_owned()),
            user: self.installed.user.clone(),
            uid: self.installed.uid,
            home: self.home().to_owned(),
            private_groups: self.is_debian(),
            ..ClientRequest::new(self.installed.release)
        };
        request.destination(destination)
    }

    /// What we say to the same question as [`Oracle::sshd`].
    pub(crate) fn our_sshd(&self, file: &Path) -> Effective {
        let request = ServerRequest {
            version: self.version(),
            supported: self.installed.supported.clone(),
            file: file.to_owned(),
            ..ServerRequest::new(self.installed.release)
        };
        resolve_server(&whole_system(), &request)
    }
}

/// Our answer in the oracle's words.
pub(crate) fn ours(effective: &Effective) -> Verdict {
    if effective.is_refused() {
        return Verdict::Refused;
    }
    Verdict::Lists {
        ciphers: effective.ciphers.join(","),
        macs: effective.macs.join(","),
    }
}

fn whole_system() -> SystemFiles {
    SystemFiles::new(Path::new("/")).unwrap()
}

fn output(command: &mut Command) -> Output {
    command.output().unwrap()
}

fn verdict(output: &Output) -> Verdict {
    if !output.status.success() {
        return Verdict::Refused;
    }
    let printed = lines(&output.stdout);
    let value = |keyword: &str| {
        printed.iter().find_map(|line| {
            let (name, value) = line.split_once(' ')?;
            name.eq_ignore_ascii_case(keyword).then(|| value.to_owned())
        })
    };
    assert!(value("port").is_some(), "no configuration: {printed:?}");
    // `ssh -G` leaves an empty list out.
    let value = |keyword| value(keyword).unwrap_or_default();
    Verdict::Lists {
        ciphers: value("ciphers"),
        macs: value("macs"),
    }
}

fn complaint(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(ToOwned::to_owned).collect()
}

fn user_name(uid: u32) -> String {
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let mut users = passwd
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>());
    let found = users.find(|fields| fields.get(2) == Some(&uid.to_string().as_str()));
    found.map_or_else(|| "root".into(), |fields| fields[0].to_owned())
}
