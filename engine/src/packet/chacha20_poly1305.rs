//! `chacha20-poly1305@openssh.com` (`PROTOCOL.chacha20poly1305`), generic over who does the work.
//!
//! Two ChaCha20 keys, both with the sequence number as nonce: one encrypts the length field with block
//! 0; the other gives the Poly1305 key from block 0 and encrypts the rest from block 1 on. The tag
//! covers the encrypted length and the encrypted rest.
//!
//! [`Separately`] composes that of any ChaCha20 and any Poly1305, pass by pass, as libraries offer them.
//! Whoever can do it in one pass is a [`LengthAndBody`] of its own.
#![forbid(unsafe_code)]

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::layout::{Layout, read_length};
use super::{KeyStream, LENGTH_FIELD, LengthAndBody, OneTimeMac, PacketCipher, PacketError};
use crate::algorithm::Cipher;

/// One direction of `chacha20-poly1305@openssh.com`.
pub struct ChaCha20Poly1305<W> {
    worker: W,
    layout: Layout,
}

impl<W: LengthAndBody> ChaCha20Poly1305<W> {
    /// The cipher, done by `worker`.
    #[must_use]
    pub fn new(worker: W) -> Self {
        Self {
            worker,
            layout: Layout::of(Cipher::ChaCha20Poly1305, None),
        }
    }
}

impl<W: LengthAndBody> PacketCipher for ChaCha20Poly1305<W> {
    fn tag_len(&self) -> usize {
        self.layout.tag_len()
    }

    fn seal(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        let (packet, tag) = self.layout.split(packet)?;
        self.layout.check_length_field(packet)?;
        tag.copy_from_slice(&self.worker.seal(sequence, packet)?);
        Ok(())
    }

    fn packet_length(&mut self, sequence: u32, head: &[u8]) -> Result<u32, PacketError> {
        let field = read_length(head)?.to_be_bytes();
        self.worker.length(sequence, field).map(u32::from_be_bytes)
    }

    fn open(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        let whole = packet.len();
        let (packet, tag) = self.layout.split(packet)?;
        let tag = tag.as_array().ok_or(PacketError::Malformed(whole))?;
        self.worker.open(sequence, packet, tag)?;
        self.layout.check_length_field(packet)
    }
}

/// ChaCha20 and Poly1305 one after the other, whoever does them.
pub struct Separately<S, M> {
    main: S,
    header: S,
    mac: M,
}

impl<S: KeyStream, M: OneTimeMac> Separately<S, M> {
    /// Composes them. Of the 64 bytes of key, `main` has the first half and `header` the second.
    #[must_use]
    pub fn new(main: S, header: S, mac: M) -> Self {
        Self { main, header, mac }
    }

    fn apply(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        let (length, body) = packet.split_at_mut(LENGTH_FIELD);
        self.header.xor(sequence.into(), 0, length)?;
        self.main.xor(sequence.into(), 1, body)
    }

    fn tag_of(&mut self, sequence: u32, sealed: &[u8]) -> Result<[u8; 16], PacketError> {
        let mut key = Zeroizing::new([0; 32]);
        self.main.xor(sequence.into(), 0, &mut *key)?;
        self.mac.tag(&key, sealed)
    }
}

impl<S: KeyStream, M: OneTimeMac> LengthAndBody for Separately<S, M> {
    fn seal(&mut self, sequence: u32, packet: &mut [u8]) -> Result<[u8; 16], PacketError> {
        self.apply(sequence, packet)?;
        self.tag_of(sequence, packet)
    }

    fn length(
        &mut self,
        sequence: u32,
        mut field: [u8; LENGTH_FIELD],
    ) -> Result<[u8; LENGTH_FIELD], PacketError> {
        self.header.xor(sequence.into(), 0, &mut field)?;
        Ok(field)
    }

    fn open(
        &mut self,
        sequence: u32,
        packet: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), PacketError> {
        let expected = self.tag_of(sequence, packet)?;
        if !bool::from(expected.ct_eq(tag)) {
            return Err(PacketError::Refused);
        }
        self.apply(sequence, packet)
    }
}
