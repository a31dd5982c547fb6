//! Whether a provider computes right, asked before any of its speeds is shown.
//!
//! A wrong answer quickly found is worse than none: a miscompiled kernel or a broken library would
//! win every comparison. The answers in `known_answers.txt` were agreed on by implementations that
//! share no code; how is written there.
#![forbid(unsafe_code)]

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{KeyInit, Nonce};
use sha2::{Digest, Sha256};

use super::{Direction, Keys, Provider, Unavailable};
use crate::algorithm::{Cipher, Mac};
use crate::packet::{LENGTH_FIELD, Layout, PacketError};

/// Payload lengths in bytes of the packets of a known answer, and their sequence numbers: shorter and
/// longer than every vector, and across the wrap.
const PACKETS: [(u32, usize); 5] = [
    (u32::MAX - 1, 1),
    (u32::MAX, 64),
    (0, 255),
    (1, 1000),
    (2, 32 * 1024),
];

/// Why the numbers of a provider would be worth nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelfTestFailure {
    /// The provider does not do this algorithm here.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// Nobody has computed an answer for this algorithm.
    #[error("there is no known answer for {0}")]
    Unknown(String),
    /// It gave an error.
    #[error("{what}: {error}")]
    Failed {
        /// What it was doing.
        what: &'static str,
        /// What it said.
        error: PacketError,
    },
    /// It gave a wrong answer.
    #[error("it computes wrong: {0}")]
    Wrong(&'static str),
}

/// What every implementation must make of certain packets.
pub struct KnownAnswer {
    /// The keys: the bytes 1, 2, 3, … through cipher key, IV and MAC key.
    pub keys: Keys,
    /// Sequence numbers and clear packets with room for the tag, to be sealed one after another.
    pub packets: Vec<(u32, Vec<u8>)>,
    /// SHA-256 of the sealed packets, tags included, one after another.
    pub digest: [u8; 32],
}

/// The known answer for an algorithm.
#[must_use]
pub fn known_answer(cipher: Cipher, mac: Option<Mac>) -> Option<KnownAnswer> {
    let digest = pinned(cipher, mac)?;
    let layout = Layout::of(cipher, mac);
    let payload = |len| (0..len).map(|i| (i * 7 + len) as u8).collect::<Vec<_>>();
    let packets = PACKETS.map(|(sequence, len)| (sequence, layout.frame(&payload(len))));
    let mut next = 0_u8;
    let keys = Keys::fill(cipher, mac, || {
        next += 1;
        next
    });
    Some(KnownAnswer {
        keys,
        packets: packets.into(),
        digest,
    })
}

/// Seals and opens the packets of the known answer, checks that damaged packets, short and long, are
/// refused, and for ChaCha20 compares with RFC 8439 under random keys.
///
/// # Errors
/// What is wrong with the provider.
pub fn self_test(
    provider: &dyn Provider,
    cipher: Cipher,
    mac: Option<Mac>,
) -> Result<(), SelfTestFailure> {
    let unknown = || SelfTestFailure::Unknown(name(cipher, mac));
    let known = known_answer(cipher, mac).ok_or_else(unknown)?;
    let sealed = seal(provider, cipher, mac, &known)?;
    let digest = sealed.iter().fold(Sha256::new(), Sha256::chain_update);
    if digest.finalize()[..] != known.digest {
        return Err(SelfTestFailure::Wrong(
            "sealed packets differ from the known ones",
        ));
    }
    open(provider, cipher, mac, &known, &sealed)?;
    refuse(provider, cipher, mac, &known)?;
    if cipher == Cipher::ChaCha20Poly1305 {
        agree_with_rfc_8439(provider)?;
    }
    Ok(())
}

fn seal(
    provider: &dyn Provider,
    cipher: Cipher,
    mac: Option<Mac>,
    known: &KnownAnswer,
) -> Result<Vec<Vec<u8>>, SelfTestFailure> {
    let mut sealer = provider.packet_cipher(cipher, mac, &known.keys, Direction::Seal)?;
    let packets = known.packets.iter().map(|(sequence, clear)| {
        let mut packet = clear.clone();
        sealer
            .seal(*sequence, &mut packet)
            .map_err(failed("sealing"))?;
        Ok(packet)
    });
    packets.collect()
}

fn open(
    provider: &dyn Provider,
    cipher: Cipher,
    mac: Option<Mac>,
    known: &KnownAnswer,
    sealed: &[Vec<u8>],
) -> Result<(), SelfTestFailure> {
    let layout = Layout::of(cipher, mac);
    let mut opener = provider.packet_cipher(cipher, mac, &known.keys, Direction::Open)?;
    for ((sequence, clear), sealed) in known.packets.iter().zip(sealed) {
        let covered = clear.len() - layout.tag_len();
        let head = &sealed[..layout.head_len()];
        let length = opener
            .packet_length(*sequence, head)
            .map_err(failed("reading a packet's length"))?;
        if length as usize != covered - LENGTH_FIELD {
            return Err(SelfTestFailure::Wrong("the length of a packet"));
        }
        let mut packet = sealed.clone();
        opener
            .open(*sequence, &mut packet)
            .map_err(failed("opening"))?;
        if packet[..covered] != clear[..covered] {
            return Err(SelfTestFailure::Wrong(
                "opened packets differ from the sealed",
            ));
        }
    }
    Ok(())
}

/// Damages the shortest packet at both ends and the longest in its middle, each under fresh keys: in
/// an order of their own the counters would not fit.
fn refuse(
    provider: &dyn Provider,
    cipher: Cipher,
    mac: Option<Mac>,
    known: &KnownAnswer,
) -> Result<(), SelfTestFailure> {
    let cipher = |direction| provider.packet_cipher(cipher, mac, &known.keys, direction);
    let [(_, shortest), .., (_, longest)] = known.packets.as_slice() else {
        return Ok(());
    };
    for (clear, damaged) in [
        (shortest, LENGTH_FIELD),
        (shortest, shortest.len() - 1),
        (longest, longest.len() / 2),
    ] {
        let mut packet = clear.clone();
        let sealed = cipher(Direction::Seal)?.seal(0, &mut packet);
        sealed.map_err(failed("sealing"))?;
        packet[damaged] ^= 0x80;
        let opened = cipher(Direction::Open)?.open(0, &mut packet);
        if opened != Err(PacketError::Refused) {
            return Err(SelfTestFailure::Wrong("it takes a damaged packet"));
        }
    }
    Ok(())
}

/// The rest of an SSH packet is encrypted as RFC 8439 encrypts a message under the first of the two
/// keys, with the sequence number in the last eight bytes of the nonce: both leave block 0 to Poly1305.
fn agree_with_rfc_8439(provider: &dyn Provider) -> Result<(), SelfTestFailure> {
    const BODY: usize = 2048;
    let cipher = Cipher::ChaCha20Poly1305;
    let mut key = [0; 64];
    let entropy = |_| SelfTestFailure::Wrong("the system gives no random numbers");
    getrandom::fill(&mut key).map_err(entropy)?;
    let mut bytes = key.iter().copied();
    let keys = Keys::fill(cipher, None, || bytes.next().unwrap_or_default());
    let sequence = u32::from_le_bytes([key[0], key[1], key[2], key[3]]);

    let mut packet = Layout::of(cipher, None).frame(&[0x5a; BODY]);
    let mut body = packet[LENGTH_FIELD..packet.len() - 16].to_vec();
    let mut sealer = provider.packet_cipher(cipher, None, &keys, Direction::Seal)?;
    sealer
        .seal(sequence, &mut packet)
        .map_err(failed("sealing"))?;

    let mut nonce = Nonce::default();
    nonce[8..].copy_from_slice(&sequence.to_be_bytes());
    let rfc = chacha20poly1305::ChaCha20Poly1305::new_from_slice(&key[..32]);
    let sealed = rfc.ok().and_then(|rfc| {
        rfc.encrypt_inout_detached(&nonce, &[], body.as_mut_slice().into())
            .ok()
    });
    if sealed.is_none() || packet[LENGTH_FIELD..packet.len() - 16] != body {
        return Err(SelfTestFailure::Wrong("ChaCha20 differs from RFC 8439"));
    }
    Ok(())
}

fn failed(what: &'static str) -> impl Fn(PacketError) -> SelfTestFailure {
    move |error| SelfTestFailure::Failed { what, error }
}

fn name(cipher: Cipher, mac: Option<Mac>) -> String {
    match mac {
        None => cipher.to_string(),
        Some(mac) => format!("{cipher} {mac}"),
    }
}

/// The line of `known_answers.txt` for an algorithm.
fn pinned(cipher: Cipher, mac: Option<Mac>) -> Option<[u8; 32]> {
    let wanted = name(cipher, mac);
    let lines = include_str!("known_answers.txt").lines();
    let (_, hex) = lines
        .filter_map(|line| line.rsplit_once(' '))
        .find(|(name, _)| *name == wanted)?;
    let mut digest = [0; 32];
    for (byte, pair) in digest.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    (hex.len() == 64).then_some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_has_a_known_answer() {
        for &cipher in Cipher::ALL {
            let macs = if cipher.is_aead() {
                vec![None]
            } else {
                Mac::ALL.iter().copied().map(Some).collect()
            };
            for mac in macs {
                assert!(pinned(cipher, mac).is_some(), "{}", name(cipher, mac));
            }
        }
    }
}
