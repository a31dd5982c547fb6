//! The table of speeds, before any format gives it a face.
#![forbid(unsafe_code)]

use engine::algorithm::Cipher;
use engine::measure::ENOUGH_ROUNDS;
use engine::report::{Direction, Measurement, ProviderName, Report};

use super::words;

/// The packet sizes shown, where measured. CSV and JSON have all.
const SIZES: [usize; 3] = [32 * 1024, 1024, 64];

/// One cipher (with its MAC) and what each provider does with it.
pub(super) struct Block {
    pub(super) title: String,
    pub(super) rows: Vec<Row>,
}

/// One provider.
pub(super) struct Row {
    pub(super) provider: ProviderName,
    pub(super) content: Content,
}

pub(super) enum Content {
    /// What did the work, and for every size: sealing, opening.
    Speeds(String, Vec<[String; 2]>),
    /// Why there is nothing.
    Reason(String),
}

/// The sizes that some cell has.
pub(super) fn sizes(report: &Report) -> Vec<usize> {
    let measured = |&size: &usize| report.measurements.iter().any(|cell| cell.bytes == size);
    SIZES.into_iter().filter(measured).collect()
}

/// All blocks, the fastest as ssh does it first.
pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut keys: Vec<Key<'_>> = Vec::new();
    let measured = report.measurements.iter();
    let absent = report.unavailable.iter();
    let all = measured
        .map(|cell| (cell.cipher.as_str(), cell.mac.as_deref()))
        .chain(absent.map(|cell| (cell.cipher.as_str(), cell.mac.as_deref())));
    for key in all {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.sort_by(|a, b| {
        let speeds = rank(report, *b).total_cmp(&rank(report, *a));
        speeds.then(place(a.0).cmp(&place(b.0))).then(a.cmp(b))
    });
    let sizes = sizes(report);
    keys.into_iter()
        .map(|key| block(report, key, &sizes))
        .collect()
}

type Key<'a> = (&'a str, Option<&'a str>);

/// The slower direction at the largest size, as ssh does it; 0 without numbers.
fn rank(report: &Report, key: Key<'_>) -> f64 {
    let cell = |direction| cell(report, key, ProviderName::OpenSsh, SIZES[0], direction);
    match (cell(Direction::Seal), cell(Direction::Open)) {
        (Some(seal), Some(open)) => seal.gb_per_s.min(open.gb_per_s),
        _ => 0.0,
    }
}

fn place(cipher: &str) -> usize {
    let known = Cipher::ALL.iter();
    known.clone().take_while(|it| it.name() != cipher).count()
}

fn block(report: &Report, key: Key<'_>, sizes: &[usize]) -> Block {
    let providers = [
        ProviderName::OpenSsh,
        ProviderName::Native,
        ProviderName::RustCrypto,
        ProviderName::Libcrypto,
    ];
    let rows = providers
        .into_iter()
        .filter_map(|provider| row(report, key, provider, sizes));
    Block {
        title: words::title(key.0, key.1),
        rows: rows.collect(),
    }
}

fn row(report: &Report, key: Key<'_>, provider: ProviderName, sizes: &[usize]) -> Option<Row> {
    let worker = report
        .measurements
        .iter()
        .find(|cell| is_of(cell, key, provider));
    let content = match worker {
        Some(worker) => {
            let speeds = sizes.iter().map(|&size| {
                [Direction::Seal, Direction::Open].map(|direction| {
                    cell(report, key, provider, size, direction).map_or("-".to_owned(), number)
                })
            });
            Content::Speeds(worker.kernel.clone(), speeds.collect())
        }
        None => Content::Reason(
            report
                .unavailable
                .iter()
                .find(|it| {
                    (it.cipher.as_str(), it.mac.as_deref()) == key && it.provider == provider
                })?
                .reason
                .clone(),
        ),
    };
    Some(Row { provider, content })
}

fn cell<'a>(
    report: &'a Report,
    key: Key<'_>,
    provider: ProviderName,
    size: usize,
    direction: Direction,
) -> Option<&'a Measurement> {
    report.measurements.iter().find(|cell| {
        is_of(cell, key, provider) && cell.bytes == size && cell.direction == direction
    })
}

fn is_of(cell: &Measurement, key: Key<'_>, provider: ProviderName) -> bool {
    (cell.cipher.as_str(), cell.mac.as_deref()) == key && cell.provider == provider && !cell.batched
}

/// Median, half width of the interval in percent, and a mark for too few rounds.
fn number(cell: &Measurement) -> String {
    let [low, high] = cell.ci95;
    let half = (high - cell.gb_per_s).max(cell.gb_per_s - low);
    let percent = (half / cell.gb_per_s * 100.0).ceil().clamp(0.0, 99.0);
    let mark = if cell.rounds < ENOUGH_ROUNDS { "*" } else { "" };
    format!("{}±{percent:.0}{mark}", words::speed(cell.gb_per_s))
}
