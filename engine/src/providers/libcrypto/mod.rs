//! The system's libcrypto, loaded while running: what this library can do through its own interface.
//!
//! `ffi` holds the calls, `parts` what packets are made of. The provider [`OpenSsh`](super::OpenSsh)
//! uses the same parts where OpenSSH does.
//!
//! Every function is optional: an algorithm whose functions a library lacks is answered with the reason.
//!
//! **Invariant:** `unsafe` stays in `ffi`.

mod ffi;
mod parts;

use std::sync::Arc;

use self::ffi::Api;
pub(super) use self::parts::{DigestHmac, EvpChaCha20, EvpGcm, EvpMode, EvpPoly1305};
use self::parts::{algorithm, digest};
use super::compose::{Parts, attempt, compose};
use super::{Direction, Keys, Provider, Unavailable};
use crate::algorithm::{Cipher, Mac, MacFunction};
use crate::packet::{PacketCipher, Separately};
use crate::report::ProviderName;

/// A loaded libcrypto, and the provider that uses nothing else.
#[derive(Clone)]
pub struct Libcrypto {
    api: Arc<Api>,
    name: String,
    version: String,
}

impl Libcrypto {
    /// Loads the first of `names` (sonames or paths) that can be loaded; without names, the first of
    /// the names this system's libcrypto usually has. What the installed ssh links should be given:
    /// a library it does not use tells nothing about it, so no other is tried then.
    ///
    /// # Errors
    /// The system's reason for each name.
    pub fn load(names: &[String]) -> Result<Self, Unavailable> {
        let usual: Vec<_> = usual_names().iter().map(|&name| name.to_owned()).collect();
        let names = if names.is_empty() { &usual } else { names };
        let mut reasons = Vec::new();
        for name in names {
            match load_one(name) {
                Ok(loaded) => return Ok(loaded),
                Err(reason) => reasons.push(reason),
            }
        }
        Err(Unavailable(format!("no libcrypto: {}", reasons.join("; "))))
    }

    /// The name or path it was loaded by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it calls itself, without the date: `OpenSSL 3.0.19`, `LibreSSL 4.0.0`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Sets the library up as `ssh` does before anything else, for the whole process: some libraries
    /// find out only then which instructions the processor has. `false` where it has no such function.
    pub fn initialise(&self) -> bool {
        self.api.initialise()
    }

    /// The EVP functions behind a cipher: `EVP_aes_128_gcm`.
    pub(super) const fn cipher_function(cipher: Cipher) -> &'static str {
        algorithm(cipher).symbol
    }

    /// ChaCha20 as OpenSSH uses it.
    pub(super) fn stream(&self, key: &[u8; 32]) -> Result<EvpChaCha20, Unavailable> {
        EvpChaCha20::new(&self.api, key)
    }
}

impl Provider for Libcrypto {
    fn name(&self) -> ProviderName {
        ProviderName::Libcrypto
    }

    fn worker(&self, cipher: Cipher, mac: Option<Mac>) -> Result<String, Unavailable> {
        attempt(self, cipher, mac)?;
        let cipher_function = Self::cipher_function(cipher);
        let mac_function = match (cipher, mac) {
            (Cipher::ChaCha20Poly1305, _) => " + EVP Poly1305",
            (_, None) => "",
            (_, Some(mac)) => &format!(" + {}", digest(mac.function)?.0),
        };
        Ok(format!(
            "{cipher_function}{mac_function} of {}",
            self.version
        ))
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

impl Parts for Libcrypto {
    type ChaCha20Poly1305 = Separately<EvpChaCha20, EvpPoly1305>;
    type Gcm = EvpGcm;
    type Mode = EvpMode;
    type Mac = DigestHmac;

    fn chacha20_poly1305(
        &self,
        main: &[u8; 32],
        header: &[u8; 32],
    ) -> Result<Self::ChaCha20Poly1305, Unavailable> {
        let mac = EvpPoly1305::new(&self.api)?;
        Ok(Separately::new(
            self.stream(main)?,
            self.stream(header)?,
            mac,
        ))
    }

    fn gcm(&self, cipher: Cipher, key: &[u8], direction: Direction) -> Result<EvpGcm, Unavailable> {
        EvpGcm::new(&self.api, cipher, key, direction)
    }

    fn mode(
        &self,
        cipher: Cipher,
        key: &[u8],
        iv: &[u8],
        direction: Direction,
    ) -> Result<EvpMode, Unavailable> {
        EvpMode::new(&self.api, cipher, key, iv, direction)
    }

    fn mac(&self, function: MacFunction, key: &[u8]) -> Result<DigestHmac, Unavailable> {
        DigestHmac::new(&self.api, function, key)
    }
}

/// What libcrypto is called where nobody has said which one.
const fn usual_names() -> &'static [&'static str] {
    if cfg!(target_os = "macos") {
        &[
            "/opt/homebrew/lib/libcrypto.3.dylib",
            "/usr/local/lib/libcrypto.3.dylib",
        ]
    } else if cfg!(windows) {
        &[r"C:\Windows\System32\OpenSSH\libcrypto.dll"]
    } else {
        &["libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so.4"]
    }
}

fn load_one(name: &str) -> Result<Libcrypto, String> {
    if cfg!(target_os = "macos") && name.ends_with("libcrypto.dylib") {
        return Err(format!(
            "{name}: macOS stops a program that loads it without a version"
        ));
    }
    let api = Api::load(name)?;
    let version = api.version();
    let version = version.ok_or_else(|| format!("{name} does not tell its version"))?;
    let words: Vec<_> = version.split_whitespace().take(2).collect();
    Ok(Libcrypto {
        api,
        name: name.to_owned(),
        version: words.join(" "),
    })
}
