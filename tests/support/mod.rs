//! What several integration tests need of the machine they run on.
#![forbid(unsafe_code)]
#![allow(dead_code, reason = "no test binary uses all of it")]

use std::path::PathBuf;

/// An installed program, or `None` after saying which package would bring it.
///
/// # Panics
/// When it is absent and `ADVISOR_TEST_REQUIRE=all` forbids to skip.
pub(crate) fn program(name: &str, package: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let found = std::env::split_paths(&path)
        .chain(usual)
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file());
    if found.is_none() {
        skip(&format!("needs {package}"));
    }
    found
}

/// Says why a test does nothing here.
///
/// # Panics
/// When `ADVISOR_TEST_REQUIRE=all` forbids to skip.
pub(crate) fn skip(why: &str) {
    let required = std::env::var_os("ADVISOR_TEST_REQUIRE").is_some_and(|value| value == "all");
    assert!(!required, "ADVISOR_TEST_REQUIRE=all, but: {why}");
    println!("skipped: {why}");
}

/// Says what this machine cannot do; no package would bring it, so it never fails.
pub(crate) fn skip_here(why: &str) {
    println!("skipped: {why}");
}
