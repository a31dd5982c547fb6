//! The RustCrypto crates: what a Rust program gets today without further thought.
//!
//! SSH's ChaCha20-Poly1305 is not RFC 8439's, so it is composed of the `chacha20` (original 64-bit
//! nonce) and `poly1305` crates; the `chacha20poly1305` crate checks the result in
//! [`self_test`](super::self_test).
#![forbid(unsafe_code)]

use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::AeadInOut;
use chacha20::ChaCha20LegacyCore;
use chacha20::cipher::consts::{U12, U16};
use chacha20::cipher::{
    Array, Block, BlockCipherEncrypt, BlockSizeUser, InnerIvInit, KeyIvInit, StreamCipherCore,
};
use ctr::CtrCore;
use ctr::flavors::Ctr128BE;
use hmac::{EagerHash, Hmac, KeyInit, Mac as _};
use poly1305::Poly1305;
use poly1305::universal_hash::UniversalHash;
use zeroize::Zeroizing;

use super::compose::{Parts, attempt, compose};
use super::{Direction, Keys, Provider, Unavailable};
use crate::algorithm::{Cipher, Mac, MacFunction, Mode};
use crate::packet::{
    BlockMode, GcmCipher, KeyStream, OneTimeMac, PacketCipher, PacketError, PacketMac, Separately,
};
use crate::report::ProviderName;

/// The provider.
#[derive(Clone, Copy, Debug, Default)]
pub struct RustCrypto;

impl RustCrypto {
    /// The provider. The crates find the processor's features by themselves.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Provider for RustCrypto {
    fn name(&self) -> ProviderName {
        ProviderName::RustCrypto
    }

    fn worker(&self, cipher: Cipher, mac: Option<Mac>) -> Result<String, Unavailable> {
        attempt(self, cipher, mac)?;
        Ok(match (cipher, mac) {
            (Cipher::ChaCha20Poly1305, _) => "crates chacha20 + poly1305".to_owned(),
            (_, None) => "crate aes-gcm".to_owned(),
            (_, Some(mac)) => format!("crates aes + ctr + {}", hmac_crates(mac.function)),
        })
    }

    fn packet_cipher(
        &self,
        cipher: Cipher,
        mac: Option<Mac>,
        keys: &Keys,
        direction: Direction,
    ) -> Result<Box<dyn PacketCipher>, Unavailable> {
        compose(self, cipher, mac, keys, direction)
    }
}

impl Parts for RustCrypto {
    type ChaCha20Poly1305 = Separately<ChaCha20, OneTimePoly1305>;
    type Gcm = Box<dyn GcmCipher>;
    type Mode = Box<dyn BlockMode>;
    type Mac = Box<dyn PacketMac>;

    fn chacha20_poly1305(
        &self,
        main: &[u8; 32],
        header: &[u8; 32],
    ) -> Result<Self::ChaCha20Poly1305, Unavailable> {
        let [main, header] = [main, header].map(|key| ChaCha20(Zeroizing::new(*key)));
        Ok(Separately::new(main, header, OneTimePoly1305))
    }

    fn gcm(
        &self,
        cipher: Cipher,
        key: &[u8],
        _direction: Direction,
    ) -> Result<Self::Gcm, Unavailable> {
        match cipher {
            Cipher::Aes128Gcm => Ok(Box::new(Gcm(keyed::<aes_gcm::Aes128Gcm>(key)?))),
            Cipher::Aes256Gcm => Ok(Box::new(Gcm(keyed::<aes_gcm::Aes256Gcm>(key)?))),
            _ => Err(missing(cipher.name())),
        }
    }

    fn mode(
        &self,
        cipher: Cipher,
        key: &[u8],
        iv: &[u8],
        _direction: Direction,
    ) -> Result<Self::Mode, Unavailable> {
        match cipher {
            Cipher::Aes128Ctr => counter_mode::<Aes128>(key, iv),
            Cipher::Aes192Ctr => counter_mode::<Aes192>(key, iv),
            Cipher::Aes256Ctr => counter_mode::<Aes256>(key, iv),
            _ if cipher.mode() == Mode::Cbc => Err(Unavailable(
                "CBC is measured through libcrypto alone".to_owned(),
            )),
            _ => Err(missing(cipher.name())),
        }
    }

    fn mac(&self, function: MacFunction, key: &[u8]) -> Result<Self::Mac, Unavailable> {
        hmac(function, key)
    }
}

/// HMAC of the RustCrypto crates, which our own kernels are paired with too.
///
/// # Errors
/// For a UMAC.
pub(super) fn hmac(function: MacFunction, key: &[u8]) -> Result<Box<dyn PacketMac>, Unavailable> {
    match function {
        MacFunction::HmacSha1 => Ok(Box::new(KeyedHmac(keyed::<Hmac<sha1::Sha1>>(key)?))),
        MacFunction::HmacSha256 => Ok(Box::new(KeyedHmac(keyed::<Hmac<sha2::Sha256>>(key)?))),
        MacFunction::HmacSha512 => Ok(Box::new(KeyedHmac(keyed::<Hmac<sha2::Sha512>>(key)?))),
        MacFunction::Umac64 | MacFunction::Umac128 => {
            Err(Unavailable("no RustCrypto crate has UMAC".to_owned()))
        }
    }
}

/// The crates behind [`hmac`].
pub(super) const fn hmac_crates(function: MacFunction) -> &'static str {
    match function {
        MacFunction::HmacSha1 => "hmac + sha1",
        _ => "hmac + sha2",
    }
}

fn keyed<K: KeyInit>(key: &[u8]) -> Result<K, Unavailable> {
    K::new_from_slice(key).map_err(|_| Unavailable(format!("no key has {} bytes", key.len())))
}

fn missing(name: &str) -> Unavailable {
    Unavailable(format!("these crates do not have {name}"))
}

fn counter_mode<A>(key: &[u8], iv: &[u8]) -> Result<Box<dyn BlockMode>, Unavailable>
where
    A: KeyInit + BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send + 'static,
{
    let iv = Array::try_from(iv).map_err(|_| Unavailable("the IV has 16 bytes".to_owned()))?;
    Ok(Box::new(CounterMode(CtrCore::inner_iv_init(
        keyed::<A>(key)?,
        &iv,
    ))))
}

/// ChaCha20 with a 64-bit nonce and a 64-bit counter.
pub(super) struct ChaCha20(Zeroizing<[u8; 32]>);

impl KeyStream for ChaCha20 {
    fn xor(&mut self, sequence: u64, block: u64, data: &mut [u8]) -> Result<(), PacketError> {
        let nonce = sequence.to_be_bytes().into();
        let mut core = ChaCha20LegacyCore::new((&*self.0).into(), &nonce);
        core.set_block_pos(block);
        core.apply_keystream_partial(data.into());
        Ok(())
    }
}

/// Poly1305 with the whole blocks given to the crate's parallel code.
pub(super) struct OneTimePoly1305;

impl OneTimeMac for OneTimePoly1305 {
    fn tag(&mut self, key: &[u8; 32], data: &[u8]) -> Result<[u8; 16], PacketError> {
        let mut mac = Poly1305::new(key.into());
        let (blocks, rest) = poly1305::Block::slice_as_chunks(data);
        mac.update(blocks);
        Ok(mac.compute_unpadded(rest).into())
    }
}

struct Gcm<A>(A);

impl<A: AeadInOut<NonceSize = U12, TagSize = U16> + Send> GcmCipher for Gcm<A> {
    fn seal(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
    ) -> Result<[u8; 16], PacketError> {
        let sealed = self
            .0
            .encrypt_inout_detached(nonce.into(), aad, data.into());
        sealed
            .map(Into::into)
            .map_err(|_| PacketError::Library("aes-gcm refuses this length".to_owned()))
    }

    fn open(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), PacketError> {
        let opened = self
            .0
            .decrypt_inout_detached(nonce.into(), aad, data.into(), tag.into());
        opened.map_err(|_| PacketError::Refused)
    }
}

struct CounterMode<A: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>>(CtrCore<A, Ctr128BE>);

impl<A> CounterMode<A>
where
    A: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>,
{
    fn xor(&mut self, data: &mut [u8]) -> Result<(), PacketError> {
        let whole = data.len();
        let (blocks, rest) = Block::<CtrCore<A, Ctr128BE>>::slice_as_chunks_mut(data);
        if !rest.is_empty() {
            return Err(PacketError::Malformed(whole));
        }
        self.0.apply_keystream_blocks(blocks);
        Ok(())
    }
}

impl<A> BlockMode for CounterMode<A>
where
    A: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Send,
{
    fn encrypt(&mut self, data: &mut [u8]) -> Result<(), PacketError> {
        self.xor(data)
    }

    fn decrypt(&mut self, data: &mut [u8]) -> Result<(), PacketError> {
        self.xor(data)
    }
}

/// A keyed HMAC, copied for each packet so that the key is hashed once.
struct KeyedHmac<H>(H);

impl<D: EagerHash + Send> PacketMac for KeyedHmac<Hmac<D>>
where
    Hmac<D>: Clone + hmac::Mac + Send,
{
    fn tag(&mut self, sequence: u32, data: &[u8], tag: &mut [u8; 64]) -> Result<(), PacketError> {
        let mut mac = self.0.clone();
        mac.update(&sequence.to_be_bytes());
        mac.update(data);
        let code = mac.finalize().into_bytes();
        tag[..code.len()].copy_from_slice(&code);
        Ok(())
    }
}
