//! FIPS mode, in which distributions' programs know fewer ciphers than their lists say.
#![forbid(unsafe_code)]

use super::{Finding, Subject};
use crate::resolver::Severity;

pub(super) fn findings(subject: Subject<'_>) -> Option<Finding> {
    let is_on = subject.report.host.fips == Some(true);
    let sides = [subject.client, subject.server].into_iter().flatten();
    let mut names = sides.flat_map(|side| &side.ciphers);
    let chacha20 = names.any(|name| name.starts_with("chacha20-poly1305"));
    (is_on && chacha20).then(|| {
        Finding::new(
            "fips-mode",
            Severity::Warning,
            "the kernel runs in FIPS mode, and chacha20-poly1305 is in the list",
            "/proc/sys/crypto/fips_enabled is 1",
            "keep to AES: distributions' programs leave it out, or refuse a line that names it, in this mode",
        )
    })
}
