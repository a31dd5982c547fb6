//! The main job and its parts: measure, read, recommend, plan, show; write where asked.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use advisor::apply::{self, Applied, ApplyRequest};
use advisor::diagnosis::LEFT_OUT;
use advisor::examination::{Examination, ExaminationRequest};
use advisor::files::Files;
use advisor::output::{Change, Document, HistoryRecord, View};
use advisor::plan::{Edit, Target, unified_diff};
use advisor::policy::{Policy, Profile};
use advisor::resolver::Side;
use anyhow::{Context, Result, bail};
use engine::host::SystemCommands;
use engine::report::Report;
use engine::transfer::Implementation;

use super::args::{Action, EvidenceName, Options, Sides, Which};
use super::emit::{emit, note};
use super::interrupt;
use super::live;
use super::measuring::{self, Sources};
use super::probing;
use super::reloading;
use super::surroundings::Surroundings;

const DIFFERS: u8 = 1;

/// Everything: from the measurement to the diff, or to the change itself.
pub(super) fn whole(action: Action, options: &Options) -> Result<ExitCode> {
    let here = Surroundings::new(options)?;
    if action.reload && options.root.is_some() {
        bail!("--reload is about the running system; it goes without --root");
    }
    match action.rollback {
        Some(Which::List) => return history(&here, options),
        Some(which) => return rollback(&here, which, action, options),
        None => {}
    }
    let policy = policy(options)?;
    let mut report = measuring::report(options, sources(options, &policy)?, Some(&here))?;
    interrupt::check()?;
    probing::probe(&mut report, &here, options);
    if action.apply {
        // Before anything is planned on what an interrupted run left.
        let undone = apply::recover(&here.files, &here.state, interrupt::while_writing())?;
        tell_left(undone.iter().flat_map(|it| &it.left));
    }
    let sides = sides(&here, &policy, options);
    let mut examination = examination(&here, &policy, &report, options, sides, None);
    warn(&examination);
    let (mut applied, mut reloaded) = (Applied::default(), None);
    if action.apply {
        (applied, reloaded) = apply(&here, &examination, action, options)?;
        examination.resolve_again();
    }
    let differs = action.check && examination.differs().map_err(anyhow::Error::msg)?;
    if action.check {
        decided(&examination)?;
    }
    let mut document = examination.document();
    note_written(&mut document, &applied);
    document.reloaded = reloaded;
    let view = if action.check {
        View::Check
    } else {
        View::Whole
    };
    show(&document, view, options)?;
    Ok(if differs {
        DIFFERS.into()
    } else {
        ExitCode::SUCCESS
    })
}

/// Says, before anything is written and whatever is printed later, who can not connect any more.
fn warn(examination: &Examination<'_>) {
    let findings = examination.document().findings;
    for finding in findings.iter().filter(|it| it.id == LEFT_OUT) {
        note(&format!("{}; {}", finding.what, finding.evidence));
    }
}

/// The sides asked for. A policy that restricts the server asks for it, where the machine's files are meant.
fn sides(here: &Surroundings, policy: &Policy, options: &Options) -> &'static [Side] {
    match (&here.perspective.client, options.side) {
        (Target::System(_), Sides::Client) if policy.restrict => Sides::Both.list(),
        (_, asked) => asked.list(),
    }
}

/// Transfers are this machine's and move full packets: another tree has to be asked on its own hardware.
fn sources(options: &Options, policy: &Policy) -> Result<Sources> {
    let is_here = options.root.is_none() && options.measurements.is_none();
    match options.evidence {
        EvidenceName::Transfer if options.measurements.is_none() && !is_here => bail!(
            "--evidence transfer is about the machine it runs on; with --root give --measurements with a report of the target, made by --save"
        ),
        EvidenceName::Transfer => Ok(Sources::Both),
        EvidenceName::Auto if is_here && policy.profile == Profile::Bulk => Ok(Sources::Both),
        _ => Ok(Sources::Packets),
    }
}

fn examination<'a>(
    here: &'a Surroundings,
    policy: &'a Policy,
    report: &'a Report,
    options: &Options,
    sides: &'a [Side],
    host: Option<&'a str>,
) -> Examination<'a> {
    Examination::new(ExaminationRequest {
        files: &here.files,
        perspective: &here.perspective,
        report,
        policy,
        choice: options.evidence.choice(),
        sides,
        force_managed: options.force_managed,
        host,
    })
}

/// "No difference" is an answer only where there was something to compare.
fn decided(examination: &Examination<'_>) -> Result<()> {
    match examination.undecided() {
        Some(basis) => bail!("no advice: it would rest on {basis}; nothing was changed"),
        None => Ok(()),
    }
}

/// Writes all plans, or nothing. Says what became of the running server, where that was asked for.
fn apply(
    here: &Surroundings,
    examination: &Examination<'_>,
    action: Action,
    options: &Options,
) -> Result<(Applied, Option<String>)> {
    let plans = match examination.plans() {
        Ok(plans) => plans,
        Err(refusal) => bail!("{refusal}; nothing was changed"),
    };
    decided(examination)?;
    // A report names programs of wherever it was made: only those of this machine are run.
    let programs = measuring::programs(options);
    let validator = here.validator(&programs, &SystemCommands);
    let validate = || match action.no_validate {
        true => Ok(()),
        false => validator.require(&plans),
    };
    let verify = || examination.verify();
    let request = ApplyRequest {
        validate: &validate,
        verify: &verify,
        ..writing(here)
    };
    let write = || Ok(apply::apply(&plans, &request)?);
    if !action.reload {
        return Ok((write()?, None));
    }
    let (applied, sentence) = reloading::apply(here, examination, &plans, &programs, write)?;
    Ok((applied, Some(sentence)))
}

/// Where and how to write, with nothing to ask and nothing to compare afterwards.
pub(super) fn writing(here: &Surroundings) -> ApplyRequest<'_> {
    ApplyRequest {
        files: &here.files,
        state: &here.state,
        scope: here.scope,
        now: SystemTime::now(),
        cancelled: interrupt::while_writing(),
        validate: &|| Ok(()),
        verify: &|| Ok(()),
    }
}

/// Shows the result. A change that is made stays made when it cannot be shown: failing then would say
/// that nothing was changed.
fn show(document: &Document, view: View, options: &Options) -> Result<()> {
    match emit(document, view, options) {
        Err(error) if document.changed => {
            note(&format!(
                "the change is written, but not its report: {error:#}"
            ));
            Ok(())
        }
        result => result,
    }
}

fn note_written(document: &mut Document, applied: &Applied) {
    document.changed = applied.id.is_some();
    for change in &mut document.changes {
        let written = applied.changes.iter().find(|it| it.file == change.file);
        change.backup = written.and_then(|it| it.backup.clone());
    }
}

/// What random bytes cost.
pub(super) fn entropy(options: &Options) -> Result<ExitCode> {
    let report = measuring::entropy(options)?;
    emit(&Document::new(report), View::Entropy, options)?;
    Ok(ExitCode::SUCCESS)
}

/// The speeds alone.
pub(super) fn measure(options: &Options) -> Result<ExitCode> {
    let report = measuring::report(options, Sources::Packets, None)?;
    emit(&Document::new(report), View::Measure, options)?;
    Ok(ExitCode::SUCCESS)
}

/// The transfers alone, as far as they came.
pub(super) fn transfer(by: Option<Implementation>, options: &Options) -> Result<ExitCode> {
    if options.root.is_some() || options.measurements.is_some() {
        bail!(
            "transfer is about the machine it runs on; it goes without --root and --measurements"
        );
    }
    let here = Surroundings::new(options)?;
    let report = measuring::report(options, Sources::Transfers(by), Some(&here))?;
    let document = Document::new(report);
    emit(&document, View::Transfer, options)?;
    if interrupt::check().is_err() {
        note("interrupted: these are the transfers until then; nothing was changed");
        return Ok(interrupt::INTERRUPTED.into());
    }
    match document.report.transfers.as_slice() {
        [] => bail!("no transfer could be made; nothing was changed"),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Which line wins, and why.
pub(super) fn explain(host: Option<&str>, live: bool, options: &Options) -> Result<ExitCode> {
    let here = Surroundings::new(options)?;
    let report = measuring::description(options)?;
    let mut document = unmeasured(&here, &report, host, options)?;
    if live {
        live::ask(&mut document, &here, host, options)?;
    }
    emit(&document, View::Explain, options)?;
    Ok(ExitCode::SUCCESS)
}

/// What is here, and what is odd.
pub(super) fn doctor(options: &Options) -> Result<ExitCode> {
    let here = Surroundings::new(options)?;
    let is_here = options.root.is_none() && options.measurements.is_none();
    let mut report = measuring::description(options)?;
    let possible = is_here.then(|| measuring::try_transfers(options, &mut report));
    interrupt::check()?;
    probing::probe(&mut report, &here, options);
    let mut document = unmeasured(&here, &report, None, options)?;
    document.transfers_possible = possible;
    emit(&document, View::Doctor, options)?;
    Ok(ExitCode::SUCCESS)
}

fn unmeasured(
    here: &Surroundings,
    report: &Report,
    host: Option<&str>,
    options: &Options,
) -> Result<Document> {
    let policy = policy(options)?;
    Ok(Document {
        recommendation: None,
        ..examination(here, &policy, report, options, &[], host).document()
    })
}

fn policy(options: &Options) -> Result<Policy> {
    let path = options.policy.as_deref().unwrap_or(Path::new("balanced"));
    let built_in = path.to_str().and_then(Policy::built_in);
    let mut policy = match built_in {
        Some(policy) => policy,
        None => {
            let bytes = read_policy(path).with_context(|| {
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

/// A policy has some hundred bytes; a device has no end.
fn read_policy(path: &Path) -> std::io::Result<Vec<u8>> {
    const LONGEST: u64 = 1 << 20;
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What the journal knows.
fn history(here: &Surroundings, options: &Options) -> Result<ExitCode> {
    let entries = apply::history(&here.files, &here.state)?;
    let mut document = Document::new(measuring::description(options)?);
    document.history = HistoryRecord::of(&entries);
    emit(&document, View::History, options)?;
    Ok(ExitCode::SUCCESS)
}

/// Puts back what a change replaced.
fn rollback(
    here: &Surroundings,
    which: Which,
    action: Action,
    options: &Options,
) -> Result<ExitCode> {
    let number = match which {
        Which::Number(number) => Some(number),
        Which::Last | Which::List => None,
    };
    let applied = apply::rollback(number, action.force, &writing(here))?;
    let mut document = Document::new(measuring::description(options)?);
    tell_left(applied.undone.iter().flatten());
    let was_interrupted = applied.undone.is_some();
    document.changed = applied.id.is_some();
    document.changes = applied
        .changes
        .iter()
        .map(|change| put_back(here, change, was_interrupted))
        .collect();
    show(&document, View::Rollback, options)?;
    Ok(ExitCode::SUCCESS)
}

/// Undoing an interrupted change spares what others have done meanwhile: that is theirs to look at.
fn tell_left<'f>(files: impl Iterator<Item = &'f PathBuf>) {
    for file in files {
        note(&format!(
            "{}: changed after an interrupted run, which was undone, so it is left as it is; see whether it is as you want it",
            file.display()
        ));
    }
}

fn put_back(here: &Surroundings, change: &apply::Change, was_interrupted: bool) -> Change {
    let after = here.files.read(&change.file).unwrap_or_default();
    let edit = Edit {
        path: change.file.clone(),
        before: match &change.backup {
            Some(backup) => here.files.read(backup).ok(),
            // What an interrupted change had come to is not kept.
            None if was_interrupted => Some(after.clone()),
            None => None,
        },
        after,
    };
    let is_server = change.file == here.perspective.server.main_file()
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
