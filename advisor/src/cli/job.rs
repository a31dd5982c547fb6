//! The main job and its parts: measure, read, recommend, plan, show; write where asked.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use advisor::apply::{self, Applied, ApplyRequest};
use advisor::diagnosis::{Finding, Subject, diagnose};
use advisor::files::Files;
use advisor::output::{Change, Document, RecommendationRecord, View};
use advisor::plan::{Edit, Plan, PlanRequest, Refusal, plan, unified_diff};
use advisor::policy::Policy;
use advisor::recommendation::{Recommendation, recommend};
use advisor::resolver::{Effective, Severity, Side};
use anyhow::{Context, Result, bail};
use engine::host::SystemCommands;
use engine::report::Report;

use super::args::{Action, Options};
use super::emit::{emit, note};
use super::interrupt;
use super::measuring;
use super::surroundings::{ASSUMED, Surroundings, rules};

const DIFFERS: u8 = 1;

/// Everything: from the measurement to the diff, or to the change itself.
pub(super) fn whole(action: Action, options: &Options) -> Result<ExitCode> {
    let here = Surroundings::new(options)?;
    if action.rollback {
        return rollback(&here, options);
    }
    let policy = policy(options)?;
    let report = measuring::report(options, Some(&here))?;
    let mut job = Job::new(here, options, policy, report, None);
    job.plan();
    if action.apply {
        job.apply(action.no_validate)?;
    }
    let differs = action.check && job.differs()?;
    let view = if action.check {
        View::Check
    } else {
        View::Whole
    };
    emit(&job.document(), view, options)?;
    Ok(if differs {
        DIFFERS.into()
    } else {
        ExitCode::SUCCESS
    })
}

/// The speeds alone.
pub(super) fn measure(options: &Options) -> Result<ExitCode> {
    let report = measuring::report(options, None)?;
    emit(&Document::new(report), View::Measure, options)?;
    Ok(ExitCode::SUCCESS)
}

/// Which line wins, and why.
pub(super) fn explain(host: Option<&str>, options: &Options) -> Result<ExitCode> {
    unmeasured(host, View::Explain, options)
}

/// What is here, and what is odd.
pub(super) fn doctor(options: &Options) -> Result<ExitCode> {
    unmeasured(None, View::Doctor, options)
}

fn unmeasured(host: Option<&str>, view: View, options: &Options) -> Result<ExitCode> {
    let here = Surroundings::new(options)?;
    let report = measuring::description(options)?;
    let job = Job::new(here, options, policy(options)?, report, host);
    let document = Document {
        recommendation: None,
        ..job.document()
    };
    emit(&document, view, options)?;
    Ok(ExitCode::SUCCESS)
}

fn policy(options: &Options) -> Result<Policy> {
    let path = options.policy.as_deref().unwrap_or(Path::new("balanced"));
    let built_in = path.to_str().and_then(Policy::built_in);
    let mut policy = match built_in {
        Some(policy) => policy,
        None => {
            let bytes = std::fs::read(path).with_context(|| {
                let names = Policy::BUILT_IN.join(", ");
                format!(
                    "{}: cannot be read, and is none of the built-in policies ({names})",
                    path.display()
                )
            })?;
            Policy::parse(path, &bytes)?
        }
    };
    if let Some(profile) = options.profile {
        policy.profile = profile.into();
    }
    Ok(policy)
}

/// One run and what it has found out so far.
struct Job<'a> {
    here: Surroundings,
    options: &'a Options,
    policy: Policy,
    report: Report,
    client: Effective,
    server: Effective,
    recommendation: Recommendation,
    plans: Vec<Result<Plan, Refusal>>,
    applied: Option<Applied>,
}

impl<'a> Job<'a> {
    fn new(
        here: Surroundings,
        options: &'a Options,
        policy: Policy,
        report: Report,
        host: Option<&str>,
    ) -> Self {
        let resolve = |side| here.resolve(&here.files, side, &report.openssh, host);
        let (client, server) = (resolve(Side::Client), resolve(Side::Server));
        let choice = options.evidence.choice();
        let recommendation = recommend(&report, Some(&client), Some(&server), &policy, choice);
        Self {
            here,
            options,
            policy,
            report,
            client,
            server,
            recommendation,
            plans: Vec::new(),
            applied: None,
        }
    }

    const fn effective(&self, side: Side) -> &Effective {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    /// Plans the change of each side asked for.
    fn plan(&mut self) {
        let sides = self.options.side.list().iter();
        self.plans = sides.map(|&side| self.plan_of(side)).collect();
    }

    fn plan_of(&self, side: Side) -> Result<Plan, Refusal> {
        let advice = self.recommendation.side(side);
        let (release, supported) = rules(&self.report.openssh, side);
        plan(&PlanRequest {
            files: &self.here.files,
            effective: self.effective(side),
            target: self.here.target(side).clone(),
            order: &advice.map_or(Vec::new(), advisor::recommendation::Advice::order),
            form: self.policy.form,
            release,
            supported: &supported.ciphers,
            resolve: &|files| self.resolve(files, side),
        })
    }

    fn resolve(&self, files: &dyn Files, side: Side) -> Effective {
        self.here.resolve(files, side, &self.report.openssh, None)
    }

    /// Writes all plans, or nothing.
    fn apply(&mut self, no_validate: bool) -> Result<()> {
        let refusal = self.plans.iter().find_map(|it| it.as_ref().err());
        if let Some(refusal) = refusal {
            bail!("{refusal}; nothing was changed");
        }
        let plans: Vec<Plan> = self.plans.iter().flatten().cloned().collect();
        let verify = || self.verify(&plans);
        let validator = self.here.validator(&self.report.openssh, &SystemCommands);
        let validate = || match no_validate {
            true => Ok(()),
            false => validator.require(&plans),
        };
        let applied = apply::apply(
            &plans,
            &ApplyRequest {
                files: &self.here.files,
                state: &self.here.state,
                scope: self.here.scope,
                now: SystemTime::now(),
                cancelled: interrupt::while_writing(),
                validate: &validate,
                verify: &verify,
            },
        )?;
        self.applied = Some(applied);
        for side in self.options.side.list() {
            let now = self.resolve(&self.here.files, *side);
            match side {
                Side::Client => self.client = now,
                Side::Server => self.server = now,
            }
        }
        Ok(())
    }

    fn verify(&self, plans: &[Plan]) -> Result<(), String> {
        for plan in plans {
            let now = self.resolve(&self.here.files, plan.side);
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

    /// Whether a side asked for does not use the recommended order.
    fn differs(&self) -> Result<bool> {
        let sides = self.options.side.list();
        for &side in sides {
            let mut problems = self.effective(side).problems.iter();
            if let Some(problem) = problems.find(|it| it.severity == Severity::Error) {
                bail!("{problem}");
            }
        }
        let advice = sides
            .iter()
            .filter_map(|&side| self.recommendation.side(side));
        Ok(advice
            .into_iter()
            .any(advisor::recommendation::Advice::differs))
    }

    fn document(&self) -> Document {
        let mut document = Document::new(self.report.clone());
        document.configuration.client = Some((&self.client).into());
        document.configuration.server = Some((&self.server).into());
        document.recommendation = Some(RecommendationRecord::from(&self.recommendation));
        document.findings = self.findings();
        let plans = self.plans.iter().flatten();
        document.changes = plans.flat_map(changes).collect();
        if let Some(applied) = &self.applied {
            document.changed = applied.id.is_some();
            for change in &mut document.changes {
                let written = applied.changes.iter().find(|it| it.file == change.file);
                change.backup = written.and_then(|it| it.backup.clone());
            }
        }
        document
    }

    fn findings(&self) -> Vec<Finding> {
        let mut findings = diagnose(
            Subject {
                report: &self.report,
                client: Some(&self.client),
                server: Some(&self.server),
                recommendation: &self.recommendation,
                policy: &self.policy,
            },
            &|path| self.here.files.read(path).ok(),
        );
        findings.extend(
            self.plans
                .iter()
                .filter_map(|it| it.as_ref().err())
                .map(refused),
        );
        findings.extend(self.assumed());
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings
    }

    /// Which rules were applied where no program says so.
    fn assumed(&self) -> Option<Finding> {
        let programs = &self.report.openssh;
        (programs.client.is_none() && programs.server.is_none()).then(|| {
            Finding::new(
                "release-assumed",
                Severity::Warning,
                format!("no OpenSSH was found, so the rules of {ASSUMED} are assumed"),
                "neither ssh nor sshd answers",
                "install openssh-client, or name the programs with --ssh and --sshd",
            )
        })
    }
}

fn changes(plan: &Plan) -> impl Iterator<Item = Change> {
    plan.edits.iter().map(|edit| Change {
        side: plan.side,
        file: edit.path.clone(),
        strategy: plan.strategy.clone(),
        diff: unified_diff(edit),
        backup: None,
    })
}

fn refused(refusal: &Refusal) -> Finding {
    let location = refusal.location.as_ref();
    Finding {
        file: location.map(|it| it.file.clone()),
        line: location.map(|it| it.line).filter(|&line| line > 0),
        ..Finding::new(
            "no-change-planned",
            Severity::Warning,
            format!("this program will not write the order: {}", refusal.what),
            location.map_or("the report".to_owned(), ToString::to_string),
            &refusal.cure,
        )
    }
}

/// Puts back what the last change replaced.
fn rollback(here: &Surroundings, options: &Options) -> Result<ExitCode> {
    let applied = apply::rollback(
        None,
        false,
        &ApplyRequest {
            files: &here.files,
            state: &here.state,
            scope: here.scope,
            now: SystemTime::now(),
            cancelled: interrupt::while_writing(),
            validate: &|| Ok(()),
            verify: &|| Ok(()),
        },
    )?;
    let mut document = Document::new(measuring::description(options)?);
    document.changed = applied.id.is_some();
    document.changes = applied
        .changes
        .iter()
        .map(|change| put_back(here, change))
        .collect();
    emit(&document, View::Rollback, options)?;
    note(options, "put back what the last --apply replaced");
    Ok(ExitCode::SUCCESS)
}

fn put_back(here: &Surroundings, change: &apply::Change) -> Change {
    let backup = change.backup.as_deref();
    let edit = Edit {
        path: change.file.clone(),
        before: backup.and_then(|it| here.files.read(it).ok()),
        after: here.files.read(&change.file).unwrap_or_default(),
    };
    let is_server = change.file == here.target(Side::Server).main_file()
        || change.file.to_string_lossy().contains("sshd_config");
    Change {
        side: if is_server {
            Side::Server
        } else {
            Side::Client
        },
        file: change.file.clone(),
        strategy: format!("{} is as it was before.", change.file.display()),
        diff: unified_diff(&edit),
        backup: change.backup.clone(),
    }
}
