//! One connection: `ssh`, `sshd`, and a stream through both.
//!
//! `ssh` gets its transport from a socket here by way of the helper, so `sshd` is its sibling: a server below
//! `ssh` would be waited for by `ssh` and its processor time be taken for the client's. The stream is a forwarded
//! Unix socket, for which no shell, no start-up file and no other process runs at the far end.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::watch::{Trouble, Watch};
use crate::host::{Ended, Process, ProcessRequest};

/// A handshake takes some 100 ms; some seconds where a processor is emulated.
pub(super) const OPENING: Duration = Duration::from_secs(20);
/// Both programs end within milliseconds once told to.
const CLOSING: Duration = Duration::from_secs(10);
/// Between two looks at something that cannot wake us.
const GLANCE: Duration = Duration::from_millis(1);

/// What it takes to open a connection.
pub(super) struct Ends<'a> {
    pub(super) client: ProcessRequest,
    /// Where the helper of the client connects to.
    pub(super) transport: &'a UnixListener,
    /// Where the client waits for a stream once the server has let it in.
    pub(super) near: &'a Path,
    /// Makes the server around its transport.
    pub(super) server: &'a dyn Fn(UnixStream) -> io::Result<ProcessRequest>,
    /// Where the server passes the stream on to.
    pub(super) far: &'a UnixListener,
}

/// An open connection with both ends of a stream through it.
pub(super) struct Connection {
    client: Process,
    server: Process,
    /// The end at the client.
    pub(super) near: UnixStream,
    /// The end at the server.
    pub(super) far: UnixStream,
}

impl Connection {
    pub(super) fn open(ends: Ends<'_>, cancel: &AtomicBool) -> Result<Self, Trouble> {
        let watch = Watch::new(cancel, "the handshake", OPENING);
        let mut client =
            Process::start(ends.client).map_err(|error| Trouble::NotStarted("ssh", error))?;
        let (transport, _) = accept(ends.transport, UnixListener::accept, &watch, || {
            alive("ssh", &mut client)
        })?;
        let mut server = Process::start((ends.server)(transport)?)
            .map_err(|error| Trouble::NotStarted("sshd", error))?;
        let mut both_alive = || {
            alive("sshd", &mut server)?;
            alive("ssh", &mut client)
        };
        let near = connect(ends.near, &watch, &mut both_alive)?;
        let (far, _) = accept(ends.far, UnixListener::accept, &watch, || {
            both_alive()?;
            open_still(&near)
        })?;
        Ok(Self {
            client,
            server,
            near,
            far,
        })
    }

    /// Ends both programs and says what each of them used.
    pub(super) fn close(self, cancel: &AtomicBool) -> Result<(Ended, Ended), Trouble> {
        let Self {
            mut client,
            mut server,
            near,
            far,
        } = self;
        drop((near, far));
        client.ask_to_end();
        both_ended(&mut client, &mut server, cancel)
    }
}

/// Waits for both programs and says what each of them used.
pub(super) fn both_ended(
    client: &mut Process,
    server: &mut Process,
    cancel: &AtomicBool,
) -> Result<(Ended, Ended), Trouble> {
    let watch = Watch::new(cancel, "the end of the connection", CLOSING);
    loop {
        if let (Some(client), Some(server)) = (client.ended()?, server.ended()?) {
            return Ok((client, server));
        }
        watch.wait(&mut [], GLANCE)?;
    }
}

pub(super) fn alive(name: &'static str, process: &mut Process) -> Result<(), Trouble> {
    match process.ended()? {
        None => Ok(()),
        Some(_) => Err(Trouble::Ended(name)),
    }
}

/// Whether nobody has closed a stream on which nothing was sent yet.
fn open_still(stream: &UnixStream) -> Result<(), Trouble> {
    let mut looked_at = [PollFd::new(stream, PollFlags::IN)];
    rustix::event::poll(&mut looked_at, Some(&rustix::event::Timespec::default()))?;
    match looked_at[0].revents().is_empty() {
        true => Ok(()),
        false => Err(Trouble::Broken("sshd does not forward it".to_owned())),
    }
}

/// Waits for somebody to connect.
pub(super) fn accept<L: AsFd, S: AsFd, A>(
    listener: &L,
    take: impl Fn(&L) -> io::Result<(S, A)>,
    watch: &Watch<'_>,
    mut go_on: impl FnMut() -> Result<(), Trouble>,
) -> Result<(S, A), Trouble> {
    loop {
        match take(listener) {
            Ok((stream, from)) => {
                // Some systems hand the listener's mode on.
                rustix::io::ioctl_fionbio(&stream, false)?;
                return Ok((stream, from));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        go_on()?;
        watch.wait(&mut [PollFd::new(listener, PollFlags::IN)], Duration::MAX)?;
    }
}

/// Waits until somebody listens.
fn connect(
    path: &Path,
    watch: &Watch<'_>,
    mut go_on: impl FnMut() -> Result<(), Trouble>,
) -> Result<UnixStream, Trouble> {
    use ErrorKind::{ConnectionRefused, NotFound};
    loop {
        match UnixStream::connect(path) {
            Ok(stream) => return Ok(stream),
            Err(error) if matches!(error.kind(), NotFound | ConnectionRefused) => {}
            Err(error) => return Err(error.into()),
        }
        go_on()?;
        watch.wait(&mut [], GLANCE)?;
    }
}

/// A socket as standard input and output of a program.
pub(super) fn around(
    request: ProcessRequest,
    socket: impl Into<OwnedFd>,
) -> io::Result<ProcessRequest> {
    let input = socket.into();
    let output = input.try_clone()?;
    Ok(request.stdin(input).stdout(output))
}

/// `-o` and a setting.
pub(super) fn option(setting: impl Into<OsString>) -> [OsString; 2] {
    ["-o".into(), setting.into()]
}
