//! What only processes of their own can tell about this machine: a library in both its states, and the first
//! packets of `ssh` and `sshd`.
#![forbid(unsafe_code)]

use std::path::Path;

use engine::host::Commands;
use engine::measure::initialisation;
use engine::report::{OpenSsh, Report};

use crate::examination::Perspective;
use crate::files::Files;
use crate::live::offer;
use crate::resolver::Side;

/// Adds what the library does in either state to a report of this machine, made now. `helper` is a program that
/// calls [`engine::measure::be_helper`] first of all.
pub fn probe_library(report: &mut Report, commands: &dyn Commands, helper: &Path) {
    let Some(library) = report.openssh.libcrypto.as_mut() else {
        return;
    };
    match initialisation(commands, helper, &library.name) {
        Ok(found) => library.initialisation = Some(found),
        Err(why) => report.warnings.push(why),
    }
}

/// Asks both programs whether they keep a strict key exchange. Where one cannot be asked, it stays unknown:
/// nobody has asked for that question.
pub fn probe_key_exchange(
    programs: &mut OpenSsh,
    files: &dyn Files,
    commands: &dyn Commands,
    perspective: &Perspective,
) {
    for side in [Side::Client, Side::Server] {
        let offered = offer(files, commands, perspective, programs, side, None);
        let program = match side {
            Side::Client => &mut programs.client,
            Side::Server => &mut programs.server,
        };
        if let (Ok(Some(Ok(offer))), Some(program)) = (offered, program) {
            program.strict_key_exchange = Some(offer.strict_key_exchange);
        }
    }
}
