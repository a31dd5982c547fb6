//! Poly1305 in 512-bit vectors with the 52-bit multiply-add: eight blocks in eight lanes, each block in
//! three limbs of 44, 44 and 42 bits.
//!
//! Lane j takes every eighth block, so that it advances by r⁸. Two groups of eight go through one step:
//! (h + a) · r¹⁶ + b · r⁸ needs one carry, and the second product does not wait for h. The last step
//! multiplies each lane by its own power, from r¹⁶ down to r, and the lanes are added. What does not
//! fill a step comes first, behind blocks of zeros that leave no trace.
#![forbid(unsafe_code)]

use super::BLOCK;
use super::portable::{self, Accumulator, Multiplier};
use crate::kernels::lanes::{load512, load512_end};
use std::arch::x86_64::*;
use zeroize::optimization_barrier;

/// Shorter messages are done before the powers of r have paid; from here on there is a step.
const WORTH_VECTORS: usize = STEP;

/// Steps from which on two of them go through one carry: with fewer it gains nothing.
const WORTH_PAIRS: usize = 8;

/// Bytes of a step: two groups of eight blocks.
pub(in crate::kernels) const STEP: usize = 16 * BLOCK;

/// One limb of eight numbers in each vector.
pub(in crate::kernels) type Limbs = [__m512i; 3];

#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi2")]
pub(in crate::kernels) fn tag((key, data): (&[u8; 32], &[u8])) -> [u8; 16] {
    if data.len() < WORTH_VECTORS {
        return portable::tag((key, data));
    }
    let mut r = Multiplier::new(key);
    let mut powers = Powers::new(&r);
    let (head, rest) = data.split_at(head_len(data.len()));
    let h = add_rest(first_step(head, &powers), rest, &powers);
    powers.wipe();
    let tag = h.finish(partial(data), &r, key);
    r.wipe();
    tag
}

/// Bytes of a message of that length that [`first_step`] takes, so that whole steps and less than a block follow.
#[inline]
pub(in crate::kernels) fn head_len(length: usize) -> usize {
    length % STEP - length % BLOCK
}

/// What is left of a message when its whole blocks are done.
#[inline]
pub(in crate::kernels) fn partial(message: &[u8]) -> &[u8] {
    message.as_chunks::<BLOCK>().1
}

/// Takes in one step or more, and adds the lanes. Less than a block after the last step is left out.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi2")]
pub(in crate::kernels) fn add_rest(mut h: Limbs, rest: &[u8], powers: &Powers) -> Accumulator {
    let (steps, _) = rest.as_chunks();
    let (last, steps) = steps.split_last().expect("the message has a step");
    let (pairs, single) = if steps.len() < WORTH_PAIRS {
        (&[][..], steps)
    } else {
        steps.as_chunks::<2>()
    };
    h = add_pairs(h, pairs, powers);
    for step in single {
        h = next_step(h, step, powers);
    }
    last_step(h, last, powers)
}

/// The powers of r that the steps multiply by.
pub(in crate::kernels) struct Powers {
    pub(in crate::kernels) sixteenth: Factor,
    pub(in crate::kernels) eighth: Factor,
    /// The powers of the first group of the last step, and of the second.
    last: [Factor; 2],
}

/// Limbs to multiply by, and twenty times the limbs but the lowest: a product at limb 3 is 2¹³² times
/// one at limb 0.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Factor {
    r: Limbs,
    s: [__m512i; 2],
}

impl Powers {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(in crate::kernels) fn new(r: &Multiplier) -> Self {
        let r1 = r.value();
        let r2 = r1.times(r);
        let r3 = r2.times(r);
        let r4 = r3.times(r);
        let [r1, r2, r3, r4] = [r1.limbs44(), r2.limbs44(), r3.limbs44(), r4.limbs44()];
        let (mut low, mut fourth) = (lanes_of_zero(), lanes_of_zero());
        for i in 0..3 {
            let [r1, r2, r3, r4] = [r1[i] as i64, r2[i] as i64, r3[i] as i64, r4[i] as i64];
            // `split` leaves blocks 0 and 4, 1 and 5 … side by side, and r⁸ belongs to block 0.
            low[i] = _mm512_set_epi64(r1, r1, r2, r2, r3, r3, r4, r4);
            fourth[i] = _mm512_set1_epi64(r4);
        }
        let higher = times(low, &Factor::new(fourth));
        for i in 0..3 {
            low[i] = _mm512_mask_mov_epi64(low[i], 0b0101_0101, higher[i]);
        }
        let eighth = Factor::new(first_lane(low));
        let high = times(low, &eighth);
        Self {
            sixteenth: Factor::new(first_lane(high)),
            eighth,
            last: [Factor::new(high), Factor::new(low)],
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(in crate::kernels) fn wipe(&mut self) {
        let zero = Factor::new(lanes_of_zero());
        (self.sixteenth, self.eighth, self.last) = (zero, zero, [zero; 2]);
        optimization_barrier(self);
    }
}

impl Factor {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(r: Limbs) -> Self {
        let s = [twenty_times(r[1]), twenty_times(r[2])];
        Self { r, s }
    }
}

/// Takes in what does not fill a step: less than [`STEP`] bytes of whole blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi2")]
pub(in crate::kernels) fn first_step(head: &[u8], powers: &Powers) -> Limbs {
    if head.is_empty() {
        return lanes_of_zero();
    }
    let factors = [&powers.sixteenth, &powers.eighth];
    step(lanes_of_zero(), split_end(head), factors)
}

/// Takes in sixteen blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2")]
pub(in crate::kernels) fn next_step(h: Limbs, blocks: &[u8; STEP], powers: &Powers) -> Limbs {
    step(h, split_step(blocks), [&powers.sixteenth, &powers.eighth])
}

/// Takes in pairs of steps, each with a single carry.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2")]
fn add_pairs(mut h: Limbs, pairs: &[[[u8; STEP]; 2]], powers: &Powers) -> Limbs {
    if pairs.is_empty() {
        return h;
    }
    let Powers {
        sixteenth, eighth, ..
    } = powers;
    let mut higher = [
        Factor::new(times(sixteenth.r, sixteenth)),
        Factor::new(times(sixteenth.r, eighth)),
    ];
    for [first, second] in pairs {
        let ([a, b], [c, d]) = (split_step(first), split_step(second));
        let ahead = add_product([lanes_of_zero(); 2], d, eighth);
        let ahead = add_product(ahead, c, sixteenth);
        let ahead = add_product(ahead, b, &higher[1]);
        h = carried(add_product(ahead, sum(h, a), &higher[0]));
    }
    higher = [Factor::new(lanes_of_zero()); 2];
    optimization_barrier(&higher);
    h
}

/// Takes in the last sixteen blocks and adds the lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2")]
fn last_step(h: Limbs, blocks: &[u8; STEP], powers: &Powers) -> Accumulator {
    let [high, low] = &powers.last;
    let [h0, h1, h2] = step(h, split_step(blocks), [high, low]);
    Accumulator::from_limbs44([
        _mm512_reduce_add_epi64(h0) as u64,
        _mm512_reduce_add_epi64(h1) as u64,
        _mm512_reduce_add_epi64(h2) as u64,
    ])
}

/// (h + a) · f + b · g, carried.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn step(h: Limbs, [a, b]: [Limbs; 2], [f, g]: [&Factor; 2]) -> Limbs {
    let ahead = add_product([lanes_of_zero(); 2], b, g);
    carried(add_product(ahead, sum(h, a), f))
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn times(h: Limbs, factor: &Factor) -> Limbs {
    carried(add_product([lanes_of_zero(); 2], h, factor))
}

/// Adds a product modulo p: the low 52 bits of its parts, and what is above those.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in crate::kernels) fn add_product(
    [mut low, mut high]: [Limbs; 2],
    h: Limbs,
    factor: &Factor,
) -> [Limbs; 2] {
    let Factor { r, s } = factor;
    // The lowest limb of h is known last.
    let rows = [
        (h[2], [s[0], s[1], r[0]]),
        (h[1], [s[1], r[0], r[1]]),
        (h[0], *r),
    ];
    for (h, row) in rows {
        for i in 0..3 {
            low[i] = _mm512_madd52lo_epu64(low[i], h, row[i]);
            high[i] = _mm512_madd52hi_epu64(high[i], h, row[i]);
        }
    }
    [low, high]
}

/// Limbs of 44, 44 and 42 bits again; the upper two may be larger by a few thousand.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn carried([low, high]: [Limbs; 2]) -> Limbs {
    let (mask_44, mask_42) = (
        _mm512_set1_epi64((1 << 44) - 1),
        _mm512_set1_epi64((1 << 42) - 1),
    );
    // 2⁵² is 2⁸ in the next limb; above the last one it is 2¹⁰ · 2¹³⁰.
    let d1 = add(low[1], _mm512_slli_epi64::<8>(high[0]));
    let d2 = add(low[2], _mm512_slli_epi64::<8>(high[1]));
    let over = add(
        _mm512_srli_epi64::<42>(d2),
        _mm512_slli_epi64::<10>(high[2]),
    );
    let h0 = add(_mm512_and_si512(low[0], mask_44), five_times(over));
    let h1 = add(
        _mm512_and_si512(d1, mask_44),
        _mm512_srli_epi64::<44>(low[0]),
    );
    let h2 = add(_mm512_and_si512(d2, mask_42), _mm512_srli_epi64::<44>(d1));
    [
        _mm512_and_si512(h0, mask_44),
        add(h1, _mm512_srli_epi64::<44>(h0)),
        h2,
    ]
}

/// The limbs of sixteen blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2")]
pub(in crate::kernels) fn split_step(blocks: &[u8; STEP]) -> [Limbs; 2] {
    let ([a, b, c, d], _) = blocks.as_chunks() else {
        unreachable!("a step is four vectors");
    };
    let one = _mm512_set1_epi64(1 << 40);
    [
        split(load512(a), load512(b), one),
        split(load512(c), load512(d), one),
    ]
}

/// The limbs of up to fifteen blocks, behind blocks of zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
fn split_end(blocks: &[u8]) -> [Limbs; 2] {
    let length = blocks.len();
    let vector = |from_end: usize| load512_end(&blocks[..length.saturating_sub(from_end)]);
    let absent = (STEP - length).div_ceil(BLOCK) as i64;
    let order = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
    let one = |first: i64| {
        let present = _mm512_cmpge_epi64_mask(order, _mm512_set1_epi64(absent - first));
        _mm512_maskz_set1_epi64(present, 1 << 40)
    };
    [
        split(vector(192), vector(128), one(0)),
        split(vector(64), vector(0), one(8)),
    ]
}

/// The limbs of eight blocks, in the order 0, 4, 1, 5, 2, 6, 3, 7; `one` is the bit above each.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2")]
fn split(a: __m512i, b: __m512i, one: __m512i) -> Limbs {
    let (low, high) = (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let mask = _mm512_set1_epi64((1 << 44) - 1);
    [
        _mm512_and_si512(low, mask),
        _mm512_and_si512(_mm512_shrdi_epi64::<44>(low, high), mask),
        _mm512_or_si512(_mm512_srli_epi64::<24>(high), one),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn lanes_of_zero() -> Limbs {
    [_mm512_setzero_si512(); 3]
}

/// The number in the first lane, in all lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn first_lane(h: Limbs) -> Limbs {
    [
        _mm512_broadcastq_epi64(_mm512_castsi512_si128(h[0])),
        _mm512_broadcastq_epi64(_mm512_castsi512_si128(h[1])),
        _mm512_broadcastq_epi64(_mm512_castsi512_si128(h[2])),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn sum(a: Limbs, b: Limbs) -> Limbs {
    [add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2])]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add(a: __m512i, b: __m512i) -> __m512i {
    _mm512_add_epi64(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn five_times(a: __m512i) -> __m512i {
    add(a, _mm512_slli_epi64::<2>(a))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn twenty_times(a: __m512i) -> __m512i {
    _mm512_slli_epi64::<2>(five_times(a))
}
