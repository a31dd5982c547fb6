//! Instruction sets as plain data: names, implications, and what each is used for.
//!
//! A [`Features`] may be detected, synthetic or read from a report; it proves nothing. The proof is
//! [`Detected`](super::Detected).
#![forbid(unsafe_code)]

use std::fmt;

/// One instruction set that matters to ciphers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Feature {
    /// x86 128-bit vectors, the base of x86-64.
    Sse2,
    /// x86 byte shuffles.
    Ssse3,
    /// x86 AES rounds; aarch64 `aes` without PMULL is not told apart by the kernels.
    Aes,
    /// x86 carry-less multiplication.
    Pclmulqdq,
    /// x86 256-bit float vectors: the OS saves the upper halves.
    Avx,
    /// x86 256-bit integer vectors.
    Avx2,
    /// x86 flagless multiplication and shifts.
    Bmi2,
    /// x86 512-bit vectors.
    Avx512f,
    /// x86 512-bit vectors of bytes and words.
    Avx512bw,
    /// x86 AVX-512 at 128 and 256 bits.
    Avx512vl,
    /// x86 52-bit multiply-add.
    Avx512ifma,
    /// x86 double shifts; marks the cores on which full-width vectors pay.
    Avx512vbmi2,
    /// x86 AES rounds on wide vectors.
    Vaes,
    /// x86 carry-less multiplication on wide vectors.
    Vpclmulqdq,
    /// x86 SHA-1 and SHA-256 rounds.
    Sha,
    /// aarch64 128-bit vectors.
    Neon,
    /// aarch64 64-bit carry-less multiplication.
    Pmull,
    /// aarch64 SHA-256 rounds.
    Sha2,
}

impl Feature {
    /// Every feature, in the order reports list them.
    pub const ALL: &[Self] = &[
        Self::Sse2,
        Self::Ssse3,
        Self::Aes,
        Self::Pclmulqdq,
        Self::Avx,
        Self::Avx2,
        Self::Bmi2,
        Self::Avx512f,
        Self::Avx512bw,
        Self::Avx512vl,
        Self::Avx512ifma,
        Self::Avx512vbmi2,
        Self::Vaes,
        Self::Vpclmulqdq,
        Self::Sha,
        Self::Neon,
        Self::Pmull,
        Self::Sha2,
    ];

    /// The name that `target_feature`, reports and `ADVISOR_CPU_DISABLE` use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sse2 => "sse2",
            Self::Ssse3 => "ssse3",
            Self::Aes => "aes",
            Self::Pclmulqdq => "pclmulqdq",
            Self::Avx => "avx",
            Self::Avx2 => "avx2",
            Self::Bmi2 => "bmi2",
            Self::Avx512f => "avx512f",
            Self::Avx512bw => "avx512bw",
            Self::Avx512vl => "avx512vl",
            Self::Avx512ifma => "avx512ifma",
            Self::Avx512vbmi2 => "avx512vbmi2",
            Self::Vaes => "vaes",
            Self::Vpclmulqdq => "vpclmulqdq",
            Self::Sha => "sha",
            Self::Neon => "neon",
            Self::Pmull => "pmull",
            Self::Sha2 => "sha2",
        }
    }

    /// What ciphers use it for, in a few words for people.
    #[must_use]
    pub const fn used_for(self) -> &'static str {
        match self {
            Self::Sse2 => "ChaCha20, 4 blocks at a time",
            Self::Ssse3 => "byte shuffles: constant-time AES without AES-NI",
            Self::Aes => "AES rounds in hardware: aes-gcm, aes-ctr, aes-cbc",
            Self::Pclmulqdq => "GHASH, the authentication of aes-gcm",
            Self::Avx => "three-operand vectors, needed by AVX2",
            Self::Avx2 => "ChaCha20 8 blocks and Poly1305 4 blocks at a time",
            Self::Bmi2 => "wide multiplication in Poly1305",
            Self::Avx512f => "ChaCha20, 16 blocks at a time",
            Self::Avx512bw => "masked tails of wide kernels",
            Self::Avx512vl => "AVX-512 instructions on short vectors",
            Self::Avx512ifma => "Poly1305, 8 blocks per multiplication",
            Self::Avx512vbmi2 => "limb splitting in Poly1305",
            Self::Vaes => "AES on 2 or 4 blocks per instruction",
            Self::Vpclmulqdq => "GHASH on 2 or 4 blocks per instruction",
            Self::Sha | Self::Sha2 => "hmac-sha2-256, the MAC of aes-ctr",
            Self::Neon => "ChaCha20 and Poly1305 vectors",
            Self::Pmull => "GHASH, the authentication of aes-gcm",
        }
    }

    /// Whether this feature exists on the architecture this program was built for.
    #[must_use]
    pub const fn is_native(self) -> bool {
        let arm = cfg!(target_arch = "aarch64");
        let x86 = cfg!(any(target_arch = "x86", target_arch = "x86_64"));
        match self {
            Self::Neon | Self::Pmull | Self::Sha2 => arm,
            Self::Aes => arm || x86,
            _ => x86,
        }
    }

    /// The features without which this one makes no sense: hiding one of them hides this one.
    const fn needs(self) -> &'static [Self] {
        match self {
            Self::Sse2 | Self::Bmi2 | Self::Neon => &[],
            Self::Ssse3 | Self::Sha => &[Self::Sse2],
            // On aarch64 the set never holds SSE2, and `hide` only follows features that were hidden.
            Self::Aes => &[Self::Sse2, Self::Neon],
            Self::Pclmulqdq => &[Self::Sse2],
            Self::Avx => &[Self::Ssse3],
            Self::Avx2 => &[Self::Avx],
            Self::Avx512f => &[Self::Avx2],
            Self::Avx512bw | Self::Avx512vl | Self::Avx512ifma | Self::Avx512vbmi2 => {
                &[Self::Avx512f]
            }
            Self::Vaes => &[Self::Avx2, Self::Aes],
            Self::Vpclmulqdq => &[Self::Avx, Self::Pclmulqdq],
            Self::Pmull => &[Self::Neon],
            Self::Sha2 => &[Self::Neon],
        }
    }

    const fn bit(self) -> u32 {
        1 << self as u8
    }
}

/// A set of [`Feature`]s.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Features(u32);

/// A word that names no feature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no instruction set; known are: {known}", known = Features::ALL)]
pub struct UnknownFeature(String);

impl Features {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// Every feature of every architecture.
    pub const ALL: Self = Self::of(Feature::ALL);

    /// The set of the listed features.
    #[must_use]
    pub const fn of(list: &[Feature]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < list.len() {
            bits |= list[i].bit();
            i += 1;
        }
        Self(bits)
    }

    /// The set that holds the one feature of that name, or `None` for an unknown name.
    #[must_use]
    pub const fn named(name: &str) -> Option<Self> {
        let mut i = 0;
        while i < Feature::ALL.len() {
            if same(Feature::ALL[i].name().as_bytes(), name.as_bytes()) {
                return Some(Self(Feature::ALL[i].bit()));
            }
            i += 1;
        }
        None
    }

    /// Parses a comma-separated list such as `avx512f,vaes`, as `ADVISOR_CPU_DISABLE` holds it.
    ///
    /// # Errors
    /// The first word that names no feature.
    pub fn parse(list: &str) -> Result<Self, UnknownFeature> {
        let words = list
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty());
        words
            .map(|word| Self::named(word).ok_or_else(|| UnknownFeature(word.to_owned())))
            .try_fold(Self::NONE, |set, one| Ok(set.with(one?)))
    }

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What both sets hold.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether every feature of `other` is here.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether this feature is here.
    #[must_use]
    pub const fn has(self, feature: Feature) -> bool {
        self.0 & feature.bit() != 0
    }

    /// This set without `hidden` and without every feature that needs one of the hidden.
    #[must_use]
    pub fn hide(self, hidden: Self) -> Self {
        let mut gone = hidden.and(self);
        loop {
            let dependants = Feature::ALL
                .iter()
                .filter(|feature| feature.needs().iter().any(|&need| gone.has(need)));
            let next = dependants.fold(gone, |set, feature| Self(set.0 | feature.bit()));
            if next == gone {
                return Self(self.0 & !gone.0);
            }
            gone = next;
        }
    }

    /// The features, in the order of [`Feature::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL
            .iter()
            .copied()
            .filter(move |&feature| self.has(feature))
    }
}

/// `==` for byte strings in constant expressions.
const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(Feature::name).collect();
        f.write_str(&names.join(","))
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Features({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hiding_a_feature_hides_all_that_imply_it() {
        let left = Features::ALL.hide(Features::parse("avx2").expect("a name"));
        assert!(left.has(Feature::Aes) && left.has(Feature::Avx) && left.has(Feature::Vpclmulqdq));
        for gone in [
            Feature::Avx2,
            Feature::Avx512f,
            Feature::Avx512ifma,
            Feature::Vaes,
        ] {
            assert!(!left.has(gone), "{gone:?} needs avx2");
        }
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        let error = Features::parse("avx2, sse9").expect_err("sse9 is unknown");
        assert!(
            error
                .to_string()
                .starts_with("\"sse9\" is no instruction set; known are: sse2,")
        );
    }
}
