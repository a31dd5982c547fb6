//! `--apply --reload`: the files of the server and the daemon that reads them change together, or not at all.
#![forbid(unsafe_code)]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use advisor::apply::{self, Applied, ApplyRequest};
use advisor::examination::Examination;
use advisor::layout;
use advisor::plan::Plan;
use advisor::reload::{
    Reload, ReloadError, ReloadRequest, Reloaded, ServiceRequest, TcpProbe, find,
};
use advisor::resolver::Side;
use anyhow::{Context, Result};
use engine::host::SystemCommands;
use engine::report::OpenSsh;

use super::job::writing;
use super::surroundings::Surroundings;

/// Writes, and has the daemon take it up. Gives what was written, and what became of the daemon.
pub(super) fn apply(
    here: &Surroundings,
    examination: &Examination<'_>,
    plans: &[Plan],
    programs: &OpenSsh,
    write: impl FnOnce() -> Result<Applied>,
) -> Result<(Applied, String)> {
    let plan = plans.iter().find(|plan| plan.side == Side::Server);
    let plan = plan.context(
        "--reload is about sshd: give --side server or both, or a policy that restricts; nothing was changed",
    )?;
    let sshd = programs.server.as_ref();
    let sshd = sshd.context("there is no sshd here to reload; nothing was changed")?;
    let perspective = &here.perspective;
    let main = perspective.server.main_file();
    let file = layout::in_force(&here.files, main);
    let running = perspective.running_daemon(&here.files);
    let service = find(ServiceRequest {
        files: &here.files,
        commands: &SystemCommands,
        program: perspective.layout.daemon,
        is_usual: main == perspective.layout.server_file(),
        running: running.as_ref(),
    });
    let service = service.ok_or_else(|| ReloadError::NotRunning(file.clone()))?;
    let request = ReloadRequest {
        commands: &SystemCommands,
        probe: &TcpProbe,
        pause: &std::thread::sleep,
        sshd: Path::new(&sshd.path),
        file: &file,
        running: running.as_ref(),
    };
    let reload = Reload::prepare(request, &*service)?;
    let old = examination.effective(Side::Server).ciphers.clone();
    let applied = write()?;
    // Once it is written, a signal no longer stops what has to be put back.
    let never = AtomicBool::new(false);
    let put_back = || {
        let request = ApplyRequest {
            cancelled: &never,
            ..writing(here)
        };
        apply::rollback(applied.id, false, &request).map(drop)
    };
    let put_back = applied.id.map(|_| &put_back as &dyn Fn() -> _);
    let reloaded = reload.carry_out(&plan.order, &old, put_back)?;
    Ok((applied, sentence(&reloaded)))
}

fn sentence(reloaded: &Reloaded) -> String {
    let Reloaded {
        service,
        address,
        was_needed,
    } = reloaded;
    if *was_needed {
        format!(
            "{service} was reloaded, and offers this list to new connections at {address}; open ones keep theirs."
        )
    } else {
        format!("{service} offers this list already at {address}.")
    }
}
