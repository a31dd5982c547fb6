//! AES-GCM with VAES and VPCLMULQDQ at full width: four blocks a vector, masked tails.
#![forbid(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm_set_epi8, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_xor_si256,
    _mm512_add_epi32, _mm512_aesenc_epi128, _mm512_aesenclast_epi128, _mm512_broadcast_i32x4,
    _mm512_bslli_epi128, _mm512_bsrli_epi128, _mm512_castsi512_si128, _mm512_castsi512_si256,
    _mm512_clmulepi64_epi128, _mm512_extracti64x4_epi64, _mm512_maskz_set1_epi64, _mm512_set_epi32,
    _mm512_shuffle_epi8, _mm512_shuffle_epi32, _mm512_ternarylogic_epi64, _mm512_xor_si512,
    _mm512_zextsi128_si512,
};

use super::fused::fused;
use crate::kernels::lanes::{
    in_order512, load512, load512_part, load512_words, store512, store512_part,
};

/// Blocks in a vector.
const BLOCKS: usize = 4;
type Vector = __m512i;

fused!("vaes,vpclmulqdq,avx512bw");

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; VECTOR]) -> Vector {
    load512(bytes)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(bytes: &mut [u8; VECTOR], vector: Vector) {
    store512(bytes, vector);
}

/// Less than a vector; what is missing reads as zeros.
#[inline]
#[target_feature(enable = "avx512bw")]
fn load_part(bytes: &[u8]) -> Vector {
    load512_part(bytes)
}

/// Stores less than a vector and gives what it stored, filled up with zeros.
#[inline]
#[target_feature(enable = "avx512bw")]
fn store_part(bytes: &mut [u8], vector: Vector) -> Vector {
    store512_part(bytes, vector)
}

/// At most a block.
#[inline]
#[target_feature(enable = "avx512bw")]
fn load_block(bytes: &[u8]) -> __m128i {
    low_lane(load512_part(bytes))
}

/// Has this vector computed here and no later.
#[inline]
#[target_feature(enable = "avx512f")]
fn in_order(vector: Vector) -> Vector {
    in_order512(vector)
}

/// A round key in every lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn round_key(key: &Key, round: usize) -> Vector {
    load512_words(&key.round_keys.as_chunks().0[round])
}

/// The powers of the hash key from the `highest`th down, one a lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn power(key: &Key, highest: usize) -> Vector {
    let words = key.powers[2 * (HIGHEST - highest)..].first_chunk();
    load512_words(words.expect("the powers are padded"))
}

/// The counters after `first`, one a lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn counters_after(first: __m128i) -> Vector {
    let ahead = _mm512_set_epi32(0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1);
    _mm512_add_epi32(_mm512_broadcast_i32x4(first), ahead)
}

/// The counters of the next vector.
#[inline]
#[target_feature(enable = "avx512f")]
fn count_on(counters: Vector) -> Vector {
    let four = _mm512_set_epi32(0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4);
    _mm512_add_epi32(counters, four)
}

/// One block in the lowest lane, zeros in the others.
#[inline]
#[target_feature(enable = "avx512f")]
fn lane(block: __m128i) -> Vector {
    _mm512_zextsi128_si512(block)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn low_lane(vector: Vector) -> __m128i {
    _mm512_castsi512_si128(vector)
}

/// The sum of all lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn fold(vector: Vector) -> __m128i {
    let halves = _mm256_xor_si256(
        _mm512_castsi512_si256(vector),
        _mm512_extracti64x4_epi64::<1>(vector),
    );
    _mm_xor_si128(
        _mm256_castsi256_si128(halves),
        _mm256_extracti128_si256::<1>(halves),
    )
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn swap_bytes(vector: Vector) -> Vector {
    let reversed = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    _mm512_shuffle_epi8(vector, _mm512_broadcast_i32x4(reversed))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn swap_halves(vector: Vector) -> Vector {
    _mm512_shuffle_epi32::<0b01_00_11_10>(vector)
}

/// The low half of each lane as its high half.
#[inline]
#[target_feature(enable = "avx512bw")]
fn up_half(vector: Vector) -> Vector {
    _mm512_bslli_epi128::<8>(vector)
}

/// The high half of each lane as its low half.
#[inline]
#[target_feature(enable = "avx512bw")]
fn down_half(vector: Vector) -> Vector {
    _mm512_bsrli_epi128::<8>(vector)
}

/// x^63 + x^62 + x^57, the modulus without its ends, above x^64: in the low half of each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn modulus() -> Vector {
    _mm512_maskz_set1_epi64(0b0101_0101, 0xc2 << 56)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor(a: Vector, b: Vector) -> Vector {
    _mm512_xor_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(a: Vector, b: Vector, c: Vector) -> Vector {
    _mm512_ternarylogic_epi64::<0x96>(a, b, c)
}

#[inline]
#[target_feature(enable = "vaes,avx512f")]
fn aesenc(block: Vector, key: Vector) -> Vector {
    _mm512_aesenc_epi128(block, key)
}

#[inline]
#[target_feature(enable = "vaes,avx512f")]
fn aesenclast(block: Vector, key: Vector) -> Vector {
    _mm512_aesenclast_epi128(block, key)
}

#[inline]
#[target_feature(enable = "vpclmulqdq,avx512f")]
fn multiply<const HALVES: i32>(a: Vector, b: Vector) -> Vector {
    _mm512_clmulepi64_epi128::<HALVES>(a, b)
}
