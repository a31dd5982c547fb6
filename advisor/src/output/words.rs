//! Sentences and names that several formats share.
#![forbid(unsafe_code)]

use std::path::Path;

use engine::algorithm::Mac;
use engine::report::{Cpu, FeatureState, Host, Program, UnavailableTransfer};
use engine::transfer::Implementation;

use super::document::place;
use super::{
    AdviceRecord, Commands, Document, RecommendationRecord, SideConfiguration, SourceRecord, View,
};
use crate::apply::civil;
use crate::diagnosis::{DISTURBANCES, Finding};
use crate::recommendation::Evidence;
use crate::resolver::Side;

/// The whole document in one sentence.
#[must_use]
pub fn verdict(document: &Document) -> String {
    if let Some(refused) = refused(document) {
        return refused;
    }
    let lead = document.lead();
    let (Some(recommendation), Some(today)) =
        (&document.recommendation, document.configuration.side(lead))
    else {
        return "Nothing was compared with a configuration.".to_owned();
    };
    let (Some(advice), Some(first)) = (document.advice(lead), today.effective.first()) else {
        return format!("{} would offer no cipher at all.", binary(lead));
    };
    if recommendation.evidence.is_none() {
        return "Nothing was measured well enough to compare, so today's order stands.".to_owned();
    }
    if document.changed {
        return written(document, advice);
    }
    let sentence = by_policy(advice, lead).unwrap_or_else(|| match lead {
        Side::Client => compared(advice, first),
        Side::Server => compared_server(advice, first),
    });
    match recommendation.evidence {
        Some(Evidence::Native) => format!("By this program's own kernels only: {sentence}"),
        _ => sentence,
    }
}

/// A program that does not start needs its file put right, not another order.
fn refused(document: &Document) -> Option<String> {
    document.sides.iter().find_map(|&side| {
        let why = document.configuration.side(side)?.refused()?;
        Some(format!(
            "{} refuses this configuration: {why}.",
            binary(side)
        ))
    })
}

const fn binary(side: Side) -> &'static str {
    match side {
        Side::Client => "ssh",
        Side::Server => "sshd",
    }
}

fn written(document: &Document, advice: &AdviceRecord) -> String {
    let client = document.changes.iter().any(|it| it.side == Side::Client);
    match (client, advice.order.first(), advice.gain) {
        (true, Some(best), Some(gain)) if gain > 1.05 => format!(
            "Written: ssh now prefers {}, which moves {gain:.1} × the data here.",
            short(best)
        ),
        (true, Some(best), _) => format!("Written: ssh now prefers {}.", short(best)),
        _ => "Written: sshd has the recommended order.".to_owned(),
    }
}

/// A list that a policy pins is judged by the policy, not by speed.
fn by_policy(advice: &AdviceRecord, lead: Side) -> Option<String> {
    let policy = advice.pinned.as_ref()?;
    let has = if advice.differs {
        "has another list than"
    } else {
        "keeps the list that"
    };
    let price = advice.price.filter(|price| *price > 1.05);
    let price = price.map_or_else(String::new, |price| {
        format!("; the fastest cipher would move {price:.1} × the data of its first")
    });
    Some(format!(
        "{} {has} policy {policy} pins{price}.",
        binary(lead)
    ))
}

fn compared(advice: &AdviceRecord, first: &str) -> String {
    let today = short(first);
    let best = advice.order.first().map_or(today, |name| short(name));
    let leaders = advice
        .ties
        .iter()
        .find(|group| group.iter().any(|name| short(name) == best));
    match (advice.differs, best == today, advice.gain) {
        (true, false, Some(gain)) => {
            format!("ssh prefers {today}; {best} would move {gain:.1} × the data here.")
        }
        (true, false, None) => format!("ssh prefers {today}; {best} should come first here."),
        (true, true, _) => {
            format!("ssh prefers {best}, rightly; the order below it is not the fastest.")
        }
        (false, ..) if leaders.is_some_and(|group| group.len() > 1) => {
            format!("ssh prefers {today}, and nothing is measurably faster here.")
        }
        (false, ..) => format!("ssh prefers {today}, the fastest here: nothing to change."),
    }
}

fn compared_server(advice: &AdviceRecord, first: &str) -> String {
    let today = short(first);
    let best = advice.order.first().map_or(today, |name| short(name));
    match (advice.differs, best == today) {
        (true, false) => format!(
            "sshd lists {today} first; by speed that is {best}. Each client's own order decides."
        ),
        (true, true) => {
            format!("sshd lists {best} first, rightly; the order below it is not the fastest.")
        }
        (false, _) => {
            format!(
                "sshd lists {today} first, and nothing is measurably faster: nothing to change."
            )
        }
    }
}

/// The findings a view shows. What disturbed the numbers stands right under them where they are shown.
#[must_use]
pub fn findings(document: &Document, view: View) -> Vec<&Finding> {
    let has_numbers = view == View::Whole && !document.report.measurements.is_empty();
    let is_said = |finding: &Finding| has_numbers && DISTURBANCES.contains(&finding.id.as_str());
    let findings = document.findings.iter();
    findings.filter(|finding| !is_said(finding)).collect()
}

/// Whose numbers these are, where they are not this run's.
#[must_use]
pub fn origin(document: &Document) -> Option<String> {
    let file = document.measurements_from.as_ref()?;
    let host = &document.report.host;
    let name = match host.name.as_str() {
        "" => "a host without a name",
        name => name,
    };
    let date = match host.measured_at {
        0 => "at an unknown time".to_owned(),
        seconds => {
            let (year, month, day) = civil(seconds / 86_400);
            format!("on {year:04}-{month:02}-{day:02}")
        }
    };
    Some(format!("Numbers from {file}, measured on {name} {date}."))
}

/// A cipher or MAC name without `@openssh.com`.
#[must_use]
pub fn short(name: &str) -> &str {
    name.strip_suffix("@openssh.com").unwrap_or(name)
}

/// A cipher with the MAC it was measured with.
#[must_use]
pub fn title(cipher: &str, mac: Option<&str>) -> String {
    let mac = mac.map(|name| name.parse::<Mac>().map_or(name, |_| short(name)));
    match mac {
        Some(mac) => format!("{} + {mac}", short(cipher)),
        None => short(cipher).to_owned(),
    }
}

/// `32 KiB`, `64 B`.
#[must_use]
pub fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        _ if bytes.is_multiple_of(1024) => format!("{} KiB", bytes / 1024),
        _ => format!("{bytes} B"),
    }
}

/// A speed with three significant digits.
#[must_use]
pub fn speed(gb_per_s: f64) -> String {
    match gb_per_s {
        10.0.. => format!("{gb_per_s:.1}"),
        1.0.. => format!("{gb_per_s:.2}"),
        _ => format!("{gb_per_s:.3}"),
    }
}

/// The processor and the machine around it.
#[must_use]
pub fn processor(host: &Host, cpu: &Cpu) -> String {
    let brand = if cpu.brand.is_empty() {
        host.architecture.as_str()
    } else {
        cpu.brand.as_str()
    };
    let guest = match &host.hypervisor {
        Some(name) => format!("guest of {name}"),
        None => "no hypervisor shows itself".to_owned(),
    };
    let count = match host.processors {
        1 => "1 processor".to_owned(),
        n => format!("{n} processors"),
    };
    format!("{brand}, {count}, {guest}")
}

/// What people compare machines by.
#[must_use]
pub fn details(host: &Host, cpu: &Cpu) -> String {
    let mut parts = vec![host.os.clone(), cpu.model.clone()];
    parts.extend(cpu.microcode.as_ref().map(|it| format!("microcode {it}")));
    parts.extend(host.governor.as_ref().map(|it| format!("governor {it}")));
    parts.extend(host.load.map(|load| format!("load {load:.2}")));
    parts.extend(host.steal_percent.map(|it| format!("steal {it:.0} %")));
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// A state in one word.
#[must_use]
pub const fn state(state: FeatureState) -> &'static str {
    match state {
        FeatureState::Present => "present",
        FeatureState::Absent => "absent",
        FeatureState::Disabled => "disabled",
    }
}

/// What ciphers use an instruction set for; empty for one this version does not know.
#[must_use]
pub fn used_for(feature: &str) -> &'static str {
    let known = engine::cpu::Feature::ALL.iter();
    known
        .clone()
        .find(|it| it.name() == feature)
        .map_or("", |it| it.used_for())
}

/// An installed program, or the package that brings it.
#[must_use]
pub fn program(program: Option<&Program>, package: &str) -> String {
    match program {
        Some(it) if it.version.is_empty() => format!("{} (version unknown)", it.path),
        Some(it) => format!("{} ({})", it.version, it.path),
        None => format!("not found; Debian's package is {package}"),
    }
}

/// Where a list comes from.
#[must_use]
pub fn source(side: &SideConfiguration) -> String {
    match &side.source {
        SourceRecord::Default { default } => format!("compiled default of {default}"),
        SourceRecord::CommandLine {
            command_line,
            file,
            line,
        } => format!(
            "{command_line} on its command line, from {}",
            place(file, *line)
        ),
        SourceRecord::Line { file, line } => {
            let written = side.written.as_deref().unwrap_or_default();
            let place = place(file, *line);
            if written.starts_with(['^', '+', '-']) {
                format!("{place} (written {written})")
            } else {
                place
            }
        }
    }
}

/// Who carried bytes to whom.
#[must_use]
pub fn between(implementation: Implementation, host: Option<&str>) -> String {
    let (client, server) = match implementation {
        Implementation::OpenSsh => ("ssh", "sshd"),
        Implementation::Dropbear => ("dbclient", "dropbear"),
        Implementation::DropbearToOpenSsh => ("dbclient", "sshd"),
    };
    match host {
        Some(host) => format!("Transfers by {client} with {host}"),
        None => format!("Transfers between {client} and {server}"),
    }
}

/// Why the figures between Dropbear's own two ends are what they are.
pub(super) const COMPRESSED: &str = "dbclient and dropbear compress with zlib where both were built with it, and neither can be told not to: the figures hold that. The bytes carried do not shrink.";

/// Whether real transfers can be made here.
#[must_use]
pub const fn possible(document: &Document) -> &'static str {
    match document.transfers_possible {
        Some(true) => "possible: ssh reaches a private sshd without a port",
        Some(false) => "not possible; see the findings",
        None => "not tried",
    }
}

/// Why something was not carried.
#[must_use]
pub fn not_carried(missing: &UnavailableTransfer) -> String {
    match &missing.cipher {
        Some(cipher) => format!("{}: {}", short(cipher), missing.reason),
        None => format!(
            "No transfers by {}: {}.",
            missing.implementation, missing.reason
        ),
    }
}

/// What was compared, and how.
#[must_use]
pub fn basis(recommendation: &RecommendationRecord) -> String {
    format!(
        "Rests on {}. Policy {}, threshold {:.0} %.",
        recommendation.basis,
        recommendation.policy,
        recommendation.threshold * 100.0
    )
}

/// The expected gain, and whether it is a projection.
#[must_use]
pub fn gain(recommendation: &RecommendationRecord, advice: &AdviceRecord) -> Option<String> {
    let gain = advice.gain.filter(|_| advice.differs)?;
    if (gain - 1.0).abs() < 0.005 {
        return Some("Expected gain: none while the server has the first cipher.".to_owned());
    }
    let expected =
        format!("Expected gain: {gain:.1} × today's transfer speed where the server has both.");
    if recommendation.evidence == Some(Evidence::Transfer) {
        return Some(format!("{expected} Measured with both, not projected."));
    }
    Some(format!(
        "{expected} Projected as 1/(c + o): c the seconds per GiB of the cipher, o = {} for the rest of ssh.",
        overhead(recommendation)
    ))
}

/// `0.5`, or with two digits what transfers gave.
fn overhead(recommendation: &RecommendationRecord) -> String {
    let projection = &recommendation.projection;
    match projection.ciphers {
        0 => format!("{:.1}", projection.overhead_s_per_gib),
        _ => format!("{:.2}, as transfers show,", projection.overhead_s_per_gib),
    }
}

/// What the two columns of speeds in an advice are.
#[must_use]
pub fn columns(recommendation: &RecommendationRecord) -> &'static str {
    match recommendation.evidence {
        Some(Evidence::Transfer) => {
            "GB/s: what the processor time of the transfers allows, 1/(u + o). MB/s: what they reached by the clock on the wall. Each the slower way."
        }
        _ => {
            "GB/s: the slower of sealing and opening. MB/s: projected transfer speed, if nothing but this processor limits it."
        }
    }
}

/// A group of which none is measurably faster.
#[must_use]
pub fn tied(group: &[String]) -> String {
    let names: Vec<&str> = group.iter().map(|name| short(name)).collect();
    format!(
        "Tied, so today's order stands among them: {}.",
        names.join(", ")
    )
}

/// The heading above the lists in force.
#[must_use]
pub fn in_force(document: &Document) -> String {
    match &document.destination {
        Some(host) => format!("Ciphers in force for {host}"),
        None => "Ciphers in force".to_owned(),
    }
}

/// A side, at the beginning of a line.
#[must_use]
pub const fn side(side: Side) -> &'static str {
    match side {
        Side::Client => "Client",
        Side::Server => "Server",
    }
}

/// Where the bytes are that a change replaced.
#[must_use]
pub fn kept(view: View, backup: &Path) -> String {
    let what = match view {
        View::Rollback => "What the rollback replaced is kept",
        _ => "The old bytes are",
    };
    format!("{what} in {}", backup.display())
}

/// What happened to the files, or would.
#[must_use]
pub fn outcome(document: &Document, view: View) -> String {
    let Commands { apply, rollback } = &document.commands;
    match (view, document.changes.is_empty(), document.changed) {
        (View::Rollback, ..) => "Put back.".to_owned(),
        (_, false, true) => format!("Written. `{rollback}` puts the old bytes back."),
        (_, true, _) if !document.refusals.is_empty() => "Nothing was written.".to_owned(),
        (_, false, false) if !document.refusals.is_empty() => {
            "Nothing was written: both sides are written together or not at all.".to_owned()
        }
        (_, true, _) => "Nothing to write.".to_owned(),
        (_, false, false) => format!("Nothing was written. `{apply}` writes this."),
    }
}

/// What a list of changes is for.
#[must_use]
pub fn put_back_by(document: &Document) -> &'static str {
    if document.history.is_empty() {
        "None: this program has written nothing here."
    } else {
        "`advisor --rollback` puts the last one back that is in force, `--rollback N` that one."
    }
}

/// Why there is no change, and what to do instead.
pub fn will_not_write(document: &Document) -> impl Iterator<Item = String> + '_ {
    let refusals = document.refusals.iter();
    refusals.map(|why| format!("Will not write: {why}."))
}
