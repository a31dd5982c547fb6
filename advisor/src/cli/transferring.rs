//! Real transfers for a report: with which ciphers, through whom, and how they end when a signal comes.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use advisor::negotiation::{self, Carried};
use engine::measure::{SurveyRequest, TransferPart, describe, survey, survey_with};
use engine::report::{Report, UnavailableTransfer};
use engine::transfer::{self, Carrier, FdPassHelper, Implementation, TransferFailure};

use super::args::Options;
use super::interrupt;
use super::measuring::{Sources, WORLD, left};
use super::progress::Progress;
use super::surroundings::Surroundings;

/// Says what these programs negotiate; for a table of transfers alone, all ciphers are carried.
pub(super) fn negotiate(
    request: &mut SurveyRequest,
    by: Implementation,
    here: &Surroundings,
    sources: Sources,
) {
    let programs = describe(request, WORLD).openssh;
    let are_alone = matches!(sources, Sources::Transfers(_));
    if are_alone {
        request.transfers.share = 1.0;
    }
    if by != Implementation::OpenSsh {
        return negotiation::negotiate_by_dropbear(request, &programs);
    }
    let carried = if are_alone {
        Carried::All
    } else {
        Carried::InForce
    };
    negotiation::negotiate(request, &here.perspective, &here.files, &programs, carried);
}

/// A report with transfers, and with packets where `request` leaves time for them. Once a signal came it holds
/// what was measured until then.
pub(super) fn report(request: &mut SurveyRequest, by: Implementation, options: &Options) -> Report {
    let deferred = interrupt::deferred();
    let cancel = deferred.flag();
    let mut progress = Progress::new(options);
    progress.show(0.0);
    let carrier = carrier(request, by, Arc::clone(&cancel));
    request.measure.budget = left(options);
    let mut tell = |at: engine::measure::Progress| {
        progress.doing(if at.carried.is_empty() {
            "measuring packets"
        } else {
            "transferring"
        });
        progress.show(at.fraction);
    };
    match carrier {
        Ok(mut carrier) => survey_with(carrier.as_mut(), request, WORLD, &mut tell, &cancel),
        Err(failure) => {
            let mut report = match request.transfers {
                TransferPart { share: 1.0.., .. } => describe(request, WORLD),
                _ => survey(request, WORLD, &mut tell, &cancel),
            };
            report.unavailable_transfers.push(impossible(by, &failure));
            report
        }
    }
}

/// Adds whether transfers can be made here, or why not.
pub(super) fn try_out(request: &SurveyRequest, report: &mut Report) -> bool {
    let deferred = interrupt::deferred();
    let by = Implementation::OpenSsh;
    match carrier(request, by, deferred.flag()) {
        Ok(_) => true,
        Err(failure) => {
            report.unavailable_transfers.push(impossible(by, &failure));
            false
        }
    }
}

fn carrier(
    request: &SurveyRequest,
    by: Implementation,
    cancel: Arc<AtomicBool>,
) -> Result<Box<dyn Carrier + Send>, TransferFailure> {
    let helper = FdPassHelper::this_program().map_err(|error| TransferFailure::Impossible {
        why: format!("the system does not say where this program lies ({error})"),
        cure: "mount /proc".to_owned(),
    })?;
    let make = match by {
        Implementation::OpenSsh => transfer::openssh,
        Implementation::Dropbear => transfer::dropbear,
        Implementation::DropbearToOpenSsh => transfer::dropbear_to_openssh,
    };
    make(&request.installed, helper, cancel)
}

fn impossible(implementation: Implementation, failure: &TransferFailure) -> UnavailableTransfer {
    UnavailableTransfer {
        implementation,
        cipher: None,
        reason: failure.to_string(),
    }
}
