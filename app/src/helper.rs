//! Our binaries as their own helpers: what only a process of its own can find out, or do.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

use engine::host::SystemClock;
use engine::measure::{HELPER, answer};

/// What a binary does before anything else: the helper's work, where it was started for that. `out` takes the
/// answer, `trouble` why there is none.
pub fn be_helper(out: &mut dyn Write, trouble: &mut dyn Write) -> Option<ExitCode> {
    engine::transfer::be_helper().or_else(|| be_measured(out, trouble))
}

fn be_measured(out: &mut dyn Write, trouble: &mut dyn Write) -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != HELPER {
        return None;
    }
    let arguments: Vec<_> = arguments
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let written = answer(&arguments, &SystemClock)
        .and_then(|speed| writeln!(out, "{speed}").map_err(|error| error.to_string()));
    Some(match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // Whoever does not listen does not want to know.
            let _ = writeln!(trouble, "{why}");
            ExitCode::from(2)
        }
    })
}
