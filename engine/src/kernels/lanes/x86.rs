//! Loads and stores of SSE2 and AVX registers; no alignment is asked of the arrays.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm_storeu_si128, _mm256_loadu_si256, _mm256_storeu_si256,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{Detected, Feature, Features};

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
