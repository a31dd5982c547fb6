//! Which service manager is asked for what, and what is done when the daemon does not follow.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use advisor::apply::ApplyError;
use advisor::reload::{
    Probe, Reload, ReloadError, ReloadRequest, Reloaded, Service, ServiceRequest, find,
};
use advisor::startup::Running;
use engine::host::{CommandFailure, CommandOutput, CommandRequest, Commands};

use crate::question::Tree;
use crate::report::owned;

/// Programs that answer what a table says, and remember what was asked.
struct Table<'a> {
    answers: &'a [(&'a str, i32)],
    asked: Mutex<Vec<String>>,
}

impl<'a> Table<'a> {
    fn new(answers: &'a [(&'a str, i32)]) -> Self {
        Self {
            answers,
            asked: Mutex::new(Vec::new()),
        }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Commands for Table<'_> {
    fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure> {
        let words = request
            .args
            .iter()
            .map(|word| word.to_string_lossy().into_owned());
        let words: Vec<String> = words.collect();
        let line = format!("{} {}", request.program.display(), words.join(" "));
        let code = self.answers.iter().find(|(known, _)| line == *known);
        self.asked.lock().unwrap().push(line.clone());
        Ok(CommandOutput {
            code: Some(code.map_or(3, |(_, code)| *code)),
            stderr: format!("{line}: no").into_bytes(),
            stdout: b"listenaddress 127.0.0.1:22\n".to_vec(),
        })
    }
}

fn daemon() -> Running {
    Running {
        id: 4_000_000,
        program: "/usr/sbin/sshd".into(),
        arguments: vec!["-D".to_owned(), "-p".to_owned(), "2222".to_owned()],
    }
}

/// The service on a system with these files; what it is called, does to reload and to start, and its rescue.
fn told(files: &[&str], answers: &[(&str, i32)], is_usual: bool) -> Option<[String; 4]> {
    let tree = Tree::new();
    for file in files {
        tree.put(file, "");
    }
    let (commands, running) = (Table::new(answers), daemon());
    let below = tree.files();
    let service = find(ServiceRequest {
        files: &below,
        commands: &commands,
        program: "sshd",
        is_usual,
        running: Some(&running),
    })?;
    commands.asked();
    let asked = |act: &dyn Fn() -> Result<(), String>| {
        let _ = act();
        commands.asked().join(" · ")
    };
    let reload = if is_usual {
        asked(&|| service.reload())
    } else {
        String::new()
    };
    Some([
        service.name(),
        reload,
        asked(&|| service.start()),
        service.rescue(),
    ])
}

#[test]
fn each_manager_is_asked_in_its_own_words() {
    let systemd = "run/systemd/system/x";
    for (files, answers, expected) in [
        (
            &[systemd][..],
            &[("systemctl is-active --quiet ssh.service", 0)][..],
            [
                "ssh.service",
                "systemctl reload ssh.service",
                "systemctl start ssh.service",
                "sshd -t && systemctl restart ssh.service",
            ],
        ),
        (
            &[systemd],
            &[("systemctl is-active --quiet sshd.service", 0)],
            [
                "sshd.service",
                "systemctl reload sshd.service",
                "systemctl start sshd.service",
                "sshd -t && systemctl restart sshd.service",
            ],
        ),
        (
            // Nothing runs yet: the next connection starts one, which reads the new file.
            &[systemd],
            &[("systemctl is-active --quiet ssh.socket", 0)],
            [
                "ssh.socket",
                "",
                "systemctl start ssh.socket",
                "sshd -t && systemctl restart ssh.socket",
            ],
        ),
        (
            &["run/openrc/x", "etc/init.d/sshd"],
            &[],
            [
                "sshd",
                "rc-service sshd reload",
                "rc-service sshd start",
                "sshd -t && rc-service sshd restart",
            ],
        ),
        (
            &["etc/rc.d/sshd"],
            &[],
            [
                "sshd",
                "service sshd reload",
                "service sshd start",
                "sshd -t && service sshd restart",
            ],
        ),
        (
            &["etc/init.d/ssh"],
            &[],
            [
                "ssh",
                "service ssh reload",
                "service ssh start",
                "sshd -t && service ssh restart",
            ],
        ),
        (
            &["usr/sbin/rcctl", "etc/rc.d/sshd"],
            &[],
            [
                "sshd",
                "rcctl reload sshd",
                "rcctl start sshd",
                "sshd -t && rcctl restart sshd",
            ],
        ),
        (
            &["System/Library/LaunchDaemons/ssh.plist"],
            &[],
            [
                "system/com.openssh.sshd",
                "",
                "launchctl kickstart -k system/com.openssh.sshd",
                "sshd -t && launchctl kickstart -k system/com.openssh.sshd",
            ],
        ),
    ] {
        assert_eq!(
            told(files, answers, true),
            Some(expected.map(str::to_owned)),
            "{files:?}"
        );
    }
}

#[test]
fn a_daemon_nobody_looks_after_is_its_own_service() {
    // A manager knows the usual daemon only.
    for files in [&[][..], &["run/systemd/system/x"], &["etc/init.d/ssh"]] {
        let [name, _, start, rescue] = told(files, &[], false).unwrap();
        assert_eq!(name, "sshd (process 4000000)");
        assert_eq!(
            start, "/usr/sbin/sshd -p 2222",
            "without -D it goes into the background"
        );
        assert_eq!(rescue, "/usr/sbin/sshd -p 2222");
    }
    let tree = Tree::new();
    let (commands, below) = (Table::new(&[]), tree.files());
    let none = find(ServiceRequest {
        files: &below,
        commands: &commands,
        program: "sshd",
        is_usual: true,
        running: None,
    });
    assert!(none.is_none());
}

/// A daemon and its network, as a story: what it offers after which act.
#[derive(Default)]
struct Story {
    acts: Mutex<Vec<&'static str>>,
    /// Offered from the beginning, and after each reload or start in turn; an empty list: no answer.
    offers: Mutex<Vec<&'static str>>,
    reload_fails: bool,
    dies: bool,
}

impl Story {
    fn go_on(&self, act: &'static str) {
        self.acts.lock().unwrap().push(act);
        let mut offers = self.offers.lock().unwrap();
        if offers.len() > 1 {
            offers.remove(0);
        }
    }

    fn has(&self, act: &str) -> bool {
        self.acts.lock().unwrap().contains(&act)
    }
}

impl Service for Story {
    fn name(&self) -> String {
        "ssh.service".to_owned()
    }
    fn reload(&self) -> Result<(), String> {
        self.go_on("reload");
        if self.reload_fails {
            Err("failed".to_owned())
        } else {
            Ok(())
        }
    }
    fn is_alive(&self) -> bool {
        !self.dies || !self.has("reload") || self.has("start")
    }
    fn start(&self) -> Result<(), String> {
        self.go_on("start");
        Ok(())
    }
    fn rescue(&self) -> String {
        "systemctl restart ssh.service".to_owned()
    }
}

impl Probe for Story {
    fn ciphers(&self, _: SocketAddr) -> Result<Vec<String>, String> {
        self.acts.lock().unwrap().push("look");
        match self.offers.lock().unwrap()[0] {
            "" => Err("connection refused".to_owned()),
            list => Ok(list.split(',').map(str::to_owned).collect()),
        }
    }
}

/// Carries a reload out in a story; what it came to, and the acts in order.
fn carried(story: &Story, put_back: Option<bool>) -> (Result<Reloaded, ReloadError>, String) {
    let commands = Table::new(&[("/sshd -t -f /f", 0), ("/sshd -T -f /f", 0)]);
    let waited = RefCell::new(Duration::ZERO);
    let pause = |time| *waited.borrow_mut() += time;
    let request = ReloadRequest {
        commands: &commands,
        probe: story,
        pause: &pause,
        sshd: "/sshd".as_ref(),
        file: "/f".as_ref(),
        running: None,
    };
    let reload = Reload::prepare(request, story).unwrap();
    let back = |works: bool| {
        move || {
            story.acts.lock().unwrap().push("back");
            match works {
                true => Ok(()),
                false => Err(ApplyError::NothingToRollBack("gone".to_owned())),
            }
        }
    };
    let back = put_back.map(back);
    let back = back
        .as_ref()
        .map(|it| it as &dyn Fn() -> Result<(), ApplyError>);
    let result = reload.carry_out(&owned(&["new"]), &owned(&["old"]), back);
    assert!(*waited.borrow() < Duration::from_secs(10));
    let acts = story.acts.lock().unwrap().join(" ");
    (result, acts)
}

fn story(offers: &[&'static str]) -> Story {
    Story {
        offers: Mutex::new(offers.to_vec()),
        ..Story::default()
    }
}

#[test]
fn a_daemon_that_follows_is_asked_once() {
    let (result, acts) = carried(&story(&["old", "new"]), Some(true));
    assert!(result.unwrap().was_needed);
    assert_eq!(acts, "reload look");
}

#[test]
fn nothing_written_is_reloaded_only_where_the_daemon_lags_behind() {
    let (result, acts) = carried(&story(&["new"]), None);
    assert!(!result.unwrap().was_needed);
    assert_eq!(acts, "look");
    let (result, acts) = carried(&story(&["old", "new"]), None);
    assert!(result.unwrap().was_needed);
    assert_eq!(acts, "look reload look");
}

#[test]
fn three_looks_and_everything_is_taken_back() {
    let (result, acts) = carried(&story(&["old", "other", "old"]), Some(true));
    let told = result.unwrap_err().to_string();
    let expected = "after the reload 127.0.0.1:22 offers other; the old files are back, and ssh.service offers the old list again";
    assert_eq!(told, expected);
    assert_eq!(acts, "reload look look look back reload look");
}

#[test]
fn a_manager_that_refuses_to_reload_has_everything_taken_back() {
    let refusing = Story {
        reload_fails: true,
        ..story(&["old", "old"])
    };
    let (result, acts) = carried(&refusing, Some(true));
    assert!(matches!(result, Err(ReloadError::TakenBack(..))));
    assert_eq!(acts, "reload back reload look");
}

#[test]
fn a_daemon_that_ended_is_started_and_proven() {
    let ending = Story {
        dies: true,
        ..story(&["old", "", "old"])
    };
    let (result, acts) = carried(&ending, Some(true));
    assert!(matches!(result, Err(ReloadError::TakenBack(..))));
    assert_eq!(acts, "reload look look look back start look");
}

#[test]
fn where_nothing_helps_the_exact_command_is_told() {
    let (result, acts) = carried(&story(&["old", ""]), Some(true));
    let told = result.unwrap_err().to_string();
    assert!(told.contains("existing sessions live on"), "{told}");
    assert!(told.ends_with(": systemctl restart ssh.service"), "{told}");
    assert_eq!(acts, "reload look look look back reload look look look");
    let (result, _) = carried(&story(&["old", ""]), Some(false));
    let told = result.unwrap_err().to_string();
    assert!(
        told.contains("could not be put back: nothing to put back: gone"),
        "{told}"
    );
    assert!(told.ends_with("systemctl restart ssh.service"), "{told}");
}
