//! The `advisor` command.
#![forbid(unsafe_code)]

fn main() {}
