//! From the speed of packets to the speed of a transfer, 1/(c + o), and how far that is to be trusted.
#![forbid(unsafe_code)]

use engine::measure::statistics::median;
use engine::report::{ProviderName, Report};

use super::carried::Carried;
use super::evidence::Cells;

const GIB: f64 = (1_u64 << 30) as f64;

/// What ssh spends around the cipher, in seconds per GiB, where no transfer was made: packet handling, copies,
/// system calls. Measured for OpenSSH 9.2 and 10.5 on loopback: 0.35 to 0.8 per process.
const ASSUMED_S_PER_GIB: f64 = 0.5;

/// The size of the packets a transfer consists of.
const FULL_PACKET: usize = 32 * 1024;

/// How packets are projected to transfers: c are the seconds per GiB of the cipher, o those of the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// o, in seconds per GiB.
    pub overhead_s_per_gib: f64,
    /// Ciphers whose packets and transfers o was taken from; 0 where it is assumed.
    pub ciphers: usize,
    /// The cipher whose projection is farthest from its transfer, and the error as a share of the transfer's
    /// speed (0.1 for a projection 10 % too fast); `None` where o is assumed.
    pub worst: Option<(String, f64)>,
}

impl Projection {
    /// With the overhead this report's transfers show, as the median over at least two ciphers, else an assumed
    /// one.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let pairs = pairs(report);
        let rest: Vec<f64> = pairs.iter().map(|it| it.transfer - it.packet).collect();
        let measured = median(&rest).filter(|&overhead| rest.len() > 1 && overhead > 0.0);
        let Some(overhead_s_per_gib) = measured else {
            return Self {
                overhead_s_per_gib: ASSUMED_S_PER_GIB,
                ciphers: 0,
                worst: None,
            };
        };
        let error = |it: &Pair| it.transfer / (it.packet + overhead_s_per_gib) - 1.0;
        let worst = pairs.iter().map(|it| (it.cipher.clone(), error(it)));
        Self {
            overhead_s_per_gib,
            ciphers: pairs.len(),
            worst: worst.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())),
        }
    }

    /// Projected speed of a transfer in MB/s, if nothing but this processor limits it.
    #[must_use]
    pub fn mb_per_s(&self, gb_per_s: f64) -> f64 {
        GIB / 1e6 / (seconds_per_gib(gb_per_s) + self.overhead_s_per_gib)
    }
}

/// What a cipher costs by its packets and by its transfers, in seconds per GiB.
struct Pair {
    cipher: String,
    packet: f64,
    transfer: f64,
}

fn pairs(report: &Report) -> Vec<Pair> {
    let carried = Carried::new(report);
    let cells = Cells {
        report,
        provider: ProviderName::OpenSsh,
        bytes: FULL_PACKET,
    };
    let pair = |speed: &engine::measure::transfers::RankedSpeed| {
        let cell = cells.with(&speed.cipher, speed.mac.as_deref())?;
        Some(Pair {
            cipher: speed.cipher.clone(),
            packet: seconds_per_gib(cell.gb_per_s),
            transfer: seconds_per_gib(speed.gb_per_s),
        })
    };
    carried.clear().filter_map(pair).collect()
}

fn seconds_per_gib(gb_per_s: f64) -> f64 {
    GIB / 1e9 / gb_per_s
}
