//! The system's libgcrypt, where there is one.
#![forbid(unsafe_code)]

use super::sys::{Gcrypt, GcryptMode};
use crate::work::{Contestant, Work, first_counter, split};

pub fn contestants(work: Work, key: &[u8; 64]) -> Vec<Contestant> {
    let mode = match work {
        Work::ChaCha20 => GcryptMode::ChaCha20,
        Work::Aes128Ctr => GcryptMode::Aes128Ctr,
        Work::Aes256Ctr => GcryptMode::Aes256Ctr,
        _ => return Vec::new(),
    };
    let Some(mut cipher) = Gcrypt::load(mode, &key[..work.aes_key_len()]) else {
        return Vec::new();
    };
    let name = cipher.version();
    let run = move |number: u64, message: &mut [u8]| {
        let restarted = match mode {
            GcryptMode::ChaCha20 => cipher.restart(&number.to_be_bytes()),
            _ => cipher.restart(&first_counter(number)),
        };
        restarted && cipher.update(split(message).1)
    };
    vec![Contestant::new(name, run)]
}
