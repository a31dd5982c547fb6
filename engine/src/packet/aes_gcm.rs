//! `aes128-gcm@openssh.com` and `aes256-gcm@openssh.com` (RFC 5647 as `PROTOCOL` §1.6 amends it).
//!
//! The length field stays clear and is additional data. The nonce is not the sequence number: it
//! starts as the IV of key exchange, and its last eight bytes count packets.
#![forbid(unsafe_code)]

use super::layout::{Layout, read_length};
use super::{GcmCipher, LENGTH_FIELD, PacketCipher, PacketError};
use crate::algorithm::Cipher;

/// One direction of AES-GCM.
pub struct AesGcm<G> {
    gcm: G,
    nonce: [u8; 12],
    layout: Layout,
}

impl<G: GcmCipher> AesGcm<G> {
    /// A cipher whose first packet has `iv` as nonce.
    #[must_use]
    pub fn new(gcm: G, iv: [u8; 12]) -> Self {
        // The key length makes no difference to the shape of packets.
        let layout = Layout::of(Cipher::Aes128Gcm, None);
        Self {
            gcm,
            nonce: iv,
            layout,
        }
    }

    /// This packet's nonce. The counter moves on whatever becomes of the packet, so none is used twice.
    fn next_nonce(&mut self) -> [u8; 12] {
        let nonce = self.nonce;
        if let Some(counter) = self.nonce.last_chunk_mut() {
            *counter = u64::from_be_bytes(*counter).wrapping_add(1).to_be_bytes();
        }
        nonce
    }
}

impl<G: GcmCipher> PacketCipher for AesGcm<G> {
    fn tag_len(&self) -> usize {
        self.layout.tag_len()
    }

    fn seal(&mut self, _sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        let (packet, tag) = self.layout.split(packet)?;
        self.layout.check_length_field(packet)?;
        let nonce = self.next_nonce();
        let (length, body) = packet.split_at_mut(LENGTH_FIELD);
        tag.copy_from_slice(&self.gcm.seal(&nonce, length, body)?);
        Ok(())
    }

    fn packet_length(&mut self, _sequence: u32, head: &[u8]) -> Result<u32, PacketError> {
        read_length(head)
    }

    fn open(&mut self, _sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        let whole = packet.len();
        let (packet, tag) = self.layout.split(packet)?;
        let tag = tag.first_chunk().ok_or(PacketError::Malformed(whole))?;
        let nonce = self.next_nonce();
        let (length, body) = packet.split_at_mut(LENGTH_FIELD);
        self.gcm.open(&nonce, length, body, tag)?;
        self.layout.check_length_field(packet)
    }
}
