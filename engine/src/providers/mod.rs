//! Who does the work: each provider seals and opens the same SSH packets with its own code.
//!
//! A provider brings parts (a key stream, a MAC, …); `compose` makes packet ciphers of them, the same
//! way for all. What a provider cannot do here it answers with a reason. Nothing here measures.

mod compose;
mod libcrypto;
mod native;
mod openssh;
mod random;
mod rustcrypto;
mod self_test;

pub use libcrypto::Libcrypto;
pub use native::Native;
pub use openssh::{CLEARING, OpenSsh};
pub use random::{RandomSource, random_sources};
pub use rustcrypto::RustCrypto;
pub use self_test::{KnownAnswer, SelfTestFailure, known_answer, self_test};

use crate::algorithm::{Cipher, Mac};
use crate::packet::PacketCipher;
use crate::report::ProviderName;

pub use crate::report::Direction;

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

impl Keys {
    /// Keys of the right lengths, filled front to back with `next`: random numbers, or a pattern in tests.
    #[must_use]
    pub fn fill(cipher: Cipher, mac: Option<Mac>, mut next: impl FnMut() -> u8) -> Self {
        let mut take = |len| (0..len).map(|_| next()).collect();
        Self {
            cipher: take(cipher.key_len()),
            iv: take(cipher.iv_len()),
            mac: take(mac.map_or(0, |mac| mac.function.key_len())),
        }
    }
}

/// Why a provider does not do an algorithm here. Shown to people in place of numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// Somebody who can protect SSH packets.
pub trait Provider: Sync {
    /// Its name in reports.
    fn name(&self) -> ProviderName;

    /// What would do the work: the rows of our kernels (`aes aesni + ghash pclmul`), or
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
