//! What only processes of their own can tell about this machine: a library in both its states, and the first
//! packets of `ssh` and `sshd`.
#![forbid(unsafe_code)]

use engine::host::SystemCommands;
use engine::measure::initialisation;
use engine::report::Report;

use super::args::Options;
use super::live;
use super::surroundings::Surroundings;

/// Adds it to a report of this machine, made now. It takes well under a second.
pub(super) fn probe(report: &mut Report, here: &Surroundings, options: &Options) {
    if options.measurements.is_some() || options.root.is_some() {
        return;
    }
    let library = report.openssh.libcrypto.as_mut();
    if let (Some(library), Ok(helper)) = (library, std::env::current_exe()) {
        match initialisation(&SystemCommands, &helper, &library.name) {
            Ok(found) => library.initialisation = Some(found),
            Err(why) => report.warnings.push(why),
        }
    }
    if options.ssh_config.is_none() {
        live::note_strict_key_exchange(&mut report.openssh, here);
    }
}
