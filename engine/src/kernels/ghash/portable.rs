//! GHASH with integer multiplications, in constant time wherever the processor multiplies in constant
//! time.
//!
//! Carries are kept from spoiling sums by holes: only every fourth bit of a factor is set, so each bit
//! of the true product has four bits of room for its count, and the lowest of them is the count
//! modulo 2. Sixteen ones would overflow that room, so the top nibble of one factor is multiplied bit
//! by bit.
#![forbid(unsafe_code)]

use super::{BLOCK, ExpandArgs, UpdateArgs, times_x};

/// Every fourth bit.
const HOLES: u128 = 0x1111_1111_1111_1111_1111_1111_1111_1111;

/// A factor taken apart into its four sets of every fourth bit.
type Split = [u64; 4];

pub(super) fn expand(args: ExpandArgs) {
    let [low, high] = times_x(args.h);
    let (splits, _) = args.powers.0.as_chunks_mut::<4>();
    for (slot, factor) in splits.iter_mut().zip([low, high, low ^ high]) {
        *slot = split(factor);
    }
}

pub(super) fn update(args: UpdateArgs) {
    let (splits, _) = args.powers.0.as_chunks::<4>();
    let h = [splits[0], splits[1], splits[2]];
    let (blocks, rest) = args.data.as_chunks::<BLOCK>();
    let mut state = u128::from_be_bytes(*args.state);
    for block in blocks {
        state = times(state ^ u128::from_be_bytes(*block), &h);
    }
    if !rest.is_empty() {
        let mut block = [0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        state = times(state ^ u128::from_be_bytes(block), &h);
    }
    *args.state = state.to_be_bytes();
}

/// *a·h·x^-128*, by Karatsuba's method; `h` is low half, high half and their sum.
#[inline]
fn times(a: u128, h: &[Split; 3]) -> u128 {
    let (a_low, a_high) = (a as u64, (a >> 64) as u64);
    let low = multiply(a_low, &h[0]);
    let high = multiply(a_high, &h[1]);
    let middle = multiply(a_low ^ a_high, &h[2]) ^ low ^ high;
    reduce(low ^ (middle << 64), high ^ (middle >> 64))
}

/// A 256-bit product times x^-128: multiples of the modulus cancel its low words one by one.
#[inline]
fn reduce(low: u128, high: u128) -> u128 {
    let spread = |word: u64| {
        let word = u128::from(word);
        (word << 63) ^ (word << 62) ^ (word << 57)
    };
    let first = low as u64;
    let carried = spread(first) ^ (low >> 64);
    let second = carried as u64;
    high ^ (carried >> 64) ^ u128::from(first) ^ (u128::from(second) << 64) ^ spread(second)
}

/// The product without carries of two 64-bit factors.
#[inline]
fn multiply(a: u64, b: &Split) -> u128 {
    let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
    let parts = split(a & (u64::MAX >> 4));
    let mut sum = 0;
    for shift in 0..4 {
        let counts = (0..4).fold(0, |sum, i| sum ^ product(parts[i], b[(shift + 4 - i) % 4]));
        sum |= counts & (HOLES << shift);
    }
    let whole = b[0] | b[1] | b[2] | b[3];
    (60..64).fold(sum, |sum, bit| sum ^ product(a & (1 << bit), whole))
}

#[inline]
fn split(factor: u64) -> Split {
    std::array::from_fn(|shift| factor & ((HOLES as u64) << shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bit_by_bit(a: u64, b: u64) -> u128 {
        (0..64)
            .filter(|bit| a >> bit & 1 == 1)
            .fold(0, |sum, bit| sum ^ (u128::from(b) << bit))
    }

    #[test]
    fn products_have_no_carries_whatever_the_factors() {
        let holes = HOLES as u64;
        let mut factors = vec![0, 1, u64::MAX, 1 << 63, holes, holes << 3];
        for i in 1..60u64 {
            factors.push(i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32));
            factors.push(u64::MAX << i);
        }
        for &a in &factors {
            for &b in &factors {
                assert_eq!(multiply(a, &split(b)), bit_by_bit(a, b), "{a:#x} · {b:#x}");
            }
        }
    }
}
