//! Ctrl-C: at once while nothing is being written, in good order while something is.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use advisor::apply::ApplyError;
use anyhow::Result;

/// What a shell reports for a program that an interrupt ended.
pub(super) const INTERRUPTED: u8 = 130;

/// Whether a signal may end the program on the spot. Held while that is decided.
static AT_ONCE: Mutex<bool> = Mutex::new(true);
/// Whether a line of progress stands unended on the terminal.
pub(super) static LINE_OPEN: AtomicBool = AtomicBool::new(false);
/// Whether a signal came.
static CANCELLED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(false)));

/// From now on SIGINT, SIGTERM and SIGHUP end the program with 130.
pub(super) fn arm() -> Result<()> {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let signals = [SIGINT, SIGTERM, SIGHUP];
        for signal in signals {
            signal_hook::flag::register(signal, Arc::clone(&CANCELLED))?;
        }
        let mut arrived = signal_hook::iterator::Signals::new(signals)?;
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || arrived.forever().for_each(|_| end_unless_writing()))?;
    }
    // Caught, so that a limit on file sizes is an error of the write and not the end of the program.
    #[cfg(unix)]
    signal_hook::flag::register(libc::SIGXFSZ, Arc::default())?;
    Ok(())
}

/// Ends the program without running what others registered for its end: they may be at work.
#[cfg(unix)]
fn end_unless_writing() {
    use std::io::Write;

    let at_once = AT_ONCE.lock().unwrap_or_else(PoisonError::into_inner);
    if *at_once {
        let line_end = if LINE_OPEN.load(Ordering::SeqCst) {
            "\n"
        } else {
            ""
        };
        // Whoever closed standard error does not want to know.
        let _ = writeln!(
            std::io::stderr(),
            "{line_end}interrupted: nothing was changed"
        );
        signal_hook::low_level::exit(i32::from(INTERRUPTED));
    }
}

/// From now on signals only set the flag, which is looked at before every step.
pub(super) fn while_writing() -> &'static AtomicBool {
    *AT_ONCE.lock().unwrap_or_else(PoisonError::into_inner) = false;
    &CANCELLED
}

/// While this lives, signals only set a flag: programs run and folders lie about that have to go first.
pub(super) struct Deferred(());

/// Signals wait until what this returns is dropped.
pub(super) fn deferred() -> Deferred {
    *AT_ONCE.lock().unwrap_or_else(PoisonError::into_inner) = false;
    Deferred(())
}

impl Deferred {
    /// Set once a signal came.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&CANCELLED)
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        *AT_ONCE.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

/// A signal stopped the work before anything was written.
#[derive(Debug, thiserror::Error)]
#[error("interrupted: nothing was changed")]
pub(super) struct Interrupted;

/// Fails once a signal came.
pub(super) fn check() -> Result<(), Interrupted> {
    match CANCELLED.load(Ordering::SeqCst) {
        true => Err(Interrupted),
        false => Ok(()),
    }
}

/// 130 for work that a signal stopped, 2 for every other failure.
pub(super) fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<Interrupted>() {
        return INTERRUPTED;
    }
    let cause = error.downcast_ref::<ApplyError>();
    cause.map_or(2, ApplyError::exit_code)
}
