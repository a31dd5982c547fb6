//! ChaCha20 in 512-bit vectors: sixteen blocks at a time, or four, eight or twelve at the end.
#![forbid(unsafe_code)]

use super::{BLOCK, CONSTANTS, DOUBLE_ROUNDS, Key, XorArgs};
use crate::kernels::lanes::{load128, load512, load512_part, store512, store512_part};
use std::arch::x86_64::*;
use std::hint::black_box;

/// Four blocks of key stream, one after the other.
pub(in crate::kernels) type Four = [__m512i; 4];
/// The rows of four words of four blocks, side by side.
pub(in crate::kernels) type Rows = [__m512i; 4];
/// One word of sixteen blocks in each vector.
pub(in crate::kernels) type Words = [__m512i; 16];

#[target_feature(enable = "avx512f,avx512bw")]
pub(in crate::kernels) fn apply(args: XorArgs<'_>) {
    let (key, nonce, mut block) = (args.key, args.nonce, args.block);
    // Words the compiler can see would be kept in sixteen registers, and those on the stack.
    let state = black_box(words(key, nonce));
    for pass in args.data.chunks_mut(16 * BLOCK) {
        match pass.len().div_ceil(4 * BLOCK) {
            1 => xor_fours(pass, &by_rows::<1>(key, nonce, block)),
            2 => xor_fours(pass, &by_rows::<2>(key, nonce, block)),
            3 => xor_fours(pass, &by_rows::<3>(key, nonce, block)),
            _ => xor_fours(pass, &sixteen_blocks(&state, block)),
        }
        block = block.wrapping_add(16);
    }
}

/// XORs key stream into a buffer no longer than it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(in crate::kernels) fn xor_fours<const N: usize>(data: &mut [u8], streams: &[Four; N]) {
    let (blocks, _) = data.as_chunks_mut::<BLOCK>();
    let (fours, _) = blocks.as_chunks_mut::<4>();
    if let Some(fours) = fours.as_mut_array::<N>() {
        for (four, stream) in fours.iter_mut().zip(streams) {
            for (block, stream) in four.iter_mut().zip(stream) {
                store512(block, xor(load512(block), *stream));
            }
        }
        return;
    }
    for (part, stream) in data.chunks_mut(BLOCK).zip(streams.as_flattened()) {
        store512_part(part, xor(load512_part(part), *stream));
    }
}

/// The state of block 0, its words one by one.
#[inline]
pub(in crate::kernels) fn words(key: &Key, nonce: u64) -> [u32; 16] {
    let mut words = [0; 16];
    words[..4].copy_from_slice(&CONSTANTS);
    for i in 0..8 {
        words[4 + i] = key.word(i);
    }
    (words[14], words[15]) = (nonce as u32, (nonce >> 32) as u32);
    words
}

/// Sixteen blocks: vector `i` holds word `i` of all of them until they are transposed.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn sixteen_blocks(state: &[u32; 16], block: u64) -> [Four; 4] {
    let mut x = start(state, block);
    for _ in 0..DOUBLE_ROUNDS {
        x = diagonal_round(column_round(x));
    }
    finish(x, state, block)
}

/// The states of sixteen blocks.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn start(state: &[u32; 16], block: u64) -> Words {
    let [low, high] = counters(block);
    let mut x = [low; 16];
    for i in 0..16 {
        x[i] = _mm512_set1_epi32(state[i] as i32);
    }
    (x[12], x[13]) = (low, high);
    x
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn column_round(mut x: Words) -> Words {
    quarter_rounds!(
        (),
        (x[0], x[4], x[8], x[12]),
        (x[1], x[5], x[9], x[13]),
        (x[2], x[6], x[10], x[14]),
        (x[3], x[7], x[11], x[15])
    );
    x
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn diagonal_round(mut x: Words) -> Words {
    quarter_rounds!(
        (),
        (x[0], x[5], x[10], x[15]),
        (x[1], x[6], x[11], x[12]),
        (x[2], x[7], x[8], x[13]),
        (x[3], x[4], x[9], x[14])
    );
    x
}

/// The key stream of sixteen mixed states.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn finish(mut x: Words, state: &[u32; 16], block: u64) -> [Four; 4] {
    let [low, high] = counters(block);
    for i in 0..12 {
        x[i] = add(x[i], _mm512_set1_epi32(state[i] as i32));
    }
    (x[12], x[13]) = (add(x[12], low), add(x[13], high));
    for i in 14..16 {
        x[i] = add(x[i], _mm512_set1_epi32(state[i] as i32));
    }
    transpose(x)
}

/// The low and the high words of sixteen block numbers.
#[inline]
#[target_feature(enable = "avx512f")]
fn counters(block: u64) -> [__m512i; 2] {
    let numbers = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let low = add(_mm512_set1_epi32(block as i32), numbers);
    let wrapped = _mm512_cmplt_epu32_mask(low, numbers);
    let high = _mm512_set1_epi32((block >> 32) as i32);
    let high = _mm512_mask_add_epi32(high, wrapped, high, _mm512_set1_epi32(1));
    [low, high]
}

/// Turns one word of sixteen blocks per vector into sixteen words of one block per vector.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(x: [__m512i; 16]) -> [Four; 4] {
    let a = transpose_quarters([x[0], x[1], x[2], x[3]]);
    let b = transpose_quarters([x[4], x[5], x[6], x[7]]);
    let c = transpose_quarters([x[8], x[9], x[10], x[11]]);
    let d = transpose_quarters([x[12], x[13], x[14], x[15]]);
    let p = gather([a[0], b[0], c[0], d[0]]);
    let q = gather([a[1], b[1], c[1], d[1]]);
    let r = gather([a[2], b[2], c[2], d[2]]);
    let s = gather([a[3], b[3], c[3], d[3]]);
    [
        [p[0], q[0], r[0], s[0]],
        [p[1], q[1], r[1], s[1]],
        [p[2], q[2], r[2], s[2]],
        [p[3], q[3], r[3], s[3]],
    ]
}

/// Quarter `j` of vector `i` of the result has the four words of block `4j + i`.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_quarters(x: [__m512i; 4]) -> [__m512i; 4] {
    let p = _mm512_unpacklo_epi32(x[0], x[1]);
    let q = _mm512_unpackhi_epi32(x[0], x[1]);
    let r = _mm512_unpacklo_epi32(x[2], x[3]);
    let s = _mm512_unpackhi_epi32(x[2], x[3]);
    [
        _mm512_unpacklo_epi64(p, r),
        _mm512_unpackhi_epi64(p, r),
        _mm512_unpacklo_epi64(q, s),
        _mm512_unpackhi_epi64(q, s),
    ]
}

/// Quarter `i` of the four vectors makes vector `i` of the result.
#[inline]
#[target_feature(enable = "avx512f")]
fn gather([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let p = _mm512_shuffle_i32x4::<0x88>(a, b);
    let q = _mm512_shuffle_i32x4::<0xdd>(a, b);
    let r = _mm512_shuffle_i32x4::<0x88>(c, d);
    let s = _mm512_shuffle_i32x4::<0xdd>(c, d);
    [
        _mm512_shuffle_i32x4::<0x88>(p, r),
        _mm512_shuffle_i32x4::<0x88>(q, s),
        _mm512_shuffle_i32x4::<0xdd>(p, r),
        _mm512_shuffle_i32x4::<0xdd>(q, s),
    ]
}

/// `N` times four blocks, by rows.
#[inline]
#[target_feature(enable = "avx512f")]
fn by_rows<const N: usize>(key: &Key, nonce: u64, block: u64) -> [Four; N] {
    let mut start = [rows(key, nonce, block); N];
    for (i, rows_of_four) in start.iter_mut().enumerate().skip(1) {
        *rows_of_four = rows(key, nonce, block.wrapping_add(4 * i as u64));
    }
    mixed(&start)
}

/// The key stream of `N` times four states.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn mixed<const N: usize>(start: &[Rows; N]) -> [Four; N] {
    let mut x = *start;
    for _ in 0..DOUBLE_ROUNDS {
        for rows in &mut x {
            *rows = double_round_of_rows(*rows);
        }
    }
    for i in 0..N {
        x[i] = finish_rows(x[i], &start[i]);
    }
    x
}

/// The states of four blocks.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn rows(key: &Key, nonce: u64, block: u64) -> Rows {
    let [low, high] = key.halves();
    let number = |i: u64| block.wrapping_add(i) as i64;
    let nonce = nonce as i64;
    [
        _mm512_broadcast_i32x4(constants()),
        _mm512_broadcast_i32x4(load128(low)),
        _mm512_broadcast_i32x4(load128(high)),
        _mm512_set_epi64(
            nonce,
            number(3),
            nonce,
            number(2),
            nonce,
            number(1),
            nonce,
            number(0),
        ),
    ]
}

/// The key stream of four mixed states.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn finish_rows(x: Rows, start: &Rows) -> Four {
    gather([
        add(x[0], start[0]),
        add(x[1], start[1]),
        add(x[2], start[2]),
        add(x[3], start[3]),
    ])
}

#[inline]
#[target_feature(enable = "sse2")]
fn constants() -> __m128i {
    let [a, b, c, d] = CONSTANTS;
    _mm_set_epi32(d as i32, c as i32, b as i32, a as i32)
}

/// Between the column and the diagonal round the rows turn against each other. Row b, which is ready
/// last, stays where it is, so that the shuffles are off the critical path.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn double_round_of_rows([mut a, mut b, mut c, mut d]: Rows) -> Rows {
    quarter_rounds!((), (a, b, c, d));
    a = _mm512_shuffle_epi32::<0x93>(a);
    c = _mm512_shuffle_epi32::<0x39>(c);
    d = _mm512_shuffle_epi32::<0x4e>(d);
    quarter_rounds!((), (a, b, c, d));
    a = _mm512_shuffle_epi32::<0x39>(a);
    c = _mm512_shuffle_epi32::<0x93>(c);
    d = _mm512_shuffle_epi32::<0x4e>(d);
    [a, b, c, d]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add(a: __m512i, b: __m512i) -> __m512i {
    _mm512_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor(a: __m512i, b: __m512i) -> __m512i {
    _mm512_xor_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn rotate<const LEFT: i32, const RIGHT: i32>(a: __m512i, (): ()) -> __m512i {
    _mm512_rol_epi32::<LEFT>(a)
}
