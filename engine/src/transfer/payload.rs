//! The payload: bytes written at one end of a connection and read at the other, for a while.
//!
//! One thread does both, so that no lock and no scheduler stands between them, and looks at the clock and at
//! `cancel` between any two system calls. The bytes are noise: no cipher's time depends on what it encrypts, but
//! Dropbear compresses on its own, and of zeros no cipher would see more than a sixtieth.
#![forbid(unsafe_code)]

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{Shutdown, shutdown};

use super::TransferRequest;
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

/// Sends for the slice, at most the bytes of the request, then drops `from` and waits for everything to arrive.
pub(super) fn send<F: AsFd>(
    from: F,
    to: &impl AsFd,
    request: &TransferRequest,
    cancel: &AtomicBool,
) -> Result<Sent, Trouble> {
    let TransferRequest {
        slice, most_bytes, ..
    } = *request;
    ioctl_fionbio(&from, true)?;
    ioctl_fionbio(to, true)?;
    let watch = Watch::new(cancel, "the stream", slice + DRAIN);
    let noise = noise();
    let mut buffer = vec![0; CHUNK];
    let (mut sent, mut received) = (0, 0);
    let mut from = Some(from);
    let started = now();
    let mut last = started;
    loop {
        let passed = now() - started;
        if sent >= most_bytes || passed >= slice {
            from.take().map(finish).transpose()?;
        }
        let room = UNDER_WAY.min(most_bytes - received) - (sent - received);
        let source = from.as_ref().filter(|_| room > 0);
        let (readable, writable) = ready(to, source, &watch, slice.saturating_sub(passed))?;
        if let Some(source) = source.filter(|_| writable) {
            // From where the last one ended: however little goes at once, nothing comes twice in a row.
            let rest = &noise[(sent % CHUNK as u64) as usize..];
            let most = rest.len().min(room as usize);
            sent += moved(rustix::io::write(source, &rest[..most]))?.unwrap_or(0);
        }
        if readable {
            match moved(rustix::io::read(to, &mut buffer))? {
                Some(0) => break,
                Some(bytes) => {
                    received += bytes;
                    last = now();
                }
                None => {}
            }
        }
    }
    if from.is_some() || received != sent {
        return Err(Trouble::Broken(format!(
            "{received} of {sent} bytes arrived"
        )));
    }
    Ok(Sent {
        bytes: received,
        time: last - started,
    })
}

/// Says that no more comes, whoever else has this end open.
fn finish(from: impl AsFd) -> Result<(), Trouble> {
    match shutdown(&from, Shutdown::Write) {
        // The end of a pipe is the end of its descriptors.
        Ok(()) | Err(Errno::NOTSOCK) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Bytes in which nothing repeats within what a compressor remembers (Marsaglia's xorshift64).
fn noise() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(&mut next)
        .take(CHUNK / 8)
        .flatten()
        .collect()
}

/// Waits until there is something to read or, where there is a source, room to write for the time left.
fn ready(
    to: &impl AsFd,
    source: Option<&impl AsFd>,
    watch: &Watch<'_>,
    left: Duration,
) -> Result<(bool, bool), Trouble> {
    let mut ends = [
        PollFd::new(to, PollFlags::IN),
        PollFd::from_borrowed_fd(source.map_or(to.as_fd(), |it| it.as_fd()), PollFlags::OUT),
    ];
    if source.is_some() {
        watch.wait(&mut ends, left)?;
    } else {
        watch.wait(&mut ends[..1], Duration::MAX)?;
    }
    let [readable, writable] = ends.map(|end| !end.revents().is_empty());
    Ok((readable, writable))
}

/// How many bytes went; `None` where none could just now.
fn moved(result: rustix::io::Result<usize>) -> Result<Option<u64>, Trouble> {
    match result {
        Ok(bytes) => Ok(Some(bytes as u64)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(Trouble::Broken(io::Error::from(error).to_string())),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::transfer::Way;

    fn of(slice: u64, most_bytes: u64) -> TransferRequest {
        TransferRequest {
            cipher: String::new(),
            mac: None,
            way: Way::Up,
            slice: Duration::from_secs(slice),
            most_bytes,
        }
    }

    #[test]
    fn a_stream_that_loses_its_far_end_is_no_result() {
        let (from, rest) = UnixStream::pair().expect("a pair");
        let (to, other) = UnixStream::pair().expect("a pair");
        drop(other);
        let never = AtomicBool::new(false);
        let result = send(from, &to, &of(1, 1 << 20), &never);
        assert!(matches!(result, Err(Trouble::Broken(_))), "{result:?}");
        drop(rest);
    }

    #[test]
    fn exactly_the_most_bytes_arrive_in_a_long_slice() {
        let (from, to) = UnixStream::pair().expect("a pair");
        let never = AtomicBool::new(false);
        let sent = send(from, &to, &of(60, 1_000_001), &never).expect("a stream");
        assert_eq!(sent.bytes, 1_000_001);
    }

    #[test]
    fn a_pipe_ends_like_a_socket() {
        let (to, from) = io::pipe().expect("a pipe");
        let never = AtomicBool::new(false);
        let sent = send(from, &to, &of(60, 100_001), &never).expect("a stream");
        assert_eq!(sent.bytes, 100_001);
    }

    #[test]
    fn what_is_sent_does_not_repeat_itself() {
        const REMEMBERED: usize = 32 * 1024;
        let noise = noise();
        assert_eq!(noise.len(), CHUNK);
        let words: std::collections::HashSet<&[u8]> = noise[..REMEMBERED].chunks(8).collect();
        assert_eq!(words.len(), REMEMBERED / 8);
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
        let sent = send(from, &to, &of(60, most), &never).expect("a stream");
        assert_eq!(sent.bytes, most);
        let more = hoarder.join().expect("no panic").expect("a stream");
        assert_eq!(more, 0, "bytes beyond what may be under way");
    }

    #[test]
    fn a_cancelled_stream_stops() {
        let (from, _silent) = UnixStream::pair().expect("a pair");
        let (to, _open) = UnixStream::pair().expect("a pair");
        let cancelled = AtomicBool::new(true);
        let result = send(from, &to, &of(60, u64::MAX), &cancelled);
        assert!(matches!(result, Err(Trouble::Cancelled)), "{result:?}");
    }
}
