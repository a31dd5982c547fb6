//! Where the report comes from: this machine, now, or a file.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use advisor::resolver::Side;
use anyhow::{Context, Result, bail};
use engine::cpu::Detected;
use engine::host::{SystemClock, SystemCommands, SystemMachine};
use engine::installed::{DiscoverRequest, discover};
use engine::measure::{
    EntropyRequest, Gate, MeasureRequest, SurveyRequest, World, describe, survey,
};
use engine::report::{Measurement, OpenSsh, Report, SCHEMA};
use serde::Deserialize;

use super::args::Options;
use super::interrupt;
use super::surroundings::Surroundings;

/// The share of the time budget that goes into samples; the rest is for finding, reading and printing.
const MEASURING: f64 = 0.8;

/// A saved report has some hundred kilobytes.
const LONGEST: u64 = 64 << 20;

/// The report of this run: measured now, or read from a file. `here` says which MAC is negotiated.
pub(super) fn report(options: &Options, here: Option<&Surroundings>) -> Result<Report> {
    if let Some(path) = &options.measurements {
        return saved(path, options);
    }
    let mut request = request(options);
    if let Some(here) = here {
        let programs = describe(&request, WORLD).openssh;
        let client = here
            .perspective
            .resolve(&here.files, Side::Client, &programs, None);
        request.mac = client.macs.iter().find_map(|mac| mac.parse().ok());
    }
    let mut progress = Progress::new(options);
    // Signals end the program on the spot while nothing is being written, so nobody has to ask.
    let never = AtomicBool::new(false);
    let report = survey(
        &request,
        WORLD,
        &mut |at| progress.show(at.fraction),
        &never,
    );
    progress.end();
    Ok(report)
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
        Some(path) => saved(path, options),
        None => Ok(describe(&request(options), WORLD)),
    }
}

/// The programs of this machine, for running them.
pub(super) fn programs(options: &Options) -> OpenSsh {
    describe(&request(options), WORLD).openssh
}

const WORLD: World<'static> = World {
    clock: &SystemClock,
    machine: &SystemMachine,
};

fn request(options: &Options) -> SurveyRequest {
    let discover_request = DiscoverRequest {
        ssh: options.ssh.clone(),
        sshd: options.sshd.clone(),
        ..DiscoverRequest::default()
    };
    SurveyRequest {
        installed: discover(&SystemCommands, &discover_request),
        hidden: options.cpu_disable,
        measure: MeasureRequest {
            budget: options.time_budget.mul_f64(MEASURING),
            ..MeasureRequest::default()
        },
        ..SurveyRequest::default()
    }
}

/// A report somebody saved. The programs are this machine's, unless it is about another tree, whose
/// programs cannot be asked: then they are the report's.
fn saved(path: &Path, options: &Options) -> Result<Report> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().take(LONGEST).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("{shown}: cannot be read"))?;
    let mut report = parse(&bytes).map_err(|what| {
        anyhow::anyhow!("{shown}{what}; give a file that --save or --json has written")
    })?;
    if options.root.is_none() || options.ssh.is_some() || options.sshd.is_some() {
        report.openssh = describe(&request(options), WORLD).openssh;
    }
    Ok(report)
}

/// How far the measurement is, for people who wait at a terminal.
struct Progress {
    terminal: bool,
    lines: bool,
    shown: u32,
}

impl Progress {
    fn new(options: &Options) -> Self {
        let terminal = io::stderr().is_terminal() && !options.quiet;
        Self {
            terminal,
            lines: options.verbose && !terminal,
            shown: 0,
        }
    }

    /// At most once a percent on a terminal, once in ten percent elsewhere. Drawn between samples only.
    fn show(&mut self, fraction: f64) {
        let percent = (fraction.clamp(0.0, 1.0) * 100.0) as u32;
        let due = if self.terminal { 1 } else { 10 };
        if percent < self.shown + due || !(self.terminal || self.lines) {
            return;
        }
        self.shown = percent;
        let mut err = io::stderr();
        // Whoever closed standard error does not want to know.
        let _ = if self.terminal {
            interrupt::LINE_OPEN.store(true, Ordering::SeqCst);
            write!(err, "\rmeasuring {percent} %")
        } else {
            writeln!(err, "advisor: measuring {percent} %")
        };
    }

    fn end(&self) {
        if self.terminal {
            let _ = write!(io::stderr(), "\r{:16}\r", "");
            interrupt::LINE_OPEN.store(false, Ordering::SeqCst);
        }
    }
}

#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// The measured members of a document; an error begins with its place, to follow the file's name.
fn parse(bytes: &[u8]) -> Result<Report, String> {
    let head: Head = serde_json::from_slice(bytes).map_err(|error| json_error(&error))?;
    if head.schema != SCHEMA {
        return Err(format!(": its schema is {:?}, not {SCHEMA:?}", head.schema));
    }
    let report: Report = serde_json::from_slice(bytes).map_err(|error| json_error(&error))?;
    match report.measurements.iter().position(|cell| !is_sound(cell)) {
        Some(index) => Err(format!(": measurements[{index}] has no possible speed")),
        None => Ok(report),
    }
}

/// `:line:column: what`.
fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    format!(":{}:{}: {what}", error.line(), error.column())
}

fn is_sound(cell: &Measurement) -> bool {
    let [low, high] = cell.ci95;
    high.is_finite() && cell.gb_per_s > 0.0 && 0.0 <= low && low <= high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_where() {
        assert_eq!(
            parse(b"{\n  junk").expect_err("junk"),
            ":2:3: key must be a string"
        );
        assert_eq!(
            parse(br#"{"schema": "other/9"}"#).expect_err("another schema"),
            ": its schema is \"other/9\", not \"cipher-advisor/1\""
        );
        let missing = parse(br#"{"schema": "cipher-advisor/1"}"#).expect_err("no host");
        assert!(missing.ends_with("missing field `host`"), "{missing}");
    }
}
