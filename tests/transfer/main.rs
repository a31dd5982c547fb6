//! Real transfers between the installed programs.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

mod openssh;
#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if let Some(code) = engine::transfer::be_helper() {
        return code;
    }
    let tests = openssh::tests();
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}
