//! Who does the work: each provider seals and opens the same SSH packets with its own code.

use crate::algorithm::{Cipher, Mac};
use crate::packet::PacketCipher;
use crate::report::ProviderName;

/// The keys of one direction, as key exchange derives them (RFC 4253 §7.2).
#[derive(Clone, zeroize::ZeroizeOnDrop)]
pub struct Keys {
    /// The cipher's key, [`Cipher::key_len`] bytes.
    pub cipher: Vec<u8>,
    /// The initial IV, [`Cipher::iv_len`] bytes.
    pub iv: Vec<u8>,
    /// The MAC's key; empty for an AEAD.
    pub mac: Vec<u8>,
}

/// Why a provider does not do an algorithm here. Shown to people in place of numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// Somebody who can protect SSH packets.
pub trait Provider: Sync {
    /// Its name in reports.
    fn name(&self) -> ProviderName;

    /// What would do the work: the rows of our kernels (`chacha20 avx2 + poly1305 portable`), or
    /// the library and its version (`OpenSSL 3.0.19`).
    ///
    /// # Errors
    /// When the provider does not do this algorithm here.
    fn worker(&self, cipher: Cipher, mac: Option<Mac>) -> Result<String, Unavailable>;

    /// A cipher for one direction. `mac` is `None` exactly for AEADs.
    ///
    /// # Errors
    /// When the provider does not do this algorithm here, or a key has the wrong length.
    fn packet_cipher(
        &self,
        cipher: Cipher,
        mac: Option<Mac>,
        keys: &Keys,
        direction: Direction,
    ) -> Result<Box<dyn PacketCipher>, Unavailable>;
}

pub use crate::report::Direction;
