//! The table of transfers, before any format gives it a face.
#![forbid(unsafe_code)]

use engine::measure::transfers::{RankedSpeed, rank};
use engine::report::{Report, Transfer};
use engine::transfer::Implementation;

use super::words;
use crate::diagnosis::dropbear;

/// The transfers of one pair of programs, or to one host, the fastest cipher first.
pub(super) struct Group {
    pub(super) title: String,
    pub(super) ciphers: Vec<Carried>,
    /// What to know and to do about programs the recommendation is not about.
    pub(super) notes: Vec<String>,
}

/// One cipher with its MAC.
pub(super) struct Carried {
    pub(super) title: String,
    /// What its processor time allows, where both directions were carried.
    pub(super) speed: Option<String>,
    pub(super) rows: Vec<Row>,
}

/// One direction.
pub(super) struct Row {
    pub(super) way: &'static str,
    /// By the clock on the wall, in MB/s.
    pub(super) mb_per_s: String,
    /// User and system seconds per GiB.
    pub(super) client: String,
    pub(super) server: String,
    pub(super) rounds: String,
}

/// What the columns are.
pub(super) const LEGEND: &str = "GB/s: what the processor time allows, 1/(u + o): u the user time of the busier end the slower way, o its system time over all ciphers. MB/s: by the clock on the wall. Processor time in seconds per GiB, user + system, without the handshake.";

/// All groups that hold anything.
pub(super) fn groups(report: &Report) -> Vec<Group> {
    let mut keys: Vec<(Implementation, Option<&str>)> = Vec::new();
    for transfer in &report.transfers {
        let key = (transfer.implementation, transfer.host.as_deref());
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let group = |(implementation, host)| {
        let of = |it: &&Transfer| it.implementation == implementation && it.host.as_deref() == host;
        let transfers: Vec<Transfer> = report.transfers.iter().filter(of).cloned().collect();
        Group {
            title: words::between(implementation, host),
            ciphers: ciphers(&transfers, report.host.processors == 1),
            notes: notes(implementation, report),
        }
    };
    keys.into_iter().map(group).collect()
}

fn notes(implementation: Implementation, report: &Report) -> Vec<String> {
    let compression = match implementation {
        Implementation::OpenSsh => return Vec::new(),
        Implementation::Dropbear => Some(words::COMPRESSED.to_owned()),
        Implementation::DropbearToOpenSsh => None,
    };
    let advice = dropbear::choice(report).map(|choice| format!("Advice: {choice}."));
    compression.into_iter().chain(advice).collect()
}

fn ciphers(transfers: &[Transfer], shared_core: bool) -> Vec<Carried> {
    let ranked = rank(transfers, shared_core);
    let mut pairs: Vec<(&str, Option<&str>)> = Vec::new();
    for transfer in transfers {
        let pair = (transfer.cipher.as_str(), transfer.mac.as_deref());
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let speed = |pair: &(&str, Option<&str>)| {
        let mut ranked = ranked.iter();
        ranked.find(|it| (it.cipher.as_str(), it.mac.as_deref()) == *pair)
    };
    let order = |pair: &(&str, Option<&str>)| speed(pair).map_or(0.0, |it| it.gb_per_s);
    pairs.sort_by(|a, b| order(b).total_cmp(&order(a)));
    let carried = |pair: (&str, Option<&str>)| {
        let own = transfers
            .iter()
            .filter(|it| (it.cipher.as_str(), it.mac.as_deref()) == pair);
        Carried {
            title: words::title(pair.0, pair.1),
            speed: speed(&pair).map(ranked_speed),
            rows: own.map(row).collect(),
        }
    };
    pairs.into_iter().map(carried).collect()
}

fn ranked_speed(speed: &RankedSpeed) -> String {
    let [low, high] = speed.ci95;
    let spread = spread(speed.gb_per_s, low, high);
    format!("{}{spread}", words::speed(speed.gb_per_s))
}

fn row(transfer: &Transfer) -> Row {
    let [low, high] = transfer.ci95;
    let spread = spread(transfer.mb_per_s, low, high);
    let times = |[user, system]: [f64; 2]| format!("{user:.2} + {system:.2}");
    Row {
        way: transfer.direction.name(),
        mb_per_s: format!("{:.0}{spread}", transfer.mb_per_s),
        client: times(transfer.client_cpu_s_per_gib),
        server: transfer.server_cpu_s_per_gib.map_or("-".to_owned(), times),
        rounds: transfer.rounds.to_string(),
    }
}

/// Half the interval in percent; nothing where a single run says nothing of it.
fn spread(middle: f64, low: f64, high: f64) -> String {
    let percent = ((high - middle).max(middle - low) / middle * 100.0).ceil();
    if low < high {
        format!("±{:.0}", percent.clamp(0.0, 99.0))
    } else {
        String::new()
    }
}
