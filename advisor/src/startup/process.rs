//! Running daemons, as the kernel shows them.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use super::arguments;
use super::{Running, Started, Word};
use crate::files::Files;
use crate::resolver::Location;

/// A title that long was cut at the end (`openbsd-compat/setproctitle.c`).
const LONGEST_TITLE: usize = 1023;

/// The daemons of this name that wait for connections, by process number.
///
/// Those of containers are left out where that can be seen: they read other files.
pub(super) fn listeners(
    files: &dyn Files,
    processes: &Path,
    program: &str,
) -> Vec<(Running, Started)> {
    directories(files, processes, program)
        .into_iter()
        .filter_map(|directory| listener(files, &directory, program))
        .collect()
}

/// Variables of the daemons of this name, each assignment once.
pub(super) fn variables(
    files: &dyn Files,
    processes: &Path,
    program: &str,
    names: &[&str],
) -> Vec<(Location, String)> {
    let mut found: Vec<(Location, String)> = Vec::new();
    for directory in directories(files, processes, program) {
        let file = directory.join("environ");
        let bytes = files.read(&file).unwrap_or_default();
        let assignments = String::from_utf8_lossy(&bytes).into_owned();
        let wanted = assignments.split('\0').filter(|assignment| {
            let name = assignment.split_once('=').map(|(name, _)| name);
            name.is_some_and(|name| names.contains(&name))
        });
        for assignment in wanted {
            if found.iter().all(|(_, known)| known != assignment) {
                found.push((Location::whole(&file), assignment.to_owned()));
            }
        }
    }
    found
}

/// The processes of this name.
fn directories(files: &dyn Files, processes: &Path, program: &str) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = files
        .list(processes)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|path| Some((path.file_name()?.to_str()?.parse().ok()?, path)))
        .collect();
    found.sort();
    let is_named = |directory: &Path| {
        let name = files.read(&directory.join("comm")).unwrap_or_default();
        name.trim_ascii_end() == program.as_bytes()
    };
    found
        .into_iter()
        .map(|(_, directory)| directory)
        .filter(|directory| is_named(directory) && !is_contained(files, processes, directory))
        .collect()
}

/// Whether a process surely lives in another world of process numbers than we do.
fn is_contained(files: &dyn Files, processes: &Path, directory: &Path) -> bool {
    let world = |of: PathBuf| files.status(&of.join("ns/pid")).map(|it| it.identity);
    matches!((world(processes.join("self")), world(directory.to_owned())), (Ok(ours), Ok(theirs)) if ours != theirs)
}

fn listener(files: &dyn Files, directory: &Path, program: &str) -> Option<(Running, Started)> {
    let command_line = &directory.join("cmdline");
    let bytes = files.read(command_line).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_end_matches('\0');
    let location = Location::whole(command_line);
    let word = |text: &str| Word {
        text: text.to_owned(),
        location: location.clone(),
    };
    // Since 8.2 a listener writes its arguments over themselves, as one string with a title around it;
    // sessions put the user there.
    let (words, is_rewritten) = match text.strip_prefix(&format!("{program}: ")) {
        Some(title) if text.len() < LONGEST_TITLE => {
            let arguments = title.split_once(" [listener]")?.0;
            (arguments.split(' ').map(word).collect::<Vec<_>>(), true)
        }
        Some(_) => return None,
        None => (text.split('\0').map(word).collect(), false),
    };
    let (name, arguments) = words.split_first()?;
    let is_daemon = Path::new(&name.text).file_name()?.to_str()? == program;
    let started = is_daemon.then(|| arguments::started(arguments, is_rewritten))??;
    let running = Running {
        id: directory.file_name()?.to_str()?.parse().ok()?,
        program: name.text.clone().into(),
        arguments: arguments.iter().map(|word| word.text.clone()).collect(),
    };
    Some((running, started))
}
