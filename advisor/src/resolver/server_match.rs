//! The criteria of a `Match` line in `sshd_config` (`match_cfg_line` in `servconf.c`), as read at start-up:
//! there is no connection yet, so the values of those about one are only checked.
#![forbid(unsafe_code)]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use engine::installed::releases::Release;

use super::client_match::{BadMatch, is_version};
use super::keywords::COMPLETE;
use super::patterns::Activity;
use super::server::Server;
use super::{Location, Severity, show};
use crate::files::Files;
use crate::syntax::Words;

impl Server<'_> {
    /// Whether a `Match` line is active at start-up: `Match all` is, and one that asks for this version only.
    pub(super) fn matches(
        &mut self,
        words: &mut Words<'_>,
        at: &Location,
    ) -> Result<Activity, BadMatch> {
        let modern = self.request.release >= Release::new(8, 7);
        let comment = |word: &[u8]| modern && word.first() == Some(&b'#');
        let (mut result, mut criteria) = (Activity::Yes, 0);
        while let Some(word) = words.next().filter(|word| !word.is_empty()) {
            if comment(&word) {
                words.finish();
                break;
            }
            criteria += 1;
            let name = word.to_ascii_lowercase();
            if name == b"invalid-user" && self.request.release >= Release::new(9, 9) {
                result = Activity::No;
                continue; // The one beside all that takes no value.
            }
            let value = words.next().unwrap_or_default();
            if name == b"all" {
                if criteria > 1 || !(value.is_empty() || comment(&value)) {
                    return Err(BadMatch::new(
                        "'all' cannot be combined with other Match attributes",
                        "let all stand alone",
                    ));
                }
                if comment(&value) {
                    words.finish();
                }
                return Ok(Activity::Yes);
            }
            if value.is_empty() || comment(&value) {
                return Err(BadMatch::missing(&word));
            }
            result = result.min(self.criterion(&name, &value, at)?);
        }
        if criteria == 0 {
            return Err(BadMatch::nothing());
        }
        Ok(result)
    }

    fn criterion(
        &mut self,
        name: &[u8],
        value: &[u8],
        at: &Location,
    ) -> Result<Activity, BadMatch> {
        match name {
            b"user" | b"group" | b"host" | b"rdomain" => Ok(Activity::No),
            b"version" if self.request.release >= Release::new(10, 0) => {
                Ok(is_version(self.request.version.as_deref(), value))
            }
            b"address" | b"localaddress" if is_address_list(value) => Ok(Activity::No),
            b"address" | b"localaddress" => Err(BadMatch::new(
                format!("Invalid Match {} argument '{}'", show(name), show(value)),
                "clear the bits behind the prefix, and leave no item empty",
            )),
            b"localport" if is_port(value, self.reading.files) => Ok(Activity::No),
            b"localport" => Err(BadMatch::new(
                format!("Invalid LocalPort '{}' on Match line", show(value)),
                "give one port number",
            )),
            _ if self.request.release > COMPLETE => {
                self.reading.report(
                    Severity::Warning,
                    at.clone(),
                    &format!("Unsupported Match attribute {}", show(name)),
                    "check that your sshd knows this criterion",
                );
                Ok(Activity::No)
            }
            _ => Err(BadMatch::unsupported(name, self.request.release)),
        }
    }
}

/// A number, or the name of a TCP service.
fn is_port(value: &[u8], files: &dyn Files) -> bool {
    let Ok(text) = str::from_utf8(value) else {
        return false;
    };
    let number = text.trim_start().parse::<i64>();
    if let Ok(number) = number {
        return (0..=65535).contains(&number);
    }
    let Ok(services) = files.read(Path::new("/etc/services")) else {
        // Not known, so not judged.
        return true;
    };
    String::from_utf8_lossy(&services).lines().any(|line| {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let name = words.next();
        let is_tcp = words.next().is_some_and(|port| port.ends_with("/tcp"));
        is_tcp && name.into_iter().chain(words).any(|known| known == text)
    })
}

/// Addresses, networks and patterns. What is no address is a pattern, and any pattern will do; a network must
/// not have bits set behind its prefix (`addrmatch.c`).
fn is_address_list(list: &[u8]) -> bool {
    list.split(|&byte| byte == b',').all(|item| {
        let item = item.strip_prefix(b"!").unwrap_or(item);
        !item.is_empty() && is_consistent(item)
    })
}

fn is_consistent(item: &[u8]) -> bool {
    const LONGEST: usize = 63;
    let Some(text) = str::from_utf8(item)
        .ok()
        .filter(|text| text.len() <= LONGEST)
    else {
        return true;
    };
    let (address, prefix) = match text.split_once('/') {
        None => (text, None),
        Some((address, prefix)) => {
            let digits = prefix.bytes().all(|byte| byte.is_ascii_digit());
            match prefix.parse::<u32>() {
                Ok(length) if digits && length <= 128 => (address, Some(length)),
                _ => return true,
            }
        }
    };
    let Some(prefix) = prefix else {
        return true;
    };
    match numeric_address(address) {
        None => true,
        Some(IpAddr::V4(address)) => prefix <= 32 && no_bits_behind(address, prefix),
        Some(IpAddr::V6(address)) => no_bits_behind_v6(address, prefix),
    }
}

fn no_bits_behind(address: Ipv4Addr, prefix: u32) -> bool {
    address.to_bits().checked_shl(prefix).unwrap_or(0) == 0
}

fn no_bits_behind_v6(address: Ipv6Addr, prefix: u32) -> bool {
    address.to_bits().checked_shl(prefix).unwrap_or(0) == 0
}

/// An address as `getaddrinfo` reads numbers: IPv4 also with fewer than four parts, octal and hexadecimal.
fn numeric_address(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let parts: Vec<u64> = text.split('.').map(c_number).collect::<Option<_>>()?;
    let (last, leading) = parts.split_last()?;
    let room = 32
        - 8 * u32::try_from(leading.len())
            .ok()
            .filter(|&count| count < 4)?;
    if leading.iter().any(|&part| part > 255) || *last >= 1 << room {
        return None;
    }
    let high = leading.iter().enumerate();
    let bits = high.fold(*last, |bits, (at, part)| bits | part << (24 - 8 * at));
    u32::try_from(bits)
        .ok()
        .map(|bits| Ipv4Addr::from_bits(bits).into())
}

fn c_number(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let radix = if lower.starts_with('0') { 8 } else { 10 };
    let signed = lower.starts_with(['+', '-']);
    (!signed).then(|| u64::from_str_radix(&lower, radix).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_have_no_bits_behind_their_prefix() {
        for (list, valid) in [
            ("10.0.0.0/8", true),
            ("10.0.0.1/8", false),
            ("10/8", false),
            ("192.168.*", true),
            ("0/0", true),
            ("1.2.3.4/33", false),
            ("fe80::/10", true),
            ("fe80::1/64", false),
            ("!10.0.0.0/8,*", true),
            ("a,,b", false),
            ("1.2.3.4/x", true),
        ] {
            assert_eq!(is_address_list(list.as_bytes()), valid, "{list}");
        }
    }
}
