//! The systemd unit of a daemon: which words its `ExecStart` makes of the variables it is given
//! (systemd.service(5), systemd.exec(5), systemd.unit(5)).
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::arguments;
use super::environment;
use super::{Started, Word};
use crate::files::Files;
use crate::resolver::Location;

/// Where units lie, the first with one of a name hiding those after it.
const DIRECTORIES: [&str; 4] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// What the unit of this daemon would start.
pub(super) fn started(files: &dyn Files, program: &str) -> Option<Started> {
    // Debian's unit has the name of the package.
    let without_d = program.strip_suffix('d').unwrap_or(program);
    let mut units = [program, without_d]
        .map(|name| unit(files, &format!("{name}.service")))
        .into_iter();
    let unit = units.find_map(|unit| unit)?;
    let (command, environment) = (unit.command.as_ref()?, unit.environment(files));
    let words = expanded(command, &environment);
    let (name, arguments) = words.split_first()?;
    let path = name.text.trim_start_matches(['@', '-', ':', '+', '!']);
    let is_daemon = Path::new(path).file_name()?.to_str()? == program;
    is_daemon.then(|| arguments::started(arguments, false))?
}

/// The settings that decide about a command line.
#[derive(Default)]
struct Unit {
    command: Option<Word>,
    variables: Vec<Word>,
    variable_files: Vec<String>,
}

/// A unit with its drop-ins. One that is masked is a link to nothing and starts nothing.
fn unit(files: &dyn Files, name: &str) -> Option<Unit> {
    let main = DIRECTORIES
        .iter()
        .map(|directory| Path::new(directory).join(name))
        .find(|path| files.link_status(path).is_ok())?;
    let mut unit = Unit::default();
    unit.read(files, &main);
    for drop_in in drop_ins(files, name) {
        unit.read(files, &drop_in);
    }
    Some(unit)
}

/// In the order of their names, whatever directory they lie in.
fn drop_ins(files: &dyn Files, name: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for directory in DIRECTORIES {
        let directory = Path::new(directory).join(format!("{name}.d"));
        for path in files.list(&directory).unwrap_or_default() {
            let is_new = !found.iter().any(|it| it.file_name() == path.file_name());
            if is_new && path.extension().is_some_and(|it| it == "conf") {
                found.push(path);
            }
        }
    }
    found.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    found
}

impl Unit {
    fn read(&mut self, files: &dyn Files, path: &Path) {
        let bytes = files.read(path).unwrap_or_default();
        let mut is_service = false;
        for (line, text) in logical_lines(&String::from_utf8_lossy(&bytes)) {
            if text.starts_with('[') {
                is_service = text == "[Service]";
            } else if is_service && let Some((key, value)) = text.split_once('=') {
                let location = Location {
                    line,
                    ..Location::whole(path)
                };
                self.set(key.trim_end(), value.trim_start(), location);
            }
        }
    }

    /// An empty value forgets what was set before.
    fn set(&mut self, key: &str, value: &str, location: Location) {
        let text = value.to_owned();
        match (key, value) {
            ("ExecStart", "") => self.command = None,
            ("Environment", "") => self.variables.clear(),
            ("EnvironmentFile", "") => self.variable_files.clear(),
            ("ExecStart", _) => self.command = Some(Word { text, location }),
            ("Environment", _) => self.variables.push(Word { text, location }),
            ("EnvironmentFile", _) => self.variable_files.push(text),
            _ => {}
        }
    }

    /// Every variable the command sees; files overrule the unit.
    fn environment(&self, files: &dyn Files) -> HashMap<String, Word> {
        let mut environment = HashMap::new();
        for setting in &self.variables {
            for word in environment::words(&setting.text) {
                if let Some((name, text)) = word.split_once('=') {
                    let word = Word {
                        text: text.to_owned(),
                        location: setting.location.clone(),
                    };
                    environment.insert(name.to_owned(), word);
                }
            }
        }
        for pattern in &self.variable_files {
            let pattern = pattern.strip_prefix('-').unwrap_or(pattern);
            for file in files.glob(Path::new(pattern)).unwrap_or_default() {
                let bytes = files.read(&file).unwrap_or_default();
                let text = String::from_utf8_lossy(&bytes);
                environment.extend(environment::assignments(&text, &file));
            }
        }
        environment
    }
}

/// Lines without comments, those that end in a backslash put together, each with its number.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with(['#', ';']) || (line.is_empty() && !goes_on) {
            continue;
        }
        let (line, more) = match line.strip_suffix('\\') {
            Some(line) => (line, true),
            None => (line, false),
        };
        match found.last_mut() {
            Some((_, last)) if goes_on => {
                last.push(' ');
                last.push_str(line);
            }
            _ => found.push((index + 1, line.to_owned())),
        }
        goes_on = more;
    }
    found
}

/// `$NAME` as a word of its own becomes the words of its value; `${NAME}` is put in place.
fn expanded(command: &Word, environment: &HashMap<String, Word>) -> Vec<Word> {
    let mut words = Vec::new();
    for text in environment::words(&command.text) {
        let name = text.strip_prefix('$').filter(|name| is_name(name));
        if let Some(name) = name {
            let value = environment.get(name);
            let parts = value.map_or_else(Vec::new, |value| environment::words(&value.text));
            words.extend(parts.into_iter().map(|text| Word {
                text,
                location: value.map_or(&command.location, |it| &it.location).clone(),
            }));
        } else {
            words.push(in_place(&text, command, environment));
        }
    }
    words
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && text.chars().all(is_part)
}

fn in_place(text: &str, command: &Word, environment: &HashMap<String, Word>) -> Word {
    let mut word = Word {
        text: String::new(),
        location: command.location.clone(),
    };
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        word.text.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            rest = after;
            break;
        };
        if let Some(value) = environment.get(name) {
            word.text.push_str(&value.text);
            word.location = value.location.clone();
        }
        rest = behind;
    }
    word.text.push_str(rest);
    word
}
