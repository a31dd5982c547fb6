//! What the installed OpenSSH would run: its libcrypto, and the code it brings itself.
//!
//! | part | source in OpenSSH | here |
//! |---|---|---|
//! | AES-GCM, AES-CTR, CBC, 3DES | `cipher.c`, one EVP context for as long as the keys live | the same calls |
//! | ChaCha20 | `cipher-chachapoly-libcrypto.c`, two EVP contexts; portable `chacha.c` before 8.3, and where the library has none that works (BoringSSL, old LibreSSL) | the same calls; our portable row |
//! | Poly1305 | `poly1305.c`: 26-bit limbs in C, in every release | our row of that shape |
//! | HMAC | `hmac.c`: EVP digests by hand | the same calls |
//! | UMAC | `umac.c`, C | our portable row; where the program clears all registers whenever a function returns, the row that does so too |
#![forbid(unsafe_code)]

use super::compose::{Parts, attempt, compose};
use super::libcrypto::{DigestHmac, EvpChaCha20, EvpGcm, EvpMode};
use super::native::{KernelStream, KernelUmac};
use super::{Direction, Keys, Libcrypto, Provider, Unavailable};
use crate::algorithm::{Cipher, Mac, MacFunction};
use crate::cpu::{Detected, Features};
use crate::installed::releases::{Ability, Release};
use crate::kernels::Kernel;
use crate::kernels::aes::Aes;
use crate::kernels::chacha20::ChaCha20;
use crate::kernels::poly1305::Poly1305;
use crate::kernels::umac::Nh;
use crate::packet::{KeyStream, PacketCipher, PacketError, PacketMac, Separately};
use crate::report::ProviderName;

/// What the name of the worker ends with where UMAC pays for clearing all registers at every function's end.
pub const CLEARING: &str = "portable UMAC, clearing registers";

/// The provider.
pub struct OpenSsh {
    library: Result<Libcrypto, Unavailable>,
    /// The row in place of `chacha.c`, where ChaCha20 does not come from libcrypto.
    chacha20: Option<Kernel<ChaCha20>>,
    poly1305: Kernel<Poly1305>,
    nh: Kernel<Nh>,
    umac: &'static str,
    aes: Kernel<Aes>,
}

impl OpenSsh {
    /// The OpenSSH of that release on that libcrypto. A release that could not be found out counts as
    /// a recent one.
    #[must_use]
    pub fn new(
        library: Result<Libcrypto, Unavailable>,
        release: Option<Release>,
        detected: Detected,
    ) -> Self {
        let portable = detected.without(Features::ALL);
        let borrows = release.is_none_or(|release| release.can(Ability::LibcryptoChaCha20))
            && library.as_ref().map_or(true, has_chacha20);
        let limbs_of_26_bits = Kernel::named(portable, "portable32");
        Self {
            library,
            chacha20: (!borrows).then(|| Kernel::best(portable)),
            poly1305: limbs_of_26_bits.unwrap_or(Kernel::best(portable)),
            nh: Kernel::best(portable),
            umac: "portable UMAC",
            // UMAC's one block of AES a packet is libcrypto's `AES_encrypt` there; our bitsliced row,
            // made for many blocks, would be several times slower.
            aes: Kernel::best(detected),
        }
    }

    /// An OpenSSH compiled to clear every register whenever a function returns (GCC's
    /// `-fzero-call-used-regs=all`): `umac.c` calls one for every four bytes, so that this costs several times
    /// what UMAC does. The other parts have no such calls in their loops. The same on processors for which
    /// there is no such row.
    #[must_use]
    pub fn clearing_registers(self) -> Self {
        let portable = Detected::new(Features::NONE).without(Features::ALL);
        match Kernel::named(portable, "portable, clearing") {
            Some(nh) => Self {
                nh,
                umac: CLEARING,
                ..self
            },
            None => self,
        }
    }

    fn stream(&self, key: &[u8; 32]) -> Result<Stream, Unavailable> {
        match self.chacha20 {
            Some(kernel) => Ok(Stream::Own(KernelStream::new(kernel, key))),
            None => self.library()?.stream(key).map(Stream::Library),
        }
    }

    fn library(&self) -> Result<&Libcrypto, Unavailable> {
        self.library.as_ref().map_err(Clone::clone)
    }
}

impl Provider for OpenSsh {
    fn name(&self) -> ProviderName {
        ProviderName::OpenSsh
    }

    fn worker(&self, cipher: Cipher, mac: Option<Mac>) -> Result<String, Unavailable> {
        attempt(self, cipher, mac)?;
        if cipher == Cipher::ChaCha20Poly1305 && self.chacha20.is_some() {
            return Ok("portable ChaCha20 + portable Poly1305".to_owned());
        }
        let library = self.library()?;
        let function = Libcrypto::cipher_function(cipher);
        let version = library.version();
        Ok(match (cipher, mac.map(|mac| mac.function)) {
            (Cipher::ChaCha20Poly1305, _) => {
                format!("{function} of {version} + portable Poly1305")
            }
            (_, Some(MacFunction::Umac64 | MacFunction::Umac128)) => {
                format!("{function} of {version} + {}", self.umac)
            }
            _ => library.worker(cipher, mac)?,
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

impl Parts for OpenSsh {
    type ChaCha20Poly1305 = Separately<Stream, Kernel<Poly1305>>;
    type Gcm = EvpGcm;
    type Mode = EvpMode;
    type Mac = Box<dyn PacketMac>;

    fn chacha20_poly1305(
        &self,
        main: &[u8; 32],
        header: &[u8; 32],
    ) -> Result<Self::ChaCha20Poly1305, Unavailable> {
        let (main, header) = (self.stream(main)?, self.stream(header)?);
        Ok(Separately::new(main, header, self.poly1305))
    }

    fn gcm(&self, cipher: Cipher, key: &[u8], direction: Direction) -> Result<EvpGcm, Unavailable> {
        self.library()?.gcm(cipher, key, direction)
    }

    fn mode(
        &self,
        cipher: Cipher,
        key: &[u8],
        iv: &[u8],
        direction: Direction,
    ) -> Result<EvpMode, Unavailable> {
        self.library()?.mode(cipher, key, iv, direction)
    }

    fn mac(&self, function: MacFunction, key: &[u8]) -> Result<Self::Mac, Unavailable> {
        match KernelUmac::new(self.nh, self.aes, function, key) {
            Some(umac) => Ok(Box::new(umac)),
            None => {
                let hmac: DigestHmac = self.library()?.mac(function, key)?;
                Ok(Box::new(hmac))
            }
        }
    }
}

/// Whether `configure` would have taken the library's ChaCha20 (`HAVE_EVP_CHACHA20`, and not
/// `HAVE_BROKEN_CHACHA20`): it is there, and gives the key stream of block 1 under SSH's IV.
fn has_chacha20(library: &Libcrypto) -> bool {
    let (key, portable) = (
        [7; 32],
        Detected::new(Features::NONE).without(Features::ALL),
    );
    let (mut theirs, mut ours) = ([0; 80], [0; 80]);
    let kernel = Kernel::<ChaCha20>::best(portable);
    let expected = KernelStream::new(kernel, &key).xor(3, 1, &mut ours);
    let stream = library.stream(&key);
    let given = stream.is_ok_and(|mut stream| stream.xor(3, 1, &mut theirs).is_ok());
    expected.is_ok() && given && theirs == ours
}

/// ChaCha20 of libcrypto, or the code OpenSSH brought before it used libcrypto's.
pub(super) enum Stream {
    Library(EvpChaCha20),
    Own(KernelStream),
}

impl KeyStream for Stream {
    fn xor(&mut self, sequence: u64, block: u64, data: &mut [u8]) -> Result<(), PacketError> {
        match self {
            Self::Library(stream) => stream.xor(sequence, block, data),
            Self::Own(stream) => stream.xor(sequence, block, data),
        }
    }
}
