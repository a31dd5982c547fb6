//! A private `sshd` runs as root with and without its folder, with a locked account, and as an ordinary user
//! with and without a shell; where it cannot, the reason and the cure are said.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Output};

use libtest_mimic::Trial;

use crate::stage::{Stage, openssh};
use crate::support::{program, skip_here};

pub(crate) fn tests() -> Vec<Trial> {
    trials![
        root_with_and_without_its_folder,
        root_without_the_right_to_mount,
        a_locked_root,
        an_account_without_a_shell,
        a_users_files_are_neither_run_nor_read_nor_written,
        a_user_without_an_account_is_told,
    ]
}

fn root_with_and_without_its_folder() {
    let Some(stage) = mounted_stage() else { return };
    for made in ["mkdir -m 755 /run/sshd", "true"] {
        let script = format!("mount -t tmpfs tmpfs /run && {made} && exec \"$@\"");
        carries(&stage, &in_mounts(&script));
    }
}

fn root_without_the_right_to_mount() {
    let Some(stage) = mounted_stage() else { return };
    if Command::new("id")
        .args(["-u", "sshd"])
        .output()
        .is_ok_and(|it| !it.status.success())
    {
        return skip_here("there is no account sshd");
    }
    let script = "mount -t tmpfs tmpfs /run && exec setpriv --bounding-set -sys_admin \"$@\"";
    carries(&stage, &in_mounts(script));
}

fn a_locked_root() {
    let Some(stage) = mounted_stage() else { return };
    let shadow = stage.path().join("shadow");
    fs::write(&shadow, "root:!:0:0:99999:7:::\nsshd:!:0::::::\n").unwrap();
    // As the real one: sshd cannot see a lock it cannot read.
    fs::set_permissions(&shadow, fs::Permissions::from_mode(0o600)).unwrap();
    let bind = format!(
        "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && mount --bind {} /etc/shadow",
        shadow.display()
    );
    for then in ["exec", "exec setpriv --bounding-set -sys_admin"] {
        carries(&stage, &in_mounts(&format!("{bind} && {then} \"$@\"")));
    }
}

fn an_account_without_a_shell() {
    let Some(stage) = mounted_stage() else { return };
    let account = Account::new(&stage, "/usr/sbin/nologin");
    carries(&stage, &account.words());
}

fn a_users_files_are_neither_run_nor_read_nor_written() {
    let Some(stage) = mounted_stage() else { return };
    let account = Account::new(&stage, "/bin/sh");
    let home = &account.home;
    let ran = stage.left().join("ran");
    let trap = format!("touch {}\n", ran.display());
    fs::create_dir(home.join(".ssh")).unwrap();
    for file in [
        ".bashrc",
        ".profile",
        ".bash_profile",
        ".ssh/rc",
        ".ssh/environment",
    ] {
        fs::write(home.join(file), &trap).unwrap();
    }
    // ssh would stop here.
    fs::write(home.join(".ssh/config"), "NoSuchKeyword yes\n").unwrap();
    let before = listing(home);
    carries(&stage, &account.words());
    assert!(!ran.exists(), "a start-up file was run");
    assert_eq!(listing(home), before);
}

fn a_user_without_an_account_is_told() {
    let Some(stage) = mounted_stage() else { return };
    let output = stage.once(&[
        "setpriv",
        "--reuid=54321",
        "--regid=54321",
        "--clear-groups",
    ]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("No user exists for uid 54321"), "{said}");
    assert!(said.contains("/etc/passwd"), "{said}");
    assert!(stage.leftovers().is_empty(), "{:?}", stage.leftovers());
}

/// An account that exists in a private mount namespace only.
struct Account {
    home: std::path::PathBuf,
    script: String,
}

impl Account {
    const ID: u32 = 54321;

    fn new(stage: &Stage, shell: &str) -> Self {
        let home = stage.path().join("home");
        fs::create_dir(&home).unwrap();
        chown(&home, Some(Self::ID), Some(Self::ID)).unwrap();
        let passwd = stage.path().join("passwd");
        let mut accounts = fs::read_to_string("/etc/passwd").unwrap();
        let id = Self::ID;
        accounts += &format!("tester:x:{id}:{id}::{}:{shell}\n", home.display());
        fs::write(&passwd, accounts).unwrap();
        fs::set_permissions(&passwd, fs::Permissions::from_mode(0o644)).unwrap();
        let script = format!(
            "mount --bind {} /etc/passwd && HOME={} exec setpriv --reuid={id} --regid={id} --clear-groups \"$@\"",
            passwd.display(),
            home.display(),
        );
        Self { home, script }
    }

    fn words(&self) -> Vec<&str> {
        in_mounts(&self.script)
    }
}

fn in_mounts(script: &str) -> Vec<&str> {
    vec![
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        script,
        "sh",
    ]
}

/// A stage, where OpenSSH is installed and mount namespaces can be made.
fn mounted_stage() -> Option<Stage> {
    openssh()?;
    program("unshare", "util-linux")?;
    let mounts = in_mounts("mount -t tmpfs tmpfs /mnt");
    let can_mount = Command::new(mounts[0]).args(&mounts[1..]).output();
    if can_mount.is_ok_and(|output| output.status.success()) {
        Some(Stage::new())
    } else {
        skip_here("no private mount namespace can be made");
        None
    }
}

fn carries(stage: &Stage, by_way_of: &[&str]) {
    let Output { stdout, stderr, .. } = stage.once(by_way_of);
    let said = String::from_utf8_lossy(&stdout);
    let errors = String::from_utf8_lossy(&stderr);
    assert_eq!(said, "1048576 bytes\n", "{by_way_of:?} {errors}");
    assert!(stage.leftovers().is_empty(), "{:?}", stage.leftovers());
    assert!(stage.processes().is_empty(), "{:?}", stage.processes());
}

/// Every file below a folder, with its size and the time of its last change.
fn listing(folder: &Path) -> Vec<(String, u64, i64, i64)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let found = fs::symlink_metadata(&path).unwrap();
        let name = path.display().to_string();
        all.push((name, found.size(), found.mtime(), found.mtime_nsec()));
        if found.is_dir() {
            all.extend(listing(&path));
        }
    }
    all.sort();
    all
}
