//! The rules of the house, enforced on the sources. Each test is one invariant and says what it protects.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file: its path from the top of the repository, and its code without comments.
struct Source {
    path: String,
    text: String,
    code: String,
}

impl Source {
    fn lines_with<'a>(&'a self, word: &'a str) -> impl Iterator<Item = String> + 'a {
        let numbered = self.code.lines().enumerate();
        numbered
            .filter(move |(_, line)| contains_word(line, word))
            .map(move |(number, line)| format!("{}:{}: {}", self.path, number + 1, line.trim()))
    }

    fn is_below(&self, folder: &str) -> bool {
        self.path.starts_with(folder)
    }
}

#[test]
fn unsafe_stays_in_its_rooms() {
    let found = everywhere(
        |source| !may_hold_unsafe(&source.path),
        |source| source.lines_with("unsafe").collect(),
    );
    // The row macro turns safe kernels into `unsafe fn` pointers; nothing else may say the word.
    assert_none(
        &found,
        "`unsafe` outside kernels/{lanes,row,wipe}, libcrypto/ffi.rs and sys.rs",
    );
}

#[test]
fn every_other_file_forbids_unsafe() {
    let sources = sources();
    let unprotected: Vec<_> = sources
        .iter()
        .filter(|source| !may_hold_unsafe(&source.path) && !leads_to_unsafe(&source.path))
        .filter(|source| !source.code.contains("#![forbid(unsafe_code)]"))
        .map(|source| source.path.clone())
        .collect();
    assert_none(&unprotected, "files without `#![forbid(unsafe_code)]`");
}

#[test]
fn data_flows_one_way_through_the_engine() {
    // A room may look down at what it is built on, never up at what is built on it.
    let above = [
        (
            "engine/src/cpu/",
            &["kernels", "packet", "providers", "measure"][..],
        ),
        (
            "engine/src/kernels/",
            &["packet", "providers", "installed", "measure", "report"],
        ),
        (
            "engine/src/packet/",
            &["providers", "installed", "measure", "report"],
        ),
        (
            "engine/src/installed/",
            &["kernels", "packet", "providers", "measure"],
        ),
        ("engine/src/providers/", &["measure", "transfer"]),
        (
            "engine/src/transfer/",
            &["kernels", "packet", "providers", "measure", "report"],
        ),
        (
            "engine/src/report.rs",
            &["kernels", "packet", "providers", "installed", "measure"],
        ),
    ];
    for (room, forbidden) in above {
        for word in forbidden {
            let path = format!("crate::{word}");
            let found = everywhere(
                |source| source.is_below(room),
                |source| source.lines_with(&path).collect(),
            );
            assert_none(&found, &format!("{room} reaches up to {word}"));
        }
    }
}

#[test]
fn advisor_uses_only_the_engines_public_data_and_entry_points() {
    for room in ["engine::kernels", "engine::packet"] {
        let found = everywhere(
            |source| source.is_below("advisor/src/"),
            |source| source.lines_with(room).collect(),
        );
        assert_none(&found, "the advisor must work on a report of another host");
    }
    let found = everywhere(
        |source| source.is_below("engine/src/"),
        |source| source.lines_with("advisor").collect(),
    );
    let code: Vec<_> = found
        .into_iter()
        .filter(|line| line.contains("advisor::"))
        .collect();
    assert_none(&code, "the engine knows no advisor");
}

#[test]
fn syntax_knows_no_keyword() {
    for room in [
        "crate::resolver",
        "crate::policy",
        "crate::plan",
        "crate::apply",
    ] {
        let found = everywhere(
            |source| source.is_below("advisor/src/syntax/"),
            |source| source.lines_with(room).collect(),
        );
        assert_none(&found, "bytes ↔ tree stands below meaning");
    }
}

#[test]
fn the_model_knows_no_toolkit() {
    for toolkit in ["ratatui", "crossterm", "egui", "eframe"] {
        let found = everywhere(
            |source| source.is_below("app/src/model/"),
            |source| source.lines_with(toolkit).collect(),
        );
        assert_none(&found, "both faces stand on one model");
    }
}

#[test]
fn libraries_write_nothing_to_the_screen() {
    for word in [
        "println!",
        "eprintln!",
        "print!",
        "eprint!",
        "io::stdout",
        "io::stderr",
    ] {
        let found = everywhere(
            |source| !is_binary(&source.path),
            |source| source.lines_with(word).collect(),
        );
        assert_none(&found, "only binaries print");
    }
}

#[test]
fn the_outside_world_is_a_parameter() {
    for word in [
        "Instant::now",
        "SystemTime::now",
        "Command::new",
        "thread::sleep",
    ] {
        let found = everywhere(
            |source| {
                !source.is_below("engine/src/host/")
                    && !is_binary(&source.path)
                    && !source.path.ends_with("sys.rs")
            },
            |source| source.lines_with(word).collect(),
        );
        assert_none(&found, "clock and commands come in through engine::host");
    }
    let found = everywhere(
        |source| {
            source.is_below("advisor/src/")
                && !source.is_below("advisor/src/files/")
                && !is_binary(&source.path)
        },
        |source| source.lines_with("std::fs").collect(),
    );
    assert_none(&found, "configuration is reached through advisor::files");
}

#[test]
fn files_are_rooms_not_halls() {
    let long: Vec<_> = sources()
        .iter()
        .map(|source| (source.text.lines().count(), &source.path))
        .filter(|(lines, _)| *lines > 700)
        .map(|(lines, path)| format!("{path}: {lines} lines"))
        .collect();
    assert_none(&long, "files of over 700 lines want splitting");
}

#[test]
fn the_rules_see_the_sources() {
    let sources = sources();
    assert!(
        sources
            .iter()
            .any(|source| source.path == "engine/src/kernels/row.rs"),
        "the walk finds kernels"
    );
    assert!(
        sources
            .iter()
            .any(|source| source.is_below("advisor/src/resolver/")),
        "the walk finds the resolver"
    );
    assert!(contains_word("let x = unsafe { f() };", "unsafe"));
    assert!(!contains_word("#![forbid(unsafe_code)]", "unsafe"));
    assert!(
        without_comments("a // unsafe\nb /* c */")
            .lines()
            .all(|line| !line.contains("unsafe"))
    );
}

fn may_hold_unsafe(path: &str) -> bool {
    path.starts_with("engine/src/kernels/lanes/")
        || path == "engine/src/kernels/row.rs"
        || path == "engine/src/kernels/wipe.rs"
        || path.starts_with("engine/src/providers/libcrypto/ffi")
        || path.ends_with("/sys.rs")
}

/// `forbid` reaches into child modules, so the roots above a room with `unsafe` cannot have it.
fn leads_to_unsafe(path: &str) -> bool {
    let Some(folder) = path
        .strip_suffix("mod.rs")
        .or_else(|| path.strip_suffix("lib.rs"))
    else {
        return false;
    };
    let rooms = [
        "engine/src/kernels/lanes/mod.rs",
        "engine/src/kernels/row.rs",
        "engine/src/kernels/wipe.rs",
        "engine/src/providers/libcrypto/ffi.rs",
        "engine/src/host/sys.rs",
        "advisor/src/files/sys.rs",
        "app/src/sys.rs",
    ];
    rooms.iter().any(|room| room.starts_with(folder))
}

fn is_binary(path: &str) -> bool {
    path.ends_with("/main.rs") || path.contains("/bin/") || path.contains("/src/cli/")
}

fn everywhere(
    keep: impl Fn(&Source) -> bool,
    look: impl Fn(&Source) -> Vec<String>,
) -> Vec<String> {
    sources()
        .iter()
        .filter(|source| keep(source))
        .flat_map(look)
        .collect()
}

fn assert_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

fn sources() -> Vec<Source> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the workspace")
        .to_owned();
    let mut files = Vec::new();
    for member in ["engine/src", "advisor/src", "app/src"] {
        collect(&top.join(member), &mut files);
    }
    files.sort();
    files.into_iter().map(|file| read(&top, &file)).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder)
        .expect("the workspace's sources are readable")
        .flatten()
    {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn read(top: &Path, file: &Path) -> Source {
    let text = fs::read_to_string(file).expect("a source file is UTF-8");
    let path = file
        .strip_prefix(top)
        .expect("collected below the top")
        .to_string_lossy()
        .replace('\\', "/");
    let code = without_tests(&without_comments(&text));
    Source { path, text, code }
}

/// The code with comments blanked out. Strings are left alone: none of the words looked for is in one.
fn without_comments(text: &str) -> String {
    let line_comments = text
        .lines()
        .map(|line| line.find("//").map_or(line, |at| &line[..at]));
    line_comments.collect::<Vec<_>>().join("\n")
}

/// The code above the unit tests, which stand last in a file and may do as they please.
fn without_tests(code: &str) -> String {
    code.find("#[cfg(test)]\nmod tests")
        .map_or(code, |at| &code[..at])
        .to_owned()
}

fn contains_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(|c| is_part(c) && word.starts_with(is_part))
            && !after.is_some_and(is_part)
    })
}
