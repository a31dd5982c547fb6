//! The `advisor` command.

fn main() {}
