//! How far the measurement is, for people who wait at a terminal.
#![forbid(unsafe_code)]

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::args::Options;
use super::interrupt;

/// One line of standard error that is written over; a line in ten percent where that is no terminal and -v asks.
pub(super) struct Progress {
    terminal: bool,
    lines: bool,
    shown: u32,
    whole: Duration,
    doing: &'static str,
}

impl Progress {
    pub(super) fn new(options: &Options) -> Self {
        let terminal = io::stderr().is_terminal() && !options.quiet;
        Self {
            terminal,
            lines: options.verbose && !terminal,
            shown: 0,
            whole: options.time_budget,
            doing: "measuring",
        }
    }

    /// What is being done from now on.
    pub(super) fn doing(&mut self, doing: &'static str) {
        self.doing = doing;
    }

    /// At most once a percent on a terminal, once in ten percent elsewhere. Drawn between samples only.
    pub(super) fn show(&mut self, fraction: f64) {
        let share = fraction.clamp(0.0, 1.0);
        let percent = (share * 100.0) as u32;
        let due = if self.terminal { 1 } else { 10 };
        if percent < self.shown + due || !(self.terminal || self.lines) {
            return;
        }
        self.shown = percent;
        let left = self.whole.mul_f64(1.0 - share).as_secs_f64().ceil();
        let text = format!("{} {percent} %, at most {left:.0} s left", self.doing);
        let mut err = io::stderr();
        // Whoever closed standard error does not want to know.
        let _ = if self.terminal {
            interrupt::LINE_OPEN.store(true, Ordering::SeqCst);
            write!(err, "\r{text:WIDTH$}")
        } else {
            writeln!(err, "advisor: {text}")
        };
    }
}

/// Columns of the longest line.
const WIDTH: usize = 44;

impl Drop for Progress {
    fn drop(&mut self) {
        if self.terminal {
            let _ = write!(io::stderr(), "\r{:WIDTH$}\r", "");
            interrupt::LINE_OPEN.store(false, Ordering::SeqCst);
        }
    }
}
