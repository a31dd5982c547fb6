//! `explain --live`: the installed programs' own word, put beside what the files say.
#![forbid(unsafe_code)]

use std::io;
use std::path::Path;

use advisor::diagnosis::Finding;
use advisor::examination::rules;
use advisor::files::Scratch;
use advisor::live::{NotOffered, client, server};
use advisor::output::Document;
use advisor::plan::Target;
use advisor::resolver::{Severity, Side};
use anyhow::{Context, Result, bail};
use engine::host::SystemCommands;
use engine::installed::Offer;
use engine::report::OpenSsh;

use super::args::Options;
use super::surroundings::Surroundings;

/// Asks both programs, and adds what they offer, or why they did not, to the document.
pub(super) fn ask(
    document: &mut Document,
    here: &Surroundings,
    host: Option<&str>,
    options: &Options,
) -> Result<()> {
    if options.root.is_some() || options.ssh_config.is_some() || options.measurements.is_some() {
        bail!(
            "--live asks the running system; it goes without --root, --ssh-config and --measurements"
        );
    }
    for side in [Side::Client, Side::Server] {
        let Some(offer) = offer(&document.report.openssh, here, side, host)? else {
            continue;
        };
        match offer {
            Ok(offer) => {
                document.findings.extend(differs(document, side, &offer));
                if let Some(configuration) = document.configuration.side_mut(side) {
                    configuration.offered = Some(offer.into());
                }
            }
            Err(why) => document.findings.push(Finding::new(
                "not-offered",
                Severity::Warning,
                format!("what the {side} offers is not known"),
                why.to_string(),
                "the list above is what the files say",
            )),
        }
    }
    document
        .findings
        .sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Ok(())
}

/// Asks both programs whether they keep a strict key exchange. Where one cannot be asked, it stays unknown:
/// nobody has asked for that question.
pub(super) fn note_strict_key_exchange(programs: &mut OpenSsh, here: &Surroundings) {
    for side in [Side::Client, Side::Server] {
        let offered = offer(programs, here, side, None);
        let program = match side {
            Side::Client => &mut programs.client,
            Side::Server => &mut programs.server,
        };
        if let (Ok(Some(Ok(offer))), Some(program)) = (offered, program) {
            program.strict_key_exchange = Some(offer.strict_key_exchange);
        }
    }
}

/// `None` where the program is not installed.
fn offer(
    programs: &OpenSsh,
    here: &Surroundings,
    side: Side,
    host: Option<&str>,
) -> Result<Option<Result<Offer, NotOffered>>> {
    let program = match side {
        Side::Client => &programs.client,
        Side::Server => &programs.server,
    };
    let Some(program) = program else {
        return Ok(None);
    };
    let path = program.path.as_ref();
    Ok(Some(match side {
        Side::Client => {
            // ssh reads the files of whoever runs it, whichever of them this run is about.
            let mut perspective = here.perspective.clone();
            perspective.client = Target::User(perspective.home.join(".ssh/config"));
            let effective = perspective.resolve(&here.files, side, programs, host);
            let release = rules(programs, side).0;
            client(
                &here.files,
                &SystemCommands,
                path,
                release,
                &effective,
                host,
            )
        }
        Side::Server => {
            let directory = Scratch::new().context("no temporary directory can be made")?;
            let file = here.perspective.server.main_file();
            let key = directory.path().join("host_key");
            let options = here.perspective.daemon_options(&here.files);
            server(&SystemCommands, path, file, &options, &key, open_to_all)
        }
    }))
}

/// An account without rights may have to read the key, which is worth nothing to anybody. `sshd` accepts a key
/// that others may read where it is not its own.
#[cfg(unix)]
fn open_to_all(key: &Path) -> io::Result<()> {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown};
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    if let Some(directory) = key.parent() {
        set_permissions(directory, Permissions::from_mode(0o755))?;
    }
    chown(key, Some(1), None)?;
    set_permissions(key, Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn open_to_all(_: &Path) -> io::Result<()> {
    Ok(())
}

fn differs(document: &Document, side: Side, offer: &Offer) -> Option<Finding> {
    let configuration = document.configuration.side(side)?;
    (configuration.effective != offer.ciphers).then(|| {
        Finding::new(
            "live-differs",
            Severity::Warning,
            format!("the {side} offers another list than the files looked at give"),
            offer.ciphers.join(","),
            "look for a file of another user, a command line, or a patched program",
        )
    })
}
