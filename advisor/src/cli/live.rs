//! `explain --live`: the installed programs' own word, put beside what the files say.
#![forbid(unsafe_code)]

use advisor::diagnosis::Finding;
use advisor::live::offer;
use advisor::output::Document;
use advisor::resolver::{Severity, Side};
use anyhow::{Context, Result, bail};
use engine::host::SystemCommands;
use engine::installed::Offer;

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
        let (files, programs) = (&here.files, &document.report.openssh);
        let offer = offer(
            files,
            &SystemCommands,
            &here.perspective,
            programs,
            side,
            host,
        );
        let Some(offer) = offer.context("no temporary directory can be made")? else {
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
