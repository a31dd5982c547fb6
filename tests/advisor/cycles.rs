//! Many changes there and back under programs that read all the time: no reader ever meets half a file.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use advisor::apply;
use advisor::resolver::Side;

use crate::host::{Host, SERVER, STATE};
use crate::support::program;

const CYCLES: usize = 200;
const CONFIG: &str = "/home/me/config";
const DROP_IN: &str = "/etc/ssh/sshd_config.d/00-cipher-advisor.conf";
/// Long enough that a file written in place would be met half written.
const FILLER: usize = 2000;

fn text(list: &str) -> String {
    format!("# {}\nCiphers {list}\nPort 22\n", "x".repeat(60)).repeat(FILLER / 100)
        + "Compression no\n"
}

#[test]
fn readers_meet_the_old_file_or_the_new_one_two_hundred_times() {
    let host = Host::debian();
    let lists = [
        "chacha20-poly1305@openssh.com,aes128-ctr",
        "aes128-ctr,chacha20-poly1305@openssh.com",
    ];
    let [old, new] = lists.map(text);
    host.put(CONFIG, &old);
    let before = host.snapshot("/etc");
    let (server_old, server_new) = (
        host.text(SERVER),
        format!("Ciphers aes128-ctr\n{}", host.text(SERVER)),
    );
    let stop = AtomicBool::new(false);
    let (looks, asked) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let real = |path: &str| -> PathBuf { host.real(path) };
    let look = || {
        let seen = fs::read_to_string(real(CONFIG)).expect("the file is never away");
        assert!(seen == old || seen == new, "{} bytes", seen.len());
        let seen = fs::read_to_string(real(SERVER)).expect("the file is never away");
        assert!(seen == server_old || seen == server_new, "{seen}");
        if let Ok(seen) = fs::read_to_string(real(DROP_IN)) {
            assert_eq!(seen, "Ciphers aes128-ctr\n");
        }
        looks.fetch_add(1, Ordering::SeqCst);
    };
    let ask = |ssh: &PathBuf| {
        let mut command = Command::new(ssh);
        command.arg("-G").arg("-F").arg(real(CONFIG)).arg("host");
        let ran = command.output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        let list = said.lines().find_map(|line| line.strip_prefix("ciphers "));
        let is_valid = ran.status.success() && lists.contains(&list.unwrap_or("none"));
        assert!(is_valid, "{said}{}", String::from_utf8_lossy(&ran.stderr));
        asked.fetch_add(1, Ordering::SeqCst);
    };
    let ssh = program("ssh", "openssh-client");
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                (0..20).for_each(|_| look());
                ssh.iter().for_each(ask);
            }
        });
        let ended = Stop(&stop);
        for cycle in 0..CYCLES {
            if cycle % 20 == 0 {
                // Every run reads the whole journal: a long one would only make this slow.
                let _ = fs::remove_dir_all(real(STATE));
            }
            let plans = [
                host.plan(Side::Client, "", &[(CONFIG, &new)]),
                host.plan(
                    Side::Server,
                    "",
                    &[(SERVER, &server_new), (DROP_IN, "Ciphers aes128-ctr\n")],
                ),
            ];
            apply::apply(&plans, &host.request(&host.files)).unwrap();
            assert_eq!(host.text(CONFIG), new);
            apply::rollback(None, false, &host.request(&host.files)).unwrap();
            assert_eq!(host.text(CONFIG), old);
        }
        drop(ended);
    });
    assert_eq!(host.snapshot("/etc"), before);
    let (looks, asked) = (looks.into_inner(), asked.into_inner());
    println!("{CYCLES} cycles under {looks} looks at the files and {asked} runs of ssh -G");
    assert!(looks > CYCLES, "{looks} looks are too few to mean anything");
}

/// The readers end also when the writer fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
