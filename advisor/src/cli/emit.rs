//! Results to standard output or a file, in the format asked for; notes to standard error.
#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use advisor::output::{Document, Style, View, csv, json, markdown, text, visible};
use anyhow::{Context, Result, bail};

use super::again;
use super::args::{ColorName, Options};

/// Prints the parts of a document a command is about, and saves it where asked.
pub(super) fn emit(document: &Document, view: View, options: &Options) -> Result<()> {
    let document = &Document {
        commands: again::commands(options),
        measurements_from: options.measurements.as_deref().map(named),
        ..document.clone()
    };
    if let Some(path) = &options.save {
        std::fs::write(path, json(document))
            .with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    let asked = options.json || options.csv || options.markdown || options.output.is_some();
    if options.quiet && !asked {
        return Ok(());
    }
    let text = render(document, view, options)?;
    match &options.output {
        Some(path) => std::fs::write(path, text)
            .with_context(|| format!("{}: cannot be written", path.display())),
        None => print(&text),
    }
}

fn named(path: &Path) -> String {
    match path.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => path.display().to_string(),
    }
}

/// Opens the files the result goes to: what cannot be written is better known before the work.
pub(super) fn reserve(options: &Options) -> Result<()> {
    for path in [&options.output, &options.save].into_iter().flatten() {
        let opened = OpenOptions::new().create(true).append(true).open(path);
        opened.with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    Ok(())
}

fn render(document: &Document, view: View, options: &Options) -> Result<String> {
    if options.json {
        return Ok(json(document));
    }
    if options.csv {
        if matches!(view, View::Explain | View::Doctor | View::History) {
            bail!(
                "--csv has the measurements only, and this command makes none; use --json or --markdown"
            );
        }
        return Ok(csv(document, view));
    }
    if options.markdown {
        return Ok(markdown(document, view));
    }
    Ok(text(document, view, style(options)))
}

/// A note to standard error. Whoever closed it does not want to know.
pub(super) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "advisor: {}", visible(text));
}

/// Writes to standard output. Whoever reads it may stop reading: that is no failure.
pub(super) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

fn style(options: &Options) -> Style {
    let to_file = options.output.is_some();
    Style {
        width: if to_file { 80 } else { width() },
        ascii: options.plain || (!to_file && !is_utf8()),
        color: !options.plain && !to_file && colored(options.color),
    }
}

fn colored(color: ColorName) -> bool {
    let choice = match color {
        ColorName::Auto => anstream::ColorChoice::Auto,
        ColorName::Always => anstream::ColorChoice::Always,
        ColorName::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// The terminal's columns, but no line longer than people can follow.
fn width() -> usize {
    const READABLE: usize = 120;
    let columns = io::stdout().is_terminal().then(columns).flatten();
    columns.unwrap_or(80).min(READABLE)
}

#[cfg(unix)]
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

#[cfg(not(unix))]
fn columns() -> Option<usize> {
    None
}

/// Whether the locale's character set is UTF-8, by the rules of setlocale(3).
fn is_utf8() -> bool {
    if cfg!(windows) {
        return true;
    }
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set);
    locale.is_some_and(|it| {
        let it = it.to_ascii_lowercase();
        it.contains("utf-8") || it.contains("utf8")
    })
}
