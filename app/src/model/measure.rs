//! The Measure screen: a bar for every cipher with every provider.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use advisor::output::words;
use engine::algorithm::Cipher;
use engine::measure::MeasureRequest;
use engine::report::{Measurement, ProviderName, Report};

use super::numbers::{doing, has_enough_rounds, round_count, with_spread};
use super::shown::show;
use super::transfers::{self, TransferRow};
use super::{BULK_PACKET, Doing, Gauges, Model, Progress, Screen};

/// The screen.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureView {
    /// What the bars show: direction, packet size, unit.
    pub heading: String,
    /// The bars: fastest cipher as OpenSSH runs it first, its providers together.
    pub bars: Vec<Bar>,
    /// Packet sizes there are to look at, in bytes.
    pub sizes: Vec<usize>,
    /// What stands where there is nothing to show yet.
    pub empty: Option<String>,
    /// What makes the numbers less trustworthy.
    pub warnings: Vec<String>,
    /// How busy the machine is, or was.
    pub machine: String,
    /// What real connections made of the ciphers, the cheapest first. The cursor goes on to them from the bars.
    pub transfers: Vec<TransferRow>,
    /// What was not carried, and why.
    pub missing: Vec<String>,
}

/// What the rows of transfers are.
pub const TRANSFERS_HEADING: &str = "Real transfers: MB/s, and seconds a GiB of the busier end";

impl MeasureView {
    /// How many items the cursor can be on.
    #[must_use]
    pub fn items(&self) -> usize {
        self.bars.len() + self.transfers.len()
    }

    /// All that is known of an item.
    #[must_use]
    pub fn detail(&self, item: usize) -> Option<&str> {
        let bar = self.bars.get(item).map(|it| it.detail.as_str());
        bar.or_else(|| {
            let transfer = self.transfers.get(item.checked_sub(self.bars.len())?)?;
            Some(&transfer.detail)
        })
    }
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Cipher, with the MAC it pays for.
    pub cipher: String,
    /// Whether this is the first bar of its cipher.
    pub leads: bool,
    /// Who did the work.
    pub provider: ProviderName,
    /// The number; `None` where there is a reason in its place.
    pub value: Option<BarValue>,
    /// What did the work, or why there is no number.
    pub note: String,
    /// All that is known of this cell, in one sentence.
    pub detail: String,
}

/// The number of a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct BarValue {
    /// Median in GB/s.
    pub gb_per_s: f64,
    /// 95 % confidence interval in GB/s.
    pub ci95: [f64; 2],
    /// Length of the bar, 0 to 1 of the highest end of an interval on this screen.
    pub share: f64,
    /// Median and ±, to print.
    pub text: String,
    /// The medians on the way to this one while it was measured, oldest first.
    pub trace: Vec<f64>,
}

/// How the numbers of a measurement came to be what they are: the running medians of each cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traces(Vec<(Measurement, Vec<f64>)>);

impl Traces {
    /// So many medians are kept of each cell.
    const LENGTH: usize = 8;

    pub(super) fn note(&mut self, new: &Measurement) {
        let known = self.0.iter_mut().find(|(cell, _)| is_same(cell, new));
        let Some((_, medians)) = known else {
            self.0.push((new.clone(), vec![new.gb_per_s]));
            return;
        };
        if medians.len() == Self::LENGTH {
            medians.remove(0);
        }
        medians.push(new.gb_per_s);
    }

    fn of(&self, cell: &Measurement) -> Vec<f64> {
        let known = self.0.iter().find(|(it, _)| is_same(it, cell));
        known.map_or_else(Vec::new, |(_, medians)| medians.clone())
    }
}

/// Puts a number in the place of the one it renews.
pub(super) fn note(live: &mut Vec<Measurement>, new: Measurement) {
    match live.iter_mut().find(|old| is_same(old, &new)) {
        Some(old) => *old = new,
        None => live.push(new),
    }
}

fn is_same(old: &Measurement, new: &Measurement) -> bool {
    (&old.cipher, &old.mac, old.provider) == (&new.cipher, &new.mac, new.provider)
        && (old.direction, old.bytes) == (new.direction, new.bytes)
}

/// The screen for what the model looks at.
#[must_use]
pub fn view(model: &Model) -> MeasureView {
    let sizes = sizes(model);
    let heading = format!(
        "SSH packets of {}, {}: GB/s, ± half the 95 % interval",
        words::size(model.bytes),
        doing(model.direction),
    );
    let bars = bars(model);
    let empty = bars.is_empty().then(|| nothing(model));
    let mut warnings = model
        .report()
        .map_or_else(Vec::new, |it| it.warnings.clone());
    if shown(model).any(|cell| !has_enough_rounds(cell)) && !model.is_measuring() {
        warnings.push("* fewer than three rounds: measure again on an idle machine".to_owned());
    }
    warnings.iter_mut().for_each(show);
    MeasureView {
        heading,
        bars,
        sizes,
        empty,
        warnings,
        machine: machine(model),
        transfers: transfers::rows(model),
        missing: transfers::missing(model),
    }
}

/// The progress of a running measurement, in words: `packets: 42 %, 6 s left`.
#[must_use]
pub fn progress_text(progress: &Progress) -> String {
    if progress.doing == Doing::Beginning {
        return "begins".to_owned();
    }
    let percent = (progress.share.clamp(0.0, 1.0) * 100.0).round();
    let seconds = progress.remaining.as_secs_f64().ceil();
    let doing = match progress.doing {
        Doing::Transfers => "real transfers: ",
        Doing::Beginning | Doing::Packets => "packets: ",
    };
    format!("{doing}{percent:.0} %, {seconds:.0} s left")
}

/// The next larger or smaller packet size there is; the one shown at the end of the range.
pub(super) fn neighbour(model: &Model, larger: bool) -> usize {
    let sizes = sizes(model);
    let next = if larger {
        sizes.iter().find(|&&size| size > model.bytes)
    } else {
        sizes.iter().rev().find(|&&size| size < model.bytes)
    };
    next.copied().unwrap_or(model.bytes)
}

fn sizes(model: &Model) -> Vec<usize> {
    let cells = model.cells().iter();
    // Those a measurement will have are offered before its first numbers come.
    let planned = MeasureRequest::default().sizes;
    let sizes: BTreeSet<usize> = cells.map(|cell| cell.bytes).chain(planned).collect();
    sizes.into_iter().collect()
}

fn nothing(model: &Model) -> String {
    let doing = model.progress.as_ref().map(|it| it.doing);
    if doing == Some(Doing::Transfers) {
        "Real transfers come first, through ssh and a private sshd; then packets.".to_owned()
    } else if doing.is_some() {
        "The first numbers come when every cipher has had its rounds.".to_owned()
    } else if model.report().is_some() {
        "Nothing was measured for this packet size and direction.".to_owned()
    } else {
        "Nothing is measured yet: press m.".to_owned()
    }
}

fn shown(model: &Model) -> impl Iterator<Item = &Measurement> {
    let cells = model.cells().iter();
    cells.filter(|cell| cell.bytes == model.bytes && cell.direction == model.direction)
}

/// A cell with or without number, before it is put in order.
struct Cell {
    cipher: String,
    mac: Option<String>,
    provider: ProviderName,
    content: Result<Measurement, String>,
}

fn bars(model: &Model) -> Vec<Bar> {
    let mut cells: Vec<Cell> = shown(model).map(Cell::measured).collect();
    if cells.is_empty() {
        return Vec::new();
    }
    // The upper end of an interval must fit as well.
    let upper = shown(model).map(|cell| cell.ci95[1].max(cell.gb_per_s));
    let longest = upper.fold(0.0, f64::max);
    // What a running measurement cannot do is known at its end.
    if let Some(report) = model.report().filter(|_| !model.is_measuring()) {
        cells.extend(unavailable(report));
    }
    let title = |cell: &Cell| words::title(&cell.cipher, cell.mac.as_deref());
    let passes = |index: &usize| {
        let cell = &cells[*index];
        let text = format!("{} {} {}", title(cell), cell.provider, cell.note());
        model.passes(Screen::Measure, &text)
    };
    let mut before: Option<String> = None;
    let ladder = ladder(model);
    let bar = |index: usize| {
        let cipher = title(&cells[index]);
        let leads = before.replace(cipher.clone()).as_ref() != Some(&cipher);
        let mut bar = cells[index].bar(cipher, leads, longest, &model.traces);
        if cells[index].cipher == Cipher::ChaCha20Poly1305.name() {
            bar.detail.push_str(&ladder);
        }
        [&mut bar.cipher, &mut bar.note, &mut bar.detail]
            .into_iter()
            .for_each(show);
        bar
    };
    ordered(&cells)
        .into_iter()
        .filter(passes)
        .map(bar)
        .collect()
}

/// The order in which cells are shown, as indices: the cipher that is fastest as OpenSSH runs it first, its
/// providers together.
pub(super) fn cell_order(cells: &[Measurement]) -> Vec<usize> {
    ordered(&cells.iter().map(Cell::measured).collect::<Vec<_>>())
}

fn ordered(cells: &[Cell]) -> Vec<usize> {
    let ranks: Vec<(f64, usize)> = cells.iter().map(|cell| rank(cell, cells)).collect();
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by(|&a, &b| {
        let fastest_first = ranks[b].0.total_cmp(&ranks[a].0);
        fastest_first
            .then(ranks[a].1.cmp(&ranks[b].1))
            .then(cells[a].provider.cmp(&cells[b].provider))
    });
    order
}

/// What each step from portable code to vector instructions brings, where that was measured.
fn ladder(model: &Model) -> String {
    let report = model.report().filter(|_| !model.is_measuring());
    let rungs = report.map_or(&[][..], |report| &report.ladder);
    let steps: Vec<String> = rungs
        .iter()
        .map(|it| format!("{} {}", it.kernel, words::speed(it.gb_per_s)))
        .collect();
    match steps.as_slice() {
        [] => String::new(),
        steps => format!(
            ". Step by step, {} sealed, GB/s: {}",
            words::size(BULK_PACKET),
            steps.join(", ")
        ),
    }
}

fn machine(model: &Model) -> String {
    let gauges = match (&model.progress, &model.document) {
        (Some(progress), _) => progress.machine,
        (None, Some(document)) => Gauges {
            load: document.report.host.load,
            steal_percent: document.report.host.steal_percent,
            ghz: None,
        },
        (None, None) => Gauges::default(),
    };
    let load = gauges.load.map(|it| format!("load {it:.1}"));
    let clock = gauges.ghz.map(|it| format!("{it:.1} GHz"));
    let steal = gauges.steal_percent.map(|it| format!("steal {it:.0} %"));
    let parts: Vec<String> = [load, clock, steal].into_iter().flatten().collect();
    parts.join("   ")
}

fn unavailable(report: &Report) -> impl Iterator<Item = Cell> {
    report.unavailable.iter().map(|cell| Cell {
        cipher: cell.cipher.clone(),
        mac: cell.mac.clone(),
        provider: cell.provider,
        content: Err(cell.reason.clone()),
    })
}

/// What a cipher is sorted by: its speed as OpenSSH runs it, else the best anyone makes of it; and
/// where it first stands in the report, which keeps the rows of one cipher together on a tie.
fn rank(cell: &Cell, cells: &[Cell]) -> (f64, usize) {
    let same = |other: &&Cell| other.cipher == cell.cipher && other.mac == cell.mac;
    let first = cells.iter().position(|other| same(&other)).unwrap_or(0);
    let group = || cells.iter().filter(same);
    let openssh = group().find(|other| other.provider == ProviderName::OpenSsh);
    let speed = openssh.and_then(Cell::speed);
    let best = || group().filter_map(Cell::speed).fold(0.0, f64::max);
    (speed.unwrap_or_else(best), first)
}

impl Cell {
    fn measured(measurement: &Measurement) -> Self {
        Self {
            cipher: measurement.cipher.clone(),
            mac: measurement.mac.clone(),
            provider: measurement.provider,
            content: Ok(measurement.clone()),
        }
    }

    fn speed(&self) -> Option<f64> {
        self.content.as_ref().ok().map(|cell| cell.gb_per_s)
    }

    fn bar(&self, cipher: String, leads: bool, longest: f64, traces: &Traces) -> Bar {
        let detail = match &self.content {
            Ok(cell) => detail(&cipher, cell),
            Err(reason) => format!("{cipher}, {}: no number, because {reason}", self.provider),
        };
        let value = self.content.as_ref().ok().map(|cell| BarValue {
            gb_per_s: cell.gb_per_s,
            ci95: cell.ci95,
            share: if longest > 0.0 {
                cell.gb_per_s / longest
            } else {
                0.0
            },
            text: with_spread(cell.gb_per_s, cell.ci95, has_enough_rounds(cell)),
            trace: traces.of(cell),
        });
        Bar {
            cipher,
            leads,
            provider: self.provider,
            value,
            note: self.note().to_owned(),
            detail,
        }
    }

    /// What did the work, or why there is no number.
    fn note(&self) -> &str {
        match &self.content {
            Ok(cell) => &cell.kernel,
            Err(reason) => reason,
        }
    }
}

fn detail(cipher: &str, cell: &Measurement) -> String {
    let cycles = cell
        .cycles_per_byte
        .map_or_else(String::new, |cycles| format!(", {cycles:.2} cycles a byte"));
    let [low, high] = cell.ci95.map(words::speed);
    format!(
        "{cipher}, {}, {} {}: {} GB/s, 95 % between {low} and {high}{cycles}, {}; {}",
        cell.provider,
        doing(cell.direction),
        words::size(cell.bytes),
        words::speed(cell.gb_per_s),
        round_count(cell.rounds),
        cell.kernel
    )
}
