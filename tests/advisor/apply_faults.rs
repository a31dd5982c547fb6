//! Writing with every step failing, killed or interrupted in turn: old or new, never a mix.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use advisor::apply::{self, ApplyError};

use crate::faults::{Counted, Fault, Faulty};
use crate::host::{Host, SERVER, STATE, Seen};
use crate::special::{
    CLIENT_DROP_IN, DROP_IN, ERRORS, SERVER_AFTER, calls_of_an_apply, plans, run, special,
};

#[test]
fn every_single_failure_leaves_old_or_new() {
    let mut points = 0;
    let (changing, reading) = calls_of_an_apply();
    for (counted, calls) in [(Counted::Changing, changing), (Counted::Reading, reading)] {
        for at in 0..calls {
            let faults = ERRORS.map(Fault::Once).into_iter().chain([Fault::Short]);
            for fault in faults.take(if counted == Counted::Changing { 6 } else { 1 }) {
                let host = special();
                let old = host.snapshot("/etc");
                let faulty = Faulty::new(&host.files, counted, at, fault);
                let result = run(&host, &faulty);
                check_settled(
                    &host,
                    &old,
                    result,
                    &format!("{fault:?} at {counted:?} call {at}"),
                );
                points += 1;
            }
        }
    }
    println!(
        "{points} fault points of an apply: {changing} changing calls in 6 ways, {reading} reading calls"
    );
}

#[test]
fn a_process_killed_at_any_step_is_put_right_by_the_next() {
    let mut points = 0;
    let (changing, reading) = calls_of_an_apply();
    for (counted, calls) in [(Counted::Changing, changing), (Counted::Reading, reading)] {
        for at in 0..calls {
            let host = special();
            let old = host.snapshot("/etc");
            let faulty = Faulty::new(&host.files, counted, at, Fault::Killed);
            let what = format!("killed at {counted:?} call {at}");
            let _ = run(&host, &faulty);
            apply::recover(&host.files, Path::new(STATE), &host.cancelled).expect(&what);
            let result = match host.snapshot("/etc") == old {
                true => Err(ApplyError::Interrupted),
                false => Ok(apply::Applied::default()),
            };
            check_settled(&host, &old, result, &what);
            points += 1;
        }
    }
    println!("{points} points at which an apply was killed");
}

#[test]
fn a_signal_at_any_step_leaves_the_old_files() {
    let (changing, _) = calls_of_an_apply();
    for at in 0..changing {
        let host = special();
        let old = host.snapshot("/etc");
        let files = Faulty::new(&host.files, Counted::Changing, at, Fault::Signal);
        let request = apply::ApplyRequest {
            cancelled: files.cancelled(),
            ..host.request(&files)
        };
        let result = apply::apply(&plans(&host), &request);
        match &result {
            Err(error) => assert_eq!(error.exit_code(), 130, "call {at}: {error}"),
            Ok(_) => assert!(
                at + 5 >= changing,
                "only the journal's last words are not interrupted: {at}"
            ),
        }
        check_settled(&host, &old, result, &format!("signal at call {at}"));
    }
}

/// What must hold after any run: old or new as the result says, complete, nothing left beside the files, and
/// the next run succeeds.
pub(crate) fn check_settled(
    host: &Host,
    old: &BTreeMap<PathBuf, Option<Seen>>,
    result: Result<apply::Applied, ApplyError>,
    what: &str,
) {
    let now = host.snapshot("/etc");
    match result {
        Ok(_) => check_new(&now, old, what),
        Err(error) => {
            assert!(
                !matches!(error, ApplyError::NotRestored { .. }),
                "{what}: {error}"
            );
            assert_eq!(&now, old, "{what}: {error}");
        }
    }
    apply::recover(&host.files, Path::new(STATE), &host.cancelled).expect(what);
    run(host, &host.files).expect(what);
    check_new(&host.snapshot("/etc"), old, what);
    let journal = host.snapshot("/var/lib/cipher-advisor/journal");
    let hidden = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with('.');
    assert!(!journal.keys().any(hidden), "{what}: {journal:?}");
}

fn check_new(
    now: &BTreeMap<PathBuf, Option<Seen>>,
    old: &BTreeMap<PathBuf, Option<Seen>>,
    what: &str,
) {
    let mut expected = old.clone();
    let server = expected
        .get_mut(Path::new(SERVER))
        .unwrap()
        .as_mut()
        .unwrap();
    server.bytes = SERVER_AFTER.into();
    let owner = fs::metadata("/proc/self").unwrap();
    expected.insert("/etc/ssh/ssh_config.d".into(), None);
    let made = Seen {
        bytes: CLIENT_DROP_IN.into(),
        mode: 0o644,
        owner: (owner.uid(), owner.gid()),
        link: None,
    };
    expected.insert(DROP_IN.into(), Some(made));
    assert_eq!(now, &expected, "{what}");
}
