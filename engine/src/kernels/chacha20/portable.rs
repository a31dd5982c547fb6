//! ChaCha20 one block at a time in 32-bit words (RFC 8439 §2.3).
#![forbid(unsafe_code)]

use super::{BLOCK, CONSTANTS, DOUBLE_ROUNDS, Key, XorArgs, xor_partial};
use zeroize::optimization_barrier;

pub(in crate::kernels) fn apply(args: XorArgs<'_>) {
    let mut state = initial(args.key, args.nonce);
    let mut stream = [0; BLOCK];
    let mut block = args.block;
    for part in args.data.chunks_mut(BLOCK) {
        (state[12], state[13]) = (block as u32, (block >> 32) as u32);
        key_stream(&state, &mut stream);
        xor_partial(part, &stream);
        block = block.wrapping_add(1);
    }
    (state, stream) = ([0; 16], [0; BLOCK]);
    optimization_barrier(&state);
    optimization_barrier(&stream);
}

fn initial(key: &Key, nonce: u64) -> [u32; 16] {
    let mut state = [0; 16];
    state[..4].copy_from_slice(&CONSTANTS);
    for i in 0..8 {
        state[4 + i] = key.word(i);
    }
    (state[14], state[15]) = (nonce as u32, (nonce >> 32) as u32);
    state
}

#[inline]
fn key_stream(state: &[u32; 16], stream: &mut [u8; BLOCK]) {
    let mut x = *state;
    for _ in 0..DOUBLE_ROUNDS {
        double_round!((), x);
    }
    let (words, _) = stream.as_chunks_mut::<4>();
    for (word, (mixed, state)) in words.iter_mut().zip(x.iter().zip(state)) {
        *word = mixed.wrapping_add(*state).to_le_bytes();
    }
}

#[inline]
fn add(a: u32, b: u32) -> u32 {
    a.wrapping_add(b)
}

#[inline]
fn xor(a: u32, b: u32) -> u32 {
    a ^ b
}

#[inline]
fn rotate<const LEFT: u32, const RIGHT: u32>(a: u32, (): ()) -> u32 {
    a << LEFT | a >> RIGHT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quarter_round_of_the_rfc() {
        // RFC 8439 §2.1.1.
        let mut x = [0x1111_1111, 0x0102_0304, 0x9b8d_6f43, 0x0123_4567];
        quarter_rounds!((), (x[0], x[1], x[2], x[3]));
        assert_eq!(x, [0xea2a_92f4, 0xcb1c_f8ce, 0x4581_472e, 0x5881_c4bb]);
    }
}
