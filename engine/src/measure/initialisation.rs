//! Whether a libcrypto is slow until `OPENSSL_init_crypto` has been called.
//!
//! Some versions find out only there which instructions the processor has (LibreSSL before 4.2), so a
//! program that does not call it runs AES in plain code. Once called it cannot be taken back, so each
//! state is measured in a process of its own: the caller's program, started again as a helper.
#![forbid(unsafe_code)]

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::session::{MeasureRequest, measure};
use crate::algorithm::Cipher;
use crate::host::{Clock, CommandRequest, Commands, SystemClock};
use crate::providers::{Libcrypto, self_test};
use crate::report::Initialisation;

/// The first argument of a helper; the library's name follows, then perhaps whether to set the library up.
const HELPER: &str = "__libcrypto";

/// Asks a helper to call `OPENSSL_init_crypto` before it measures.
const INITIALISE: &str = "--initialise";

/// Time for the samples of one process: enough for a factor of two.
const BUDGET: Duration = Duration::from_millis(100);

/// Long enough to show what the instructions bring, short enough for a library of some MB/s.
const BYTES: usize = 8 * 1024;

/// Measures a library in two new processes of `helper`, a program that calls [`be_helper`] first of all.
///
/// # Errors
/// Why there are no two speeds: the library cannot be loaded, lacks a function, or computes wrong.
pub fn initialisation(
    commands: &dyn Commands,
    helper: &Path,
    library: &str,
) -> Result<Initialisation, String> {
    let request = CommandRequest::new(helper).arg(HELPER).arg(library);
    Ok(Initialisation {
        before_gb_per_s: ask(commands, &request)?,
        after_gb_per_s: ask(commands, &request.arg(INITIALISE))?,
    })
}

fn ask(commands: &dyn Commands, request: &CommandRequest) -> Result<f64, String> {
    let output = commands.run(request).map_err(|error| error.to_string())?;
    let speed = output.stdout_text().trim().parse();
    match speed {
        Ok(speed) if output.succeeded() && f64::is_finite(speed) => Ok(speed),
        _ => Err(output.stderr_text().trim().to_owned()),
    }
}

/// What a binary does before anything else: where it was started as such a helper, it measures, and then it ends
/// with this code. `out` takes the speed of aes128-gcm in GB/s, `trouble` why there is none. `None` in every other
/// case.
pub fn be_helper(out: &mut dyn Write, trouble: &mut dyn Write) -> Option<ExitCode> {
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

/// The speed by the arguments behind [`HELPER`].
fn answer(arguments: &[String], clock: &dyn Clock) -> Result<f64, String> {
    let (name, initialise) = match arguments {
        [name] => (name, false),
        [name, flag] if flag == INITIALISE => (name, true),
        _ => return Err(format!("usage: {HELPER} LIBRARY [{INITIALISE}]")),
    };
    let library = Libcrypto::load(std::slice::from_ref(name)).map_err(|why| why.0)?;
    if initialise {
        // Where there is nothing to call, both states are one.
        library.initialise();
    }
    let cipher = Cipher::Aes128Gcm;
    self_test(&library, cipher, None).map_err(|wrong| format!("{name}: {wrong}"))?;
    let request = MeasureRequest {
        sizes: vec![BYTES],
        budget: BUDGET,
        ..MeasureRequest::default()
    };
    let never = AtomicBool::new(false);
    let measured = measure(
        &[&library],
        &[(cipher, None)],
        &request,
        clock,
        &mut |_| {},
        &never,
    );
    let speeds = measured.measurements.iter().map(|cell| cell.gb_per_s);
    let slower = speeds.reduce(f64::min);
    slower.ok_or_else(|| format!("{name}: there was no time to measure it"))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::host::{CommandFailure, CommandOutput};

    /// Answers in turn, and keeps what it was asked.
    struct Scripted(Mutex<Vec<CommandOutput>>, Mutex<Vec<CommandRequest>>);

    impl Scripted {
        fn new(answers: &[(i32, &str, &str)]) -> Self {
            let output = |&(code, out, err): &(i32, &str, &str)| CommandOutput {
                code: Some(code),
                stdout: out.into(),
                stderr: err.into(),
            };
            let answers = answers.iter().rev().map(output).collect();
            Self(Mutex::new(answers), Mutex::default())
        }
    }

    impl Commands for Scripted {
        fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure> {
            self.1.lock().expect("a list").push(request.clone());
            let next = self.0.lock().expect("a list").pop();
            Ok(next.expect("an answer for every question"))
        }
    }

    #[test]
    fn the_library_is_asked_in_both_states() {
        let commands = Scripted::new(&[(0, "0.25\n", ""), (0, "4.5\n", "")]);
        let found = initialisation(&commands, Path::new("/bin/it"), "libcrypto.so.9");
        let expected = Initialisation {
            before_gb_per_s: 0.25,
            after_gb_per_s: 4.5,
        };
        assert_eq!(found, Ok(expected));
        let asked = commands.1.into_inner().expect("a list");
        let asked: Vec<_> = asked.iter().map(|it| it.args.join(" ".as_ref())).collect();
        assert_eq!(
            asked,
            [
                "__libcrypto libcrypto.so.9",
                "__libcrypto libcrypto.so.9 --initialise"
            ]
        );
    }

    #[test]
    fn a_helper_that_fails_or_babbles_gives_its_reason() {
        for answer in [
            (2, "", "it computes wrong\n"),
            (0, "fast", "it computes wrong"),
            (0, "inf", "it computes wrong"),
        ] {
            let commands = Scripted::new(&[answer]);
            let found = initialisation(&commands, Path::new("/bin/it"), "x");
            assert_eq!(found, Err("it computes wrong".to_owned()), "{answer:?}");
        }
    }
}
