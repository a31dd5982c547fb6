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
use crate::kernels::chacha20_poly1305::{self, ChaCha20Poly1305, Start};
use crate::kernels::poly1305::Poly1305;
use crate::kernels::umac::{Nh, TagLen, Umac};
use crate::packet::{
    BlockMode, GcmCipher, KeyStream, LENGTH_FIELD, LengthAndBody, OneTimeMac, PacketCipher,
    PacketError, PacketMac,
};
use crate::report::ProviderName;

/// The provider: for each primitive the row that works.
#[derive(Clone, Copy, Debug)]
pub struct Native {
    chacha20_poly1305: Kernel<ChaCha20Poly1305>,
    aes: Kernel<Aes>,
    gcm: aes_gcm::Rows,
    nh: Kernel<Nh>,
}

impl Native {
    /// The best rows for these features.
    #[must_use]
    pub fn new(detected: Detected) -> Self {
        Self {
            chacha20_poly1305: Kernel::best(detected),
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
        let aes = self.aes.name();
        Ok(match (cipher, mac.map(|mac| mac.function)) {
            (Cipher::ChaCha20Poly1305, _) => {
                format!("chacha20-poly1305 {}", self.chacha20_poly1305.name())
            }
            (_, None) => self.gcm.to_string(),
            (_, Some(MacFunction::Umac64 | MacFunction::Umac128)) => {
                format!("aes {aes} + umac {}", self.nh.name())
            }
            (_, Some(function)) => format!("aes {aes} + crates {}", hmac_crates(function)),
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

impl Parts for Native {
    type ChaCha20Poly1305 = OnePass;
    type Gcm = AesGcm;
    type Mode = CounterMode;
    type Mac = Box<dyn PacketMac>;

    fn chacha20_poly1305(
        &self,
        main: &[u8; 32],
        header: &[u8; 32],
    ) -> Result<OnePass, Unavailable> {
        Ok(OnePass {
            kernel: self.chacha20_poly1305,
            key: chacha20_poly1305::Key::new(main, header),
            start: Start::new(),
            begun: None,
        })
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

/// ChaCha20 and Poly1305 in one pass. Reading a packet's length makes its key stream's start, which
/// opening it then finds.
pub(super) struct OnePass {
    kernel: Kernel<ChaCha20Poly1305>,
    key: chacha20_poly1305::Key,
    start: Start,
    /// The packet that `start` belongs to.
    begun: Option<u32>,
}

impl OnePass {
    fn begin(&mut self, sequence: u32) {
        if self.begun != Some(sequence) {
            self.kernel
                .begin(&self.key, nonce(sequence), &mut self.start);
            self.begun = Some(sequence);
        }
    }
}

impl LengthAndBody for OnePass {
    fn seal(&mut self, sequence: u32, packet: &mut [u8]) -> Result<[u8; 16], PacketError> {
        Ok(self.kernel.seal(&self.key, nonce(sequence), packet))
    }

    fn length(
        &mut self,
        sequence: u32,
        field: [u8; LENGTH_FIELD],
    ) -> Result<[u8; LENGTH_FIELD], PacketError> {
        self.begin(sequence);
        Ok(self.start.header(field))
    }

    fn open(
        &mut self,
        sequence: u32,
        packet: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), PacketError> {
        self.begin(sequence);
        let (key, nonce) = (&self.key, nonce(sequence));
        if self.kernel.open(key, nonce, &self.start, packet, tag) {
            Ok(())
        } else {
            Err(PacketError::Refused)
        }
    }
}

/// The sequence number as `PROTOCOL.chacha20poly1305` writes it into the nonce.
fn nonce(sequence: u32) -> [u8; 8] {
    u64::from(sequence).to_be_bytes()
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
