//! Poly1305 in 256-bit vectors: four blocks in four lanes, each block in five limbs of 26 bits.
//!
//! Lane j takes every fourth block, so that it advances by r⁴; the last four blocks are multiplied by
//! r⁴, r³, r² and r, and the lanes are added. Two groups of four go through one step where possible:
//! (h + a) · r⁸ + b · r⁴ needs one carry, and the second product does not wait for h.
#![forbid(unsafe_code)]

use super::portable::{self, Accumulator, Multiplier};
use crate::kernels::lanes::load256;
use std::arch::x86_64::*;
use std::hint::black_box;
use zeroize::optimization_barrier;

/// Shorter messages are done before the powers of r have paid: measured, 256 bytes lose, 320 win.
const WORTH_VECTORS: usize = 320;

/// One limb of four numbers in each vector.
type Limbs = [__m256i; 5];

#[target_feature(enable = "avx2")]
pub(in crate::kernels) fn tag((key, data): (&[u8; 32], &[u8])) -> [u8; 16] {
    if data.len() < WORTH_VECTORS {
        return portable::tag((key, data));
    }
    let mut r = Multiplier::new(key);
    let (blocks, partial) = data.as_chunks();
    let (head, groups) = blocks.split_at(blocks.len() % 4);
    let h = Accumulator::ZERO.add_blocks(head, &r);
    let h = add_groups(h, groups.as_flattened().as_chunks().0, &r);
    let tag = h.finish(partial, &r, key);
    r.wipe();
    tag
}

/// Takes groups of four blocks in.
///
/// `black_box` hides from the compiler how large the limbs are and that the powers stay the same. It
/// takes the 32-bit multiplication for one of 64 bits whose factors were masked, moves those masks out
/// of the loop, and then no longer knows that three multiplications in place of one are not needed.
#[inline]
#[target_feature(enable = "avx2")]
fn add_groups(h: Accumulator, groups: &[[u8; 64]], r: &Multiplier) -> Accumulator {
    let Some((last, groups)) = groups.split_last() else {
        return h;
    };
    let mut powers = Powers::new(r);
    let mut h = black_box(lanes(
        Accumulator::ZERO,
        Accumulator::ZERO,
        Accumulator::ZERO,
        h,
    ));
    let (pairs, single) = groups.as_chunks();
    for [a, b] in pairs {
        let powers = black_box(&powers);
        let ahead = times(split(b), &powers.fourth);
        h = carried(sum(times(sum(h, split(a)), &powers.eighth), ahead));
    }
    for group in single {
        let powers = black_box(&powers);
        h = carried(times(sum(h, split(group)), &powers.fourth));
    }
    h = times(sum(h, split(last)), &black_box(&powers).last);
    powers.wipe();
    Accumulator::from_limbs(added_up(carried(h)))
}

/// The powers of r that the steps multiply by.
struct Powers {
    eighth: Factor,
    fourth: Factor,
    last: Factor,
}

/// Limbs to multiply by, and five times the limbs but the lowest.
#[derive(Clone, Copy)]
struct Factor {
    r: Limbs,
    s: [__m256i; 4],
}

impl Powers {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(r: &Multiplier) -> Self {
        let r1 = r.value();
        let r2 = r1.times(r);
        let r3 = r2.times(r);
        let r4 = r3.times(r);
        let last = Factor::new(lanes(r1, r3, r2, r4));
        let fourth = Factor::new(lanes(r4, r4, r4, r4));
        let eighth = Factor::new(carried(times(fourth.r, &fourth)));
        Self {
            eighth,
            fourth,
            last,
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn wipe(&mut self) {
        let zero = Factor {
            r: [_mm256_setzero_si256(); 5],
            s: [_mm256_setzero_si256(); 4],
        };
        (self.eighth, self.fourth, self.last) = (zero, zero, zero);
        optimization_barrier(self);
    }
}

impl Factor {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(r: Limbs) -> Self {
        let s = [
            five_times(r[1]),
            five_times(r[2]),
            five_times(r[3]),
            five_times(r[4]),
        ];
        Self { r, s }
    }
}

/// Four numbers, the one for the highest lane first.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes(d: Accumulator, c: Accumulator, b: Accumulator, a: Accumulator) -> Limbs {
    let (a, b, c, d) = (a.limbs(), b.limbs(), c.limbs(), d.limbs());
    let mut lanes = [_mm256_setzero_si256(); 5];
    for i in 0..5 {
        lanes[i] = _mm256_set_epi64x(d[i] as i64, c[i] as i64, b[i] as i64, a[i] as i64);
    }
    lanes
}

/// The limbs of four blocks, in the order first, third, second, fourth.
#[inline]
#[target_feature(enable = "avx2")]
fn split(group: &[u8; 64]) -> Limbs {
    let (halves, _) = group.as_chunks();
    let (a, b) = (load256(&halves[0]), load256(&halves[1]));
    let (low, high) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    let middle = _mm256_or_si256(_mm256_srli_epi64::<52>(low), _mm256_slli_epi64::<12>(high));
    [
        masked(low),
        masked(_mm256_srli_epi64::<26>(low)),
        masked(middle),
        masked(_mm256_srli_epi64::<14>(high)),
        _mm256_or_si256(_mm256_srli_epi64::<40>(high), _mm256_set1_epi64x(1 << 24)),
    ]
}

/// The product modulo p, before carrying: limbs below 2⁵⁸ where those of `h` are below 2²⁸.
#[inline]
#[target_feature(enable = "avx2")]
fn times(h: Limbs, Factor { r, s }: &Factor) -> Limbs {
    // A product at limb 5 + i is 2¹³⁰ times one at limb i: five times that one.
    [
        dot(h, [r[0], s[3], s[2], s[1], s[0]]),
        dot(h, [r[1], r[0], s[3], s[2], s[1]]),
        dot(h, [r[2], r[1], r[0], s[3], s[2]]),
        dot(h, [r[3], r[2], r[1], r[0], s[3]]),
        dot(h, [r[4], r[3], r[2], r[1], r[0]]),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn dot(a: Limbs, b: Limbs) -> __m256i {
    let low = add(_mm256_mul_epu32(a[0], b[0]), _mm256_mul_epu32(a[2], b[2]));
    let high = add(_mm256_mul_epu32(a[3], b[3]), _mm256_mul_epu32(a[4], b[4]));
    add(add(low, high), _mm256_mul_epu32(a[1], b[1]))
}

/// The same numbers modulo p with limbs below 2²⁶, the second and the top one not far above.
///
/// Two chains of carries run side by side, from limb 0 and from limb 3.
#[inline]
#[target_feature(enable = "avx2")]
fn carried(mut d: Limbs) -> Limbs {
    d[1] = add(d[1], carry(d[0]));
    d[4] = add(d[4], carry(d[3]));
    d[0] = masked(d[0]);
    d[3] = masked(d[3]);
    d[2] = add(d[2], carry(d[1]));
    d[0] = add(d[0], five_times(carry(d[4])));
    d[1] = masked(d[1]);
    d[4] = masked(d[4]);
    d[3] = add(d[3], carry(d[2]));
    d[1] = add(d[1], carry(d[0]));
    d[2] = masked(d[2]);
    d[0] = masked(d[0]);
    d[4] = add(d[4], carry(d[3]));
    d[3] = masked(d[3]);
    d
}

/// The sum of the four lanes, limb by limb.
#[inline]
#[target_feature(enable = "avx2")]
fn added_up(h: Limbs) -> [u64; 5] {
    let mut total = [0; 5];
    for i in 0..5 {
        let (low, high) = (
            _mm256_castsi256_si128(h[i]),
            _mm256_extracti128_si256::<1>(h[i]),
        );
        let two = _mm_add_epi64(low, high);
        total[i] = _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two))) as u64;
    }
    total
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum(a: Limbs, b: Limbs) -> Limbs {
    [
        add(a[0], b[0]),
        add(a[1], b[1]),
        add(a[2], b[2]),
        add(a[3], b[3]),
        add(a[4], b[4]),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(a: __m256i, b: __m256i) -> __m256i {
    _mm256_add_epi64(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn masked(a: __m256i) -> __m256i {
    _mm256_and_si256(a, _mm256_set1_epi64x((1 << 26) - 1))
}

#[inline]
#[target_feature(enable = "avx2")]
fn carry(a: __m256i) -> __m256i {
    _mm256_srli_epi64::<26>(a)
}

#[inline]
#[target_feature(enable = "avx2")]
fn five_times(a: __m256i) -> __m256i {
    add(a, _mm256_slli_epi64::<2>(a))
}
