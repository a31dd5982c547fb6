//! AES with the AES-NI instructions: eight blocks in flight hide the latency of a round.
#![forbid(unsafe_code)]

use std::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_aesenc_si128, _mm_aesenclast_si128, _mm_aeskeygenassist_si128,
    _mm_cvtsi32_si128, _mm_cvtsi128_si32, _mm_set_epi8, _mm_set1_epi32, _mm_setzero_si128,
    _mm_shuffle_epi8, _mm_xor_si128,
};

use zeroize::Zeroizing;

use super::{BLOCK, CtrArgs, EncryptArgs, ExpandArgs, MAX_KEYS, RoundKeys, Width, schedule};
use crate::kernels::lanes::{load128, load128_words, store128};

/// Blocks in flight.
const BATCH: usize = 8;
type Batch = [__m128i; BATCH];

#[inline]
#[target_feature(enable = "aes")]
pub(super) fn expand(args: ExpandArgs) {
    let (slots, _) = args.round_keys.words.as_chunks_mut::<2>();
    for (slot, key) in slots.iter_mut().zip(round_keys(args.key).iter()) {
        *slot = *key;
    }
}

/// The round keys one after the other, for every row that has AES-NI.
#[inline]
#[target_feature(enable = "aes")]
pub(in crate::kernels) fn round_keys(key: &[u8]) -> Zeroizing<[[u64; 2]; MAX_KEYS]> {
    schedule(key, |word| substitute(word))
}

#[inline]
#[target_feature(enable = "aes")]
pub(super) fn encrypt(args: EncryptArgs) {
    for blocks in args.blocks.chunks_mut(BATCH) {
        let mut batch = [_mm_setzero_si128(); BATCH];
        for (lanes, block) in batch.iter_mut().zip(&*blocks) {
            *lanes = load128(block);
        }
        let batch = encrypt_batch(args.round_keys, batch);
        for (block, lanes) in blocks.iter_mut().zip(batch) {
            store128(block, lanes);
        }
    }
}

#[inline]
#[target_feature(enable = "aes,ssse3")]
pub(super) fn ctr(args: CtrArgs) {
    let mut counter = u128::from_be_bytes(*args.counter);
    let (batches, tail) = args.data.as_chunks_mut::<{ BATCH * BLOCK }>();
    for batch in batches {
        let stream = key_stream(args.round_keys, args.width, counter);
        counter = args.width.advance(counter, BATCH as u64);
        for (block, key) in batch.as_chunks_mut::<BLOCK>().0.iter_mut().zip(stream) {
            store128(block, _mm_xor_si128(load128(block), key));
        }
    }
    if !tail.is_empty() {
        let stream = Zeroizing::new(key_stream(args.round_keys, args.width, counter));
        counter = (args.width).advance(counter, tail.len().div_ceil(BLOCK) as u64);
        xor_tail(tail, &stream);
    }
    *args.counter = counter.to_be_bytes();
}

/// XORs key stream into fewer than [`BATCH`] blocks, the last of which may be short.
#[inline]
#[target_feature(enable = "sse2")]
fn xor_tail(tail: &mut [u8], stream: &Batch) {
    let (blocks, rest) = tail.as_chunks_mut::<BLOCK>();
    let mut stream = stream.iter();
    for (block, &key) in blocks.iter_mut().zip(&mut stream) {
        store128(block, _mm_xor_si128(load128(block), key));
    }
    if let Some(&key) = stream.next()
        && !rest.is_empty()
    {
        let mut last = Zeroizing::new([0; BLOCK]);
        store128(&mut last, key);
        for (byte, key) in rest.iter_mut().zip(*last) {
            *byte ^= key;
        }
    }
}

/// The key stream of the [`BATCH`] blocks from `counter` on.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn key_stream(round_keys: &RoundKeys, width: Width, counter: u128) -> Batch {
    let big_endian = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let first = load128_words(&[counter as u64, (counter >> 64) as u64]);
    let mut blocks = [first; BATCH];
    if counter as u32 <= u32::MAX - BATCH as u32 {
        // No carry leaves the low word, whatever the width.
        for (ahead, block) in (0..).zip(&mut blocks) {
            *block = _mm_add_epi32(first, _mm_cvtsi32_si128(ahead));
        }
    } else {
        for (ahead, block) in (0..).zip(&mut blocks) {
            let counter = width.advance(counter, ahead);
            *block = load128_words(&[counter as u64, (counter >> 64) as u64]);
        }
    }
    for block in &mut blocks {
        *block = _mm_shuffle_epi8(*block, big_endian);
    }
    encrypt_batch(round_keys, blocks)
}

#[inline]
#[target_feature(enable = "aes")]
fn encrypt_batch(round_keys: &RoundKeys, mut batch: Batch) -> Batch {
    let (keys, _) = round_keys.words.as_chunks::<2>();
    let first = load128_words(&keys[0]);
    for lanes in &mut batch {
        *lanes = _mm_xor_si128(*lanes, first);
    }
    for key in &keys[1..round_keys.rounds] {
        let key = load128_words(key);
        for lanes in &mut batch {
            *lanes = _mm_aesenc_si128(*lanes, key);
        }
    }
    let last = load128_words(&keys[round_keys.rounds]);
    for lanes in &mut batch {
        *lanes = _mm_aesenclast_si128(*lanes, last);
    }
    batch
}

/// Puts each byte of a word through the S-box.
#[inline]
#[target_feature(enable = "aes")]
fn substitute(word: u32) -> u32 {
    let lanes = _mm_set1_epi32(word.cast_signed());
    _mm_cvtsi128_si32(_mm_aeskeygenassist_si128::<0>(lanes)).cast_unsigned()
}
