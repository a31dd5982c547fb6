//! Finds Dropbear and asks it what was compiled in: it has no configuration file that could say otherwise.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use super::openssh::{is_executable, request};
use crate::host::Commands;
use crate::report::Program;

/// Dropbear's client, else its server, which cannot be asked for its ciphers. Absence is a normal answer.
pub(super) fn find(commands: &dyn Commands, search: &[PathBuf]) -> Option<Program> {
    ["dbclient", "dropbear"].into_iter().find_map(|name| {
        let mut candidates = search.iter().map(|folder| folder.join(name));
        let path = candidates.find(|path| is_executable(path))?;
        identify(commands, &path, name == "dbclient")
    })
}

/// Dropbear's server.
pub(super) fn server(search: &[PathBuf]) -> Option<PathBuf> {
    let mut candidates = search.iter().map(|folder| folder.join("dropbear"));
    candidates.find(|path| is_executable(path))
}

fn identify(commands: &dyn Commands, path: &Path, is_client: bool) -> Option<Program> {
    let said = say(commands, path, &["-V"])?;
    let version = said.lines().find(|line| line.starts_with("Dropbear "))?;
    let list = |flag| {
        let said = is_client.then(|| say(commands, path, &[flag, "help"]))?;
        available(&said?)
    };
    Some(Program {
        path: path.display().to_string(),
        version: version.trim().to_owned(),
        ciphers: list("-c").unwrap_or_default(),
        macs: list("-m").unwrap_or_default(),
        ..Program::default()
    })
}

/// It answers on standard error, and calls giving help a failure.
fn say(commands: &dyn Commands, path: &Path, args: &[&str]) -> Option<String> {
    let output = commands.run(&request(path).args(args)).ok()?;
    Some(output.stdout_text() + &output.stderr_text())
}

/// Reads `dbclient: Available ciphers: aes128-ctr,aes256-ctr`, whose order is the client's preference.
fn available(said: &str) -> Option<Vec<String>> {
    let line = said.lines().find(|line| line.contains("Available "))?;
    let (_, list) = line.rsplit_once(": ")?;
    let names = list.trim().split(',').filter(|name| !name.is_empty());
    Some(names.map(ToOwned::to_owned).collect())
}
