//! AES-GCM (SP 800-38D), composed of an AES and a GHASH kernel; nonces of 12 bytes, tags of 16.
//!
//! Fused rows, which encrypt and hash in one pass, have their place here. What SSH counts and sends
//! does not.
#![forbid(unsafe_code)]

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use super::aes::{self, Aes};
use super::ghash::{self, Ghash};
use super::row::Kernel;

/// Bytes in a nonce.
pub const NONCE: usize = 12;
/// Bytes in a tag.
pub const TAG: usize = 16;

/// Bytes encrypted before they are hashed: they are still in the first-level cache.
const CHUNK: usize = 8 * 1024;

/// AES-GCM under one key.
#[derive(Clone)]
pub struct AesGcm {
    aes: aes::Key,
    ghash: ghash::Key,
}

impl AesGcm {
    /// Prepares a key of 16, 24 or 32 bytes.
    ///
    /// # Panics
    /// When the key has another length.
    #[must_use]
    pub fn new(aes: Kernel<Aes>, ghash: Kernel<Ghash>, key: &[u8]) -> Self {
        let aes = aes.expand(key);
        let mut h = Zeroizing::new([0; aes::BLOCK]);
        aes.encrypt_block(&mut h);
        let ghash = ghash.expand(&h);
        Self { aes, ghash }
    }

    /// Encrypts `data` in place and gives the tag over `aad` and the ciphertext. A nonce must not be
    /// used twice under one key; `data` is shorter than 2^36 − 31 bytes.
    #[must_use]
    pub fn seal(&self, nonce: &[u8; NONCE], aad: &[u8], data: &mut [u8]) -> [u8; TAG] {
        let mut counter = counter(nonce, 2);
        let mut state = [0; TAG];
        self.ghash.update(&mut state, aad);
        for chunk in data.chunks_mut(CHUNK) {
            self.aes.ctr32(&mut counter, chunk);
            self.ghash.update(&mut state, chunk);
        }
        self.finish(nonce, state, aad.len(), data.len())
    }

    /// Decrypts `data` in place if `tag` is the tag over it and `aad`, and says whether it is. Where
    /// it is not, `data` stays as it was.
    #[must_use]
    pub fn open(&self, nonce: &[u8; NONCE], aad: &[u8], data: &mut [u8], tag: &[u8; TAG]) -> bool {
        let mut state = [0; TAG];
        self.ghash.update(&mut state, aad);
        self.ghash.update(&mut state, data);
        let mut expected = self.finish(nonce, state, aad.len(), data.len());
        let genuine = bool::from(expected.ct_eq(tag));
        expected.zeroize();
        if genuine {
            self.aes.ctr32(&mut counter(nonce, 2), data);
        }
        genuine
    }

    /// Hashes the lengths and encrypts the hash with the key stream's first block.
    fn finish(&self, nonce: &[u8; NONCE], state: [u8; TAG], aad: usize, data: usize) -> [u8; TAG] {
        let bits = ((aad as u128 * 8) << 64) | (data as u128 * 8);
        let mut tag = state;
        self.ghash.update(&mut tag, &bits.to_be_bytes());
        self.aes.ctr32(&mut counter(nonce, 1), &mut tag);
        tag
    }
}

/// The counter block of that number under `nonce`.
fn counter(nonce: &[u8; NONCE], number: u32) -> [u8; aes::BLOCK] {
    let mut block = [0; aes::BLOCK];
    block[..NONCE].copy_from_slice(nonce);
    block[NONCE..].copy_from_slice(&number.to_be_bytes());
    block
}
