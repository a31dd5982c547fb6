//! NH with SSE2: half a unit in a register, two products an instruction.
#![forbid(unsafe_code)]

use std::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_add_epi64, _mm_mul_epu32, _mm_setzero_si128, _mm_srli_epi64,
};

use super::{CHUNK, HashArgs, Key, UNIT};
use crate::kernels::lanes::{load128, load128_quad, store128_words};

#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn hash(args: HashArgs) {
    match args.streams {
        2 => hash_streams::<2>(args),
        _ => hash_streams::<4>(args),
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn hash_streams<const STREAMS: usize>(args: HashArgs) {
    for (units, sums) in args.units.chunks(CHUNK / UNIT).zip(args.sums) {
        sums[..STREAMS].copy_from_slice(&sum::<STREAMS>(args.key, units));
    }
}

/// The sums of some units: the few that wider rows leave, too.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn sum<const STREAMS: usize>(key: Key<'_>, units: &[[u8; UNIT]]) -> [u64; STREAMS] {
    let mut totals = [_mm_setzero_si128(); STREAMS];
    for (unit, key) in units.iter().zip(key.units::<STREAMS>()) {
        let halves = unit.as_chunks::<16>().0;
        let (low, high) = (load128(&halves[0]), load128(&halves[1]));
        for (stream, total) in totals.iter_mut().enumerate() {
            let ([low_key], [high_key]) = key.pair(0, stream);
            let low = _mm_add_epi32(low, load128_quad(low_key));
            let high = _mm_add_epi32(high, load128_quad(high_key));
            *total = _mm_add_epi64(*total, products(low, high));
        }
    }
    let mut sums = [0; STREAMS];
    for (sum, total) in sums.iter_mut().zip(totals) {
        let mut pair = [0; 2];
        store128_words(&mut pair, total);
        *sum = pair[0].wrapping_add(pair[1]);
    }
    sums
}

/// The products of all four words, in two sums.
#[inline]
#[target_feature(enable = "sse2")]
fn products(low: __m128i, high: __m128i) -> __m128i {
    let odd = _mm_mul_epu32(_mm_srli_epi64::<32>(low), _mm_srli_epi64::<32>(high));
    _mm_add_epi64(_mm_mul_epu32(low, high), odd)
}
