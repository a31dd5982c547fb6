//! Which numbers of a report speak for a cipher.
#![forbid(unsafe_code)]

use engine::measure::statistics::SAMPLES_FOR_95;
use engine::report::{Direction, Measurement, ProviderName, Report};
use serde::{Deserialize, Serialize};

use super::order::Interval;

/// What a recommendation rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Packets sealed and opened as the installed OpenSSH would do it.
    Packet,
    /// Packets sealed and opened by our kernels: what the processor can do, not what ssh does.
    Native,
}

impl Evidence {
    /// The provider whose cells are this evidence.
    #[must_use]
    pub const fn provider(self) -> ProviderName {
        match self {
            Self::Packet => ProviderName::OpenSsh,
            Self::Native => ProviderName::Native,
        }
    }

    /// By what share a cipher must be faster to overtake, unless the policy says otherwise.
    #[must_use]
    pub const fn threshold(self) -> f64 {
        match self {
            Self::Packet | Self::Native => 0.10,
        }
    }

    /// The name in JSON and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Packet => "packet",
            Self::Native => "native",
        }
    }
}

/// The speed that counts for a cipher: the slower direction, since a connection is as fast as its slower end.
#[derive(Clone, Debug, PartialEq)]
pub struct Speed {
    /// Median and 95 % confidence interval.
    pub interval: Interval,
    /// The slower direction.
    pub direction: Direction,
    /// The MAC measured with it; `None` for an AEAD.
    pub mac: Option<String>,
    /// What did the work.
    pub kernel: String,
}

/// The numbers of one kind of evidence at one packet size.
pub(super) struct Cells<'a> {
    report: &'a Report,
    evidence: Evidence,
    bytes: usize,
}

impl<'a> Cells<'a> {
    pub(super) const fn new(report: &'a Report, evidence: Evidence, bytes: usize) -> Self {
        Self {
            report,
            evidence,
            bytes,
        }
    }

    /// The speed of a cipher with the first of `macs` it was measured with; `None` without enough
    /// rounds in both directions.
    pub(super) fn speed(&self, cipher: &str, macs: &[String]) -> Option<Speed> {
        let with = |mac: Option<&str>| {
            let seal = self.cell(cipher, mac, Direction::Seal)?;
            let open = self.cell(cipher, mac, Direction::Open)?;
            Some(if open.gb_per_s < seal.gb_per_s {
                open
            } else {
                seal
            })
        };
        let negotiated = macs.iter().find_map(|mac| with(Some(mac)));
        with(None).or(negotiated).map(speed_of)
    }

    fn cell(
        &self,
        cipher: &str,
        mac: Option<&str>,
        direction: Direction,
    ) -> Option<&'a Measurement> {
        self.report.measurements.iter().find(|cell| {
            cell.provider == self.evidence.provider()
                && cell.bytes == self.bytes
                && cell.cipher == cipher
                && cell.mac.as_deref() == mac
                && cell.direction == direction
                && !cell.batched
                && cell.rounds >= SAMPLES_FOR_95
                && is_sound(cell)
        })
    }
}

fn speed_of(cell: &Measurement) -> Speed {
    Speed {
        interval: Interval {
            low: cell.ci95[0],
            median: cell.gb_per_s,
            high: cell.ci95[1],
        },
        direction: cell.direction,
        mac: cell.mac.clone(),
        kernel: cell.kernel.clone(),
    }
}

/// A report may come from anywhere: a speed that cannot be one is no evidence.
fn is_sound(cell: &Measurement) -> bool {
    let [low, high] = cell.ci95;
    high.is_finite() && 0.0 < low && low <= cell.gb_per_s && cell.gb_per_s <= high
}
