//! AES-GCM out of an AES and a GHASH kernel, one after the other on each few kilobytes.
#![forbid(unsafe_code)]

use zeroize::Zeroizing;

use super::{NONCE, TAG, same};
use crate::kernels::aes::{self, Aes};
use crate::kernels::ghash::{self, Ghash};
use crate::kernels::row::Kernel;

/// Bytes encrypted before they are hashed: they are still in the first-level cache.
const CHUNK: usize = 8 * 1024;

/// A key for both parts.
#[derive(Clone)]
pub(super) struct Composed {
    aes: aes::Key,
    ghash: ghash::Key,
}

impl Composed {
    pub(super) fn new(aes: Kernel<Aes>, ghash: Kernel<Ghash>, key: &[u8]) -> Self {
        let aes = aes.expand(key);
        let mut h = Zeroizing::new([0; aes::BLOCK]);
        aes.encrypt_block(&mut h);
        let ghash = ghash.expand(&h);
        Self { aes, ghash }
    }

    pub(super) fn seal(&self, nonce: &[u8; NONCE], aad: &[u8], data: &mut [u8]) -> [u8; TAG] {
        let mut counter = counter(nonce, 2);
        let mut state = [0; TAG];
        self.ghash.update(&mut state, aad);
        for chunk in data.chunks_mut(CHUNK) {
            self.aes.ctr32(&mut counter, chunk);
            self.ghash.update(&mut state, chunk);
        }
        self.finish(nonce, state, aad.len(), data.len())
    }

    pub(super) fn open(
        &self,
        nonce: &[u8; NONCE],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; TAG],
    ) -> bool {
        let mut state = [0; TAG];
        self.ghash.update(&mut state, aad);
        self.ghash.update(&mut state, data);
        let expected = self.finish(nonce, state, aad.len(), data.len());
        let genuine = same(expected, tag);
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
