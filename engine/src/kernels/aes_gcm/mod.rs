//! AES-GCM (SP 800-38D); nonces of 12 bytes, tags of 16.
//!
//! Fused rows encrypt and hash in one pass. Where the processor has none of theirs, AES-GCM is composed
//! of an AES and a GHASH kernel. What SSH counts and sends does not belong here.
#![forbid(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod aesni;
mod composed;
#[cfg(target_arch = "x86_64")]
mod fused;
#[cfg(target_arch = "x86_64")]
mod vaes256;
#[cfg(target_arch = "x86_64")]
mod vaes512;

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use self::composed::Composed;
use super::aes::{self, Aes};
use super::ghash::Ghash;
use super::row::{Entry, Kernel, Operation, Primitive, Row};
#[cfg(target_arch = "x86_64")]
use super::{row::row, wipe};
use crate::cpu::Detected;

/// Bytes in a nonce.
pub const NONCE: usize = 12;
/// Bytes in a tag.
pub const TAG: usize = 16;

/// AES-GCM under one key.
#[derive(Clone)]
pub struct AesGcm(Work);

#[derive(Clone)]
enum Work {
    Fused(Kernel<Fused>, Box<Key>),
    Composed(Box<Composed>),
}

impl AesGcm {
    /// Prepares a key of 16, 24 or 32 bytes.
    ///
    /// # Panics
    /// When the key has another length.
    #[must_use]
    pub fn new(rows: Rows, key: &[u8]) -> Self {
        let (aes, ghash) = match rows {
            Rows::Fused(row) => return Self(Work::Fused(row, Key::new(row, key))),
            Rows::Composed(aes, ghash) => (aes, ghash),
        };
        Self(Work::Composed(Box::new(Composed::new(aes, ghash, key))))
    }

    /// Encrypts `data` in place and gives the tag over `aad` and the ciphertext. A nonce must not be
    /// used twice under one key; `data` is shorter than 2^36 − 31 bytes.
    #[must_use]
    pub fn seal(&self, nonce: &[u8; NONCE], aad: &[u8], data: &mut [u8]) -> [u8; TAG] {
        match &self.0 {
            Work::Composed(parts) => parts.seal(nonce, aad, data),
            Work::Fused(row, key) => {
                let args = MessageArgs {
                    key,
                    nonce,
                    aad,
                    data,
                };
                row.run(|row| row.seal, args)
            }
        }
    }

    /// Decrypts `data` in place if `tag` is the tag over it and `aad`, and says whether it is. Where
    /// it is not, `data` is left as it was.
    #[must_use]
    pub fn open(&self, nonce: &[u8; NONCE], aad: &[u8], data: &mut [u8], tag: &[u8; TAG]) -> bool {
        match &self.0 {
            Work::Composed(parts) => parts.open(nonce, aad, data, tag),
            Work::Fused(row, key) => {
                let args = MessageArgs {
                    key,
                    nonce,
                    aad,
                    data,
                };
                let genuine = same(row.run(|row| row.open, args), tag);
                if !genuine {
                    // It was decrypted on the way, and encryption undoes that.
                    self.seal(nonce, aad, data).zeroize();
                }
                genuine
            }
        }
    }
}

/// Which rows do the work.
#[derive(Clone, Copy, Debug)]
pub enum Rows {
    /// One that does both.
    Fused(Kernel<Fused>),
    /// One that encrypts and one that hashes.
    Composed(Kernel<Aes>, Kernel<Ghash>),
}

impl Rows {
    /// The best this processor can run.
    #[must_use]
    pub fn best(detected: Detected) -> Self {
        let composed = Self::Composed(Kernel::best(detected), Kernel::best(detected));
        let fused = Kernel::usable(detected).next();
        fused.map_or(composed, Self::Fused)
    }

    /// All this processor can run, fused ones first, then every pair.
    pub fn usable(detected: Detected) -> impl Iterator<Item = Self> {
        let pairs = Kernel::usable(detected).flat_map(move |aes| {
            Kernel::usable(detected).map(move |ghash| Self::Composed(aes, ghash))
        });
        Kernel::usable(detected).map(Self::Fused).chain(pairs)
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fused(row) => write!(f, "aes-gcm {}", row.name()),
            Self::Composed(aes, ghash) => write!(f, "aes {} + ghash {}", aes.name(), ghash.name()),
        }
    }
}

/// The primitive of the rows that encrypt and hash in one pass. None of them runs everywhere.
pub struct Fused;

/// What each row of [`Fused`] owns.
#[derive(Clone, Copy)]
pub struct Entries {
    expand: Entry<Expand>,
    seal: Entry<Message>,
    open: Entry<Message>,
}

impl Primitive for Fused {
    type Entries = Entries;
    const ROWS: &'static [Row<Self>] = &[
        #[cfg(target_arch = "x86_64")]
        row!("vaes512", ["vaes", "vpclmulqdq", "aes", "pclmulqdq", "avx512f", "avx512bw", "avx512vbmi2"], wipe::zmm, Entries {
            expand: Expand => vaes512::expand,
            seal: Message => vaes512::seal,
            open: Message => vaes512::open,
        }),
        #[cfg(target_arch = "x86_64")]
        row!("vaes256", ["vaes", "vpclmulqdq", "aes", "pclmulqdq", "avx2"], wipe::ymm, Entries {
            expand: Expand => vaes256::expand,
            seal: Message => vaes256::seal,
            open: Message => vaes256::open,
        }),
        #[cfg(target_arch = "x86_64")]
        row!("aesni", ["aes", "pclmulqdq", "ssse3"], wipe::xmm, Entries {
            expand: Expand => aesni::expand,
            seal: Message => aesni::seal,
            open: Message => aesni::open,
        }),
    ];
}

/// Compares two tags in constant time, and forgets the first.
fn same(mut expected: [u8; TAG], tag: &[u8; TAG]) -> bool {
    let same = u128::from_ne_bytes(expected).ct_eq(&u128::from_ne_bytes(*tag));
    expected.zeroize();
    same.into()
}

/// Words of round keys in the widest layout: each four times side by side.
const ROUND_KEYS: usize = 8 * aes::MAX_KEYS;
/// Words of powers of the hash key in the widest layout: 36 powers, and a pad for the last vector.
const POWERS: usize = 2 * (36 + 4);

/// A prepared key, in a layout that only the row that made it knows.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
#[repr(C, align(64))]
struct Key {
    round_keys: [u64; ROUND_KEYS],
    powers: [u64; POWERS],
    rounds: usize,
}

impl Key {
    fn new(row: Kernel<Fused>, key: &[u8]) -> Box<Self> {
        let mut prepared = Box::new(Self {
            round_keys: [0; ROUND_KEYS],
            powers: [0; POWERS],
            rounds: aes::rounds(key.len()),
        });
        let args = ExpandArgs {
            key,
            prepared: &mut prepared,
        };
        row.run(|row| row.expand, args);
        prepared
    }
}

struct Expand;
struct ExpandArgs<'a> {
    key: &'a [u8],
    prepared: &'a mut Key,
}
impl Operation for Expand {
    type Args<'a> = ExpandArgs<'a>;
    type Output = ();
}

/// Encrypts or decrypts a message, and gives the tag of its ciphertext.
struct Message;
struct MessageArgs<'a> {
    key: &'a Key,
    nonce: &'a [u8; NONCE],
    aad: &'a [u8],
    data: &'a mut [u8],
}
impl Operation for Message {
    type Args<'a> = MessageArgs<'a>;
    type Output = [u8; TAG];
}
