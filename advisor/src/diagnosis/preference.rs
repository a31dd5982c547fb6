//! What ssh prefers against what the processor is good at.
#![forbid(unsafe_code)]

use super::{Finding, Subject, has_aes};
use crate::recommendation::{Evidence, Place};
use crate::resolver::{Effective, Severity};

const CHACHA20: &str = "chacha20-poly1305@openssh.com";

pub(super) fn findings(subject: Subject<'_>) -> Option<Finding> {
    let advice = subject.recommendation.client.as_ref()?;
    // Once the order is written, the advice is about what was.
    let is_in_force = |client: &Effective| client.ciphers == advice.today;
    subject.client.filter(|client| is_in_force(client))?;
    let today = advice.places.iter().find(|place| place.today == 1)?;
    let best = advice.places.first()?;
    let prefers_chacha20 = today.cipher == CHACHA20;
    if subject.recommendation.evidence.is_none() {
        return unmeasured(subject, prefers_chacha20);
    }
    if best.cipher == today.cipher || prefers_chacha20 == (best.cipher == CHACHA20) {
        return None;
    }
    let what = match (prefers_chacha20, has_aes(subject.report)) {
        (true, true) => "ssh prefers chacha20-poly1305 on a processor with AES instructions",
        (true, false) => "ssh prefers chacha20-poly1305, and AES is faster here",
        (false, false) => "ssh prefers AES on a processor without AES instructions",
        (false, true) => "ssh prefers AES, and chacha20-poly1305 is faster here",
    };
    let kernels = match subject.recommendation.evidence {
        Some(Evidence::Native) => " in this program's own kernels",
        _ => "",
    };
    let evidence = format!("{} against {}{kernels}", speed(best)?, speed(today)?);
    let cure = "take the recommended order";
    Some(Finding::new(
        "slow-first-cipher",
        Severity::Warning,
        what,
        evidence,
        cure,
    ))
}

/// Without numbers the flags only raise the question.
fn unmeasured(subject: Subject<'_>, prefers_chacha20: bool) -> Option<Finding> {
    let question = prefers_chacha20 && has_aes(subject.report);
    question.then(|| {
        Finding::new(
            "slow-first-cipher",
            Severity::Info,
            "ssh prefers chacha20-poly1305 on a processor with AES instructions",
            "the flags aes and pclmulqdq or pmull; nothing was measured",
            "run advisor without arguments to see which is faster",
        )
    })
}

fn speed(place: &Place) -> Option<String> {
    let speed = place.speed.as_ref()?;
    let name = place
        .cipher
        .strip_suffix("@openssh.com")
        .unwrap_or(&place.cipher);
    Some(format!("{name} {:.2} GB/s", speed.interval.median))
}
