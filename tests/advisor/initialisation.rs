//! A library that is slow until it is set up, seen by a helper process and told as a finding.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use advisor::resolver::Side;
use engine::host::SystemCommands;
use engine::measure::initialisation;
use engine::report::{Initialisation, Library, Report};
use tempfile::TempDir;

use crate::document::document;
use crate::report::{DEFAULT, effective, machine};
use crate::support::skip_here;

const FINDING: &str = "library-not-initialised";

#[test]
fn a_library_that_waits_for_its_set_up_is_found() {
    let directory = TempDir::new().unwrap();
    let Some(library) = fake(directory.path(), &[]) else {
        return;
    };
    let found = ask(&library).unwrap();
    assert!(
        found.after_gb_per_s > 1.5 * found.before_gb_per_s,
        "{found:?}"
    );
    let mut report = machine();
    report.openssh.libcrypto = Some(Library {
        name: library,
        version: "FakeSSL 1.0".to_owned(),
        initialisation: Some(found),
    });
    let findings = of(report);
    let finding = findings.iter().find(|it| it.id == FINDING).unwrap();
    assert!(
        finding.what.starts_with("FakeSSL 1.0 is slow"),
        "{finding:?}"
    );
}

#[test]
fn a_library_that_computes_wrong_is_refused_with_the_reason() {
    let directory = TempDir::new().unwrap();
    let Some(library) = fake(directory.path(), &["--cfg", "wrong"]) else {
        return;
    };
    let why = ask(&library).unwrap_err();
    assert!(why.contains("it computes wrong"), "{why}");
}

#[test]
fn a_library_that_is_none_is_refused_with_the_reason() {
    let why = ask("libcrypto.so.does-not-exist").unwrap_err();
    assert!(why.contains("libcrypto.so.does-not-exist"), "{why}");
}

#[test]
fn a_small_difference_is_no_finding() {
    let mut report = machine();
    let library = report.openssh.libcrypto.as_mut().unwrap();
    library.initialisation = Some(Initialisation {
        before_gb_per_s: 4.0,
        after_gb_per_s: 4.6,
    });
    assert!(of(report).iter().all(|it| it.id != FINDING));
    assert!(of(machine()).iter().all(|it| it.id != FINDING));
}

fn of(report: Report) -> Vec<advisor::diagnosis::Finding> {
    let client = effective(Side::Client, &DEFAULT);
    let server = effective(Side::Server, &DEFAULT);
    document(report, &client, &server).findings
}

fn ask(library: &str) -> Result<Initialisation, String> {
    let helper = Path::new(env!("CARGO_BIN_EXE_advisor"));
    initialisation(&SystemCommands, helper, library)
}

/// Compiles the library; `None` after saying why where that cannot be done.
fn fake(directory: &Path, flags: &[&str]) -> Option<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/support/fake_libcrypto.rs");
    let name = format!(
        "{}fake{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let library: PathBuf = directory.join(name);
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler)
        .args(["--edition", "2024", "-O", "--crate-type", "cdylib"])
        .args(flags)
        .arg("-o")
        .arg(&library)
        .arg(source)
        .output();
    match output {
        Ok(output) if output.status.success() => library.to_str().map(str::to_owned),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(why) => {
            skip_here(&format!("rustc cannot be started: {why}"));
            None
        }
    }
}
