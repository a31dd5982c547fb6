//! Where the report comes from: this machine, now, or a file.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use advisor::negotiation::usual_implementation;
use advisor::saved;
use anyhow::{Context, Result, bail};
use engine::cpu::Detected;
use engine::host::{SystemClock, SystemCommands, SystemMachine};
use engine::installed::{DiscoverRequest, Installed, discover};
use engine::measure::{EntropyRequest, Gate, SurveyRequest, World, describe, survey};
use engine::report::{OpenSsh, Report};
use engine::transfer::Implementation;

use super::args::Options;
use super::progress::Progress;
use super::surroundings::Surroundings;
use super::transferring;

/// The share of the time budget that goes into measuring; the rest is for reading, deciding and printing.
const MEASURING: f64 = 0.9;

/// A saved report has some hundred kilobytes.
const LONGEST: u64 = 64 << 20;

/// What a report is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sources {
    /// Packets alone.
    Packets,
    /// Real transfers, then packets.
    Both,
    /// Real transfers alone, by the programs that are named or usual.
    Transfers(Option<Implementation>),
}

impl Sources {
    /// Who carries. What a recommendation rests on is always OpenSSH.
    fn implementation(self, installed: &Installed) -> Implementation {
        match self {
            Self::Transfers(named) => named.unwrap_or_else(|| usual_implementation(installed)),
            Self::Packets | Self::Both => Implementation::OpenSsh,
        }
    }
}

/// The report of this run: measured now, or read from a file. `here` says what is negotiated.
pub(super) fn report(
    options: &Options,
    sources: Sources,
    here: Option<&Surroundings>,
) -> Result<Report> {
    if let Some(path) = &options.measurements {
        return read_saved(path, options);
    }
    let mut request = request(options);
    let by = sources.implementation(&request.installed);
    if let Some(here) = here {
        transferring::negotiate(&mut request, by, here, sources);
    }
    let report = match sources {
        Sources::Packets => packets(&mut request, options),
        Sources::Both | Sources::Transfers(_) => transferring::report(&mut request, by, options),
    };
    Ok(report)
}

fn packets(request: &mut SurveyRequest, options: &Options) -> Report {
    let mut progress = Progress::new(options);
    request.measure.budget = left(options);
    // Signals end the program on the spot while nothing is being written, so nobody has to ask.
    let never = AtomicBool::new(false);
    let mut tell = |at: engine::measure::Progress| progress.show(at.fraction);
    survey(request, WORLD, &mut tell, &never)
}

/// What is left of the time for measuring; the clock runs since this program began to look.
pub(super) fn left(options: &Options) -> Duration {
    let whole = options.time_budget.mul_f64(MEASURING);
    whole.saturating_sub(WORLD.clock.wall())
}

/// A program that was named must be there: another one, or none, would be an answer to another question.
pub(super) fn require_programs(options: &Options) -> Result<()> {
    let named = [("ssh", &options.ssh), ("sshd", &options.sshd)];
    for (name, path) in named {
        let Some(path) = path else { continue };
        let is_path = path.components().count() > 1;
        if is_path && !path.is_file() {
            bail!(
                "{}: not found; give --{name} the path of an {name} that is installed here",
                path.display()
            );
        }
    }
    Ok(())
}

/// The machine with what random bytes cost on it.
pub(super) fn entropy(options: &Options) -> Result<Report> {
    let mut report = description(options)?;
    if options.measurements.is_none() {
        let request = EntropyRequest {
            budget: options.time_budget.mul_f64(MEASURING),
            gate: Gate::default(),
        };
        let detected = Detected::new(options.cpu_disable);
        let never = AtomicBool::new(false);
        report.entropy = engine::measure::entropy(&request, detected, &SystemClock, &never)?;
    }
    Ok(report)
}

/// The machine without new numbers.
pub(super) fn description(options: &Options) -> Result<Report> {
    match &options.measurements {
        Some(path) => read_saved(path, options),
        None => Ok(describe(&request(options), WORLD)),
    }
}

/// Whether transfers can be made here; if not, the report says why.
pub(super) fn try_transfers(options: &Options, report: &mut Report) -> bool {
    transferring::try_out(&request(options), report)
}

/// The programs of this machine, for running them.
pub(super) fn programs(options: &Options) -> OpenSsh {
    describe(&request(options), WORLD).openssh
}

pub(super) const WORLD: World<'static> = World {
    clock: &SystemClock,
    machine: &SystemMachine,
};

pub(super) fn request(options: &Options) -> SurveyRequest {
    // The clock begins with its first reading.
    let _now = WORLD.clock.wall();
    let discover_request = DiscoverRequest {
        ssh: options.ssh.clone(),
        sshd: options.sshd.clone(),
        ..DiscoverRequest::default()
    };
    SurveyRequest {
        installed: discover(&SystemCommands, &discover_request),
        hidden: options.cpu_disable,
        ..SurveyRequest::default()
    }
}

/// A report somebody saved. The programs are this machine's, unless it is about another tree, whose
/// programs cannot be asked: then they are the report's.
fn read_saved(path: &Path, options: &Options) -> Result<Report> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().take(LONGEST).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("{shown}: cannot be read"))?;
    let mut report = saved::parse(&bytes).map_err(|what| {
        anyhow::anyhow!("{shown}{what}; give a file that --save or --json has written")
    })?;
    if options.root.is_none() || options.ssh.is_some() || options.sshd.is_some() {
        report.openssh = describe(&request(options), WORLD).openssh;
    }
    Ok(report)
}
