//! The Advice screen: today's order beside the recommended one, the reasons, the change.
#![forbid(unsafe_code)]

use advisor::output::{AdviceRecord, Change, Document, PlaceSpeed, RecommendationRecord, words};
use advisor::resolver::Side;

use super::Model;
use super::numbers::with_spread;

/// A line of the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum AdviceItem {
    /// A side, or what would be written, begins.
    Heading(String),
    /// A sentence.
    Sentence(String),
    /// One place of a list, today and as recommended.
    Place {
        /// From 1.
        position: usize,
        /// Who stands there today.
        today: String,
        /// Who should.
        recommended: String,
        /// Whether those differ.
        changes: bool,
        /// The recommended one's speed in GB/s with ±; empty where it has none.
        speed: String,
        /// Why it stands there.
        reason: String,
    },
    /// A line of the diff that would be written.
    Diff(DiffLine, String),
    /// The command that writes it.
    Command(&'static str),
}

/// What a line of a unified diff does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// `---`, `+++`, `@@`.
    Header,
    /// Added.
    Added,
    /// Removed.
    Removed,
    /// Unchanged.
    Context,
}

/// The screen for what the model knows.
#[must_use]
pub fn view(model: &Model) -> Vec<AdviceItem> {
    let advised = model.document.as_deref().zip(
        model
            .document
            .as_ref()
            .and_then(|it| it.recommendation.as_ref()),
    );
    let Some((document, recommendation)) = advised.filter(|_| model.report().is_some()) else {
        return vec![AdviceItem::Sentence(waiting(model).to_owned())];
    };
    let mut items = vec![AdviceItem::Sentence(words::basis(recommendation))];
    for side in [Side::Client, Side::Server] {
        items.extend(one_side(document, recommendation, side));
    }
    items.extend(written(document));
    items
}

const fn waiting(model: &Model) -> &'static str {
    if model.is_measuring() {
        "The advice comes when the numbers are in."
    } else {
        "Advice needs numbers: press m to measure."
    }
}

fn one_side(
    document: &Document,
    recommendation: &RecommendationRecord,
    side: Side,
) -> Vec<AdviceItem> {
    let (Some(advice), Some(today)) = (document.advice(side), document.configuration.side(side))
    else {
        return Vec::new();
    };
    let mut items = vec![AdviceItem::Heading(title(side, advice))];
    let places = (0..advice.order.len()).map(|index| place(advice, &today.effective, index));
    items.extend(places);
    let tied = advice.ties.iter().map(|group| words::tied(group));
    // Only the client's order changes what is negotiated.
    let gain = words::gain(recommendation, advice).filter(|_| side == Side::Client);
    let sentences = gain.into_iter().chain(tied).chain(advice.limits.clone());
    items.extend(sentences.map(AdviceItem::Sentence));
    items
}

fn title(side: Side, advice: &AdviceRecord) -> String {
    let what = match (advice.differs, side) {
        (false, _) => "stays as it is",
        (true, Side::Client) => "a better order",
        (true, Side::Server) => "a better order, without effect by itself",
    };
    format!("{}: {what}", words::side(side))
}

fn place(advice: &AdviceRecord, today: &[String], index: usize) -> AdviceItem {
    let recommended = &advice.order[index];
    let there = today.get(index).map_or("", String::as_str);
    let speed = |it: &PlaceSpeed| format!("{} GB/s", with_spread(it.gb_per_s, it.ci95, true));
    let speeds = advice.speeds.get(index).and_then(Option::as_ref);
    AdviceItem::Place {
        position: index + 1,
        today: words::short(there).to_owned(),
        recommended: words::short(recommended).to_owned(),
        changes: there != recommended,
        speed: speeds.map_or_else(String::new, speed),
        reason: advice.reasons.get(index).cloned().unwrap_or_default(),
    }
}

/// What `advisor --apply` would write, and how it is called.
fn written(document: &Document) -> Vec<AdviceItem> {
    if document.changes.is_empty() {
        return vec![AdviceItem::Heading("Nothing to write.".to_owned())];
    }
    let mut items = Vec::new();
    for change in &document.changes {
        let file = change.file.display();
        items.push(AdviceItem::Heading(format!("{file} would become")));
        items.push(AdviceItem::Sentence(change.strategy.clone()));
        let lines = change.diff.lines();
        items.extend(lines.map(|line| AdviceItem::Diff(diff_line(line), line.to_owned())));
    }
    items.push(AdviceItem::Heading("This writes it".to_owned()));
    items.push(AdviceItem::Command("advisor --apply"));
    items.push(AdviceItem::Sentence(
        "It keeps the old bytes; `advisor --rollback` puts them back.".to_owned(),
    ));
    if !document.changes.iter().any(is_for_everybody) {
        items.push(AdviceItem::Sentence(
            "For every user of this machine instead: sudo advisor --apply".to_owned(),
        ));
    }
    items
}

fn is_for_everybody(change: &Change) -> bool {
    change.file.starts_with("/etc")
}

fn diff_line(line: &str) -> DiffLine {
    match line.as_bytes() {
        [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] | [b'@', ..] => DiffLine::Header,
        [b'+', ..] => DiffLine::Added,
        [b'-', ..] => DiffLine::Removed,
        _ => DiffLine::Context,
    }
}
