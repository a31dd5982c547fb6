//! CVE-2023-48795: ciphers whose first packets can be cut away unless both ends keep a strict key exchange.
#![forbid(unsafe_code)]

use engine::report::Program;

use super::{Finding, Subject};
use crate::resolver::{Effective, Severity};

/// One finding a side that announced no strict key exchange in its own first packet. A version tells
/// nothing: distributions have brought the cure to older ones.
pub(super) fn findings(subject: Subject<'_>) -> Vec<Finding> {
    let programs = &subject.report.openssh;
    let client = side(programs.client.as_ref(), subject.client, "ssh");
    let server = side(programs.server.as_ref(), subject.server, "sshd");
    client.into_iter().chain(server).collect()
}

fn side(program: Option<&Program>, effective: Option<&Effective>, name: &str) -> Option<Finding> {
    let (program, effective) = (program?, effective?);
    if program.strict_key_exchange != Some(false) {
        return None;
    }
    let exposed = exposed(effective);
    (!exposed.is_empty()).then(|| {
        Finding::new(
            "terrapin",
            Severity::Warning,
            format!("{name} takes no part in strict key exchange and offers ciphers that need it (CVE-2023-48795)"),
            format!("read from the first packet of {}; offered: {}", program.path, exposed.join(", ")),
            "update OpenSSH (9.6, or a distribution's fix), or remove these ciphers; aes-gcm and aes-ctr are not concerned",
        )
    })
}

/// chacha20-poly1305 always, CBC where a MAC is computed over the ciphertext.
fn exposed(effective: &Effective) -> Vec<&str> {
    let etm = effective.macs.iter().any(|mac| mac.contains("-etm@"));
    let ciphers = effective.ciphers.iter().map(String::as_str);
    ciphers
        .filter(|name| name.starts_with("chacha20-poly1305") || etm && name.ends_with("-cbc"))
        .collect()
}
