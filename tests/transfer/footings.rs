//! A private `sshd` or `dropbear` runs as root with and without the folder `sshd` wants, with a locked account, and
//! as an ordinary user with and without a shell; where it cannot, the reason and the cure are said.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Output};

use engine::transfer::Implementation;
use libtest_mimic::Trial;

use crate::stage::{IMPLEMENTATIONS, Stage, both_ends};
use crate::support::{program, skip_here};

pub(crate) fn tests() -> Vec<Trial> {
    trials![
        root_with_and_without_its_folder,
        root_without_the_right_to_mount,
        dropbear_without_the_right_to_mount,
        a_locked_root,
        an_account_without_a_shell,
        a_users_files_are_neither_run_nor_read_nor_written,
        a_user_without_an_account_is_told,
    ]
}

fn root_with_and_without_its_folder() {
    for stage in mounted_stages() {
        for made in ["mkdir -m 755 /run/sshd", "true"] {
            let script = format!("mount -t tmpfs tmpfs /run && {made} && exec \"$@\"");
            carries(&stage, &in_mounts(&script));
        }
    }
}

fn root_without_the_right_to_mount() {
    let Some(stage) = mounted_stage(Implementation::OpenSsh) else {
        return;
    };
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
    for stage in mounted_stages() {
        let shadow = stage.path().join("shadow");
        fs::write(&shadow, "root:!:0:0:99999:7:::\nsshd:!:0::::::\n").unwrap();
        // As the real one: sshd cannot see a lock it cannot read.
        fs::set_permissions(&shadow, fs::Permissions::from_mode(0o600)).unwrap();
        let bind = format!(
            "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && mount --bind {} /etc/shadow",
            shadow.display()
        );
        carries(&stage, &in_mounts(&format!("{bind} && exec \"$@\"")));
        if stage.implementation == Implementation::OpenSsh {
            let without = format!("{bind} && exec setpriv --bounding-set -sys_admin \"$@\"");
            carries(&stage, &in_mounts(&without));
        }
    }
}

fn an_account_without_a_shell() {
    for stage in mounted_stages().filter(a_user_may_run) {
        let account = Account::new(&stage, "/usr/sbin/nologin");
        match stage.implementation {
            Implementation::OpenSsh | Implementation::Dropbear => {
                carries(&stage, &account.words());
            }
            Implementation::DropbearToOpenSsh => tells(&stage, &account.words(), "chsh"),
        }
    }
}

fn dropbear_without_the_right_to_mount() {
    let Some(stage) = mounted_stage(Implementation::Dropbear) else {
        return;
    };
    let words = ["setpriv", "--bounding-set", "-sys_admin"];
    tells(&stage, &words, "CAP_SYS_ADMIN");
}

fn a_users_files_are_neither_run_nor_read_nor_written() {
    for stage in mounted_stages().filter(a_user_may_run) {
        // The one that reads start-up files also for a command that comes over the network.
        let account = Account::new(&stage, "/bin/bash");
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
            ".ssh/id_dropbear",
            ".ssh/dropbear_config",
            ".ssh/authorized_keys",
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
}

fn a_user_without_an_account_is_told() {
    let Some(stage) = mounted_stage(Implementation::OpenSsh) else {
        return;
    };
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

/// A stage for each implementation, where mount namespaces can be made.
fn mounted_stages() -> impl Iterator<Item = Stage> {
    IMPLEMENTATIONS.into_iter().filter_map(mounted_stage)
}

/// Whether an ordinary user may transfer that way: `dropbear` needs a user namespace then.
fn a_user_may_run(stage: &Stage) -> bool {
    let words = "--reuid=54321 --regid=54321 --clear-groups unshare --user --mount true";
    let may = || {
        let output = Command::new("setpriv").args(words.split(' ')).output();
        output.is_ok_and(|output| output.status.success())
    };
    let may = stage.implementation != Implementation::Dropbear || may();
    if !may {
        skip_here("users may make no user namespace");
    }
    may
}

/// A stage where both ends are installed and mount namespaces can be made.
fn mounted_stage(implementation: Implementation) -> Option<Stage> {
    both_ends(implementation)?;
    program("unshare", "util-linux")?;
    let mounts = in_mounts("mount -t tmpfs tmpfs /mnt");
    let can_mount = Command::new(mounts[0]).args(&mounts[1..]).output();
    if can_mount.is_ok_and(|output| output.status.success()) {
        Some(Stage::new(implementation))
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
    assert!(stage.ends_all_processes(), "{:?}", stage.processes());
}

/// Carries nothing, says why and what would help, and leaves nothing.
fn tells(stage: &Stage, by_way_of: &[&str], cure: &str) {
    let output = stage.once(by_way_of);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains(" cannot reach ") && said.contains(cure),
        "{said}"
    );
    assert!(stage.leftovers().is_empty(), "{:?}", stage.leftovers());
    assert!(stage.ends_all_processes(), "{:?}", stage.processes());
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
