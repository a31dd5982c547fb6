//! The helper behind `ProxyUseFdpass`: connects and hands the connection over, so that nothing stands between
//! `ssh` and `sshd`, and neither descends from the other.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::FdPassHelper;

/// Connects to a socket and passes the connection to whoever holds the other end of standard output, which is
/// what `ssh` waits for (`ProxyUseFdpass` in ssh_config(5); one byte with the descriptor, monitor_fdpass.c).
///
/// # Errors
/// When nobody listens there, or standard output is no Unix socket.
pub fn fdpass(socket: &Path) -> io::Result<()> {
    let connection = UnixStream::connect(socket)?;
    pass(connection.as_fd(), rustix::stdio::stdout())
}

fn pass(descriptor: BorrowedFd<'_>, over: BorrowedFd<'_>) -> io::Result<()> {
    let descriptors = [descriptor];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
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
    let words = [helper.program.as_os_str()]
        .into_iter()
        .chain(helper.args.iter().map(OsString::as_os_str))
        .chain([socket.as_os_str()]);
    let quoted: Vec<Vec<u8>> = words.map(|word| quote(word.as_bytes())).collect();
    OsString::from_vec(quoted.join(&b' '))
}

/// A word as a POSIX shell reads it back, with `%` as `ssh` reads it back.
fn quote(word: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for &byte in word {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            b'%' => quoted.extend_from_slice(b"%%"),
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
            args: vec!["__fdpass".into()],
        };
        assert_eq!(
            proxy_command(&helper, Path::new("/tmp/s0")),
            r"'/opt/it'\''s 100 %%/advisor' '__fdpass' '/tmp/s0'"
        );
    }
}
