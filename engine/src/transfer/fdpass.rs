//! The helper behind `ProxyUseFdpass`: connects and hands the connection over, so that nothing stands between
//! `ssh` and `sshd`, and neither descends from the other.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::{FDPASS, FdPassHelper};

/// More descriptors are never passed at once.
pub(super) const MOST_DESCRIPTORS: usize = 2;

/// Connects to a socket and passes the connection to whoever holds the other end of standard output, which is
/// what `ssh` waits for (`ProxyUseFdpass` in ssh_config(5); one byte with the descriptor, monitor_fdpass.c).
///
/// # Errors
/// When nobody listens there, or standard output is no Unix socket.
pub fn fdpass(socket: &Path) -> io::Result<()> {
    let connection = UnixStream::connect(socket)?;
    pass(&[connection.as_fd()], rustix::stdio::stdout())
}

/// Sends descriptors, at most [`MOST_DESCRIPTORS`], with one byte.
pub(super) fn pass(descriptors: &[BorrowedFd<'_>], over: BorrowedFd<'_>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    sendmsg(
        over,
        &[IoSlice::new(&[0])],
        &mut control,
        SendFlags::empty(),
    )?;
    Ok(())
}

/// The helper as a value of `ProxyCommand`: `ssh` replaces `%` words and hands the rest to a shell.
pub(super) fn proxy_command(helper: &FdPassHelper, socket: &Path) -> OsString {
    let line = command_line(helper, FDPASS, socket).into_vec();
    let doubled = line.into_iter().flat_map(|byte| {
        let times = if byte == b'%' { 2 } else { 1 };
        std::iter::repeat_n(byte, times)
    });
    OsString::from_vec(doubled.collect())
}

/// The helper with one of its words and a socket, as a POSIX shell reads it.
pub(super) fn command_line(helper: &FdPassHelper, word: &str, socket: &Path) -> OsString {
    let words = [helper.program.as_os_str()]
        .into_iter()
        .chain(helper.args.iter().map(OsString::as_os_str))
        .chain([OsStr::new(word), socket.as_os_str()]);
    let quoted: Vec<Vec<u8>> = words.map(|word| quote(word.as_bytes())).collect();
    OsString::from_vec(quoted.join(&b' '))
}

/// A word as a POSIX shell reads it back.
fn quote(word: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for &byte in word {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reaches_the_helper_unchanged() {
        let helper = FdPassHelper {
            program: "/opt/it's 100 %/advisor".into(),
            args: vec!["and more".into()],
        };
        let socket = Path::new("/tmp/s0");
        assert_eq!(
            proxy_command(&helper, socket),
            r"'/opt/it'\''s 100 %%/advisor' 'and more' '__fdpass' '/tmp/s0'"
        );
        assert_eq!(
            command_line(&helper, "__word", socket),
            r"'/opt/it'\''s 100 %/advisor' 'and more' '__word' '/tmp/s0'"
        );
    }
}
