//! One real end-to-end run each: bytes through an installed SSH client and a private server, with the wall
//! time and the processor time of both ends.
//!
//! Repetition, order and statistics are `measure`'s; opinions are the advisor's. Nothing of the user's is read
//! or written: no configuration, no agent, no known hosts, no start-up file of a shell.
//!
//! Programs are started, waited for and ended within one [`Carrier::run`], by the thread that calls it; none of
//! them outlives it, however this process ends.
#![forbid(unsafe_code)]

#[cfg(unix)]
mod account;
#[cfg(unix)]
mod connection;
#[cfg(unix)]
mod dropbear;
#[cfg(unix)]
mod fdpass;
#[cfg(unix)]
mod folder;
#[cfg(unix)]
mod handover;
#[cfg(unix)]
mod openssh;
#[cfg(unix)]
mod other_host;
#[cfg(unix)]
mod payload;
#[cfg(unix)]
mod private_dropbear;
#[cfg(unix)]
mod private_server;
#[cfg(unix)]
mod said;
#[cfg(unix)]
mod session;
#[cfg(unix)]
mod watch;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::installed::Installed;
#[cfg(unix)]
pub use fdpass::fdpass;
#[cfg(unix)]
pub use handover::hand_over;

/// Which programs carry the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Implementation {
    /// `ssh` to `sshd`.
    #[serde(rename = "openssh")]
    OpenSsh,
    /// `dbclient` to `dropbear`.
    Dropbear,
    /// `dbclient` to `sshd`.
    #[serde(rename = "dropbear-to-openssh")]
    DropbearToOpenSsh,
}

impl Implementation {
    /// The name in JSON and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenSsh => "openssh",
            Self::Dropbear => "dropbear",
            Self::DropbearToOpenSsh => "dropbear-to-openssh",
        }
    }
}

impl fmt::Display for Implementation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// The client sends.
    Up,
    /// The server sends.
    Down,
}

impl Way {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Up, Self::Down];

    /// The name in JSON and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One run: a connection that is made, sends for a while, and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferRequest {
    /// The cipher, as `ssh -c` takes it; empty for whatever the programs agree on by themselves.
    pub cipher: String,
    /// The only MAC offered beside it; `None` for an AEAD.
    pub mac: Option<String>,
    /// Which way the bytes go.
    pub way: Way,
    /// For how long bytes are sent; zero makes the connection and ends it, which is what a handshake costs.
    pub slice: Duration,
    /// No more bytes than this are sent.
    pub most_bytes: u64,
}

impl TransferRequest {
    /// A connection by whatever the programs agree on, and no bytes.
    pub(crate) const fn handshake() -> Self {
        Self {
            cipher: String::new(),
            mac: None,
            way: Way::Down,
            slice: Duration::ZERO,
            most_bytes: 0,
        }
    }
}

/// Processor time of one end, with all the processes it consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    /// Seconds in the program itself.
    pub user: f64,
    /// Seconds in the system on its behalf.
    pub system: f64,
}

/// What one run gave. The processor times include the handshake: subtract those of a run without bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Bytes that arrived at the other end.
    pub bytes: u64,
    /// Wall time in seconds from the first byte sent to the last one received.
    pub seconds: f64,
    /// The client's processor time.
    pub client: CpuTime,
    /// The server's; `None` where it runs on another host.
    pub server: Option<CpuTime>,
}

/// Why a run gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransferFailure {
    /// Nothing can be transferred here this way: what is missing, and what would help.
    #[error("{why}; {cure}")]
    Impossible {
        /// What is in the way.
        why: String,
        /// What would help.
        cure: String,
    },
    /// This cipher or MAC was refused; others may work.
    #[error("{0}")]
    Refused(String),
    /// It was stopped from outside.
    #[error("stopped")]
    Cancelled,
}

/// Something that can carry bytes from one end to the other.
pub trait Carrier {
    /// Who carries.
    fn implementation(&self) -> Implementation;

    /// Makes one connection and sends.
    ///
    /// # Errors
    /// [`TransferFailure`] says whether another cipher is worth a try.
    fn run(&mut self, request: &TransferRequest) -> Result<Run, TransferFailure>;
}

/// The program that hands descriptors over, a connection to `ssh` or the ends of a session to us: the word behind
/// it has any binary of ours do that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FdPassHelper {
    /// The program, as an absolute path.
    pub program: PathBuf,
    /// Its arguments; what to do and the path of a socket are added to them.
    pub args: Vec<OsString>,
}

/// The hidden commands of our binaries that make them the helper.
#[cfg(unix)]
const FDPASS: &str = "__fdpass";
#[cfg(unix)]
const HAND_OVER: &str = "__hand-over";

impl FdPassHelper {
    /// This very program, which has to call [`be_helper`] first of all.
    ///
    /// # Errors
    /// When the system does not say where this program lies.
    pub fn this_program() -> std::io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            args: Vec::new(),
        })
    }
}

/// What a binary does before anything else: where it was started as an [`FdPassHelper`], the helper's work, and
/// then it ends with this code. `None` in every other case.
#[must_use]
pub fn be_helper() -> Option<ExitCode> {
    #[cfg(unix)]
    {
        let mut args = std::env::args_os().skip(1);
        let word = args.next()?;
        let help = match word.to_str()? {
            FDPASS => fdpass,
            HAND_OVER => hand_over,
            _ => return None,
        };
        let (Some(socket), None) = (args.next(), args.next()) else {
            return Some(ExitCode::from(2));
        };
        let done = help(socket.as_ref());
        Some(done.map_or(ExitCode::from(2), |()| ExitCode::SUCCESS))
    }
    #[cfg(not(unix))]
    None
}

/// `ssh` to a private `sshd`, without a port, a shell or a process at the far end.
///
/// It is tried out at once, in every way `sshd` may run here. While `cancel` is set, a run ends within some
/// 50 ms and gives [`TransferFailure::Cancelled`].
///
/// # Errors
/// [`TransferFailure::Impossible`] says what is in the way.
pub fn openssh(
    installed: &Installed,
    helper: FdPassHelper,
    cancel: Arc<AtomicBool>,
) -> Result<Box<dyn Carrier + Send>, TransferFailure> {
    #[cfg(unix)]
    return Ok(Box::new(openssh::OpenSsh::new(installed, helper, cancel)?));
    #[cfg(not(unix))]
    {
        let _ = (installed, helper, cancel);
        Err(no_unix_sockets())
    }
}

/// `dbclient` to a private `dropbear`, over one connection on loopback; the port is closed once it is accepted.
///
/// What they negotiate by themselves holds here too: Debian's Dropbear compresses whatever goes between its own
/// two ends, so these figures hold compression as well. It is tried out at once. While `cancel` is set, a run ends
/// within some 50 ms and gives [`TransferFailure::Cancelled`].
///
/// # Errors
/// [`TransferFailure::Impossible`] says what is in the way.
pub fn dropbear(
    installed: &Installed,
    helper: FdPassHelper,
    cancel: Arc<AtomicBool>,
) -> Result<Box<dyn Carrier + Send>, TransferFailure> {
    #[cfg(unix)]
    return Ok(Box::new(dropbear::Dropbear::new(
        installed, helper, cancel,
    )?));
    #[cfg(not(unix))]
    {
        let _ = (installed, helper, cancel);
        Err(no_unix_sockets())
    }
}

/// `dbclient` to a private `sshd` over pipes, without a port and without compression. Otherwise as [`dropbear`].
///
/// # Errors
/// [`TransferFailure::Impossible`] says what is in the way.
pub fn dropbear_to_openssh(
    installed: &Installed,
    helper: FdPassHelper,
    cancel: Arc<AtomicBool>,
) -> Result<Box<dyn Carrier + Send>, TransferFailure> {
    #[cfg(unix)]
    return Ok(Box::new(dropbear::Dropbear::to_openssh(
        installed, helper, cancel,
    )?));
    #[cfg(not(unix))]
    {
        let _ = (installed, helper, cancel);
        Err(no_unix_sockets())
    }
}

/// `ssh` to a host of the user's, through the user's own files, keys and agent, which it runs unchanged but for
/// what would falsify figures. `options` go before all others (`-F FILE`). Nothing is asked: where a password would
/// be wanted, it fails. Every run is a connection of its own; the server's processor time is not known.
///
/// A cipher or MAC the host refuses gives [`TransferFailure::Refused`]; whatever would fail again,
/// [`TransferFailure::Impossible`].
///
/// # Errors
/// Where there is no usable `ssh`. No connection is made yet.
pub fn other_host(
    installed: &Installed,
    host: &str,
    options: &[OsString],
    cancel: Arc<AtomicBool>,
) -> Result<Box<dyn Carrier + Send>, TransferFailure> {
    #[cfg(unix)]
    return Ok(Box::new(other_host::OtherHost {
        ssh: openssh::usable(installed, installed.client.as_ref(), "ssh")?,
        host: host.to_owned(),
        options: options.to_vec(),
        cancel,
    }));
    #[cfg(not(unix))]
    {
        let _ = (installed, host, options, cancel);
        Err(no_unix_sockets())
    }
}

#[cfg(not(unix))]
fn no_unix_sockets() -> TransferFailure {
    TransferFailure::Impossible {
        why: "transfers need Unix sockets, which ssh does not use on this system".to_owned(),
        cure: "packet evidence needs none".to_owned(),
    }
}
