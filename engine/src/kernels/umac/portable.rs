//! NH in plain integers, of the kind that OpenSSH's umac.c compiles to.
#![forbid(unsafe_code)]

use super::{CHUNK, HashArgs, Quad, UNIT};

pub(super) fn hash(args: HashArgs) {
    match args.streams {
        2 => hash_streams::<2, 3>(args),
        _ => hash_streams::<4, 5>(args),
    }
}

/// Each unit meets `QUADS` quads of key, one more than there are streams.
fn hash_streams<const STREAMS: usize, const QUADS: usize>(args: HashArgs) {
    for (units, sums) in args.units.chunks(CHUNK / UNIT).zip(args.sums) {
        let mut totals = [0u64; STREAMS];
        for (unit, key) in units.iter().zip(args.key.windows(QUADS).step_by(2)) {
            let (low, high) = words(unit);
            for (total, pair) in totals.iter_mut().zip(key.windows(2)) {
                *total = total.wrapping_add(products(low, high, &pair[0], &pair[1]));
            }
        }
        sums[..STREAMS].copy_from_slice(&totals);
    }
}

/// The little-endian words of a unit, which RFC 4418 makes by swapping bytes first.
#[inline]
fn words(unit: &[u8; UNIT]) -> (Quad, Quad) {
    let words = unit.as_chunks::<4>().0;
    let quad = |from: usize| std::array::from_fn(|i| u32::from_le_bytes(words[from + i]));
    (quad(0), quad(4))
}

#[inline]
fn products(low: Quad, high: Quad, low_key: &Quad, high_key: &Quad) -> u64 {
    (0..4).fold(0u64, |sum, i| {
        let left = u64::from(low[i].wrapping_add(low_key[i]));
        let right = u64::from(high[i].wrapping_add(high_key[i]));
        sum.wrapping_add(left * right)
    })
}
