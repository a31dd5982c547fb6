//! ChaCha20 in 128-bit vectors: four blocks at a time, or one or two at the end.
#![forbid(unsafe_code)]

use super::{BLOCK, CONSTANTS, DOUBLE_ROUNDS, Key, XorArgs, xor_partial};
use crate::kernels::lanes::{load128, store128};
use std::arch::x86_64::*;
use zeroize::optimization_barrier;

/// One block of key stream.
type Stream = [__m128i; 4];

#[target_feature(enable = "sse2")]
pub(in crate::kernels) fn apply(args: XorArgs<'_>) {
    let (key, nonce, mut block) = (args.key, args.nonce, args.block);
    let (passes, rest) = args.data.as_chunks_mut::<{ 4 * BLOCK }>();
    for pass in passes {
        xor_blocks(pass, &four_blocks(key, nonce, block));
        block = block.wrapping_add(4);
    }
    match rest.len().div_ceil(BLOCK) {
        0 => {}
        1 => xor_blocks(rest, &by_rows::<1>(key, nonce, block)),
        2 => xor_blocks(rest, &by_rows::<2>(key, nonce, block)),
        _ => xor_blocks(rest, &four_blocks(key, nonce, block)),
    }
}

/// XORs key stream into a buffer no longer than it.
#[inline]
#[target_feature(enable = "sse2")]
fn xor_blocks(data: &mut [u8], streams: &[Stream]) {
    let (blocks, partial) = data.as_chunks_mut::<BLOCK>();
    let (used, unused) = streams.split_at(blocks.len());
    for (block, stream) in blocks.iter_mut().zip(used) {
        for (bytes, words) in block.as_chunks_mut().0.iter_mut().zip(stream) {
            store128(bytes, xor(load128(bytes), *words));
        }
    }
    if let ([_, ..], Some(stream)) = (&partial, unused.first()) {
        let mut bytes = [0; BLOCK];
        for (bytes, words) in bytes.as_chunks_mut().0.iter_mut().zip(stream) {
            store128(bytes, *words);
        }
        xor_partial(partial, &bytes);
        bytes = [0; BLOCK];
        optimization_barrier(&bytes);
    }
}

/// Four blocks: vector `i` holds word `i` of all of them until they are transposed.
#[inline]
#[target_feature(enable = "sse2")]
fn four_blocks(key: &Key, nonce: u64, block: u64) -> [Stream; 4] {
    let start = start(key, nonce, block);
    let mut x = start;
    for _ in 0..DOUBLE_ROUNDS {
        double_round!((), x);
    }
    for i in 0..16 {
        x[i] = add(x[i], start[i]);
    }
    let a = transpose([x[0], x[1], x[2], x[3]]);
    let b = transpose([x[4], x[5], x[6], x[7]]);
    let c = transpose([x[8], x[9], x[10], x[11]]);
    let d = transpose([x[12], x[13], x[14], x[15]]);
    [
        [a[0], b[0], c[0], d[0]],
        [a[1], b[1], c[1], d[1]],
        [a[2], b[2], c[2], d[2]],
        [a[3], b[3], c[3], d[3]],
    ]
}

#[inline]
#[target_feature(enable = "sse2")]
fn start(key: &Key, nonce: u64, block: u64) -> [__m128i; 16] {
    let [low, high] = counters(block);
    [
        _mm_set1_epi32(CONSTANTS[0] as i32),
        _mm_set1_epi32(CONSTANTS[1] as i32),
        _mm_set1_epi32(CONSTANTS[2] as i32),
        _mm_set1_epi32(CONSTANTS[3] as i32),
        _mm_set1_epi32(key.word(0) as i32),
        _mm_set1_epi32(key.word(1) as i32),
        _mm_set1_epi32(key.word(2) as i32),
        _mm_set1_epi32(key.word(3) as i32),
        _mm_set1_epi32(key.word(4) as i32),
        _mm_set1_epi32(key.word(5) as i32),
        _mm_set1_epi32(key.word(6) as i32),
        _mm_set1_epi32(key.word(7) as i32),
        low,
        high,
        _mm_set1_epi32(nonce as i32),
        _mm_set1_epi32((nonce >> 32) as i32),
    ]
}

/// The low and the high words of four block numbers.
#[inline]
#[target_feature(enable = "sse2")]
fn counters(block: u64) -> [__m128i; 2] {
    let block = _mm_set1_epi64x(block as i64);
    let first = _mm_castsi128_ps(_mm_add_epi64(block, _mm_set_epi64x(1, 0)));
    let second = _mm_castsi128_ps(_mm_add_epi64(block, _mm_set_epi64x(3, 2)));
    [
        _mm_castps_si128(_mm_shuffle_ps::<0x88>(first, second)),
        _mm_castps_si128(_mm_shuffle_ps::<0xdd>(first, second)),
    ]
}

/// Turns one word of four blocks per vector into four words of one block per vector.
#[inline]
#[target_feature(enable = "sse2")]
fn transpose(x: [__m128i; 4]) -> [__m128i; 4] {
    let (p, q) = (
        _mm_unpacklo_epi32(x[0], x[1]),
        _mm_unpackhi_epi32(x[0], x[1]),
    );
    let (r, s) = (
        _mm_unpacklo_epi32(x[2], x[3]),
        _mm_unpackhi_epi32(x[2], x[3]),
    );
    [
        _mm_unpacklo_epi64(p, r),
        _mm_unpackhi_epi64(p, r),
        _mm_unpacklo_epi64(q, s),
        _mm_unpackhi_epi64(q, s),
    ]
}

/// `N` blocks, a vector for each row of four words of each block.
///
/// Between the column and the diagonal round the rows turn against each other. Row b, which is ready
/// last, stays where it is, so that the shuffles are off the critical path.
#[inline]
#[target_feature(enable = "sse2")]
fn by_rows<const N: usize>(key: &Key, nonce: u64, block: u64) -> [Stream; N] {
    let [low, high] = key.halves();
    let row_a = _mm_set_epi32(
        CONSTANTS[3] as i32,
        CONSTANTS[2] as i32,
        CONSTANTS[1] as i32,
        CONSTANTS[0] as i32,
    );
    let mut start = [[row_a, load128(low), load128(high), row_a]; N];
    for (i, [.., row_d]) in start.iter_mut().enumerate() {
        *row_d = _mm_set_epi64x(nonce as i64, block.wrapping_add(i as u64) as i64);
    }
    let mut x = start;
    for _ in 0..DOUBLE_ROUNDS {
        for [a, b, c, d] in &mut x {
            quarter_rounds!((), (*a, *b, *c, *d));
            *a = _mm_shuffle_epi32::<0x93>(*a);
            *c = _mm_shuffle_epi32::<0x39>(*c);
            *d = _mm_shuffle_epi32::<0x4e>(*d);
            quarter_rounds!((), (*a, *b, *c, *d));
            *a = _mm_shuffle_epi32::<0x39>(*a);
            *c = _mm_shuffle_epi32::<0x93>(*c);
            *d = _mm_shuffle_epi32::<0x4e>(*d);
        }
    }
    for (x, start) in x.iter_mut().zip(&start) {
        for (row, start) in x.iter_mut().zip(start) {
            *row = add(*row, *start);
        }
    }
    x
}

#[inline]
#[target_feature(enable = "sse2")]
fn add(a: __m128i, b: __m128i) -> __m128i {
    _mm_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "sse2")]
fn xor(a: __m128i, b: __m128i) -> __m128i {
    _mm_xor_si128(a, b)
}

#[inline]
#[target_feature(enable = "sse2")]
fn rotate<const LEFT: i32, const RIGHT: i32>(a: __m128i, (): ()) -> __m128i {
    if LEFT == 16 {
        _mm_shufflehi_epi16::<0xb1>(_mm_shufflelo_epi16::<0xb1>(a))
    } else {
        _mm_or_si128(_mm_slli_epi32::<LEFT>(a), _mm_srli_epi32::<RIGHT>(a))
    }
}
