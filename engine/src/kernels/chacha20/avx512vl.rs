//! ChaCha20 in 256-bit vectors with the rotations and the 32 registers of AVX-512: eight blocks at a
//! time, or two, four or six at the end.
//!
//! For processors that slow down under 512-bit vectors. How blocks are laid out is the `avx2` row's.
#![forbid(unsafe_code)]

use super::avx2::{Pair, Rows, from_rows, in_order, rows, start, xor_pairs};
use super::{BLOCK, DOUBLE_ROUNDS, Key, XorArgs};
use std::arch::x86_64::*;

#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn apply(args: XorArgs<'_>) {
    let (key, nonce, mut block) = (args.key, args.nonce, args.block);
    for pass in args.data.chunks_mut(8 * BLOCK) {
        match pass.len().div_ceil(2 * BLOCK) {
            1 => xor_pairs(pass, &by_rows::<1>(key, nonce, block)),
            2 => xor_pairs(pass, &by_rows::<2>(key, nonce, block)),
            3 => xor_pairs(pass, &by_rows::<3>(key, nonce, block)),
            _ => xor_pairs(pass, &eight_blocks(key, nonce, block)),
        }
        block = block.wrapping_add(8);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn eight_blocks(key: &Key, nonce: u64, block: u64) -> [Pair; 4] {
    let start = start(key, nonce, block);
    let mut x = start;
    for _ in 0..DOUBLE_ROUNDS {
        double_round!((), x);
    }
    for i in 0..16 {
        x[i] = add(x[i], start[i]);
    }
    in_order(&x)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn by_rows<const N: usize>(key: &Key, nonce: u64, block: u64) -> [Pair; N] {
    let start: [Rows; N] = rows(key, nonce, block);
    let mut x = start;
    for _ in 0..DOUBLE_ROUNDS {
        for [a, b, c, d] in &mut x {
            quarter_rounds!((), (*a, *b, *c, *d));
            *a = _mm256_shuffle_epi32::<0x93>(*a);
            *c = _mm256_shuffle_epi32::<0x39>(*c);
            *d = _mm256_shuffle_epi32::<0x4e>(*d);
            quarter_rounds!((), (*a, *b, *c, *d));
            *a = _mm256_shuffle_epi32::<0x39>(*a);
            *c = _mm256_shuffle_epi32::<0x93>(*c);
            *d = _mm256_shuffle_epi32::<0x4e>(*d);
        }
    }
    from_rows(x, &start)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn add(a: __m256i, b: __m256i) -> __m256i {
    _mm256_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn xor(a: __m256i, b: __m256i) -> __m256i {
    _mm256_xor_si256(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn rotate<const LEFT: i32, const RIGHT: i32>(a: __m256i, (): ()) -> __m256i {
    _mm256_rol_epi32::<LEFT>(a)
}
