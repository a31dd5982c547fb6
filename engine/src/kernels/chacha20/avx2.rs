//! ChaCha20 in 256-bit vectors: eight blocks at a time, or two, four or six at the end.
#![forbid(unsafe_code)]

use super::{BLOCK, CONSTANTS, DOUBLE_ROUNDS, Key, XorArgs, xor_partial};
use crate::kernels::lanes::{load128, load256, store256};
use std::arch::x86_64::*;
use std::hint::black_box;
use zeroize::optimization_barrier;

/// One block of key stream.
type Stream = [__m256i; 2];
/// Two blocks of key stream, one after the other.
pub(super) type Pair = [Stream; 2];
/// The rows of four words of two blocks, side by side.
pub(super) type Rows = [__m256i; 4];

#[target_feature(enable = "avx2")]
pub(in crate::kernels) fn apply(args: XorArgs<'_>) {
    let (key, nonce, mut block) = (args.key, args.nonce, args.block);
    // Masks that the compiler can see make it replace one shuffle by two.
    let masks = black_box(&MASKS);
    for pass in args.data.chunks_mut(8 * BLOCK) {
        match pass.len().div_ceil(BLOCK) {
            1 | 2 => xor_pairs(pass, &by_rows::<1>(masks, key, nonce, block)),
            3 | 4 => xor_pairs(pass, &by_rows::<2>(masks, key, nonce, block)),
            5 | 6 => xor_pairs(pass, &by_rows::<3>(masks, key, nonce, block)),
            _ => xor_pairs(pass, &eight_blocks(masks, key, nonce, block)),
        }
        block = block.wrapping_add(8);
    }
}

/// XORs key stream into a buffer no longer than it.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn xor_pairs<const N: usize>(data: &mut [u8], streams: &[Pair; N]) {
    let (blocks, partial) = data.as_chunks_mut::<BLOCK>();
    let (pairs, _) = blocks.as_chunks_mut::<2>();
    if let Some(pairs) = pairs.as_mut_array::<N>() {
        // A length the compiler knows: the key stream need not pass through memory.
        for (pair, stream) in pairs.iter_mut().zip(streams) {
            xor_block(&mut pair[0], &stream[0]);
            xor_block(&mut pair[1], &stream[1]);
        }
        return;
    }
    let (used, unused) = streams.as_flattened().split_at(blocks.len());
    for (block, stream) in blocks.iter_mut().zip(used) {
        xor_block(block, stream);
    }
    if let ([_, ..], Some(stream)) = (&partial, unused.first()) {
        let mut bytes = [0; BLOCK];
        xor_block(&mut bytes, stream);
        xor_partial(partial, &bytes);
        bytes = [0; BLOCK];
        optimization_barrier(&bytes);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor_block(block: &mut [u8; BLOCK], stream: &Stream) {
    for (bytes, words) in block.as_chunks_mut().0.iter_mut().zip(stream) {
        store256(bytes, xor(load256(bytes), *words));
    }
}

/// Eight blocks: vector `i` holds word `i` of all of them until they are transposed.
#[inline]
#[target_feature(enable = "avx2")]
fn eight_blocks(masks: &Masks, key: &Key, nonce: u64, block: u64) -> [Pair; 4] {
    let start = start(key, nonce, block);
    let mut x = start;
    for _ in 0..DOUBLE_ROUNDS {
        double_round!(masks, x);
    }
    for i in 0..16 {
        x[i] = add(x[i], start[i]);
    }
    in_order(&x)
}

/// Blocks one after the other, from vectors that hold one word of all eight each.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn in_order(x: &[__m256i; 16]) -> [Pair; 4] {
    let a = transpose([x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]]);
    let b = transpose([x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15]]);
    [
        [[a[0], b[0]], [a[1], b[1]]],
        [[a[2], b[2]], [a[3], b[3]]],
        [[a[4], b[4]], [a[5], b[5]]],
        [[a[6], b[6]], [a[7], b[7]]],
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn start(key: &Key, nonce: u64, block: u64) -> [__m256i; 16] {
    let [low, high] = counters(block);
    [
        _mm256_set1_epi32(CONSTANTS[0] as i32),
        _mm256_set1_epi32(CONSTANTS[1] as i32),
        _mm256_set1_epi32(CONSTANTS[2] as i32),
        _mm256_set1_epi32(CONSTANTS[3] as i32),
        _mm256_set1_epi32(key.word(0) as i32),
        _mm256_set1_epi32(key.word(1) as i32),
        _mm256_set1_epi32(key.word(2) as i32),
        _mm256_set1_epi32(key.word(3) as i32),
        _mm256_set1_epi32(key.word(4) as i32),
        _mm256_set1_epi32(key.word(5) as i32),
        _mm256_set1_epi32(key.word(6) as i32),
        _mm256_set1_epi32(key.word(7) as i32),
        low,
        high,
        _mm256_set1_epi32(nonce as i32),
        _mm256_set1_epi32((nonce >> 32) as i32),
    ]
}

/// The low and the high words of eight block numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn counters(block: u64) -> [__m256i; 2] {
    let block = _mm256_set1_epi64x(block as i64);
    // The shuffles work in each half, so the numbers start out where they will put them in order.
    let first = _mm256_add_epi64(block, _mm256_set_epi64x(5, 4, 1, 0));
    let second = _mm256_add_epi64(block, _mm256_set_epi64x(7, 6, 3, 2));
    let (first, second) = (_mm256_castsi256_ps(first), _mm256_castsi256_ps(second));
    [
        _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(first, second)),
        _mm256_castps_si256(_mm256_shuffle_ps::<0xdd>(first, second)),
    ]
}

/// Turns one word of eight blocks per vector into eight words of one block per vector.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(x: [__m256i; 8]) -> [__m256i; 8] {
    let a = transpose_halves([x[0], x[1], x[2], x[3]]);
    let b = transpose_halves([x[4], x[5], x[6], x[7]]);
    [
        _mm256_permute2x128_si256::<0x20>(a[0], b[0]),
        _mm256_permute2x128_si256::<0x20>(a[1], b[1]),
        _mm256_permute2x128_si256::<0x20>(a[2], b[2]),
        _mm256_permute2x128_si256::<0x20>(a[3], b[3]),
        _mm256_permute2x128_si256::<0x31>(a[0], b[0]),
        _mm256_permute2x128_si256::<0x31>(a[1], b[1]),
        _mm256_permute2x128_si256::<0x31>(a[2], b[2]),
        _mm256_permute2x128_si256::<0x31>(a[3], b[3]),
    ]
}

/// Vector `i` of the result has the four words of block `i` in its low half, of block `4 + i` in the high one.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_halves(x: [__m256i; 4]) -> [__m256i; 4] {
    let p = _mm256_unpacklo_epi32(x[0], x[1]);
    let q = _mm256_unpackhi_epi32(x[0], x[1]);
    let r = _mm256_unpacklo_epi32(x[2], x[3]);
    let s = _mm256_unpackhi_epi32(x[2], x[3]);
    [
        _mm256_unpacklo_epi64(p, r),
        _mm256_unpackhi_epi64(p, r),
        _mm256_unpacklo_epi64(q, s),
        _mm256_unpackhi_epi64(q, s),
    ]
}

/// `N` pairs of blocks, by rows.
#[inline]
#[target_feature(enable = "avx2")]
fn by_rows<const N: usize>(masks: &Masks, key: &Key, nonce: u64, block: u64) -> [Pair; N] {
    mixed(masks, &rows(key, nonce, block))
}

/// The first four blocks of a message with a header: block 0 of the header's key, blocks 0 to 2 of the other.
#[target_feature(enable = "avx2")]
pub(in crate::kernels) fn first_blocks(
    header: &Key,
    main: &Key,
    nonce: u64,
    blocks: &mut [[u8; BLOCK]; 4],
) {
    let [head] = rows(header, nonce, 0);
    let [mut first, second] = rows(main, nonce, u64::MAX);
    for i in 0..4 {
        first[i] = _mm256_blend_epi32::<0x0f>(first[i], head[i]);
    }
    let streams = mixed(black_box(&MASKS), &[first, second]);
    for (block, stream) in blocks.iter_mut().zip(streams.as_flattened()) {
        for (bytes, words) in block.as_chunks_mut().0.iter_mut().zip(stream) {
            store256(bytes, *words);
        }
    }
}

/// The key stream of `N` pairs of states.
///
/// Between the column and the diagonal round the rows turn against each other. Row b, which is ready
/// last, stays where it is, so that the shuffles are off the critical path.
#[inline]
#[target_feature(enable = "avx2")]
fn mixed<const N: usize>(masks: &Masks, start: &[Rows; N]) -> [Pair; N] {
    let mut x = *start;
    for _ in 0..DOUBLE_ROUNDS {
        for [a, b, c, d] in &mut x {
            quarter_rounds!(masks, (*a, *b, *c, *d));
            *a = _mm256_shuffle_epi32::<0x93>(*a);
            *c = _mm256_shuffle_epi32::<0x39>(*c);
            *d = _mm256_shuffle_epi32::<0x4e>(*d);
            quarter_rounds!(masks, (*a, *b, *c, *d));
            *a = _mm256_shuffle_epi32::<0x39>(*a);
            *c = _mm256_shuffle_epi32::<0x93>(*c);
            *d = _mm256_shuffle_epi32::<0x4e>(*d);
        }
    }
    from_rows(x, start)
}

/// The states of `N` pairs of blocks.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn rows<const N: usize>(key: &Key, nonce: u64, block: u64) -> [Rows; N] {
    let [low, high] = key.halves();
    let row_a = _mm256_broadcastsi128_si256(_mm_set_epi32(
        CONSTANTS[3] as i32,
        CONSTANTS[2] as i32,
        CONSTANTS[1] as i32,
        CONSTANTS[0] as i32,
    ));
    let row_b = _mm256_broadcastsi128_si256(load128(low));
    let row_c = _mm256_broadcastsi128_si256(load128(high));
    let mut start = [[row_a, row_b, row_c, row_a]; N];
    for (i, [.., row_d]) in start.iter_mut().enumerate() {
        let first = block.wrapping_add(2 * i as u64);
        let second = first.wrapping_add(1);
        *row_d = _mm256_set_epi64x(nonce as i64, second as i64, nonce as i64, first as i64);
    }
    start
}

/// The key stream of mixed states: the states they started from are added, block follows block.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn from_rows<const N: usize>(x: [Rows; N], start: &[Rows; N]) -> [Pair; N] {
    let zero = _mm256_setzero_si256();
    let mut streams = [[[zero; 2]; 2]; N];
    for (stream, (x, start)) in streams.iter_mut().zip(x.iter().zip(start)) {
        let (a, b) = (add(x[0], start[0]), add(x[1], start[1]));
        let (c, d) = (add(x[2], start[2]), add(x[3], start[3]));
        *stream = [
            [
                _mm256_permute2x128_si256::<0x20>(a, b),
                _mm256_permute2x128_si256::<0x20>(c, d),
            ],
            [
                _mm256_permute2x128_si256::<0x31>(a, b),
                _mm256_permute2x128_si256::<0x31>(c, d),
            ],
        ];
    }
    streams
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(a: __m256i, b: __m256i) -> __m256i {
    _mm256_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor(a: __m256i, b: __m256i) -> __m256i {
    _mm256_xor_si256(a, b)
}

/// What to shuffle bytes by in order to rotate words to the left.
struct Masks {
    by_16: [u8; 32],
    by_8: [u8; 32],
}

const MASKS: Masks = Masks {
    by_16: both_halves([2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13]),
    by_8: both_halves([3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14]),
};

const fn both_halves(half: [u8; 16]) -> [u8; 32] {
    let mut both = [0; 32];
    let mut i = 0;
    while i < both.len() {
        both[i] = half[i % 16];
        i += 1;
    }
    both
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate<const LEFT: i32, const RIGHT: i32>(a: __m256i, masks: &Masks) -> __m256i {
    match LEFT {
        16 => _mm256_shuffle_epi8(a, load256(&masks.by_16)),
        8 => _mm256_shuffle_epi8(a, load256(&masks.by_8)),
        _ => _mm256_or_si256(_mm256_slli_epi32::<LEFT>(a), _mm256_srli_epi32::<RIGHT>(a)),
    }
}
