//! AES-GCM with VAES and VPCLMULQDQ on 256 bits: two blocks a vector.
#![forbid(unsafe_code)]

use std::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm_set_epi8, _mm256_add_epi32, _mm256_aesenc_epi128,
    _mm256_aesenclast_epi128, _mm256_broadcastsi128_si256, _mm256_bslli_epi128,
    _mm256_bsrli_epi128, _mm256_castsi256_si128, _mm256_clmulepi64_epi128,
    _mm256_extracti128_si256, _mm256_set_epi32, _mm256_set_epi64x, _mm256_shuffle_epi8,
    _mm256_shuffle_epi32, _mm256_xor_si256, _mm256_zextsi128_si256,
};

use super::fused::fused;
use crate::kernels::lanes::{in_order256, load256, load256_words, store256};

/// Blocks in a vector.
const BLOCKS: usize = 2;
type Vector = __m256i;

fused!("vaes,vpclmulqdq,avx2");

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; VECTOR]) -> Vector {
    load256(bytes)
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut [u8; VECTOR], vector: Vector) {
    store256(bytes, vector);
}

/// Less than a vector; what is missing reads as zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn load_part(bytes: &[u8]) -> Vector {
    let mut whole = Zeroizing::new([0; VECTOR]);
    whole[..bytes.len()].copy_from_slice(bytes);
    load(&whole)
}

/// Stores less than a vector and gives what it stored, filled up with zeros.
#[inline]
#[target_feature(enable = "avx2")]
fn store_part(bytes: &mut [u8], vector: Vector) -> Vector {
    let mut whole = Zeroizing::new([0; VECTOR]);
    store(&mut whole, vector);
    whole[bytes.len()..].fill(0);
    bytes.copy_from_slice(&whole[..bytes.len()]);
    load(&whole)
}

/// At most a block; four bytes, which SSH always has, need no memory.
#[inline]
#[target_feature(enable = "avx2")]
fn load_block(bytes: &[u8]) -> __m128i {
    match bytes.as_array() {
        Some(&four) => _mm_cvtsi32_si128(i32::from_le_bytes(four)),
        None => {
            let mut block = [0; aes::BLOCK];
            block[..bytes.len()].copy_from_slice(bytes);
            load128(&block)
        }
    }
}

/// Has this vector computed here and no later.
#[inline]
#[target_feature(enable = "avx2")]
fn in_order(vector: Vector) -> Vector {
    in_order256(vector)
}

/// A round key in every lane.
#[inline]
#[target_feature(enable = "avx2")]
fn round_key(key: &Key, round: usize) -> Vector {
    load256_words(&key.round_keys.as_chunks().0[round])
}

/// The powers of the hash key from the `highest`th down, one a lane.
#[inline]
#[target_feature(enable = "avx2")]
fn power(key: &Key, highest: usize) -> Vector {
    let words = key.powers[2 * (HIGHEST - highest)..].first_chunk();
    load256_words(words.expect("the powers are padded"))
}

/// The counters after `first`, one a lane.
#[inline]
#[target_feature(enable = "avx2")]
fn counters_after(first: __m128i) -> Vector {
    let ahead = _mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 1);
    _mm256_add_epi32(_mm256_broadcastsi128_si256(first), ahead)
}

/// The counters of the next vector.
#[inline]
#[target_feature(enable = "avx2")]
fn count_on(counters: Vector) -> Vector {
    _mm256_add_epi32(counters, _mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 2))
}

/// One block in the lowest lane, zeros in the others.
#[inline]
#[target_feature(enable = "avx2")]
fn lane(block: __m128i) -> Vector {
    _mm256_zextsi128_si256(block)
}

#[inline]
#[target_feature(enable = "avx2")]
fn low_lane(vector: Vector) -> __m128i {
    _mm256_castsi256_si128(vector)
}

/// The sum of all lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn fold(vector: Vector) -> __m128i {
    _mm_xor_si128(low_lane(vector), _mm256_extracti128_si256::<1>(vector))
}

#[inline]
#[target_feature(enable = "avx2")]
fn swap_bytes(vector: Vector) -> Vector {
    let reversed = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    _mm256_shuffle_epi8(vector, _mm256_broadcastsi128_si256(reversed))
}

#[inline]
#[target_feature(enable = "avx2")]
fn swap_halves(vector: Vector) -> Vector {
    _mm256_shuffle_epi32::<0b01_00_11_10>(vector)
}

/// The low half of each lane as its high half.
#[inline]
#[target_feature(enable = "avx2")]
fn up_half(vector: Vector) -> Vector {
    _mm256_bslli_epi128::<8>(vector)
}

/// The high half of each lane as its low half.
#[inline]
#[target_feature(enable = "avx2")]
fn down_half(vector: Vector) -> Vector {
    _mm256_bsrli_epi128::<8>(vector)
}

/// x^63 + x^62 + x^57, the modulus without its ends, above x^64: in the low half of each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn modulus() -> Vector {
    _mm256_set_epi64x(0, 0xc2 << 56, 0, 0xc2 << 56)
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor(a: Vector, b: Vector) -> Vector {
    _mm256_xor_si256(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor3(a: Vector, b: Vector, c: Vector) -> Vector {
    xor(a, xor(b, c))
}

#[inline]
#[target_feature(enable = "vaes,avx2")]
fn aesenc(block: Vector, key: Vector) -> Vector {
    _mm256_aesenc_epi128(block, key)
}

#[inline]
#[target_feature(enable = "vaes,avx2")]
fn aesenclast(block: Vector, key: Vector) -> Vector {
    _mm256_aesenclast_epi128(block, key)
}

#[inline]
#[target_feature(enable = "vpclmulqdq,avx2")]
fn multiply<const HALVES: i32>(a: Vector, b: Vector) -> Vector {
    _mm256_clmulepi64_epi128::<HALVES>(a, b)
}
