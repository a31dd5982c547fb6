//! From facts to findings: what is odd here, how it shows, and what to do about it.
//!
//! One file a topic. Nothing here measures, reads or decides an order.
#![forbid(unsafe_code)]

mod configuration;
mod cpu;
mod direction;
pub(crate) mod dropbear;
mod environment;
mod fips;
mod library;
mod mac;
mod preference;
mod rekey;
mod terrapin;
mod transfers;
mod variables;

use std::path::PathBuf;

pub use environment::DISTURBANCES;
pub(crate) use variables::of_daemon;

use engine::report::{Direction, FeatureState, Measurement, ProviderName, Report};
use serde::{Deserialize, Serialize};

use crate::policy::Policy;
use crate::recommendation::Recommendation;
use crate::resolver::{Effective, Severity};

/// The finding that the recommended list leaves ciphers out.
pub const LEFT_OUT: &str = "ciphers-left-out";

/// Something worth knowing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of finding, for scripts: never renamed within a schema.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is so.
    pub what: String,
    /// How it shows.
    pub evidence: String,
    /// What to do about it.
    pub cure: String,
    /// The file it is about.
    #[serde(serialize_with = "crate::files::text::optional_path")]
    pub file: Option<PathBuf>,
    /// The line in that file, from 1.
    pub line: Option<usize>,
}

impl Finding {
    /// A finding about no file.
    #[must_use]
    pub fn new(
        id: &str,
        severity: Severity,
        what: impl Into<String>,
        evidence: impl Into<String>,
        cure: impl Into<String>,
    ) -> Self {
        Self {
            id: id.to_owned(),
            severity,
            what: what.into(),
            evidence: evidence.into(),
            cure: cure.into(),
            file: None,
            line: None,
        }
    }
}

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The host.
    pub report: &'a Report,
    /// The client's configuration.
    pub client: Option<&'a Effective>,
    /// The server's configuration.
    pub server: Option<&'a Effective>,
    /// What is recommended.
    pub recommendation: &'a Recommendation,
    /// The rules.
    pub policy: &'a Policy,
}

/// Everything found, the worst first.
///
/// `read` gives the bytes of a configuration file, or `None` where it cannot be read.
#[must_use]
pub fn diagnose(
    subject: Subject<'_>,
    read: &dyn Fn(&std::path::Path) -> Option<Vec<u8>>,
) -> Vec<Finding> {
    let mut findings = configuration::problems(subject);
    findings.extend(preference::findings(subject));
    findings.extend(terrapin::findings(subject));
    findings.extend(fips::findings(subject));
    findings.extend(cpu::findings(subject.report));
    findings.extend(variables::findings(subject.report));
    findings.extend(library::findings(subject.report));
    findings.extend(mac::findings(subject));
    findings.extend(direction::findings(subject));
    findings.extend(rekey::findings(subject));
    findings.extend(environment::findings(subject.report));
    findings.extend(dropbear::findings(subject.report));
    findings.extend(transfers::findings(subject));
    findings.extend(configuration::objections(subject));
    findings.extend(configuration::left_out(subject));
    findings.extend(configuration::examples(subject, read));
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// Packet size whose speed is quoted: a full channel packet.
const FULL_PACKET: usize = 32 * 1024;

/// The slower direction of a cipher at full packets; `mac` of `None` is an AEAD.
fn slower<'a>(
    report: &'a Report,
    provider: ProviderName,
    cipher: &str,
    mac: Option<&str>,
) -> Option<&'a Measurement> {
    let cell = |direction| {
        report.measurements.iter().find(|cell| {
            cell.provider == provider
                && cell.cipher == cipher
                && cell.mac.as_deref() == mac
                && cell.bytes == FULL_PACKET
                && cell.direction == direction
                && cell.gb_per_s > 0.0
        })
    };
    let (seal, open) = (cell(Direction::Seal)?, cell(Direction::Open)?);
    Some(if open.gb_per_s < seal.gb_per_s {
        open
    } else {
        seal
    })
}

fn state(report: &Report, feature: &str) -> Option<FeatureState> {
    report.cpu.features.get(feature).copied()
}

/// Whether the processor has what aes-gcm needs to be fast.
fn has_aes(report: &Report) -> bool {
    let present = |feature| state(report, feature) == Some(FeatureState::Present);
    present("aes") && (present("pclmulqdq") || present("pmull"))
}
