//! `ssh` to a host of the user's, through the user's own set-up: files, keys, agent, jumps.
//!
//! Only what would falsify the figures is switched off: a master connection that is open already and has its own
//! cipher, compression, forwardings, commands. The far end needs a POSIX shell, `printf`, `cat` and `wc`.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::connection::{around, option};
use super::openssh::algorithms;
use super::said::significant;
use super::watch::{Trouble, Watch, now};
use super::{Carrier, CpuTime, Implementation, Run, TransferFailure, TransferRequest, Way};
use crate::host::{Ended, Process, ProcessRequest};

/// Names may have to be looked up, and jumps be made.
const OPENING: Duration = Duration::from_secs(30);
/// What is under way when nothing more is sent has to cross the link.
const DRAIN: Duration = Duration::from_secs(30);
/// Bytes written or read at once.
const CHUNK: usize = 256 * 1024;
/// What the far end says once it runs, so that neither the handshake nor a start-up file is timed.
const READY: &[u8] = b"advisor-ready\n";
/// The longest greeting of start-up files that is read through.
const MOST_GREETING: usize = 64 * 1024;

/// The carrier to one host.
pub(super) struct OtherHost {
    pub(super) ssh: PathBuf,
    pub(super) host: String,
    /// Options of `ssh` from the user, before ours (`-F FILE`).
    pub(super) options: Vec<OsString>,
    pub(super) cancel: Arc<AtomicBool>,
}

const SETTINGS: [&str; 10] = [
    "BatchMode=yes",
    "ClearAllForwardings=yes",
    "Compression=no",
    "ConnectTimeout=20",
    "ControlMaster=no",
    "ControlPath=none",
    // At this level ssh says why it cannot negotiate.
    "LogLevel=INFO",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "RequestTTY=no",
];

impl Carrier for OtherHost {
    fn implementation(&self) -> Implementation {
        Implementation::OpenSsh
    }

    fn run(&mut self, request: &TransferRequest) -> Result<Run, TransferFailure> {
        let mut log = tempfile::tempfile().map_err(|error| TransferFailure::Impossible {
            why: format!("no temporary file can be made: {error}"),
            cure: "set TMPDIR to a folder that is writable".to_owned(),
        })?;
        self.carry(request, &log).map_err(|trouble| match trouble {
            Trouble::Cancelled => TransferFailure::Cancelled,
            trouble => self.failure(&trouble, &words(&mut log)),
        })
    }
}

impl OtherHost {
    fn carry(&self, request: &TransferRequest, log: &File) -> Result<Run, Trouble> {
        let (ours, theirs) = UnixStream::pair()?;
        let client = self.client(request).stderr(log.try_clone()?);
        let mut client = Process::start(around(client, theirs)?)
            .map_err(|error| Trouble::NotStarted("ssh", error))?;
        ours.set_nonblocking(true)?;
        let opening = Watch::new(&self.cancel, "the connection", OPENING);
        await_greeting(&ours, &opening)?;
        let watch = Watch::new(&self.cancel, "the stream", request.slice + DRAIN);
        let (bytes, time) = match request.way {
            Way::Up => send(&ours, request, &watch)?,
            Way::Down => receive(&ours, request, &watch)?,
        };
        drop(ours);
        client.ask_to_end();
        let ended = await_end(&mut client, &watch)?;
        Ok(Run {
            bytes,
            seconds: time.as_secs_f64(),
            client: CpuTime::from(ended),
            server: None,
        })
    }

    fn client(&self, request: &TransferRequest) -> ProcessRequest {
        // Every usual shell understands this, csh and fish too.
        let work = match request.way {
            Way::Up => "wc -c",
            Way::Down => "cat /dev/zero",
        };
        ProcessRequest::new(&self.ssh)
            .args(&self.options)
            .args(SETTINGS.iter().flat_map(|&setting| option(setting)))
            .args(algorithms(request))
            .args(["-T", "--", &self.host])
            .args([format!("printf 'advisor-ready\\n'; exec {work}")])
    }

    /// A refused cipher is no reason to give up the others; anything else is.
    fn failure(&self, trouble: &Trouble, said: &str) -> TransferFailure {
        const OF_THE_CIPHER: [&str; 4] = [
            "no matching cipher",
            "no matching MAC",
            "Unknown cipher",
            "Unknown mac",
        ];
        let host = &self.host;
        let why = match said {
            "" => format!("{host}: {trouble}"),
            said => format!("{host}: {said}"),
        };
        if OF_THE_CIPHER.iter().any(|words| said.contains(words)) {
            return TransferFailure::Refused(why);
        }
        TransferFailure::Impossible {
            why,
            cure: format!("see that `ssh -o BatchMode=yes {host} true` works without a question"),
        }
    }
}

/// Reads until the far end is ready.
fn await_greeting(mut ours: &UnixStream, watch: &Watch<'_>) -> Result<(), Trouble> {
    let mut greeting = Vec::new();
    let mut byte = [0];
    while !greeting.ends_with(READY) {
        // One byte at a time: what follows belongs to the payload.
        match read(&mut ours, &mut byte, watch)? {
            0 => return Err(Trouble::Ended("ssh")),
            _ => greeting.push(byte[0]),
        }
        if greeting.len() > MOST_GREETING {
            return Err(Trouble::Broken(
                "it says too much when a command starts".to_owned(),
            ));
        }
    }
    Ok(())
}

/// Sends for the slice, and has the far end say how much arrived.
fn send(
    mut ours: &UnixStream,
    request: &TransferRequest,
    watch: &Watch<'_>,
) -> Result<(u64, Duration), Trouble> {
    let zeros = vec![0; CHUNK];
    let started = now();
    let mut sent = 0;
    while sent < request.most_bytes && now() - started < request.slice {
        let left = request.slice.saturating_sub(now() - started);
        watch.wait(&mut [PollFd::new(ours, PollFlags::OUT)], left)?;
        let most = (request.most_bytes - sent).min(CHUNK as u64) as usize;
        match ours.write(&zeros[..most]) {
            Ok(bytes) => sent += bytes as u64,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(Trouble::Broken(error.to_string())),
        }
    }
    ours.shutdown(Shutdown::Write)?;
    let arrived = count(ours, watch)?;
    if arrived != sent {
        return Err(Trouble::Broken(format!(
            "{arrived} of {sent} bytes arrived"
        )));
    }
    let time = if sent > 0 {
        now() - started
    } else {
        Duration::ZERO
    };
    Ok((sent, time))
}

/// What `wc -c` says.
fn count(mut ours: &UnixStream, watch: &Watch<'_>) -> Result<u64, Trouble> {
    let mut answer = Vec::new();
    let mut buffer = [0; 64];
    loop {
        match read(&mut ours, &mut buffer, watch)? {
            0 => break,
            bytes => answer.extend_from_slice(&buffer[..bytes]),
        }
    }
    let answer = String::from_utf8_lossy(&answer);
    let number = answer.trim().parse();
    number.map_err(|_| Trouble::Broken(format!("the far end counts {answer:?} bytes")))
}

/// Receives for the slice; what is still under way then is not counted.
fn receive(
    mut ours: &UnixStream,
    request: &TransferRequest,
    watch: &Watch<'_>,
) -> Result<(u64, Duration), Trouble> {
    let mut buffer = vec![0; CHUNK];
    let started = now();
    let mut last = started;
    let mut received = 0;
    while received < request.most_bytes && now() - started < request.slice {
        let most = (request.most_bytes - received).min(CHUNK as u64) as usize;
        match read(&mut ours, &mut buffer[..most], watch)? {
            0 => return Err(Trouble::Ended("ssh")),
            bytes => received += bytes as u64,
        }
        last = now();
    }
    Ok((received, last - started))
}

/// Waits for bytes; zero is the end.
fn read(ours: &mut &UnixStream, into: &mut [u8], watch: &Watch<'_>) -> Result<usize, Trouble> {
    loop {
        watch.wait(&mut [PollFd::new(*ours, PollFlags::IN)], Duration::MAX)?;
        match ours.read(into) {
            Ok(bytes) => return Ok(bytes),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(Trouble::Broken(error.to_string())),
        }
    }
}

fn await_end(client: &mut Process, watch: &Watch<'_>) -> Result<Ended, Trouble> {
    loop {
        if let Some(ended) = client.ended()? {
            return Ok(ended);
        }
        watch.wait(&mut [], Duration::from_millis(1))?;
    }
}

/// What `ssh` wrote to its log.
fn words(log: &mut File) -> String {
    const MOST: u64 = 64 * 1024;
    let mut said = Vec::new();
    let read = log.seek(SeekFrom::Start(0));
    // What cannot be read back is not said.
    let _ = read.and_then(|_| log.take(MOST).read_to_end(&mut said));
    significant(&said)
}
