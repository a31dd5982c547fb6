//! What an interrupted or killed run leaves, and whom the next one trusts.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use advisor::apply::{self, ApplyError};

use crate::faults::{Counted, Fault, Faulty};
use crate::host::{Host, SERVER, STATE};
use crate::special::{DROP_IN, SERVER_AFTER, calls_of_an_apply, plans, run, special};

#[test]
fn work_of_others_survives_the_recovery() {
    let (changing, _) = calls_of_an_apply();
    let host = special();
    // Killed while the journal says it is done: both files are in place.
    let faulty = Faulty::new(&host.files, Counted::Changing, changing - 4, Fault::Killed);
    run(&host, &faulty).unwrap_err();
    assert_eq!(host.text(SERVER), SERVER_AFTER);
    host.put(SERVER, "# by hand\n");
    let recovered = apply::recover(&host.files, Path::new(STATE), &host.cancelled).unwrap();
    assert_eq!(recovered.len(), 1);
    assert_eq!(recovered[0].left, [Path::new(SERVER)]);
    assert_eq!(host.text(SERVER), "# by hand\n");
    assert!(!host.real(DROP_IN).exists());
    assert!(
        apply::recover(&host.files, Path::new(STATE), &host.cancelled)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_damaged_journal_stops_with_its_name() {
    let host = Host::debian();
    host.put("/var/lib/cipher-advisor/journal/000001.json", "{");
    let error = run(&host, &host.files).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "/var/lib/cipher-advisor/journal/000001.json: not an entry of the journal"
        ),
        "{error}"
    );
}

const ENTRY: &str = "/var/lib/cipher-advisor/journal/000001.json";

/// A host whose first change was interrupted at the very end, its entry edited by hand.
fn interrupted_with(edit: impl Fn(&mut serde_json::Value)) -> Host {
    let host = Host::debian();
    run(&host, &host.files).unwrap();
    host.put("/precious", "keep me");
    let mut entry = serde_json::from_str(&host.text(ENTRY)).unwrap();
    edit(&mut entry);
    entry["progress"] = "begun".into();
    host.put(ENTRY, entry.to_string());
    host
}

#[test]
fn a_journal_of_somebody_else_is_not_followed() {
    let nothing = |_: &mut serde_json::Value| {};
    for path in [STATE, "/var/lib/cipher-advisor/journal", ENTRY] {
        for (mode, uid) in [(0o720, None), (0o702, None), (0o700, Some(7))] {
            let host = interrupted_with(nothing);
            host.chmod(path, mode);
            if uid.is_some_and(|uid| !host.chown(path, uid, uid)) {
                continue;
            }
            let old = host.snapshot("/");
            let refusals = [
                run(&host, &host.files).unwrap_err(),
                apply::rollback(None, false, &host.request(&host.files)).unwrap_err(),
            ];
            for error in refusals {
                assert!(
                    matches!(&error, ApplyError::Untrusted(found) if found == Path::new(path)),
                    "{error}"
                );
            }
            assert_eq!(host.snapshot("/"), old);
        }
    }
    let host = interrupted_with(nothing);
    run(&host, &host.files).unwrap();
}

#[test]
fn an_entry_cannot_name_files_that_are_not_ours() {
    let forged = [
        ("temporary", "/precious"),
        ("temporary", "/etc/ssh/ssh_config"),
        ("temporary", "/etc/ssh/sshd_config.d/.cipher-advisor-1-2"),
        ("backup", "/precious"),
        ("backup", "/var/lib/cipher-advisor/backups/other"),
        (
            "backup",
            "/var/lib/cipher-advisor/backups/../../../../precious",
        ),
        ("target", "/precious"),
    ];
    for (field, value) in forged {
        let host = interrupted_with(|entry| entry["files"][1][field] = value.into());
        let old = host.snapshot("/");
        let error = run(&host, &host.files).unwrap_err().to_string();
        assert!(
            error.contains("000001.json: not an entry of the journal"),
            "{error}"
        );
        assert_eq!(host.snapshot("/"), old, "{field} {value}");
    }
    let host = interrupted_with(|entry| entry["id"] = 2.into());
    let error = run(&host, &host.files).unwrap_err().to_string();
    assert!(error.contains("not an entry of the journal"), "{error}");
}

#[test]
fn a_file_with_the_name_of_a_temporary_one_stays() {
    let theirs = "/etc/ssh/.cipher-advisor-1-2";
    let host = Host::debian();
    host.put(theirs, "theirs");
    let old = host.snapshot("/");
    let error = run(&host, &host.files).unwrap_err().to_string();
    assert!(
        error.contains(theirs) && error.contains("move it away"),
        "{error}"
    );
    assert_eq!(host.snapshot("/"), old);

    // It comes when the names are chosen already.
    let host = Host::debian();
    let old = host.snapshot("/etc");
    let validate = || {
        host.put(theirs, "theirs");
        Ok(())
    };
    let request = apply::ApplyRequest {
        validate: &validate,
        ..host.request(&host.files)
    };
    let error = apply::apply(&plans(&host), &request).unwrap_err();
    assert!(matches!(error, ApplyError::Step { .. }), "{error}");
    assert_eq!(host.text(theirs), "theirs");
    fs::remove_file(host.real(theirs)).unwrap();
    assert_eq!(host.snapshot("/etc"), old);
}

#[test]
fn the_last_number_of_all_is_told() {
    let host = Host::debian();
    run(&host, &host.files).unwrap();
    let mut entry: serde_json::Value = serde_json::from_str(&host.text(ENTRY)).unwrap();
    entry["id"] = u64::MAX.into();
    entry["files"] = serde_json::json!([]);
    let last = format!("/var/lib/cipher-advisor/journal/{}.json", u64::MAX);
    host.put(&last, entry.to_string());
    host.put(SERVER, "UsePAM no\n");
    let error = run(&host, &host.files).unwrap_err().to_string();
    assert!(
        error.starts_with(&last) && error.contains("no number is left"),
        "{error}"
    );
}

#[test]
fn other_things_in_the_journal_are_passed_over() {
    let host = Host::debian();
    host.mkdir("/var/lib/cipher-advisor/journal/.x");
    host.put("/var/lib/cipher-advisor/journal/.y.json", "theirs");
    host.put("/var/lib/cipher-advisor/journal/.000001.json", "half wr");
    run(&host, &host.files).unwrap();
    let journal = host.snapshot("/var/lib/cipher-advisor/journal");
    let names = journal.keys().map(|path| path.file_name().unwrap());
    let names: Vec<_> = names.collect();
    assert_eq!(names, ["journal", ".x", ".y.json", "000001.json"]);
}
