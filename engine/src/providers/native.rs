//! Our own kernels: what this processor can do.
//!
//! HMAC has no kernels of ours; the RustCrypto crates do it, and the worker says so.
#![forbid(unsafe_code)]

use zeroize::Zeroizing;

use super::compose::{Parts, attempt, compose};
use super::rustcrypto::{hmac, hmac_crates};
use super::{Direction, Keys, Provider, Unavailable};
use crate::algorithm::{Cipher, Mac, MacFunction, Mode};
use crate::cpu::Detected;
use crate::kernels::Kernel;
use crate::kernels::aes::{self, Aes};
use crate::kernels::aes_gcm::{self, AesGcm};
use crate::kernels::chacha20::{self, ChaCha20};
use crate::kernels::poly1305::Poly1305;
use crate::kernels::umac::{Nh, TagLen, Umac};
use crate::packet::{
    BlockMode, GcmCipher, KeyStream, OneTimeMac, PacketCipher, PacketError, PacketMac,
};
use crate::report::ProviderName;

/// The provider: for each primitive the row that works.
#[derive(Clone, Copy, Debug)]
pub struct Native {
    chacha20: Kernel<ChaCha20>,
    poly1305: Kernel<Poly1305>,
    aes: Kernel<Aes>,
    gcm: aes_gcm::Rows,
    nh: Kernel<Nh>,
}

impl Native {
    /// The best rows for these features.
    #[must_use]
    pub fn new(detected: Detected) -> Self {
        Self {
            chacha20: Kernel::best(detected),
            poly1305: Kernel::best(detected),
            aes: Kernel::best(detected),
            gcm: aes_gcm::Rows::best(detected),
            nh: Kernel::best(detected),
        }
    }
}

impl Provider for Native {
    fn name(&self) -> ProviderName {
        ProviderName::Native
    }

    fn worker(&self, cipher: Cipher, mac: Option<Mac>) -> Result<String, Unavailable> {
        attempt(self, cipher, mac)?;
        let first = match (cipher, mac) {
            (Cipher::ChaCha20Poly1305, _) => format!("chacha20 {}", self.chacha20.name()),
            (_, None) => return Ok(self.gcm.to_string()),
            _ => format!("aes {}", self.aes.name()),
        };
        let second = match mac.map(|mac| mac.function) {
            None => format!("poly1305 {}", self.poly1305.name()),
            Some(MacFunction::Umac64 | MacFunction::Umac128) => {
                format!("umac {}", self.nh.name())
            }
            Some(function) => format!("crates {}", hmac_crates(function)),
        };
        Ok(format!("{first} + {second}"))
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

impl Parts for Native {
    type Stream = KernelStream;
    type OneTime = Kernel<Poly1305>;
    type Gcm = AesGcm;
    type Mode = CounterMode;
    type Mac = Box<dyn PacketMac>;

    fn stream(&self, key: &[u8; 32]) -> Result<KernelStream, Unavailable> {
        Ok(KernelStream::new(self.chacha20, key))
    }

    fn one_time_mac(&self) -> Result<Kernel<Poly1305>, Unavailable> {
        Ok(self.poly1305)
    }

    fn gcm(
        &self,
        _cipher: Cipher,
        key: &[u8],
        _direction: Direction,
    ) -> Result<AesGcm, Unavailable> {
        Ok(AesGcm::new(self.gcm, key))
    }

    fn mode(
        &self,
        cipher: Cipher,
        key: &[u8],
        iv: &[u8],
        _direction: Direction,
    ) -> Result<CounterMode, Unavailable> {
        match (cipher.mode(), iv.try_into()) {
            (Mode::Ctr, Ok(counter)) => Ok(CounterMode {
                key: self.aes.expand(key),
                counter: Zeroizing::new(counter),
            }),
            _ => Err(Unavailable(
                "CBC is measured through libcrypto alone".to_owned(),
            )),
        }
    }

    fn mac(&self, function: MacFunction, key: &[u8]) -> Result<Self::Mac, Unavailable> {
        match KernelUmac::new(self.nh, self.aes, function, key) {
            Some(umac) => Ok(Box::new(umac)),
            None => hmac(function, key),
        }
    }
}

/// ChaCha20 of a row of ours.
pub(super) struct KernelStream {
    kernel: Kernel<ChaCha20>,
    key: chacha20::Key,
}

impl KernelStream {
    pub(super) fn new(kernel: Kernel<ChaCha20>, key: &[u8; 32]) -> Self {
        let key = chacha20::Key::new(key);
        Self { kernel, key }
    }
}

impl KeyStream for KernelStream {
    fn xor(&mut self, sequence: u64, block: u64, data: &mut [u8]) -> Result<(), PacketError> {
        self.kernel
            .xor(&self.key, sequence.to_be_bytes(), block, data);
        Ok(())
    }
}

impl OneTimeMac for Kernel<Poly1305> {
    fn tag(&mut self, key: &[u8; 32], data: &[u8]) -> Result<[u8; 16], PacketError> {
        Ok(Self::tag(*self, key, data))
    }
}

impl GcmCipher for AesGcm {
    fn seal(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
    ) -> Result<[u8; 16], PacketError> {
        Ok(Self::seal(self, nonce, aad, data))
    }

    fn open(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), PacketError> {
        if Self::open(self, nonce, aad, data, tag) {
            Ok(())
        } else {
            Err(PacketError::Refused)
        }
    }
}

/// AES-CTR of a row of ours; the counter runs on from packet to packet.
pub(super) struct CounterMode {
    key: aes::Key,
    counter: Zeroizing<[u8; aes::BLOCK]>,
}

impl BlockMode for CounterMode {
    fn encrypt(&mut self, data: &mut [u8]) -> Result<(), PacketError> {
        self.key.ctr128(&mut self.counter, data);
        Ok(())
    }

    fn decrypt(&mut self, data: &mut [u8]) -> Result<(), PacketError> {
        self.encrypt(data)
    }
}

/// UMAC of a row of ours. Its nonce is the sequence number (`mac.c`).
pub(super) struct KernelUmac(Umac);

impl KernelUmac {
    /// `None` when the function is no UMAC or the key none of its.
    pub(super) fn new(
        nh: Kernel<Nh>,
        aes: Kernel<Aes>,
        function: MacFunction,
        key: &[u8],
    ) -> Option<Self> {
        let tag_len = match function {
            MacFunction::Umac64 => TagLen::Bits64,
            MacFunction::Umac128 => TagLen::Bits128,
            _ => return None,
        };
        let key = key.try_into().ok()?;
        Some(Self(Umac::new(nh, aes, key, tag_len)))
    }
}

impl PacketMac for KernelUmac {
    fn tag(&mut self, sequence: u32, data: &[u8], tag: &mut [u8; 64]) -> Result<(), PacketError> {
        let nonce = u64::from(sequence).to_be_bytes();
        self.0.tag(&nonce, data, tag);
        Ok(())
    }
}
