//! The payload: bytes written at one end of a connection and read at the other, for a while.
//!
//! One thread does both, so that no lock and no scheduler stands between them, and looks at the clock and at
//! `cancel` between any two system calls. The bytes are zeros: no cipher's time depends on what it encrypts.
#![forbid(unsafe_code)]

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::watch::{Trouble, Watch, now};

/// Bytes written or read at once.
const CHUNK: usize = 256 * 1024;
/// Bytes that may be under way. Enough keeps both programs busy at once; more fills the channel's window of
/// 2 MiB and `ssh` grows its buffer to it by copying at every packet (`sshbuf.c`: by as little as is needed),
/// which in the first 100 ms costs ten times what the bytes do where fresh memory is dear.
const UNDER_WAY: u64 = 512 * 1024;
/// How long what is under way may take to arrive once nothing more is sent: some megabytes.
const DRAIN: Duration = Duration::from_secs(30);

/// What arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sent {
    pub(super) bytes: u64,
    /// From the first byte sent to the last one received.
    pub(super) time: Duration,
}

/// Sends for `slice`, at most `most_bytes`, then closes and waits for everything to arrive.
pub(super) fn send(
    mut from: &UnixStream,
    mut to: &UnixStream,
    slice: Duration,
    most_bytes: u64,
    cancel: &AtomicBool,
) -> Result<Sent, Trouble> {
    from.set_nonblocking(true)?;
    to.set_nonblocking(true)?;
    let watch = Watch::new(cancel, "the stream", slice + DRAIN);
    let zeros = vec![0; CHUNK];
    let mut buffer = vec![0; CHUNK];
    let (mut sent, mut received) = (0, 0);
    let mut sending = true;
    let started = now();
    let mut last = started;
    loop {
        let passed = now() - started;
        if sending && (sent >= most_bytes || passed >= slice) {
            from.shutdown(Shutdown::Write)?;
            sending = false;
        }
        let room = UNDER_WAY.min(most_bytes - received) - (sent - received);
        let from_too = sending && room > 0;
        let (readable, writable) = ready(to, from, from_too, &watch, slice.saturating_sub(passed))?;
        if writable {
            let most = room.min(CHUNK as u64) as usize;
            sent += moved(from.write(&zeros[..most]))?.unwrap_or(0);
        }
        if readable {
            match moved(to.read(&mut buffer))? {
                Some(0) => break,
                Some(bytes) => {
                    received += bytes;
                    last = now();
                }
                None => {}
            }
        }
    }
    if sending || received != sent {
        return Err(Trouble::Broken(format!(
            "{received} of {sent} bytes arrived"
        )));
    }
    Ok(Sent {
        bytes: received,
        time: last - started,
    })
}

/// Waits until there is something to read or, where that is asked too, room to write for the time left.
fn ready(
    to: &UnixStream,
    from: &UnixStream,
    from_too: bool,
    watch: &Watch<'_>,
    left: Duration,
) -> Result<(bool, bool), Trouble> {
    let mut ends = [
        PollFd::new(to, PollFlags::IN),
        PollFd::new(from, PollFlags::OUT),
    ];
    if from_too {
        watch.wait(&mut ends, left)?;
    } else {
        watch.wait(&mut ends[..1], Duration::MAX)?;
    }
    let [readable, writable] = ends.map(|end| !end.revents().is_empty());
    Ok((readable, writable))
}

/// How many bytes went; `None` where none could just now.
fn moved(result: io::Result<usize>) -> Result<Option<u64>, Trouble> {
    match result {
        Ok(bytes) => Ok(Some(bytes as u64)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(Trouble::Broken(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_loses_its_far_end_is_no_result() {
        let (from, rest) = UnixStream::pair().expect("a pair");
        let (to, other) = UnixStream::pair().expect("a pair");
        drop(other);
        let never = AtomicBool::new(false);
        let result = send(&from, &to, Duration::from_secs(1), 1 << 20, &never);
        assert!(matches!(result, Err(Trouble::Broken(_))), "{result:?}");
        drop(rest);
    }

    #[test]
    fn exactly_the_most_bytes_arrive_in_a_long_slice() {
        let (from, to) = UnixStream::pair().expect("a pair");
        let never = AtomicBool::new(false);
        let sent = send(&from, &to, Duration::from_secs(60), 1_000_001, &never).expect("a stream");
        assert_eq!(sent.bytes, 1_000_001);
    }

    #[test]
    fn no_more_is_under_way_than_keeps_both_ends_busy() {
        let (from, mut near) = UnixStream::pair().expect("a pair");
        let (mut far, to) = UnixStream::pair().expect("a pair");
        let hoarder = std::thread::spawn(move || -> io::Result<usize> {
            let mut hoard = vec![0; UNDER_WAY as usize];
            near.read_exact(&mut hoard)?;
            near.set_read_timeout(Some(Duration::from_millis(20)))?;
            let more = near.read(&mut [0; 1]).unwrap_or(0);
            far.write_all(&vec![0; hoard.len() + more])?;
            near.set_read_timeout(None)?;
            io::copy(&mut near, &mut far)?;
            Ok(more)
        });
        let never = AtomicBool::new(false);
        let most = 3 * UNDER_WAY;
        let sent = send(&from, &to, Duration::from_secs(60), most, &never).expect("a stream");
        assert_eq!(sent.bytes, most);
        let more = hoarder.join().expect("no panic").expect("a stream");
        assert_eq!(more, 0, "bytes beyond what may be under way");
    }

    #[test]
    fn a_cancelled_stream_stops() {
        let (from, _silent) = UnixStream::pair().expect("a pair");
        let (to, _open) = UnixStream::pair().expect("a pair");
        let cancelled = AtomicBool::new(true);
        let result = send(&from, &to, Duration::from_secs(60), u64::MAX, &cancelled);
        assert!(matches!(result, Err(Trouble::Cancelled)), "{result:?}");
    }
}
