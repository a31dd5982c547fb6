//! The Overview screen: one sentence, then what it rests on, then what to do.
#![forbid(unsafe_code)]

use advisor::diagnosis::Finding;
use advisor::output::{Document, verdict, words};
use advisor::recommendation::Evidence;
use advisor::resolver::{Severity, Side};
use engine::cpu::Feature;
use engine::report::{FeatureState, Report};

use super::commands::Action;
use super::shown::{show, shown};
use super::{Model, Screen};

/// The screen.
#[derive(Clone, Debug, PartialEq)]
pub struct OverviewView {
    /// Its lines.
    pub items: Vec<OverviewItem>,
    /// The instruction sets, for faces that explain each.
    pub features: Vec<FeatureFact>,
}

/// A line of the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum OverviewItem {
    /// The answer, in one sentence.
    Verdict(String),
    /// A fact with its label; an empty label continues the fact above.
    Fact {
        /// What it is about.
        label: &'static str,
        /// The fact.
        text: String,
        /// The screen that says more.
        more: Option<Screen>,
    },
    /// Findings follow.
    Findings(String),
    /// Something found.
    Finding {
        /// How bad it is.
        severity: Severity,
        /// What, and how it shows.
        what: String,
        /// What to do about it.
        cure: String,
        /// The screen that says more.
        more: Option<Screen>,
    },
}

impl OverviewItem {
    /// Its words.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Verdict(text) | Self::Findings(text) => text.clone(),
            Self::Fact { label, text, .. } => format!("{label} {text}").trim_start().to_owned(),
            Self::Finding {
                severity,
                what,
                cure,
                ..
            } => format!("{}: {what}; {cure}", severity_word(*severity)),
        }
    }

    fn show(&mut self) {
        match self {
            Self::Verdict(text) | Self::Findings(text) | Self::Fact { text, .. } => show(text),
            Self::Finding { what, cure, .. } => {
                show(what);
                show(cure);
            }
        }
    }

    /// What Enter does on it.
    #[must_use]
    pub fn leads_to(&self) -> Option<Action> {
        let screen = match self {
            Self::Verdict(_) => Some(Screen::Advice),
            Self::Fact { more, .. } | Self::Finding { more, .. } => *more,
            Self::Findings(_) => None,
        };
        screen.map(Action::Show)
    }
}

/// One instruction set.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureFact {
    /// Its name.
    pub name: String,
    /// Whether it can be used.
    pub state: FeatureState,
    /// What ciphers use it for.
    pub used_for: &'static str,
}

/// The screen for what the model knows.
#[must_use]
pub fn view(model: &Model) -> OverviewView {
    let mut items = vec![OverviewItem::Verdict(answer(model))];
    let document = model.document.as_deref();
    if let Some(document) = document {
        let report = &document.report;
        items.extend(processor(report));
        items.extend(programs(report));
        items.extend(lists(document));
        items.extend(evidence(document));
        let warnings = report.warnings.iter();
        items.extend(warnings.map(|it| fact("Numbers", it, Some(Screen::Measure))));
        items.extend(findings(&document.findings));
    }
    items.iter_mut().for_each(OverviewItem::show);
    // The answer is never filtered away.
    items.retain(|item| {
        matches!(item, OverviewItem::Verdict(_)) || model.passes(Screen::Overview, &item.text())
    });
    OverviewView {
        items,
        features: document.map_or_else(Vec::new, |it| features(&it.report)),
    }
}

/// A severity in one word: never by colour alone.
#[must_use]
pub const fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn answer(model: &Model) -> String {
    match model.document.as_deref() {
        Some(document) if model.report().is_some() => verdict(document),
        _ if model.is_measuring() => {
            "Measuring what this machine makes of every cipher …".to_owned()
        }
        _ => "Nothing is measured yet: press m.".to_owned(),
    }
}

fn fact(label: &'static str, text: impl Into<String>, more: Option<Screen>) -> OverviewItem {
    OverviewItem::Fact {
        label,
        text: text.into(),
        more,
    }
}

fn processor(report: &Report) -> Vec<OverviewItem> {
    let mut items = vec![fact(
        "Processor",
        words::processor(&report.host, &report.cpu),
        Some(Screen::Measure),
    )];
    let features = features(report);
    for state in [
        FeatureState::Present,
        FeatureState::Disabled,
        FeatureState::Absent,
    ] {
        let names: Vec<_> = features
            .iter()
            .filter(|feature| feature.state == state)
            .map(|feature| feature.name.as_str())
            .collect();
        if !names.is_empty() {
            let text = format!("{}: {}", words::state(state), names.join(" "));
            items.push(fact("", text, None));
        }
    }
    items
}

/// In the order in which [`Feature::ALL`] lists them, what this program does not know at the end.
fn features(report: &Report) -> Vec<FeatureFact> {
    let place = |name: &str| Feature::ALL.iter().position(|it| it.name() == name);
    let features = report.cpu.features.iter();
    let mut facts: Vec<_> = features
        .map(|(name, &state)| FeatureFact {
            name: shown(name),
            state,
            used_for: words::used_for(name),
        })
        .collect();
    facts.sort_by_key(|fact| place(&fact.name).unwrap_or(usize::MAX));
    facts
}

fn programs(report: &Report) -> [OverviewItem; 3] {
    let openssh = &report.openssh;
    let library = openssh.libcrypto.as_ref();
    let library = library.map_or_else(
        || "not found".to_owned(),
        |it| format!("{} ({})", it.version, it.name),
    );
    let client = words::program(openssh.client.as_ref(), "openssh-client");
    let server = words::program(openssh.server.as_ref(), "openssh-server");
    [
        fact("ssh", client, None),
        fact("sshd", server, None),
        fact("libcrypto", library, Some(Screen::Measure)),
    ]
}

fn lists(document: &Document) -> impl Iterator<Item = OverviewItem> {
    let sides = [("Client list", Side::Client), ("Server list", Side::Server)];
    sides.into_iter().filter_map(|(label, side)| {
        let source = words::source(document.configuration.side(side)?);
        Some(fact(label, source, Some(Screen::Configuration)))
    })
}

/// What the answer rests on, and whose numbers that are where they are not this run's.
fn evidence(document: &Document) -> impl Iterator<Item = OverviewItem> {
    let measured =
        !document.report.measurements.is_empty() || !document.report.transfers.is_empty();
    let recommendation = document.recommendation.as_ref().filter(|_| measured);
    let basis = recommendation.and_then(|it| {
        Some(format!(
            "{}; policy {}, threshold {:.0} %",
            match it.evidence? {
                Evidence::Transfer => "real transfers",
                Evidence::Packet => "packets, as the installed OpenSSH does them",
                Evidence::Native => "packets, with this program's own kernels",
            },
            it.policy,
            it.threshold * 100.0
        ))
    });
    let texts = basis.into_iter().chain(words::origin(document));
    texts.map(|text| fact("Evidence", text, Some(Screen::Advice)))
}

fn findings(findings: &[Finding]) -> Vec<OverviewItem> {
    if findings.is_empty() {
        return Vec::new();
    }
    let mut items = vec![OverviewItem::Findings(format!(
        "Findings ({})",
        findings.len()
    ))];
    items.extend(findings.iter().map(finding));
    items
}

fn finding(finding: &Finding) -> OverviewItem {
    let place = match (&finding.file, finding.line) {
        (Some(file), Some(line)) => format!("{}:{line}", file.display()),
        (Some(file), None) => file.display().to_string(),
        (None, _) => String::new(),
    };
    // Of a finding about a line the evidence is the line, with its column.
    let evidence = match finding.evidence.as_str() {
        "" => String::new(),
        evidence if !place.is_empty() && evidence.starts_with(&place) => String::new(),
        evidence => format!(" ({evidence})"),
    };
    let place = match place.as_str() {
        "" => place,
        _ => format!("{place}: "),
    };
    OverviewItem::Finding {
        severity: finding.severity,
        what: format!("{place}{}{evidence}", finding.what),
        cure: finding.cure.clone(),
        more: finding.file.as_ref().map(|_| Screen::Configuration),
    }
}
