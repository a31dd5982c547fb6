//! Which numbers of a report speak for a cipher.
#![forbid(unsafe_code)]

use engine::measure::statistics::SAMPLES_FOR_95;
use engine::report::{Direction, Measurement, ProviderName, Report};
use serde::{Deserialize, Serialize};

use super::carried::Carried;
use super::order::Interval;
use super::projection::Projection;

/// What a recommendation rests on, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Real transfers between the installed programs.
    Transfer,
    /// Packets sealed and opened as the installed OpenSSH would do it.
    Packet,
    /// Packets sealed and opened by our kernels: what the processor can do, not what ssh does.
    Native,
}

impl Evidence {
    /// By what share a cipher must be faster to overtake, unless the policy says otherwise.
    #[must_use]
    pub const fn threshold(self) -> f64 {
        match self {
            Self::Transfer => 0.05,
            Self::Packet | Self::Native => 0.10,
        }
    }

    /// The name in JSON and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transfer => "transfer",
            Self::Packet => "packet",
            Self::Native => "native",
        }
    }
}

/// The speed that counts for a cipher: the slower direction, since a connection is as fast as its slower end.
#[derive(Clone, Debug, PartialEq)]
pub struct Speed {
    /// Median and 95 % confidence interval: of packets, or of what the processor time of transfers allows.
    pub interval: Interval,
    /// The MAC measured with it; `None` for an AEAD.
    pub mac: Option<String>,
    /// What a transfer would reach in MB/s, if nothing but this processor limited it.
    pub projected_mb_per_s: f64,
    /// What a transfer did reach in MB/s; `None` where none was made.
    pub wall_mb_per_s: Option<f64>,
}

/// The numbers of one kind of evidence.
pub(super) enum Numbers<'a> {
    Carried(Carried<'a>),
    Cells(Cells<'a>, Projection),
}

impl<'a> Numbers<'a> {
    /// Those of a report, at packets of so many bytes.
    pub(super) fn new(report: &'a Report, evidence: Evidence, bytes: usize) -> Self {
        let cells = |provider| Cells {
            report,
            provider,
            bytes,
        };
        let provider = match evidence {
            Evidence::Transfer => return Self::Carried(Carried::new(report)),
            Evidence::Packet => ProviderName::OpenSsh,
            Evidence::Native => ProviderName::Native,
        };
        Self::Cells(cells(provider), Projection::of(report))
    }

    /// The speed of a cipher with the first of `macs` it was measured with; `None` without enough rounds in
    /// both directions.
    pub(super) fn speed(&self, cipher: &str, macs: &[String]) -> Option<Speed> {
        match self {
            Self::Carried(carried) => carried.speed(cipher, macs),
            Self::Cells(cells, projection) => {
                let cell = cells.slower(cipher, macs)?;
                Some(speed_of(cell, projection))
            }
        }
    }
}

/// Packets by one provider at one size.
pub(super) struct Cells<'a> {
    pub(super) report: &'a Report,
    pub(super) provider: ProviderName,
    pub(super) bytes: usize,
}

impl<'a> Cells<'a> {
    fn slower(&self, cipher: &str, macs: &[String]) -> Option<&'a Measurement> {
        let negotiated = || macs.iter().find_map(|mac| self.with(cipher, Some(mac)));
        self.with(cipher, None).or_else(negotiated)
    }

    /// The slower direction of a cipher with that MAC.
    pub(super) fn with(&self, cipher: &str, mac: Option<&str>) -> Option<&'a Measurement> {
        let seal = self.cell(cipher, mac, Direction::Seal)?;
        let open = self.cell(cipher, mac, Direction::Open)?;
        Some(if open.gb_per_s < seal.gb_per_s {
            open
        } else {
            seal
        })
    }

    fn cell(
        &self,
        cipher: &str,
        mac: Option<&str>,
        direction: Direction,
    ) -> Option<&'a Measurement> {
        self.report.measurements.iter().find(|cell| {
            cell.provider == self.provider
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

fn speed_of(cell: &Measurement, projection: &Projection) -> Speed {
    Speed {
        interval: Interval {
            low: cell.ci95[0],
            median: cell.gb_per_s,
            high: cell.ci95[1],
        },
        mac: cell.mac.clone(),
        projected_mb_per_s: projection.mb_per_s(cell.gb_per_s),
        wall_mb_per_s: None,
    }
}

/// A report may come from anywhere: a speed that cannot be one is no evidence.
fn is_sound(cell: &Measurement) -> bool {
    let [low, high] = cell.ci95;
    high.is_finite() && 0.0 < low && low <= cell.gb_per_s && cell.gb_per_s <= high
}
