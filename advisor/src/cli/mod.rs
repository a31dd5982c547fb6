//! The command: what each invocation does, and the exit code it ends with.
#![forbid(unsafe_code)]

mod again;
mod args;
mod emit;
mod interrupt;
mod job;
mod launch;
mod live;
mod measuring;
mod probing;
mod progress;
mod reloading;
mod surroundings;
mod transferring;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

use args::{Arguments, Command};

/// Runs the command line. Everything that fails, fails with 2 and one message.
pub(crate) fn run() -> ExitCode {
    let parsed = Arguments::command()
        .try_get_matches()
        .and_then(|matches| Ok((Arguments::from_arg_matches(&matches)?, matches)));
    let (arguments, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error),
    };
    match dispatch(&arguments, &matches) {
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

fn dispatch(arguments: &Arguments, matches: &ArgMatches) -> Result<ExitCode> {
    let options = &arguments.options;
    if arguments.command.is_some() && arguments.action.any() {
        bail!("--apply, --check and --rollback go without a command");
    }
    interrupt::arm()?;
    measuring::require_programs(options)?;
    emit::reserve(options)?;
    match &arguments.command {
        None => job::whole(arguments.action, options),
        Some(Command::Entropy) => job::entropy(options),
        Some(Command::Measure) => job::measure(options),
        Some(Command::Explain { host, live }) => job::explain(host.as_deref(), *live, options),
        Some(Command::Transfer { implementation }) => {
            job::transfer(implementation.map(Into::into), options)
        }
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
        Some(Command::Tui { args }) => {
            refuse_shared_options(matches, &["plain"])?;
            launch::launch("tui", args, options.plain)
        }
        Some(Command::Gui { args }) => {
            refuse_shared_options(matches, &[])?;
            launch::launch("gui", args, false)
        }
    }
}

/// The faces look at this host as it is: an option they do not know must not be dropped in silence.
fn refuse_shared_options(matches: &ArgMatches, accepted: &[&str]) -> Result<()> {
    let Some((face, given)) = matches.subcommand() else {
        return Ok(());
    };
    let refused = given.ids().map(clap::Id::as_str).find(|&id| {
        let is_typed = given.value_source(id) == Some(ValueSource::CommandLine);
        is_typed && Arguments::is_shared_option(id) && !accepted.contains(&id)
    });
    match refused {
        Some(id) => bail!(
            "{face} does not take --{}: it shows this host as it is; run advisor without {face} for that",
            id.replace('_', "-")
        ),
        None => Ok(()),
    }
}
