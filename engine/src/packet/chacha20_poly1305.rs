//! `chacha20-poly1305@openssh.com` (`PROTOCOL.chacha20poly1305`), generic over who does ChaCha20 and who Poly1305.
//!
//! Two ChaCha20 keys, both with the sequence number as nonce: one encrypts the length field with block
//! 0; the other gives the Poly1305 key from block 0 and encrypts the rest from block 1 on. The tag
//! covers the encrypted length and the encrypted rest.
#![forbid(unsafe_code)]

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::layout::{Layout, read_length};
use super::{KeyStream, LENGTH_FIELD, OneTimeMac, PacketCipher, PacketError};
use crate::algorithm::Cipher;

/// One direction of `chacha20-poly1305@openssh.com`.
pub struct ChaCha20Poly1305<S, M> {
    main: S,
    header: S,
    mac: M,
    layout: Layout,
}

impl<S: KeyStream, M: OneTimeMac> ChaCha20Poly1305<S, M> {
    /// Composes the cipher. Of the 64 bytes of key, `main` has the first half and `header` the second.
    #[must_use]
    pub fn new(main: S, header: S, mac: M) -> Self {
        Self {
            main,
            header,
            mac,
            layout: Layout::of(Cipher::ChaCha20Poly1305, None),
        }
    }

    fn tag_of(&mut self, sequence: u32, sealed: &[u8]) -> Result<[u8; 16], PacketError> {
        let mut key = Zeroizing::new([0; 32]);
        self.main.xor(sequence.into(), 0, &mut *key)?;
        self.mac.tag(&key, sealed)
    }
}

impl<S: KeyStream, M: OneTimeMac> PacketCipher for ChaCha20Poly1305<S, M> {
    fn tag_len(&self) -> usize {
        self.layout.tag_len()
    }

    fn seal(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        let (packet, tag) = self.layout.split(packet)?;
        self.layout.check_length_field(packet)?;
        let (length, body) = packet.split_at_mut(LENGTH_FIELD);
        self.header.xor(sequence.into(), 0, length)?;
        self.main.xor(sequence.into(), 1, body)?;
        tag.copy_from_slice(&self.tag_of(sequence, packet)?);
        Ok(())
    }

    fn packet_length(&mut self, sequence: u32, head: &[u8]) -> Result<u32, PacketError> {
        let mut field = read_length(head)?.to_be_bytes();
        self.header.xor(sequence.into(), 0, &mut field)?;
        Ok(u32::from_be_bytes(field))
    }

    fn open(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        let (packet, tag) = self.layout.split(packet)?;
        let expected = self.tag_of(sequence, packet)?;
        if !bool::from(expected.ct_eq(tag)) {
            return Err(PacketError::Refused);
        }
        let (length, body) = packet.split_at_mut(LENGTH_FIELD);
        self.header.xor(sequence.into(), 0, length)?;
        self.main.xor(sequence.into(), 1, body)?;
        self.layout.check_length_field(packet)
    }
}
