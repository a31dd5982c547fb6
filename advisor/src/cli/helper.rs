//! This program as its own helper: a state of a library that can only be had in a process of its own.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use engine::host::SystemClock;
use engine::measure::{HELPER, answer};

use super::emit;

/// Answers as a helper, where that is what this process was started for.
pub(crate) fn helper() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != HELPER {
        return None;
    }
    let arguments: Vec<_> = arguments
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let printed = answer(&arguments, &SystemClock)
        .and_then(|speed| emit::print(&format!("{speed}\n")).map_err(|error| error.to_string()));
    Some(match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            emit::note(&why);
            ExitCode::from(2)
        }
    })
}
