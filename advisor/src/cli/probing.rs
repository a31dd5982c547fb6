//! What only processes of their own can tell, added to a report of this machine.
#![forbid(unsafe_code)]

use advisor::probing::{probe_key_exchange, probe_library};
use engine::host::SystemCommands;
use engine::report::Report;

use super::args::Options;
use super::surroundings::Surroundings;

/// Adds it to a report of this machine, made now. It takes well under a second.
pub(super) fn probe(report: &mut Report, here: &Surroundings, options: &Options) {
    if options.measurements.is_some() || options.root.is_some() {
        return;
    }
    if let Ok(helper) = std::env::current_exe() {
        probe_library(report, &SystemCommands, &helper);
    }
    if options.ssh_config.is_none() {
        let (files, programs) = (&here.files, &mut report.openssh);
        probe_key_exchange(programs, files, &SystemCommands, &here.perspective);
    }
}
