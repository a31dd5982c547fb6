//! NH in plain integers, at the pace of OpenSSH's own umac.c: the provider that stands for the
//! installed ssh takes this row.
//!
//! umac.c fetches every word of the message with `get_u32_le`, a function of another file (misc.c)
//! that no compiler inlines. That call, not the arithmetic, is what UMAC costs in ssh, so it is made
//! here too. Some builds of OpenSSH clear every register whenever a function returns, thirty instructions
//! for every four bytes: Debian 12's does. The row `portable, clearing` stands for those.
#![forbid(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use super::wipe;
use super::{CHUNK, HashArgs, Quad, UNIT};

pub(super) fn hash(args: HashArgs) {
    match args.streams {
        2 => hash_streams::<2>(args, word),
        _ => hash_streams::<4>(args, word),
    }
}

/// The row `portable, clearing`.
#[cfg(target_arch = "x86_64")]
pub(super) fn hash_clearing(args: HashArgs) {
    match args.streams {
        2 => hash_streams::<2>(args, word_clearing),
        _ => hash_streams::<4>(args, word_clearing),
    }
}

#[inline(always)]
fn hash_streams<const STREAMS: usize>(args: HashArgs, word: impl Fn(&[u8; 4]) -> u32) {
    for (units, sums) in args.units.chunks(CHUNK / UNIT).zip(args.sums) {
        let mut totals = [0u64; STREAMS];
        for (unit, key) in units.iter().zip(args.key.units::<STREAMS>()) {
            let words = unit.as_chunks::<4>().0;
            let low = std::array::from_fn(|i| word(&words[i]));
            let high = std::array::from_fn(|i| word(&words[4 + i]));
            for (stream, total) in totals.iter_mut().enumerate() {
                let ([low_key], [high_key]) = key.pair(0, stream);
                *total = total.wrapping_add(products(&low, &high, low_key, high_key));
            }
        }
        sums[..STREAMS].copy_from_slice(&totals);
    }
}

/// A word of the message, little-endian: RFC 4418 has it big-endian after swapping the bytes.
#[inline(never)]
fn word(bytes: &[u8; 4]) -> u32 {
    u32::from_le_bytes(*bytes)
}

/// The same in a build that clears every register a caller saves before it returns.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn word_clearing(bytes: &[u8; 4]) -> u32 {
    let word = u32::from_le_bytes(*bytes);
    wipe::call_used();
    word
}

#[inline]
fn products(low: &Quad, high: &Quad, low_key: &Quad, high_key: &Quad) -> u64 {
    (0..4).fold(0u64, |sum, i| {
        let left = u64::from(low[i].wrapping_add(low_key[i]));
        let right = u64::from(high[i].wrapping_add(high_key[i]));
        sum.wrapping_add(left * right)
    })
}
