//! Writing: all files or none, with everything about them kept.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use advisor::apply::{self, ApplyError, Progress, Scope};
use advisor::layout::Layout;
use advisor::resolver::Side;
use rustix::io::Errno;

use crate::faults::{Counted, Fault, Faulty};
use crate::host::{Host, SERVER, STATE, Seen};
use crate::special::{
    CLIENT_DROP_IN, DROP_IN, SERVER_AFTER, as_ordinary_user, calls_of_an_apply, plans, run,
    special, with_own_mounts,
};

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
