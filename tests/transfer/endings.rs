//! However a transfer ends, nothing of it stays, and while it runs nobody can connect to it.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use libtest_mimic::Trial;

use crate::stage::{Stage, eventually, openssh};

pub(crate) fn tests() -> Vec<Trial> {
    trials![
        success_leaves_nothing,
        sigterm_leaves_nothing,
        sigkill_leaves_a_folder_that_the_next_run_removes,
        a_folder_in_use_is_not_removed,
        no_port_is_opened,
        a_long_or_strange_temporary_folder_is_passed_over,
    ]
}

fn success_leaves_nothing() {
    if openssh().is_none() {
        return;
    }
    let stage = Stage::new();
    let output = stage.once(&["env"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1048576 bytes\n");
    assert!(stage.leftovers().is_empty(), "{:?}", stage.leftovers());
    assert!(stage.processes().is_empty(), "{:?}", stage.processes());
}

fn sigterm_leaves_nothing() {
    if openssh().is_none() {
        return;
    }
    let stage = Stage::new();
    let mut running = stage.long();
    kill("TERM", running.id());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert!(stage.leftovers().is_empty(), "{:?}", stage.leftovers());
    // The children of sshd were killed as well, but are not ours to wait for.
    let all_ended = || stage.processes().is_empty();
    assert!(eventually(all_ended), "{:?}", stage.processes());
}

fn sigkill_leaves_a_folder_that_the_next_run_removes() {
    if openssh().is_none() {
        return;
    }
    let stage = Stage::new();
    let mut running = stage.long();
    running.kill().unwrap();
    running.wait().unwrap();
    let all_ended = || stage.processes().is_empty();
    assert!(eventually(all_ended), "{:?}", stage.processes());
    assert_eq!(stage.leftovers().len(), 1, "{:?}", stage.leftovers());
    let foreign = stage.left().join("advisor-transfer-mine");
    fs::write(&foreign, "a file of that name is not ours").unwrap();
    assert!(stage.once(&["env"]).status.success());
    assert_eq!(stage.leftovers(), ["advisor-transfer-mine"]);
}

fn a_folder_in_use_is_not_removed() {
    if openssh().is_none() {
        return;
    }
    let stage = Stage::new();
    let mut running = stage.long();
    let in_use = stage.leftovers();
    let found = fs::metadata(stage.left().join(&in_use[0])).unwrap();
    assert_eq!(found.mode() & 0o777, 0o700, "nobody else may enter");
    assert!(stage.once(&["env"]).status.success());
    assert_eq!(stage.leftovers(), in_use);
    kill("TERM", running.id());
    assert_eq!(running.wait().unwrap().code(), Some(130));
}

fn no_port_is_opened() {
    if openssh().is_none() {
        return;
    }
    let stage = Stage::new();
    let mut running = stage.long();
    let of_all = || -> HashSet<String> {
        let processes = stage.processes().into_iter().chain([running.id()]);
        processes.flat_map(sockets_of).collect()
    };
    // Listeners, transport and stream: the connection is open.
    let is_open = eventually(|| of_all().len() >= 4);
    let sockets = of_all();
    let tables = ["tcp", "tcp6", "udp", "udp6"];
    let of_the_internet: Vec<String> = tables.iter().flat_map(|table| inodes(table)).collect();
    kill("TERM", running.id());
    running.wait().unwrap();
    assert!(is_open, "their sockets are seen: {sockets:?}");
    let opened: Vec<_> = of_the_internet
        .iter()
        .filter(|inode| sockets.contains(*inode))
        .collect();
    assert!(opened.is_empty(), "{opened:?}");
}

/// The inodes of a process's sockets; its descriptors look like `socket:[12345]`.
fn sockets_of(process: u32) -> Vec<String> {
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).into_iter();
    let links = descriptors
        .flatten()
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok());
    links
        .filter_map(|link| {
            let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            Some(inode.to_owned())
        })
        .collect()
}

/// The inodes of all sockets in a table of proc_net(5); the tenth column.
fn inodes(table: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
    let lines = text.lines().skip(1);
    lines
        .filter_map(|line| Some(line.split_ascii_whitespace().nth(9)?.to_owned()))
        .collect()
}

fn a_long_or_strange_temporary_folder_is_passed_over() {
    if openssh().is_none() {
        return;
    }
    let stage = Stage::new();
    for name in ["long".repeat(30), "a:b c%d".to_owned()] {
        let folder = stage.left().join(name);
        fs::create_dir(&folder).unwrap();
        let setting = format!("TMPDIR={}", folder.display());
        let output = stage.once(&["env", &setting]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, "1048576 bytes\n");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }
}

fn kill(signal: &str, process: u32) {
    let script = format!("kill -s {signal} {process}");
    let status = Command::new("sh").args(["-c", &script]).status();
    assert!(status.unwrap().success());
}
