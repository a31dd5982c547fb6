//! Files of the user: reports saved and opened, configuration files looked into.
#![forbid(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::sync::Arc;

use advisor::files::Files;
use advisor::output::{Document, Style, View, csv, json, markdown, text};
use advisor::saved;

use crate::model::Saving;
use crate::model::compare::Other;
use crate::model::configuration::{Looking, Spot};

/// A saved report has some hundred kilobytes; a device has no end.
const LONGEST: u64 = 64 << 20;

pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    read.map_err(|error| format!("{}: cannot be read: {error}", path.display()))?;
    Ok(bytes)
}

pub(super) fn open(path: &Path) -> Result<Other, String> {
    let shown = path.display();
    let report = saved::parse(&read(path)?).map_err(|what| {
        format!("{shown}{what}; give a file that s here, or advisor --save, has written")
    })?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    Ok(Other {
        name: name.to_string_lossy().into_owned(),
        report: Arc::new(report),
    })
}

pub(super) fn look_into(files: &dyn Files, spot: &Spot) -> Result<Looking, String> {
    let bytes = files
        .read(&spot.file)
        .map_err(|error| format!("{}: cannot be read: {error}", spot.file.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(Looking {
        spot: spot.clone(),
        lines: text.lines().map(str::to_owned).collect(),
    })
}

/// Never over a file that is there.
pub(super) fn save(path: &Path, form: Saving, document: &Document) -> Result<String, String> {
    let text = match form {
        Saving::Json => json(document),
        Saving::Csv => csv(document, View::Whole),
        Saving::Markdown => markdown(document, View::Whole),
        Saving::Text => text(document, View::Whole, Style::default()),
    };
    let shown = path.display();
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Ok(()) => Ok(format!("Saved as {shown}")),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(format!("{shown}: exists already; give another name"))
        }
        Err(error) => Err(format!("{shown}: cannot be written: {error}")),
    }
}
