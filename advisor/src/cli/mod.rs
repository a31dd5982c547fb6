//! The command: what each invocation does, and the exit code it ends with.
#![forbid(unsafe_code)]

mod args;
mod emit;
mod interrupt;
mod job;
mod launch;
mod live;
mod measuring;
mod surroundings;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{CommandFactory, Parser};

use args::{Arguments, Command};

/// Runs the command line. Everything that fails, fails with 2 and one message.
pub(crate) fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    match dispatch(&arguments) {
        Ok(code) => code,
        Err(error) => {
            emit::note(&format!("{error:#}"));
            ExitCode::from(interrupt::exit_code(&error))
        }
    }
}

/// Help and version go to standard output and are no failure; a reader may stop early.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

fn dispatch(arguments: &Arguments) -> Result<ExitCode> {
    let options = &arguments.options;
    if arguments.command.is_some() && arguments.action.any() {
        bail!("--apply, --check and --rollback go without a command");
    }
    interrupt::arm()?;
    emit::reserve(options)?;
    match &arguments.command {
        None => job::whole(arguments.action, options),
        Some(Command::Measure) => job::measure(options),
        Some(Command::Explain { host, live }) => job::explain(host.as_deref(), *live, options),
        Some(Command::Doctor) => job::doctor(options),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "advisor", &mut script);
            emit::print(&String::from_utf8_lossy(&script))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Man) => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
            emit::print(&String::from_utf8_lossy(&page))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Tui { args }) => launch::launch("tui", args),
        Some(Command::Gui { args }) => launch::launch("gui", args),
    }
}
