//! Ciphers that are much slower one way than the other.
#![forbid(unsafe_code)]

use engine::report::{Direction, ProviderName};

use super::{FULL_PACKET, Finding, Subject};
use crate::resolver::Severity;

/// From here on the slower direction is another class of speed.
const LOPSIDED: f64 = 1.5;

/// CBC chains its blocks when it encrypts, but can decrypt many at once. Only of interest while it is offered.
pub(super) fn findings(subject: Subject<'_>) -> Option<Finding> {
    let offered = &subject.client?.ciphers;
    let speed = |cipher: &str, direction| {
        let mut cells = subject.report.measurements.iter();
        let cell = cells.find(|cell| {
            cell.provider == ProviderName::OpenSsh
                && cell.cipher == cipher
                && cell.bytes == FULL_PACKET
                && cell.direction == direction
        });
        cell.map(|cell| cell.gb_per_s)
    };
    offered
        .iter()
        .filter(|cipher| cipher.ends_with("-cbc"))
        .find_map(|cipher| {
            let seal = speed(cipher, Direction::Seal)?;
            let open = speed(cipher, Direction::Open)?;
            (open >= LOPSIDED * seal).then(|| {
                Finding::new(
                    "cbc-lopsided",
                    Severity::Info,
                    format!("{cipher} encrypts one block after the other, so the sending end is the slow one"),
                    format!("sealed {seal:.2} GB/s, opened {open:.2} GB/s"),
                    "use aes-gcm or aes-ctr, which are as fast both ways",
                )
            })
        })
}
