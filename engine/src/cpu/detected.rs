//! The proof that features are present: made by detection only, and able only to shrink.
#![forbid(unsafe_code)]

use super::{Feature, Features};

/// Features that this processor has and this operating system supports.
///
/// Kernels are admitted by a `Detected`, never by a [`Features`]: that is what makes calling them sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected(Features);

impl Detected {
    /// Detects the features of this processor and hides some of them, with all that imply them.
    #[must_use]
    pub fn new(hidden: Features) -> Self {
        Self(detect().hide(hidden))
    }

    /// The features as plain data.
    #[must_use]
    pub const fn features(self) -> Features {
        self.0
    }

    /// The proof for fewer features: `hidden` and all that imply them are taken out.
    #[must_use]
    pub fn without(self, hidden: Features) -> Self {
        Self(self.0.hide(hidden))
    }
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn detect() -> Features {
    macro_rules! present { ($($feature:ident = $name:tt),* $(,)?) => {
        [$(std::is_x86_feature_detected!($name).then_some(Feature::$feature)),*]
    }; }
    let found = present![
        Sse2 = "sse2",
        Ssse3 = "ssse3",
        Aes = "aes",
        Pclmulqdq = "pclmulqdq",
        Avx = "avx",
        Avx2 = "avx2",
        Bmi2 = "bmi2",
        Avx512f = "avx512f",
        Avx512bw = "avx512bw",
        Avx512vl = "avx512vl",
        Avx512ifma = "avx512ifma",
        Avx512vbmi2 = "avx512vbmi2",
        Vaes = "vaes",
        Vpclmulqdq = "vpclmulqdq",
        Sha = "sha",
    ];
    Features::of(&found.into_iter().flatten().collect::<Vec<_>>())
}

#[cfg(target_arch = "aarch64")]
fn detect() -> Features {
    macro_rules! present { ($($feature:ident = $name:tt),* $(,)?) => {
        [$(std::arch::is_aarch64_feature_detected!($name).then_some(Feature::$feature)),*]
    }; }
    let found = present![Neon = "neon", Aes = "aes", Pmull = "pmull", Sha2 = "sha2"];
    Features::of(&found.into_iter().flatten().collect::<Vec<_>>())
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
fn detect() -> Features {
    Features::NONE
}
