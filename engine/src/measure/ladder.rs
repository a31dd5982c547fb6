//! What each step from plain code to vectors brings to chacha20-poly1305: both parts portable (OpenSSH
//! before 8.3), ChaCha20 of libcrypto (OpenSSH since), both vectorised (what this processor can do).
//!
//! All three are sampled in turns in one short measurement, so that their ratios hold on a busy machine.
#![forbid(unsafe_code)]

use std::sync::atomic::AtomicBool;

use super::session::{MeasureRequest, measure};
use crate::algorithm::Cipher;
use crate::cpu::Detected;
use crate::host::Clock;
use crate::installed::releases::Release;
use crate::providers::{Direction, Libcrypto, Native, OpenSsh, Provider, Unavailable};
use crate::report::{Measurement, Rung};

/// A release that computes both parts by itself.
const BEFORE_LIBCRYPTO: Release = Release::new(8, 2);

/// The rungs, lowest first; those that could not be measured are missing.
pub(super) fn ladder(
    library: Result<Libcrypto, Unavailable>,
    detected: Detected,
    request: &MeasureRequest,
    clock: &dyn Clock,
    cancel: &AtomicBool,
) -> Vec<Rung> {
    let portable = OpenSsh::new(library.clone(), Some(BEFORE_LIBCRYPTO), detected);
    let borrowed = OpenSsh::new(library, None, detected);
    let native = Native::new(detected);
    let steps: [&dyn Provider; 3] = [&portable, &borrowed, &native];
    let cipher = Cipher::ChaCha20Poly1305;
    let measured = measure(
        &steps,
        &[(cipher, None)],
        request,
        clock,
        &mut |_| {},
        cancel,
    );
    let mut workers: Vec<String> = steps
        .iter()
        .filter_map(|step| step.worker(cipher, None).ok())
        .collect();
    // A library without ChaCha20 leaves the first step and the second the same.
    workers.dedup();
    let cell = |worker: String| {
        let mut cells = measured.measurements.iter();
        cells.find(|cell| cell.kernel == worker && cell.direction == Direction::Seal)
    };
    workers.into_iter().filter_map(cell).map(rung).collect()
}

fn rung(cell: &Measurement) -> Rung {
    Rung {
        kernel: cell.kernel.clone(),
        gb_per_s: cell.gb_per_s,
        ci95: cell.ci95,
    }
}
