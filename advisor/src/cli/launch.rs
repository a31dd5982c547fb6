//! Starts the other faces, which are programs of their own so that a server need not carry them.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

/// Becomes `advisor-tui` or `advisor-gui`: the one beside this program, else the first in `PATH`.
pub(super) fn launch(face: &str, args: &[OsString], plain: bool) -> Result<ExitCode> {
    let name = format!("advisor-{face}");
    let Some(program) = find(&name) else {
        let package = package(face);
        bail!(
            "{name} is neither beside advisor nor in PATH; the package {package} brings it, or in the sources: cargo build --release -p app --features {face}"
        );
    };
    let mut command = Command::new(&program);
    command.args(plain.then_some("--plain")).args(args);
    become_it(command).with_context(|| format!("cannot start {}", program.display()))
}

/// A server's package carries the terminal face; the desktop face is a package of its own.
fn package(face: &str) -> &'static str {
    match face {
        "gui" => "cipher-advisor-gui",
        _ => "cipher-advisor",
    }
}

#[cfg(unix)]
fn become_it(mut command: Command) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec().into())
}

#[cfg(not(unix))]
fn become_it(mut command: Command) -> Result<ExitCode> {
    let status = command.status()?;
    Ok(ExitCode::from(status.code().map_or(2, |code| code as u8)))
}

fn find(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok();
    let beside = beside
        .as_ref()
        .and_then(|it| it.parent())
        .map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = beside.into_iter().chain(std::env::split_paths(&path));
    directories.map(|it| it.join(&file)).find(|it| it.is_file())
}
