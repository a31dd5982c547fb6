//! The terminal face; without a terminal, the same report in plain lines.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use advisor::output::{Style, View, text};
use anyhow::{Context, Result, bail};
use app::job::HostJob;
use app::model::Question;
use app::model::commands::COMMANDS;
use app::pause::{PausedClock, Pauses};
use app::tui::{Appearance, Ended, Face, THEMES, run};
use app::worker::Job;
use engine::host::SystemClock;
use engine::measure::Gate;
use engine::report::Report;

/// The longest time to measure: nobody waits longer without knowing why.
const HOUR: Duration = Duration::from_secs(3600);

fn main() -> ExitCode {
    if let Some(code) = engine::transfer::be_helper() {
        return code;
    }
    match start() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("advisor-tui: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// What the command line asks for.
#[derive(Default)]
struct Options {
    plain: bool,
    ascii: bool,
    no_color: bool,
    no_mouse: bool,
    theme: Option<String>,
    root: Option<PathBuf>,
    measurements: Option<PathBuf>,
    budget: Option<Duration>,
}

fn start() -> Result<u8> {
    let options = match parse(std::env::args_os().skip(1))? {
        Parsed::Options(options) => options,
        Parsed::Answer(text) => return print(&text),
    };
    let gate = Gate::default();
    let pauses = Pauses::default();
    let mut job = HostJob::here(gate.clone(), variable)?;
    if let Some(root) = &options.root {
        let tree = job.in_tree(root);
        job = tree.with_context(|| format!("{}: cannot be the root of a tree", root.display()))?;
    }
    job.budget = options.budget.unwrap_or(job.budget);
    job.clock = Box::new(PausedClock {
        clock: job.clock,
        pauses: pauses.clone(),
    });
    let report = options
        .measurements
        .as_deref()
        .map(|path| saved(&job, path));
    let report = report.transpose()?;
    let appearance = appearance(&options)?;
    let dumb = variable("TERM").is_some_and(|term| term == "dumb");
    if options.plain || dumb || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return lines(&job, appearance.ascii || options.plain, report);
    }
    let face = Face {
        clock: Box::new(SystemClock),
        gate,
        pauses,
        appearance,
        mouse: !options.no_mouse,
        screen: || Box::new(io::stdout()),
        report,
    };
    let outcome = run(job, &face).context("the terminal cannot be used")?;
    match outcome.ended {
        Ended::Quit => print(&outcome.summary.map_or_else(String::new, |it| it + "\n")),
        // As a shell reports a program that a signal has ended.
        Ended::Signal(number) => Ok(128 + number as u8),
    }
}

enum Parsed {
    Options(Options),
    Answer(String),
}

fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Parsed> {
    let mut options = Options::default();
    while let Some(argument) = arguments.next() {
        let name = argument.to_string_lossy().into_owned();
        let mut value = || {
            let value = arguments.next();
            value.with_context(|| format!("{name} needs a value; try --help"))
        };
        match name.as_str() {
            "--plain" => options.plain = true,
            "--ascii" => options.ascii = true,
            "--no-color" => options.no_color = true,
            "--no-mouse" => options.no_mouse = true,
            "--theme" => options.theme = Some(value()?.to_string_lossy().into_owned()),
            "--root" => options.root = Some(value()?.into()),
            "--measurements" => options.measurements = Some(value()?.into()),
            "--time-budget" => options.budget = Some(budget(&value()?.to_string_lossy())?),
            "--help" | "-h" => return Ok(Parsed::Answer(help())),
            "--version" | "-V" => {
                let version = env!("CARGO_PKG_VERSION");
                return Ok(Parsed::Answer(format!("advisor-tui {version}\n")));
            }
            other => bail!("{other:?} is not an option; try --help"),
        }
    }
    Ok(Parsed::Options(options))
}

/// Seconds, with an `s` behind them or without.
fn budget(text: &str) -> Result<Duration> {
    let seconds: Option<f64> = text.strip_suffix('s').unwrap_or(text).parse().ok();
    let budget = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
    let sensible = budget.filter(|it| (Duration::from_secs(1)..=HOUR).contains(it));
    sensible.with_context(|| format!("{text:?} is no time for measuring; give one like 10s"))
}

fn appearance(options: &Options) -> Result<Appearance> {
    let found = Appearance::from_environment(variable);
    let appearance = Appearance {
        ascii: found.ascii || options.ascii,
        mono: found.mono || options.no_color,
        ..found
    };
    let Some(name) = &options.theme else {
        return Ok(appearance);
    };
    appearance.with_theme(name).with_context(|| {
        let names: Vec<_> = THEMES.iter().map(|it| it.name.as_str()).collect();
        format!(
            "no theme is called {name:?}; there are {}",
            names.join(", ")
        )
    })
}

/// A saved report in place of measuring.
fn saved(job: &HostJob, path: &Path) -> Result<Arc<Report>> {
    let opened = job
        .open(&path.to_string_lossy())
        .map_err(anyhow::Error::msg)?;
    Ok(Arc::new(job.adopt(opened.report.as_ref().clone())))
}

/// What the screens say, as the command line says it.
fn lines(job: &HostJob, ascii: bool, report: Option<Arc<Report>>) -> Result<u8> {
    let report = match report {
        Some(report) => report,
        None => {
            eprintln!("advisor-tui: measuring, a few seconds");
            let report = job.measure(&mut |_, _| {}, &Arc::new(AtomicBool::new(false)));
            Arc::new(report.map_err(anyhow::Error::msg)?)
        }
    };
    let question = Question {
        report: Some(report),
        ..Question::default()
    };
    let document = job.examine(&question).map_err(anyhow::Error::msg)?;
    let style = Style {
        ascii,
        ..Style::default()
    };
    print(&text(&document, View::Whole, style))
}

fn help() -> String {
    let keys = COMMANDS
        .iter()
        .map(|command| format!("  {:14} {}\n", command.key_names(), command.help));
    let keys: String = keys.collect();
    format!(
        "Usage: advisor-tui [OPTIONS]

Measures SSH ciphers, explains the configuration, recommends an order, and writes it once you have typed yes.

  --plain                print the report as lines, as without a terminal
  --measurements FILE    begin with a saved report in place of measuring
  --root DIR             the tree to read and write in place of /, for building images
  --time-budget TIME     how long to measure, 10s where not said
  --theme NAME           terminal, dark or light
  --no-color             no colours, as NO_COLOR
  --ascii                only ASCII characters
  --no-mouse             leave the mouse to the terminal
  --help                 this
  --version              the version

Keys:
{keys}"
    )
}

/// A reader that has seen enough closes the pipe; that is no failure.
fn print(text: &str) -> Result<u8> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(0),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}
