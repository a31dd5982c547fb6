//! The Compare screen: a saved report of another run or host beside this one.
#![forbid(unsafe_code)]

use advisor::output::words;
use engine::measure::statistics::{Comparison, compare};
use engine::report::{Measurement, ProviderName, Report};

use super::measure::cell_order;
use super::numbers::{doing, has_enough_rounds, with_spread};
use super::shown::shown;
use super::{Model, Screen};

/// The report this one is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    /// The file it came from.
    pub name: String,
    /// What it holds.
    pub report: std::sync::Arc<Report>,
}

/// The screen.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareView {
    /// What is compared: direction, packet size, unit.
    pub heading: String,
    /// The two hosts, with when they were measured.
    pub hosts: Vec<String>,
    /// A row for every cell that one of them has.
    pub rows: Vec<CompareRow>,
    /// What stands where there is nothing to compare.
    pub empty: Option<String>,
}

/// One cell on both.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareRow {
    /// Cipher, with the MAC it pays for.
    pub cipher: String,
    /// Who did the work.
    pub provider: ProviderName,
    /// The number here; `–` where there is none.
    pub here: String,
    /// The number there.
    pub there: String,
    /// `1.8 ×`, as a multiple of theirs; empty where one is missing.
    pub ratio: String,
    /// In words: faster, slower, or the same within the intervals.
    pub judgement: &'static str,
}

impl CompareRow {
    /// Its words.
    #[must_use]
    pub fn text(&self) -> String {
        format!(
            "{}, {}: {} GB/s here, {} there: {} {}",
            self.cipher, self.provider, self.here, self.there, self.ratio, self.judgement
        )
    }
}

/// The screen for what the model looks at.
#[must_use]
pub fn view(model: &Model) -> CompareView {
    let heading = format!(
        "SSH packets of {}, {}: GB/s",
        words::size(model.bytes),
        doing(model.direction)
    );
    let Some(other) = &model.other else {
        return CompareView {
            heading,
            hosts: Vec::new(),
            rows: Vec::new(),
            empty: Some(
                "Nothing to compare with yet: press o and name a report that was saved with s, \
                 or with advisor --save."
                    .to_owned(),
            ),
        };
    };
    let rows = rows(model, &other.report);
    let empty = rows
        .is_empty()
        .then(|| "Neither has numbers for this packet size and direction.".to_owned());
    CompareView {
        heading,
        hosts: hosts(model, other),
        rows,
        empty,
    }
}

fn hosts(model: &Model, other: &Other) -> Vec<String> {
    let about = |report: &Report| words::processor(&report.host, &report.cpu);
    let here = model.document.as_ref();
    let here = here.map_or_else(String::new, |it| about(&it.report));
    let hosts = [
        format!("here   {here}"),
        format!(
            "there  {}: {} ({})",
            other.name,
            about(&other.report),
            other.report.host.name
        ),
    ];
    hosts.map(|it| shown(&it)).into()
}

fn rows(model: &Model, other: &Report) -> Vec<CompareRow> {
    let looked_at =
        |cell: &&Measurement| cell.bytes == model.bytes && cell.direction == model.direction;
    let ours: Vec<&Measurement> = model.cells().iter().filter(looked_at).collect();
    let theirs: Vec<&Measurement> = other.measurements.iter().filter(looked_at).collect();
    let same = |a: &Measurement, b: &Measurement| {
        (&a.cipher, &a.mac, a.provider) == (&b.cipher, &b.mac, b.provider)
    };
    let mut pairs: Vec<(Option<&Measurement>, Option<&Measurement>)> = ours
        .iter()
        .map(|&cell| (Some(cell), theirs.iter().copied().find(|it| same(it, cell))))
        .collect();
    let missing = theirs
        .iter()
        .filter(|it| !ours.iter().any(|cell| same(it, cell)));
    pairs.extend(missing.map(|&it| (None, Some(it))));
    let leading = |pair: &(Option<&Measurement>, Option<&Measurement>)| pair.0.or(pair.1).cloned();
    let cells: Vec<Measurement> = pairs.iter().filter_map(leading).collect();
    let order = cell_order(&cells);
    let rows = order
        .into_iter()
        .map(|index| row(pairs[index], &cells[index]));
    rows.filter(|row| model.passes(Screen::Compare, &row.text()))
        .collect()
}

fn row(
    (here, there): (Option<&Measurement>, Option<&Measurement>),
    of: &Measurement,
) -> CompareRow {
    let number = |cell: Option<&Measurement>| {
        cell.map_or_else(
            || "–".to_owned(),
            |it| with_spread(it.gb_per_s, it.ci95, has_enough_rounds(it)),
        )
    };
    let both = here.zip(there);
    CompareRow {
        cipher: shown(&words::title(&of.cipher, of.mac.as_deref())),
        provider: of.provider,
        here: number(here),
        there: number(there),
        ratio: both.map_or_else(String::new, |(a, b)| {
            format!("{:.2} ×", a.gb_per_s / b.gb_per_s)
        }),
        judgement: both.map_or("", |(a, b)| match compare(a.ci95, b.ci95, 0.0) {
            Comparison::Faster => "faster",
            Comparison::Slower => "slower",
            Comparison::NoDifference => "the same within ±",
        }),
    }
}
