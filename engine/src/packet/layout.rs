//! Where the parts of a packet lie and which lengths it can have.
//!
//! The limits are those of OpenSSH's `packet.c`: a packet outside them ends the connection there.
#![forbid(unsafe_code)]

use super::{LENGTH_FIELD, PacketError};
use crate::algorithm::{Cipher, Mac};

/// Longest `packet_length` OpenSSH accepts (`PACKET_MAX_SIZE` of `packet.c`).
const LONGEST: usize = 256 * 1024;

/// Shortest `packet_length`: the padding length and four bytes of padding (RFC 4253 §6).
const SHORTEST: usize = 5;

/// Least padding (RFC 4253 §6).
const LEAST_PADDING: usize = 4;

/// The shape of one cipher's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// What padding fills up to a multiple of, in bytes.
    block: usize,
    /// Whether the length field is outside the padded part: so it is for AEADs and encrypt-then-MAC.
    length_apart: bool,
    /// Bytes of tag at the end.
    tag: usize,
}

impl Layout {
    /// The shape of the packets of a cipher with the MAC negotiated for it.
    #[must_use]
    pub fn of(cipher: Cipher, mac: Option<Mac>) -> Self {
        Self {
            block: cipher.block_len(),
            length_apart: mac.is_none_or(|mac| mac.encrypt_then_mac),
            tag: mac.map_or(cipher.tag_len(), |mac| mac.function.tag_len()),
        }
    }

    /// Bytes of tag at the end of each packet.
    #[must_use]
    pub const fn tag_len(self) -> usize {
        self.tag
    }

    /// Bytes that [`packet_length`](super::PacketCipher::packet_length) needs.
    #[must_use]
    pub const fn head_len(self) -> usize {
        if self.length_apart {
            LENGTH_FIELD
        } else {
            self.block
        }
    }

    /// A clear packet around `payload`: length, padding length, payload, the least padding (zeros),
    /// and room for the tag. Ready to be sealed.
    #[must_use]
    pub fn frame(self, payload: &[u8]) -> Vec<u8> {
        let before = if self.length_apart { 0 } else { LENGTH_FIELD };
        let filled = before + 1 + payload.len();
        let short = self.block - filled % self.block;
        let padding = if short < LEAST_PADDING {
            short + self.block
        } else {
            short
        };
        let body = 1 + payload.len() + padding;
        let mut packet = Vec::with_capacity(LENGTH_FIELD + body + self.tag);
        packet.extend_from_slice(&(body as u32).to_be_bytes());
        packet.push(padding as u8);
        packet.extend_from_slice(payload);
        packet.resize(LENGTH_FIELD + body + self.tag, 0);
        packet
    }

    /// The payload of a clear packet, tag room included; `None` when its padding length is impossible.
    #[must_use]
    pub fn payload(self, packet: &[u8]) -> Option<&[u8]> {
        let body = packet.get(LENGTH_FIELD..packet.len().checked_sub(self.tag)?)?;
        let (&padding, rest) = body.split_first()?;
        let padding = usize::from(padding);
        (padding >= LEAST_PADDING)
            .then(|| rest.len().checked_sub(padding))
            .flatten()
            .map(|len| &rest[..len])
    }

    /// Splits a buffer into packet and tag.
    ///
    /// # Errors
    /// [`PacketError::Malformed`] when no packet of this cipher has that length.
    pub(super) fn split(self, buffer: &mut [u8]) -> Result<(&mut [u8], &mut [u8]), PacketError> {
        let whole = buffer.len();
        let possible = whole
            .checked_sub(self.tag)
            .filter(|&len| self.is_possible(len));
        match possible {
            Some(len) => Ok(buffer.split_at_mut(len)),
            None => Err(PacketError::Malformed(whole)),
        }
    }

    /// Checks that the clear length field of a packet without its tag tells its length.
    ///
    /// # Errors
    /// [`PacketError::Malformed`] when it does not.
    pub(super) fn check_length_field(self, packet: &[u8]) -> Result<(), PacketError> {
        if read_length(packet)? as usize + LENGTH_FIELD == packet.len() {
            Ok(())
        } else {
            Err(PacketError::Malformed(packet.len() + self.tag))
        }
    }

    fn is_possible(self, len: usize) -> bool {
        let Some(body) = len.checked_sub(LENGTH_FIELD) else {
            return false;
        };
        let padded = if self.length_apart { body } else { len };
        (SHORTEST..=LONGEST).contains(&body) && padded.is_multiple_of(self.block)
    }
}

/// Reads a clear length field.
///
/// # Errors
/// [`PacketError::Malformed`] when `head` is too short for one.
pub(super) fn read_length(head: &[u8]) -> Result<u32, PacketError> {
    head.first_chunk()
        .map(|&field| u32::from_be_bytes(field))
        .ok_or(PacketError::Malformed(head.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::MacFunction;

    fn all() -> Vec<Layout> {
        let aead = |cipher: &&Cipher| cipher.is_aead();
        let alone = Cipher::ALL
            .iter()
            .filter(aead)
            .map(|&c| Layout::of(c, None));
        let paired = Cipher::ALL.iter().filter(|c| !aead(c)).flat_map(|&cipher| {
            Mac::ALL
                .iter()
                .map(move |&mac| Layout::of(cipher, Some(mac)))
        });
        alone.chain(paired).collect()
    }

    #[test]
    fn frames_have_a_possible_length_and_give_their_payload_back() {
        for layout in all() {
            for len in (0..=70).chain([32 * 1024]) {
                let payload = vec![7; len];
                let mut packet = layout.frame(&payload);
                assert_eq!(layout.payload(&packet), Some(&payload[..]));
                let padding = packet[LENGTH_FIELD];
                assert!(padding >= 4 && usize::from(padding) < layout.block + 4);
                let (clear, tag) = layout.split(&mut packet).expect("a possible length");
                assert_eq!(layout.check_length_field(clear), Ok(()));
                assert_eq!(tag.len(), layout.tag);
            }
        }
    }

    #[test]
    fn impossible_lengths_are_refused() {
        for layout in all() {
            let sizes = (0..100).chain([LONGEST, LONGEST + 4, LONGEST + 300, LONGEST + 8192]);
            for size in sizes {
                let mut buffer = vec![0; size];
                let possible = layout.split(&mut buffer).is_ok();
                let body = size.checked_sub(4 + layout.tag);
                let padded = |body: usize| body + if layout.length_apart { 0 } else { 4 };
                let expected = body.is_some_and(|body| {
                    (5..=LONGEST).contains(&body) && padded(body).is_multiple_of(layout.block)
                });
                assert_eq!(possible, expected, "{size} bytes of {layout:?}");
            }
        }
    }

    #[test]
    fn an_impossible_padding_length_gives_no_payload() {
        let mac = Mac::new(MacFunction::Umac64, true);
        let layout = Layout::of(Cipher::Aes128Ctr, Some(mac));
        let mut packet = layout.frame(b"payload");
        for padding in [0, 3, 16, 255] {
            packet[LENGTH_FIELD] = padding;
            assert_eq!(layout.payload(&packet), None, "{padding}");
        }
        assert_eq!(layout.payload(&[]), None);
        assert_eq!(layout.payload(&[0; 12]), None);
    }
}
