//! libcrypto's EVP contexts as parts of packet constructions, driven as OpenSSH drives them.
#![forbid(unsafe_code)]

use std::sync::Arc;

use zeroize::{Zeroize, Zeroizing};

use super::ffi::{Algorithm, Api, CipherContext, DigestContext, LONGEST_DIGEST, Poly1305Context};
use crate::algorithm::{Cipher, MacFunction};
use crate::packet::{BlockMode, GcmCipher, KeyStream, OneTimeMac, PacketError, PacketMac};
use crate::providers::{Direction, Unavailable};

/// ChaCha20 in one `EVP_chacha20` context (`cipher-chachapoly-libcrypto.c`). Its 16-byte IV is the
/// block counter, little-endian, and the sequence number, big-endian.
pub(in crate::providers) struct EvpChaCha20(CipherContext);

impl EvpChaCha20 {
    pub(super) fn new(api: &Arc<Api>, key: &[u8; 32]) -> Result<Self, Unavailable> {
        let context = CipherContext::new(api, algorithm(Cipher::ChaCha20Poly1305), key, None, true);
        context.map(Self).map_err(Unavailable)
    }
}

impl KeyStream for EvpChaCha20 {
    fn xor(&mut self, sequence: u64, block: u64, data: &mut [u8]) -> Result<(), PacketError> {
        let mut iv = [0; 16];
        iv[..8].copy_from_slice(&block.to_le_bytes());
        iv[8..].copy_from_slice(&sequence.to_be_bytes());
        let restarted = self.0.restart(&iv);
        restarted
            .and_then(|()| self.0.apply(data))
            .map_err(PacketError::Library)
    }
}

/// The library's own Poly1305, which OpenSSH does not use.
pub(in crate::providers) struct EvpPoly1305(Poly1305Context);

impl EvpPoly1305 {
    pub(super) fn new(api: &Arc<Api>) -> Result<Self, Unavailable> {
        Poly1305Context::new(api).map(Self).map_err(Unavailable)
    }
}

impl OneTimeMac for EvpPoly1305 {
    fn tag(&mut self, key: &[u8; 32], data: &[u8]) -> Result<[u8; 16], PacketError> {
        self.0.tag(key, data).map_err(PacketError::Library)
    }
}

/// AES-GCM in one EVP context that counts its nonces up by itself (`cipher_crypt` of `cipher.c`).
pub(in crate::providers) struct EvpGcm {
    context: CipherContext,
    /// The nonce the context will generate next.
    next: Option<[u8; 12]>,
}

impl EvpGcm {
    pub(super) fn new(
        api: &Arc<Api>,
        cipher: Cipher,
        key: &[u8],
        direction: Direction,
    ) -> Result<Self, Unavailable> {
        let encrypt = direction == Direction::Seal;
        let context = CipherContext::new(api, algorithm(cipher), key, None, encrypt);
        let context = context.map_err(Unavailable)?;
        Ok(Self {
            context,
            next: None,
        })
    }

    fn begin(&mut self, nonce: &[u8; 12]) -> Result<(), String> {
        if self.next.take() != Some(*nonce) {
            self.context.set_nonce(nonce)?;
        }
        self.context.generate_nonce()?;
        let mut next = *nonce;
        if let Some(counter) = next.last_chunk_mut() {
            *counter = u64::from_be_bytes(*counter).wrapping_add(1).to_be_bytes();
        }
        self.next = Some(next);
        Ok(())
    }

    fn encrypt(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
    ) -> Result<[u8; 16], String> {
        expect_direction(&self.context, true)?;
        self.begin(nonce)?;
        self.context.authenticate(aad)?;
        self.context.apply(data)?;
        self.context.finish()?;
        self.context.tag()
    }

    fn decrypt(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<bool, String> {
        expect_direction(&self.context, false)?;
        self.begin(nonce)?;
        self.context.expect_tag(tag)?;
        self.context.authenticate(aad)?;
        self.context.apply(data)?;
        self.context.finish()
    }
}

impl GcmCipher for EvpGcm {
    fn seal(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
    ) -> Result<[u8; 16], PacketError> {
        self.encrypt(nonce, aad, data).map_err(PacketError::Library)
    }

    fn open(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), PacketError> {
        let opened = self.decrypt(nonce, aad, data, tag);
        if opened != Ok(true) {
            // EVP hands plaintext out before it has seen the tag.
            data.zeroize();
        }
        match opened {
            Ok(true) => Ok(()),
            Ok(false) => Err(PacketError::Refused),
            Err(failure) => Err(PacketError::Library(failure)),
        }
    }
}

/// CTR or CBC in one EVP context that lives as long as the keys.
pub(in crate::providers) struct EvpMode(CipherContext);

impl EvpMode {
    pub(super) fn new(
        api: &Arc<Api>,
        cipher: Cipher,
        key: &[u8],
        iv: &[u8],
        direction: Direction,
    ) -> Result<Self, Unavailable> {
        let encrypt = direction == Direction::Seal;
        let context = CipherContext::new(api, algorithm(cipher), key, Some(iv), encrypt);
        context.map(Self).map_err(Unavailable)
    }

    fn apply(&mut self, data: &mut [u8], encrypt: bool) -> Result<(), PacketError> {
        expect_direction(&self.0, encrypt)
            .and_then(|()| self.0.apply(data))
            .map_err(PacketError::Library)
    }
}

impl BlockMode for EvpMode {
    fn encrypt(&mut self, data: &mut [u8]) -> Result<(), PacketError> {
        self.apply(data, true)
    }

    fn decrypt(&mut self, data: &mut [u8]) -> Result<(), PacketError> {
        self.apply(data, false)
    }
}

/// HMAC of EVP digests by hand (`hmac.c`): the keyed inner and outer state are copied for each packet.
pub(in crate::providers) struct DigestHmac {
    inner: DigestContext,
    outer: DigestContext,
    digest: DigestContext,
}

impl DigestHmac {
    pub(super) fn new(
        api: &Arc<Api>,
        function: MacFunction,
        key: &[u8],
    ) -> Result<Self, Unavailable> {
        let (symbol, block) = digest(function)?;
        let keyed = |pad| keyed_state(api, symbol, key, pad, block).map_err(Unavailable);
        Ok(Self {
            inner: keyed(0x36)?,
            outer: keyed(0x5c)?,
            digest: DigestContext::new(api, symbol).map_err(Unavailable)?,
        })
    }

    fn compute(
        &mut self,
        sequence: u32,
        data: &[u8],
        tag: &mut [u8; LONGEST_DIGEST],
    ) -> Result<(), String> {
        self.digest.copy_from(&self.inner)?;
        self.digest.update(&sequence.to_be_bytes())?;
        self.digest.update(data)?;
        let len = self.digest.finish(tag)?;
        self.digest.copy_from(&self.outer)?;
        self.digest.update(&tag[..len])?;
        self.digest.finish(tag).map(drop)
    }
}

impl PacketMac for DigestHmac {
    fn tag(
        &mut self,
        sequence: u32,
        data: &[u8],
        tag: &mut [u8; LONGEST_DIGEST],
    ) -> Result<(), PacketError> {
        self.compute(sequence, data, tag)
            .map_err(PacketError::Library)
    }
}

/// A hash that has read the key, padded to the block of the hash (RFC 2104 §2).
fn keyed_state(
    api: &Arc<Api>,
    symbol: &str,
    key: &[u8],
    pad: u8,
    block: usize,
) -> Result<DigestContext, String> {
    if key.len() > block {
        return Err(format!("a key of {} bytes is too long", key.len()));
    }
    let mut padded = Zeroizing::new(vec![pad; block]);
    padded
        .iter_mut()
        .zip(key)
        .for_each(|(byte, key)| *byte ^= key);
    let mut state = DigestContext::new(api, symbol)?;
    state.update(&padded)?;
    Ok(state)
}

/// The EVP algorithm under a cipher.
pub(super) const fn algorithm(cipher: Cipher) -> &'static Algorithm {
    match cipher {
        Cipher::ChaCha20Poly1305 => &Algorithm::CHACHA20,
        Cipher::Aes128Gcm => &Algorithm::AES_128_GCM,
        Cipher::Aes256Gcm => &Algorithm::AES_256_GCM,
        Cipher::Aes128Ctr => &Algorithm::AES_128_CTR,
        Cipher::Aes192Ctr => &Algorithm::AES_192_CTR,
        Cipher::Aes256Ctr => &Algorithm::AES_256_CTR,
        Cipher::Aes128Cbc => &Algorithm::AES_128_CBC,
        Cipher::Aes192Cbc => &Algorithm::AES_192_CBC,
        Cipher::Aes256Cbc => &Algorithm::AES_256_CBC,
        Cipher::TripleDesCbc => &Algorithm::TRIPLE_DES_CBC,
    }
}

/// The EVP digest under a MAC and the length of its block in bytes.
///
/// # Errors
/// For a UMAC.
pub(super) fn digest(function: MacFunction) -> Result<(&'static str, usize), Unavailable> {
    match function {
        MacFunction::HmacSha1 => Ok(("EVP_sha1", 64)),
        MacFunction::HmacSha256 => Ok(("EVP_sha256", 64)),
        MacFunction::HmacSha512 => Ok(("EVP_sha512", 128)),
        MacFunction::Umac64 | MacFunction::Umac128 => {
            Err(Unavailable("libcrypto has no UMAC".to_owned()))
        }
    }
}

/// A context works in one direction; in CBC the other would give wrong bytes without a word.
fn expect_direction(context: &CipherContext, encrypt: bool) -> Result<(), String> {
    if context.encrypts() == encrypt {
        Ok(())
    } else {
        Err("these keys were set up for the other direction".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::ffi::Interface;
    use super::*;
    use crate::packet::{AesGcm, Layout, PacketCipher};
    use crate::providers::Libcrypto;

    /// This system's libcrypto; where there is none, these tests have nothing to say.
    fn library() -> Option<Libcrypto> {
        let required = std::env::var_os("ADVISOR_TEST_REQUIRE").is_some_and(|all| all == "all");
        let loaded = Libcrypto::load(&[]);
        assert!(loaded.is_ok() || !required, "needs libssl3");
        loaded.ok()
    }

    #[test]
    fn both_interfaces_to_poly1305_give_the_tag_of_rfc_8439() {
        let Some(library) = library() else { return };
        // RFC 8439 §2.5.2.
        let key = [
            0x85, 0xd6, 0xbe, 0x78, 0x57, 0x55, 0x6d, 0x33, 0x7f, 0x44, 0x52, 0xfe, 0x42, 0xd5,
            0x06, 0xa8, 0x01, 0x03, 0x80, 0x8a, 0xfb, 0x0d, 0xb2, 0xfd, 0x4a, 0xbf, 0xf6, 0xaf,
            0x41, 0x49, 0xf5, 0x1b,
        ];
        let tag = [
            0xa8, 0x06, 0x1d, 0xc1, 0x30, 0x51, 0x36, 0xc6, 0xc2, 0x2b, 0x8b, 0xaf, 0x0c, 0x01,
            0x27, 0xa9,
        ];
        let mut tried = 0;
        for interface in Interface::ALL {
            let Ok(mut context) = Poly1305Context::with(&library.api, interface) else {
                continue;
            };
            for _ in 0..2 {
                let computed = context.tag(&key, b"Cryptographic Forum Research Group");
                assert_eq!(computed, Ok(tag), "{interface:?}");
            }
            tried += 1;
        }
        assert!(tried > 0, "{} has no Poly1305", library.version());
    }

    #[test]
    fn contexts_refuse_the_wrong_lengths_and_the_other_direction() {
        let Some(library) = library() else { return };
        let api = &library.api;
        let cbc = Cipher::Aes128Cbc;
        assert!(EvpMode::new(api, cbc, &[0; 15], &[0; 16], Direction::Seal).is_err());
        assert!(EvpMode::new(api, cbc, &[0; 16], &[0; 8], Direction::Seal).is_err());
        let made = EvpMode::new(api, cbc, &[0; 16], &[0; 16], Direction::Seal);
        let mut mode = made.expect("every libcrypto has AES-CBC");
        assert!(mode.encrypt(&mut [0; 15]).is_err(), "half a block");
        assert!(mode.decrypt(&mut [0; 16]).is_err(), "the other direction");
        assert_eq!(mode.encrypt(&mut [0; 32]), Ok(()));
    }

    #[test]
    fn a_gcm_context_takes_nonces_in_any_order() {
        let Some(library) = library() else { return };
        let make = || EvpGcm::new(&library.api, Cipher::Aes128Gcm, &[7; 16], Direction::Seal);
        let seal = |gcm: &mut EvpGcm, nonce: u8| {
            let mut data = [nonce; 40];
            let tag = gcm.seal(&[nonce; 12], b"head", &mut data);
            (data, tag.expect("GCM seals"))
        };
        let mut one = make().expect("AES-GCM");
        let many = [3, 3, 4, 0xff, 0, 3].map(|nonce| seal(&mut one, nonce));
        let fresh = [3, 3, 4, 0xff, 0, 3].map(|nonce| seal(&mut make().expect("AES-GCM"), nonce));
        assert_eq!(many, fresh);
    }

    #[test]
    fn packets_take_the_nonces_libcrypto_counts_by_itself() {
        let Some(library) = library() else { return };
        let (cipher, key) = (Cipher::Aes256Gcm, [7; 32]);
        for count in [u64::from(u32::MAX), u64::MAX] {
            let mut iv = [9; 12];
            iv[4..].copy_from_slice(&count.to_be_bytes());
            let gcm = EvpGcm::new(&library.api, cipher, &key, Direction::Seal);
            let mut ours = AesGcm::new(gcm.expect("AES-GCM"), iv);
            // As OpenSSH does it: the IV once, then the context counts.
            let theirs = CipherContext::new(&library.api, algorithm(cipher), &key, None, true);
            let mut theirs = theirs.expect("AES-GCM");
            theirs.set_nonce(&iv).expect("an IV");
            for _ in 0..3 {
                let mut packet = Layout::of(cipher, None).frame(b"counted");
                let mut expected = packet.clone();
                ours.seal(0, &mut packet).expect("sealing");
                let covered = expected.len() - ours.tag_len();
                theirs.generate_nonce().expect("a nonce");
                theirs.authenticate(&expected[..4]).expect("a length");
                theirs.apply(&mut expected[4..covered]).expect("a body");
                theirs.finish().expect("an end");
                expected[covered..].copy_from_slice(&theirs.tag().expect("a tag"));
                assert_eq!(packet, expected, "from {count:#x}");
            }
        }
    }
}
