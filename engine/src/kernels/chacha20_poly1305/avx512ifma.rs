//! The fused message in 512-bit vectors: header block, one-time key and the body's first blocks in one
//! pass; of a long body sixteen blocks at a time are encrypted while sixteen others are hashed.
//!
//! Both halves wait for the same two ports, but not at the same moments: ChaCha20's rotations leave one
//! of them idle, Poly1305's carries both. So a step of Poly1305 goes, in four parts, between rounds.
#![forbid(unsafe_code)]

use std::arch::x86_64::*;
use std::hint::black_box;
use std::ops::Range;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::composed::{self, Passes};
use super::{BeginArgs, HEADER, Key, OpenArgs, SealArgs, TAG};
use crate::kernels::chacha20::avx512::{
    Four, Rows, apply, column_round, diagonal_round, double_round_of_rows, finish, finish_rows,
    mixed, rows, start, words, xor_fours,
};
use crate::kernels::chacha20::{BLOCK, DOUBLE_ROUNDS, XorArgs};
use crate::kernels::lanes::{load512, load512_part, store256, store512, store512_part};
use crate::kernels::poly1305::avx512ifma::{
    Limbs, Powers, STEP, add_product, add_rest, carried, first_step, head_len, lanes_of_zero,
    next_step, partial, split_step, sum, tag,
};
use crate::kernels::poly1305::portable::Multiplier;

/// Bytes of body that the pass over sixteen and four blocks encrypts.
const FIRST: usize = 18 * BLOCK;
/// Bytes of body in a pass over sixteen blocks, and of message in the steps beside it.
const PASS: usize = 16 * BLOCK;
/// Bytes of body whose key stream is in `Start`.
const AHEAD: usize = 2 * BLOCK;

#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi2")]
pub(super) fn begin(args: BeginArgs<'_>) {
    let [streams] = mixed(&[first_rows(args.key, args.nonce, 1)]);
    for (block, stream) in args.start.blocks.iter_mut().zip(streams) {
        store512(block, stream);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi2")]
pub(super) fn seal(args: SealArgs<'_>) -> [u8; TAG] {
    let SealArgs {
        key,
        nonce,
        message,
    } = args;
    let body = message.len().saturating_sub(HEADER);
    match body.div_ceil(BLOCK) {
        0..=2 => seal_short::<1>(key, nonce, message),
        3..=6 => seal_short::<2>(key, nonce, message),
        7..=10 => seal_short::<3>(key, nonce, message),
        _ => seal_long(key, nonce, message),
    }
}

/// A message whose blocks are all made by rows, in `N` vectors of each row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi2")]
fn seal_short<const N: usize>(key: &Key, nonce: u64, message: &mut [u8]) -> [u8; TAG] {
    let mut start = [first_rows(key, nonce, 1); N];
    for (i, rows_of_four) in start.iter_mut().enumerate().skip(1) {
        *rows_of_four = rows(&key.main, nonce, 4 * i as u64 - 1);
    }
    let streams = mixed(&start);
    let blocks = streams.as_flattened();
    let one_time_key = one_time_key(blocks[1]);
    // The body's key stream moves up by the header's word. Vectors then begin where Poly1305's blocks
    // do, and none of its loads has to wait for two stores.
    let mut before = _mm512_broadcastd_epi32(_mm512_castsi512_si128(blocks[0]));
    let mut parts = message.chunks_mut(BLOCK);
    for i in 2..=4 * N {
        let Some(part) = parts.next() else { break };
        let block = blocks.get(i).copied().unwrap_or(_mm512_setzero_si512());
        xor_part(part, _mm512_alignr_epi32::<15>(block, before));
        before = block;
    }
    tag((&one_time_key, message))
}

/// A message of more than ten blocks.
#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi2")]
fn seal_long(key: &Key, nonce: u64, message: &mut [u8]) -> [u8; TAG] {
    // Words the compiler can see would be kept in sixteen registers, and those on the stack.
    let state = black_box(words(&key.main, nonce));
    let ([header, one_time_block, seventeenth, eighteenth], sixteen) =
        first_pass(key, nonce, &state);
    let length = message.len();
    let mut sealed = length.min(HEADER + FIRST);
    let (head, body) = message[..sealed].split_at_mut(HEADER);
    xor_part(head, header);
    let (body, last) = body.split_at_mut(body.len().min(PASS));
    xor_fours(body, &sixteen);
    for (part, stream) in last.chunks_mut(BLOCK).zip([seventeenth, eighteenth]) {
        xor_part(part, stream);
    }

    let one_time_key = one_time_key(one_time_block);
    let mut r = Multiplier::new(&one_time_key);
    let mut powers = Powers::new(&r);
    let mut hashed = head_len(length);
    let mut h = first_step(&message[..hashed], &powers);
    let mut block = 19;
    while length - sealed > 10 * BLOCK {
        let pass = sealed..length.min(sealed + PASS);
        sealed = pass.end;
        if pass.start - hashed >= PASS {
            h = xor_and_hash(&state, block, message, pass, h, hashed, &powers);
            hashed += PASS;
        } else {
            xor_fours(&mut message[pass], &sixteen_blocks(&state, block));
        }
        block += 16;
    }
    apply(XorArgs {
        key: &key.main,
        nonce,
        block,
        data: &mut message[sealed..],
    });
    let h = add_rest(h, &message[hashed..], &powers);
    powers.wipe();
    let tag = h.finish(partial(message), &r, &one_time_key);
    r.wipe();
    tag
}

#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi2")]
pub(super) fn open(args: OpenArgs<'_>) -> bool {
    if args.message.len() < HEADER + AHEAD + PASS + 2 * STEP {
        return composed::open(args, passes());
    }
    open_long(args)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi2")]
fn passes() -> Passes {
    Passes {
        stream: apply,
        tag,
        ahead: AHEAD / BLOCK,
    }
}

/// Hashes ahead of what it decrypts. When the tag turns out wrong, nothing is left of either.
#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi2")]
fn open_long(args: OpenArgs<'_>) -> bool {
    let (key, nonce, message) = (args.key, args.nonce, args.message);
    let one_time_key = args.start.one_time_key();
    let state = black_box(words(&key.main, nonce));
    let mut r = Multiplier::new(one_time_key);
    let mut powers = Powers::new(&r);
    let mut hashed = head_len(message.len());
    let mut h = first_step(&message[..hashed], &powers);
    let mut decrypted = HEADER + AHEAD;
    let mut block = 3;
    if hashed < decrypted {
        let (steps, _) = message[hashed..].as_chunks();
        h = next_step(h, &steps[0], &powers);
        hashed += STEP;
    }
    let (head, body) = message[..decrypted].split_at_mut(HEADER);
    let [header, _, first, second] = &args.start.blocks;
    xor_part(head, load512(header));
    for (part, stream) in body.chunks_mut(BLOCK).zip([first, second]) {
        xor_part(part, load512(stream));
    }
    while message.len() - hashed >= PASS + STEP {
        let pass = decrypted..decrypted + PASS;
        decrypted = pass.end;
        h = xor_and_hash(&state, block, message, pass, h, hashed, &powers);
        hashed += PASS;
        block += 16;
    }
    let h = add_rest(h, &message[hashed..], &powers);
    powers.wipe();
    let expected = h.finish(partial(message), &r, one_time_key);
    r.wipe();
    let genuine = bool::from(expected.ct_eq(args.tag));
    if genuine {
        apply(XorArgs {
            key: &key.main,
            nonce,
            block,
            data: &mut message[decrypted..],
        });
    } else {
        message.fill(0);
    }
    genuine
}

/// The states of block 0 of the header's key, of block 0 of the main key, and of two blocks of the body.
#[inline]
#[target_feature(enable = "avx512f")]
fn first_rows(key: &Key, nonce: u64, body: u64) -> Rows {
    let header = rows(&key.header, nonce, 0);
    let zeroth = rows(&key.main, nonce, 0_u64.wrapping_sub(1));
    let mut first = rows(&key.main, nonce, body.wrapping_sub(2));
    for i in 0..4 {
        first[i] = _mm512_mask_mov_epi64(first[i], 0b0000_1100, zeroth[i]);
        first[i] = _mm512_mask_mov_epi64(first[i], 0b0000_0011, header[i]);
    }
    first
}

/// Four blocks as [`first_rows`] has them, with blocks 17 and 18 of the body, and its blocks 1 to 16.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn first_pass(key: &Key, nonce: u64, state: &[u32; 16]) -> (Four, [Four; 4]) {
    let first = first_rows(key, nonce, 17);
    let (mut x, mut by_rows) = (start(state, 1), first);
    for _ in 0..DOUBLE_ROUNDS {
        x = diagonal_round(column_round(x));
        by_rows = double_round_of_rows(by_rows);
    }
    (finish_rows(by_rows, &first), finish(x, state, 1))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn sixteen_blocks(state: &[u32; 16], block: u64) -> [Four; 4] {
    let mut x = start(state, block);
    for _ in 0..DOUBLE_ROUNDS {
        x = diagonal_round(column_round(x));
    }
    finish(x, state, block)
}

/// XORs sixteen blocks of key stream or less into a part of the message, and takes four steps of
/// Poly1305 from `hashed` on between their rounds, which are read before that part is written.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi2")]
fn xor_and_hash(
    state: &[u32; 16],
    block: u64,
    message: &mut [u8],
    part: Range<usize>,
    mut h: Limbs,
    hashed: usize,
    powers: &Powers,
) -> Limbs {
    let (steps, _) = message[hashed..hashed + PASS].as_chunks();
    let mut x = start(state, block);
    for blocks in steps {
        let [a, b] = split_step(blocks);
        x = column_round(x);
        let ahead = add_product([lanes_of_zero(); 2], b, &powers.eighth);
        x = diagonal_round(x);
        let products = add_product(ahead, sum(h, a), &powers.sixteenth);
        x = column_round(x);
        h = carried(products);
        x = diagonal_round(x);
    }
    for _ in 2 * PASS / STEP..DOUBLE_ROUNDS {
        x = diagonal_round(column_round(x));
    }
    xor_fours(&mut message[part], &finish(x, state, block));
    h
}
/// The key of Poly1305: half a block of key stream.
#[inline]
#[target_feature(enable = "avx512f")]
fn one_time_key(block: __m512i) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0; 32]);
    store256(&mut key, _mm512_castsi512_si256(block));
    key
}

/// XORs key stream into a block or less.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn xor_part(part: &mut [u8], stream: __m512i) {
    match part.as_mut_array() {
        Some(block) => store512(block, _mm512_xor_si512(load512(block), stream)),
        None => {
            store512_part(part, _mm512_xor_si512(load512_part(part), stream));
        }
    }
}
