//! AES with VAES at full width: four blocks a register, eight registers in flight.
//!
//! Each round key lies four times side by side, so that a round needs no broadcast.
#![forbid(unsafe_code)]

use std::arch::x86_64::{
    __m512i, _mm_set_epi8, _mm_set_epi64x, _mm512_add_epi64, _mm512_aesenc_epi128,
    _mm512_aesenclast_epi128, _mm512_broadcast_i32x4, _mm512_set_epi64, _mm512_setzero_si512,
    _mm512_shuffle_epi8, _mm512_xor_si512,
};

use super::{BLOCK, CtrArgs, EncryptArgs, ExpandArgs, RoundKeys, Width, aesni, until_carry};
use crate::kernels::lanes::{
    in_order512, load512, load512_part, load512_words, store512, store512_part,
};

/// Bytes in a register.
const VECTOR: usize = 64;
/// Registers in flight.
const BATCH: usize = 8;

#[inline]
#[target_feature(enable = "aes")]
pub(super) fn expand(args: ExpandArgs) {
    let (slots, _) = args.round_keys.words.as_chunks_mut::<8>();
    for (slot, &[low, high]) in slots.iter_mut().zip(aesni::round_keys(args.key).iter()) {
        *slot = [low, high, low, high, low, high, low, high];
    }
}

#[inline]
#[target_feature(enable = "vaes,avx512bw")]
pub(super) fn encrypt(args: EncryptArgs) {
    match args.round_keys.rounds {
        10 => encrypt_bytes::<10>(args.round_keys.wide(), args.blocks.as_flattened_mut()),
        12 => encrypt_bytes::<12>(args.round_keys.wide(), args.blocks.as_flattened_mut()),
        _ => encrypt_bytes::<14>(args.round_keys.wide(), args.blocks.as_flattened_mut()),
    }
}

#[inline]
#[target_feature(enable = "vaes,avx512bw")]
fn encrypt_bytes<const ROUNDS: usize>(keys: &WideKeys, bytes: &mut [u8]) {
    for part in bytes.chunks_mut(VECTOR) {
        let state = first_rounds::<ROUNDS, 1>(keys, [load512_part(part)]);
        let last = load512_words(&keys[ROUNDS]);
        store512_part(part, _mm512_aesenclast_epi128(state[0], last));
    }
}

#[inline]
#[target_feature(enable = "vaes,avx512bw")]
pub(super) fn ctr(args: CtrArgs) {
    let (now, later) = until_carry(args.width, args.counter, args.data);
    let mut counter = u128::from_be_bytes(*args.counter);
    counter = xor_part(args.round_keys, args.width, counter, now);
    if !later.is_empty() {
        counter = xor_part(args.round_keys, args.width, counter, later);
    }
    *args.counter = counter.to_be_bytes();
}

/// XORs one part of the data, and gives the counter after it.
#[inline]
#[target_feature(enable = "vaes,avx512bw")]
fn xor_part(round_keys: &RoundKeys, width: Width, counter: u128, data: &mut [u8]) -> u128 {
    match round_keys.rounds {
        10 => xor::<10>(round_keys.wide(), counter, data),
        12 => xor::<12>(round_keys.wide(), counter, data),
        _ => xor::<14>(round_keys.wide(), counter, data),
    }
    width.advance(counter, data.len().div_ceil(BLOCK) as u64)
}

/// XORs the key stream from `counter` on, whose low half does not overflow on the way.
#[inline]
#[target_feature(enable = "vaes,avx512bw")]
fn xor<const ROUNDS: usize>(keys: &WideKeys, counter: u128, data: &mut [u8]) {
    let first = _mm_set_epi64x((counter >> 64) as i64, counter as i64);
    let ahead = _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0);
    let mut counters = _mm512_add_epi64(_mm512_broadcast_i32x4(first), ahead);
    let last = load512_words(&keys[ROUNDS]);
    let (batches, rest) = data.as_chunks_mut::<{ BATCH * VECTOR }>();
    for batch in batches {
        let blocks = next_blocks::<BATCH>(&mut counters);
        let states = first_rounds::<ROUNDS, BATCH>(keys, blocks);
        for (part, state) in batch.as_chunks_mut().0.iter_mut().zip(states) {
            let masked = _mm512_xor_si512(load512(part), last);
            store512(part, _mm512_aesenclast_epi128(state, masked));
        }
    }
    let (vectors, rest) = rest.as_chunks_mut::<VECTOR>();
    for part in vectors {
        let [state] = first_rounds::<ROUNDS, 1>(keys, next_blocks::<1>(&mut counters));
        let masked = _mm512_xor_si512(load512(part), last);
        store512(part, _mm512_aesenclast_epi128(state, masked));
    }
    if !rest.is_empty() {
        let [state] = first_rounds::<ROUNDS, 1>(keys, next_blocks::<1>(&mut counters));
        let masked = _mm512_xor_si512(load512_part(rest), last);
        store512_part(rest, _mm512_aesenclast_epi128(state, masked));
    }
}

/// The next counters as big-endian blocks, moving `counters` on.
#[inline]
#[target_feature(enable = "avx512bw")]
fn next_blocks<const N: usize>(counters: &mut __m512i) -> [__m512i; N] {
    let big_endian = _mm512_broadcast_i32x4(_mm_set_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    ));
    let four = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);
    let mut blocks = [_mm512_setzero_si512(); N];
    for block in &mut blocks {
        *block = _mm512_shuffle_epi8(*counters, big_endian);
        *counters = _mm512_add_epi64(*counters, four);
    }
    blocks
}

/// All rounds but the last.
#[inline]
#[target_feature(enable = "vaes,avx512f")]
fn first_rounds<const ROUNDS: usize, const N: usize>(
    keys: &WideKeys,
    mut states: [__m512i; N],
) -> [__m512i; N] {
    let first = load512_words(&keys[0]);
    for state in &mut states {
        *state = _mm512_xor_si512(*state, first);
    }
    for key in &keys[1..ROUNDS] {
        let key = load512_words(key);
        for state in &mut states {
            *state = in_order512(_mm512_aesenc_epi128(*state, key));
        }
    }
    states
}

/// Round keys, each four times side by side.
type WideKeys = [[u64; 8]; super::MAX_KEYS];
