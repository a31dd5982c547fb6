//! AES (FIPS 197): block encryption, and the counter modes of SSH and GCM on top of it.
//!
//! Only encryption: every mode SSH still uses runs the cipher forwards. CBC belongs to libcrypto. No
//! row looks anything up in a table or branches on a secret, key expansion included.
#![forbid(unsafe_code)]

#[cfg(target_arch = "x86_64")]
pub(super) mod aesni;
mod portable;
#[cfg(target_arch = "x86_64")]
mod vaes512;

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::row::{Entry, Kernel, Operation, Primitive, Row, row};
use super::wipe;

/// Bytes in a block.
pub const BLOCK: usize = 16;

/// The primitive: AES with 128, 192 or 256 bit keys.
pub struct Aes;

/// What each row of [`Aes`] owns.
#[derive(Clone, Copy)]
pub struct Entries {
    expand: Entry<Expand>,
    encrypt: Entry<Encrypt>,
    ctr: Entry<Ctr>,
}

impl Primitive for Aes {
    type Entries = Entries;
    const ROWS: &'static [Row<Self>] = &[
        #[cfg(target_arch = "x86_64")]
        row!("vaes512", ["vaes", "aes", "avx512f", "avx512bw", "avx512vbmi2"], wipe::zmm, Entries {
            expand: Expand => vaes512::expand,
            encrypt: Encrypt => vaes512::encrypt,
            ctr: Ctr => vaes512::ctr,
        }),
        #[cfg(target_arch = "x86_64")]
        row!("aesni", ["aes", "ssse3"], wipe::xmm, Entries {
            expand: Expand => aesni::expand,
            encrypt: Encrypt => aesni::encrypt,
            ctr: Ctr => aesni::ctr,
        }),
        row!("portable", [], wipe::baseline, Entries {
            expand: Expand => portable::expand,
            encrypt: Encrypt => portable::encrypt,
            ctr: Ctr => portable::ctr,
        }),
    ];
}

impl Kernel<Aes> {
    /// Expands a key of 16, 24 or 32 bytes.
    ///
    /// # Panics
    /// When the key has another length.
    #[must_use]
    pub fn expand(self, key: &[u8]) -> Key {
        let mut round_keys = RoundKeys {
            words: [0; PLANES * MAX_KEYS],
            rounds: rounds(key.len()),
        };
        let args = ExpandArgs {
            key,
            round_keys: &mut round_keys,
        };
        self.run(|row| row.expand, args);
        Key {
            kernel: self,
            round_keys,
        }
    }
}

/// An expanded key, bound to the row that laid it out: no other row can be handed it.
#[derive(Clone)]
pub struct Key {
    kernel: Kernel<Aes>,
    round_keys: RoundKeys,
}

impl Key {
    /// The row that works with this key.
    #[must_use]
    pub fn kernel(&self) -> Kernel<Aes> {
        self.kernel
    }

    /// Encrypts one block in place.
    pub fn encrypt_block(&self, block: &mut [u8; BLOCK]) {
        self.encrypt_blocks(std::slice::from_mut(block));
    }

    /// Encrypts each block by itself, in place.
    pub fn encrypt_blocks(&self, blocks: &mut [[u8; BLOCK]]) {
        let args = EncryptArgs {
            round_keys: &self.round_keys,
            blocks,
        };
        self.kernel.run(|row| row.encrypt, args);
    }

    /// XORs the key stream of SSH's aes-ctr (RFC 4344 §4) into `data`: `counter` is a 128-bit
    /// big-endian number, and is left `data.len().div_ceil(16)` further on.
    pub fn ctr128(&self, counter: &mut [u8; BLOCK], data: &mut [u8]) {
        self.ctr(Width::All, counter, data);
    }

    /// XORs the key stream of GCM (SP 800-38D §6.5) into `data`: as [`ctr128`](Self::ctr128), but
    /// only the last 32 bits count, modulo 2^32.
    pub fn ctr32(&self, counter: &mut [u8; BLOCK], data: &mut [u8]) {
        self.ctr(Width::Low32, counter, data);
    }

    fn ctr(&self, width: Width, counter: &mut [u8; BLOCK], data: &mut [u8]) {
        let args = CtrArgs {
            round_keys: &self.round_keys,
            width,
            counter,
            data,
        };
        self.kernel.run(|row| row.ctr, args);
    }
}

/// Words of a round key in the widest layout, the portable row's: one bit of 64 bytes each.
const PLANES: usize = 8;
/// Round keys of AES-256.
pub(super) const MAX_KEYS: usize = 15;

/// Round keys, in a layout that only the row that made them knows.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
#[repr(C, align(64))]
struct RoundKeys {
    words: [u64; PLANES * MAX_KEYS],
    rounds: usize,
}

#[cfg(target_arch = "x86_64")]
impl RoundKeys {
    /// The round keys of a row that lays each out four times side by side.
    #[inline]
    fn wide(&self) -> &[[u64; 8]; MAX_KEYS] {
        let (keys, _) = self.words.as_chunks();
        keys.as_array().expect("there are eight words a key")
    }
}

/// Rounds for a key of that many bytes.
pub(super) fn rounds(key_len: usize) -> usize {
    match key_len {
        16 => 10,
        24 => 12,
        32 => 14,
        _ => panic!("an AES key has 16, 24 or 32 bytes, not {key_len}"),
    }
}

/// The round keys of FIPS 197 §5.2, each as two words read little-endian. `substitute` puts each byte
/// of its argument through the S-box: the one step in which rows differ.
fn schedule(key: &[u8], substitute: impl Fn(u32) -> u32) -> Zeroizing<[[u64; 2]; MAX_KEYS]> {
    let mut words = Zeroizing::new([0u32; 4 * MAX_KEYS]);
    let (bytes, _) = key.as_chunks::<4>();
    let key_words = bytes.len();
    for (word, bytes) in words.iter_mut().zip(bytes) {
        *word = u32::from_le_bytes(*bytes);
    }
    let mut constant = 1u8;
    for i in key_words..4 * (rounds(key.len()) + 1) {
        let mut word = words[i - 1];
        if i % key_words == 0 {
            word = substitute(word).rotate_right(8) ^ u32::from(constant);
            constant = (constant << 1) ^ ((constant >> 7) * 0x1b);
        } else if key_words == 8 && i % key_words == 4 {
            word = substitute(word);
        }
        words[i] = words[i - key_words] ^ word;
    }
    let pair = |i: usize| u64::from(words[i]) | u64::from(words[i + 1]) << 32;
    Zeroizing::new(std::array::from_fn(|i| [pair(4 * i), pair(4 * i + 2)]))
}

/// How far a counter's carry runs.
#[derive(Clone, Copy)]
enum Width {
    Low32,
    All,
}

impl Width {
    /// The counter `blocks` further on.
    #[inline]
    fn advance(self, counter: u128, blocks: u64) -> u128 {
        match self {
            Self::All => counter.wrapping_add(u128::from(blocks)),
            Self::Low32 => {
                let low = (counter as u32).wrapping_add(blocks as u32);
                counter & !u128::from(u32::MAX) | u128::from(low)
            }
        }
    }
}

/// Cuts `data` where the counter carries out of its low 64 bits, or out of all that count: within
/// each part, 64-bit additions do.
#[cfg(target_arch = "x86_64")]
#[inline]
fn until_carry<'a>(
    width: Width,
    counter: &[u8; BLOCK],
    data: &'a mut [u8],
) -> (&'a mut [u8], &'a mut [u8]) {
    let counter = u128::from_be_bytes(*counter);
    let blocks = match width {
        Width::All => (1 << 64) - u128::from(counter as u64),
        Width::Low32 => (1 << 32) - u128::from(counter as u32),
    };
    let bytes = usize::try_from(blocks * BLOCK as u128).unwrap_or(usize::MAX);
    data.split_at_mut(bytes.min(data.len()))
}

struct Expand;
struct ExpandArgs<'a> {
    key: &'a [u8],
    round_keys: &'a mut RoundKeys,
}
impl Operation for Expand {
    type Args<'a> = ExpandArgs<'a>;
    type Output = ();
}

struct Encrypt;
struct EncryptArgs<'a> {
    round_keys: &'a RoundKeys,
    blocks: &'a mut [[u8; BLOCK]],
}
impl Operation for Encrypt {
    type Args<'a> = EncryptArgs<'a>;
    type Output = ();
}

struct Ctr;
struct CtrArgs<'a> {
    round_keys: &'a RoundKeys,
    width: Width,
    counter: &'a mut [u8; BLOCK],
    data: &'a mut [u8],
}
impl Operation for Ctr {
    type Args<'a> = CtrArgs<'a>;
    type Output = ();
}
