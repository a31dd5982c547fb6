//! Putting back: every byte, mode and owner, whatever fails, and nobody else's work.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use advisor::apply::{self, ApplyError, ApplyRequest, Deed, Progress};
use advisor::files::Changes;
use advisor::resolver::Side;
use rustix::io::Errno;

use crate::faults::{Counted, Fault, Faulty};
use crate::host::{Host, SERVER, STATE, Seen};

const DROP_IN: &str = "/etc/ssh/ssh_config.d/00-cipher-advisor.conf";
const ERRORS: [Errno; 5] = [
    Errno::IO,
    Errno::NOSPC,
    Errno::PERM,
    Errno::ROFS,
    Errno::BUSY,
];

type Tree = BTreeMap<PathBuf, Option<Seen>>;

/// A host, what it was, and what an apply made of it.
fn applied() -> (Host, Tree, Tree) {
    let host = Host::debian();
    fs::remove_dir(host.real("/etc/ssh/ssh_config.d")).unwrap();
    host.chmod(SERVER, 0o640);
    host.chown(SERVER, 7, 8);
    let old = host.snapshot("/etc");
    apply(&host, "Ciphers aes256-ctr\nUsePAM yes\n");
    let new = host.snapshot("/etc");
    assert_ne!(old, new);
    (host, old, new)
}

fn apply(host: &Host, server: &str) {
    let plans = [
        host.plan(Side::Client, "", &[(DROP_IN, "Ciphers aes256-ctr\n")]),
        host.plan(Side::Server, "", &[(SERVER, server)]),
    ];
    apply::apply(&plans, &host.request(&host.files)).unwrap();
}

fn rollback(host: &Host, files: &dyn Changes) -> Result<apply::Applied, ApplyError> {
    apply::rollback(None, false, &host.request(files))
}

#[test]
fn a_rollback_restores_everything() {
    let (host, old, _) = applied();
    let done = rollback(&host, &host.files).unwrap();
    assert_eq!(done.changes.len(), 2);
    assert_eq!(host.snapshot("/etc"), old);
    let history = apply::history(&host.files, Path::new(STATE)).unwrap();
    let told: Vec<_> = history
        .iter()
        .map(|entry| (entry.id, entry.deed, entry.progress))
        .collect();
    let expected = [
        (1, Deed::Apply, Progress::Done),
        (2, Deed::RollbackOf(1), Progress::Done),
    ];
    assert_eq!(told, expected);

    let error = rollback(&host, &host.files).unwrap_err();
    assert!(matches!(error, ApplyError::NothingToRollBack(_)), "{error}");
    assert_eq!(host.snapshot("/etc"), old);
}

#[test]
fn modes_and_owners_changed_since_are_restored_too() {
    let (host, old, _) = applied();
    host.chmod(SERVER, 0o600);
    host.chown(SERVER, 9, 9);
    rollback(&host, &host.files).unwrap();
    assert_eq!(host.snapshot("/etc"), old);
}

#[test]
fn several_applies_are_put_back_one_by_one() {
    let (host, old, first) = applied();
    apply(&host, "Ciphers aes128-ctr\nUsePAM yes\n");
    let second = host.snapshot("/etc");
    let error = apply::rollback(Some(1), false, &host.request(&host.files)).unwrap_err();
    assert!(
        matches!(&error, ApplyError::ChangedSince(path) if path == Path::new(SERVER)),
        "{error}"
    );
    assert_eq!(host.snapshot("/etc"), second);
    rollback(&host, &host.files).unwrap();
    assert_eq!(host.snapshot("/etc"), first);
    rollback(&host, &host.files).unwrap();
    assert_eq!(host.snapshot("/etc"), old);
    assert!(rollback(&host, &host.files).is_err());
}

#[test]
fn nothing_to_put_back_leaves_no_trace() {
    let host = Host::debian();
    let old = host.snapshot("/");
    let error = rollback(&host, &host.files).unwrap_err().to_string();
    assert_eq!(
        error,
        "nothing to put back: the journal knows no change that was not put back already"
    );
    assert!(apply::rollback(Some(3), false, &host.request(&host.files)).is_err());
    assert_eq!(host.snapshot("/"), old);
}

#[test]
fn a_file_changed_since_is_put_back_only_by_force() {
    let (host, old, _) = applied();
    host.chmod(SERVER, 0o644);
    fs::write(host.real(SERVER), "# by hand\n").unwrap();
    let changed = host.snapshot("/etc");
    let error = rollback(&host, &host.files).unwrap_err();
    assert!(
        matches!(&error, ApplyError::ChangedSince(path) if path == Path::new(SERVER)),
        "{error}"
    );
    assert_eq!(host.snapshot("/etc"), changed);
    let done = apply::rollback(None, true, &host.request(&host.files)).unwrap();
    assert_eq!(host.snapshot("/etc"), old);
    let kept = done
        .changes
        .iter()
        .find(|change| change.file.ends_with("sshd_config"))
        .unwrap();
    let kept = host.text(kept.backup.as_ref().unwrap().to_str().unwrap());
    assert_eq!(kept, "# by hand\n", "forced, but not lost");
}

#[test]
fn files_removed_since_come_back_by_force() {
    let (host, old, _) = applied();
    fs::remove_file(host.real(SERVER)).unwrap();
    fs::remove_file(host.real(DROP_IN)).unwrap();
    assert!(matches!(
        rollback(&host, &host.files),
        Err(ApplyError::ChangedSince(_))
    ));
    apply::rollback(None, true, &host.request(&host.files)).unwrap();
    assert_eq!(host.snapshot("/etc"), old);
}

#[test]
fn a_directory_with_other_files_stays() {
    let (host, _, _) = applied();
    host.put("/etc/ssh/ssh_config.d/50-theirs.conf", "# theirs\n");
    rollback(&host, &host.files).unwrap();
    assert_eq!(
        host.text("/etc/ssh/ssh_config.d/50-theirs.conf"),
        "# theirs\n"
    );
    assert!(!host.real(DROP_IN).exists());
}

#[test]
fn a_damaged_backup_is_not_put_back() {
    let (host, _, new) = applied();
    let history = apply::history(&host.files, Path::new(STATE)).unwrap();
    let backup = history[0]
        .files
        .iter()
        .find_map(|record| record.backup.clone())
        .unwrap();
    fs::write(host.real(backup.to_str().unwrap()), "damaged").unwrap();
    let error = rollback(&host, &host.files).unwrap_err();
    assert!(
        matches!(&error, ApplyError::DamagedBackup(path) if *path == backup),
        "{error}"
    );
    assert_eq!(host.snapshot("/etc"), new);
}

#[test]
fn every_single_failure_leaves_old_or_new() {
    let mut points = 0;
    let (changing, reading) = calls_of_a_rollback();
    for (counted, calls) in [(Counted::Changing, changing), (Counted::Reading, reading)] {
        for at in 0..calls {
            let faults = ERRORS.map(Fault::Once).into_iter().chain([Fault::Short]);
            for fault in faults.take(if counted == Counted::Changing { 6 } else { 1 }) {
                let (host, old, new) = applied();
                let faulty = Faulty::new(&host.files, counted, at, fault);
                let result = rollback(&host, &faulty);
                let what = format!("{fault:?} at {counted:?} call {at}: {result:?}");
                match result {
                    Ok(_) => assert_eq!(without_directory(host.snapshot("/etc")), old, "{what}"),
                    Err(_) => assert_eq!(host.snapshot("/etc"), new, "{what}"),
                }
                check_next(&host, &old, &what);
                points += 1;
            }
        }
    }
    println!(
        "{points} fault points of a rollback: {changing} changing calls in 6 ways, {reading} reading calls"
    );
}

#[test]
fn a_process_killed_at_any_step_is_put_right_by_the_next() {
    let mut points = 0;
    let (changing, reading) = calls_of_a_rollback();
    for (counted, calls) in [(Counted::Changing, changing), (Counted::Reading, reading)] {
        for at in 0..calls {
            let (host, old, new) = applied();
            let faulty = Faulty::new(&host.files, counted, at, Fault::Killed);
            let _ = rollback(&host, &faulty);
            let what = format!("killed at {counted:?} call {at}");
            apply::recover(&host.files, Path::new(STATE), &host.cancelled).expect(&what);
            let now = host.snapshot("/etc");
            assert!(
                now == new || without_directory(now.clone()) == old,
                "{what}: {now:?}"
            );
            check_next(&host, &old, &what);
            points += 1;
        }
    }
    println!("{points} points at which a rollback was killed");
}

#[test]
fn a_killed_rollback_leaves_nothing_after_the_next_run_of_any_kind() {
    let (changing, _) = calls_of_a_rollback();
    for at in 0..changing {
        let (host, old, new) = applied();
        let faulty = Faulty::new(&host.files, Counted::Changing, at, Fault::Killed);
        let _ = rollback(&host, &faulty);
        let done = host.snapshot("/etc");
        // One that wants nothing.
        apply::apply(&[], &host.request(&host.files)).unwrap();
        let now = host.snapshot("/etc");
        assert!(
            now == new || without_directory(now.clone()) == old,
            "killed at call {at}: {now:?}, and before it was {done:?}"
        );
    }
}

/// The next rollback succeeds, or finds that it is done.
fn check_next(host: &Host, old: &Tree, what: &str) {
    match rollback(host, &host.files) {
        Ok(_) | Err(ApplyError::NothingToRollBack(_)) => {}
        Err(error) => panic!("{what}: {error}"),
    }
    assert_eq!(without_directory(host.snapshot("/etc")), *old, "{what}");
}

/// An empty directory that could not be removed is no harm.
fn without_directory(mut tree: Tree) -> Tree {
    if !tree.contains_key(Path::new(DROP_IN)) {
        tree.remove(Path::new("/etc/ssh/ssh_config.d"));
    }
    tree
}

pub(crate) fn calls_of_a_rollback() -> (usize, usize) {
    let count = |counted| {
        let (host, _, _) = applied();
        let watched = Faulty::none(&host.files, counted);
        rollback(&host, &watched).unwrap();
        watched.calls()
    };
    (count(Counted::Changing), count(Counted::Reading))
}

#[test]
fn a_rollback_verifies_too() {
    let (host, _, new) = applied();
    let verify = || Err("the list is not the old one".to_owned());
    let request = ApplyRequest {
        verify: &verify,
        ..host.request(&host.files)
    };
    let error = apply::rollback(None, false, &request)
        .unwrap_err()
        .to_string();
    assert!(error.contains("the list is not the old one"), "{error}");
    assert_eq!(host.snapshot("/etc"), new);
}
