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

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
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
    /// Takes the terminal: raw mode, alternate screen, no cursor; the mouse where wanted.
    ///
    /// # Errors
    /// The system's; the terminal is given back first.
    pub(super) fn enter(screen: Screen, mouse: bool) -> io::Result<Self> {
        let hold = Hold::new(screen);
        hold.mouse.store(mouse, Ordering::SeqCst);
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

    /// Gives the terminal back, stops this program until the shell continues it, and takes the terminal again.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        self.hold.let_go();
        stop()?;
        self.again()
    }

    /// Takes the terminal as it is after a stop, and forgets what is on it. `Terminal::clear` would ask where the
    /// cursor is, and the thread that reads keys would get the answer.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn again(&mut self) -> io::Result<()> {
        self.hold.take()?;
        execute!((self.hold.screen)(), Clear(ClearType::All))?;
        self.terminal = Terminal::new(CrosstermBackend::new((self.hold.screen)()))?;
        Ok(())
    }

    /// Takes the mouse or lets it go; says whether it is taken now.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn turn_mouse(&mut self) -> io::Result<bool> {
        let taken = !self.hold.mouse.load(Ordering::SeqCst);
        self.hold.mouse.store(taken, Ordering::SeqCst);
        match taken {
            true => execute!((self.hold.screen)(), EnableMouseCapture)?,
            false => execute!((self.hold.screen)(), DisableMouseCapture)?,
        }
        Ok(taken)
    }

    /// Puts text on the clipboard of the terminal, also of one at the other end of a connection (OSC 52).
    ///
    /// # Errors
    /// The system's.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(
            (self.hold.screen)(),
            CopyToClipboard::to_clipboard_from(text)
        )
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
    /// Whether the mouse is wanted.
    mouse: Arc<AtomicBool>,
}

impl Hold {
    fn new(screen: Screen) -> Self {
        Self {
            screen,
            taken: Arc::default(),
            mouse: Arc::default(),
        }
    }

    fn take(&self) -> io::Result<()> {
        self.taken.store(true, Ordering::SeqCst);
        enable_raw_mode()?;
        execute!(
            (self.screen)(),
            EnterAlternateScreen,
            EnableBracketedPaste,
            Hide
        )?;
        if self.mouse.load(Ordering::SeqCst) {
            execute!((self.screen)(), EnableMouseCapture)?;
        }
        Ok(())
    }

    /// Whatever fails here fails because the terminal is gone; there is nobody left to tell.
    fn let_go(&self) {
        if self.taken.swap(false, Ordering::SeqCst) {
            if self.mouse.load(Ordering::SeqCst) {
                let _ = execute!((self.screen)(), DisableMouseCapture);
            }
            let _ = execute!(
                (self.screen)(),
                DisableBracketedPaste,
                Show,
                LeaveAlternateScreen
            );
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

/// Stops this process as Ctrl-Z would if the terminal saw to it; returns when it is continued.
#[cfg(unix)]
fn stop() -> io::Result<()> {
    use rustix::process::{Signal, getpid, kill_process};
    Ok(kill_process(getpid(), Signal::TSTP)?)
}

#[cfg(not(unix))]
fn stop() -> io::Result<()> {
    Ok(())
}
