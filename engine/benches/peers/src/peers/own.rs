//! The engine's kernels, and what OpenSSH does with this system's libcrypto.
#![forbid(unsafe_code)]

use engine::algorithm::Cipher;
use engine::cpu::{Detected, Features};
use engine::kernels::Kernel;
use engine::kernels::aes::Aes;
use engine::kernels::aes_gcm::{AesGcm, Rows};
use engine::kernels::chacha20::{ChaCha20, Key};
use engine::kernels::poly1305::Poly1305;
use engine::providers::{Direction, Keys, Libcrypto, Native, OpenSsh, Provider};

use crate::work::{Contestant, Work, first_counter, gcm_nonce, one_time_key, split};

pub fn contestants(work: Work, key: &[u8; 64], rows: bool) -> Vec<Contestant> {
    let key = *key;
    let hidden = std::env::var("ADVISOR_CPU_DISABLE").unwrap_or_default();
    let hidden = Features::parse(&hidden).expect("ADVISOR_CPU_DISABLE lists instruction sets");
    let detected = Detected::new(hidden);
    let shown = if rows { usize::MAX } else { 1 };
    let name = |row: &str| format!("own {row}");
    match work {
        Work::ChaCha20 => Kernel::<ChaCha20>::usable(detected)
            .take(shown)
            .map(|row| {
                let key = Key::new(key.first_chunk().expect("the key is longer"));
                Contestant::new(name(row.name()), move |number, message| {
                    row.xor(&key, number.to_be_bytes(), 0, split(message).1);
                    true
                })
            })
            .collect(),
        Work::Poly1305 => Kernel::<Poly1305>::usable(detected)
            .take(shown)
            .map(|row| {
                Contestant::new(name(row.name()), move |number, message| {
                    let (_, payload, tag) = split(message);
                    *tag = row.tag(&one_time_key(&key, number), payload);
                    true
                })
            })
            .collect(),
        Work::SshSeal | Work::SshOpen => {
            let native = Native::new(detected);
            let openssh = OpenSsh::new(Libcrypto::load(&[]), None, detected);
            [
                packet("own", &native, work, &key),
                packet("openssh-way", &openssh, work, &key),
            ]
            .into_iter()
            .flatten()
            .collect()
        }
        Work::Aes128Ctr | Work::Aes256Ctr => Kernel::<Aes>::usable(detected)
            .take(shown)
            .map(|row| {
                let key = row.expand(&key[..work.aes_key_len()]);
                Contestant::new(name(row.name()), move |number, message| {
                    key.ctr128(&mut first_counter(number), split(message).1);
                    true
                })
            })
            .collect(),
        _ => Rows::usable(detected)
            .take(shown)
            .map(|rows| gcm(work, &key[..work.aes_key_len()], rows))
            .collect(),
    }
}

fn gcm(work: Work, key: &[u8], rows: Rows) -> Contestant {
    let gcm = AesGcm::new(rows, key);
    let opens = work.inverse().is_some();
    Contestant::new(format!("own {rows}"), move |number, message| {
        let (head, payload, tag) = split(message);
        if opens {
            return gcm.open(&gcm_nonce(number), head, payload, tag);
        }
        *tag = gcm.seal(&gcm_nonce(number), head, payload);
        true
    })
}

/// A provider's `chacha20-poly1305@openssh.com`.
pub fn packet(
    name: &str,
    provider: &dyn Provider,
    work: Work,
    key: &[u8; 64],
) -> Option<Contestant> {
    let keys = Keys {
        cipher: key.to_vec(),
        iv: Vec::new(),
        mac: Vec::new(),
    };
    let direction = match work {
        Work::SshSeal => Direction::Seal,
        _ => Direction::Open,
    };
    let cipher = provider.packet_cipher(Cipher::ChaCha20Poly1305, None, &keys, direction);
    let mut cipher = cipher.ok()?;
    Some(Contestant::new(
        name,
        move |number, message| match direction {
            Direction::Seal => cipher.seal(number as u32, message).is_ok(),
            Direction::Open => cipher.open(number as u32, message).is_ok(),
        },
    ))
}
