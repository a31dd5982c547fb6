//! Who starts and reloads `sshd` here: systemd, OpenRC, an rc script, launchd, or nobody but the process itself.
#![forbid(unsafe_code)]

use std::path::Path;

use engine::host::{CommandRequest, Commands};

use crate::files::Files;
use crate::startup::Running;

/// A daemon that can be told to read its file again.
pub trait Service: Sync {
    /// Who it is, in words.
    fn name(&self) -> String;

    /// Has it read its file again.
    ///
    /// # Errors
    /// What was said against it.
    fn reload(&self) -> Result<(), String>;

    /// Whether it runs, or is started by whoever connects.
    fn is_alive(&self) -> bool;

    /// Starts it where it does not run.
    ///
    /// # Errors
    /// What was said against it.
    fn start(&self) -> Result<(), String>;

    /// The command that brings it back, for a person to type.
    fn rescue(&self) -> String;
}

/// Where to look for a service.
#[derive(Clone, Copy)]
pub struct ServiceRequest<'a> {
    /// The running system.
    pub files: &'a dyn Files,
    /// Runs the manager's program.
    pub commands: &'a dyn Commands,
    /// The program's name (`sshd`).
    pub program: &'a str,
    /// Whether it is the machine's usual daemon: a manager knows no other.
    pub is_usual: bool,
    /// The daemon, where it is seen running.
    pub running: Option<&'a Running>,
}

/// Who looks after the daemon; `None` where it does not run.
#[must_use]
pub fn find(request: ServiceRequest<'_>) -> Option<Box<dyn Service + '_>> {
    if request.is_usual
        && let Some(managed) = managed(request)
    {
        return Some(Box::new(managed));
    }
    #[cfg(unix)]
    if let Some(running) = request.running {
        return Some(Box::new(Process {
            running: running.clone(),
            files: request.files,
            commands: request.commands,
        }));
    }
    None
}

/// A kind of service manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// A unit that runs all the time.
    Systemd,
    /// A socket unit: `sshd` starts with a connection, and reads its file then.
    Socket,
    /// OpenRC, as on Alpine and Gentoo.
    OpenRc,
    /// `service` and a script: FreeBSD, NetBSD, System V.
    Rc,
    /// OpenBSD's `rcctl`.
    Rcctl,
    /// macOS, where each connection starts an `sshd` of its own.
    Launchd,
}

fn managed(request: ServiceRequest<'_>) -> Option<Managed<'_>> {
    let has = |path: &str| request.files.status(Path::new(path)).is_ok();
    // Debian's unit and script have the name of the package.
    let without_d = request.program.strip_suffix('d').unwrap_or(request.program);
    let names = [without_d, request.program];
    let found = |manager, unit: String| {
        Some(Managed {
            manager,
            unit,
            commands: request.commands,
        })
    };
    if has("/run/systemd/system") {
        let units = [(Manager::Systemd, "service"), (Manager::Socket, "socket")];
        let units = units
            .into_iter()
            .flat_map(|(manager, kind)| names.map(|name| (manager, format!("{name}.{kind}"))));
        let mut active = units.filter(|(_, unit)| {
            let question = CommandRequest::new("systemctl").args(["is-active", "--quiet", unit]);
            request
                .commands
                .run(&question)
                .is_ok_and(|it| it.succeeded())
        });
        let (manager, unit) = active.next()?;
        return found(manager, unit);
    }
    if has("/System/Library/LaunchDaemons/ssh.plist") {
        return found(Manager::Launchd, "system/com.openssh.sshd".to_owned());
    }
    request.running?;
    let script = |directory: &str| {
        let named = names
            .into_iter()
            .find(|name| has(&format!("{directory}/{name}")));
        named.map(str::to_owned)
    };
    if has("/run/openrc") {
        return found(Manager::OpenRc, script("/etc/init.d")?);
    }
    if has("/usr/sbin/rcctl") {
        return found(Manager::Rcctl, script("/etc/rc.d")?);
    }
    found(
        Manager::Rc,
        script("/etc/rc.d").or_else(|| script("/etc/init.d"))?,
    )
}

/// A daemon that a manager looks after.
struct Managed<'a> {
    manager: Manager,
    unit: String,
    commands: &'a dyn Commands,
}

impl Managed<'_> {
    /// The manager's command line for one of its words; `None` where there is nothing to do.
    fn line(&self, act: Act) -> Option<Vec<&str>> {
        let unit = self.unit.as_str();
        Some(match (self.manager, act) {
            // They read the file with each start.
            (Manager::Socket | Manager::Launchd, Act::Reload) => return None,
            (Manager::Systemd, Act::Reload) => vec!["systemctl", "reload", unit],
            (Manager::Systemd | Manager::Socket, Act::Start) => vec!["systemctl", "start", unit],
            (Manager::Systemd | Manager::Socket, Act::IsAlive) => {
                vec!["systemctl", "is-active", "--quiet", unit]
            }
            (Manager::Systemd | Manager::Socket, Act::Rescue) => vec!["systemctl", "restart", unit],
            (Manager::OpenRc, _) => vec!["rc-service", unit, act.word()],
            (Manager::Rc, _) => vec!["service", unit, act.word()],
            (Manager::Rcctl, Act::IsAlive) => vec!["rcctl", "check", unit],
            (Manager::Rcctl, _) => vec!["rcctl", act.word(), unit],
            (Manager::Launchd, Act::IsAlive) => vec!["launchctl", "print", unit],
            (Manager::Launchd, _) => vec!["launchctl", "kickstart", "-k", unit],
        })
    }

    fn run(&self, act: Act) -> Result<(), String> {
        let Some(line) = self.line(act) else {
            return Ok(());
        };
        let (program, arguments) = line.split_first().expect("each has a program");
        run(self.commands, &CommandRequest::new(program).args(arguments))
    }
}

/// What a manager is asked to do.
#[derive(Clone, Copy)]
enum Act {
    Reload,
    Start,
    IsAlive,
    Rescue,
}

impl Act {
    /// As rc scripts call it.
    const fn word(self) -> &'static str {
        match self {
            Self::Reload => "reload",
            Self::Start => "start",
            Self::IsAlive => "status",
            Self::Rescue => "restart",
        }
    }
}

impl Service for Managed<'_> {
    fn name(&self) -> String {
        self.unit.clone()
    }

    fn reload(&self) -> Result<(), String> {
        self.run(Act::Reload)
    }

    fn is_alive(&self) -> bool {
        self.run(Act::IsAlive).is_ok()
    }

    fn start(&self) -> Result<(), String> {
        self.run(Act::Start)
    }

    fn rescue(&self) -> String {
        let line = self.line(Act::Rescue).unwrap_or_default();
        format!("sshd -t && {}", line.join(" "))
    }
}

/// A daemon nobody looks after, as in a container.
#[cfg(unix)]
struct Process<'a> {
    running: Running,
    files: &'a dyn Files,
    commands: &'a dyn Commands,
}

#[cfg(unix)]
impl Process<'_> {
    fn pid(&self) -> Option<rustix::process::Pid> {
        i32::try_from(self.running.id)
            .ok()
            .and_then(rustix::process::Pid::from_raw)
    }

    /// It goes into the background by itself, unless it was told not to.
    fn line(&self) -> Vec<String> {
        let mut line = vec![self.running.program.display().to_string()];
        line.extend(lasting_arguments(&self.running));
        line
    }
}

#[cfg(unix)]
impl Service for Process<'_> {
    fn name(&self) -> String {
        format!("sshd (process {})", self.running.id)
    }

    fn reload(&self) -> Result<(), String> {
        let pid = self.pid().ok_or("it has no process number")?;
        rustix::process::kill_process(pid, rustix::process::Signal::HUP)
            .map_err(|error| error.to_string())
    }

    fn is_alive(&self) -> bool {
        let exists = self
            .pid()
            .is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok());
        let state = format!("/proc/{}/stat", self.running.id);
        // The state stands behind the name, which is in parentheses (proc_pid_stat(5)).
        let state =
            String::from_utf8_lossy(&self.files.read(Path::new(&state)).unwrap_or_default())
                .into_owned();
        let is_gone = state
            .rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']));
        exists && !is_gone
    }

    fn start(&self) -> Result<(), String> {
        let line = self.line();
        run(
            self.commands,
            &CommandRequest::new(&line[0]).args(&line[1..]),
        )
    }

    fn rescue(&self) -> String {
        self.line().join(" ")
    }
}

/// What decides about a daemon's configuration: not whether it stays in the foreground, nor what it logs, nor a
/// file that is named anew.
pub(super) fn lasting_arguments(running: &Running) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = running.arguments.iter();
    while let Some(word) = words.next() {
        let flags = word.strip_prefix('-').unwrap_or_default();
        if !flags.is_empty() && flags.chars().all(|flag| "Deqd".contains(flag)) {
            continue;
        }
        kept.push(word.clone());
        // Its value is the next word.
        if word.len() == 2 && "CEbcfghkopu".contains(flags) {
            kept.extend(words.next().cloned());
        }
    }
    kept
}

fn run(commands: &dyn Commands, request: &CommandRequest) -> Result<(), String> {
    match commands.run(request) {
        Ok(output) if output.succeeded() => Ok(()),
        Ok(output) => Err(output.stderr_text().trim().replace('\n', "; ")),
        Err(failure) => Err(failure.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_foreground_needs_is_left_out() {
        let running = Running {
            id: 1,
            program: "/usr/sbin/sshd".into(),
            arguments: [
                "-D",
                "-e",
                "-De",
                "-p",
                "2222",
                "-oCiphers=a",
                "-f",
                "/d/-D",
                "-4",
            ]
            .map(str::to_owned)
            .to_vec(),
        };
        let kept = ["-p", "2222", "-oCiphers=a", "-f", "/d/-D", "-4"];
        assert_eq!(lasting_arguments(&running), kept);
    }
}
