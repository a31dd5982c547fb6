//! Ctrl-C: at once while nothing is being written, in good order while something is.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use advisor::apply::ApplyError;
use anyhow::Result;

/// What a shell reports for a program that an interrupt ended.
const INTERRUPTED: u8 = 130;

/// Whether a signal may end the program on the spot.
static AT_ONCE: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(true)));
/// Whether a signal came.
static CANCELLED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(false)));

/// From now on SIGINT, SIGTERM and SIGHUP end the program with 130.
pub(super) fn arm() -> Result<()> {
    #[cfg(unix)]
    for signal in [
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
    ] {
        let code = i32::from(INTERRUPTED);
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&AT_ONCE))?;
        signal_hook::flag::register(signal, Arc::clone(&CANCELLED))?;
    }
    // Caught, so that a limit on file sizes is an error of the write and not the end of the program.
    #[cfg(unix)]
    signal_hook::flag::register(libc::SIGXFSZ, Arc::default())?;
    Ok(())
}

/// From now on signals only set the flag, which is looked at before every step.
pub(super) fn while_writing() -> &'static AtomicBool {
    AT_ONCE.store(false, Ordering::SeqCst);
    &CANCELLED
}

/// 130 for a change that a signal stopped, 2 for every other failure.
pub(super) fn exit_code(error: &anyhow::Error) -> u8 {
    let cause = error.downcast_ref::<ApplyError>();
    cause.map_or(2, ApplyError::exit_code)
}
