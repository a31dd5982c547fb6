//! The first bytes of an SSH connection: the version line and `SSH_MSG_KEXINIT` (RFC 4253 §4.2, §7.1).
#![forbid(unsafe_code)]

/// What one end says before anything is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Greeting {
    /// `SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u10`
    pub(super) version: String,
    /// The ten name-lists, in the order of RFC 4253 §7.1.
    pub(super) lists: [Vec<String>; LISTS],
}

/// Key exchange, host key, then cipher, MAC, compression and language, each to the server and to the client.
const LISTS: usize = 10;

const SSH_MSG_KEXINIT: u8 = 20;

/// Bytes behind the message number that make each KEXINIT another one.
const COOKIE: usize = 16;

/// What is wrong with what a program sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Malformed {
    #[error("no version line")]
    NoVersion,
    #[error("no whole packet behind the version line")]
    Short,
    #[error("the first packet is no KEXINIT")]
    OtherMessage,
}

/// Reads what one end sent. What stands before the version line, and behind the packet, does not matter.
pub(super) fn read(bytes: &[u8]) -> Result<Greeting, Malformed> {
    let (version, rest) = version_line(bytes).ok_or(Malformed::NoVersion)?;
    let payload = payload(rest).ok_or(Malformed::Short)?;
    let [SSH_MSG_KEXINIT, body @ ..] = payload else {
        return Err(Malformed::OtherMessage);
    };
    let mut body = body.get(COOKIE..).ok_or(Malformed::Short)?;
    let mut lists: [Vec<String>; LISTS] = Default::default();
    for list in &mut lists {
        *list = name_list(&mut body).ok_or(Malformed::Short)?;
    }
    Ok(Greeting { version, lists })
}

fn version_line(bytes: &[u8]) -> Option<(String, &[u8])> {
    let mut rest = bytes;
    loop {
        let end = rest.iter().position(|&byte| byte == b'\n')?;
        let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
        rest = &rest[end + 1..];
        if line.starts_with(b"SSH-") {
            return Some((String::from_utf8_lossy(line).into_owned(), rest));
        }
    }
}

/// The payload of an unencrypted packet: length, padding length, payload, padding.
fn payload(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = number(bytes)?;
    let packet = rest.get(..length)?;
    let (&padding, packet) = packet.split_first()?;
    packet.get(..packet.len().checked_sub(padding.into())?)
}

fn name_list(body: &mut &[u8]) -> Option<Vec<String>> {
    let (length, rest) = number(body)?;
    let (list, rest) = rest.split_at_checked(length)?;
    *body = rest;
    let names = list.split(|&byte| byte == b',');
    let names = names.filter(|name| !name.is_empty());
    Some(
        names
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect(),
    )
}

fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((usize::try_from(u32::from_be_bytes(*number)).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeting(lists: [&str; LISTS]) -> Vec<u8> {
        let mut payload = vec![SSH_MSG_KEXINIT];
        payload.extend([7; COOKIE]);
        for list in lists {
            payload.extend(u32::try_from(list.len()).unwrap().to_be_bytes());
            payload.extend(list.as_bytes());
        }
        payload.extend([0; 5]);
        let mut bytes = b"hello\r\nSSH-2.0-Test\r\n".to_vec();
        bytes.extend((u32::try_from(payload.len()).unwrap() + 1 + 4).to_be_bytes());
        bytes.push(4);
        bytes.extend(payload);
        bytes.extend([0; 4]);
        bytes
    }

    #[test]
    fn lists_come_in_their_order() {
        let bytes = greeting(["k,s", "h", "c1,c2", "c3", "m", "m", "none", "none", "", ""]);
        let read = read(&bytes).unwrap();
        assert_eq!(read.version, "SSH-2.0-Test");
        assert_eq!(read.lists[0], ["k", "s"]);
        assert_eq!(read.lists[2], ["c1", "c2"]);
        assert_eq!(read.lists[3], ["c3"]);
        assert!(read.lists[9].is_empty());
    }

    #[test]
    fn no_beginning_of_it_panics_and_none_is_taken_for_the_whole() {
        let bytes = greeting(["k", "h", "c", "c", "m", "m", "n", "n", "", ""]);
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "{end}");
        }
        for at in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut other = bytes.clone();
                other[at] ^= flip;
                let _ = read(&other);
            }
        }
    }

    #[test]
    fn another_message_is_none() {
        let mut bytes = greeting([""; LISTS]);
        let number = bytes
            .iter()
            .position(|&byte| byte == SSH_MSG_KEXINIT)
            .unwrap();
        bytes[number] = 1;
        assert_eq!(read(&bytes), Err(Malformed::OtherMessage));
    }
}
