//! Loads and stores of SSE2, AVX and AVX-512 registers; no alignment is asked of the arrays.

use std::arch::asm;
use std::arch::x86_64::{
    __m128i, __m256i, __m512i, __mmask64, _mm_loadu_si128, _mm_storeu_si128, _mm256_loadu_si256,
    _mm256_storeu_si256, _mm512_loadu_si512, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8,
    _mm512_maskz_mov_epi8, _mm512_storeu_si512,
};

/// Loads 16 bytes.
#[inline]
#[target_feature(enable = "sse2")]
pub(in crate::kernels) fn load128(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the array is 16 readable bytes, and the instruction needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Stores 16 bytes.
#[inline]
#[target_feature(enable = "sse2")]
pub(in crate::kernels) fn store128(bytes: &mut [u8; 16], lanes: __m128i) {
    // SAFETY: the array is 16 writable bytes, and the instruction needs no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), lanes) }
}

/// Loads two words, the first into the low half.
#[inline]
#[target_feature(enable = "sse2")]
pub(in crate::kernels) fn load128_words(words: &[u64; 2]) -> __m128i {
    // SAFETY: the array is 16 readable bytes, and the instruction needs no alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

/// Loads four short words, the first into the lowest lane.
#[inline]
#[target_feature(enable = "sse2")]
pub(in crate::kernels) fn load128_quad(words: &[u32; 4]) -> __m128i {
    // SAFETY: the array is 16 readable bytes, and the instruction needs no alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

/// Stores two words, the low half first.
#[inline]
#[target_feature(enable = "sse2")]
pub(in crate::kernels) fn store128_words(words: &mut [u64; 2], lanes: __m128i) {
    // SAFETY: the array is 16 writable bytes, and the instruction needs no alignment.
    unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), lanes) }
}

/// Loads 32 bytes.
#[inline]
#[target_feature(enable = "avx")]
pub(in crate::kernels) fn load256(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the array is 32 readable bytes, and the instruction needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Stores 32 bytes.
#[inline]
#[target_feature(enable = "avx")]
pub(in crate::kernels) fn store256(bytes: &mut [u8; 32], lanes: __m256i) {
    // SAFETY: the array is 32 writable bytes, and the instruction needs no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), lanes) }
}

/// Loads four words, the first into the lowest lane.
#[inline]
#[target_feature(enable = "avx")]
pub(in crate::kernels) fn load256_words(words: &[u64; 4]) -> __m256i {
    // SAFETY: the array is 32 readable bytes, and the instruction needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

/// Loads two quads of short words, the first into the low half.
#[inline]
#[target_feature(enable = "avx")]
pub(in crate::kernels) fn load256_quads(quads: &[[u32; 4]; 2]) -> __m256i {
    // SAFETY: the array is 32 readable bytes, and the instruction needs no alignment.
    unsafe { _mm256_loadu_si256(quads.as_ptr().cast()) }
}

/// Stores four words, the lowest lane first.
#[inline]
#[target_feature(enable = "avx")]
pub(in crate::kernels) fn store256_words(words: &mut [u64; 4], lanes: __m256i) {
    // SAFETY: the array is 32 writable bytes, and the instruction needs no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), lanes) }
}

/// Loads four quads of short words, the first into the lowest quarter.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn load512_quads(quads: &[[u32; 4]; 4]) -> __m512i {
    // SAFETY: the array is 64 readable bytes, and the instruction needs no alignment.
    unsafe { _mm512_loadu_si512(quads.as_ptr().cast()) }
}

/// Loads 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn load512(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the array is 64 readable bytes, and the instruction needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Stores 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn store512(bytes: &mut [u8; 64], lanes: __m512i) {
    // SAFETY: the array is 64 writable bytes, and the instruction needs no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), lanes) }
}

/// Loads eight words, the first into the lowest lane.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn load512_words(words: &[u64; 8]) -> __m512i {
    // SAFETY: the array is 64 readable bytes, and the instruction needs no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Loads the first 64 bytes, or all where there are fewer; what is missing reads as zeros.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(in crate::kernels) fn load512_part(bytes: &[u8]) -> __m512i {
    // SAFETY: the mask admits bytes of the slice alone; the others are not touched.
    unsafe { _mm512_maskz_loadu_epi8(first_bytes(bytes.len()), bytes.as_ptr().cast()) }
}

/// Loads the last 64 bytes, or all where there are fewer; what is missing before them reads as zeros.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(in crate::kernels) fn load512_end(bytes: &[u8]) -> __m512i {
    let absent = 64 - bytes.len().min(64);
    let end = bytes.as_ptr_range().end.wrapping_sub(64);
    // SAFETY: the mask admits bytes of the slice alone; the others are not touched.
    unsafe { _mm512_maskz_loadu_epi8(!first_bytes(absent), end.cast()) }
}

/// Stores the first 64 bytes, or as many as there is room for, and gives what it stored, filled up
/// with zeros: to load it again would wait for the store.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(in crate::kernels) fn store512_part(bytes: &mut [u8], lanes: __m512i) -> __m512i {
    let mask = first_bytes(bytes.len());
    // SAFETY: the mask admits bytes of the slice alone; the others are not touched.
    unsafe { _mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), mask, lanes) };
    _mm512_maskz_mov_epi8(mask, lanes)
}

/// Makes the function that holds the compiler to an order, for one kind of register.
macro_rules! in_order {
    ($name:ident, $vector:ty, $class:ident, $feature:literal) => {
        /// Has this vector computed here: before the next that is held so, after the last.
        ///
        /// Where many chains of rounds run side by side, the compiler would otherwise put one after
        /// the other to save registers, and the processor would wait out every round.
        #[inline]
        #[target_feature(enable = $feature)]
        pub(in crate::kernels) fn $name(lanes: $vector) -> $vector {
            let mut held = lanes;
            // SAFETY: the block is a comment.
            unsafe {
                asm!("/* {} */", inout($class) held, options(nomem, nostack, preserves_flags));
            }
            held
        }
    };
}

in_order!(in_order128, __m128i, xmm_reg, "sse2");
in_order!(in_order256, __m256i, ymm_reg, "avx");
in_order!(in_order512, __m512i, zmm_reg, "avx512f");

/// The mask of the first `len` bytes, or of all 64.
#[inline]
fn first_bytes(len: usize) -> __mmask64 {
    match len {
        0 => 0,
        1..64 => !0 >> (64 - len),
        _ => !0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{Detected, Feature, Features};

    #[target_feature(enable = "avx512f")]
    fn copy512(from: &[u8; 64], to: &mut [u8; 64]) {
        store512(to, load512(from));
    }

    #[target_feature(enable = "avx512bw")]
    fn copy512_part(from: &[u8], to: &mut [u8]) {
        store512_part(to, load512_part(from));
    }

    #[target_feature(enable = "avx512bw")]
    fn copy512_end(from: &[u8], to: &mut [u8; 64]) {
        store512(to, load512_end(from));
    }

    #[test]
    fn parts_of_any_length_are_loaded_and_stored_whole_and_nothing_more() {
        let features = Detected::new(Features::NONE).features();
        if !features.has(Feature::Avx512bw) {
            println!("skipped: needs avx512bw");
            return;
        }
        let bytes: Vec<u8> = (1..=160).collect();
        for (at, len) in (0..64).flat_map(|at| (0..=96).map(move |len| (at, len))) {
            let mut out = [0; 160];
            // SAFETY: AVX-512BW was detected.
            unsafe { copy512_part(&bytes[at..][..len], &mut out[at..][..len]) };
            let stored = len.min(64);
            assert_eq!(out[at..][..stored], bytes[at..][..stored]);
            assert_eq!(out.iter().filter(|&&byte| byte != 0).count(), stored);
            // The length of the destination bounds the store, whatever the lanes hold.
            let mut out = [0; 160];
            // SAFETY: AVX-512BW was detected.
            unsafe { copy512_part(&bytes[at..], &mut out[at..][..len]) };
            assert_eq!(out.iter().filter(|&&byte| byte != 0).count(), stored);
        }
        for len in 0..=96 {
            let (mut out, mut expected) = ([0; 64], [0; 64]);
            // SAFETY: AVX-512BW was detected, which needs AVX-512F.
            unsafe { copy512_end(&bytes[..len], &mut out) };
            let loaded = len.min(64);
            expected[64 - loaded..].copy_from_slice(&bytes[len - loaded..len]);
            assert_eq!(out, expected);
        }
        for at in 0..64 {
            let mut out = [0; 160];
            // SAFETY: AVX-512BW was detected, which needs AVX-512F.
            unsafe {
                copy512(
                    bytes[at..].first_chunk().unwrap(),
                    out[at..].first_chunk_mut().unwrap(),
                );
            }
            assert_eq!(out[at..][..64], bytes[at..][..64]);
            assert_eq!(out.iter().filter(|&&byte| byte != 0).count(), 64);
        }
    }

    #[target_feature(enable = "sse2")]
    fn copy128(from: &[u8; 16], to: &mut [u8; 16]) {
        store128(to, load128(from));
    }

    #[target_feature(enable = "avx")]
    fn copy256(from: &[u8; 32], to: &mut [u8; 32]) {
        store256(to, load256(from));
    }

    #[test]
    fn what_is_loaded_unaligned_is_stored_whole_and_nowhere_else() {
        let features = Detected::new(Features::NONE).features();
        let bytes: Vec<u8> = (1..=64).collect();
        for at in 0..16 {
            let mut out = [0; 64];
            // SAFETY: every x86-64 has SSE2.
            unsafe {
                copy128(
                    bytes[at..].first_chunk().unwrap(),
                    out[at..].first_chunk_mut().unwrap(),
                );
            }
            assert_eq!(out[at..at + 16], bytes[at..at + 16]);
            assert_eq!(out.iter().filter(|&&byte| byte != 0).count(), 16);
            if features.has(Feature::Avx) {
                out = [0; 64];
                // SAFETY: AVX was detected.
                unsafe {
                    copy256(
                        bytes[at..].first_chunk().unwrap(),
                        out[at..].first_chunk_mut().unwrap(),
                    );
                }
                assert_eq!(out[at..at + 32], bytes[at..at + 32]);
                assert_eq!(out.iter().filter(|&&byte| byte != 0).count(), 32);
            }
        }
    }
}
