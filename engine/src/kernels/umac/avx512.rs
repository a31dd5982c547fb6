//! NH with AVX-512: the low halves of four units in one register, the high halves in another.
#![forbid(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_add_epi64, _mm512_mul_epu32, _mm512_reduce_add_epi64,
    _mm512_setzero_si512, _mm512_shuffle_i64x2, _mm512_srli_epi64,
};

use super::{CHUNK, HashArgs, Key, UNIT, sse2};
use crate::kernels::lanes::{load512, load512_quads};

/// Units a step.
const WIDE: usize = 4;

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
pub(super) fn hash(args: HashArgs) {
    match args.streams {
        2 => hash_streams::<2>(args),
        _ => hash_streams::<4>(args),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
fn hash_streams<const STREAMS: usize>(args: HashArgs) {
    for (units, sums) in args.units.chunks(CHUNK / UNIT).zip(args.sums) {
        let (fours, rest) = units.as_chunks::<WIDE>();
        let wide = sum::<STREAMS>(args.key, fours);
        let rest = sse2::sum::<STREAMS>(args.key.from(units.len() - rest.len()), rest);
        for ((sum, wide), rest) in sums.iter_mut().zip(wide).zip(rest) {
            *sum = wide.wrapping_add(rest);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
fn sum<const STREAMS: usize>(key: Key<'_>, fours: &[[[u8; UNIT]; WIDE]]) -> [u64; STREAMS] {
    let mut totals = [_mm512_setzero_si512(); STREAMS];
    for (number, four) in (0..).step_by(WIDE).zip(fours) {
        let halves = four.as_flattened().as_chunks::<64>().0;
        let (front, back) = (load512(&halves[0]), load512(&halves[1]));
        let low = _mm512_shuffle_i64x2::<0b10_00_10_00>(front, back);
        let high = _mm512_shuffle_i64x2::<0b11_01_11_01>(front, back);
        for (stream, total) in totals.iter_mut().enumerate() {
            let (low_key, high_key) = key.pair(number, stream);
            let low = _mm512_add_epi32(low, load512_quads(low_key));
            let high = _mm512_add_epi32(high, load512_quads(high_key));
            *total = _mm512_add_epi64(*total, products(low, high));
        }
    }
    totals.map(|total| _mm512_reduce_add_epi64(total) as u64)
}

/// The products of all sixteen words, in eight sums.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
fn products(low: __m512i, high: __m512i) -> __m512i {
    let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(low), _mm512_srli_epi64::<32>(high));
    _mm512_add_epi64(_mm512_mul_epu32(low, high), odd)
}
