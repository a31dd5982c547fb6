//! What real transfers say of a cipher.
#![forbid(unsafe_code)]

use engine::measure::transfers::{RankedSpeed, rank};
use engine::report::{Report, Transfer};
use engine::transfer::Implementation;

use super::evidence::Speed;
use super::order::Interval;

/// The upper end of an interval as a multiple of the lower one, from which on packets say more: on a busy
/// machine few runs can scatter that much.
pub(super) const VAGUE: f64 = 1.5;

/// The same up to which a tie is one, and not for want of knowing better.
pub(super) const NARROW: f64 = 1.15;

/// The transfers between two programs of this machine's own, ranked.
pub(super) struct Carried<'a> {
    transfers: Vec<&'a Transfer>,
    ranked: Vec<RankedSpeed>,
}

impl<'a> Carried<'a> {
    /// Those between ssh and sshd.
    pub(super) fn new(report: &'a Report) -> Self {
        Self::by(Implementation::OpenSsh, report)
    }

    pub(super) fn by(implementation: Implementation, report: &'a Report) -> Self {
        let own = |it: &&Transfer| {
            it.implementation == implementation && it.host.is_none() && is_sound(it)
        };
        let transfers: Vec<&Transfer> = report.transfers.iter().filter(own).collect();
        let values: Vec<Transfer> = transfers.iter().copied().cloned().collect();
        Self {
            ranked: rank(&values, report.host.processors == 1),
            transfers,
        }
    }

    /// All of them whose spread is known: single runs alone give no interval.
    pub(super) fn ranked(&self) -> impl Iterator<Item = &RankedSpeed> {
        self.ranked.iter().filter(|it| it.ci95[0] < it.ci95[1])
    }

    /// Those known well enough to tell others by.
    pub(super) fn clear(&self) -> impl Iterator<Item = &RankedSpeed> {
        self.ranked().filter(|it| it.ci95[1] / it.ci95[0] < VAGUE)
    }

    pub(super) fn speed(&self, cipher: &str, macs: &[String]) -> Option<Speed> {
        let with = |mac: Option<&str>| {
            let mut ranked = self.ranked();
            ranked.find(|it| it.cipher == cipher && it.mac.as_deref() == mac)
        };
        let negotiated = || macs.iter().find_map(|mac| with(Some(mac)));
        let found = with(None).or_else(negotiated)?;
        Some(Speed {
            interval: Interval {
                low: found.ci95[0],
                median: found.gb_per_s,
                high: found.ci95[1],
            },
            mac: found.mac.clone(),
            projected_mb_per_s: found.gb_per_s * 1000.0,
            wall_mb_per_s: self.wall(found),
        })
    }

    /// The slower way.
    fn wall(&self, speed: &RankedSpeed) -> Option<f64> {
        let own = self
            .transfers
            .iter()
            .filter(|it| it.cipher == speed.cipher && it.mac == speed.mac);
        own.map(|it| it.mb_per_s).min_by(f64::total_cmp)
    }
}

/// A report may come from anywhere: a time that cannot be one is no evidence.
fn is_sound(transfer: &Transfer) -> bool {
    let [low, high] = transfer.user_ci95;
    let user = transfer.user_s_per_gib;
    let ends = [transfer.client_cpu_s_per_gib]
        .into_iter()
        .chain(transfer.server_cpu_s_per_gib);
    let mut times = ends.flatten();
    high.is_finite()
        && 0.0 < low
        && low <= user
        && user <= high
        && transfer.mb_per_s.is_finite()
        && times.all(|time| time.is_finite() && time >= 0.0)
}
