//! Where a `Ciphers` line goes: in place of the one that wins, into a drop-in that is read first, or
//! above the first block.
//!
//! Never behind a block, where it would belong to the block, and never before lines that give some hosts
//! a list of their own, which it would overrule.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use super::manager::{self, Manager};
use super::{Edit, PlanRequest, Refusal, Target, form};
use crate::files::{Kind, cure_of_reading};
use crate::layout;
use crate::resolver::{Considered, Effective, Location, Outcome, Side, Source};
use crate::syntax::{self, Dialect, Line, Tree};

/// The edit, and why it is there.
pub(super) fn edit(request: &PlanRequest<'_>) -> Result<(Edit, String), Refusal> {
    match &request.effective.source {
        Source::CommandLine(origin) => Err(overruled_by_option(origin)),
        Source::Line(winner) if is_ours(request, winner) => {
            match managed(request, &winner.file, Some(winner.line)) {
                None => in_place(request, winner),
                Some(manager) => beside(request, winner, &manager),
            }
        }
        _ => {
            refuse_overruling(request)?;
            match drop_in(request)? {
                Some(found) => Ok(found),
                None => inserted(request),
            }
        }
    }
}

/// An option wins over every line of every file.
fn overruled_by_option(origin: &Location) -> Refusal {
    let cure = if manager::is_of_policy(&origin.file) {
        "change the policy with update-crypto-policies and a module of your own (cipher@SSH); or give sshd_config the say with an empty CRYPTO_POLICY= in /etc/sysconfig/sshd, and restart sshd"
            .to_owned()
    } else {
        format!("change or remove the option there ({origin}), and restart sshd")
    };
    Refusal {
        location: Some(origin.clone()),
        what: "sshd is started with -oCiphers, which overrules every line of its file".to_owned(),
        cure,
    }
}

/// The first line whose block cannot be decided.
pub(super) fn depends_on(effective: &Effective) -> Option<Location> {
    let depends = |line: &&Considered| matches!(line.outcome, Outcome::Depends(_));
    let line = effective.considered.iter().find(depends)?;
    Some(line.location.clone())
}

/// Whether the winning line is in a file of the target. A user's files lie beside their main file; the
/// machine's are not theirs to edit.
fn is_ours(request: &PlanRequest<'_>, winner: &Location) -> bool {
    match &request.target {
        Target::System(_) => true,
        Target::User(main) => main
            .parent()
            .is_some_and(|home| winner.file.starts_with(home)),
    }
}

fn in_place(request: &PlanRequest<'_>, winner: &Location) -> Result<(Edit, String), Refusal> {
    let tree = tree(request, &winner.file)?;
    let lost = || Refusal {
        location: Some(winner.clone()),
        what: "the file changed while it was read".to_owned(),
        cure: "run this again".to_owned(),
    };
    let index = tree
        .lines()
        .iter()
        .position(|line| line.number == winner.line);
    let index = index.ok_or_else(lost)?;
    refuse_in_block(&tree, index, winner)?;
    let value = value(request);
    let after = syntax::replace_arguments(&tree, index, value.as_bytes()).ok_or_else(lost)?;
    let edit = Edit {
        path: winner.file.clone(),
        before: Some(tree.bytes().to_vec()),
        after,
    };
    let strategy = format!("The line that wins is changed: {winner}.");
    Ok((edit, strategy))
}

/// The value to write, in a form that the oldest program that reads it knows.
pub(super) fn value(request: &PlanRequest<'_>) -> String {
    let others = request.readers.iter().map(|reader| reader.release);
    let oldest = others.fold(request.release, std::cmp::min);
    form::value(request.order, request.effective, request.form, oldest)
}

fn dialect(request: &PlanRequest<'_>) -> Dialect {
    let dialect = match request.effective.side {
        Side::Client => Dialect::client(request.release),
        Side::Server => Dialect::server(request.release),
    };
    Dialect {
        strips_bom: request.layout.strips_bom(),
        ..dialect
    }
}

fn tree(request: &PlanRequest<'_>, path: &Path) -> Result<Tree, Refusal> {
    let bytes = request.files.read(path).map_err(|cause| Refusal {
        location: Some(Location::whole(path)),
        what: format!("cannot be read: {cause}"),
        cure: cure_of_reading(&cause).to_owned(),
    })?;
    Ok(syntax::parse(bytes, dialect(request)))
}

/// Who writes a file, where that is not the administrator. `line` is the one that would be changed.
fn managed(request: &PlanRequest<'_>, path: &Path, line: Option<usize>) -> Option<Manager> {
    manager::of_place(request, path).or_else(|| {
        let tree = tree(request, path).ok()?;
        manager::of_text(&tree, path, line).filter(|_| !request.force_managed)
    })
}

/// The journal, by which a change is undone, is JSON and cannot name every file Unix can.
pub(super) fn refuse_unspeakable(request: &PlanRequest<'_>, path: &Path) -> Result<(), Refusal> {
    let target = request.files.canonical(path).unwrap_or(path.to_owned());
    if path.to_str().is_some() && target.to_str().is_some() {
        return Ok(());
    }
    Err(Refusal {
        location: Some(Location::whole(path)),
        what: "this file's name is no UTF-8".to_owned(),
        cure: "give it another name, and the Include that reads it".to_owned(),
    })
}

/// Where the winning line is somebody else's: what a package or a vendor ships may be overruled by a file that
/// is read before it; a policy somebody has chosen may not, unless by hand.
fn beside(
    request: &PlanRequest<'_>,
    winner: &Location,
    manager: &Manager,
) -> Result<(Edit, String), Refusal> {
    let mut refusal = manager.refusal(&winner.file);
    let found = match refuse_overruling(request) {
        Ok(()) => drop_in(request)?.filter(|(edit, _)| super::prove(request, edit).is_ok()),
        Err(_) => None,
    };
    match (found, manager) {
        (Some(found), Manager::Package | Manager::Apple) => Ok(found),
        (Some((edit, _)), Manager::Policy) => {
            refusal.cure.push_str(&format!(
                "; or overrule it knowingly with a Ciphers line in {}, which is read first",
                edit.path.display()
            ));
            Err(refusal)
        }
        _ => Err(refusal),
    }
}

/// A line inside a block speaks for some hosts only, unless the block is `Host *` or `Match all`.
fn refuse_in_block(tree: &Tree, index: usize, winner: &Location) -> Result<(), Refusal> {
    let block = tree.lines()[..index]
        .iter()
        .rev()
        .find(|line| is_block(line));
    match block {
        Some(line) if !is_for_all(line) => Err(Refusal {
            location: Some(winner.clone()),
            what: format!(
                "the winning line belongs to the block of line {}",
                line.number
            ),
            cure: "edit it by hand: an order for every host does not belong there".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Lines for some hosts keep their say only while nothing global is read before them.
fn refuse_overruling(request: &PlanRequest<'_>) -> Result<(), Refusal> {
    let for_some = |line: &&Considered| matches!(line.outcome, Outcome::BlockDoesNotMatch(_));
    match request.effective.considered.iter().find(for_some) {
        None => Ok(()),
        Some(line) => Err(Refusal {
            location: Some(line.location.clone()),
            what: "this line gives some hosts a list of their own, and a new line before it would overrule it"
                .to_owned(),
            cure: format!(
                "put at the very end of {}, by hand: Host * and below it Ciphers {}",
                request.target.main_file().display(),
                value(request)
            ),
        }),
    }
}

fn is_block(line: &Line) -> bool {
    keyword(line).is_some_and(|word| ["host", "match"].contains(&word.as_str()))
}

fn keyword(line: &Line) -> Option<String> {
    let keyword = &line.statement()?.keyword.value;
    Some(String::from_utf8_lossy(keyword).to_ascii_lowercase())
}

fn arguments(line: &Line) -> impl Iterator<Item = &[u8]> {
    let statement = line.statement().into_iter();
    statement.flat_map(|it| {
        it.arguments
            .iter()
            .map(|argument| argument.value.as_slice())
    })
}

fn is_for_all(line: &Line) -> bool {
    let all: &[u8] = match keyword(line).as_deref() {
        Some("host") => b"*",
        _ => b"all",
    };
    arguments(line).eq([all])
}

/// A file of our own, where the main file includes a directory before its first block.
fn drop_in(request: &PlanRequest<'_>) -> Result<Option<(Edit, String)>, Refusal> {
    let Target::System(main) = &request.target else {
        return Ok(None);
    };
    let read = layout::in_force(request.files, main);
    if request.files.status(&read).is_err() {
        return Ok(None);
    }
    let tree = tree(request, &read)?;
    let globally = tree.lines().iter().take_while(|line| !is_block(line));
    let included = globally
        .filter(|line| keyword(line).as_deref() == Some("include"))
        .flat_map(arguments)
        .find_map(|pattern| directory(request, pattern));
    let Some(directory) = included else {
        return Ok(None);
    };
    let mut edits = free_names(request, &directory).map(|path| new_file(request, path));
    // The first that brings the order about; a directory may hold files that sort before the first name.
    let proven = { edits.clone() }.find(|edit| super::prove(request, edit).is_ok());
    let edit = proven.or_else(|| edits.next());
    Ok(edit.map(|edit| {
        let strategy = strategy_of(request, &edit.path);
        (edit, strategy)
    }))
}

fn new_file(request: &PlanRequest<'_>, path: PathBuf) -> Edit {
    let program = match request.effective.side {
        Side::Client => "ssh",
        Side::Server => "sshd",
    };
    let text = format!(
        "# Written by cipher-advisor. The first Ciphers line {program} reads wins.\nCiphers {}\n",
        value(request)
    );
    Edit {
        path,
        before: None,
        after: text.into_bytes(),
    }
}

fn strategy_of(request: &PlanRequest<'_>, path: &Path) -> String {
    let path = path.display();
    match &request.effective.source {
        Source::Line(winner) if is_ours(request, winner) => format!(
            "The line that wins is not the administrator's ({winner}), so a file of its own, read before it: {path}."
        ),
        _ => format!(
            "No line sets the list today, so a file of its own, read before the others: {path}."
        ),
    }
}

/// The directory of a pattern like `/etc/ssh/ssh_config.d/*.conf`, where there is one.
fn directory(request: &PlanRequest<'_>, pattern: &[u8]) -> Option<PathBuf> {
    let pattern = request.layout.local(pattern);
    let pattern = Path::new(std::str::from_utf8(&pattern).ok()?);
    let name = pattern.file_name()?.to_str()?;
    let directory = pattern.parent()?;
    let is_plain = !directory
        .to_str()?
        .contains(['*', '?', '[', '\\', '~', '$', '%']);
    if !is_plain || !["*.conf", "*"].contains(&name) {
        return None;
    }
    let directory = request.layout.directory.join(directory);
    let is_directory = request
        .files
        .status(&directory)
        .is_ok_and(|it| it.kind == Kind::Directory);
    let is_managed = manager::of_place(request, &directory).is_some();
    (is_directory && !is_managed).then_some(directory)
}

/// Names that are not taken and sort before every file there that sets `Ciphers`.
fn free_names<'a>(
    request: &'a PlanRequest<'_>,
    directory: &'a Path,
) -> impl Iterator<Item = PathBuf> + Clone + 'a {
    let names = ["10", "05", "00"].map(|number| format!("{number}-cipher-advisor.conf"));
    let paths = names.into_iter().map(|name| directory.join(name));
    paths.filter(move |path| {
        let considered = request.effective.considered.iter();
        let mut setters = considered
            .map(|line| line.location.file.as_path())
            .filter(|file| file.parent() == Some(directory));
        setters.all(|file| path.as_os_str() < file.as_os_str())
            && request.files.link_status(path).is_err()
    })
}

/// A line in the main file, above the first block, else before its first statement.
fn inserted(request: &PlanRequest<'_>) -> Result<(Edit, String), Refusal> {
    let main = request.target.main_file();
    if let Some(manager) = managed(request, main, None) {
        return Err(manager.refusal(main));
    }
    let line = format!("Ciphers {}", value(request));
    let read = layout::in_force(request.files, main);
    if read != main {
        return Err(Refusal {
            location: Some(Location::whole(&read)),
            what: format!(
                "{} does not exist, and a new one would hide all of this file",
                main.display()
            ),
            cure: format!(
                "copy this file to {} first, then run this again",
                main.display()
            ),
        });
    }
    if request.files.link_status(main).is_err() {
        let edit = Edit {
            path: main.to_owned(),
            before: None,
            after: format!("{line}\n").into_bytes(),
        };
        let strategy = format!(
            "There is no {} yet: it is made, with one line.",
            main.display()
        );
        return Ok((edit, strategy));
    }
    let tree = tree(request, main)?;
    let lines = tree.lines();
    let first_block = lines.iter().position(is_block);
    let first_statement = lines.iter().position(|line| line.statement().is_some());
    let at = first_block.or(first_statement).unwrap_or(lines.len());
    let at = above_comments(lines, at);
    let edit = Edit {
        path: main.to_owned(),
        before: Some(tree.bytes().to_vec()),
        after: syntax::insert_line(&tree, at, line.as_bytes()),
    };
    let place = if first_block.is_some() {
        "above the first block of"
    } else {
        "before the other lines of"
    };
    let strategy = format!("A new line {place} {}.", main.display());
    Ok((edit, strategy))
}

/// The index of the comments that stand directly above a line, which belong to it.
fn above_comments(lines: &[Line], index: usize) -> usize {
    let comments = lines[..index].iter().rev();
    let count = comments
        .take_while(|line| line.content == syntax::Content::Comment)
        .count();
    // A comment that opens the file is about the file.
    if count == index { index } else { index - count }
}
