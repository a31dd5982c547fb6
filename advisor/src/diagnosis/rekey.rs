//! New keys in the middle of a transfer: each key exchange stops it for as long as moving some data takes.
#![forbid(unsafe_code)]

use engine::algorithm::Cipher;

use super::{Finding, Subject};
use crate::policy::Profile;
use crate::resolver::{Effective, Severity, Side};

/// What a key exchange costs, as the data that would have been moved meanwhile. Measured with OpenSSH 9.2
/// (sntrup761x25519): 0.14 s of processor time at each end, 0.25 s by the wall.
const EXCHANGE_MB: f64 = 100.0;
/// The share of the time from which it is worth a word, and from which it is worth a warning.
const WORTH_A_WORD: f64 = 0.05;
const HURTS: f64 = 0.2;
/// OpenSSH renews the keys of ciphers with blocks under 16 bytes after as much (`packet.c`); it counts
/// 8 bytes a block for chacha20-poly1305 too.
const AUTOMATIC: u64 = 1 << 30;

pub(super) fn findings(subject: Subject<'_>) -> Vec<Finding> {
    let sides = [subject.client, subject.server].into_iter().flatten();
    let mut findings: Vec<_> = sides.filter_map(limited).collect();
    findings.extend(automatic(subject).filter(|_| findings.is_empty()));
    findings
}

fn limited(effective: &Effective) -> Option<Finding> {
    let limit = effective.rekey_limit.as_ref()?;
    let share = share(limit.bytes);
    let program = match effective.side {
        Side::Client => "ssh",
        Side::Server => "sshd",
    };
    (share >= WORTH_A_WORD).then(|| Finding {
        file: Some(limit.location.file.clone()),
        line: Some(limit.location.line),
        ..Finding::new(
            "rekey-limit",
            if share >= HURTS { Severity::Warning } else { Severity::Info },
            format!("RekeyLimit makes {program} renew its keys every {}", size(limit.bytes)),
            cost(share),
            "raise it or remove the line, unless a rule you must follow sets it: AES keys last 64 GiB",
        )
    })
}

/// Said only where the cipher stays first: any other order is advice enough.
fn automatic(subject: Subject<'_>) -> Option<Finding> {
    subject.recommendation.evidence?;
    let places = &subject.recommendation.client.as_ref()?.places;
    let first = places.first()?;
    let renews = [Cipher::ChaCha20Poly1305, Cipher::TripleDesCbc];
    let renews = renews.iter().any(|cipher| cipher.name() == first.cipher);
    (renews && first.today == 1 && subject.policy.profile == Profile::Bulk).then(|| {
        let name = first
            .cipher
            .strip_suffix("@openssh.com")
            .unwrap_or(&first.cipher);
        Finding::new(
            "rekey-automatic",
            Severity::Info,
            format!("ssh renews the keys of {name} every GiB, those of AES every 64 GiB"),
            cost(share(AUTOMATIC)),
            "no setting lengthens it; it is small against what AES would cost here",
        )
    })
}

fn share(bytes: u64) -> f64 {
    EXCHANGE_MB / (EXCHANGE_MB + bytes as f64 / 1e6)
}

fn cost(share: f64) -> String {
    format!(
        "a key exchange costs as much as {EXCHANGE_MB:.0} MB: about {:.0} % of a long transfer",
        share * 100.0
    )
}

fn size(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_sizes_are_those_of_the_limit() {
        assert!((share(AUTOMATIC) - 0.085).abs() < 0.001);
        assert!(share(64 << 30) < WORTH_A_WORD && share(16 << 20) > HURTS);
        assert_eq!(size(512 << 20), "512 MiB");
        assert_eq!(size(1 << 30), "1 GiB");
        assert_eq!(size(16 << 10), "16 KiB");
    }
}
