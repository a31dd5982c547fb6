//! A host with something special about every file, plans for it, and other worlds to run a test in.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use advisor::apply::{self, ApplyError};
use advisor::files::Changes;
use advisor::plan::Plan;
use advisor::resolver::Side;
use rustix::io::Errno;

use crate::faults::{Counted, Faulty};
use crate::host::{Host, SERVER};

pub(crate) const DROP_IN: &str = "/etc/ssh/ssh_config.d/00-cipher-advisor.conf";

pub(crate) const CLIENT_DROP_IN: &str = "Ciphers aes256-ctr,aes128-ctr\n";

pub(crate) const SERVER_AFTER: &str = "Ciphers aes256-ctr\nUsePAM yes\n";

pub(crate) const ERRORS: [Errno; 5] = [
    Errno::IO,
    Errno::NOSPC,
    Errno::PERM,
    Errno::ROFS,
    Errno::BUSY,
];

/// A drop-in that is new, in a directory that may be too, and a file that is changed.
pub(crate) fn plans(host: &Host) -> Vec<Plan> {
    vec![
        host.plan(Side::Client, "", &[(DROP_IN, CLIENT_DROP_IN)]),
        host.plan(Side::Server, "", &[(SERVER, SERVER_AFTER)]),
    ]
}

/// A host with something special about every file: mode, owner, a missing directory.
pub(crate) fn special() -> Host {
    let host = Host::debian();
    fs::remove_dir(host.real("/etc/ssh/ssh_config.d")).unwrap();
    host.chmod(SERVER, 0o640);
    host.chown(SERVER, 7, 8);
    host
}

pub(crate) fn run(host: &Host, files: &dyn Changes) -> Result<apply::Applied, ApplyError> {
    apply::apply(&plans(host), &host.request(files))
}

pub(crate) fn calls_of_an_apply() -> (usize, usize) {
    let count = |counted| {
        let host = special();
        let watched = Faulty::none(&host.files, counted);
        run(&host, &watched).unwrap();
        watched.calls()
    };
    (count(Counted::Changing), count(Counted::Reading))
}

/// Whether this is an ordinary user's process. Root runs the named test again as one.
pub(crate) fn as_ordinary_user(test: &str) -> bool {
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
pub(crate) fn with_own_mounts(test: &str) -> bool {
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
pub(crate) fn run_again(mut wrapper: Command, test: &str) {
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
