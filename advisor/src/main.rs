//! The `advisor` command.
#![forbid(unsafe_code)]

mod cli;

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    engine::transfer::be_helper()
        .or_else(|| engine::measure::be_helper(&mut io::stdout(), &mut io::stderr()))
        .unwrap_or_else(cli::run)
}
