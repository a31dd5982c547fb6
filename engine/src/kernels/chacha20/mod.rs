//! ChaCha20 with a 64-bit block counter and a 64-bit nonce, as it was first published and as SSH uses it.
//!
//! The state is sixteen little-endian words: four constants, eight of key, the counter (words 12 and
//! 13), the nonce (words 14 and 15). RFC 8439 splits the same last four words differently, into a 32-bit
//! counter and a 96-bit nonce, so its key stream is this one with
//! `block = counter | u64::from(u32::from_le_bytes(nonce[0..4])) << 32` and `nonce[4..12]`, up to the
//! 2³² blocks after which an RFC 8439 counter would wrap.
#![forbid(unsafe_code)]

/// Quarter rounds (RFC 8439 §2.1) side by side, each on the four places it is given.
///
/// They advance step by step together, so that their latencies overlap. The row's own `add`, `xor` and
/// `rotate::<LEFT, RIGHT>` do the arithmetic on words or on vectors of words; `rotate` also gets `$masks`.
macro_rules! quarter_rounds {
    ($masks:expr, $(($a:expr, $b:expr, $c:expr, $d:expr)),+) => {
        $( $a = add($a, $b); $d = xor($d, $a); )+
        $( $d = rotate::<16, 16>($d, $masks); )+
        $( $c = add($c, $d); $b = xor($b, $c); )+
        $( $b = rotate::<12, 20>($b, $masks); )+
        $( $a = add($a, $b); $d = xor($d, $a); )+
        $( $d = rotate::<8, 24>($d, $masks); )+
        $( $c = add($c, $d); $b = xor($b, $c); )+
        $( $b = rotate::<7, 25>($b, $masks); )+
    };
}

/// A column round and a diagonal round on sixteen words, or vectors of each of the words.
macro_rules! double_round {
    ($masks:expr, $x:ident) => {
        quarter_rounds!(
            $masks,
            ($x[0], $x[4], $x[8], $x[12]),
            ($x[1], $x[5], $x[9], $x[13]),
            ($x[2], $x[6], $x[10], $x[14]),
            ($x[3], $x[7], $x[11], $x[15])
        );
        quarter_rounds!(
            $masks,
            ($x[0], $x[5], $x[10], $x[15]),
            ($x[1], $x[6], $x[11], $x[12]),
            ($x[2], $x[7], $x[8], $x[13]),
            ($x[3], $x[4], $x[9], $x[14])
        );
    };
}

pub(super) mod portable;

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512vl;
#[cfg(target_arch = "x86_64")]
pub(super) mod sse2;

use super::row::{Entry, Kernel, Operation, Primitive, Row, row};
use super::wipe;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The ChaCha20 stream cipher.
pub struct ChaCha20;

/// A 256-bit key, aligned for the vector rows and erased when dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
#[repr(align(32))]
pub struct Key([u8; 32]);

impl Key {
    /// The key of these bytes.
    #[must_use]
    pub fn new(bytes: &[u8; 32]) -> Self {
        Self(*bytes)
    }

    /// Words 0 to 3, and words 4 to 7.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn halves(&self) -> &[[u8; 16]; 2] {
        self.0
            .as_chunks()
            .0
            .as_array()
            .expect("32 bytes are two halves")
    }

    /// Word `i` of the eight.
    #[inline]
    fn word(&self, i: usize) -> u32 {
        u32::from_le_bytes(self.0.as_chunks::<4>().0[i])
    }
}

impl Kernel<ChaCha20> {
    /// XORs into `data` the key stream that starts with block number `block`.
    ///
    /// `data` may have any length; what its last block does not use is dropped. The block number is
    /// the 64-bit counter and wraps around.
    #[inline]
    pub fn xor(self, key: &Key, nonce: [u8; 8], block: u64, data: &mut [u8]) {
        let nonce = u64::from_le_bytes(nonce);
        let args = XorArgs {
            key,
            nonce,
            block,
            data,
        };
        self.run(|row| row.xor, args);
    }
}

/// XOR with key stream.
struct Xor;

/// What [`Xor`] takes.
pub(super) struct XorArgs<'a> {
    pub(super) key: &'a Key,
    /// Words 14 and 15 of the state, the lower first.
    pub(super) nonce: u64,
    pub(super) block: u64,
    pub(super) data: &'a mut [u8],
}

impl Operation for Xor {
    type Args<'a> = XorArgs<'a>;
    type Output = ();
}

/// What every row of ChaCha20 can do.
#[derive(Clone, Copy)]
pub struct Entries {
    xor: Entry<Xor>,
}

impl Primitive for ChaCha20 {
    type Entries = Entries;
    const ROWS: &'static [Row<Self>] = &[
        #[cfg(target_arch = "x86_64")]
        row!("avx512", ["avx512f", "avx512bw", "avx512vbmi2"], wipe::zmm, Entries { xor: Xor => avx512::apply }),
        #[cfg(target_arch = "x86_64")]
        row!("avx512vl", ["avx512f", "avx512vl"], wipe::zmm, Entries { xor: Xor => avx512vl::apply }),
        #[cfg(target_arch = "x86_64")]
        row!("avx2", ["avx2"], wipe::ymm, Entries { xor: Xor => avx2::apply }),
        #[cfg(target_arch = "x86_64")]
        row!("sse2", ["sse2"], wipe::xmm, Entries { xor: Xor => sse2::apply }),
        row!("portable", [], wipe::baseline, Entries { xor: Xor => portable::apply }),
    ];
}

/// Length of a block in bytes.
pub(super) const BLOCK: usize = 64;
/// Double rounds to a block.
pub(super) const DOUBLE_ROUNDS: usize = 10;
/// Words 0 to 3 of every state: "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// XORs the start of one block of key stream into a buffer no longer than it.
#[inline]
pub(super) fn xor_partial(data: &mut [u8], stream: &[u8; BLOCK]) {
    let (words, bytes) = data.as_chunks_mut::<8>();
    let (stream_words, _) = stream.as_chunks::<8>();
    let used = 8 * words.len();
    for (word, stream) in words.iter_mut().zip(stream_words) {
        *word = (u64::from_ne_bytes(*word) ^ u64::from_ne_bytes(*stream)).to_ne_bytes();
    }
    for (byte, stream) in bytes.iter_mut().zip(&stream[used..]) {
        *byte ^= stream;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_block_takes_no_more_than_its_length() {
        let stream = std::array::from_fn(|i| i as u8 + 1);
        for length in 0..=BLOCK {
            let mut data = vec![0; length];
            xor_partial(&mut data, &stream);
            assert_eq!(data, stream[..length]);
        }
    }
}
