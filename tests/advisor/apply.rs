//! Writing: all files or none, whatever fails and whenever the process dies.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use advisor::apply::{self, ApplyError, Progress, Scope};
use advisor::files::Changes;
use advisor::layout::Layout;
use advisor::plan::Plan;
use advisor::resolver::Side;
use rustix::io::Errno;

use crate::faults::{Counted, Fault, Faulty};
use crate::host::{Host, SERVER, STATE, Seen};

const DROP_IN: &str = "/etc/ssh/ssh_config.d/00-cipher-advisor.conf";
const CLIENT_DROP_IN: &str = "Ciphers aes256-ctr,aes128-ctr\n";
const SERVER_AFTER: &str = "Ciphers aes256-ctr\nUsePAM yes\n";
const ERRORS: [Errno; 5] = [
    Errno::IO,
    Errno::NOSPC,
    Errno::PERM,
    Errno::ROFS,
    Errno::BUSY,
];

/// A drop-in that is new, in a directory that may be too, and a file that is changed.
fn plans(host: &Host) -> Vec<Plan> {
    vec![
        host.plan(Side::Client, "", &[(DROP_IN, CLIENT_DROP_IN)]),
        host.plan(Side::Server, "", &[(SERVER, SERVER_AFTER)]),
    ]
}

/// A host with something special about every file: mode, owner, a missing directory.
fn special() -> Host {
    let host = Host::debian();
    fs::remove_dir(host.real("/etc/ssh/ssh_config.d")).unwrap();
    host.chmod(SERVER, 0o640);
    host.chown(SERVER, 7, 8);
    host
}

fn run(host: &Host, files: &dyn Changes) -> Result<apply::Applied, ApplyError> {
    apply::apply(&plans(host), &host.request(files))
}

#[test]
fn a_group_is_written_with_backups_and_modes_kept() {
    let host = special();
    let old = host.snapshot("/etc");
    let applied = run(&host, &host.files).unwrap();
    assert_eq!(applied.id, Some(1));
    let files: Vec<_> = applied
        .changes
        .iter()
        .map(|change| change.file.to_str().unwrap())
        .collect();
    assert_eq!(files, [DROP_IN, SERVER]);
    assert_eq!(applied.changes[0].backup, None);
    let backup = applied.changes[1].backup.clone().unwrap();
    assert_eq!(
        backup,
        PathBuf::from("/var/lib/cipher-advisor/backups/20261130T204657Z-000001-2-sshd_config")
    );

    let new = host.snapshot("/etc");
    let server = |tree: &BTreeMap<PathBuf, Option<Seen>>| tree[Path::new(SERVER)].clone().unwrap();
    assert_eq!(server(&new).bytes, SERVER_AFTER.as_bytes());
    assert_eq!(
        (server(&new).mode, server(&new).owner),
        (server(&old).mode, server(&old).owner)
    );
    let made = new[Path::new(DROP_IN)].clone().unwrap();
    assert_eq!(
        (made.bytes.as_slice(), made.mode),
        (CLIENT_DROP_IN.as_bytes(), 0o644)
    );
    assert_eq!(
        new.len(),
        old.len() + 2,
        "the drop-in and its directory, nothing else: {new:?}"
    );

    let kept = host.snapshot(STATE)[&backup].clone().unwrap();
    assert_eq!(
        kept,
        server(&old),
        "a backup has the bytes, the mode and the owner"
    );
    assert_eq!(
        fs::metadata(host.real(STATE)).unwrap().mode() & 0o7777,
        0o700
    );
    let history = apply::history(&host.files, Path::new(STATE)).unwrap();
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].progress, Progress::Done);
    assert_eq!(history[0].timestamp(), "20261130T204657Z");
}

#[cfg(target_os = "linux")]
#[test]
fn attributes_of_a_file_survive_an_apply_and_a_rollback() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};

    let host = Host::debian_in(tempfile::tempdir().unwrap());
    let server = host.real(SERVER);
    if setxattr(&server, "user.note", b"kept", XattrFlags::empty()).is_err() {
        return crate::support::skip_here("this file system has no user attributes");
    }
    let note = || {
        let mut buffer = [0; 16];
        let length = getxattr(&server, "user.note", &mut buffer).unwrap();
        buffer[..length].to_vec()
    };
    run(&host, &host.files).unwrap();
    assert_eq!(host.text(SERVER), SERVER_AFTER);
    assert_eq!(note(), b"kept");
    apply::rollback(None, false, &host.request(&host.files)).unwrap();
    assert_ne!(host.text(SERVER), SERVER_AFTER);
    assert_eq!(note(), b"kept");
}

#[test]
fn what_gets_its_final_name_is_on_the_disk_before_and_its_directory_after() {
    let host = special();
    let watched = Faulty::none(&host.files, Counted::Changing);
    run(&host, &watched).unwrap();
    apply::rollback(None, false, &host.request(&watched)).unwrap();
    let log = watched.log();
    let renames = log
        .iter()
        .enumerate()
        .filter(|(_, (what, _))| *what == "rename");
    let mut seen = 0;
    for (at, (_, to)) in renames {
        let name = to.file_name().unwrap().to_str().unwrap();
        let temporary = |path: &Path| {
            let hidden = path.file_name().unwrap().to_str().unwrap();
            let of_the_journal = hidden.strip_prefix('.') == Some(name);
            path.parent() == to.parent()
                && (of_the_journal || hidden.starts_with(".cipher-advisor-"))
        };
        let last = |wanted: &str| {
            log[..at]
                .iter()
                .rposition(|(what, path)| *what == wanted && temporary(path))
        };
        assert!(
            last("sync") > last("write") && last("sync").is_some(),
            "{to:?}: {log:#?}"
        );
        assert!(last("sync") > last("set_mode"), "{to:?}: {log:#?}");
        let flushed = |(what, path): &(&str, PathBuf)| {
            *what == "sync_directory" && Some(&**path) == to.parent()
        };
        assert!(log[at..].iter().any(flushed), "{to:?}: {log:#?}");
        seen += 1;
    }
    // Each way two words of the journal; two files there, one back, for the other is removed.
    assert_eq!(seen, 2 + 2 + 1 + 2, "{log:#?}");
    // The backups are safe before anything is replaced.
    let backups = Path::new("/var/lib/cipher-advisor/backups");
    let replaced = log
        .iter()
        .position(|(what, path)| *what == "rename" && path == Path::new(SERVER));
    let safe = log
        .iter()
        .position(|(what, path)| *what == "sync_directory" && path == backups);
    assert!(safe.is_some() && safe < replaced, "{log:#?}");
}

#[test]
fn a_second_run_touches_nothing() {
    let host = Host::debian();
    run(&host, &host.files).unwrap();
    let before = (
        host.snapshot("/"),
        host.inode(SERVER),
        host.inode(DROP_IN),
        host.inode(STATE),
    );
    let watched = Faulty::none(&host.files, Counted::Changing);
    let again = run(&host, &watched).unwrap();
    assert_eq!(again, apply::Applied::default());
    assert_eq!(watched.calls(), 0);
    assert_eq!(
        before,
        (
            host.snapshot("/"),
            host.inode(SERVER),
            host.inode(DROP_IN),
            host.inode(STATE)
        )
    );
}

#[test]
fn an_edit_that_changes_no_byte_is_no_change() {
    let host = Host::debian();
    let mut plan = host.plan(Side::Server, "", &[(SERVER, SERVER_AFTER)]);
    plan.edits[0].after = plan.edits[0].before.clone().unwrap();
    let applied = apply::apply(&[plan], &host.request(&host.files)).unwrap();
    assert_eq!(applied, apply::Applied::default());
    assert!(!host.real(STATE).exists());
}

#[test]
fn a_file_changed_since_the_plan_stops_everything() {
    let host = Host::debian();
    let plans = plans(&host);
    for theirs in ["UsePAM no\n", ""] {
        host.put(SERVER, theirs);
        let old = host.snapshot("/etc");
        let error = apply::apply(&plans, &host.request(&host.files)).unwrap_err();
        assert!(
            matches!(&error, ApplyError::Changed(path) if path == Path::new(SERVER)),
            "{error}"
        );
        assert_eq!(host.snapshot("/etc"), old);
    }
    fs::remove_file(host.real(SERVER)).unwrap();
    let error = apply::apply(&plans, &host.request(&host.files)).unwrap_err();
    assert!(matches!(error, ApplyError::Changed(_)), "{error}");

    let host = Host::debian();
    let plans = self::plans(&host);
    host.put(DROP_IN, "# made meanwhile\n");
    let error = apply::apply(&plans, &host.request(&host.files)).unwrap_err();
    assert!(
        matches!(&error, ApplyError::Changed(path) if path == Path::new(DROP_IN)),
        "{error}"
    );
    assert_eq!(host.text(DROP_IN), "# made meanwhile\n");
}

#[test]
fn a_file_changed_between_check_and_rename_is_not_overwritten() {
    let host = Host::debian();
    let theirs = || {
        host.put(SERVER, "UsePAM no # theirs\n");
        Ok(())
    };
    let request = apply::ApplyRequest {
        validate: &theirs,
        ..host.request(&host.files)
    };
    let error = apply::apply(&plans(&host), &request).unwrap_err();
    assert!(matches!(error, ApplyError::Changed(_)), "{error}");
    assert_eq!(host.text(SERVER), "UsePAM no # theirs\n");
    assert!(!host.real(DROP_IN).exists());
}

#[test]
fn what_does_not_resolve_as_planned_is_put_back() {
    let host = special();
    let old = host.snapshot("/etc");
    let seen = AtomicUsize::new(0);
    let verify = || {
        seen.fetch_add(1, Ordering::SeqCst);
        assert_eq!(
            host.text(SERVER),
            SERVER_AFTER,
            "verified once everything is in place"
        );
        assert_eq!(host.text(DROP_IN), CLIENT_DROP_IN);
        Err("the client's list is another".to_owned())
    };
    let request = apply::ApplyRequest {
        verify: &verify,
        ..host.request(&host.files)
    };
    let error = apply::apply(&plans(&host), &request).unwrap_err();
    assert!(
        error.to_string().contains("the client's list is another"),
        "{error}"
    );
    assert_eq!(seen.load(Ordering::SeqCst), 1);
    assert_eq!(host.snapshot("/etc"), old);
    assert_eq!(
        host.snapshot("/var/lib/cipher-advisor/backups").len(),
        1,
        "no backup of what was not replaced"
    );
    let history = apply::history(&host.files, Path::new(STATE)).unwrap();
    assert_eq!(history[0].progress, Progress::Undone);
}

#[test]
fn a_link_stays_and_its_target_is_replaced_where_it_is() {
    let host = Host::debian();
    host.put("/srv/conf/sshd_config", "UsePAM yes\r\n");
    fs::remove_file(host.real(SERVER)).unwrap();
    symlink("/srv/conf/sshd_config", host.real(SERVER)).unwrap();
    let plan = host.plan(
        Side::Server,
        "",
        &[(SERVER, "Ciphers aes128-ctr\r\nUsePAM yes\r\n")],
    );
    apply::apply(&[plan], &host.request(&host.files)).unwrap();
    assert_eq!(
        fs::read_link(host.real(SERVER)).unwrap(),
        Path::new("/srv/conf/sshd_config")
    );
    assert_eq!(
        host.text("/srv/conf/sshd_config"),
        "Ciphers aes128-ctr\r\nUsePAM yes\r\n"
    );
    assert_eq!(fs::read_dir(host.real("/srv/conf")).unwrap().count(), 1);

    apply::rollback(None, false, &host.request(&host.files)).unwrap();
    assert_eq!(host.text("/srv/conf/sshd_config"), "UsePAM yes\r\n");
    assert_eq!(
        fs::read_link(host.real(SERVER)).unwrap(),
        Path::new("/srv/conf/sshd_config")
    );
}

#[test]
fn what_cannot_be_replaced_is_named() {
    let host = Host::debian();
    let refused = |path: &str| {
        let plan = host.plan(Side::Client, "", &[(path, "Ciphers aes128-ctr\n")]);
        let error = apply::apply(&[plan], &host.request(&host.files)).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    };
    symlink("/nowhere", host.real("/etc/ssh/link")).unwrap();
    assert!(
        refused("/etc/ssh/link").starts_with("/etc/ssh/link: a symbolic link that leads nowhere")
    );
    assert!(refused("/etc/ssh/ssh_config.d").contains("not a regular file"));
    assert!(
        refused("/etc/ssh/ssh_config/x")
            .contains("/etc/ssh/ssh_config/x: cannot follow the links of")
    );
}

#[test]
fn a_step_the_system_refuses_is_told_with_errno_and_cure() {
    let (changing, _) = calls_of_an_apply();
    let mut busy = Vec::new();
    for at in 0..changing {
        let host = special();
        let faulty = Faulty::new(&host.files, Counted::Changing, at, Fault::Once(Errno::BUSY));
        busy.push(run(&host, &faulty).unwrap_err().to_string());
    }
    let expected = "/etc/ssh/sshd_config: cannot replace: Device or resource busy (os error 16) (EBUSY: it is a mount \
                    point, as in containers; change it where it is mounted from); nothing was changed";
    assert!(busy.iter().any(|message| message == expected), "{busy:#?}");
}

#[test]
fn a_protected_file_stays_and_the_reason_is_clear() {
    let Some(chattr) = crate::support::program("chattr", "e2fsprogs") else {
        return;
    };
    let host = Host::debian();
    let set = |flag: &str| {
        Command::new(&chattr)
            .arg(flag)
            .arg(host.real(SERVER))
            .output()
            .unwrap()
            .status
            .success()
    };
    if !set("+i") {
        return crate::support::skip_here(
            "chattr +i is not possible on this file system or for this user",
        );
    }
    let old = host.snapshot("/etc");
    let error = run(&host, &host.files);
    assert!(set("-i"));
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("/etc/ssh/sshd_config: cannot replace: Operation not permitted"),
        "{error}"
    );
    assert!(error.contains("EPERM: protected with chattr +i"), "{error}");
    assert_eq!(
        host.snapshot("/etc"),
        old,
        "the drop-in of the same group is gone too"
    );
}

#[test]
fn mounts_refuse_clearly_and_nothing_changes() {
    if !with_own_mounts("apply::mounts_refuse_clearly_and_nothing_changes") {
        return;
    }
    let mount = |args: &[&str], place: &Path| {
        let ran = Command::new("mount")
            .args(args)
            .arg(place)
            .output()
            .unwrap();
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
    };
    let refused = |host: &Host| {
        let old = host.snapshot("/etc");
        let error = run(host, &host.files).unwrap_err().to_string();
        assert_eq!(host.snapshot("/etc"), old, "{error}");
        error
    };

    let host = Host::debian();
    let file = host.real(SERVER);
    mount(&["--bind", file.to_str().unwrap()], &file);
    let error = refused(&host);
    assert!(
        error.starts_with("/etc/ssh/sshd_config: cannot replace") && error.contains("EBUSY"),
        "{error}"
    );

    let host = Host::debian();
    let directory = host.real("/etc/ssh");
    mount(&["--bind", directory.to_str().unwrap()], &directory);
    mount(&["-o", "remount,bind,ro"], &directory);
    let error = refused(&host);
    assert!(
        error.contains("cannot create") && error.contains("EROFS"),
        "{error}"
    );

    let host = Host::debian();
    mount(
        &["-t", "tmpfs", "-o", "size=16k", "tmpfs"],
        &host.real("/etc/ssh/ssh_config.d"),
    );
    let filler = fs::write(host.real("/etc/ssh/ssh_config.d/filler"), vec![0; 1 << 20]);
    assert!(filler.is_err());
    let error = refused(&host);
    assert!(error.contains("ENOSPC"), "{error}");
}

#[test]
fn a_second_run_at_the_same_time_names_the_first() {
    let host = Host::debian();
    let meanwhile = || {
        let error = run(&host, &host.files).unwrap_err();
        let expected = format!("another run (process {}) is changing", std::process::id());
        assert!(error.to_string().starts_with(&expected), "{error}");
        Ok(())
    };
    let request = apply::ApplyRequest {
        validate: &meanwhile,
        ..host.request(&host.files)
    };
    apply::apply(&plans(&host), &request).unwrap();
}

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

#[test]
fn a_refusal_leaves_no_trace_in_the_whole_tree() {
    let host = Host::debian();
    let old = host.snapshot("/");
    let request = apply::ApplyRequest {
        validate: &|| Err(ApplyError::Refused("no".into())),
        ..host.request(&host.files)
    };
    apply::apply(&plans(&host), &request).unwrap_err();
    assert_eq!(host.snapshot("/"), old);
    // What was there before stays.
    host.mkdir(STATE);
    let old = host.snapshot("/");
    apply::apply(&plans(&host), &request).unwrap_err();
    let mut left = host.snapshot("/");
    left.remove(&Path::new(STATE).join("lock"));
    assert_eq!(left, old);
}

#[test]
fn a_file_with_the_longest_name_is_changed_and_put_back() {
    let host = Host::debian();
    let path = format!("/etc/ssh/sshd_config.d/{}.conf", "x".repeat(250));
    host.put(&path, "UsePAM yes\n");
    let old = host.snapshot("/etc");
    let plan = host.plan(Side::Server, "", &[(&path, "Ciphers aes256-ctr\n")]);
    apply::apply(&[plan], &host.request(&host.files)).unwrap();
    assert_eq!(host.text(&path), "Ciphers aes256-ctr\n");
    apply::rollback(None, false, &host.request(&host.files)).unwrap();
    assert_eq!(host.snapshot("/etc"), old);
}

#[test]
fn an_ordinary_user_changes_his_own_files_only() {
    if !as_ordinary_user("apply::an_ordinary_user_changes_his_own_files_only") {
        return;
    }
    let host = Host::debian();
    let config = "/home/me/.ssh/config";
    host.mkdir("/home/me");
    let state = apply::state_directory(Scope::User, &Layout::unix(), Path::new("/home/me"), None);
    let write = |after: &str| {
        let plan = host.plan(Side::Client, "", &[(config, after)]);
        let request = apply::ApplyRequest {
            scope: Scope::User,
            state: &state,
            ..host.request(&host.files)
        };
        apply::apply(&[plan], &request)
    };
    write("Ciphers aes128-ctr\n").unwrap();
    let mode = |path: &str| fs::metadata(host.real(path)).unwrap().mode() & 0o7777;
    assert_eq!((mode(config), mode("/home/me/.ssh")), (0o600, 0o700));
    host.chmod(config, 0o644);
    write("Ciphers aes256-ctr\n").unwrap();
    assert_eq!(mode(config), 0o644, "an existing mode is kept");
    assert_eq!(host.text(config), "Ciphers aes256-ctr\n");

    host.chmod("/home/me/.ssh", 0o500);
    let old = host.snapshot("/home/me/.ssh");
    let error = write("Ciphers aes192-ctr\n").unwrap_err().to_string();
    assert!(error.contains("EACCES"), "{error}");
    assert_eq!(host.snapshot("/home/me/.ssh"), old);
    host.chmod("/home/me/.ssh", 0o700);
}

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
fn check_settled(
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

fn calls_of_an_apply() -> (usize, usize) {
    let count = |counted| {
        let host = special();
        let watched = Faulty::none(&host.files, counted);
        run(&host, &watched).unwrap();
        watched.calls()
    };
    (count(Counted::Changing), count(Counted::Reading))
}

/// Whether this is an ordinary user's process. Root runs the named test again as one.
fn as_ordinary_user(test: &str) -> bool {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return true;
    }
    if let Some(setpriv) = crate::support::program("setpriv", "util-linux") {
        let mut command = Command::new(setpriv);
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        run_again(command, test);
    }
    false
}

/// Whether this process may mount what it likes without anybody seeing it. Root runs the named test again so.
fn with_own_mounts(test: &str) -> bool {
    const INSIDE: &str = "ADVISOR_TEST_OWN_MOUNTS";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let allowed = Command::new("unshare").args(["-m", "true"]).output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        crate::support::skip_here("mount namespaces are not allowed here");
        return false;
    }
    let mut command = Command::new("unshare");
    command
        .args(["-m", "--propagation", "private"])
        .env(INSIDE, "1");
    run_again(command, test);
    false
}

/// Runs a test of this binary under a wrapper that lacks the right to read the build directory.
fn run_again(mut wrapper: Command, test: &str) {
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let binary = place.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    let ran = wrapper
        .arg(&binary)
        .args(["--exact", test])
        .current_dir(place.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && told.contains("1 passed"),
        "{told}\n{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}
