//! The table of random bytes: a row a source, a column a size.
#![forbid(unsafe_code)]

use engine::report::{Entropy, Report};

use super::words;

/// The head and the rows, both with a name first: nanoseconds a request, or megabytes a second.
pub(super) fn table(report: &Report, shown: impl Fn(&Entropy) -> String) -> Vec<Vec<String>> {
    let mut sizes: Vec<usize> = report.entropy.iter().map(|cell| cell.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut names: Vec<&str> = report
        .entropy
        .iter()
        .map(|cell| cell.source.as_str())
        .collect();
    names.dedup();
    let head = std::iter::once(String::new()).chain(sizes.iter().map(|&size| words::size(size)));
    let mut rows = vec![head.collect::<Vec<_>>()];
    for name in names {
        let cell = |&size: &usize| {
            let mut cells = report.entropy.iter();
            let cell = cells.find(|cell| cell.source == name && cell.bytes == size);
            cell.map_or("-".to_owned(), &shown)
        };
        let cells = std::iter::once(name.to_owned()).chain(sizes.iter().map(cell));
        rows.push(cells.collect());
    }
    rows
}

/// `214±3`: nanoseconds a request, and half its interval in percent.
pub(super) fn nanoseconds(cell: &Entropy) -> String {
    let half = (cell.ci95[1] - cell.ci95[0]) / 2.0 / cell.ns_per_request;
    format!(
        "{:.0}±{:.0}",
        cell.ns_per_request,
        (half * 100.0).ceil().min(99.0)
    )
}

/// Megabytes a second.
pub(super) fn speed(cell: &Entropy) -> String {
    format!("{:.0}", cell.mb_per_s)
}
