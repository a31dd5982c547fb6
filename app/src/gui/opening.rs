//! Opening a window, and one sentence with the cure where that cannot be done.
//!
//! The toolkit reports a missing display or graphics driver as an error, but panics where
//! libxkbcommon-x11 is missing, so that is looked for first, and panics are caught.
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

/// The smallest window in which everything can be reached.
const SMALLEST: [f32; 2] = [640.0, 400.0];
/// The window at first.
const USUAL: [f32; 2] = [1000.0, 700.0];

/// What decides whether a window can be opened.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    /// Whether `DISPLAY` names an X server.
    pub x11: bool,
    /// Whether `WAYLAND_DISPLAY` or `WAYLAND_SOCKET` names a compositor.
    pub wayland: bool,
    /// Whether the dynamic loader finds a library.
    pub can_load: fn(&str) -> bool,
}

impl Environment {
    /// What these variables say; empty ones do not count.
    #[must_use]
    pub fn new(variable: impl Fn(&str) -> Option<String>, can_load: fn(&str) -> bool) -> Self {
        let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        Self {
            x11: set("DISPLAY"),
            wayland: set("WAYLAND_DISPLAY") || set("WAYLAND_SOCKET"),
            can_load,
        }
    }

    /// What stands in the way, as far as it can be seen beforehand.
    ///
    /// # Errors
    /// The first thing that is missing.
    pub fn check(&self) -> Result<(), Unopened> {
        if !cfg!(target_os = "linux") {
            return Ok(());
        }
        if !self.x11 && !self.wayland {
            return Err(Unopened::NoDisplay);
        }
        let missing = |package| Err(Unopened::Missing { package });
        // Wayland is tried first where it is offered, and needs none of X11's libraries.
        if !self.wayland && !(self.can_load)("libxkbcommon-x11.so.0") {
            return missing("libxkbcommon-x11-0");
        }
        if !self.wayland && !(self.can_load)("libX11.so.6") {
            return missing("libx11-6");
        }
        if self.wayland && !(self.can_load)("libxkbcommon.so.0") {
            return missing("libxkbcommon0");
        }
        if !["libGL.so.1", "libEGL.so.1"].into_iter().any(self.can_load) {
            return missing("libgl1 and libgl1-mesa-dri");
        }
        Ok(())
    }
}

/// Why there is no window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unopened {
    /// Neither X11 nor Wayland.
    #[error(
        "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set): run it in a desktop session or with ssh -X, or use advisor-tui"
    )]
    NoDisplay,
    /// A library that a package brings.
    #[error("a library for windows is missing: install {package}, or use advisor-tui")]
    Missing {
        /// Debian's package.
        package: &'static str,
    },
    /// The toolkit could not do it.
    #[error(
        "no window could be opened ({reason}): install libgl1-mesa-dri and libxkbcommon-x11-0 and check DISPLAY, or use advisor-tui"
    )]
    Toolkit {
        /// What it said.
        reason: String,
    },
}

/// Opens the window and runs what `make` makes until it is closed.
pub(super) fn open(
    environment: &Environment,
    make: impl FnOnce(&egui::Context) -> Box<dyn eframe::App>,
) -> Result<(), Unopened> {
    environment.check()?;
    let options = eframe::NativeOptions {
        renderer: eframe::Renderer::Glow,
        viewport: egui::ViewportBuilder::default()
            .with_title("SSH cipher advisor")
            .with_min_inner_size(SMALLEST)
            .with_inner_size(USUAL),
        ..Default::default()
    };
    // The toolkit's panic would be printed with a backtrace before it can be turned into a sentence.
    let usual_hook = take_hook();
    set_hook(Box::new(|_| {}));
    let ran = catch_unwind(AssertUnwindSafe(|| {
        eframe::run_native(
            "cipher-advisor",
            options,
            Box::new(|creation| Ok(make(&creation.egui_ctx))),
        )
    }));
    set_hook(usual_hook);
    let reason = match ran {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_else(|| "the toolkit gave no reason".to_owned()),
    };
    Err(Unopened::Toolkit {
        reason: reason.lines().next().unwrap_or_default().to_owned(),
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn with(variables: &'static [&str], can_load: fn(&str) -> bool) -> Result<(), Unopened> {
        let variable = |name: &str| variables.contains(&name).then(|| ":0".to_owned());
        Environment::new(variable, can_load).check()
    }

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        assert_eq!(with(&[], |_| true), Err(Unopened::NoDisplay));
        let no_xkb = with(&["DISPLAY"], |name| !name.contains("xkbcommon-x11"));
        let sentence = no_xkb.expect_err("a library is missing").to_string();
        assert!(sentence.contains("libxkbcommon-x11-0") && sentence.contains("advisor-tui"));
        let no_gl = with(&["WAYLAND_DISPLAY"], |name| !name.contains("GL"));
        let sentence = no_gl.expect_err("a library is missing").to_string();
        assert!(sentence.contains("libgl1"));
    }

    #[test]
    fn wayland_needs_nothing_of_x11() {
        let no_x11 = |name: &str| !name.contains("X11") && !name.contains("x11");
        assert_eq!(with(&["WAYLAND_DISPLAY"], no_x11), Ok(()));
        assert_eq!(with(&["DISPLAY"], |_| true), Ok(()));
    }
}
