//! The document as GitHub-flavoured Markdown, to paste into a ticket.
#![forbid(unsafe_code)]

use std::fmt::Write;

use super::carried;
use super::entropy;
use super::is_deceptive;
use super::table::{self, Content};
use super::words;
use super::{AdviceRecord, Document, HistoryRecord, RecommendationRecord, View};
use crate::resolver::{Severity, Side};

/// The parts of the document that a command is about.
#[must_use]
pub fn markdown(document: &Document, view: View) -> String {
    let mut out = String::new();
    let out = &mut out;
    let is = |views: &[View]| views.contains(&view);
    if is(&[View::Whole, View::Check]) {
        paragraph(out, &format!("**{}**", cell(&words::verdict(document))));
    }
    if let Some(origin) = words::origin(document).filter(|_| !is(&[View::Rollback, View::History]))
    {
        paragraph(out, &cell(&origin));
    }
    if is(&[View::Whole, View::Measure, View::Doctor]) {
        machine(out, document);
    }
    if is(&[View::Whole, View::Measure, View::Transfer]) {
        transfers(out, document);
    }
    if is(&[View::Whole, View::Measure]) {
        speeds(out, document);
    }
    if is(&[View::Whole, View::Measure, View::Transfer]) {
        list(out, document.report.warnings.iter().cloned());
    }
    if is(&[View::Whole, View::Explain, View::Doctor]) {
        configuration(out, document, view);
    }
    if is(&[View::Whole, View::Check]) {
        recommendation(out, document);
    }
    if is(&[View::Whole, View::Explain, View::Doctor]) {
        findings(out, document, view);
    }
    if is(&[View::Entropy]) {
        random_bytes(out, document);
    }
    if is(&[View::Whole, View::Check, View::Rollback]) {
        changes(out, document, view);
    }
    if is(&[View::History]) {
        paragraph(out, "## Changes, oldest first");
        list(out, document.history.iter().map(HistoryRecord::line));
        paragraph(out, words::put_back_by(document));
    }
    std::mem::take(out)
}

fn random_bytes(out: &mut String, document: &Document) {
    let report = &document.report;
    for (title, rows) in [
        (
            "## Random bytes, ns a request",
            entropy::table(report, entropy::nanoseconds),
        ),
        (
            "## Random bytes, MB/s",
            entropy::table(report, entropy::speed),
        ),
    ] {
        paragraph(out, title);
        for (index, cells) in rows.iter().enumerate() {
            if index == 0 {
                let names: Vec<&str> = cells.iter().map(String::as_str).collect();
                head(out, &names, 1);
            } else {
                row(out, cells);
            }
        }
    }
}

fn paragraph(out: &mut String, text: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
    out.push('\n');
}

/// Text from anywhere that must not end a cell or start a tag, a line or an escape sequence.
fn cell(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '<' | '`' | '*' | '\\' => safe.extend(['\\', c]),
            c if is_deceptive(c) => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

fn row(out: &mut String, cells: &[String]) {
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// The head of a table: the first `left` columns hold names, the others numbers, right-aligned, but for
/// a last one of reasons.
fn head(out: &mut String, names: &[&str], left: usize) {
    out.push('\n');
    row(
        out,
        &names.iter().map(|&name| cell(name)).collect::<Vec<_>>(),
    );
    let rules = names.iter().enumerate().map(|(index, &name)| {
        let is_words = index < left || name == "why";
        if is_words { "---" } else { "--:" }.to_owned()
    });
    row(out, &rules.collect::<Vec<_>>());
}

fn machine(out: &mut String, document: &Document) {
    let (host, cpu, found) = (
        &document.report.host,
        &document.report.cpu,
        &document.report.openssh,
    );
    paragraph(out, "## Machine");
    let library = found.libcrypto.as_ref();
    let library = library.map_or("not found".to_owned(), |it| {
        format!("{} ({})", it.version, it.name)
    });
    let client = words::program(found.client.as_ref(), "openssh-client");
    let server = words::program(found.server.as_ref(), "openssh-server");
    out.push('\n');
    for (name, text) in [
        ("Processor", words::processor(host, cpu)),
        ("System", words::details(host, cpu)),
        ("ssh", client),
        ("sshd", server),
        ("libcrypto", library),
    ] {
        let _ = writeln!(out, "- {name}: {}", cell(&text));
    }
    head(out, &["instruction set", "state", "used for"], 3);
    for (name, &state) in &cpu.features {
        let cells = [
            cell(name),
            words::state(state).to_owned(),
            cell(words::used_for(name)),
        ];
        row(out, &cells);
    }
}

fn transfers(out: &mut String, document: &Document) {
    let groups = carried::groups(&document.report);
    for group in &groups {
        paragraph(out, &format!("## {}", cell(&group.title)));
        let names = [
            "cipher",
            "way",
            "MB/s",
            "client CPU",
            "server CPU",
            "runs",
            "GB/s",
        ];
        head(out, &names, 2);
        for cipher in &group.ciphers {
            for line in &cipher.rows {
                let cells = [
                    cell(&cipher.title),
                    line.way.to_owned(),
                    line.mb_per_s.clone(),
                    line.client.clone(),
                    line.server.clone(),
                    line.rounds.clone(),
                    cipher.speed.clone().unwrap_or("-".to_owned()),
                ];
                row(out, &cells);
            }
        }
        for note in &group.notes {
            paragraph(out, note);
        }
        paragraph(out, carried::LEGEND);
    }
    let missing = &document.report.unavailable_transfers;
    if groups.is_empty() && !missing.is_empty() {
        paragraph(out, "## Transfers");
    }
    list(out, missing.iter().map(words::not_carried));
}

fn speeds(out: &mut String, document: &Document) {
    let blocks = table::blocks(&document.report);
    if !blocks.is_empty() {
        paragraph(
            out,
            "## SSH packets, GB/s, ± half the 95 % interval in percent",
        );
        let sizes = table::sizes(&document.report);
        let columns: Vec<String> = sizes
            .iter()
            .flat_map(|&size| ["seal", "open"].map(|way| format!("{way} {}", words::size(size))))
            .collect();
        let mut names = vec!["cipher", "provider", "by"];
        names.extend(columns.iter().map(String::as_str));
        head(out, &names, 3);
        for block in &blocks {
            for line in &block.rows {
                let mut cells = vec![cell(&block.title), line.provider.name().to_owned()];
                match &line.content {
                    Content::Speeds(worker, speeds) => {
                        cells.push(cell(worker));
                        cells.extend(speeds.iter().flatten().map(|it| cell(it)));
                    }
                    Content::Reason(reason) => {
                        cells.push(cell(reason));
                        cells.extend(columns.iter().map(|_| "-".to_owned()));
                    }
                }
                row(out, &cells);
            }
        }
        paragraph(
            out,
            "A star marks fewer than 3 rounds, which are no evidence.",
        );
    }
}

fn list(out: &mut String, items: impl Iterator<Item = String>) {
    for (index, item) in items.enumerate() {
        if index == 0 {
            out.push('\n');
        }
        let _ = writeln!(out, "- {}", cell(&item));
    }
}

fn configuration(out: &mut String, document: &Document, view: View) {
    paragraph(out, &format!("## {}", cell(&words::in_force(document))));
    for side in [Side::Client, Side::Server] {
        let name = words::side(side);
        let Some(configuration) = document.configuration.side(side) else {
            paragraph(
                out,
                &format!("{name}: could not be read; see the findings."),
            );
            continue;
        };
        let source = cell(&words::source(configuration));
        paragraph(out, &format!("{name}: {source}"));
        fenced(out, "", &configuration.effective.join("\n"));
        if view == View::Explain {
            list(
                out,
                configuration.considered.iter().map(|line| {
                    let place = line.place();
                    format!("{place}: Ciphers {}: {}", line.value, line.outcome)
                }),
            );
        }
    }
}

fn recommendation(out: &mut String, document: &Document) {
    let Some(recommendation) = &document.recommendation else {
        return;
    };
    paragraph(out, "## Recommendation");
    paragraph(out, &cell(&words::basis(recommendation)));
    paragraph(out, words::columns(recommendation));
    for side in [Side::Client, Side::Server] {
        let today = document.configuration.side(side);
        if today.is_some_and(|it| it.refused().is_some()) {
            continue;
        }
        if let Some(advice) = document.advice(side) {
            advice_table(out, words::side(side), recommendation, advice);
        }
    }
}

fn advice_table(
    out: &mut String,
    side: &str,
    recommendation: &RecommendationRecord,
    advice: &AdviceRecord,
) {
    head(out, &["place", side, "GB/s", "MB/s", "why"], 2);
    for (place, name) in advice.order.iter().enumerate() {
        let speed = advice.speeds.get(place).and_then(Option::as_ref);
        let (gb, mb) = speed.map_or(("-".to_owned(), "-".to_owned()), |it| {
            (words::speed(it.gb_per_s), format!("{:.0}", it.mb_per_s()))
        });
        let reason = advice.reasons.get(place).map_or("", String::as_str);
        row(
            out,
            &[(place + 1).to_string(), cell(name), gb, mb, cell(reason)],
        );
    }
    let gain = words::gain(recommendation, advice);
    let ties = advice.ties.iter().map(|group| words::tied(group));
    let sentences = gain.into_iter().chain(ties);
    list(out, sentences.chain(advice.limits.iter().cloned()));
}

fn findings(out: &mut String, document: &Document, view: View) {
    let findings = words::findings(document, view);
    if findings.is_empty() {
        return;
    }
    paragraph(out, "## Findings");
    list(
        out,
        findings.iter().map(|finding| {
            let word = match finding.severity {
                Severity::Error => "Error",
                Severity::Warning => "Warning",
                Severity::Info => "Info",
            };
            format!(
                "{word}: {} ({}). Cure: {}",
                finding.what, finding.evidence, finding.cure
            )
        }),
    );
}

fn changes(out: &mut String, document: &Document, view: View) {
    paragraph(out, "## Change");
    for change in &document.changes {
        paragraph(out, &cell(&change.strategy));
        fenced(out, "diff", &change.diff);
        if let Some(backup) = &change.backup {
            paragraph(out, &cell(&words::kept(view, backup)));
        }
    }
    if let Some(sentence) = &document.reloaded {
        paragraph(out, &cell(sentence));
    }
    for why in words::will_not_write(document) {
        paragraph(out, &cell(&why));
    }
    paragraph(out, &words::outcome(document, view));
}

/// A code block whose fence is longer than any run of backticks inside.
fn fenced(out: &mut String, language: &str, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let text: String = text
        .chars()
        .map(|c| {
            if is_deceptive(c) && c != '\n' && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect();
    paragraph(
        out,
        &format!(
            "{fence}{language}\n{}\n{fence}",
            text.trim_end_matches('\n')
        ),
    );
}
