//! The work on a real host: its survey, its files, its advice. Both faces and their plain form do this.
//!
//! Clock, machine, programs and files come in from outside, so that a test decides what they say.
#![forbid(unsafe_code)]

mod changing;
mod filing;
mod measuring;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use advisor::apply::{Scope, state_directory};
use advisor::examination::{Examination, ExaminationRequest, Perspective};
use advisor::files::{Changes, SystemFiles};
use advisor::layout::Layout;
use advisor::output::Document;
use advisor::plan::Target;
use advisor::policy::Policy;
use advisor::resolver::Side;
use engine::cpu::Features;
use engine::host::{Clock, Commands, Machine, SystemClock, SystemCommands, SystemMachine};
use engine::installed::{DiscoverRequest, discover};
use engine::measure::{Gate, MeasureRequest, SurveyRequest, World, describe};
use engine::report::{OpenSsh, Report};

use crate::model::apply::{Past, Preview, Step, Written};
use crate::model::compare::Other;
use crate::model::configuration::{Looking, Spot};
use crate::model::{Found, Progress, Question, Saving};
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
    pub files: Box<dyn Changes>,
    /// Where journal, lock and backups are.
    pub state: PathBuf,
    /// The tree that was named in place of /, for the commands that are shown.
    pub root: Option<PathBuf>,
    /// Whose files count.
    pub perspective: Perspective,
    /// The rules.
    pub policy: Policy,
    /// Instruction sets not to use.
    pub hidden: Features,
    /// The time for measuring.
    pub budget: Duration,
    /// Shared with the drawing: nothing is drawn while a sample is timed.
    pub gate: Gate,
}

/// What one waits for without looking at the clock; real transfers get most of it.
pub const BUDGET: Duration = Duration::from_secs(10);

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
        let perspective = Perspective::of_user(name, uid, home.clone()).with_layout(layout);
        let own_state = set("XDG_STATE_HOME").map(PathBuf::from);
        Ok(Self {
            clock: Box::new(SystemClock),
            machine: Box::new(SystemMachine),
            commands: Box::new(SystemCommands),
            files: Box::new(SystemFiles::new(Path::new("/"))?),
            state: state_directory(
                scope(&perspective),
                &perspective.layout,
                &home,
                own_state.as_deref(),
            ),
            root: None,
            perspective,
            policy: Policy::default(),
            hidden,
            budget: BUDGET,
            gate,
        })
    }

    /// The same for another tree, as it is built for an image: its system's files, as its root sees them.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn in_tree(mut self, root: &Path) -> io::Result<Self> {
        let files = SystemFiles::new(root)?;
        let layout = Layout::of_tree(&files, None);
        self.files = Box::new(files);
        let home = PathBuf::from("/root");
        self.perspective = Perspective {
            client: Target::System(layout.client_file()),
            server: Target::System(layout.server_file()),
            layout,
            home: home.clone(),
            processes: None,
            ..self.perspective
        };
        self.state = state_directory(Scope::System, &self.perspective.layout, &home, None);
        self.root = Some(root.to_owned());
        Ok(self)
    }

    /// A saved report as numbers of this machine: the programs are those that are here, unless it is about
    /// another tree, whose programs cannot be asked.
    #[must_use]
    pub fn adopt(&self, report: Report) -> Report {
        match self.root {
            Some(_) => report,
            None => Report {
                openssh: self.programs(),
                ..report
            },
        }
    }

    fn programs(&self) -> OpenSsh {
        describe(&self.request(), self.world()).openssh
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
                budget: self.budget,
                gate: self.gate.clone(),
                ..MeasureRequest::default()
            },
            ..SurveyRequest::default()
        }
    }
}

impl HostJob {
    /// Everything that follows from a question, for as long as it is looked at.
    fn examined<T>(
        &self,
        question: &Question,
        look: impl FnOnce(&Examination<'_>) -> T,
    ) -> Result<T, String> {
        let unmeasured;
        let report = match &question.report {
            Some(report) => report.as_ref(),
            None => {
                unmeasured = describe(&self.request(), self.world());
                &unmeasured
            }
        };
        let policy = self.policy_of(question)?;
        let mut examination = Examination::new(ExaminationRequest {
            files: self.files.as_ref(),
            perspective: &self.perspective,
            report,
            policy: &policy,
            choice: None,
            sides: &[Side::Client],
            force_managed: false,
            host: question.host.as_deref(),
        });
        if let Some(order) = &question.order {
            examination = examination.with_order(Side::Client, order);
        }
        Ok(look(&examination))
    }

    /// The policy that is asked for by name or file.
    fn policy_of(&self, question: &Question) -> Result<Policy, String> {
        let named = question.policy.as_deref();
        let mut policy = match named.map(|name| (name, Policy::built_in(name))) {
            None => self.policy.clone(),
            Some((_, Some(policy))) => policy,
            Some((path, None)) => {
                let path = self.expanded(path);
                let bytes = filing::read(&path)?;
                Policy::parse(&path, &bytes).map_err(|error| error.to_string())?
            }
        };
        policy.profile = question.profile.unwrap_or(policy.profile);
        Ok(policy)
    }

    /// A path as people type it.
    fn expanded(&self, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(rest) => self.perspective.home.join(rest),
            None => PathBuf::from(path),
        }
    }
}

impl Job for HostJob {
    fn measure(
        &self,
        progress: &mut dyn FnMut(Progress, Found),
        cancel: &Arc<AtomicBool>,
    ) -> Result<Report, String> {
        measuring::measure(self, progress, cancel)
    }

    fn examine(&self, question: &Question) -> Result<Document, String> {
        let document = |examination: &Examination<'_>| examination.document();
        self.examined(question, document)
    }

    fn preview(&self, question: &Question) -> Result<Preview, String> {
        changing::preview(self, question)
    }

    fn write(
        &self,
        question: &Question,
        shown: &Document,
        step: &dyn Fn(Step),
        cancel: &AtomicBool,
    ) -> Result<Written, String> {
        changing::write(self, question, shown, step, cancel)
    }

    fn undo(&self, id: u64, step: &dyn Fn(Step), cancel: &AtomicBool) -> Result<Written, String> {
        changing::undo(self, id, step, cancel)
    }

    fn journal(&self) -> Result<Vec<Past>, String> {
        changing::journal(self)
    }

    fn open(&self, path: &str) -> Result<Other, String> {
        filing::open(&self.expanded(path))
    }

    fn look_into(&self, spot: &Spot) -> Result<Looking, String> {
        filing::look_into(self.files.as_ref(), spot)
    }

    fn save(&self, path: &str, form: Saving, document: &Document) -> Result<String, String> {
        filing::save(&self.expanded(path), form, document)
    }
}

fn scope(perspective: &Perspective) -> Scope {
    match perspective.client {
        Target::System(_) => Scope::System,
        Target::User(_) => Scope::User,
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
