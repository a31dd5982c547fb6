//! Where a program can only start others: the one it starts is a helper that hands its standard input and output
//! over and then waits, using no processor time, until nobody needs them any more.
//!
//! So `dbclient`, which cannot be given its connection, is no ancestor of the server behind its `-J`, and what
//! reads and writes at the far end of a session is this process, not a remote command with a share of its own.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::connection::accept;
use super::fdpass::{MOST_DESCRIPTORS, pass};
use super::watch::{Trouble, Watch};

/// Passes standard input and output to whoever listens at a socket, lets go of them, and returns once that
/// connection is closed.
///
/// # Errors
/// When nobody listens there, or the descriptors cannot be passed.
pub fn hand_over(socket: &Path) -> io::Result<()> {
    let mut connection = UnixStream::connect(socket)?;
    let ends = [rustix::stdio::stdin(), rustix::stdio::stdout()];
    pass(&ends, connection.as_fd())?;
    // Whoever waits for their end would wait for this process otherwise; for that of the errors as well.
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    connection.read(&mut [0]).map(drop)
}

/// What a helper handed over.
pub(super) struct Handed {
    /// What was its standard input.
    pub(super) input: OwnedFd,
    /// What was its standard output.
    pub(super) output: OwnedFd,
    /// The helper ends with this.
    pub(super) helper: UnixStream,
}

/// Waits for a helper to hand its ends over.
pub(super) fn take_over(
    listener: &UnixListener,
    watch: &Watch<'_>,
    mut go_on: impl FnMut() -> Result<(), Trouble>,
) -> Result<Handed, Trouble> {
    let (helper, _) = accept(listener, UnixListener::accept, watch, &mut go_on)?;
    helper.set_nonblocking(true)?;
    loop {
        match receive(&helper) {
            Ok([input, output]) => {
                return Ok(Handed {
                    input,
                    output,
                    helper,
                });
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        go_on()?;
        watch.wait(&mut [PollFd::new(&helper, PollFlags::IN)], Duration::MAX)?;
    }
}

/// No program that is started meanwhile may inherit them.
#[cfg(not(target_vendor = "apple"))]
const CLOSED_ON_EXEC: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(target_vendor = "apple")]
const CLOSED_ON_EXEC: RecvFlags = RecvFlags::empty();

fn receive(from: &UnixStream) -> io::Result<[OwnedFd; MOST_DESCRIPTORS]> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        from,
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        CLOSED_ON_EXEC,
    )?;
    let descriptors = control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
        _ => Vec::new(),
    });
    let descriptors: Vec<OwnedFd> = descriptors.collect();
    let both = <[OwnedFd; MOST_DESCRIPTORS]>::try_from(descriptors);
    both.map_err(|_| io::Error::new(io::ErrorKind::UnexpectedEof, "the helper passed nothing"))
}
