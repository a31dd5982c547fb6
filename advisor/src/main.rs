//! The `advisor` command.
#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    engine::transfer::be_helper()
        .or_else(cli::helper)
        .unwrap_or_else(cli::run)
}
