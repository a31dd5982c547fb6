//! The parts a packet construction is composed of.
#![forbid(unsafe_code)]

use super::PacketError;

/// ChaCha20 as SSH uses it: 64-bit little-endian block counter, 64-bit nonce.
pub trait KeyStream: Send {
    /// XORs the key stream that starts at `block` into `data`. `nonce` is the sequence number,
    /// written big-endian into the nonce words (`PROTOCOL.chacha20poly1305`).
    ///
    /// # Errors
    /// When a library fails.
    fn xor(&mut self, sequence: u64, block: u64, data: &mut [u8]) -> Result<(), PacketError>;
}

/// A one-time authenticator: Poly1305 (RFC 8439 §2.5).
pub trait OneTimeMac: Send {
    /// The tag of `data` under a key used once.
    ///
    /// # Errors
    /// When a library fails.
    fn tag(&mut self, key: &[u8; 32], data: &[u8]) -> Result<[u8; 16], PacketError>;
}

/// AES-GCM with a 12-byte nonce and a 16-byte tag (NIST SP 800-38D).
pub trait GcmCipher: Send {
    /// Encrypts `data` in place and gives the tag over `aad` and the ciphertext.
    ///
    /// # Errors
    /// When a library fails.
    fn seal(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
    ) -> Result<[u8; 16], PacketError>;

    /// Checks the tag and decrypts `data` in place.
    ///
    /// # Errors
    /// [`PacketError::Refused`] when the tag does not fit.
    fn open(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), PacketError>;
}

/// A keyed block cipher in CTR or CBC mode whose state runs on from call to call. One value serves one direction.
pub trait BlockMode: Send {
    /// Encrypts whole blocks in place.
    ///
    /// # Errors
    /// When a library fails.
    fn encrypt(&mut self, data: &mut [u8]) -> Result<(), PacketError>;

    /// Decrypts whole blocks in place.
    ///
    /// # Errors
    /// When a library fails.
    fn decrypt(&mut self, data: &mut [u8]) -> Result<(), PacketError>;

    /// Decrypts the first block into `block` without moving the state on.
    ///
    /// # Errors
    /// When a library fails.
    fn peek(&mut self, block: &mut [u8]) -> Result<(), PacketError>;
}

/// A MAC over the sequence number and a packet (RFC 4253 §6.4).
pub trait PacketMac: Send {
    /// Tag length in bytes, at most 64.
    fn tag_len(&self) -> usize;

    /// Writes the tag of `sequence ‖ data` into the first [`tag_len`](Self::tag_len) bytes of `tag`.
    ///
    /// # Errors
    /// When a library fails.
    fn tag(&mut self, sequence: u32, data: &[u8], tag: &mut [u8; 64]) -> Result<(), PacketError>;
}
