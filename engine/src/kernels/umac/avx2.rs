//! NH with AVX2: the low halves of two units in one register, the high halves in another.
#![forbid(unsafe_code)]

use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_add_epi64, _mm256_mul_epu32, _mm256_permute2x128_si256,
    _mm256_setzero_si256, _mm256_srli_epi64,
};

use super::{CHUNK, HashArgs, Key, UNIT, sse2};
use crate::kernels::lanes::{load256, load256_quads, store256_words};

/// Units a step.
const WIDE: usize = 2;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn hash(args: HashArgs) {
    match args.streams {
        2 => hash_streams::<2>(args),
        _ => hash_streams::<4>(args),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn hash_streams<const STREAMS: usize>(args: HashArgs) {
    for (units, sums) in args.units.chunks(CHUNK / UNIT).zip(args.sums) {
        let (pairs, rest) = units.as_chunks::<WIDE>();
        let wide = sum::<STREAMS>(args.key, pairs);
        let rest = sse2::sum::<STREAMS>(args.key.from(units.len() - rest.len()), rest);
        for ((sum, wide), rest) in sums.iter_mut().zip(wide).zip(rest) {
            *sum = wide.wrapping_add(rest);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum<const STREAMS: usize>(key: Key<'_>, pairs: &[[[u8; UNIT]; WIDE]]) -> [u64; STREAMS] {
    let mut totals = [_mm256_setzero_si256(); STREAMS];
    for (number, [first, second]) in (0..).step_by(WIDE).zip(pairs) {
        let (first, second) = (load256(first), load256(second));
        let low = _mm256_permute2x128_si256::<0x20>(first, second);
        let high = _mm256_permute2x128_si256::<0x31>(first, second);
        for (stream, total) in totals.iter_mut().enumerate() {
            let (low_key, high_key) = key.pair(number, stream);
            let low = _mm256_add_epi32(low, load256_quads(low_key));
            let high = _mm256_add_epi32(high, load256_quads(high_key));
            *total = _mm256_add_epi64(*total, products(low, high));
        }
    }
    let mut sums = [0; STREAMS];
    for (sum, total) in sums.iter_mut().zip(totals) {
        let mut parts = [0; 4];
        store256_words(&mut parts, total);
        *sum = parts.into_iter().fold(0, u64::wrapping_add);
    }
    sums
}

/// The products of all eight words, in four sums.
#[inline]
#[target_feature(enable = "avx2")]
fn products(low: __m256i, high: __m256i) -> __m256i {
    let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(low), _mm256_srli_epi64::<32>(high));
    _mm256_add_epi64(_mm256_mul_epu32(low, high), odd)
}
