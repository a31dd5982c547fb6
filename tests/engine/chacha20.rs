//! Every row of ChaCha20 against RFC 8439, RustCrypto and itself.
#![forbid(unsafe_code)]

use crate::guard::{each_guarded, guarded_lengths};
use crate::sweep::{Random, hex, lengths, placements};
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use chacha20::{ChaCha20Legacy, Key as TheirKey};
use engine::cpu::{Detected, Feature, Features};
use engine::kernels::Kernel;
use engine::kernels::chacha20::{ChaCha20, Key};

fn rows() -> Vec<Kernel<ChaCha20>> {
    Kernel::usable(Detected::new(Features::NONE)).collect()
}

/// How an RFC 8439 counter and nonce become a block number and a nonce.
fn rfc8439(counter: u32, nonce: &[u8; 12]) -> ([u8; 8], u64) {
    let ([high, ..], _) = nonce.as_chunks::<4>() else {
        unreachable!()
    };
    let block = u64::from(counter) | u64::from(u32::from_le_bytes(*high)) << 32;
    (*nonce.last_chunk().unwrap(), block)
}

#[test]
fn rfc8439_block_function() {
    // §2.3.2.
    let key = Key::new(&std::array::from_fn(|i| i as u8));
    let (nonce, block) = rfc8439(1, hex("000000090000004a00000000").as_array().unwrap());
    let expected = hex(
        "10f1e7e4d13b5915500fdd1fa32071c4 c7d1f4c733c068030422aa9ac3d46c4e
         d2826446079faa0914c2d705d98b02a2 b5129cd1de164eb9cbd083e8a2503c4e",
    );
    for row in rows() {
        let mut data = [0; 64];
        row.xor(&key, nonce, block, &mut data);
        assert_eq!(data[..], expected, "{row:?}");
    }
}

#[test]
fn rfc8439_cipher() {
    // §2.4.2.
    let key = Key::new(&std::array::from_fn(|i| i as u8));
    let (nonce, block) = rfc8439(1, hex("000000000000004a00000000").as_array().unwrap());
    let text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for \
                 the future, sunscreen would be it.";
    let expected = hex(
        "6e2e359a2568f98041ba0728dd0d6981 e97e7aec1d4360c20a27afccfd9fae0b
         f91b65c5524733ab8f593dabcd62b357 1639d624e65152ab8f530c359f0861d8
         07ca0dbf500d6a6156a38e088a22b65e 52bc514d16ccf806818ce91ab7793736
         5af90bbf74a35be6b40b8eedf2785e42 874d",
    );
    for row in rows() {
        let mut data = *text;
        row.xor(&key, nonce, block, &mut data);
        assert_eq!(data[..], expected, "{row:?}");
    }
}

#[test]
fn every_row_is_rustcrypto_at_all_lengths_and_offsets() {
    let mut random = Random(8439);
    for (offset, length) in placements() {
        let (key, nonce) = (random.array::<32>(), random.array::<8>());
        let block = random.word() >> 24;
        let original = random.bytes(offset + length + 64);
        let mut expected = original.clone();
        let mut theirs = ChaCha20Legacy::new(&TheirKey::from(key), &nonce.into());
        theirs.seek(u128::from(block) * 64);
        theirs.apply_keystream(&mut expected[offset..offset + length]);
        for row in rows() {
            let mut data = original.clone();
            row.xor(
                &Key::new(&key),
                nonce,
                block,
                &mut data[offset..offset + length],
            );
            assert!(data == expected, "{row:?}, {length} bytes at {offset}");
        }
    }
}

#[test]
fn the_nonce_of_rfc8439_maps_on_counter_and_nonce() {
    let mut random = Random(96);
    let (key, nonce) = (random.array::<32>(), random.array::<12>());
    let mut expected = [0; 640];
    let mut theirs = chacha20::ChaCha20::new(&TheirKey::from(key), &nonce.into());
    theirs.seek(7 * 64_u64);
    theirs.apply_keystream(&mut expected);
    let (nonce, block) = rfc8439(7, &nonce);
    for row in rows() {
        let mut data = [0; 640];
        row.xor(&Key::new(&key), nonce, block, &mut data);
        assert_eq!(data, expected, "{row:?}");
    }
}

#[test]
fn the_counter_carries_into_its_high_word_and_wraps() {
    let mut random = Random(64);
    let (key, nonce) = (Key::new(&random.array()), random.array());
    let portable = Kernel::<ChaCha20>::named(Detected::new(Features::NONE), "portable").unwrap();
    for wrap in [1 << 32, 5 << 32, 0_u64] {
        for (before, blocks) in
            (0..=17).flat_map(|before| [1, 2, 4, 6, 8, 12, 16, 17, 33].map(|n| (before, n)))
        {
            let first = wrap.wrapping_sub(before);
            let mut expected = vec![0; 64 * blocks];
            for (i, block) in expected.chunks_mut(64).enumerate() {
                portable.xor(&key, nonce, first.wrapping_add(i as u64), block);
            }
            for row in rows() {
                let mut data = vec![0; 64 * blocks];
                row.xor(&key, nonce, first, &mut data);
                assert!(data == expected, "{row:?}, {blocks} blocks from {first}");
            }
        }
    }
}

#[test]
fn parts_give_the_whole() {
    let mut random = Random(2);
    let (key, nonce) = (Key::new(&random.array()), random.array());
    for length in lengths().filter(|length| length % 5 == 3) {
        let original = random.bytes(length);
        for row in rows() {
            let mut whole = original.clone();
            row.xor(&key, nonce, 9, &mut whole);
            for cut in [64, 128, 192, 320, 512, 576, 1024, 1088] {
                let mut parts = original.clone();
                let (left, right) = parts.split_at_mut(cut.min(length));
                row.xor(&key, nonce, 9, left);
                row.xor(&key, nonce, 9 + cut as u64 / 64, right);
                assert!(parts == whole, "{row:?}, {length} bytes cut at {cut}");
            }
        }
    }
}

#[test]
fn hidden_features_bring_the_lower_rows() {
    let best =
        |hidden: &[Feature]| Kernel::<ChaCha20>::best(Detected::new(Features::of(hidden))).name();
    assert_eq!(best(&[Feature::Sse2, Feature::Neon]), "portable");
    if Detected::new(Features::NONE).features().has(Feature::Avx2) {
        assert_eq!(best(&[Feature::Avx512f]), "avx2");
        assert_eq!(best(&[Feature::Avx2]), "sse2");
    }
}

#[test]
fn no_row_leaves_its_buffer() {
    let key = Key::new(&Random(1).array());
    each_guarded(&guarded_lengths(), |buffer| {
        for row in rows() {
            row.xor(&key, [7; 8], 3, buffer);
        }
    });
}
