//! Real transfers, the second pane of the Measure screen: what connections made of the ciphers.
#![forbid(unsafe_code)]

use advisor::output::words;
use engine::report::Transfer;

use super::numbers::{round_count, spread_percent};
use super::shown::shown;
use super::{Model, Screen};

/// What real connections made of a cipher, the way that costs more.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferRow {
    /// Cipher, with the MAC it pays for.
    pub cipher: String,
    /// Speed by the clock on the wall, with ±, in MB/s.
    pub speed: String,
    /// User seconds a GiB of the busier end, with ±.
    pub cost: String,
    /// Length of its bar, 0 to 1 of the fastest.
    pub share: f64,
    /// All that is known of it, in one sentence.
    pub detail: String,
}

/// The cheapest first: that is how they are ranked.
pub(super) fn rows(model: &Model) -> Vec<TransferRow> {
    let transfers = model.transfers();
    let mut costly: Vec<&Transfer> = transfers
        .iter()
        .filter(|it| transfers.iter().all(|other| !costs_more(other, it)))
        .collect();
    costly.sort_by(|a, b| a.user_s_per_gib.total_cmp(&b.user_s_per_gib));
    let speeds = costly.iter().map(|it| it.mb_per_s);
    let fastest = speeds.fold(f64::MIN_POSITIVE, f64::max);
    let row = |slower: &&Transfer| {
        let both = transfers.iter().filter(|it| is_same(it, slower));
        TransferRow {
            cipher: shown(&words::title(&slower.cipher, slower.mac.as_deref())),
            speed: format!(
                "{:.0} {}",
                slower.mb_per_s,
                spread(slower, slower.mb_per_s, slower.ci95)
            ),
            cost: format!(
                "{:.2} {}",
                slower.user_s_per_gib,
                spread(slower, slower.user_s_per_gib, slower.user_ci95)
            ),
            share: slower.mb_per_s / fastest,
            detail: shown(&detail(slower, both)),
        }
    };
    let passes = |it: &TransferRow| model.passes(Screen::Measure, &it.detail);
    costly.iter().map(row).filter(passes).collect()
}

/// What was not carried, and why.
pub(super) fn missing(model: &Model) -> Vec<String> {
    let report = model.document.as_deref().map(|it| &it.report);
    let report = report.filter(|_| !model.is_measuring());
    let missing = report.into_iter().flat_map(|it| &it.unavailable_transfers);
    missing.map(|it| shown(&words::not_carried(it))).collect()
}

/// Puts a figure in the place of the one it renews.
pub(super) fn note(live: &mut Vec<Transfer>, new: Transfer) {
    let old = live
        .iter_mut()
        .find(|old| is_same(old, &new) && old.direction == new.direction);
    match old {
        Some(old) => *old = new,
        None => live.push(new),
    }
}

fn is_same(a: &Transfer, b: &Transfer) -> bool {
    (&a.cipher, &a.mac) == (&b.cipher, &b.mac)
        && (a.implementation, &a.host) == (b.implementation, &b.host)
}

/// The other way of the same cipher costs more; of two equal ones the first counts.
fn costs_more(other: &Transfer, than: &Transfer) -> bool {
    is_same(other, than)
        && (other.user_s_per_gib, than.direction) > (than.user_s_per_gib, other.direction)
}

/// One run has no interval, which is not one of no width.
fn spread(transfer: &Transfer, median: f64, ci95: [f64; 2]) -> String {
    match transfer.rounds {
        0 | 1 => "±?  ".to_owned(),
        _ => format!("±{:.0} %", spread_percent(median, ci95)),
    }
}

fn detail<'a>(slower: &Transfer, both: impl Iterator<Item = &'a Transfer>) -> String {
    let ways: Vec<String> = both.map(one_way).collect();
    format!(
        "{}: {}. {}; seconds a GiB are user + system, without the handshake",
        words::title(&slower.cipher, slower.mac.as_deref()),
        ways.join("; "),
        words::between(slower.implementation, slower.host.as_deref()),
    )
}

fn one_way(transfer: &Transfer) -> String {
    let [low, high] = transfer.ci95;
    let end = |name: &str, [user, system]: [f64; 2]| format!(", {name} {user:.2} + {system:.2}");
    let server = transfer.server_cpu_s_per_gib;
    format!(
        "{} {:.0} MB/s, 95 % between {low:.0} and {high:.0}{}{}, {}",
        transfer.direction,
        transfer.mb_per_s,
        end("client", transfer.client_cpu_s_per_gib),
        server.map_or_else(String::new, |it| end("server", it)),
        round_count(transfer.rounds)
    )
}
