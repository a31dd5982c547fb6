//! GHASH with PCLMULQDQ: eight blocks are multiplied by eight powers, and the sum is reduced once.
#![forbid(unsafe_code)]

use std::arch::x86_64::{
    __m128i, _mm_clmulepi64_si128, _mm_cvtsi64_si128, _mm_set_epi8, _mm_set_epi64x,
    _mm_setzero_si128, _mm_shuffle_epi8, _mm_shuffle_epi32, _mm_slli_si128, _mm_srli_si128,
    _mm_xor_si128,
};

use super::{BLOCK, ExpandArgs, Powers, UpdateArgs, times_x};
use crate::kernels::lanes::{load128, load128_words, store128, store128_words};

/// Blocks per reduction.
const BATCH: usize = 8;

/// Lays out *h^8 … h^1*, then the sum of each one's halves in the same order.
#[inline]
#[target_feature(enable = "pclmulqdq,ssse3")]
pub(super) fn expand(args: ExpandArgs) {
    let (slots, halves) = args.powers.0.split_at_mut(2 * BATCH);
    let (slots, _) = slots.as_chunks_mut::<2>();
    powers(args.h, slots);
    for (slot, half) in slots.iter().zip(halves) {
        *half = slot[0] ^ slot[1];
    }
}

/// Fills `slots` with the powers of the hash key, the first power last: for every row that has PCLMUL.
#[inline]
#[target_feature(enable = "pclmulqdq,ssse3")]
pub(in crate::kernels) fn powers(h: &[u8; BLOCK], slots: &mut [[u64; 2]]) {
    let h = load128_words(&times_x(h));
    let mut power = h;
    for slot in slots.iter_mut().rev() {
        store128_words(slot, power);
        power = Product::of(power, h, fold_halves(h)).reduce();
    }
}

#[inline]
#[target_feature(enable = "pclmulqdq,ssse3")]
pub(super) fn update(args: UpdateArgs) {
    let mut state = swap_bytes(load128(args.state));
    let (batches, rest) = args.data.as_chunks::<{ BATCH * BLOCK }>();
    for batch in batches {
        state = absorb(args.powers, state, batch.as_chunks().0);
    }
    let (blocks, last) = rest.as_chunks::<BLOCK>();
    if !blocks.is_empty() {
        state = absorb(args.powers, state, blocks);
    }
    if !last.is_empty() {
        let mut block = [0; BLOCK];
        block[..last.len()].copy_from_slice(last);
        state = absorb(args.powers, state, &[block]);
    }
    store128(args.state, swap_bytes(state));
}

/// Hashes one to [`BATCH`] blocks. The first, which must wait for the state, is multiplied last.
#[inline]
#[target_feature(enable = "pclmulqdq,ssse3")]
fn absorb(powers: &Powers, state: __m128i, blocks: &[[u8; BLOCK]]) -> __m128i {
    let (powers, halves) = powers.0.split_at(2 * BATCH);
    let powers = powers.as_chunks::<2>().0.iter().zip(halves);
    let mut sum = Product([_mm_setzero_si128(); 3]);
    for ((power, half), (i, block)) in powers.rev().zip(blocks.iter().enumerate().rev()) {
        let mut block = swap_bytes(load128(block));
        if i == 0 {
            block = _mm_xor_si128(block, state);
        }
        let half = _mm_cvtsi64_si128(half.cast_signed());
        sum = sum.plus(Product::of(block, load128_words(power), half));
    }
    sum.reduce()
}

/// A product before reduction: low half, high half, and the product of the sums of the factors' halves.
#[derive(Clone, Copy)]
struct Product([__m128i; 3]);

impl Product {
    /// `half` is [`fold_halves`] of `b`.
    #[inline]
    #[target_feature(enable = "pclmulqdq,sse2")]
    fn of(a: __m128i, b: __m128i, half: __m128i) -> Self {
        Self([
            _mm_clmulepi64_si128::<0x00>(a, b),
            _mm_clmulepi64_si128::<0x11>(a, b),
            _mm_clmulepi64_si128::<0x00>(fold_halves(a), half),
        ])
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn plus(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        Self([
            _mm_xor_si128(a, d),
            _mm_xor_si128(b, e),
            _mm_xor_si128(c, f),
        ])
    }

    /// The product times x^-128: multiples of the modulus cancel its low words one by one.
    #[inline]
    #[target_feature(enable = "pclmulqdq,sse2")]
    fn reduce(self) -> __m128i {
        let [low, high, sums] = self.0;
        let middle = _mm_xor_si128(sums, _mm_xor_si128(low, high));
        let low = _mm_xor_si128(low, _mm_slli_si128::<8>(middle));
        let high = _mm_xor_si128(high, _mm_srli_si128::<8>(middle));
        // x^63 + x^62 + x^57: the modulus without its ends, above x^64.
        let modulus = _mm_set_epi64x(0, 0xc2 << 56);
        let fold = _mm_clmulepi64_si128::<0x00>(low, modulus);
        let low = _mm_xor_si128(swap_halves(low), fold);
        let fold = _mm_clmulepi64_si128::<0x00>(low, modulus);
        _mm_xor_si128(_mm_xor_si128(high, fold), swap_halves(low))
    }
}

/// The sum of both halves, in both halves.
#[inline]
#[target_feature(enable = "sse2")]
fn fold_halves(a: __m128i) -> __m128i {
    _mm_xor_si128(a, swap_halves(a))
}

#[inline]
#[target_feature(enable = "sse2")]
fn swap_halves(a: __m128i) -> __m128i {
    _mm_shuffle_epi32::<0b01_00_11_10>(a)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn swap_bytes(block: __m128i) -> __m128i {
    let reversed = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    _mm_shuffle_epi8(block, reversed)
}
