//! However a transfer ends, nothing of it stays, and while it runs nobody can connect to it.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use engine::transfer::Implementation;
use libtest_mimic::Trial;

use crate::stage::{Stage, eventually, openssh};

pub(crate) fn tests() -> Vec<Trial> {
    trials![
        success_leaves_nothing,
        sigterm_leaves_nothing,
        sigkill_leaves_a_folder_that_the_next_run_removes,
        a_folder_in_use_is_not_removed,
        no_port_stays_open,
        a_long_or_strange_temporary_folder_is_passed_over,
    ]
}

fn success_leaves_nothing() {
    for stage in Stage::each() {
        let output = stage.once(&["env"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1048576 bytes\n");
        assert!(stage.leftovers().is_empty(), "{:?}", stage.leftovers());
        assert!(stage.ends_all_processes(), "{:?}", stage.processes());
    }
}

fn sigterm_leaves_nothing() {
    for stage in Stage::each() {
        let mut running = stage.long();
        kill("TERM", running.id());
        assert_eq!(running.wait().unwrap().code(), Some(130));
        assert!(stage.leftovers().is_empty(), "{:?}", stage.leftovers());
        // The children of sshd were killed as well, but are not ours to wait for.
        assert!(stage.ends_all_processes(), "{:?}", stage.processes());
    }
}

fn sigkill_leaves_a_folder_that_the_next_run_removes() {
    for stage in Stage::each() {
        let mut running = stage.long();
        running.kill().unwrap();
        running.wait().unwrap();
        assert!(stage.ends_all_processes(), "{:?}", stage.processes());
        assert_eq!(stage.leftovers().len(), 1, "{:?}", stage.leftovers());
        let foreign = stage.left().join("advisor-transfer-mine");
        fs::write(&foreign, "a file of that name is not ours").unwrap();
        assert!(stage.once(&["env"]).status.success());
        assert_eq!(stage.leftovers(), ["advisor-transfer-mine"]);
    }
}

fn a_folder_in_use_is_not_removed() {
    for stage in Stage::each() {
        let mut running = stage.long();
        let in_use = stage.leftovers();
        let found = fs::metadata(stage.left().join(&in_use[0])).unwrap();
        assert_eq!(found.mode() & 0o777, 0o700, "nobody else may enter");
        assert!(stage.once(&["env"]).status.success());
        assert_eq!(stage.leftovers(), in_use);
        kill("TERM", running.id());
        assert_eq!(running.wait().unwrap().code(), Some(130));
    }
}

fn no_port_stays_open() {
    for stage in Stage::each() {
        let mut running = stage.long();
        let of_all = || -> HashSet<String> {
            let processes = stage.processes().into_iter().chain([running.id()]);
            processes.flat_map(sockets_of).collect()
        };
        // Listeners, transport and stream: the connection is open.
        let enough = match stage.implementation {
            Implementation::OpenSsh => 4,
            Implementation::Dropbear | Implementation::DropbearToOpenSsh => 3,
        };
        let is_open = eventually(|| of_all().len() >= enough);
        let sockets = of_all();
        let of_the_internet = ["tcp", "tcp6", "udp", "udp6"].map(sockets_in);
        kill("TERM", running.id());
        running.wait().unwrap();
        assert!(is_open, "their sockets are seen: {sockets:?}");
        let of_the_internet = of_the_internet.iter().flatten();
        let opened: Vec<_> = of_the_internet
            .filter(|socket| sockets.contains(&socket.inode))
            .collect();
        match stage.implementation {
            // Both ends of the one connection that was accepted.
            Implementation::Dropbear => assert!(
                opened.len() == 2 && opened.iter().all(|it| it.state == ESTABLISHED),
                "{opened:?}"
            ),
            _ => assert!(opened.is_empty(), "{opened:?}"),
        }
    }
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

/// A connection that is open, in proc_net(5).
const ESTABLISHED: &str = "01";

#[derive(Debug)]
struct Socket {
    state: String,
    inode: String,
}

/// All sockets in a table of proc_net(5): the state is the fourth column, the inode the tenth.
fn sockets_in(table: &str) -> Vec<Socket> {
    let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
    let lines = text.lines().skip(1);
    lines
        .filter_map(|line| {
            let mut columns = line.split_ascii_whitespace().skip(3);
            Some(Socket {
                state: columns.next()?.to_owned(),
                inode: columns.nth(5)?.to_owned(),
            })
        })
        .collect()
}

fn a_long_or_strange_temporary_folder_is_passed_over() {
    if openssh().is_none() {
        return;
    }
    let stage = Stage::new(Implementation::OpenSsh);
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
