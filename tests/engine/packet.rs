//! Packet constructions: every provider against every other, over all lengths and counters' wraps, and
//! with every bit of a short packet damaged in turn and the ends and middle of long ones.
#![forbid(unsafe_code)]

use engine::algorithm::{Cipher, Mac};
use engine::packet::{LENGTH_FIELD, Layout, PacketCipher, PacketError};
use engine::providers::{Direction, Provider};

use crate::providers::{algorithms, keys, libcrypto, providers};
use crate::sweep::{is_thin, lengths};

/// Sequence numbers that pass the wrap.
fn sequences() -> impl Iterator<Item = u32> {
    (0..).map(|i: u32| (u32::MAX - 2).wrapping_add(i))
}

fn payload(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + len) as u8).collect()
}

type Cast = Vec<(String, Box<dyn Provider>)>;

/// The ciphers of all providers that do this algorithm.
fn all(
    providers: &Cast,
    cipher: Cipher,
    mac: Option<Mac>,
    seed: u64,
    direction: Direction,
) -> Vec<(&str, Box<dyn PacketCipher>)> {
    let keys = keys(cipher, mac, seed);
    let able = providers.iter().filter_map(|(name, provider)| {
        let made = provider.packet_cipher(cipher, mac, &keys, direction);
        made.ok().map(|made| (name.as_str(), made))
    });
    able.collect()
}

#[test]
fn what_one_provider_seals_every_other_opens() {
    let providers = providers();
    for (cipher, mac) in algorithms() {
        let layout = Layout::of(cipher, mac);
        let mut sealers = all(&providers, cipher, mac, 1, Direction::Seal);
        let mut openers = all(&providers, cipher, mac, 1, Direction::Open);
        for (len, sequence) in lengths().zip(sequences()) {
            let clear = layout.frame(&payload(len));
            let covered = clear.len() - layout.tag_len();
            let mut sealed: Option<Vec<u8>> = None;
            for (name, sealer) in &mut sealers {
                let mut packet = clear.clone();
                let done = sealer.seal(sequence, &mut packet);
                assert_eq!(done, Ok(()), "{name} {cipher} {mac:?} {len}");
                assert_ne!(packet[LENGTH_FIELD..covered], clear[LENGTH_FIELD..covered]);
                let first = sealed.get_or_insert_with(|| packet.clone());
                assert_eq!(*first, packet, "{name} {cipher} {mac:?} {len}");
            }
            let Some(sealed) = sealed else { continue };
            for (name, opener) in &mut openers {
                let what = format!("{name} {cipher} {mac:?} {len}");
                // A receiver asks for the length first; one that knows it may skip that.
                if len % 3 > 0 {
                    let head = &sealed[..layout.head_len()];
                    let length = opener.packet_length(sequence, head).expect(&what);
                    assert_eq!(length as usize + LENGTH_FIELD, covered, "{what}");
                }
                let mut packet = sealed.clone();
                assert_eq!(opener.open(sequence, &mut packet), Ok(()), "{what}");
                assert_eq!(packet[..covered], clear[..covered], "{what}");
                assert_eq!(layout.payload(&packet), Some(&*payload(len)), "{what}");
            }
        }
    }
}

#[test]
fn any_flipped_bit_of_a_short_packet_is_refused() {
    refuses_flipped_bits(if is_thin() { 20 } else { 90 }, |_, whole| {
        (0..8 * whole).collect()
    });
}

#[test]
fn a_flipped_bit_of_a_long_packet_is_refused_in_length_body_and_tag() {
    for len in [1100, 32 * 1024] {
        refuses_flipped_bits(len, |covered, whole| {
            let length = [0, LENGTH_FIELD - 1];
            let body = [LENGTH_FIELD, covered / 2, covered - 1];
            let tag = [covered, whole - 1];
            let bytes = length.into_iter().chain(body).chain(tag);
            bytes.map(|byte| 8 * byte + byte % 8).collect()
        });
    }
}

/// Flips one bit after the other in a packet with `len` bytes of payload; `bits` chooses them, given
/// the packet's length without and with its tag.
fn refuses_flipped_bits(len: usize, bits: impl Fn(usize, usize) -> Vec<usize>) {
    let providers = providers();
    for (cipher, mac) in algorithms() {
        let layout = Layout::of(cipher, mac);
        let clear = layout.frame(&payload(len));
        let covered = clear.len() - layout.tag_len();
        let mut sealed = clear.clone();
        let Some((_, sealer)) = &mut all(&providers, cipher, mac, 2, Direction::Seal).pop() else {
            continue;
        };
        sealer.seal(7, &mut sealed).expect("sealing");
        for bit in bits(covered, sealed.len()) {
            for (name, mut opener) in all(&providers, cipher, mac, 2, Direction::Open) {
                let mut packet = sealed.clone();
                packet[bit / 8] ^= 1 << (bit % 8);
                let opened = opener.open(7, &mut packet);
                let what = format!("{name} {cipher} {mac:?}, bit {bit} of {len} bytes");
                assert_eq!(opened, Err(PacketError::Refused), "{what}");
                let body = LENGTH_FIELD..covered;
                assert!(
                    packet[body.clone()] != clear[body],
                    "{what} leaks plaintext"
                );
            }
        }
    }
}

#[test]
fn libcrypto_seals_and_opens_packets_at_odd_addresses() {
    let Some(library) = libcrypto() else { return };
    for (cipher, mac) in algorithms() {
        let layout = Layout::of(cipher, mac);
        let keys = keys(cipher, mac, 8);
        let make = |direction| library.packet_cipher(cipher, mac, &keys, direction).ok();
        let Some(mut aligned) = make(Direction::Seal) else {
            continue;
        };
        let mut ends = [1, 63].map(|offset| {
            let both = (make(Direction::Seal), make(Direction::Open));
            (
                offset,
                both.0.expect("a sealer"),
                both.1.expect("an opener"),
            )
        });
        for (len, sequence) in lengths().zip(sequences()) {
            let clear = layout.frame(&payload(len));
            let covered = clear.len() - layout.tag_len();
            let mut sealed = clear.clone();
            aligned.seal(sequence, &mut sealed).expect("sealing");
            for (offset, sealer, opener) in &mut ends {
                let what = format!("{cipher} {mac:?}, {len} bytes at {offset}");
                let mut buffer = vec![0xa5; *offset + clear.len() + 64];
                let packet = *offset..*offset + clear.len();
                buffer[packet.clone()].copy_from_slice(&clear);
                let done = sealer.seal(sequence, &mut buffer[packet.clone()]);
                assert_eq!(done, Ok(()), "{what}");
                assert!(buffer[packet.clone()] == sealed, "{what}");
                let done = opener.open(sequence, &mut buffer[packet.clone()]);
                assert_eq!(done, Ok(()), "{what}");
                assert!(
                    buffer[packet.clone()][..covered] == clear[..covered],
                    "{what}"
                );
                let around = buffer[..packet.start].iter().chain(&buffer[packet.end..]);
                assert!(around.into_iter().all(|&byte| byte == 0xa5), "{what}");
            }
        }
    }
}

#[test]
fn gcm_counts_packets_in_all_64_bits_and_leaves_the_rest_of_the_iv() {
    for (name, provider) in providers() {
        for cipher in [Cipher::Aes128Gcm, Cipher::Aes256Gcm] {
            let clear = Layout::of(cipher, None).frame(&payload(40));
            let starting_at = |count: u64| {
                let mut keys = keys(cipher, None, 9);
                keys.iv[4..].copy_from_slice(&count.to_be_bytes());
                let make = |direction| provider.packet_cipher(cipher, None, &keys, direction).ok();
                make(Direction::Seal).zip(make(Direction::Open))
            };
            for first in [u64::from(u32::MAX), u64::MAX] {
                let Some((mut sealer, mut opener)) = starting_at(first) else {
                    continue;
                };
                for i in 0..3 {
                    let what = format!("{name} {cipher}, packet {i} from {first:#x}");
                    let fresh = starting_at(first.wrapping_add(i));
                    let (mut counted, mut expected) = (clear.clone(), clear.clone());
                    sealer.seal(0, &mut counted).expect(&what);
                    let sealed = fresh.map(|(mut fresh, _)| fresh.seal(0, &mut expected));
                    assert_eq!(sealed, Some(Ok(())), "{what}");
                    assert_eq!(counted, expected, "{what}");
                    assert_eq!(opener.open(0, &mut counted), Ok(()), "{what}");
                }
            }
        }
    }
}

#[test]
fn a_length_that_lies_is_refused_even_where_it_was_read_first() {
    let providers = providers();
    for (cipher, mac) in algorithms() {
        let layout = Layout::of(cipher, mac);
        let mut sealed = layout.frame(&payload(100));
        let Some((_, sealer)) = &mut all(&providers, cipher, mac, 3, Direction::Seal).pop() else {
            continue;
        };
        sealer.seal(0, &mut sealed).expect("sealing");
        for bit in 0..32 {
            for (name, mut opener) in all(&providers, cipher, mac, 3, Direction::Open) {
                let mut packet = sealed.clone();
                packet[bit / 8] ^= 1 << (bit % 8);
                let head = packet[..layout.head_len()].to_vec();
                let length = opener.packet_length(0, &head).expect("a whole head");
                let wrong = length as usize + LENGTH_FIELD + layout.tag_len() != packet.len();
                // CBC spreads the flip over its block, so any length may come out but the right one.
                assert!(wrong, "{name} {cipher} {mac:?}, bit {bit}");
                let opened = opener.open(0, &mut packet);
                assert_eq!(opened, Err(PacketError::Refused), "{name} {cipher} {mac:?}");
            }
        }
    }
}

#[test]
fn another_sequence_number_is_refused_where_it_is_authenticated() {
    let providers = providers();
    for (cipher, mac) in algorithms() {
        let mut sealed = Layout::of(cipher, mac).frame(&payload(40));
        let Some((_, sealer)) = &mut all(&providers, cipher, mac, 4, Direction::Seal).pop() else {
            continue;
        };
        sealer.seal(u32::MAX, &mut sealed).expect("sealing");
        for (name, mut opener) in all(&providers, cipher, mac, 4, Direction::Open) {
            let opened = opener.open(0, &mut sealed.clone());
            // GCM counts packets by itself (RFC 5647): the sequence number is not its business.
            let gcm = matches!(cipher, Cipher::Aes128Gcm | Cipher::Aes256Gcm);
            let expected = if gcm {
                Ok(())
            } else {
                Err(PacketError::Refused)
            };
            assert_eq!(opened, expected, "{name} {cipher} {mac:?}");
        }
    }
}

#[test]
fn a_packet_replayed_or_left_out_is_refused() {
    let providers = providers();
    for (cipher, mac) in algorithms() {
        let layout = Layout::of(cipher, mac);
        let Some((_, sealer)) = &mut all(&providers, cipher, mac, 5, Direction::Seal).pop() else {
            continue;
        };
        let sealed = [0, 1, 2].map(|sequence| {
            let mut packet = layout.frame(&payload(50));
            sealer.seal(sequence, &mut packet).expect("sealing");
            packet
        });
        for order in [[0, 0], [0, 2]] {
            for (name, mut opener) in all(&providers, cipher, mac, 5, Direction::Open) {
                let mut open =
                    |sequence, packet: usize| opener.open(sequence, &mut sealed[packet].clone());
                assert_eq!(open(0, order[0]), Ok(()));
                let second = open(1, order[1]);
                assert_eq!(second, Err(PacketError::Refused), "{name} {cipher} {mac:?}");
            }
        }
    }
}

#[test]
fn buffers_that_are_no_packet_are_malformed_and_stay_untouched() {
    let providers = providers();
    for (cipher, mac) in algorithms() {
        let layout = Layout::of(cipher, mac);
        let good = layout.frame(&payload(60));
        let sizes = (0..good.len()).chain([good.len() + 1, 300_000, 262_148 + 16 + 1]);
        for (name, mut sealer) in all(&providers, cipher, mac, 6, Direction::Seal) {
            for size in sizes.clone() {
                let mut buffer = good.clone();
                buffer.resize(size, 0);
                let before = buffer.clone();
                let sealed = sealer.seal(0, &mut buffer);
                let what = format!("{name} {cipher} {mac:?}, {size} bytes");
                assert_eq!(sealed, Err(PacketError::Malformed(size)), "{what}");
                assert_eq!(buffer, before, "{what}");
            }
            assert_eq!(sealer.seal(0, &mut good.clone()), Ok(()), "{name} {cipher}");
        }
        for (name, mut opener) in all(&providers, cipher, mac, 6, Direction::Open) {
            for size in 0..layout.head_len() {
                let length = opener.packet_length(0, &good[..size]);
                assert!(matches!(length, Err(PacketError::Malformed(_))), "{name}");
            }
            let least = if mac.is_none_or(|mac| mac.encrypt_then_mac) {
                LENGTH_FIELD + cipher.block_len()
            } else {
                16
            };
            for size in 0..least + layout.tag_len() {
                let opened = opener.open(0, &mut good.clone()[..size]);
                assert_eq!(opened, Err(PacketError::Malformed(size)), "{name} {cipher}");
            }
        }
    }
}
