//! Every row of the fused ChaCha20-Poly1305 against the two primitives composed by hand, the portable
//! ones and RustCrypto's.
#![forbid(unsafe_code)]

use crate::guard::{each_guarded, guarded_lengths};
use crate::sweep::{Random, placements};
use chacha20::ChaCha20Legacy;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use engine::cpu::{Detected, Feature, Features};
use engine::kernels::Kernel;
use engine::kernels::chacha20_poly1305::{ChaCha20Poly1305, HEADER, Key, Start, TAG};
use poly1305::Poly1305;
use poly1305::universal_hash::KeyInit;

type Row = Kernel<ChaCha20Poly1305>;

fn rows() -> Vec<Row> {
    Kernel::usable(Detected::new(Features::NONE)).collect()
}

/// Both keys, as bytes.
#[derive(Clone, Copy)]
struct Keys {
    main: [u8; 32],
    header: [u8; 32],
}

impl Keys {
    fn new(random: &mut Random) -> Self {
        Self {
            main: random.array(),
            header: random.array(),
        }
    }

    fn key(&self) -> Key {
        Key::new(&self.main, &self.header)
    }

    /// The message sealed as `PROTOCOL.chacha20poly1305` says, by RustCrypto.
    fn seal(&self, nonce: [u8; 8], message: &mut [u8]) -> [u8; TAG] {
        let stream = |key: &[u8; 32], block: u64, data: &mut [u8]| {
            let mut cipher = ChaCha20Legacy::new(&(*key).into(), &nonce.into());
            cipher.seek(u128::from(block) * 64);
            cipher.apply_keystream(data);
        };
        let (header, body) = message.split_at_mut(HEADER);
        stream(&self.header, 0, header);
        stream(&self.main, 1, body);
        let mut one_time_key = [0; 32];
        stream(&self.main, 0, &mut one_time_key);
        let mac = Poly1305::new(&one_time_key.into());
        mac.compute_unpadded(message).into()
    }
}

fn open(row: Row, key: &Key, nonce: [u8; 8], message: &mut [u8], tag: &[u8; TAG]) -> bool {
    let mut start = Start::new();
    row.begin(key, nonce, &mut start);
    row.open(key, nonce, &start, message, tag)
}

#[test]
fn every_row_is_rustcrypto_at_all_lengths_and_offsets() {
    let mut random = Random(8439);
    for (offset, length) in placements().filter(|(_, length)| *length >= HEADER) {
        let (keys, nonce) = (Keys::new(&mut random), random.array());
        let original = random.bytes(offset + length + 64);
        let range = offset..offset + length;
        let mut expected = original.clone();
        let expected_tag = keys.seal(nonce, &mut expected[range.clone()]);
        for row in rows() {
            let what = format!("{row:?}, {length} bytes at {offset}");
            let key = keys.key();
            let mut message = original.clone();
            let tag = row.seal(&key, nonce, &mut message[range.clone()]);
            assert!(message == expected, "{what}");
            assert_eq!(tag, expected_tag, "{what}");
            let opened = open(row, &key, nonce, &mut message[range.clone()], &tag);
            assert!(opened && message == original, "{what}");
        }
    }
}

#[test]
fn the_start_decrypts_the_header_and_is_the_nonces_own() {
    let mut random = Random(4);
    for row in rows() {
        let key = Keys::new(&mut random).key();
        let mut start = Start::default();
        for length in [4, 68, 200, 3000] {
            let nonce = random.array();
            let original = random.bytes(length);
            let mut message = original.clone();
            let tag = row.seal(&key, nonce, &mut message);
            row.begin(&key, nonce, &mut start);
            let header = start.header(*message.first_chunk().unwrap());
            assert_eq!(header, original[..HEADER], "{row:?}");
            assert!(row.open(&key, nonce, &start, &mut message, &tag));
            assert!(message == original, "{row:?}, {length} bytes");
        }
    }
}

#[test]
fn a_wrong_tag_is_refused_and_leaves_no_plaintext() {
    let mut random = Random(5);
    let lengths = (HEADER..HEADER + 80).chain([200, 700, 1284, 1700, 2500, 5000]);
    for (length, row) in lengths.flat_map(|length| rows().into_iter().map(move |row| (length, row)))
    {
        let (key, nonce) = (Keys::new(&mut random).key(), random.array());
        let original = random.bytes(length);
        let mut sealed = original.clone();
        let tag = row.seal(&key, nonce, &mut sealed);
        for bit in [0, 63, 127] {
            let (mut message, mut wrong) = (sealed.clone(), tag);
            wrong[bit / 8] ^= 1 << (bit % 8);
            let what = format!("{row:?}, {length} bytes, bit {bit}");
            assert!(!open(row, &key, nonce, &mut message, &wrong), "{what}");
            let (found, clear) = (message.chunks_exact(HEADER), original.chunks_exact(HEADER));
            let same = found.zip(clear).filter(|(found, clear)| found == clear);
            assert_eq!(same.count(), 0, "{what}");
        }
        for at in [0, length / 2, length - 1] {
            let mut message = sealed.clone();
            message[at] ^= 0x10;
            assert!(
                !open(row, &key, nonce, &mut message, &tag),
                "{row:?}, {length}"
            );
        }
    }
}

#[test]
fn no_row_leaves_its_message() {
    let mut random = Random(6);
    let (key, nonce) = (Keys::new(&mut random).key(), random.array());
    each_guarded(&guarded_lengths(), |message| {
        if message.len() < HEADER {
            return;
        }
        for row in rows() {
            let before = message.to_vec();
            let tag = row.seal(&key, nonce, message);
            assert!(open(row, &key, nonce, message, &tag), "{row:?}");
            assert!(message == before, "{row:?}");
        }
    });
}

#[test]
fn hidden_features_bring_the_lower_rows() {
    let best = |hidden: &[Feature]| Row::best(Detected::new(Features::of(hidden))).name();
    assert_eq!(best(&[Feature::Sse2, Feature::Neon]), "portable");
    if Detected::new(Features::NONE).features().has(Feature::Avx2) {
        assert_eq!(best(&[Feature::Avx512f]), "avx2");
        assert_eq!(best(&[Feature::Avx2]), "sse2");
    }
}
