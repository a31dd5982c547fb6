//! The crate graviola: AES-GCM only.
#![forbid(unsafe_code)]

use graviola::aead::AesGcm;

use crate::work::{Contestant, Work, gcm_nonce, split};

pub fn contestants(work: Work, key: &[u8; 64]) -> Vec<Contestant> {
    let gcm = AesGcm::new(&key[..work.aes_key_len()]);
    let contestant = match work {
        Work::Aes128GcmSeal | Work::Aes256GcmSeal => {
            Contestant::new("graviola", move |number, message| {
                let (head, payload, tag) = split(message);
                gcm.encrypt(&gcm_nonce(number), head, payload, tag);
                true
            })
        }
        Work::Aes128GcmOpen | Work::Aes256GcmOpen => {
            Contestant::new("graviola", move |number, message| {
                let (head, payload, tag) = split(message);
                gcm.decrypt(&gcm_nonce(number), head, payload, tag).is_ok()
            })
        }
        _ => return Vec::new(),
    };
    vec![contestant]
}
