//! Addresses and networks in `Match` lines: which lists the programs accept (`addrmatch.c`, `addr.c`).
#![forbid(unsafe_code)]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::criteria::BadMatch;
use super::show;

/// Whether `sshd` accepts a list of addresses, networks and patterns. What is no address is a pattern, and any
/// pattern will do; a network must not have bits set behind its prefix.
pub(super) fn is_address_list(list: &[u8]) -> bool {
    list.split(|&byte| byte == b',').all(|item| {
        let item = item.strip_prefix(b"!").unwrap_or(item);
        !item.is_empty() && !matches!(network(item), Network::Inconsistent)
    })
}

/// Why `ssh` refuses a list of networks, if it does: neither patterns nor negation are allowed in it.
pub(super) fn check_networks(list: &[u8]) -> Result<(), BadMatch> {
    let bad = |item: &[u8], what| {
        BadMatch::new(
            format!("{what} \"{}\"", show(item)),
            "write networks as 192.0.2.0/24, with no bits behind the prefix, and commas between them",
        )
    };
    list.split(|&byte| byte == b',')
        .try_for_each(|item| match network(item) {
            Network::Consistent => Ok(()),
            Network::Inconsistent => Err(bad(item, "Inconsistent mask length for network")),
            Network::No => Err(bad(item, "Invalid network entry")),
        })
}

/// What an item of a list is.
enum Network {
    /// An address, with or without a prefix that fits it.
    Consistent,
    /// An address with a prefix that does not.
    Inconsistent,
    /// Something else.
    No,
}

fn network(item: &[u8]) -> Network {
    const LONGEST: usize = 63;
    let text = str::from_utf8(item).ok();
    let Some(text) = text.filter(|text| text.len() <= LONGEST) else {
        return Network::No;
    };
    let (address, prefix) = match text.split_once('/') {
        None => (text, None),
        Some((address, prefix)) => {
            let digits = prefix.bytes().all(|byte| byte.is_ascii_digit());
            match prefix.parse::<u32>() {
                Ok(length) if digits && length <= 128 => (address, Some(length)),
                _ => return Network::No,
            }
        }
    };
    match (numeric_address(address), prefix) {
        (None, _) => Network::No,
        (Some(_), None) => Network::Consistent,
        (Some(IpAddr::V4(address)), Some(prefix)) if prefix <= 32 => {
            consistent(no_bits_behind(address, prefix))
        }
        (Some(IpAddr::V4(_)), _) => Network::Inconsistent,
        (Some(IpAddr::V6(address)), Some(prefix)) => consistent(no_bits_behind_v6(address, prefix)),
    }
}

const fn consistent(is: bool) -> Network {
    if is {
        Network::Consistent
    } else {
        Network::Inconsistent
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
        for (list, address_list, networks) in [
            ("10.0.0.0/8", true, true),
            ("10.0.0.1/8", false, false),
            ("10/8", false, false),
            ("192.168.*", true, false),
            ("0/0", true, true),
            ("1.2.3.4/33", false, false),
            ("fe80::/10", true, true),
            ("fe80::1/64", false, false),
            ("!10.0.0.0/8,*", true, false),
            ("!10.0.0.0/8", true, false),
            ("a,,b", false, false),
            ("10.0.0.0/8,", false, false),
            ("1.2.3.4/x", true, false),
            ("1.2.3.4/", true, false),
            ("127.0.0.1,::/0", true, true),
        ] {
            assert_eq!(is_address_list(list.as_bytes()), address_list, "{list}");
            assert_eq!(check_networks(list.as_bytes()).is_ok(), networks, "{list}");
        }
    }
}
