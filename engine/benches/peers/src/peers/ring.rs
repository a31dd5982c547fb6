//! The crate ring: AEADs only.
#![forbid(unsafe_code)]

use ring::aead::chacha20_poly1305_openssh::{OpeningKey, SealingKey};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::work::{Contestant, Work, gcm_nonce, split};

pub fn contestants(work: Work, key: &[u8; 64]) -> Vec<Contestant> {
    let name = "ring";
    let contestant = match work {
        Work::SshSeal => {
            let key = SealingKey::new(key);
            Contestant::new(name, move |number, message| {
                let (message, tag) = message.split_last_chunk_mut().expect("it has a tag");
                key.seal_in_place(number as u32, message, tag);
                true
            })
        }
        Work::SshOpen => {
            let key = OpeningKey::new(key);
            Contestant::new(name, move |number, message| {
                let (message, tag) = message.split_last_chunk_mut().expect("it has a tag");
                key.open_in_place(number as u32, message, tag).is_ok()
            })
        }
        Work::ChaCha20 | Work::Poly1305 | Work::Aes128Ctr | Work::Aes256Ctr => return Vec::new(),
        _ => gcm(work, key),
    };
    vec![contestant]
}

fn gcm(work: Work, key: &[u8; 64]) -> Contestant {
    let algorithm = match work.aes_key_len() {
        16 => &AES_128_GCM,
        _ => &AES_256_GCM,
    };
    let key = UnboundKey::new(algorithm, &key[..work.aes_key_len()]).expect("the length fits");
    let key = LessSafeKey::new(key);
    let opens = work.inverse().is_some();
    Contestant::new("ring", move |number, message| {
        let nonce = Nonce::assume_unique_for_key(gcm_nonce(number));
        if opens {
            let (head, rest) = message.split_at_mut(4);
            return key.open_in_place(nonce, Aad::from(&*head), rest).is_ok();
        }
        let (head, payload, tag) = split(message);
        match key.seal_in_place_separate_tag(nonce, Aad::from(&*head), payload) {
            Ok(sealed) => tag.copy_from_slice(sealed.as_ref()),
            Err(_) => return false,
        }
        true
    })
}
