//! The work on a real host: its survey, its files, its advice. Both faces and their plain form do this.
//!
//! Clock, machine, programs and files come in from outside, so that a test decides what they say.
#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use advisor::examination::{ExaminationRequest, Perspective, examine};
use advisor::files::{Files, SystemFiles};
use advisor::layout::Layout;
use advisor::output::Document;
use advisor::policy::Policy;
use advisor::resolver::Side;
use engine::algorithm::Mac;
use engine::cpu::Features;
use engine::host::{Clock, Commands, Machine, SystemClock, SystemCommands, SystemMachine};
use engine::installed::{DiscoverRequest, discover};
use engine::measure::{Gate, MeasureRequest, SurveyRequest, World, describe, survey};
use engine::report::{Measurement, Report};

use crate::model::Progress;
use crate::worker::Job;

/// A host and who looks at it.
pub struct HostJob {
    /// Its clocks.
    pub clock: Box<dyn Clock + Send>,
    /// The machine.
    pub machine: Box<dyn Machine + Send>,
    /// Runs its programs.
    pub commands: Box<dyn Commands + Send>,
    /// Its files.
    pub files: Box<dyn Files>,
    /// Whose files count.
    pub perspective: Perspective,
    /// The rules.
    pub policy: Policy,
    /// Instruction sets not to use.
    pub hidden: Features,
    /// Shared with the drawing: nothing is drawn while a sample is timed.
    pub gate: Gate,
}

impl HostJob {
    /// This host, as the user of this process sees it. `variable` gives environment variables.
    ///
    /// # Errors
    /// When the root directory cannot be read, no home is known, or `ADVISOR_CPU_DISABLE` names no
    /// instruction set.
    pub fn here(gate: Gate, variable: impl Fn(&str) -> Option<String>) -> io::Result<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let uid = user_id();
        let home = set("HOME").map(PathBuf::from);
        let home = home.filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| io::Error::other("no home directory is known; set HOME"))?;
        let name = set("LOGNAME").or_else(|| set("USER"));
        let name = name.unwrap_or_else(|| uid.to_string());
        let program_data = set("ProgramData").map(PathBuf::from);
        let layout = Layout::of(std::env::consts::OS, program_data.as_deref(), None);
        let hidden = set("ADVISOR_CPU_DISABLE").unwrap_or_default();
        let hidden = Features::parse(&hidden)
            .map_err(|error| io::Error::other(format!("ADVISOR_CPU_DISABLE: {error}")))?;
        Ok(Self {
            clock: Box::new(SystemClock),
            machine: Box::new(SystemMachine),
            commands: Box::new(SystemCommands),
            files: Box::new(SystemFiles::new(Path::new("/"))?),
            perspective: Perspective::of_user(name, uid, home).with_layout(layout),
            policy: Policy::default(),
            hidden,
            gate,
        })
    }

    fn world(&self) -> World<'_> {
        World {
            clock: self.clock.as_ref(),
            machine: self.machine.as_ref(),
        }
    }

    fn request(&self) -> SurveyRequest {
        let commands = self.commands.as_ref();
        SurveyRequest {
            installed: discover(commands, &DiscoverRequest::default()),
            hidden: self.hidden,
            measure: MeasureRequest {
                gate: self.gate.clone(),
                ..MeasureRequest::default()
            },
            ..SurveyRequest::default()
        }
    }

    /// The MAC this client would negotiate: the first of its list that can be measured.
    fn mac(&self, report: &Report) -> Option<Mac> {
        let files = self.files.as_ref();
        let client = self
            .perspective
            .resolve(files, Side::Client, &report.openssh, None);
        client.macs.iter().find_map(|name| name.parse().ok())
    }
}

impl Job for HostJob {
    fn measure(
        &self,
        progress: &mut dyn FnMut(Progress, Vec<Measurement>),
        cancel: &AtomicBool,
    ) -> Result<Report, String> {
        let mut request = self.request();
        request.mac = self.mac(&describe(&request, self.world()));
        let budget = request.measure.budget;
        let mut tell = |at: engine::measure::Progress| {
            let share = at.fraction.clamp(0.0, 1.0);
            let remaining = budget.mul_f64(1.0 - share);
            progress(Progress { share, remaining }, at.latest);
        };
        Ok(survey(&request, self.world(), &mut tell, cancel))
    }

    fn examine(&self, report: Option<&Report>) -> Result<Document, String> {
        let unmeasured;
        let report = match report {
            Some(report) => report,
            None => {
                unmeasured = describe(&self.request(), self.world());
                &unmeasured
            }
        };
        Ok(examine(&ExaminationRequest {
            files: self.files.as_ref(),
            perspective: &self.perspective,
            report,
            policy: &self.policy,
            choice: None,
            sides: &[Side::Client],
            host: None,
        }))
    }
}

#[cfg(unix)]
fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn user_id() -> u32 {
    0
}
