//! Measuring this host: real transfers where they can be made, then packets; and what the machine does meanwhile.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use advisor::negotiation::{Carried, negotiate};
use advisor::probing::{probe_key_exchange, probe_library};
use engine::measure::{SurveyRequest, describe, survey, survey_with};
use engine::report::{Measurement, Report, UnavailableTransfer};
use engine::transfer::{self, Carrier, FdPassHelper, Implementation, TransferFailure};

use super::HostJob;
use crate::model::{Doing, Found, Gauges, Progress};

pub(super) fn measure(
    job: &HostJob,
    progress: &mut dyn FnMut(Progress, Found),
    cancel: &Arc<AtomicBool>,
) -> Result<Report, String> {
    let mut request = job.request();
    let programs = describe(&request, job.world()).openssh;
    let files = job.files.as_ref();
    negotiate(
        &mut request,
        &job.perspective,
        files,
        &programs,
        Carried::InForce,
    );
    let mut watch = Watch::new(job);
    let mut tell = |at: engine::measure::Progress| {
        let (now, found) = watch.look(at, request.measure.budget);
        progress(now, found);
    };
    // Another tree runs elsewhere: how its programs carry bytes here says nothing.
    if job.root.is_some() {
        return Ok(survey(&request, job.world(), &mut tell, cancel));
    }
    let mut report = match carrier(&request, cancel) {
        Ok(mut carrier) => {
            let carrier = carrier.as_mut();
            survey_with(carrier, &request, job.world(), &mut tell, cancel)
        }
        Err(failure) => {
            let mut report = survey(&request, job.world(), &mut tell, cancel);
            report.unavailable_transfers.push(impossible(&failure));
            report
        }
    };
    if !cancel.load(Ordering::SeqCst) {
        probe(job, &mut report);
    }
    Ok(report)
}

/// What only processes of their own can tell. A measurement that was stopped does without.
fn probe(job: &HostJob, report: &mut Report) {
    let (files, commands) = (job.files.as_ref(), job.commands.as_ref());
    if let Ok(helper) = std::env::current_exe() {
        probe_library(report, commands, &helper);
    }
    probe_key_exchange(&mut report.openssh, files, commands, &job.perspective);
}

fn carrier(
    request: &SurveyRequest,
    cancel: &Arc<AtomicBool>,
) -> Result<Box<dyn Carrier + Send>, TransferFailure> {
    let helper = FdPassHelper::this_program().map_err(|error| TransferFailure::Impossible {
        why: format!("the system does not say where this program lies ({error})"),
        cure: "mount /proc".to_owned(),
    })?;
    transfer::openssh(&request.installed, helper, Arc::clone(cancel))
}

fn impossible(failure: &TransferFailure) -> UnavailableTransfer {
    UnavailableTransfer {
        implementation: Implementation::OpenSsh,
        cipher: None,
        reason: failure.to_string(),
    }
}

/// Looks at the machine once a second while it is measured.
struct Watch<'a> {
    job: &'a HostJob,
    looked: Option<Duration>,
    before: Option<engine::host::ProcessorTime>,
    seen: Gauges,
    doing: Doing,
}

impl<'a> Watch<'a> {
    fn new(job: &'a HostJob) -> Self {
        Self {
            job,
            looked: None,
            before: job.machine.processor_time(),
            seen: Gauges::default(),
            doing: Doing::default(),
        }
    }

    /// Where it stands, and what is new.
    fn look(&mut self, at: engine::measure::Progress, budget: Duration) -> (Progress, Found) {
        let share = at.fraction.clamp(0.0, 1.0);
        if !at.carried.is_empty() {
            self.doing = Doing::Transfers;
        } else if at.round == 0 || !at.latest.is_empty() {
            self.doing = Doing::Packets;
        }
        let progress = Progress {
            share,
            remaining: budget.mul_f64(1.0 - share),
            doing: self.doing,
            machine: self.gauges(&at.latest),
        };
        let found = Found {
            cells: at.latest,
            transfers: at.carried,
        };
        (progress, found)
    }

    fn gauges(&mut self, latest: &[Measurement]) -> Gauges {
        let now = self.job.clock.wall();
        // Billions of bytes a second times cycles a byte are billions of cycles a second.
        let clock = |cell: &Measurement| Some(cell.cycles_per_byte? * cell.gb_per_s);
        self.seen.ghz = latest.iter().find_map(clock).or(self.seen.ghz);
        let second = Duration::from_secs(1);
        if self.looked.is_none_or(|looked| now >= looked + second) {
            self.looked = Some(now);
            self.seen.load = self.job.machine.describe().load;
            let passed = self.job.machine.processor_time().zip(self.before);
            self.seen.steal_percent = passed.and_then(|(now, then)| now.steal_percent_since(then));
        }
        self.seen
    }
}
