//! The one document: every number and every word that any format shows.
//!
//! Its shape is the JSON contract, described by `assets/report.schema.json`; within a schema number
//! keys are only ever added.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use engine::installed::Offer;
use engine::report::{Report, SCHEMA};
use serde::Serialize;

use super::history::HistoryRecord;
use crate::diagnosis::Finding;
use crate::files::text;
use crate::policy::Profile;
use crate::recommendation::{Advice, Evidence, Projection, Recommendation};
use crate::resolver::{Considered, Effective, Location, Outcome, Problem, Severity, Side, Source};

/// Everything one run has to say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version of this program.
    pub version: String,
    /// What was detected and measured.
    #[serde(flatten)]
    pub report: Report,
    /// What the files say.
    pub configuration: Configuration,
    /// What they should say; `None` for commands that recommend nothing.
    pub recommendation: Option<RecommendationRecord>,
    /// What is odd, the worst first.
    pub findings: Vec<Finding>,
    /// Whether anything was written.
    pub changed: bool,
    /// What was or would be written.
    pub changes: Vec<Change>,
    /// What became of the running `sshd`, in one sentence; `None` where nobody asked for that.
    pub reloaded: Option<String>,
    /// What the journal knows, oldest first; empty where nobody asked for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<HistoryRecord>,
    /// The sides a change is for.
    pub sides: Vec<Side>,
    /// Why one of them is not written, and the way that is right instead.
    pub refusals: Vec<String>,
    /// The saved report all numbers come from; `None` where they are this run's.
    pub measurements_from: Option<String>,
    /// Whether real transfers can be made here; `None` where that was not tried.
    pub transfers_possible: Option<bool>,
    /// The host one would type after `ssh`, where one was given.
    pub destination: Option<String>,
    /// What to type next.
    pub commands: Commands,
}

/// What to type next, with every option that the result depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Commands {
    /// Writes the changes.
    pub apply: String,
    /// Puts the old bytes back.
    pub rollback: String,
}

impl Default for Commands {
    fn default() -> Self {
        Self {
            apply: "advisor --apply".to_owned(),
            rollback: "advisor --rollback".to_owned(),
        }
    }
}

/// The effective configuration of both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Configuration {
    /// What `ssh` would use.
    pub client: Option<SideConfiguration>,
    /// What `sshd` would use.
    pub server: Option<SideConfiguration>,
}

/// The effective configuration of one side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideConfiguration {
    /// The list in force.
    pub effective: Vec<String>,
    /// Where it comes from.
    pub source: SourceRecord,
    /// The winning value as written.
    pub written: Option<String>,
    /// The compiled default.
    pub default: Vec<String>,
    /// The MACs in force.
    pub macs: Vec<String>,
    /// Other lists that are possible.
    pub alternatives: Vec<Vec<String>>,
    /// Every `Ciphers` line looked at, in order.
    pub considered: Vec<ConsideredLine>,
    /// What is wrong with the files, in the order it was met.
    pub problems: Vec<ProblemRecord>,
    /// What the program itself offered when asked; `None` where it was not asked.
    pub offered: Option<Offered>,
    /// Every file read.
    #[serde(serialize_with = "text::paths")]
    pub files: Vec<PathBuf>,
}

/// Where a list comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum SourceRecord {
    /// An option of the program's command line.
    CommandLine {
        /// The option (`-oCiphers=…`).
        command_line: String,
        /// The file it is written in, or the process it was seen at.
        #[serde(serialize_with = "text::path")]
        file: PathBuf,
        /// The line, from 1; 0 for the file as a whole.
        line: usize,
    },
    /// A line of a file.
    Line {
        /// The file.
        #[serde(serialize_with = "text::path")]
        file: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The compiled default of a release.
    Default {
        /// The release (`OpenSSH 9.2`).
        default: String,
    },
}

/// A `Ciphers` line and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConsideredLine {
    /// The file.
    #[serde(serialize_with = "text::path")]
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column of the value in bytes, from 1; 0 for the line as a whole.
    pub column: usize,
    /// Its value as written.
    pub value: String,
    /// Whether it sets the list.
    pub wins: bool,
    /// What became of it, in words.
    pub outcome: String,
}

/// Something wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProblemRecord {
    /// How bad it is; the program refuses the files for an error.
    pub severity: Severity,
    /// The file.
    #[serde(serialize_with = "text::path")]
    pub file: PathBuf,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// The column in bytes, from 1; 0 for the line as a whole.
    pub column: usize,
    /// What is wrong, in the program's own words where it complains.
    pub what: String,
    /// What to do about it.
    pub cure: String,
}

/// What a program itself offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offered {
    /// Its version line.
    pub version: String,
    /// Its ciphers, in order.
    pub ciphers: Vec<String>,
    /// Its MACs, in order.
    pub macs: Vec<String>,
    /// Whether it takes part in strict key exchange, the cure for CVE-2023-48795.
    pub strict_key_exchange: bool,
}

/// What is recommended, and what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecommendationRecord {
    /// The kind of evidence; `None` when nothing could be compared.
    pub evidence: Option<Evidence>,
    /// The evidence in one sentence.
    pub basis: String,
    /// By what share a cipher had to be faster to overtake.
    pub threshold: f64,
    /// How packets are projected to transfers.
    pub projection: ProjectionRecord,
    /// What the machine is assumed to do.
    pub profile: Profile,
    /// The policy's name.
    pub policy: String,
    /// For the client.
    pub client: Option<AdviceRecord>,
    /// For the server.
    pub server: Option<AdviceRecord>,
}

/// How packets are projected to transfers, as 1/(c + o), and how far off that is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProjectionRecord {
    /// o: what ssh spends around the cipher.
    pub overhead_s_per_gib: f64,
    /// Ciphers whose transfers o was measured with; 0 where it is assumed.
    pub ciphers: usize,
    /// The cipher whose projection is farthest from its transfer; `None` where o is assumed.
    pub worst_cipher: Option<String>,
    /// By how many percent that projection is too fast; below zero: too slow.
    pub worst_error_percent: Option<f64>,
}

/// The advice for one side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AdviceRecord {
    /// The recommended list.
    pub order: Vec<String>,
    /// A reason for each place.
    pub reasons: Vec<String>,
    /// The speed that counted for each place, where there is one.
    pub speeds: Vec<Option<PlaceSpeed>>,
    /// Groups of neighbours in which none beats another.
    pub ties: Vec<Vec<String>>,
    /// Transfer speed with the new first cipher as a multiple of today's: measured, or projected from packets.
    pub gain: Option<f64>,
    /// Whether the order is not today's.
    pub differs: bool,
    /// The policy that pins this list, where one does.
    pub pinned: Option<String>,
    /// By how much the fastest cipher would be faster than the one that policy puts first.
    pub price: Option<f64>,
    /// What is recommended and not in today's list.
    pub added: Vec<String>,
    /// What is in today's list and not recommended.
    pub dropped: Vec<String>,
    /// What the order can and cannot change.
    pub limits: Vec<String>,
}

/// A speed that counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlaceSpeed {
    /// Median of the slower direction.
    pub gb_per_s: f64,
    /// Its 95 % confidence interval.
    pub ci95: [f64; 2],
    /// The MAC measured with it.
    pub mac: Option<String>,
    /// What a transfer would reach if nothing but this processor limited it.
    pub projected_mb_per_s: f64,
    /// What a transfer did reach, the slower way; `None` where none was made.
    pub wall_mb_per_s: Option<f64>,
}

/// A file that was or would be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Which side it is for.
    pub side: Side,
    /// The file.
    #[serde(serialize_with = "text::path")]
    pub file: PathBuf,
    /// Why this file and this place, in one sentence.
    pub strategy: String,
    /// The unified diff.
    pub diff: String,
    /// Where the old bytes are kept; `None` until written, and where there were none.
    #[serde(serialize_with = "text::optional_path")]
    pub backup: Option<PathBuf>,
}

impl Document {
    /// A document about a host, with nothing resolved or recommended yet.
    #[must_use]
    pub fn new(report: Report) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            report,
            configuration: Configuration::default(),
            recommendation: None,
            findings: Vec::new(),
            changed: false,
            changes: Vec::new(),
            reloaded: None,
            history: Vec::new(),
            sides: vec![Side::Client],
            refusals: Vec::new(),
            measurements_from: None,
            transfers_possible: None,
            destination: None,
            commands: Commands::default(),
        }
    }

    /// The side the headline is about.
    #[must_use]
    pub fn lead(&self) -> Side {
        match self.sides.as_slice() {
            [Side::Server] => Side::Server,
            _ => Side::Client,
        }
    }

    /// The advice for one side.
    #[must_use]
    pub fn advice(&self, side: Side) -> Option<&AdviceRecord> {
        let recommendation = self.recommendation.as_ref()?;
        match side {
            Side::Client => recommendation.client.as_ref(),
            Side::Server => recommendation.server.as_ref(),
        }
    }
}

impl PlaceSpeed {
    /// The speed of a transfer as tables show it: what was reached, else what is projected.
    #[must_use]
    pub fn mb_per_s(&self) -> f64 {
        self.wall_mb_per_s.unwrap_or(self.projected_mb_per_s)
    }
}

impl ConsideredLine {
    /// Where it stands, as `file:line`.
    #[must_use]
    pub fn place(&self) -> String {
        place(&self.file, self.line)
    }
}

/// `file:line`, or the file alone where it is meant as a whole.
pub(super) fn place(file: &Path, line: usize) -> String {
    Location {
        line,
        ..Location::whole(file)
    }
    .to_string()
}

impl Configuration {
    /// The same, to add to it.
    pub const fn side_mut(&mut self, side: Side) -> Option<&mut SideConfiguration> {
        match side {
            Side::Client => self.client.as_mut(),
            Side::Server => self.server.as_mut(),
        }
    }

    /// The configuration of one side.
    #[must_use]
    pub const fn side(&self, side: Side) -> Option<&SideConfiguration> {
        match side {
            Side::Client => self.client.as_ref(),
            Side::Server => self.server.as_ref(),
        }
    }
}

impl SideConfiguration {
    /// Why the program would not start with these files: the first of its complaints, with its place.
    #[must_use]
    pub fn refused(&self) -> Option<String> {
        let mut problems = self.problems.iter();
        let problem = problems.find(|it| it.severity == Severity::Error)?;
        let location = Location {
            file: problem.file.clone(),
            line: problem.line,
            column: problem.column,
        };
        Some(format!("{location}: {}; {}", problem.what, problem.cure))
    }
}

impl From<&Effective> for SideConfiguration {
    fn from(effective: &Effective) -> Self {
        Self {
            effective: effective.ciphers.clone(),
            source: source(effective),
            written: effective.written.clone(),
            default: effective.default.clone(),
            macs: effective.macs.clone(),
            alternatives: effective.alternatives.clone(),
            considered: effective.considered.iter().map(Into::into).collect(),
            problems: effective.problems.iter().map(Into::into).collect(),
            offered: None,
            files: effective.files.clone(),
        }
    }
}

fn source(effective: &Effective) -> SourceRecord {
    match &effective.source {
        Source::Default(release) => SourceRecord::Default {
            default: release.clone(),
        },
        Source::Line(location) => SourceRecord::Line {
            file: location.file.clone(),
            line: location.line,
        },
        Source::CommandLine(location) => SourceRecord::CommandLine {
            command_line: format!(
                "-oCiphers={}",
                effective.written.as_deref().unwrap_or_default()
            ),
            file: location.file.clone(),
            line: location.line,
        },
    }
}

impl From<&Considered> for ConsideredLine {
    fn from(line: &Considered) -> Self {
        let outcome = match &line.outcome {
            Outcome::Won => "sets the list".to_owned(),
            Outcome::Shadowed(earlier) => format!("too late: {earlier} has set the list"),
            Outcome::BlockDoesNotMatch(block) => format!("its block at {block} does not apply"),
            Outcome::Depends(block) => {
                format!("cannot be known: the Match at {block} is decided only at run time")
            }
            Outcome::Refused(why) => format!("refused: {why}"),
        };
        Self {
            file: line.location.file.clone(),
            line: line.location.line,
            column: line.location.column,
            value: line.value.clone(),
            wins: line.outcome == Outcome::Won,
            outcome,
        }
    }
}

impl From<&Problem> for ProblemRecord {
    fn from(problem: &Problem) -> Self {
        Self {
            severity: problem.severity,
            file: problem.location.file.clone(),
            line: problem.location.line,
            column: problem.location.column,
            what: problem.what.clone(),
            cure: problem.cure.clone(),
        }
    }
}

impl From<Offer> for Offered {
    fn from(offer: Offer) -> Self {
        Self {
            version: offer.version,
            ciphers: offer.ciphers,
            macs: offer.macs,
            strict_key_exchange: offer.strict_key_exchange,
        }
    }
}

impl From<&Recommendation> for RecommendationRecord {
    fn from(recommendation: &Recommendation) -> Self {
        Self {
            evidence: recommendation.evidence,
            basis: recommendation.basis.clone(),
            threshold: recommendation.threshold,
            projection: (&recommendation.projection).into(),
            profile: recommendation.profile,
            policy: recommendation.policy.clone(),
            client: recommendation.client.as_ref().map(Into::into),
            server: recommendation.server.as_ref().map(Into::into),
        }
    }
}

impl From<&Projection> for ProjectionRecord {
    fn from(projection: &Projection) -> Self {
        let worst = projection.worst.as_ref();
        Self {
            overhead_s_per_gib: projection.overhead_s_per_gib,
            ciphers: projection.ciphers,
            worst_cipher: worst.map(|(cipher, _)| cipher.clone()),
            worst_error_percent: worst.map(|(_, error)| error * 100.0),
        }
    }
}

impl From<&Advice> for AdviceRecord {
    fn from(advice: &Advice) -> Self {
        let speed = |place: &crate::recommendation::Place| {
            let speed = place.speed.as_ref()?;
            Some(PlaceSpeed {
                gb_per_s: speed.interval.median,
                ci95: [speed.interval.low, speed.interval.high],
                mac: speed.mac.clone(),
                projected_mb_per_s: speed.projected_mb_per_s,
                wall_mb_per_s: speed.wall_mb_per_s,
            })
        };
        Self {
            order: advice.order(),
            reasons: advice
                .places
                .iter()
                .map(crate::recommendation::Place::why)
                .collect(),
            speeds: advice.places.iter().map(speed).collect(),
            ties: advice.ties.clone(),
            gain: advice.gain,
            differs: advice.differs(),
            pinned: advice.pinned.clone(),
            price: advice.price,
            added: advice.added().into_iter().map(str::to_owned).collect(),
            dropped: advice.dropped().into_iter().map(str::to_owned).collect(),
            limits: advice.limits.clone(),
        }
    }
}
