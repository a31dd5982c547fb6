//! AES in plain 64-bit words, four blocks at a time and in constant time.
//!
//! Bitsliced: word *i*, a plane, holds bit *i* of all 64 bytes, and the S-box is a circuit of logic
//! gates. Fixsliced (Adomnicai and Peyrin, CHES 2021): ShiftRows is never done. Round *k* works on a
//! state whose rows are still to be shifted *k* times; its round key and its MixColumns are laid out to
//! fit, and the last round sets the rows right.
//!
//! The byte in row *r*, column *c* of block *b* is bit 16*r* + 4*c* + *b* of each plane.
#![forbid(unsafe_code)]

use zeroize::Zeroizing;

use super::{BLOCK, CtrArgs, EncryptArgs, ExpandArgs, PLANES, RoundKeys, schedule};

/// Blocks per batch.
const BATCH: usize = 4;
/// Four blocks as little-endian words, two words a block.
type Words = [u64; 2 * BATCH];
type Planes = [u64; PLANES];

pub(super) fn expand(args: ExpandArgs) {
    let (slots, _) = args.round_keys.words.as_chunks_mut::<PLANES>();
    let keys = schedule(args.key, substitute);
    for (round, (slot, &[low, high])) in slots.iter_mut().zip(keys.iter()).enumerate() {
        *slot = slice([low, high, low, high, low, high, low, high])
            .map(|plane| unshift_rows(plane, round));
        if round > 0 {
            // The constant that `sub_bytes` leaves out; MixColumns and ShiftRows do not change it.
            add(slot, &[!0, !0, 0, 0, 0, !0, !0, 0]);
        }
    }
}

pub(super) fn encrypt(args: EncryptArgs) {
    for blocks in args.blocks.chunks_mut(BATCH) {
        let mut words = Words::default();
        for (pair, block) in words.as_chunks_mut::<2>().0.iter_mut().zip(&*blocks) {
            *pair = halves(block);
        }
        let words = encrypt_batch(args.round_keys, words);
        for (pair, block) in words.as_chunks::<2>().0.iter().zip(blocks) {
            block[..8].copy_from_slice(&pair[0].to_le_bytes());
            block[8..].copy_from_slice(&pair[1].to_le_bytes());
        }
    }
}

pub(super) fn ctr(args: CtrArgs) {
    let mut counter = u128::from_be_bytes(*args.counter);
    let mut stream = Zeroizing::new(Words::default());
    let mut fill = |blocks| {
        for (ahead, pair) in (0..).zip(stream.as_chunks_mut::<2>().0) {
            let block = args.width.advance(counter, ahead);
            *pair = halves(&block.to_be_bytes());
        }
        *stream = encrypt_batch(args.round_keys, *stream);
        counter = args.width.advance(counter, blocks);
        *stream
    };
    let (batches, tail) = args.data.as_chunks_mut::<{ BATCH * BLOCK }>();
    for batch in batches {
        for (bytes, key) in batch
            .as_chunks_mut::<8>()
            .0
            .iter_mut()
            .zip(fill(BATCH as u64))
        {
            *bytes = (u64::from_le_bytes(*bytes) ^ key).to_le_bytes();
        }
    }
    if !tail.is_empty() {
        let stream = fill(tail.len().div_ceil(BLOCK) as u64);
        for (bytes, key) in tail.chunks_mut(8).zip(stream) {
            for (byte, key) in bytes.iter_mut().zip(key.to_le_bytes()) {
                *byte ^= key;
            }
        }
    }
    *args.counter = counter.to_be_bytes();
}

/// A block as two little-endian words.
#[inline]
fn halves(block: &[u8; BLOCK]) -> [u64; 2] {
    let block = u128::from_le_bytes(*block);
    [block as u64, (block >> 64) as u64]
}

fn encrypt_batch(round_keys: &RoundKeys, words: Words) -> Words {
    let (keys, _) = round_keys.words.as_chunks::<PLANES>();
    let rounds = round_keys.rounds;
    let mut state = slice(words);
    add(&mut state, &keys[0]);
    for (round, key) in (1..).zip(&keys[1..rounds]) {
        sub_bytes(&mut state);
        match round % 4 {
            0 => mix_columns::<0>(&mut state),
            1 => mix_columns::<1>(&mut state),
            2 => mix_columns::<2>(&mut state),
            _ => mix_columns::<3>(&mut state),
        }
        add(&mut state, key);
    }
    sub_bytes(&mut state);
    add(&mut state, &keys[rounds]);
    if rounds % 4 == 2 {
        state = state.map(shift_rows_twice);
    }
    unslice(state)
}

#[inline]
fn add(state: &mut Planes, key: &Planes) {
    for (plane, key) in state.iter_mut().zip(key) {
        *plane ^= key;
    }
}

/// Rotates row *r* left by *r* columns, twice.
#[inline]
fn shift_rows_twice(plane: u64) -> u64 {
    const EVEN_ROWS: u64 = 0x0000_ffff_0000_ffff;
    const LEFT: u64 = 0x00ff_0000_00ff_0000;
    plane & EVEN_ROWS | plane >> 8 & LEFT | (plane & LEFT) << 8
}

/// Undoes ShiftRows `times` times.
fn unshift_rows(plane: u64, times: usize) -> u64 {
    (0..4).fold(0, |shifted, row| {
        let columns = (plane >> (16 * row)) as u16;
        let columns = columns.rotate_left((4 * row * times % 16) as u32);
        shifted | u64::from(columns) << (16 * row)
    })
}

/// Each byte becomes the one `ROWS` further down and `COLUMNS` further right, around the edges.
#[inline]
fn rotate<const ROWS: u32, const COLUMNS: u32>(plane: u64) -> u64 {
    let down = plane.rotate_right(16 * ROWS);
    if COLUMNS == 0 {
        return down;
    }
    let inside = (0xffff >> (4 * COLUMNS)) * 0x0001_0001_0001_0001;
    down.rotate_right(4 * COLUMNS) & inside | down.rotate_left(16 - 4 * COLUMNS) & !inside
}

/// MixColumns on a state whose rows are still to be shifted `SHIFTS` times (modulo 4): the next byte
/// down its column then stands `SHIFTS` columns further right.
#[inline]
fn mix_columns<const SHIFTS: u32>(state: &mut Planes) {
    let below = state.map(match SHIFTS {
        0 => rotate::<1, 0>,
        1 => rotate::<1, 1>,
        2 => rotate::<1, 2>,
        _ => rotate::<1, 3>,
    });
    let pair = std::array::from_fn::<_, PLANES, _>(|i| state[i] ^ below[i]);
    let next_pair = pair.map(match SHIFTS % 2 {
        0 => rotate::<2, 0>,
        _ => rotate::<2, 2>,
    });
    // 2a + 3b + c + d = 2(a + b) + b + (c + d); doubling moves bits up and reduces by x^8 = x^4 + x^3 + x + 1.
    let top = pair[7];
    let doubled = [
        top,
        pair[0] ^ top,
        pair[1],
        pair[2] ^ top,
        pair[3] ^ top,
        pair[4],
        pair[5],
        pair[6],
    ];
    *state = std::array::from_fn(|i| doubled[i] ^ below[i] ^ next_pair[i]);
}

/// Puts each byte of a word through the S-box.
fn substitute(word: u32) -> u32 {
    let mut planes = slice([u64::from(word), 0, 0, 0, 0, 0, 0, 0]);
    sub_bytes(&mut planes);
    unslice(planes)[0] as u32 ^ 0x6363_6363
}

/// The S-box without its constant 0x63: the circuit of Boyar and Peralta ("A depth-16 circuit for
/// the AES S-box", 2011; the variant with 32 AND gates), with the names of their paper.
#[inline]
fn sub_bytes(state: &mut Planes) {
    let [u7, u6, u5, u4, u3, u2, u1, u0] = *state;

    // To the basis in which inversion is cheap.
    let y14 = u3 ^ u5;
    let y13 = u0 ^ u6;
    let y9 = u0 ^ u3;
    let y8 = u0 ^ u5;
    let t0 = u1 ^ u2;
    let y1 = t0 ^ u7;
    let y4 = y1 ^ u3;
    let y12 = y13 ^ y14;
    let y2 = y1 ^ u0;
    let y5 = y1 ^ u6;
    let y3 = y5 ^ y8;
    let t1 = u4 ^ y12;
    let y15 = t1 ^ u5;
    let y20 = t1 ^ u1;
    let y6 = y15 ^ u7;
    let y10 = y15 ^ t0;
    let y11 = y20 ^ y9;
    let y7 = u7 ^ y11;
    let y17 = y10 ^ y11;
    let y19 = y10 ^ y8;
    let y16 = t0 ^ y11;
    let y21 = y13 ^ y16;
    let y18 = u0 ^ y16;

    // Inversion in GF(2^8) by way of GF(2^4).
    let t2 = y12 & y15;
    let t4 = (y3 & y6) ^ t2;
    let t6 = (y4 & u7) ^ t2;
    let t7 = y13 & y16;
    let t9 = (y5 & y1) ^ t7;
    let t11 = (y2 & y7) ^ t7;
    let t12 = y9 & y11;
    let t14 = (y14 & y17) ^ t12;
    let t16 = (y8 & y10) ^ t12;
    let t21 = t4 ^ y20 ^ t14;
    let t22 = t6 ^ t16 ^ y19;
    let t23 = t9 ^ t14 ^ y21;
    let t24 = t11 ^ t16 ^ y18;
    let t25 = t21 ^ t22;
    let t26 = t21 & t23;
    let t27 = t24 ^ t26;
    let t29 = (t25 & t27) ^ t22;
    let t30 = t23 ^ t24;
    let t31 = t22 ^ t26;
    let t33 = (t31 & t30) ^ t24;
    let t34 = t23 ^ t33;
    let t35 = t27 ^ t33;
    let t36 = t24 & t35;
    let t37 = t36 ^ t34;
    let t38 = t27 ^ t36;
    let t40 = t25 ^ (t29 & t38);
    let t41 = t40 ^ t37;
    let t42 = t29 ^ t33;
    let t43 = t29 ^ t40;
    let t44 = t33 ^ t37;
    let t45 = t42 ^ t41;
    let z0 = t44 & y15;
    let z1 = t37 & y6;
    let z2 = t33 & u7;
    let z3 = t43 & y16;
    let z4 = t40 & y1;
    let z5 = t29 & y7;
    let z6 = t42 & y11;
    let z7 = t45 & y17;
    let z8 = t41 & y10;
    let z9 = t44 & y12;
    let z10 = t37 & y3;
    let z11 = t33 & y4;
    let z12 = t43 & y13;
    let z13 = t40 & y5;
    let z14 = t29 & y2;
    let z15 = t42 & y9;
    let z16 = t45 & y14;
    let z17 = t41 & y8;

    // Back, with the affine map.
    let tc1 = z15 ^ z16;
    let tc2 = z10 ^ tc1;
    let tc3 = z9 ^ tc2;
    let tc4 = z0 ^ z2;
    let tc5 = z1 ^ z0;
    let tc6 = z3 ^ z4;
    let tc7 = z12 ^ tc4;
    let tc8 = z7 ^ tc6;
    let tc9 = z8 ^ tc7;
    let tc10 = tc8 ^ tc9;
    let tc11 = tc6 ^ tc5;
    let tc12 = z3 ^ z5;
    let tc13 = z13 ^ tc1;
    let tc14 = tc4 ^ tc12;
    let s3 = tc3 ^ tc11;
    let tc16 = z6 ^ tc8;
    let tc17 = z14 ^ tc10;
    let tc18 = tc13 ^ tc14;
    let s7 = z12 ^ tc18;
    let tc20 = z15 ^ tc16;
    let tc21 = tc2 ^ z11;
    let s2 = tc17 ^ tc20 ^ z17;
    let s0 = tc3 ^ tc16;
    let s6 = tc10 ^ tc18;
    let s4 = tc14 ^ s3;
    let s1 = s3 ^ tc16;
    let s5 = tc21 ^ tc17;

    *state = [s7, s6, s5, s4, s3, s2, s1, s0];
}

/// Bitslices four blocks.
#[inline]
fn slice(words: Words) -> Planes {
    let mut planes = Planes::default();
    for (block, pair) in words.as_chunks::<2>().0.iter().enumerate() {
        // Columns 0 and 2 of a block share a word byte by byte, and so do 1 and 3.
        let [left, right] = *pair;
        planes[block] = spread(left as u32) | spread(right as u32) << 8;
        planes[BATCH + block] = spread((left >> 32) as u32) | spread((right >> 32) as u32) << 8;
    }
    transpose(&mut planes);
    planes
}

/// Undoes [`slice`].
#[inline]
fn unslice(mut planes: Planes) -> Words {
    transpose(&mut planes);
    let mut words = Words::default();
    for (block, pair) in words.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let (even, odd) = (planes[block], planes[BATCH + block]);
        *pair = [
            gather(even) | gather(odd) << 32,
            gather(even >> 8) | gather(odd >> 8) << 32,
        ];
    }
    words
}

/// Moves byte *i* to byte 2*i*.
#[inline]
fn spread(column: u32) -> u64 {
    let column = u64::from(column);
    let column = (column | column << 16) & 0x0000_ffff_0000_ffff;
    (column | column << 8) & 0x00ff_00ff_00ff_00ff
}

/// Moves byte 2*i* to byte *i*, without the others.
#[inline]
fn gather(word: u64) -> u64 {
    let word = word & 0x00ff_00ff_00ff_00ff;
    let word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
    (word | word >> 16) & 0xffff_ffff
}

/// Swaps bit *i* of byte *p* of word *j* with bit *j* of byte *p* of word *i*.
#[inline]
fn transpose(words: &mut Planes) {
    const STEPS: [(usize, u64); 3] = [
        (1, 0x5555_5555_5555_5555),
        (2, 0x3333_3333_3333_3333),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
    ];
    for (distance, mask) in STEPS {
        for low in (0..PLANES).filter(|i| i & distance == 0) {
            let high = low + distance;
            let moved = (words[low] >> distance ^ words[high]) & mask;
            words[high] ^= moved;
            words[low] ^= moved << distance;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The S-box by its definition (FIPS 197 §5.1.1): inversion, then the affine map.
    fn s_box(byte: u8) -> u8 {
        let double = |a: u8| (a << 1) ^ ((a >> 7) * 0x1b);
        let times = |a: u8, b: u8| {
            let powers = std::iter::successors(Some(a), |&a| Some(double(a)));
            powers
                .take(8)
                .enumerate()
                .filter(|(i, _)| b >> i & 1 == 1)
                .fold(0, |sum, (_, power)| sum ^ power)
        };
        let inverse = (0..=255).find(|&b| times(byte, b) == 1).unwrap_or(0);
        (0..5).fold(0x63, |sum, turn| sum ^ inverse.rotate_left(turn))
    }

    #[test]
    fn the_circuit_is_the_s_box() {
        for byte in 0..=255u8 {
            let word = u32::from_le_bytes([byte, byte ^ 0xff, byte.rotate_left(3), 7]);
            let expected = word.to_le_bytes().map(s_box);
            assert_eq!(substitute(word).to_le_bytes(), expected, "{byte:#x}");
        }
    }

    #[test]
    fn slicing_puts_each_bit_where_the_layout_says() {
        for byte in 0..64 {
            for bit in 0..8 {
                let mut words = Words::default();
                words[byte / 8] = 1 << (8 * (byte % 8) + bit);
                let (block, column, row) = (byte / 16, byte % 16 / 4, byte % 4);
                let mut expected = Planes::default();
                expected[bit] = 1 << (16 * row + 4 * column + block);
                assert_eq!(slice(words), expected, "byte {byte}, bit {bit}");
                assert_eq!(unslice(expected), words, "byte {byte}, bit {bit}");
            }
        }
    }
}
