//! The RustCrypto crates, as this build has them: without `target-cpu` they detect AES and AVX2 alone.
#![forbid(unsafe_code)]

use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use chacha20::ChaCha20Legacy;
use ctr::CtrCore;
use ctr::cipher::{InnerIvInit, KeyIvInit, StreamCipher, StreamCipherCoreWrapper};
use ctr::flavors::Ctr128BE;
use engine::providers::RustCrypto;
use poly1305::Poly1305;

use super::own::packet;
use crate::work::{Contestant, Work, first_counter, gcm_nonce, one_time_key, split};

pub fn contestants(work: Work, key: &[u8; 64]) -> Vec<Contestant> {
    let name = "rustcrypto";
    let long: [u8; 32] = *key.first_chunk().expect("the key is longer");
    let short: [u8; 16] = *key.first_chunk().expect("the key is longer");
    let key = *key;
    let contestant = match work {
        Work::ChaCha20 => Contestant::new(name, move |number, message| {
            let mut cipher = ChaCha20Legacy::new(&long.into(), &number.to_be_bytes().into());
            cipher.apply_keystream(split(message).1);
            true
        }),
        Work::Poly1305 => Contestant::new(name, move |number, message| {
            let (_, payload, tag) = split(message);
            let mac = <Poly1305 as poly1305::universal_hash::KeyInit>::new(
                &one_time_key(&key, number).into(),
            );
            *tag = mac.compute_unpadded(payload).into();
            true
        }),
        Work::SshSeal | Work::SshOpen => {
            return packet(name, &RustCrypto, work, &key).into_iter().collect();
        }
        Work::Aes128Ctr => ctr(aes::Aes128::new(&short.into())),
        Work::Aes256Ctr => ctr(aes::Aes256::new(&long.into())),
        Work::Aes128GcmSeal | Work::Aes128GcmOpen => gcm(work, Aes128Gcm::new(&short.into())),
        _ => gcm(work, Aes256Gcm::new(&long.into())),
    };
    vec![contestant]
}

fn ctr<C>(cipher: C) -> Contestant
where
    C: ctr::cipher::BlockCipherEncrypt
        + ctr::cipher::BlockSizeUser<BlockSize = ctr::cipher::consts::U16>
        + Clone
        + 'static,
{
    Contestant::new("rustcrypto", move |number, message| {
        let counter = first_counter(number).into();
        let core = CtrCore::<C, Ctr128BE>::inner_iv_init(cipher.clone(), &counter);
        let mut stream = StreamCipherCoreWrapper::from_core(core);
        stream.apply_keystream(split(message).1);
        true
    })
}

fn gcm<C>(work: Work, gcm: C) -> Contestant
where
    C: AeadInOut<NonceSize = aes_gcm::aead::consts::U12, TagSize = aes_gcm::aead::consts::U16>
        + 'static,
{
    let opens = work.inverse().is_some();
    Contestant::new("rustcrypto", move |number, message| {
        let (head, payload, tag) = split(message);
        let nonce = gcm_nonce(number).into();
        if opens {
            let tag = (*tag).into();
            return gcm
                .decrypt_inout_detached(&nonce, head, payload.into(), &tag)
                .is_ok();
        }
        match gcm.encrypt_inout_detached(&nonce, head, payload.into()) {
            Ok(sealed) => *tag = sealed.into(),
            Err(_) => return false,
        }
        true
    })
}
