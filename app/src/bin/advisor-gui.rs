//! The desktop face.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, bail};
use app::gui::{Environment, Face, run};
use app::job::HostJob;
use engine::host::SystemClock;
use engine::measure::Gate;

fn main() -> ExitCode {
    let helped = engine::transfer::be_helper()
        .or_else(|| engine::measure::be_helper(&mut std::io::stdout(), &mut std::io::stderr()));
    if let Some(code) = helped {
        return code;
    }
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("advisor-gui: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn start() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        None => {}
        Some("--help" | "-h") => {
            println!(
                "Usage: advisor-gui\n\nMeasures SSH ciphers, explains the configuration, recommends an order, and writes it once you have typed yes."
            );
            return Ok(());
        }
        Some("--version" | "-V") => {
            println!("advisor-gui {}", env!("CARGO_PKG_VERSION"));
            return Ok(());
        }
        Some(other) => bail!("{other:?} is not an option; try --help"),
    }
    let gate = Gate::default();
    let job = HostJob::here(gate.clone(), variable)?;
    let face = Face {
        clock: Arc::new(SystemClock),
        gate,
        environment: Environment::new(variable, can_load),
    };
    Ok(run(job, face)?)
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

#[cfg(target_os = "linux")]
fn can_load(name: &str) -> bool {
    app::sys::can_load(name)
}

/// Elsewhere the toolkit's libraries are part of the system.
#[cfg(not(target_os = "linux"))]
fn can_load(_: &str) -> bool {
    true
}
