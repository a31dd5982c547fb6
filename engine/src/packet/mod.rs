//! SSH packet protection: what happens to the bytes of one packet, whoever does the arithmetic.
//!
//! The constructions are generic over small parts (a key stream, a one-time MAC, …), so that every
//! provider and every step from portable code to SIMD is a composition, not a copy. No intrinsics,
//! no `unsafe`, and nothing here knows a provider.
//!
//! A packet is one buffer, worked on in place (RFC 4253 §6):
//!
//! ```text
//! packet_length (4) ‖ padding_length (1) ‖ payload ‖ padding ‖ room for the tag
//! ```
#![forbid(unsafe_code)]

mod aes_gcm;
mod chacha20_poly1305;
mod cipher_and_mac;
mod layout;
mod parts;

pub use aes_gcm::AesGcm;
pub use chacha20_poly1305::{ChaCha20Poly1305, Separately};
pub use cipher_and_mac::CipherAndMac;
pub use layout::Layout;
pub use parts::{BlockMode, GcmCipher, KeyStream, LengthAndBody, OneTimeMac, PacketMac};

/// Length in bytes of the field that opens every packet.
pub const LENGTH_FIELD: usize = 4;

/// Why a packet could not be sealed or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// The tag is not the one these bytes and this sequence number have.
    #[error("the packet's authentication tag is wrong")]
    Refused,
    /// The buffer cannot be a packet of this cipher.
    #[error("{0} bytes are no packet of this cipher")]
    Malformed(usize),
    /// The library that does the work failed.
    #[error("{0}")]
    Library(String),
}

/// One direction of an SSH transport after key exchange: keys, and whatever runs on from packet to packet.
///
/// Packets are sealed and opened in the order of their sequence numbers: CTR, CBC and GCM depend on it.
/// After an error it is of no more use, just as the connection is.
pub trait PacketCipher: Send {
    /// Bytes of tag after each packet.
    fn tag_len(&self) -> usize;

    /// Encrypts and authenticates a packet in place. `packet` ends with [`tag_len`](Self::tag_len) bytes for the tag.
    ///
    /// # Errors
    /// When the buffer has an impossible length, or a library fails.
    fn seal(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError>;

    /// Reads `packet_length` out of the first bytes of a sealed packet, which stay as they are.
    ///
    /// `head` holds [`Layout::head_len`] bytes or more: the length field, or the first cipher block
    /// where the length is encrypted with it. The answer is not authenticated: it says how much to
    /// read before [`open`](Self::open), which then takes the packet with this same head.
    ///
    /// # Errors
    /// When `head` is too short, or a library fails.
    fn packet_length(&mut self, sequence: u32, head: &[u8]) -> Result<u32, PacketError>;

    /// Checks and decrypts a sealed packet in place; afterwards it starts with `packet_length` in clear.
    ///
    /// # Errors
    /// [`PacketError::Refused`] when the tag does not fit; the buffer then holds no plaintext that may be used.
    fn open(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError>;
}
