//! Entering and leaving the terminal, on every way out.
//!
//! ratatui's own `init` restores on a panic but not on a signal, and stacks another panic hook each
//! time it is called, so this room does it by hand.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossterm::cursor::{Hide, Show};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

/// Opens the stream the terminal is reached by.
pub type Screen = fn() -> Box<dyn Write + Send>;

/// The terminal while it is ours. Dropping it gives it back as it was.
pub(super) struct Session {
    terminal: Terminal<CrosstermBackend<Box<dyn Write + Send>>>,
    hold: Hold,
}

impl Session {
    /// Takes the terminal: raw mode, alternate screen, no cursor.
    ///
    /// # Errors
    /// The system's; the terminal is given back first.
    pub(super) fn enter(screen: Screen) -> io::Result<Self> {
        let hold = Hold::new(screen);
        hold.let_go_on_panic();
        let entered = hold.take();
        let terminal = entered.and_then(|()| Terminal::new(CrosstermBackend::new(screen())));
        match terminal {
            Ok(terminal) => Ok(Self { terminal, hold }),
            Err(error) => {
                hold.let_go();
                Err(error)
            }
        }
    }

    /// Draws one frame.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn draw(&mut self, render: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(render).map(drop)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.hold.let_go();
    }
}

/// Whether the terminal is ours. Given back once: leaving the alternate screen a second time would put
/// the cursor back to where it was, and what was printed since would be written over.
#[derive(Clone)]
struct Hold {
    screen: Screen,
    taken: Arc<AtomicBool>,
}

impl Hold {
    fn new(screen: Screen) -> Self {
        Self {
            screen,
            taken: Arc::default(),
        }
    }

    fn take(&self) -> io::Result<()> {
        self.taken.store(true, Ordering::SeqCst);
        enable_raw_mode()?;
        execute!((self.screen)(), EnterAlternateScreen, Hide)
    }

    /// Whatever fails here fails because the terminal is gone; there is nobody left to tell.
    fn let_go(&self) {
        if self.taken.swap(false, Ordering::SeqCst) {
            let _ = execute!((self.screen)(), Show, LeaveAlternateScreen);
            let _ = disable_raw_mode();
        }
    }

    /// A panic of the drawing thread gives the terminal back before it is printed. One on another thread
    /// is not printed over the screen: whoever started that thread learns of it and shows it.
    fn let_go_on_panic(&self) {
        let hold = self.clone();
        let drawing = thread::current().id();
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().id() == drawing {
                hold.let_go();
                before(info);
            }
        }));
    }
}
