//! This program as a process of its own that transfers: as another account, in another namespace, or until it
//! is killed.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::host::SystemCommands;
use engine::installed::{DiscoverRequest, Installed, discover};
use engine::transfer::{
    self, Carrier, FdPassHelper, Implementation, TransferFailure, TransferRequest, Way,
};
use tempfile::TempDir;

use crate::support;

/// The hidden word, followed by `once` or `long` and the name of an implementation.
const WORD: &str = "__stage";

/// Plays its part where it was started as a stage. `once` carries a little and says how much; `long` says
/// `running` and carries for a minute. SIGTERM cancels.
pub(crate) fn play() -> Option<ExitCode> {
    let mut args = std::env::args().skip(1);
    if args.next()? != WORD {
        return None;
    }
    let is_long = args.next().unwrap() == "long";
    let implementation = args.next().unwrap();
    let mut known = IMPLEMENTATIONS.into_iter();
    let implementation = known.find(|it| it.name() == implementation).unwrap();
    let cancel = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&cancel)).unwrap();
    let result = carrier_by(implementation, &installed(), &cancel).and_then(|mut carrier| {
        if is_long {
            println!("running");
            std::io::stdout().flush().unwrap();
        }
        let seconds = if is_long { 60 } else { 1 };
        let most = if is_long { u64::MAX } else { 1 << 20 };
        carrier.run(&request(Way::Down, Duration::from_secs(seconds), most))
    });
    Some(match result {
        Ok(run) => {
            println!("{} bytes", run.bytes);
            ExitCode::SUCCESS
        }
        Err(TransferFailure::Cancelled) => ExitCode::from(130),
        Err(failure) => {
            println!("{failure}");
            ExitCode::FAILURE
        }
    })
}

/// All there are.
pub(crate) const IMPLEMENTATIONS: [Implementation; 3] = [
    Implementation::OpenSsh,
    Implementation::Dropbear,
    Implementation::DropbearToOpenSsh,
];

/// OpenSSH of this machine; `None` after saying which package would bring it.
pub(crate) fn openssh() -> Option<Installed> {
    support::program("ssh", "openssh-client")?;
    support::program("sshd", "openssh-server")?;
    Some(installed())
}

/// What is on this machine, with both ends of an implementation; `None` after saying what is missing.
pub(crate) fn both_ends(of: Implementation) -> Option<Installed> {
    let (client, server) = match of {
        Implementation::OpenSsh => return openssh(),
        Implementation::Dropbear => ("dropbear-bin", ("dropbear", "dropbear-bin")),
        Implementation::DropbearToOpenSsh => ("dropbear-bin", ("sshd", "openssh-server")),
    };
    support::program("dbclient", client)?;
    support::program(server.0, server.1)?;
    if of == Implementation::Dropbear && !mounts_are_private() {
        support::skip_here("dropbear needs a private mount namespace, and none can be made");
        return None;
    }
    Some(installed())
}

/// Whether whoever runs this may have mounts of its own.
pub(crate) fn mounts_are_private() -> bool {
    let script = "mount -t tmpfs tmpfs /mnt";
    let plain: &[&str] = &["--mount", "sh", "-c", script];
    let by_user: &[&str] = &["--user", "--map-root-user", "--mount", "sh", "-c", script];
    [plain, by_user].iter().any(|words| {
        let output = Command::new("unshare").args(*words).output();
        output.is_ok_and(|output| output.status.success())
    })
}

fn installed() -> Installed {
    discover(&SystemCommands, &DiscoverRequest::default())
}

pub(crate) fn carrier_of(
    installed: &Installed,
    cancel: &Arc<AtomicBool>,
) -> Result<Box<dyn Carrier + Send>, TransferFailure> {
    carrier_by(Implementation::OpenSsh, installed, cancel)
}

pub(crate) fn carrier_by(
    implementation: Implementation,
    installed: &Installed,
    cancel: &Arc<AtomicBool>,
) -> Result<Box<dyn Carrier + Send>, TransferFailure> {
    let make = match implementation {
        Implementation::OpenSsh => transfer::openssh,
        Implementation::Dropbear => transfer::dropbear,
        Implementation::DropbearToOpenSsh => transfer::dropbear_to_openssh,
    };
    let helper = FdPassHelper::this_program().unwrap();
    make(installed, helper, Arc::clone(cancel))
}

pub(crate) fn request(way: Way, slice: Duration, most_bytes: u64) -> TransferRequest {
    TransferRequest {
        cipher: "aes128-ctr".to_owned(),
        mac: Some("hmac-sha2-256".to_owned()),
        way,
        slice,
        most_bytes,
    }
}

/// A folder everybody can enter, with a copy of this program that everybody can run, and a folder for what
/// a stage leaves behind.
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) implementation: Implementation,
}

impl Stage {
    /// One for each implementation with both ends on this machine.
    pub(crate) fn each() -> impl Iterator<Item = Self> {
        let here = |it: &Implementation| both_ends(*it).is_some();
        IMPLEMENTATIONS.into_iter().filter(here).map(Self::new)
    }

    pub(crate) fn new(implementation: Implementation) -> Self {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let stage = Self {
            folder,
            implementation,
        };
        open_to_all(stage.folder.path());
        // By another process: a file this one has open for writing cannot be run by what it forks meanwhile.
        let ours = std::env::current_exe().unwrap();
        let copied = Command::new("cp").arg(ours).arg(stage.program()).status();
        assert!(copied.unwrap().success());
        open_to_all(&stage.program());
        fs::create_dir(stage.left()).unwrap();
        fs::set_permissions(stage.left(), fs::Permissions::from_mode(0o1777)).unwrap();
        stage
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn program(&self) -> PathBuf {
        self.path().join("stage")
    }

    /// Its `TMPDIR`.
    pub(crate) fn left(&self) -> PathBuf {
        self.path().join("left")
    }

    /// The names of what lies in its `TMPDIR`.
    pub(crate) fn leftovers(&self) -> Vec<OsString> {
        let entries = fs::read_dir(self.left()).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    }

    /// Transfers a little, started by way of other programs (`setpriv …`).
    pub(crate) fn once(&self, by_way_of: &[&str]) -> Output {
        self.command(by_way_of, "once").output().unwrap()
    }

    /// Starts a long transfer and waits until it is under way.
    pub(crate) fn long(&self) -> Child {
        let mut child = self.command(&[], "long").spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
        assert_eq!(line, "running\n");
        let both = || self.processes().len() >= 2;
        assert!(eventually(both), "both ends run: {:?}", self.processes());
        child
    }

    fn command(&self, by_way_of: &[&str], part: &str) -> Command {
        let program = self.program();
        let mut words: Vec<OsString> = by_way_of.iter().map(OsString::from).collect();
        let implementation = self.implementation.name();
        words.extend([
            program.into(),
            WORD.into(),
            part.into(),
            implementation.into(),
        ]);
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .current_dir("/")
            .env("TMPDIR", self.left())
            .stdout(Stdio::piped());
        command
    }

    /// Whether none of its processes is left, or soon: where `sshd` separates privileges, a child of it ends a
    /// moment after it.
    pub(crate) fn ends_all_processes(&self) -> bool {
        eventually(|| self.processes().is_empty())
    }

    /// The processes, other than the stage itself, that were told to use something in its `TMPDIR`, or that
    /// write their log there: `sshd` changes what it was told into a title.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let left = self.left().into_os_string().into_string().unwrap();
        let all = fs::read_dir("/proc").unwrap().flatten();
        let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id| {
            let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            let log = fs::read_link(format!("/proc/{id}/fd/2")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(&left) || log.starts_with(&left)
        })
        .collect()
    }
}

fn open_to_all(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Whether something becomes true within ten seconds.
pub(crate) fn eventually(is_so: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while !is_so() {
        if started.elapsed() > Duration::from_secs(10) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}
