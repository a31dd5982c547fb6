//! The parts a packet construction is composed of.
#![forbid(unsafe_code)]

use super::{LENGTH_FIELD, PacketError};

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

/// ChaCha20 and Poly1305 of one direction, over length field and body of a packet
/// (`PROTOCOL.chacha20poly1305`). `packet` is both, without the tag, and long enough for its length field.
pub trait LengthAndBody: Send {
    /// Encrypts a packet in place and gives its tag.
    ///
    /// # Errors
    /// When a library fails.
    fn seal(&mut self, sequence: u32, packet: &mut [u8]) -> Result<[u8; 16], PacketError>;

    /// Decrypts the length field of the packet that is opened next, usually.
    ///
    /// # Errors
    /// When a library fails.
    fn length(
        &mut self,
        sequence: u32,
        field: [u8; LENGTH_FIELD],
    ) -> Result<[u8; LENGTH_FIELD], PacketError>;

    /// Checks the tag and decrypts a packet in place.
    ///
    /// # Errors
    /// [`PacketError::Refused`] when the tag does not fit; no plaintext is left in `packet` then.
    fn open(&mut self, sequence: u32, packet: &mut [u8], tag: &[u8; 16])
    -> Result<(), PacketError>;
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
}

/// A MAC over the sequence number and a packet (RFC 4253 §6.4).
pub trait PacketMac: Send {
    /// Writes the tag of `sequence ‖ data` to the front of `tag`, which has room for the longest.
    ///
    /// # Errors
    /// When a library fails.
    fn tag(&mut self, sequence: u32, data: &[u8], tag: &mut [u8; 64]) -> Result<(), PacketError>;
}

impl<T: GcmCipher + ?Sized> GcmCipher for Box<T> {
    fn seal(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
    ) -> Result<[u8; 16], PacketError> {
        (**self).seal(nonce, aad, data)
    }

    fn open(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), PacketError> {
        (**self).open(nonce, aad, data, tag)
    }
}

impl<T: BlockMode + ?Sized> BlockMode for Box<T> {
    fn encrypt(&mut self, data: &mut [u8]) -> Result<(), PacketError> {
        (**self).encrypt(data)
    }

    fn decrypt(&mut self, data: &mut [u8]) -> Result<(), PacketError> {
        (**self).decrypt(data)
    }
}

impl<T: PacketMac + ?Sized> PacketMac for Box<T> {
    fn tag(&mut self, sequence: u32, data: &[u8], tag: &mut [u8; 64]) -> Result<(), PacketError> {
        (**self).tag(sequence, data, tag)
    }
}
