//! The system's libcrypto through EVP: one context per key, a new nonce per message.
#![forbid(unsafe_code)]

use super::sys::Evp;
use crate::work::{Contestant, Work, first_counter, gcm_nonce, split};

pub fn contestants(work: Work, key: &[u8; 64]) -> Vec<Contestant> {
    let key = &key[..work.aes_key_len()];
    let opens = work.inverse().is_some();
    let function = match (work, work.aes_key_len()) {
        (Work::ChaCha20, _) => "EVP_chacha20",
        (Work::Aes128Ctr, _) => "EVP_aes_128_ctr",
        (Work::Aes256Ctr, _) => "EVP_aes_256_ctr",
        (Work::Poly1305 | Work::SshSeal | Work::SshOpen, _) => return Vec::new(),
        (_, 16) => "EVP_aes_128_gcm",
        _ => "EVP_aes_256_gcm",
    };
    let Some(mut evp) = Evp::load(function, key, !opens) else {
        return Vec::new();
    };
    let name = evp.version();
    let contestant = match work {
        Work::ChaCha20 => Contestant::new(name, move |number, message| {
            let mut iv = [0; 16];
            iv[8..].copy_from_slice(&number.to_be_bytes());
            evp.restart(&iv) && evp.update(split(message).1)
        }),
        Work::Aes128Ctr | Work::Aes256Ctr => Contestant::new(name, move |number, message| {
            evp.restart(&first_counter(number)) && evp.update(split(message).1)
        }),
        _ if opens => Contestant::new(name, move |number, message| {
            let (head, payload, tag) = split(message);
            evp.restart(&gcm_nonce(number))
                && evp.additional(head)
                && evp.update(payload)
                && evp.expect_tag(tag)
        }),
        _ => Contestant::new(name, move |number, message| {
            let (head, payload, tag) = split(message);
            evp.restart(&gcm_nonce(number))
                && evp.additional(head)
                && evp.update(payload)
                && evp.finish(tag)
        }),
    };
    vec![contestant]
}
