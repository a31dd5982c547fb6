//! Changing the configuration: what would come of it, doing it, undoing it.
//!
//! What is written is decided by the examination and written by `advisor::apply`; here the two are brought
//! together with what the user has seen and confirmed.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use advisor::apply::{
    self, Applied, ApplyError, ApplyRequest, Deed, Entry, Progress, history, rollback,
};
use advisor::examination::Examination;
use advisor::output::Document;
use advisor::plan::Plan;

use super::{HostJob, scope};
use crate::model::Question;
use crate::model::apply::{Past, Preview, Step, Written};

pub(super) fn preview(job: &HostJob, question: &Question) -> Result<Preview, String> {
    let plans = job.examined(question, plans)??;
    let accepted = validate(job, &plans);
    let obstacle = obstacle(job, &plans);
    Ok(Preview {
        verdict: accepted
            .map(|()| "The installed ssh accepts it and would use this order.".to_owned())
            .map_err(|error| error.to_string()),
        backups: job.state.join("backups").display().to_string(),
        command: command(job, question, obstacle.is_some()),
        obstacle,
    })
}

pub(super) fn write(
    job: &HostJob,
    question: &Question,
    shown: &Document,
    step: &dyn Fn(Step),
    cancel: &AtomicBool,
) -> Result<Written, String> {
    let write = |examination: &Examination<'_>| {
        let plans = plans(examination)?;
        if examination.document().changes != shown.changes {
            return Err(
                "the files have changed since this was shown; look at it again, nothing was changed"
                    .to_owned(),
            );
        }
        step(Step::Lock);
        let request = request(job, cancel);
        let applied = apply::apply(
            &plans,
            &ApplyRequest {
                validate: &|| {
                    step(Step::Validate);
                    validate(job, &plans)?;
                    step(Step::Write);
                    Ok(())
                },
                verify: &|| {
                    step(Step::Verify);
                    examination.verify()
                },
                ..request
            },
        );
        applied.map_err(|error| error.to_string())
    };
    let applied = job.examined(question, write)??;
    Ok(written(
        "Written: new connections use this order.",
        &applied,
    ))
}

pub(super) fn undo(
    job: &HostJob,
    id: u64,
    step: &dyn Fn(Step),
    cancel: &AtomicBool,
) -> Result<Written, String> {
    step(Step::Write);
    let verify = || {
        step(Step::Verify);
        Ok(())
    };
    let request = ApplyRequest {
        verify: &verify,
        ..request(job, cancel)
    };
    let undone = rollback(Some(id), false, &request).map_err(|error| error.to_string())?;
    Ok(written(
        &format!("Change {id} is undone: its old bytes are back."),
        &undone,
    ))
}

pub(super) fn journal(job: &HostJob) -> Result<Vec<Past>, String> {
    let entries = history(job.files.as_ref(), &job.state).map_err(|error| error.to_string())?;
    let done = || entries.iter().filter(|it| it.progress == Progress::Done);
    let undone: BTreeSet<u64> = done()
        .filter_map(|it| match it.deed {
            Deed::RollbackOf(id) => Some(id),
            Deed::Apply => None,
        })
        .collect();
    Ok(entries.iter().map(|it| past(it, &undone)).collect())
}

fn past(entry: &Entry, undone: &BTreeSet<u64>) -> Past {
    let is_undone = undone.contains(&entry.id);
    let what = match (entry.progress, entry.deed) {
        (Progress::Begun, _) => "interrupted, the next change takes it back".to_owned(),
        (Progress::Undone, _) => "failed, taken back".to_owned(),
        (Progress::Done, Deed::RollbackOf(id)) => format!("undid change {id}"),
        (Progress::Done, Deed::Apply) if is_undone => "written, undone since".to_owned(),
        (Progress::Done, Deed::Apply) => "written".to_owned(),
    };
    let files = entry.files.iter().map(|it| it.path.display().to_string());
    Past {
        id: entry.id,
        when: when(&entry.timestamp()),
        what,
        files: files.collect(),
        open: entry.progress == Progress::Done && entry.deed == Deed::Apply && !is_undone,
    }
}

/// `20261130T204657Z` for people: `2026-11-30 20:46 UTC`.
fn when(stamp: &str) -> String {
    let part = |range: std::ops::Range<usize>| stamp.get(range).unwrap_or_default();
    format!(
        "{}-{}-{} {}:{} UTC",
        part(0..4),
        part(4..6),
        part(6..8),
        part(9..11),
        part(11..13)
    )
}

fn plans(examination: &Examination<'_>) -> Result<Vec<Plan>, String> {
    examination
        .plans()
        .map_err(|refusal| format!("{refusal}; nothing was changed"))
}

fn validate(job: &HostJob, plans: &[Plan]) -> Result<(), ApplyError> {
    // A report names programs of wherever it was made: only those of this machine are run.
    let programs = job.programs();
    let (files, commands) = (job.files.as_ref(), job.commands.as_ref());
    let validator = job.perspective.validator(files, commands, &programs);
    validator.require(plans)
}

fn request<'a>(job: &'a HostJob, cancelled: &'a AtomicBool) -> ApplyRequest<'a> {
    ApplyRequest {
        files: job.files.as_ref(),
        state: &job.state,
        scope: scope(&job.perspective),
        now: SystemTime::UNIX_EPOCH + job.clock.since_1970(),
        cancelled,
        validate: &|| Ok(()),
        verify: &|| Ok(()),
    }
}

fn written(sentence: &str, applied: &Applied) -> Written {
    let backups = applied.changes.iter().filter_map(|it| it.backup.as_ref());
    Written {
        sentence: sentence.to_owned(),
        backups: backups.map(|it| it.display().to_string()).collect(),
    }
}

/// The first place this user may not write to.
fn obstacle(job: &HostJob, plans: &[Plan]) -> Option<String> {
    let edits = plans.iter().flat_map(|plan| &plan.edits);
    let directories = edits.filter_map(|edit| edit.path.parent());
    let mut directories = directories.chain([job.state.as_path()]);
    let closed = directories.find(|it| !may_write(&inside(job, it)))?;
    Some(format!("You may not write to {}.", closed.display()))
}

fn inside(job: &HostJob, path: &Path) -> PathBuf {
    let root = job.files.root();
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Whether names can be made in this directory, or in the one it would be made in.
#[cfg(unix)]
fn may_write(directory: &Path) -> bool {
    use rustix::fs::{Access, access};
    let existing = directory.ancestors().find(|it| it.exists());
    existing.is_some_and(|it| access(it, Access::WRITE_OK | Access::EXEC_OK).is_ok())
}

#[cfg(not(unix))]
fn may_write(_: &Path) -> bool {
    true
}

/// What writes the same from a shell; nothing there says an order arranged by hand.
fn command(job: &HostJob, question: &Question, as_root: bool) -> Option<String> {
    if question.order.is_some() {
        return None;
    }
    let mut words = vec!["advisor --apply".to_owned()];
    if as_root {
        words.insert(0, "sudo".to_owned());
    }
    if let Some(root) = &job.root {
        words.push(format!("--root {}", quoted(&root.display().to_string())));
    }
    if let Some(policy) = &question.policy {
        words.push(format!("--policy {}", quoted(policy)));
    }
    if let Some(profile) = question.profile {
        words.push(format!("--profile {}", profile.name()));
    }
    Some(words.join(" "))
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "/._-+,:@%".contains(it);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(quoted("/srv/image"), "/srv/image");
        assert_eq!(quoted("/srv/my image's"), r"'/srv/my image'\''s'");
    }

    #[test]
    fn a_stamp_is_a_date() {
        assert_eq!(when("20261130T204657Z"), "2026-11-30 20:46 UTC");
    }
}
