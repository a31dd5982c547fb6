//! NH with SSE2: half a unit in a register, two products an instruction.
#![forbid(unsafe_code)]

use std::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_add_epi64, _mm_mul_epu32, _mm_setzero_si128, _mm_srli_epi64,
};

use super::{CHUNK, HashArgs, UNIT};
use crate::kernels::lanes::{load128, load128_quad, store128_words};

#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn hash(args: HashArgs) {
    match args.streams {
        2 => hash_streams::<2, 3>(args),
        _ => hash_streams::<4, 5>(args),
    }
}

/// Each unit meets `QUADS` quads of key, one more than there are streams.
#[inline]
#[target_feature(enable = "sse2")]
fn hash_streams<const STREAMS: usize, const QUADS: usize>(args: HashArgs) {
    for (units, sums) in args.units.chunks(CHUNK / UNIT).zip(args.sums) {
        let mut totals = [_mm_setzero_si128(); STREAMS];
        for (unit, key) in units.iter().zip(args.key.windows(QUADS).step_by(2)) {
            let halves = unit.as_chunks::<16>().0;
            let (low, high) = (load128(&halves[0]), load128(&halves[1]));
            for (total, pair) in totals.iter_mut().zip(key.windows(2)) {
                let low = _mm_add_epi32(low, load128_quad(&pair[0]));
                let high = _mm_add_epi32(high, load128_quad(&pair[1]));
                *total = _mm_add_epi64(*total, products(low, high));
            }
        }
        for (sum, total) in sums.iter_mut().zip(totals) {
            let mut pair = [0; 2];
            store128_words(&mut pair, total);
            *sum = pair[0].wrapping_add(pair[1]);
        }
    }
}

/// The products of all four words, in two sums.
#[inline]
#[target_feature(enable = "sse2")]
fn products(low: __m128i, high: __m128i) -> __m128i {
    let odd = _mm_mul_epu32(_mm_srli_epi64::<32>(low), _mm_srli_epi64::<32>(high));
    _mm_add_epi64(_mm_mul_epu32(low, high), odd)
}
