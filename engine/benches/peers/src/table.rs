//! The figures as CSV and as Markdown tables.
#![forbid(unsafe_code)]

use std::fmt::Write;

use crate::contest::Figure;

/// All sizes of one work.
pub struct Table {
    pub work: &'static str,
    pub cells: Vec<(usize, Vec<Figure>)>,
}

impl Table {
    /// One line a figure; the head is [`CSV_HEAD`].
    pub fn csv(&self) -> String {
        let mut text = String::new();
        for (size, figures) in &self.cells {
            for figure in figures {
                let Figure {
                    name,
                    nanoseconds,
                    spread,
                    cycles,
                } = figure;
                let (rate, per_byte) = (*size as f64 / nanoseconds, cycles / *size as f64);
                let _ = writeln!(
                    text,
                    "{},{size},{name},{nanoseconds:.2},{rate:.3},{per_byte:.4},{spread:.2}",
                    self.work
                );
            }
        }
        text
    }

    /// GB/s of everybody, and how many times the best peer's speed we have. Cells lost by more than
    /// the 3 % within which figures tie are bold.
    pub fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n| GB/s |", self.work);
        for (size, _) in &self.cells {
            let _ = write!(text, " {size} |");
        }
        text.push_str("\n|---|");
        text.push_str(&"--:|".repeat(self.cells.len()));
        text.push('\n');
        let contestants = self.cells.first().map_or(0, |(_, figures)| figures.len());
        for at in 0..contestants {
            let _ = write!(text, "| {} |", self.cells[0].1[at].name);
            for (size, figures) in &self.cells {
                let _ = write!(text, " {:.2} |", *size as f64 / figures[at].nanoseconds);
            }
            text.push('\n');
        }
        text.push_str("| own cycles/byte |");
        for (size, figures) in &self.cells {
            let _ = write!(text, " {:.3} |", figures[0].cycles / *size as f64);
        }
        text.push_str("\n| own ÷ best peer |");
        for (_, figures) in &self.cells {
            let ratio = ratio(figures);
            let mark = if ratio < 0.97 { "**" } else { "" };
            let _ = write!(text, " {mark}{ratio:.2}{mark} |");
        }
        text.push_str("\n\n");
        text
    }
}

/// The first line of the CSV.
pub const CSV_HEAD: &str =
    "work,bytes,contestant,ns_per_message,gb_per_s,cycles_per_byte,mad_percent\n";

/// How many times the best peer's speed our best row has.
fn ratio(figures: &[Figure]) -> f64 {
    let peers = figures
        .iter()
        .filter(|figure| !figure.name.starts_with("own"));
    let best = peers
        .map(|figure| figure.nanoseconds)
        .fold(f64::INFINITY, f64::min);
    best / figures[0].nanoseconds
}
