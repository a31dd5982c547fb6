//! Poly1305 in five limbs of 26 bits, with products of 64 bits: what a processor without a 64-bit
//! multiplication needs, and how the C code that OpenSSH brings does it (`poly1305.c`).
#![forbid(unsafe_code)]

use super::{BLOCK, padded};
use zeroize::optimization_barrier;

const MASK: u32 = (1 << 26) - 1;

pub(in crate::kernels) fn tag((key, data): (&[u8; 32], &[u8])) -> [u8; 16] {
    let ([r, s], _) = key.as_chunks() else {
        unreachable!("a key is two halves");
    };
    let mut r = clamped(r);
    let (blocks, partial) = data.as_chunks();
    let mut h = [0; 5];
    for block in blocks {
        h = times(add(h, block, 1 << 24), &r);
    }
    if !partial.is_empty() {
        h = times(add(h, &padded(partial), 0), &r);
    }
    r = [0; 5];
    optimization_barrier(&r);
    add_to_s(reduced(h), s)
}

/// r, without the bits that RFC 8439 §2.5.1 clears.
#[inline]
fn clamped(r: &[u8; BLOCK]) -> [u32; 5] {
    let r = limbs(r);
    [
        r[0],
        r[1] & 0x3ff_ff03,
        r[2] & 0x3ff_c0ff,
        r[3] & 0x3f0_3fff,
        r[4] & 0x00f_ffff,
    ]
}

#[inline]
fn limbs(block: &[u8; BLOCK]) -> [u32; 5] {
    let block = u128::from_le_bytes(*block);
    [
        block as u32 & MASK,
        (block >> 26) as u32 & MASK,
        (block >> 52) as u32 & MASK,
        (block >> 78) as u32 & MASK,
        (block >> 104) as u32,
    ]
}

/// Adds a block; `high` is the bit above it, in the top limb.
#[inline]
fn add(h: [u32; 5], block: &[u8; BLOCK], high: u32) -> [u32; 5] {
    let block = limbs(block);
    [
        h[0] + block[0],
        h[1] + block[1],
        h[2] + block[2],
        h[3] + block[3],
        h[4] + block[4] + high,
    ]
}

/// The product modulo p. All limbs but the second end below 2²⁶, the second not far above.
#[inline]
fn times(h: [u32; 5], r: &[u32; 5]) -> [u32; 5] {
    // A product at limb 5 + i is 2¹³⁰ times one at limb i: five times that one.
    let s = [5 * r[1], 5 * r[2], 5 * r[3], 5 * r[4]];
    let d0 = dot(h, [r[0], s[3], s[2], s[1], s[0]]);
    let d1 = dot(h, [r[1], r[0], s[3], s[2], s[1]]) + (d0 >> 26);
    let d2 = dot(h, [r[2], r[1], r[0], s[3], s[2]]) + (d1 >> 26);
    let d3 = dot(h, [r[3], r[2], r[1], r[0], s[3]]) + (d2 >> 26);
    let d4 = dot(h, [r[4], r[3], r[2], r[1], r[0]]) + (d3 >> 26);
    let low = (d0 as u32 & MASK) + 5 * (d4 >> 26) as u32;
    [
        low & MASK,
        (d1 as u32 & MASK) + (low >> 26),
        d2 as u32 & MASK,
        d3 as u32 & MASK,
        d4 as u32 & MASK,
    ]
}

#[inline]
fn dot(a: [u32; 5], b: [u32; 5]) -> u64 {
    let wide = |i: usize| u64::from(a[i]) * u64::from(b[i]);
    wide(0) + wide(1) + wide(2) + wide(3) + wide(4)
}

/// h modulo p, all limbs below 2²⁶.
fn reduced(h: [u32; 5]) -> [u32; 5] {
    let (mut h, over) = carried(h);
    h[0] += 5 * over;
    let (h, _) = carried(h);
    // h + 5 reaches 2¹³⁰ exactly when h is not below p.
    let (g, over) = carried([h[0] + 5, h[1], h[2], h[3], h[4]]);
    let reduce = 0_u32.wrapping_sub(over);
    std::array::from_fn(|i| h[i] & !reduce | g[i] & reduce)
}

/// The limbs below 2²⁶, and what is left at 2¹³⁰.
fn carried(mut h: [u32; 5]) -> ([u32; 5], u32) {
    let mut over = 0;
    for limb in &mut h {
        *limb += over;
        over = *limb >> 26;
        *limb &= MASK;
    }
    (h, over)
}

/// h + s mod 2¹²⁸: the tag.
fn add_to_s(h: [u32; 5], s: &[u8; BLOCK]) -> [u8; 16] {
    let words = [
        h[0] | h[1] << 26,
        h[1] >> 6 | h[2] << 20,
        h[2] >> 12 | h[3] << 14,
        h[3] >> 18 | h[4] << 8,
    ];
    let (s, _) = s.as_chunks();
    let mut tag = [0; 16];
    let mut carry = false;
    for ((out, word), s) in tag.as_chunks_mut().0.iter_mut().zip(words).zip(s) {
        let sum;
        (sum, carry) = word.carrying_add(u32::from_le_bytes(*s), carry);
        *out = sum.to_le_bytes();
    }
    tag
}
