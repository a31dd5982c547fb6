//! The terminal face; without a terminal, the same report in plain lines.
#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use advisor::output::{Style, View, text, visible};
use anyhow::{Context, Result};
use app::job::HostJob;
use app::log::Log;
use app::model::Question;
use app::model::commands::COMMANDS;
use app::pause::{PausedClock, Pauses};
use app::tui::{Appearance, Ended, Face, Settings, THEMES, When, run, usual_place};
use app::worker::Job;
use clap::Parser;
use engine::host::SystemClock;
use engine::measure::{Gate, parse_budget};
use engine::report::Report;

fn main() -> ExitCode {
    let helped = engine::transfer::be_helper()
        .or_else(|| engine::measure::be_helper(&mut io::stdout(), &mut io::stderr()));
    if let Some(code) = helped {
        return code;
    }
    match start() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("advisor-tui: {}", visible(&format!("{error:#}")));
            ExitCode::from(2)
        }
    }
}

/// Measures SSH ciphers, explains the configuration, recommends an order, and writes it once you have typed yes.
#[derive(Parser)]
#[command(name = "advisor-tui", version, after_help = keys())]
struct Options {
    /// Print the report as lines, as without a terminal.
    #[arg(long)]
    plain: bool,
    /// Begin with a saved report in place of measuring.
    #[arg(long, value_name = "FILE")]
    measurements: Option<PathBuf>,
    /// The tree to read and write in place of /, for building images.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// How long to measure, like 10s, 500ms or 1m; 10s where not said.
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    time_budget: Option<Duration>,
    /// One of terminal, dark and light.
    #[arg(long, value_name = "NAME")]
    theme: Option<String>,
    /// When there are colours; auto heeds NO_COLOR.
    #[arg(long, value_enum, value_name = "WHEN")]
    color: Option<When>,
    /// The same as --color never.
    #[arg(long, conflicts_with = "color")]
    no_color: bool,
    /// Only ASCII characters.
    #[arg(long)]
    ascii: bool,
    /// Leave the mouse to the terminal.
    #[arg(long)]
    no_mouse: bool,
    /// Settings and keys, in place of $XDG_CONFIG_HOME/cipher-advisor/advisor-tui.toml.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print a file of settings to begin from, with every key.
    #[arg(long)]
    print_config: bool,
    /// Keep $XDG_STATE_HOME/cipher-advisor/advisor-tui.log.
    #[arg(short, long)]
    verbose: bool,
}

const EXIT_CODES: &str = "\
Exit codes:
  0        left, or printed
  2        wrong usage or a failure
  128 + n  ended by signal n";

/// The keys, from the table of commands.
fn keys() -> String {
    let keys = COMMANDS
        .iter()
        .map(|command| format!("  {:14} {}\n", command.key_names(), command.help));
    format!("Keys:\n{}\n{EXIT_CODES}", keys.collect::<String>())
}

fn start() -> Result<u8> {
    let options = Options::parse();
    if options.print_config {
        return print(&Settings::template());
    }
    let gate = Gate::default();
    let pauses = Pauses::default();
    let mut job = HostJob::here(gate.clone(), variable)?;
    if let Some(root) = &options.root {
        let tree = job.in_tree(root);
        job = tree.with_context(|| format!("{}: cannot be the root of a tree", root.display()))?;
    }
    job.budget = options.time_budget.unwrap_or(job.budget);
    job.clock = Box::new(PausedClock {
        clock: job.clock,
        pauses: pauses.clone(),
    });
    let report = options
        .measurements
        .as_deref()
        .map(|path| saved(&job, path));
    let report = report.transpose()?;
    let settings = settings(&options)?;
    let appearance = appearance(&options, &settings)?;
    let dumb = variable("TERM").is_some_and(|term| term == "dumb");
    if options.plain || dumb || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return lines(&job, appearance.ascii || options.plain, report);
    }
    let face = Face {
        clock: Box::new(SystemClock),
        gate,
        pauses,
        appearance,
        mouse: !options.no_mouse && settings.mouse.unwrap_or(true),
        screen: || Box::new(io::stdout()),
        report,
        bindings: settings.bindings,
        log: log(&options)?,
    };
    let version = env!("CARGO_PKG_VERSION");
    face.log
        .note(face.clock.wall(), &format!("advisor-tui {version} begins"));
    let outcome = run(job, &face).context("the terminal cannot be used")?;
    match outcome.ended {
        Ended::Quit => print(&outcome.summary.map_or_else(String::new, |it| it + "\n")),
        // As a shell reports a program that a signal has ended.
        Ended::Signal(number) => Ok(128 + number as u8),
    }
}

/// The file that was named, or the usual one where it exists.
fn settings(options: &Options) -> Result<Settings> {
    let usual = || usual_place(variable).filter(|it| it.exists());
    let Some(file) = options.config.clone().or_else(usual) else {
        return Ok(Settings::default());
    };
    let text = fs::read_to_string(&file);
    let text = text.with_context(|| format!("{}: cannot be read", file.display()))?;
    Ok(Settings::parse(&file, &text)?)
}

/// The command line outranks the file, and the file the environment.
fn appearance(options: &Options, settings: &Settings) -> Result<Appearance> {
    let found = Appearance::from_environment(variable);
    let never = options.no_color.then_some(When::Never);
    let appearance = Appearance {
        ascii: options.ascii || settings.ascii.unwrap_or(found.ascii),
        mono: match never.or(options.color).or(settings.color) {
            Some(When::Always) => false,
            Some(When::Never) => true,
            Some(When::Auto) | None => found.mono,
        },
        depth: settings.depth.unwrap_or(found.depth),
        ..found
    };
    let Some(name) = options.theme.as_ref().or(settings.theme.as_ref()) else {
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

/// Kept below the user's own directory for such things, also by root.
fn log(options: &Options) -> Result<Log> {
    if !options.verbose {
        return Ok(Log::default());
    }
    let absolute = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|it| it.is_absolute())
    };
    let home = || Some(absolute("HOME")?.join(".local/state"));
    let base = absolute("XDG_STATE_HOME").or_else(home);
    let folder = base
        .context("no home directory is known for the log; set HOME")?
        .join("cipher-advisor");
    let file = folder.join("advisor-tui.log");
    let opened = fs::create_dir_all(&folder)
        .and_then(|()| File::options().append(true).create(true).open(&file));
    let opened = opened.with_context(|| format!("{}: cannot be written", file.display()))?;
    Ok(Log::to(Box::new(opened)))
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_table_is_consistent() {
        Options::command().debug_assert();
    }
}
