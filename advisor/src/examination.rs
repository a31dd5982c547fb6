//! Everything that follows from a report and the files of a host: what both sides would use, what is
//! recommended, what would be written, what is odd.
//!
//! It joins the other rooms and decides nothing itself. It reads through [`Files`] and writes nothing.
#![forbid(unsafe_code)]

mod findings;

use std::io;
use std::path::{Path, PathBuf};

use engine::host::Commands;
use engine::installed::releases::Release;
use engine::report::{OpenSsh, Program, Report};

use crate::apply::{self, Validator};
use crate::files::Files;
use crate::layout::{self, Layout};
use crate::output::{Change, Document, RecommendationRecord, SideConfiguration};
use crate::plan::{Plan, PlanRequest, Reader, Refusal, Target, plan, unified_diff};
use crate::policy::Policy;
use crate::recommendation::{Advice, Choice, Recommendation, recommend};
use crate::resolver::{
    ClientFiles, ClientRequest, CommandOption, Effective, Location, Outcome, Problem,
    ServerRequest, Severity, Side, Supported, resolve_client, resolve_server,
};

use crate::startup::{self, Daemon, Running};

/// The rules assumed where no program says which release it is.
pub const ASSUMED: Release = Release::new(10, 0);

/// Who looks, and whose files count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Perspective {
    /// The client's files.
    pub client: Target,
    /// The server's files.
    pub server: Target,
    /// The local user's name.
    pub user: String,
    /// The local user's id.
    pub uid: u32,
    /// The local user's home.
    pub home: PathBuf,
    /// The flavour of OpenSSH.
    pub layout: Layout,
    /// Where the running processes of this tree are shown (`/proc`); `None` where nothing of it runs.
    pub processes: Option<PathBuf>,
    /// Other `ssh` programs that read the client's file, where that is a user's own.
    pub readers: Vec<Reader>,
}

impl Perspective {
    /// The usual one: root's files are the system's, everybody else's client file is their own.
    #[must_use]
    pub fn of_user(user: String, uid: u32, home: PathBuf) -> Self {
        let layout = Layout::unix();
        let client = if uid == 0 {
            Target::System(layout.client_file())
        } else {
            Target::User(home.join(".ssh/config"))
        };
        Self {
            client,
            server: Target::System(layout.server_file()),
            user,
            uid,
            home,
            layout,
            processes: Some("/proc".into()),
            readers: Vec::new(),
        }
    }

    /// The same with another flavour's system files in place of the usual ones.
    #[must_use]
    pub fn with_layout(mut self, layout: Layout) -> Self {
        if let Target::System(main) = &mut self.client {
            *main = layout.client_file();
        }
        self.server = Target::System(layout.server_file());
        self.layout = layout;
        self
    }

    /// The files of one side.
    #[must_use]
    pub const fn target(&self, side: Side) -> &Target {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    /// The options on the command line of the server that runs, or would.
    #[must_use]
    pub fn daemon_options(&self, files: &dyn Files) -> Vec<CommandOption> {
        let usual_file = self.layout.server_file();
        let daemon = self.daemon(&usual_file);
        let file = self.server.main_file();
        startup::options(files, self.processes.as_deref(), daemon, file)
    }

    /// The server that waits for connections with this file, where one is seen.
    #[must_use]
    pub fn running_daemon(&self, files: &dyn Files) -> Option<Running> {
        let usual_file = self.layout.server_file();
        let daemon = self.daemon(&usual_file);
        startup::running(
            files,
            self.processes.as_deref()?,
            daemon,
            self.server.main_file(),
        )
    }

    const fn daemon<'f>(&self, usual_file: &'f Path) -> Daemon<'f> {
        Daemon {
            program: self.layout.daemon,
            usual_file,
        }
    }

    /// What a side would use, by the rules of the programs found. `host` is what one would type after `ssh`;
    /// without it, what holds for a host that no pattern names.
    #[must_use]
    pub fn resolve(
        &self,
        files: &dyn Files,
        side: Side,
        programs: &OpenSsh,
        host: Option<&str>,
    ) -> Effective {
        let client = || {
            let request = self.client_request(files, programs);
            match host {
                Some(host) => request.destination(host),
                None => request,
            }
        };
        match side {
            Side::Client => resolve_client(files, &client()),
            Side::Server => {
                let answer = resolve_server(files, &self.server_request(files, programs));
                match self.absent_server(files, programs) {
                    None => answer,
                    Some(absent) => without_server(answer, &absent),
                }
            }
        }
    }

    /// The server's file, where it is missing and nothing shows that it should not be.
    fn absent_server(&self, files: &dyn Files, programs: &OpenSsh) -> Option<Problem> {
        let file = layout::in_force(files, self.server.main_file());
        let status = files.status(&file);
        let is_missing = status.is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let is_expected = programs.server.is_some() && self.processes.is_some();
        (is_missing && !is_expected).then(|| Problem {
            severity: Severity::Error,
            location: Location::whole(&file),
            what: "there is no such file, so no sshd is set up here".to_owned(),
            cure: "install openssh-server where one is wanted".to_owned(),
        })
    }

    /// Whom to ask about a candidate tree: the programs of this machine, about these files.
    #[must_use]
    pub fn validator<'a>(
        &self,
        files: &'a dyn Files,
        commands: &'a dyn Commands,
        programs: &OpenSsh,
    ) -> Validator<'a> {
        let program = |program: &Option<Program>, side| {
            program.as_ref().map(|it| apply::Program {
                path: it.path.clone().into(),
                release: rules(programs, side).0,
            })
        };
        let (user_file, system_file) = match &self.client {
            Target::User(main) => (Some(main.clone()), self.layout.client_file()),
            Target::System(main) => (None, main.clone()),
        };
        Validator {
            files,
            commands,
            ssh: program(&programs.client, Side::Client),
            sshd: program(&programs.server, Side::Server),
            user_file,
            system_file: Some(layout::in_force(files, &system_file)),
            server_file: layout::in_force(files, self.server.main_file()),
            layout: self.layout.clone(),
            home: self.home.clone(),
            uid: self.uid,
        }
    }

    fn client_request(&self, files: &dyn Files, programs: &OpenSsh) -> ClientRequest {
        let (release, supported) = rules(programs, Side::Client);
        let (user, system) = match &self.client {
            Target::User(main) => (Some(main.clone()), self.layout.client_file()),
            Target::System(main) => (None, main.clone()),
        };
        let version = programs.client.as_ref().map(|it| it.version.as_str());
        let is_debian = |it: &str| it.contains("Debian") || it.contains("Ubuntu");
        ClientRequest {
            version: version_of(programs, Side::Client),
            supported,
            files: ClientFiles::Usual {
                user,
                system: Some(layout::in_force(files, &system)),
            },
            layout: self.layout.clone(),
            user: self.user.clone(),
            uid: self.uid,
            home: self.home.clone(),
            private_groups: version.is_some_and(is_debian),
            ..ClientRequest::new(release)
        }
    }

    fn server_request(&self, files: &dyn Files, programs: &OpenSsh) -> ServerRequest {
        let (release, supported) = rules(programs, Side::Server);
        let file = self.server.main_file();
        ServerRequest {
            version: version_of(programs, Side::Server),
            supported,
            options: self.daemon_options(files),
            file: layout::in_force(files, file),
            layout: self.layout.clone(),
            ..ServerRequest::new(release)
        }
    }
}

/// A tree without a server is in order.
fn without_server(mut answer: Effective, absent: &Problem) -> Effective {
    for problem in &mut answer.problems {
        if problem.location == absent.location {
            *problem = Problem {
                severity: Severity::Info,
                ..absent.clone()
            };
        }
    }
    answer
}

/// The release whose rules a side follows, and what its binary knows. Where one program is absent, the
/// other speaks for it.
#[must_use]
pub fn rules(programs: &OpenSsh, side: Side) -> (Release, Supported) {
    let found = || speakers(programs, side);
    let release = found().find_map(|program| program.version.parse().ok());
    let release = release.unwrap_or(ASSUMED);
    let supported = match found().find(|program| !program.ciphers.is_empty()) {
        Some(program) => Supported::listed(&program.ciphers, &program.macs, release),
        None => Supported::by_release(release),
    };
    (release, supported)
}

/// The programs that can speak for a side, its own first.
fn speakers(programs: &OpenSsh, side: Side) -> impl Iterator<Item = &Program> {
    let (client, server) = (programs.client.as_ref(), programs.server.as_ref());
    let speakers = match side {
        Side::Client => [client, server],
        Side::Server => [server, client],
    };
    speakers.into_iter().flatten()
}

/// What the program of a side calls itself.
fn version_of(programs: &OpenSsh, side: Side) -> Option<String> {
    let mut speakers = speakers(programs, side);
    speakers.next().map(|program| program.version.clone())
}

/// What to examine.
#[derive(Clone, Copy)]
pub struct ExaminationRequest<'a> {
    /// The tree.
    pub files: &'a dyn Files,
    /// Who looks, and whose files count.
    pub perspective: &'a Perspective,
    /// The host and its numbers.
    pub report: &'a Report,
    /// The rules.
    pub policy: &'a Policy,
    /// What a recommendation may rest on.
    pub choice: Choice,
    /// The sides a change is planned for.
    pub sides: &'a [Side],
    /// Whether files that say another tool writes them are changed all the same.
    pub force_managed: bool,
    /// The host one would type after `ssh`; `None` for any.
    pub host: Option<&'a str>,
}

/// Examines a host and puts all of it into one document.
#[must_use]
pub fn examine(request: &ExaminationRequest<'_>) -> Document {
    Examination::new(*request).document()
}

/// What was found out, part by part.
pub struct Examination<'a> {
    request: ExaminationRequest<'a>,
    client: Effective,
    server: Effective,
    recommendation: Recommendation,
    plans: Vec<Result<Plan, Refusal>>,
}

impl<'a> Examination<'a> {
    /// Examines a host.
    #[must_use]
    pub fn new(request: ExaminationRequest<'a>) -> Self {
        let [client, server] = [Side::Client, Side::Server].map(|side| resolve(&request, side));
        let recommendation = recommend(
            request.report,
            Some(&client),
            Some(&server),
            request.policy,
            request.choice,
        );
        let mut examination = Self {
            request,
            client,
            server,
            recommendation,
            plans: Vec::new(),
        };
        let sides = request.sides.iter();
        let plan = |&side| examination.plan(side, examination.order(side));
        examination.plans = sides.map(plan).collect();
        examination
    }

    /// The same with an order somebody chose by hand in place of the recommended one: that is what is planned for
    /// the side, if it was asked for. What is recommended stays what it is.
    #[must_use]
    pub fn with_order(mut self, side: Side, order: &[String]) -> Self {
        let own = self.plan(side, order.to_vec());
        let planned = self.request.sides.iter().zip(&mut self.plans);
        for (_, plan) in planned.filter(|(it, _)| **it == side) {
            plan.clone_from(&own);
        }
        self
    }

    /// The plans of the sides asked for.
    ///
    /// # Errors
    /// The first side for which there is none.
    pub fn plans(&self) -> Result<Vec<Plan>, Refusal> {
        self.plans.iter().cloned().collect()
    }

    /// Whether a side asked for does not use the recommended order.
    ///
    /// # Errors
    /// Why a side asked for uses no order at all.
    pub fn differs(&self) -> Result<bool, Problem> {
        let mut differs = false;
        for &side in self.request.sides {
            if let Some(absent) = self.absent(side) {
                return Err(absent);
            }
            let mut problems = self.effective(side).problems.iter();
            if let Some(problem) = problems.find(|it| it.severity == Severity::Error) {
                return Err(problem.clone());
            }
            let advice = self.recommendation.side(side);
            differs |= advice.is_some_and(Advice::differs);
        }
        Ok(differs)
    }

    /// What evidence is missing for a side asked for that has something to order.
    #[must_use]
    pub fn undecided(&self) -> Option<&str> {
        let mut sides = self.request.sides.iter();
        let is_open = |side| {
            let advice = self.recommendation.side(side);
            advice.is_none_or(|advice| advice.pinned.is_none())
        };
        let has_choice = sides.any(|&side| is_open(side) && self.effective(side).ciphers.len() > 1);
        let lacking = self.recommendation.evidence.is_none() && has_choice;
        lacking.then_some(self.recommendation.basis.as_str())
    }

    /// Checks that the files give the planned orders, once they are written.
    ///
    /// # Errors
    /// The list a side would use instead.
    pub fn verify(&self) -> Result<(), String> {
        for plan in self.plans.iter().flatten() {
            let now = resolve(&self.request, plan.side);
            if now.ciphers != plan.order {
                return Err(format!(
                    "the {} would use {}",
                    plan.side,
                    now.ciphers.join(",")
                ));
            }
        }
        Ok(())
    }

    /// Reads the files again.
    pub fn resolve_again(&mut self) {
        self.client = resolve(&self.request, Side::Client);
        self.server = resolve(&self.request, Side::Server);
    }

    /// All of it.
    #[must_use]
    pub fn document(&self) -> Document {
        let mut document = Document::new(self.request.report.clone());
        document.configuration.client = Some((&self.client).into());
        document.configuration.server = Some((&self.server).into());
        document.recommendation = Some(RecommendationRecord::from(&self.recommendation));
        document.findings = self.findings();
        let plans = self.plans.iter().flatten();
        document.changes = plans.flat_map(changes).collect();
        document.sides = self.request.sides.to_vec();
        document.refusals = self.refusals();
        document.destination = self.request.host.map(str::to_owned);
        if let Some(client) = &mut document.configuration.client {
            self.tell_no_host(client);
        }
        document
    }

    /// Why sides asked for are not written: no plan, or files that need no other order but a repair.
    fn refusals(&self) -> Vec<String> {
        let sides = self.request.sides.iter().zip(&self.plans);
        let refusal = |(&side, plan): (&Side, &Result<Plan, Refusal>)| match plan {
            Err(refusal) => Some(refusal.to_string()),
            Ok(_) => {
                let mut problems = self.effective(side).problems.iter();
                let error = problems.find(|it| it.severity == Severity::Error);
                error.map(ToString::to_string)
            }
        };
        sides.filter_map(refusal).collect()
    }

    /// A `Host` block that applies to nobody yet may well apply once a host is named.
    fn tell_no_host(&self, client: &mut SideConfiguration) {
        if self.request.host.is_some() {
            return;
        }
        for (line, told) in self.client.considered.iter().zip(&mut client.considered) {
            let Outcome::BlockDoesNotMatch(block) = &line.outcome else {
                continue;
            };
            if self.is_host_block(block) {
                told.outcome.push_str(": no host was given");
            }
        }
    }

    fn is_host_block(&self, block: &Location) -> bool {
        let bytes = self.request.files.read(&block.file).unwrap_or_default();
        let mut lines = bytes.split(|&byte| byte == b'\n');
        let line = lines.nth(block.line.saturating_sub(1)).unwrap_or_default();
        let keyword = line
            .trim_ascii_start()
            .split(|byte| !byte.is_ascii_alphabetic());
        keyword.take(1).any(|it| it.eq_ignore_ascii_case(b"host"))
    }

    /// What a side uses, as the files were when they were read.
    #[must_use]
    pub const fn effective(&self, side: Side) -> &Effective {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    fn absent(&self, side: Side) -> Option<Problem> {
        let request = &self.request;
        let programs = &request.report.openssh;
        let absent = || request.perspective.absent_server(request.files, programs);
        (side == Side::Server).then(absent)?
    }

    /// The order that is recommended, or today's where nothing is.
    fn order(&self, side: Side) -> Vec<String> {
        let advice = self.recommendation.side(side);
        advice.map_or_else(|| self.effective(side).ciphers.clone(), Advice::order)
    }

    fn plan(&self, side: Side, order: Vec<String>) -> Result<Plan, Refusal> {
        if let Some(absent) = self.absent(side) {
            return Err(Refusal {
                location: Some(absent.location),
                what: absent.what,
                cure: absent.cure,
            });
        }
        let request = &self.request;
        let effective = self.effective(side);
        let programs = &request.report.openssh;
        let (release, supported) = rules(programs, side);
        plan(&PlanRequest {
            files: request.files,
            effective,
            target: request.perspective.target(side).clone(),
            layout: &request.perspective.layout,
            order: &order,
            form: request.policy.form,
            release,
            supported: &supported.ciphers,
            readers: match side {
                Side::Client => &request.perspective.readers,
                Side::Server => &[],
            },
            force_managed: request.force_managed,
            resolve: &|files| {
                request
                    .perspective
                    .resolve(files, side, programs, request.host)
            },
        })
    }
}

fn resolve(request: &ExaminationRequest<'_>, side: Side) -> Effective {
    let programs = &request.report.openssh;
    let perspective = request.perspective;
    perspective.resolve(request.files, side, programs, request.host)
}

/// A plan as documents show it.
fn changes(plan: &Plan) -> impl Iterator<Item = Change> + '_ {
    plan.edits.iter().map(|edit| Change {
        side: plan.side,
        file: edit.path.clone(),
        strategy: plan.strategy.clone(),
        diff: unified_diff(edit),
        backup: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(version: &str, ciphers: &[&str]) -> Option<Program> {
        Some(Program {
            version: version.to_owned(),
            ciphers: ciphers.iter().map(|&name| name.to_owned()).collect(),
            ..Program::default()
        })
    }

    #[test]
    fn one_program_speaks_for_the_other() {
        let only_client = OpenSsh {
            client: program("OpenSSH_9.2p1 Debian-2+deb12u10", &["aes128-ctr"]),
            ..OpenSsh::default()
        };
        let (release, supported) = rules(&only_client, Side::Server);
        assert_eq!(release, Release::new(9, 2));
        assert_eq!(supported.ciphers, ["aes128-ctr"]);
        assert_eq!(rules(&OpenSsh::default(), Side::Client).0, ASSUMED);
    }

    #[test]
    fn root_looks_at_the_system_and_others_at_their_own() {
        let root = Perspective::of_user("root".to_owned(), 0, "/root".into());
        assert_eq!(root.client, Target::System("/etc/ssh/ssh_config".into()));
        let user = Perspective::of_user("ann".to_owned(), 1000, "/home/ann".into());
        assert_eq!(user.client, Target::User("/home/ann/.ssh/config".into()));
        assert_eq!(user.server, Target::System("/etc/ssh/sshd_config".into()));
    }
}
