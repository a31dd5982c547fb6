//! A block cipher in CTR or CBC mode with a MAC of its own, in both orders SSH knows.
//!
//! *Encrypt-then-MAC* (`-etm@openssh.com`, `PROTOCOL` §1.5): the length field stays clear, the MAC
//! covers it and the ciphertext, and is checked before anything is decrypted.
//! *Encrypt-and-MAC* (RFC 4253 §6.4): the length field is encrypted with the rest, the MAC covers the
//! clear packet; so a receiver has to decrypt the first block before it knows how much to read.
#![forbid(unsafe_code)]

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use super::layout::{Layout, read_length};
use super::{BlockMode, LENGTH_FIELD, PacketCipher, PacketError, PacketMac};
use crate::algorithm::{Cipher, Mac};

/// Longest cipher block in bytes.
const LONGEST_BLOCK: usize = 16;

/// One direction of a cipher with a MAC.
pub struct CipherAndMac<C, M> {
    mode: C,
    mac: M,
    layout: Layout,
    encrypt_then_mac: bool,
    first: Option<FirstBlock>,
}

/// The first block of the packet that is coming in, decrypted for its length already. Kept because
/// the mode has moved on; OpenSSH does the same.
struct FirstBlock {
    sealed: [u8; LONGEST_BLOCK],
    clear: Zeroizing<[u8; LONGEST_BLOCK]>,
}

impl<C: BlockMode, M: PacketMac> CipherAndMac<C, M> {
    /// Composes `mode`, which does `cipher`, and `mac_code`, which does the function of `mac`.
    #[must_use]
    pub fn new(cipher: Cipher, mode: C, mac: Mac, mac_code: M) -> Self {
        Self {
            mode,
            mac: mac_code,
            layout: Layout::of(cipher, Some(mac)),
            encrypt_then_mac: mac.encrypt_then_mac,
            first: None,
        }
    }

    /// Whether `tag` is the tag of `data`; takes the same time for every wrong tag.
    fn verify(&mut self, sequence: u32, data: &[u8], tag: &[u8]) -> Result<(), PacketError> {
        let mut expected = [0; 64];
        self.mac.tag(sequence, data, &mut expected)?;
        let fits = bool::from(expected[..tag.len()].ct_eq(tag));
        expected.zeroize();
        if fits {
            Ok(())
        } else {
            Err(PacketError::Refused)
        }
    }

    fn put_tag(&mut self, sequence: u32, data: &[u8], tag: &mut [u8]) -> Result<(), PacketError> {
        let mut computed = [0; 64];
        self.mac.tag(sequence, data, &mut computed)?;
        tag.copy_from_slice(&computed[..tag.len()]);
        Ok(())
    }

    /// The first block of `head` in clear.
    fn clear_first(&mut self, head: &[u8]) -> Result<&FirstBlock, PacketError> {
        let len = self.layout.head_len();
        let block = head.get(..len).ok_or(PacketError::Malformed(head.len()))?;
        let first = match self.first.take() {
            Some(first) if first.sealed[..len] == *block => first,
            Some(_) => return Err(PacketError::Refused),
            None => {
                let mut sealed = [0; LONGEST_BLOCK];
                sealed[..len].copy_from_slice(block);
                let mut clear = Zeroizing::new(sealed);
                self.mode.decrypt(&mut clear[..len])?;
                FirstBlock { sealed, clear }
            }
        };
        Ok(self.first.insert(first))
    }

    /// Decrypts a whole packet whose first block may have been decrypted before.
    fn decrypt(&mut self, packet: &mut [u8]) -> Result<(), PacketError> {
        if self.first.is_none() {
            return self.mode.decrypt(packet);
        }
        let len = self.layout.head_len();
        let clear = self.clear_first(packet)?.clear.clone();
        self.first = None;
        packet[..len].copy_from_slice(&clear[..len]);
        if packet.len() > len {
            self.mode.decrypt(&mut packet[len..])?;
        }
        Ok(())
    }

    fn open_mac_first(
        &mut self,
        sequence: u32,
        packet: &mut [u8],
        tag: &[u8],
    ) -> Result<(), PacketError> {
        self.verify(sequence, packet, tag)?;
        self.mode.decrypt(&mut packet[LENGTH_FIELD..])?;
        self.layout.check_length_field(packet)
    }

    fn open_mac_last(
        &mut self,
        sequence: u32,
        packet: &mut [u8],
        tag: &[u8],
    ) -> Result<(), PacketError> {
        let opened = self
            .decrypt(packet)
            .and_then(|()| self.verify(sequence, packet, tag));
        if opened.is_err() {
            packet.zeroize();
        }
        opened.and_then(|()| self.layout.check_length_field(packet))
    }
}

impl<C: BlockMode, M: PacketMac> PacketCipher for CipherAndMac<C, M> {
    fn tag_len(&self) -> usize {
        self.layout.tag_len()
    }

    fn seal(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        let (packet, tag) = self.layout.split(packet)?;
        self.layout.check_length_field(packet)?;
        if self.encrypt_then_mac {
            self.mode.encrypt(&mut packet[LENGTH_FIELD..])?;
            self.put_tag(sequence, packet, tag)
        } else {
            self.put_tag(sequence, packet, tag)?;
            self.mode.encrypt(packet)
        }
    }

    fn packet_length(&mut self, _sequence: u32, head: &[u8]) -> Result<u32, PacketError> {
        if self.encrypt_then_mac {
            read_length(head)
        } else {
            read_length(&*self.clear_first(head)?.clear)
        }
    }

    fn open(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        let (packet, tag) = self.layout.split(packet)?;
        if self.encrypt_then_mac {
            self.open_mac_first(sequence, packet, tag)
        } else {
            self.open_mac_last(sequence, packet, tag)
        }
    }
}
