//! The second and third layer of UMAC: a polynomial over the sums of the first, and an inner product
//! over that. Both are the work of a moment and in constant time.
#![forbid(unsafe_code)]

use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroize;

/// 2^64 − 59, the modulus for the first [`NARROW_WORDS`] words.
const P64: u64 = 0u64.wrapping_sub(59);
/// 2^128 − 159, the modulus beyond.
const P128: u128 = 0u128.wrapping_sub(159);
/// 2^36 − 5, the modulus of the inner product.
const P36: u64 = (1 << 36) - 5;
/// Words hashed modulo 2^64 − 59: 16 MiB of message.
const NARROW_WORDS: u64 = 1 << 14;

/// One stream of the second layer (RFC 4418 §5.3): its key and how far it has come.
#[derive(Zeroize)]
pub(super) struct Polynomial {
    narrow_key: u64,
    wide_key: u128,
    words: u64,
    narrow: u64,
    wide: u128,
    /// The first half of a wide word.
    half: u64,
}

impl Polynomial {
    /// Bytes of derived key.
    pub(super) const KEY: usize = 24;

    pub(super) fn new(key: &[u8; Self::KEY]) -> Self {
        const MASK: u128 = 0x01ff_ffff_01ff_ffff_01ff_ffff_01ff_ffff;
        let mut narrow = [0; 8];
        let mut wide = [0; 16];
        narrow.copy_from_slice(&key[..8]);
        wide.copy_from_slice(&key[8..]);
        Self {
            narrow_key: u64::from_be_bytes(narrow) & MASK as u64,
            wide_key: u128::from_be_bytes(wide) & MASK,
            words: 0,
            narrow: 1,
            wide: 1,
            half: 0,
        }
    }

    /// Forgets the words of the message before.
    pub(super) fn start(&mut self) {
        (self.words, self.narrow, self.wide) = (0, 1, 1);
    }

    pub(super) fn absorb(&mut self, word: u64) {
        if self.words < NARROW_WORDS {
            self.narrow = narrow_step(self.narrow_key, self.narrow, word);
        } else if self.words.is_multiple_of(2) {
            if self.words == NARROW_WORDS {
                self.wide = wide_step(self.wide_key, self.wide, self.narrow.into());
            }
            self.half = word;
        } else {
            let word = (u128::from(self.half) << 64) | u128::from(word);
            self.wide = wide_step(self.wide_key, self.wide, word);
        }
        self.words += 1;
    }

    /// The value at the end of the message.
    pub(super) fn finish(&mut self) -> u128 {
        if self.words <= NARROW_WORDS {
            return self.narrow.into();
        }
        self.absorb(0x80 << 56);
        if !self.words.is_multiple_of(2) {
            self.absorb(0);
        }
        self.wide
    }
}

/// Words from here on are no residues and go in as two: a marker, and the word less 59.
const NARROW_LIMIT: u64 = 0u64.wrapping_sub(1 << 32);
const WIDE_LIMIT: u128 = 0u128.wrapping_sub(1 << 96);

#[inline]
fn narrow_step(key: u64, value: u64, word: u64) -> u64 {
    let (_, is_below) = word.overflowing_sub(NARROW_LIMIT);
    let is_large = !Choice::from(u8::from(is_below));
    let marked = narrow_multiply_add(key, value, P64 - 1);
    let value = u64::conditional_select(&value, &marked, is_large);
    let word = u64::conditional_select(&word, &word.wrapping_sub(59), is_large);
    narrow_multiply_add(key, value, word)
}

/// *key·value + word* modulo 2^64 − 59, for keys below 2^57.
#[inline]
fn narrow_multiply_add(key: u64, value: u64, word: u64) -> u64 {
    let fold = |sum: u128| u128::from(sum as u64) + 59 * (sum >> 64);
    let sum = u128::from(key) * u128::from(value) + u128::from(word);
    let sum = fold(fold(sum)) as u64;
    let (reduced, is_more) = sum.overflowing_add(59);
    u64::conditional_select(&sum, &reduced, Choice::from(u8::from(is_more)))
}

fn wide_step(key: u128, value: u128, word: u128) -> u128 {
    let (_, is_below) = word.overflowing_sub(WIDE_LIMIT);
    let is_large = !Choice::from(u8::from(is_below));
    let marked = wide_multiply_add(key, value, P128 - 1);
    let value = u128::conditional_select(&value, &marked, is_large);
    let word = u128::conditional_select(&word, &word.wrapping_sub(159), is_large);
    wide_multiply_add(key, value, word)
}

/// *key·value + word* modulo 2^128 − 159, for keys below 2^121.
fn wide_multiply_add(key: u128, value: u128, word: u128) -> u128 {
    let halves = |x: u128| (x & u128::from(u64::MAX), x >> 64);
    let ((key_low, key_high), (low, high)) = (halves(key), halves(value));
    // Columns of 64 bits. The middle one cannot overflow: the key's high half is below 2^57.
    let (first, carry) = halves(key_low * low);
    let (middle, carry_middle) = halves(key_low * high);
    let (second, carry) = halves(middle + key_high * low + carry);
    let top = key_high * high + carry_middle + carry;
    // 2^128 is 159.
    let (top_low, top_high) = halves(top);
    let (first, carry) = halves(first + 159 * top_low + (word & u128::from(u64::MAX)));
    let (second, top) = halves(second + 159 * top_high + (word >> 64) + carry);
    let sum = (second << 64) | first;
    let (sum, carry) = sum.overflowing_add(159 * top);
    let sum = sum.wrapping_add(159 * u128::from(carry));
    let (reduced, is_more) = sum.overflowing_add(159);
    u128::conditional_select(&sum, &reduced, Choice::from(u8::from(is_more)))
}

/// One stream of the third layer (RFC 4418 §5.4).
#[derive(Zeroize)]
pub(super) struct InnerProduct {
    factors: [u64; 8],
    mask: u32,
}

impl InnerProduct {
    /// Bytes of derived key, without the mask's.
    pub(super) const KEY: usize = 64;

    pub(super) fn new(key: &[u8; Self::KEY], mask: &[u8; 4]) -> Self {
        let factor = |i: usize| u64::from_be_bytes(key.as_chunks().0[i]);
        Self {
            factors: std::array::from_fn(|i| reduce(factor(i))),
            mask: u32::from_be_bytes(*mask),
        }
    }

    pub(super) fn hash(&self, value: u128) -> u32 {
        let parts = (0..8).rev().map(|i| u64::from((value >> (16 * i)) as u16));
        let sum = parts
            .zip(self.factors)
            .map(|(part, factor)| part * factor)
            .sum();
        reduce(sum) as u32 ^ self.mask
    }
}

/// The residue modulo 2^36 − 5.
fn reduce(x: u64) -> u64 {
    let fold = |x: u64| (x & ((1 << 36) - 1)) + 5 * (x >> 36);
    let x = fold(fold(x));
    x - P36 * ((x + 5) >> 36)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// *a·b + c* modulo 2^128 − 159, by doubling and adding.
    fn multiply_add(a: u128, b: u128, c: u128) -> u128 {
        let add = |x: u128, y: u128| {
            let (sum, carry) = (x % P128).overflowing_add(y % P128);
            // One carry is worth 159, and cannot be followed by another.
            (sum.wrapping_add(if carry { 159 } else { 0 })) % P128
        };
        let product = (0..128).rev().fold(0, |sum, bit| {
            let doubled = add(sum, sum);
            add(doubled, if a >> bit & 1 == 1 { b } else { 0 })
        });
        add(product, c)
    }

    /// Numbers at both ends of a range of `bits`, and some between.
    fn samples(bits: u32) -> Vec<u128> {
        let top = u128::MAX >> (128 - bits);
        let between =
            (1..20u128).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
        let ends = [0, 1, 58, 59, 60, 158, 159, 160, 1 << 32];
        ends.iter()
            .flat_map(|end| [*end, top - end])
            .chain([top - (1 << (bits / 4)), top - (1 << (bits / 2))])
            .chain(between.map(|x| x & top))
            .collect()
    }

    #[test]
    fn narrow_steps_are_poly_of_the_rfc() {
        let modulus = u128::from(P64);
        for key in samples(57) {
            for value in samples(64).into_iter().filter(|&value| value < modulus) {
                for word in samples(64) {
                    let expected = if word >= (1 << 64) - (1 << 32) {
                        let marked = (key * value + modulus - 1) % modulus;
                        (key * marked + word - 59) % modulus
                    } else {
                        (key * value + word) % modulus
                    };
                    let step = narrow_step(key as u64, value as u64, word as u64);
                    assert_eq!(u128::from(step), expected, "{key:x} {value:x} {word:x}");
                }
            }
        }
    }

    #[test]
    fn wide_steps_are_poly_of_the_rfc() {
        for key in samples(121) {
            for value in samples(128).into_iter().filter(|&value| value < P128) {
                for word in samples(128) {
                    let expected = if word >= WIDE_LIMIT {
                        let marked = multiply_add(key, value, P128 - 1);
                        multiply_add(key, marked, word - 159)
                    } else {
                        multiply_add(key, value, word)
                    };
                    assert_eq!(
                        wide_step(key, value, word),
                        expected,
                        "{key:x} {value:x} {word:x}"
                    );
                }
            }
        }
    }

    #[test]
    fn residues_modulo_2_36_less_5_are_complete() {
        for x in samples(64) {
            assert_eq!(u128::from(reduce(x as u64)), x % u128::from(P36), "{x:x}");
        }
    }
}
