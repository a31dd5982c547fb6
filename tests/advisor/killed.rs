//! Real processes that a real SIGKILL ends at every step, on real files: the next run puts it right.
#![forbid(unsafe_code)]

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use advisor::apply::{self, ApplyError};

use crate::apply_faults::check_settled;
use crate::faults::{Counted, Fault, Faulty};
use crate::host::{Host, STATE};
use crate::rollback::calls_of_a_rollback;
use crate::special::{calls_of_an_apply, run, special};

const ROOT: &str = "ADVISOR_TEST_KILLED_ROOT";
const AT: &str = "ADVISOR_TEST_KILLED_AT";
const SIGKILL: i32 = 9;

/// Runs this test again as a process of its own, which does what it does on this host and is killed at a call.
fn killed(test: &str, host: &Host, at: usize) {
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(ROOT, host.root())
        .env(AT, at.to_string())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.signal(), Some(SIGKILL), "call {at}: {told}");
}

/// The host and the call at which this process is to end, in a process that was started for that.
fn victim() -> Option<(Host, usize)> {
    let root = std::env::var_os(ROOT)?;
    let at = std::env::var(AT).unwrap().parse().unwrap();
    Some((Host::at(Path::new(&root)), at))
}

#[test]
fn an_apply_killed_at_any_step_is_put_right_by_the_next_run() {
    if let Some((host, at)) = victim() {
        let faulty = Faulty::new(&host.files, Counted::Changing, at, Fault::Sigkill);
        let _ = run(&host, &faulty);
        return;
    }
    let (changing, _) = calls_of_an_apply();
    for at in 0..changing {
        let host = special();
        let old = host.snapshot("/etc");
        killed(
            "killed::an_apply_killed_at_any_step_is_put_right_by_the_next_run",
            &host,
            at,
        );
        let what = format!("killed at call {at}");
        apply::recover(&host.files, Path::new(STATE), &host.cancelled).expect(&what);
        let result = match host.snapshot("/etc") == old {
            true => Err(ApplyError::Interrupted),
            false => Ok(apply::Applied::default()),
        };
        check_settled(&host, &old, result, &what);
    }
    println!("{changing} points at which the process of an apply was killed");
}

#[test]
fn a_rollback_killed_at_any_step_is_put_right_by_the_next_run() {
    if let Some((host, at)) = victim() {
        let faulty = Faulty::new(&host.files, Counted::Changing, at, Fault::Sigkill);
        let _ = apply::rollback(None, false, &host.request(&faulty));
        return;
    }
    let (changing, _) = calls_of_a_rollback();
    for at in 0..changing {
        let host = special();
        let old = host.snapshot("/etc");
        run(&host, &host.files).unwrap();
        let new = host.snapshot("/etc");
        killed(
            "killed::a_rollback_killed_at_any_step_is_put_right_by_the_next_run",
            &host,
            at,
        );
        let what = format!("killed at call {at}");
        apply::recover(&host.files, Path::new(STATE), &host.cancelled).expect(&what);
        let now = host.snapshot("/etc");
        let mut emptied = old.clone();
        // The directory that was made for a file may outlive it, empty.
        emptied.insert("/etc/ssh/ssh_config.d".into(), None);
        assert!([&old, &new, &emptied].contains(&&now), "{what}: a mix");
        if now == new {
            apply::rollback(None, false, &host.request(&host.files)).expect(&what);
            assert_eq!(host.snapshot("/etc"), old, "{what}");
        }
    }
    println!("{changing} points at which the process of a rollback was killed");
}
