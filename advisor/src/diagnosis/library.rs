//! What the installed libraries leave unused.
#![forbid(unsafe_code)]

use engine::algorithm::Cipher;
use engine::report::{Initialisation, Measurement, ProviderName, Report, Rung};

use super::{Finding, has_aes, slower};
use crate::resolver::Severity;

/// AES without AES instructions is 10 to 20 times slower; two good implementations differ by less than this.
const UNACCELERATED: f64 = 4.0;

/// A library that waits for its set-up is some four times slower before it; timing alone moves by less.
const WAITING: f64 = 1.5;

/// Below this a faster Poly1305 is not worth a word.
const WORTH_A_WORD: f64 = 1.2;

pub(super) fn findings(report: &Report) -> Vec<Finding> {
    let findings = [
        not_initialised(report),
        slow_aes(report),
        portable_poly1305(report),
    ];
    findings.into_iter().flatten().collect()
}

/// The state in which a library waits to be asked before it looks at the processor.
fn not_initialised(report: &Report) -> Option<Finding> {
    let library = report.openssh.libcrypto.as_ref()?;
    let Initialisation {
        before_gb_per_s: before,
        after_gb_per_s: after,
    } = library.initialisation?;
    (after >= WAITING * before).then(|| {
        Finding::new(
            "library-not-initialised",
            Severity::Warning,
            format!("{} is slow for programs that do not call OPENSSL_init_crypto", library.version),
            format!("aes128-gcm {before:.2} GB/s without the call, {after:.2} GB/s with it"),
            "update it (LibreSSL: to 4.2 or later); portable OpenSSH makes the call, OpenBSD's own ssh does not",
        )
    })
}

/// The state in which a library misses or ignores the processor's AES.
fn slow_aes(report: &Report) -> Option<Finding> {
    let (ssh, ours) = both(report, Cipher::Aes128Gcm)?;
    if !has_aes(report) || ours.gb_per_s < UNACCELERATED * ssh.gb_per_s {
        return None;
    }
    let library = report.openssh.libcrypto.as_ref();
    let what = format!(
        "{} does not use the processor's AES instructions",
        library.map_or("the cryptographic library of ssh", |it| &it.version)
    );
    let cure = "update libcrypto, and look for OPENSSL_ia32cap in the environment of ssh and sshd";
    Some(Finding::new(
        "library-slow",
        Severity::Warning,
        what,
        compared("aes128-gcm", ssh, ours),
        cure,
    ))
}

/// OpenSSH brings its own Poly1305 in plain C in every release so far.
fn portable_poly1305(report: &Report) -> Option<Finding> {
    let (ssh, ours) = both(report, Cipher::ChaCha20Poly1305)?;
    let times = match report.ladder.as_slice() {
        [.., borrowed, native] => native.gb_per_s / borrowed.gb_per_s,
        _ => ours.gb_per_s / ssh.gb_per_s,
    };
    (times >= WORTH_A_WORD).then(|| {
        Finding::new(
            "poly1305-portable",
            Severity::Info,
            "OpenSSH computes Poly1305 in portable code, so chacha20-poly1305 stays below what this processor can do",
            climbed(&report.ladder).unwrap_or_else(|| compared("chacha20-poly1305", ssh, ours)),
            format!("no setting changes it; a vectorised Poly1305 would bring {times:.1} ×"),
        )
    })
}

/// The ladder in one sentence: `0.51 GB/s … → 1.12 GB/s … → 2.40 GB/s …`.
fn climbed(ladder: &[Rung]) -> Option<String> {
    let steps: Vec<_> = ladder
        .iter()
        .map(|rung| format!("{:.2} GB/s {}", rung.gb_per_s, rung.kernel))
        .collect();
    (steps.len() > 1).then(|| steps.join(" → "))
}

fn both(report: &Report, cipher: Cipher) -> Option<(&Measurement, &Measurement)> {
    let cell = |provider| slower(report, provider, cipher.name(), None);
    Some((cell(ProviderName::OpenSsh)?, cell(ProviderName::Native)?))
}

fn compared(name: &str, ssh: &Measurement, ours: &Measurement) -> String {
    format!(
        "{name} {:.2} GB/s as ssh does it, {:.2} GB/s in this program's kernels ({})",
        ssh.gb_per_s, ours.gb_per_s, ours.kernel
    )
}
