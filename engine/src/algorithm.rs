//! The vocabulary: ciphers and MACs as OpenSSH spells them, with their sizes.
//!
//! Sizes follow RFC 4253 §6, RFC 4344, RFC 5647 and OpenSSH's `PROTOCOL` and `cipher.c`.
#![forbid(unsafe_code)]

use std::fmt;
use std::str::FromStr;

/// A cipher OpenSSH can negotiate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cipher {
    /// `chacha20-poly1305@openssh.com` (`PROTOCOL.chacha20poly1305`).
    ChaCha20Poly1305,
    /// `aes128-gcm@openssh.com` (RFC 5647 as amended by `PROTOCOL` §1.6).
    Aes128Gcm,
    /// `aes256-gcm@openssh.com`.
    Aes256Gcm,
    /// `aes128-ctr` (RFC 4344).
    Aes128Ctr,
    /// `aes192-ctr`.
    Aes192Ctr,
    /// `aes256-ctr`.
    Aes256Ctr,
    /// `aes128-cbc` (RFC 4253).
    Aes128Cbc,
    /// `aes192-cbc`.
    Aes192Cbc,
    /// `aes256-cbc`.
    Aes256Cbc,
    /// `3des-cbc`.
    TripleDesCbc,
}

/// How a cipher turns blocks into a stream, which decides whether a MAC is negotiated with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Encryption and authentication in one; the `MACs` list is ignored.
    Aead,
    /// Counter mode, with a MAC of its own.
    Ctr,
    /// Cipher block chaining, with a MAC of its own.
    Cbc,
}

impl Cipher {
    /// Every cipher, AEADs first. This is also the built-in list used where `ssh -Q cipher` cannot be asked.
    pub const ALL: &[Self] = &[
        Self::ChaCha20Poly1305,
        Self::Aes128Gcm,
        Self::Aes256Gcm,
        Self::Aes128Ctr,
        Self::Aes192Ctr,
        Self::Aes256Ctr,
        Self::Aes128Cbc,
        Self::Aes192Cbc,
        Self::Aes256Cbc,
        Self::TripleDesCbc,
    ];

    /// The name on the wire and in `Ciphers` lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ChaCha20Poly1305 => "chacha20-poly1305@openssh.com",
            Self::Aes128Gcm => "aes128-gcm@openssh.com",
            Self::Aes256Gcm => "aes256-gcm@openssh.com",
            Self::Aes128Ctr => "aes128-ctr",
            Self::Aes192Ctr => "aes192-ctr",
            Self::Aes256Ctr => "aes256-ctr",
            Self::Aes128Cbc => "aes128-cbc",
            Self::Aes192Cbc => "aes192-cbc",
            Self::Aes256Cbc => "aes256-cbc",
            Self::TripleDesCbc => "3des-cbc",
        }
    }

    /// The name without `@openssh.com`, for tables and sentences.
    #[must_use]
    pub fn short_name(self) -> &'static str {
        let name = self.name();
        name.strip_suffix("@openssh.com").unwrap_or(name)
    }

    /// How it works on blocks.
    #[must_use]
    pub const fn mode(self) -> Mode {
        match self {
            Self::ChaCha20Poly1305 | Self::Aes128Gcm | Self::Aes256Gcm => Mode::Aead,
            Self::Aes128Ctr | Self::Aes192Ctr | Self::Aes256Ctr => Mode::Ctr,
            Self::Aes128Cbc | Self::Aes192Cbc | Self::Aes256Cbc | Self::TripleDesCbc => Mode::Cbc,
        }
    }

    /// Whether it authenticates by itself, so that no MAC is negotiated.
    #[must_use]
    pub const fn is_aead(self) -> bool {
        matches!(self.mode(), Mode::Aead)
    }

    /// Key length in bytes; 64 for chacha20-poly1305, which takes two ChaCha20 keys.
    #[must_use]
    pub const fn key_len(self) -> usize {
        match self {
            Self::ChaCha20Poly1305 => 64,
            Self::Aes128Gcm | Self::Aes128Ctr | Self::Aes128Cbc => 16,
            Self::Aes192Ctr | Self::Aes192Cbc | Self::TripleDesCbc => 24,
            Self::Aes256Gcm | Self::Aes256Ctr | Self::Aes256Cbc => 32,
        }
    }

    /// Length in bytes of the IV derived at key exchange; 0 where the sequence number is the nonce.
    #[must_use]
    pub const fn iv_len(self) -> usize {
        match self {
            Self::ChaCha20Poly1305 => 0,
            Self::Aes128Gcm | Self::Aes256Gcm => 12,
            Self::TripleDesCbc => 8,
            _ => 16,
        }
    }

    /// Block length in bytes to which packets are padded (at least 8, RFC 4253 §6).
    #[must_use]
    pub const fn block_len(self) -> usize {
        match self {
            Self::ChaCha20Poly1305 | Self::TripleDesCbc => 8,
            _ => 16,
        }
    }

    /// Tag length in bytes of an AEAD; 0 for the others, whose MAC brings it.
    #[must_use]
    pub const fn tag_len(self) -> usize {
        if self.is_aead() { 16 } else { 0 }
    }

    /// Nominal key strength in bits, for policies that ask for a minimum.
    #[must_use]
    pub const fn key_bits(self) -> u32 {
        match self {
            Self::ChaCha20Poly1305 | Self::Aes256Gcm | Self::Aes256Ctr | Self::Aes256Cbc => 256,
            Self::Aes192Ctr | Self::Aes192Cbc => 192,
            Self::Aes128Gcm | Self::Aes128Ctr | Self::Aes128Cbc => 128,
            Self::TripleDesCbc => 112,
        }
    }
}

/// A message authentication code OpenSSH can negotiate beside a cipher that is not an AEAD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac {
    /// The function itself.
    pub function: MacFunction,
    /// Encrypt-then-MAC (`-etm@openssh.com`): the MAC covers the ciphertext and the clear length.
    pub encrypt_then_mac: bool,
}

/// The function under a [`Mac`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MacFunction {
    /// UMAC with a 64-bit tag (RFC 4418).
    Umac64,
    /// UMAC with a 128-bit tag.
    Umac128,
    /// HMAC with SHA-1 (RFC 2104).
    HmacSha1,
    /// HMAC with SHA-256 (RFC 6668).
    HmacSha256,
    /// HMAC with SHA-512 (RFC 6668).
    HmacSha512,
}

impl MacFunction {
    /// Every function.
    pub const ALL: &[Self] = &[
        Self::Umac64,
        Self::Umac128,
        Self::HmacSha256,
        Self::HmacSha512,
        Self::HmacSha1,
    ];

    /// Key length in bytes.
    #[must_use]
    pub const fn key_len(self) -> usize {
        match self {
            Self::Umac64 | Self::Umac128 => 16,
            Self::HmacSha1 => 20,
            Self::HmacSha256 => 32,
            Self::HmacSha512 => 64,
        }
    }

    /// Tag length in bytes.
    #[must_use]
    pub const fn tag_len(self) -> usize {
        match self {
            Self::Umac64 => 8,
            Self::Umac128 => 16,
            Self::HmacSha1 => 20,
            Self::HmacSha256 => 32,
            Self::HmacSha512 => 64,
        }
    }
}

impl Mac {
    /// Every MAC we can compute, in OpenSSH's default order of preference.
    pub const ALL: &[Self] = &[
        Self::new(MacFunction::Umac64, true),
        Self::new(MacFunction::Umac128, true),
        Self::new(MacFunction::HmacSha256, true),
        Self::new(MacFunction::HmacSha512, true),
        Self::new(MacFunction::HmacSha1, true),
        Self::new(MacFunction::Umac64, false),
        Self::new(MacFunction::Umac128, false),
        Self::new(MacFunction::HmacSha256, false),
        Self::new(MacFunction::HmacSha512, false),
        Self::new(MacFunction::HmacSha1, false),
    ];

    /// A MAC of that function.
    #[must_use]
    pub const fn new(function: MacFunction, encrypt_then_mac: bool) -> Self {
        Self {
            function,
            encrypt_then_mac,
        }
    }

    /// The name on the wire and in `MACs` lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match (self.function, self.encrypt_then_mac) {
            (MacFunction::Umac64, true) => "umac-64-etm@openssh.com",
            (MacFunction::Umac64, false) => "umac-64@openssh.com",
            (MacFunction::Umac128, true) => "umac-128-etm@openssh.com",
            (MacFunction::Umac128, false) => "umac-128@openssh.com",
            (MacFunction::HmacSha1, true) => "hmac-sha1-etm@openssh.com",
            (MacFunction::HmacSha1, false) => "hmac-sha1",
            (MacFunction::HmacSha256, true) => "hmac-sha2-256-etm@openssh.com",
            (MacFunction::HmacSha256, false) => "hmac-sha2-256",
            (MacFunction::HmacSha512, true) => "hmac-sha2-512-etm@openssh.com",
            (MacFunction::HmacSha512, false) => "hmac-sha2-512",
        }
    }

    /// The name without `@openssh.com`, for tables and sentences.
    #[must_use]
    pub fn short_name(self) -> &'static str {
        let name = self.name();
        name.strip_suffix("@openssh.com").unwrap_or(name)
    }
}

/// A name that is no cipher or MAC of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an SSH {1} this program knows")]
pub struct UnknownName(String, &'static str);

impl FromStr for Cipher {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let known = Self::ALL.iter().find(|cipher| cipher.name() == name);
        known
            .copied()
            .ok_or_else(|| UnknownName(name.to_owned(), "cipher"))
    }
}

impl FromStr for Mac {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let known = Self::ALL.iter().find(|mac| mac.name() == name);
        known
            .copied()
            .ok_or_else(|| UnknownName(name.to_owned(), "MAC"))
    }
}

impl fmt::Display for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_algorithm() {
        for &cipher in Cipher::ALL {
            assert_eq!(cipher.name().parse(), Ok(cipher));
        }
        for &mac in Mac::ALL {
            assert_eq!(mac.name().parse(), Ok(mac));
        }
        assert!(
            "AES128-CTR".parse::<Cipher>().is_err(),
            "names are case-sensitive in OpenSSH"
        );
    }
}
