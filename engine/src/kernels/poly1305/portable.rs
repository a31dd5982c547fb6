//! Poly1305 in words of 64 bits, with products of 128 bits.
//!
//! One block after the other (Horner's rule): h = (h + block) · r mod p. The vector rows use the same
//! arithmetic for what does not fill their vectors.
#![forbid(unsafe_code)]

use super::{BLOCK, padded};
use zeroize::optimization_barrier;

pub(in crate::kernels) fn tag((key, data): (&[u8; 32], &[u8])) -> [u8; 16] {
    let mut r = Multiplier::new(key);
    let (blocks, partial) = data.as_chunks();
    let h = Accumulator::ZERO.add_blocks(blocks, &r);
    let tag = h.finish(partial, &r, key);
    r.wipe();
    tag
}

/// `r`, ready to multiply by.
pub(in crate::kernels) struct Multiplier {
    r0: u64,
    r1: u64,
    /// 5/4 · r1: clamping made r1 a multiple of 4, and 2¹²⁸ · r1 = 2¹³⁰ · r1/4 ≡ 5 · r1/4.
    s1: u64,
}

impl Multiplier {
    /// The clamped first half of a key (RFC 8439 §2.5.1).
    #[inline]
    pub(in crate::kernels) fn new(key: &[u8; 32]) -> Self {
        let ([r0, r1], _) = halves(key);
        let r0 = r0 & 0x0fff_fffc_0fff_ffff;
        let r1 = r1 & 0x0fff_fffc_0fff_fffc;
        let s1 = r1 + (r1 >> 2);
        Self { r0, r1, s1 }
    }

    /// r itself.
    #[inline]
    pub(super) fn value(&self) -> Accumulator {
        Accumulator(self.r0, self.r1, 0)
    }

    #[inline]
    pub(in crate::kernels) fn wipe(&mut self) {
        (self.r0, self.r1, self.s1) = (0, 0, 0);
        optimization_barrier(self);
    }
}

/// A number modulo p in words of 64 bits, the lowest first. It is not fully reduced: the top word may
/// be 4 after a product, and 6 after a block was added to that.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Accumulator(u64, u64, u64);

impl Accumulator {
    pub(super) const ZERO: Self = Self(0, 0, 0);

    /// Takes whole blocks in.
    #[inline]
    pub(super) fn add_blocks(mut self, blocks: &[[u8; BLOCK]], r: &Multiplier) -> Self {
        for block in blocks {
            self = self.add(block, 1).times(r);
        }
        self
    }

    /// Takes the incomplete block in, reduces fully and adds `s`.
    #[inline]
    pub(in crate::kernels) fn finish(
        self,
        partial: &[u8],
        r: &Multiplier,
        key: &[u8; 32],
    ) -> [u8; 16] {
        if partial.is_empty() {
            self.add_to_s(key)
        } else {
            self.add(&padded(partial), 0).times(r).add_to_s(key)
        }
    }

    /// The product modulo p.
    #[inline]
    pub(super) fn times(self, r: &Multiplier) -> Self {
        let Self(h0, h1, h2) = self;
        let d0 = wide(h0, r.r0) + wide(h1, r.s1);
        let d1 = wide(h0, r.r1) + wide(h1, r.r0) + u128::from(h2 * r.s1) + (d0 >> 64);
        let d2 = h2 * r.r0 + (d1 >> 64) as u64;
        Self::folded(d0 as u64, d1 as u64, d2)
    }

    /// Five limbs of 26 bits; the top one may be larger by a few.
    #[inline]
    pub(super) fn limbs(self) -> [u64; 5] {
        const MASK: u64 = (1 << 26) - 1;
        let Self(h0, h1, h2) = self;
        [
            h0 & MASK,
            h0 >> 26 & MASK,
            (h0 >> 52 | h1 << 12) & MASK,
            h1 >> 14 & MASK,
            h1 >> 40 | h2 << 24,
        ]
    }

    /// The number that has these limbs of 26 bits, each of which may have grown to 2⁵⁰.
    #[inline]
    pub(super) fn from_limbs(limbs: [u64; 5]) -> Self {
        let [l0, l1, l2, l3, l4] = limbs.map(u128::from);
        let d0 = l0 + (l1 << 26) + (l2 << 52);
        let d1 = (d0 >> 64) + (l3 << 14) + (l4 << 40);
        Self::folded(d0 as u64, d1 as u64, (d1 >> 64) as u64)
    }

    /// Limbs of 44, 44 and 42 bits; the top one may be larger by a few.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn limbs44(self) -> [u64; 3] {
        const MASK: u64 = (1 << 44) - 1;
        let Self(h0, h1, h2) = self;
        [h0 & MASK, (h0 >> 44 | h1 << 20) & MASK, h1 >> 24 | h2 << 40]
    }

    /// The number that has these limbs at 1, 2⁴⁴ and 2⁸⁸, each of which may have grown to 2⁵⁸.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn from_limbs44(limbs: [u64; 3]) -> Self {
        let [l0, l1, l2] = limbs.map(u128::from);
        let d0 = l0 + (l1 << 44);
        let d1 = (d0 >> 64) + (l2 << 24);
        Self::folded(d0 as u64, d1 as u64, (d1 >> 64) as u64)
    }

    /// What is at 2¹³⁰ and above comes back at the bottom, five times.
    #[inline]
    fn folded(d0: u64, d1: u64, d2: u64) -> Self {
        let (h0, carry) = d0.carrying_add((d2 & !3) + (d2 >> 2), false);
        let (h1, carry) = d1.carrying_add(0, carry);
        Self(h0, h1, (d2 & 3) + u64::from(carry))
    }

    /// Adds a block; `high` is the bit above it.
    #[inline]
    fn add(self, block: &[u8; BLOCK], high: u64) -> Self {
        let block = u128::from_le_bytes(*block);
        let (h0, carry) = self.0.carrying_add(block as u64, false);
        let (h1, carry) = self.1.carrying_add((block >> 64) as u64, carry);
        Self(h0, h1, self.2 + high + u64::from(carry))
    }

    /// (h mod p) + s mod 2¹²⁸: the tag.
    #[inline]
    fn add_to_s(self, key: &[u8; 32]) -> [u8; 16] {
        // h + 5 reaches 2¹³⁰ exactly when h is not below p; its low words are then those of h − p.
        let (g0, carry) = self.0.carrying_add(5, false);
        let (g1, carry) = self.1.carrying_add(0, carry);
        let reduce = 0_u64.wrapping_sub((self.2 + u64::from(carry)) >> 2);
        let h0 = self.0 & !reduce | g0 & reduce;
        let h1 = self.1 & !reduce | g1 & reduce;
        let (_, [s0, s1]) = halves(key);
        let (t0, carry) = h0.carrying_add(s0, false);
        let (t1, _) = h1.carrying_add(s1, carry);
        (u128::from(t0) | u128::from(t1) << 64).to_le_bytes()
    }
}

#[inline]
fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// r, not yet clamped, and s.
#[inline]
fn halves(key: &[u8; 32]) -> ([u64; 2], [u64; 2]) {
    let (words, _) = key.as_chunks::<8>();
    let word = |i: usize| u64::from_le_bytes(words[i]);
    ([word(0), word(1)], [word(2), word(3)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limbs_and_words_are_the_same_number() {
        let number = Accumulator(0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 3);
        let Accumulator(h0, h1, h2) = Accumulator::from_limbs(number.limbs());
        assert_eq!((h0, h1, h2), (number.0, number.1, number.2));
        // 2²⁶ at 2¹⁰⁴ is 2¹³⁰, which is 5.
        let Accumulator(h0, h1, h2) = Accumulator::from_limbs([1, 0, 0, 0, 1 << 26]);
        assert_eq!((h0, h1, h2), (6, 0, 0));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn limbs_of_44_bits_and_words_are_the_same_number() {
        let number = Accumulator(0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 3);
        let Accumulator(h0, h1, h2) = Accumulator::from_limbs44(number.limbs44());
        assert_eq!((h0, h1, h2), (number.0, number.1, number.2));
        // 2⁴² at 2⁸⁸ is 2¹³⁰, which is 5; 2⁵⁷ there is 2¹⁵ of it.
        let Accumulator(h0, h1, h2) = Accumulator::from_limbs44([1, 1 << 57, 1 << 57]);
        assert_eq!((h0, h1, h2), (1 + (5 << 15), 1 << 37, 0));
    }
}
