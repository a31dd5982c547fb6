//! The terminal face; without a terminal, the same report in plain lines.
#![forbid(unsafe_code)]

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use advisor::output::{Style, View, text};
use anyhow::{Context, Result, bail};
use app::job::HostJob;
use app::model::commands::COMMANDS;
use app::tui::{Appearance, Ended, Face, run};
use app::worker::Job;
use engine::host::SystemClock;
use engine::measure::Gate;

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

fn start() -> Result<u8> {
    let mut plain = false;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--plain" => plain = true,
            "--help" | "-h" => return print(&help()),
            "--version" | "-V" => {
                return print(&format!("advisor-tui {}\n", env!("CARGO_PKG_VERSION")));
            }
            other => bail!("{other:?} is not an option; try --help"),
        }
    }
    let appearance = Appearance::from_environment(variable);
    let gate = Gate::default();
    let job = HostJob::here(gate.clone(), variable)?;
    let dumb = variable("TERM").is_some_and(|term| term == "dumb");
    if plain || dumb || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return lines(&job, appearance.ascii || plain);
    }
    let face = Face {
        clock: Box::new(SystemClock),
        gate,
        appearance,
        screen: || Box::new(io::stdout()),
    };
    match run(job, &face).context("the terminal cannot be used")? {
        Ended::Quit => Ok(0),
        // As a shell reports a program that a signal has ended.
        Ended::Signal(number) => Ok(128 + number as u8),
    }
}

/// What the screens say, as the command line says it.
fn lines(job: &HostJob, ascii: bool) -> Result<u8> {
    eprintln!("advisor-tui: measuring, a few seconds");
    let report = job.measure(&mut |_, _| {}, &AtomicBool::new(false));
    let report = report.map_err(anyhow::Error::msg)?;
    let document = job.examine(Some(&report)).map_err(anyhow::Error::msg)?;
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
        "Usage: advisor-tui [--plain]\n\nMeasures SSH ciphers, explains the configuration and recommends an order. Writes nothing.\n\n  --plain        print the report as lines, as without a terminal\n  --help         this\n  --version      the version\n\nKeys:\n{keys}"
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
