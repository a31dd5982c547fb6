//! One connection of `dbclient`, and a stream through both programs.
//!
//! `dbclient` forwards no Unix socket, so the stream is a session. What the server starts for it is the helper,
//! which hands its ends over and does nothing more; the stream begins here and ends here.
#![forbid(unsafe_code)]

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::connection::{OPENING, accept, alive, both_ended};
use super::handover::{Handed, take_over};
use super::payload;
use super::watch::{Trouble, Watch};
use super::{TransferRequest, Way};
use crate::host::{Ended, Process, ProcessRequest};

/// What is sent through the stream before it is ours: a start-up file of the system's may have said something.
const MARK: &[u8] = b"\nadvisor-ready\n";
/// The longest greeting that is read through.
const MOST_GREETING: usize = 64 * 1024;

/// How the two programs meet.
pub(super) enum Transport<'a> {
    /// The client's proxy is the helper.
    Helper(&'a UnixListener),
    /// The client connects to a port of this machine's own.
    Port(TcpListener),
}

/// What it takes to open a connection.
pub(super) struct Ends<'a> {
    /// The client, with neither input nor output.
    pub(super) client: ProcessRequest,
    pub(super) transport: Transport<'a>,
    pub(super) server_name: &'static str,
    /// The server, with neither input nor output.
    pub(super) server: ProcessRequest,
    /// Where the helper at the far end connects to.
    pub(super) far: &'a UnixListener,
}

/// An open connection with both ends of a session.
pub(super) struct Session {
    client: Process,
    server: Process,
    /// The client's standard input and output.
    near: (OwnedFd, OwnedFd),
    /// The session's.
    far: Handed,
    /// The helper that gave the transport away.
    proxy: Option<UnixStream>,
}

impl Session {
    pub(super) fn open(ends: Ends<'_>, cancel: &AtomicBool) -> Result<Self, Trouble> {
        let watch = Watch::new(cancel, "the handshake", OPENING);
        let (input, into) = io::pipe()?;
        let (out_of, output) = io::pipe()?;
        let mut client = Process::start(ends.client.stdin(input).stdout(output))
            .map_err(|error| Trouble::NotStarted("dbclient", error))?;
        let name = match ends.transport {
            Transport::Helper(_) => "dbclient, or the account's shell that starts its proxy,",
            Transport::Port(_) => "dbclient",
        };
        let lives = || alive(name, &mut client);
        let (server, proxy) = match ends.transport {
            Transport::Helper(listener) => {
                let handed = take_over(listener, &watch, lives)?;
                let server = ends.server.stdin(handed.input).stdout(handed.output);
                (server, Some(handed.helper))
            }
            Transport::Port(listener) => {
                // Nobody else connects: the listener ends here. Who came first still needs the key.
                let (stream, _) = accept(&listener, TcpListener::accept, &watch, lives)?;
                drop(listener);
                let input = OwnedFd::from(stream);
                let output = input.try_clone()?;
                (ends.server.stdin(input).stdout(output), None)
            }
        };
        let name = ends.server_name;
        let mut server =
            Process::start(server).map_err(|error| Trouble::NotStarted(name, error))?;
        let mut both_alive = || {
            alive(name, &mut server)?;
            alive("dbclient", &mut client)
        };
        let far = take_over(ends.far, &watch, &mut both_alive)?;
        rustix::io::write(&far.output, MARK)?;
        let out_of = await_mark(out_of.into(), &watch, both_alive)?;
        Ok(Self {
            client,
            server,
            near: (into.into(), out_of),
            far,
            proxy,
        })
    }

    /// Sends what is asked for, ends both programs, and says what arrived and what each program used.
    pub(super) fn carry(
        self,
        request: &TransferRequest,
        cancel: &AtomicBool,
    ) -> Result<(payload::Sent, Ended, Ended), Trouble> {
        let Self {
            mut client,
            mut server,
            near: (into, out_of),
            far,
            proxy,
        } = self;
        let Handed {
            input,
            output,
            helper,
        } = far;
        let outlet = Outlet {
            output,
            _helper: helper,
        };
        let sent = match request.way {
            Way::Up => {
                let sent = payload::send(into, &input, request, cancel)?;
                drop(outlet);
                sent
            }
            Way::Down => {
                let sent = payload::send(outlet, &out_of, request, cancel)?;
                drop(into);
                sent
            }
        };
        drop(input);
        let (client, server) = both_ended(&mut client, &mut server, cancel)?;
        drop(proxy);
        Ok((sent, client, server))
    }
}

/// Where a session's output goes in. With its helper the session ends, and with the only session both programs:
/// `dbclient` keeps its own output open until then.
struct Outlet {
    // In this order: the session ends once what is under way has gone.
    output: OwnedFd,
    _helper: UnixStream,
}

impl AsFd for Outlet {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }
}

/// Reads until the mark has come through.
fn await_mark(
    from: OwnedFd,
    watch: &Watch<'_>,
    mut go_on: impl FnMut() -> Result<(), Trouble>,
) -> Result<OwnedFd, Trouble> {
    let mut greeting = Vec::new();
    let mut byte = [0];
    while !greeting.ends_with(MARK) {
        if greeting.len() > MOST_GREETING {
            let words = "it says too much when a command starts";
            return Err(Trouble::Broken(words.to_owned()));
        }
        let mut ends = [PollFd::new(&from, PollFlags::IN)];
        watch.wait(&mut ends, Duration::MAX)?;
        if ends[0].revents().is_empty() {
            go_on()?;
            continue;
        }
        // One byte at a time: what follows belongs to the payload.
        match rustix::io::read(&from, &mut byte)? {
            0 => return Err(Trouble::Ended("dbclient")),
            _ => greeting.push(byte[0]),
        }
    }
    Ok(from)
}
