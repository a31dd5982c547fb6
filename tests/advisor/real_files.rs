//! What real file systems have besides bytes: flags, access lists, labels, groups that are inherited, masks.
//! As root and as an ordinary user.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use advisor::apply;
use advisor::resolver::Side;
use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::host::{Host, SERVER};
use crate::installed::uid;
use crate::special::{SERVER_AFTER, as_ordinary_user, run, run_again, with_own_mounts};
use crate::support::{program, skip_here};

/// On a disk: memory has no flags, and not every kind of attribute.
fn on_disk() -> Host {
    Host::debian_in(tempfile::tempdir().unwrap())
}

fn succeeds(program: &Path, args: &[&str], path: &Path) -> bool {
    let ran = Command::new(program).args(args).arg(path).output().unwrap();
    ran.status.success()
}

/// Applies and puts back; `check` looks after each.
fn there_and_back(host: &Host, check: impl Fn(&str)) {
    let old = host.snapshot("/etc");
    run(host, &host.files).unwrap();
    assert_eq!(host.text(SERVER), SERVER_AFTER);
    check("after an apply");
    apply::rollback(None, false, &host.request(&host.files)).unwrap();
    assert_eq!(host.snapshot("/etc"), old);
    check("after a rollback");
}

#[test]
fn flags_of_a_file_or_its_directory_stop_everything_with_a_reason() {
    let Some(chattr) = program("chattr", "e2fsprogs") else {
        return;
    };
    for (flag, at, step) in [
        ("i", SERVER, "/etc/ssh/sshd_config: cannot replace"),
        ("a", SERVER, "/etc/ssh/sshd_config: cannot replace"),
        ("i", "/etc/ssh", "cannot create"),
    ] {
        let host = on_disk();
        let real = host.real(at);
        if !succeeds(&chattr, &[&format!("+{flag}")], &real) {
            skip_here(&format!(
                "chattr +{flag} is not possible on this file system or for this user"
            ));
            continue;
        }
        let old = host.snapshot("/etc");
        let error = run(&host, &host.files);
        assert!(succeeds(&chattr, &[&format!("-{flag}")], &real));
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains(step) && error.contains("EPERM"),
            "+{flag} {at}: {error}"
        );
        assert!(error.ends_with("; nothing was changed"), "{error}");
        assert_eq!(host.snapshot("/etc"), old, "+{flag} {at}");
        // Without the flag it works, and nothing of the first try is in the way.
        run(&host, &host.files).unwrap();
    }
}

#[test]
fn access_lists_are_kept() {
    let (Some(setfacl), Some(getfacl)) = (program("setfacl", "acl"), program("getfacl", "acl"))
    else {
        return;
    };
    let host = on_disk();
    let server = host.real(SERVER);
    if !succeeds(&setfacl, &["-m", "u:12:rw,g:34:r"], &server) {
        return skip_here("this file system has no access lists");
    }
    let list = || {
        let mut command = Command::new(&getfacl);
        let ran = command
            .args(["-n", "-c", "-p"])
            .arg(&server)
            .output()
            .unwrap();
        String::from_utf8(ran.stdout).unwrap()
    };
    let before = list();
    assert!(before.contains("user:12:rw-"), "{before}");
    there_and_back(&host, |when| assert_eq!(list(), before, "{when}"));
}

#[test]
fn a_default_list_of_the_directory_opens_no_file_that_was_closed() {
    let Some(setfacl) = program("setfacl", "acl") else {
        return;
    };
    let host = on_disk();
    host.chmod(SERVER, 0o600);
    if !succeeds(&setfacl, &["-d", "-m", "u:12:rw"], &host.real("/etc/ssh")) {
        return skip_here("this file system has no access lists");
    }
    there_and_back(&host, |when| {
        let list = getxattr(host.real(SERVER), "system.posix_acl_access", &mut [0; 64]);
        assert!(list.is_err(), "{when}: an inherited list");
        let mode = fs::metadata(host.real(SERVER)).unwrap().mode() & 0o7777;
        assert_eq!(mode, 0o600, "{when}");
    });
}

#[test]
fn the_users_own_attributes_and_the_security_label_are_kept() {
    let host = on_disk();
    let server = host.real(SERVER);
    let label = &b"system_u:object_r:etc_t:s0\0"[..];
    let wanted: Vec<(&str, &[u8])> = [("user.note", &b"kept"[..]), ("security.selinux", label)]
        .into_iter()
        .filter(|(name, value)| {
            let set = setxattr(&server, *name, value, XattrFlags::empty()).is_ok();
            if !set {
                skip_here(&format!(
                    "{name} can not be set on this file system or by this user"
                ));
            }
            set
        })
        .collect();
    there_and_back(&host, |when| {
        for (name, value) in &wanted {
            let mut buffer = [0; 64];
            let length = getxattr(&server, *name, &mut buffer).expect(name);
            assert_eq!(&buffer[..length], *value, "{name} {when}");
        }
    });
}

#[test]
fn a_directory_that_hands_on_its_group_changes_no_group() {
    let host = on_disk();
    let group = if uid() == 0 {
        4321
    } else {
        rustix::process::getegid().as_raw()
    };
    host.chown("/etc/ssh", uid(), group);
    host.chmod("/etc/ssh", 0o2775);
    host.chmod(SERVER, 0o640);
    let before = fs::metadata(host.real(SERVER)).unwrap();
    there_and_back(&host, |when| {
        let now = fs::metadata(host.real(SERVER)).unwrap();
        assert_eq!(
            (now.uid(), now.gid(), now.mode()),
            (before.uid(), before.gid(), before.mode()),
            "{when}"
        );
        let directory = fs::metadata(host.real("/etc/ssh")).unwrap();
        assert_eq!(directory.mode() & 0o7777, 0o2775, "{when}");
    });
}

/// Whether this process makes files for itself alone. Runs the named test again so, if it does not.
fn under_a_strict_mask(test: &str) -> bool {
    const INSIDE: &str = "ADVISOR_TEST_STRICT_MASK";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let mut command = Command::new("sh");
    command
        .args(["-c", "umask 077; exec \"$0\" \"$@\""])
        .env(INSIDE, "1");
    run_again(command, test);
    false
}

#[test]
fn a_strict_mask_closes_no_file_that_was_open_to_all() {
    if !under_a_strict_mask("real_files::a_strict_mask_closes_no_file_that_was_open_to_all") {
        return;
    }
    let host = on_disk();
    for path in ["/etc", "/etc/ssh", "/etc/ssh/ssh_config.d"] {
        host.chmod(path, 0o755);
    }
    let mode = |path: &str| fs::metadata(host.real(path)).unwrap().mode() & 0o7777;
    there_and_back(&host, |when| assert_eq!(mode(SERVER), 0o644, "{when}"));
    // A file and a directory that are new are the machine's too: ssh of every user has to read them.
    fs::remove_dir(host.real("/etc/ssh/ssh_config.d")).unwrap();
    run(&host, &host.files).unwrap();
    assert_eq!(mode(crate::special::DROP_IN), 0o644);
    assert_eq!(mode("/etc/ssh/ssh_config.d"), 0o755);
    assert_eq!(
        mode("/var/lib/cipher-advisor/journal"),
        0o700,
        "the journal stays closed"
    );
}

#[test]
fn an_ordinary_user_keeps_all_of_it_too() {
    if !as_ordinary_user("real_files::an_ordinary_user_keeps_all_of_it_too") {
        return;
    }
    if uid() == 0 {
        return;
    }
    access_lists_are_kept();
    a_default_list_of_the_directory_opens_no_file_that_was_closed();
    the_users_own_attributes_and_the_security_label_are_kept();
    a_directory_that_hands_on_its_group_changes_no_group();
    flags_of_a_file_or_its_directory_stop_everything_with_a_reason();
}

#[test]
fn a_whole_system_that_may_only_be_read_is_told_as_such() {
    if !with_own_mounts("real_files::a_whole_system_that_may_only_be_read_is_told_as_such") {
        return;
    }
    let host = on_disk();
    let (root, text) = (host.root().to_owned(), root_text(&host));
    let mount = |args: &[&str]| {
        let ran = Command::new("mount").args(args).arg(&root).status();
        assert!(ran.unwrap().success());
    };
    mount(&["--bind", root.to_str().unwrap()]);
    mount(&["-o", "remount,bind,ro"]);
    let error = run(&host, &host.files).unwrap_err().to_string();
    assert!(
        error.contains("EROFS") && error.ends_with("; nothing was changed"),
        "{error}"
    );
    assert_eq!(root_text(&host), text);
    mount(&["-o", "remount,bind,rw"]);
    run(&host, &host.files).unwrap();
}

fn root_text(host: &Host) -> String {
    format!("{:?}", host.snapshot("/"))
}

#[test]
fn a_chain_of_links_ends_in_the_file_that_is_replaced() {
    let host = on_disk();
    host.put("/srv/site/ssh/main", "UsePAM yes\n");
    fs::remove_file(host.real(SERVER)).unwrap();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, host.real(at)).unwrap();
    link("/srv/link/ssh/second", SERVER);
    link("site", "/srv/link");
    link("../ssh/main", "/srv/site/ssh/second");
    let old = host.snapshot("/");
    let plan = host.plan(Side::Server, "", &[(SERVER, SERVER_AFTER)]);
    apply::apply(&[plan], &host.request(&host.files)).unwrap();
    assert_eq!(host.text("/srv/site/ssh/main"), SERVER_AFTER);
    assert!(
        fs::symlink_metadata(host.real(SERVER))
            .unwrap()
            .is_symlink()
    );
    apply::rollback(None, false, &host.request(&host.files)).unwrap();
    let mut now = host.snapshot("/");
    now.retain(|path, _| !path.starts_with("/var"));
    assert_eq!(now, old);
}
