//! Letting a running `sshd` take up a new list, and taking it back where it does not.
//!
//! A `SIGHUP` with a file that `sshd` refuses ends the listener, and nothing may start it again: the sessions
//! live on, but nobody new gets in. So the file on the disk is put before `sshd -t` before anything is written
//! and again before the reload, and what counts is what the daemon then offers to a new connection, not what
//! a command said. Sessions that are open are never touched.
//!
//! Service manager and network are parameters.
#![forbid(unsafe_code)]

mod probe;
mod service;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::host::{CommandRequest, Commands};

use crate::apply::ApplyError;
use crate::startup::Running;

pub use probe::{Probe, TcpProbe};
pub use service::{Manager, Service, ServiceRequest, find};

/// How long to wait before each look at what the daemon offers: it closes its sockets, runs itself anew, reads
/// its keys and listens again. Three looks and no more, for a server may count connections that come to nothing.
const WAITS: [Duration; 3] = [
    Duration::from_millis(200),
    Duration::from_millis(800),
    Duration::from_secs(3),
];

/// Why `sshd` does not have the new list.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// What is on the disk would end the daemon.
    #[error(
        "sshd refuses the configuration that is on the disk already, and a reload would end it: {0}; nothing was changed"
    )]
    RefusedBefore(String),
    /// There is nobody to reload.
    #[error(
        "no running sshd was found that reads {}, so there is nothing to reload; start it, or leave --reload out; nothing was changed",
        .0.display()
    )]
    NotRunning(PathBuf),
    /// It is not known where it listens.
    #[error("sshd does not say where it listens ({0}); leave --reload out; nothing was changed")]
    NoAddress(String),
    /// The old files are back, and so is the old list.
    #[error("{0}; the old files are back, and {1} offers the old list again")]
    TakenBack(String, String),
    /// The files could not be put back.
    #[error("{why}; and then the old files could not be put back: {trouble}; {rescue}")]
    NotRestored {
        /// What went wrong first.
        why: String,
        /// What then.
        trouble: Box<ApplyError>,
        /// What to do by hand.
        rescue: String,
    },
    /// Nobody gets in any more, or not as it should be.
    #[error(
        "{why}; {state}; existing sessions live on: do not close yours before this has worked: {rescue}"
    )]
    Lost {
        /// What went wrong first.
        why: String,
        /// What is left.
        state: &'static str,
        /// The exact command.
        rescue: String,
    },
}

/// A daemon that can be reloaded: its files are accepted as they are, and it is known where it listens.
pub struct Reload<'a> {
    commands: &'a dyn Commands,
    probe: &'a dyn Probe,
    service: &'a dyn Service,
    check: CommandRequest,
    address: SocketAddr,
    pause: &'a dyn Fn(Duration),
}

/// What a reload is made with.
#[derive(Clone, Copy)]
pub struct ReloadRequest<'a> {
    /// Runs `sshd -t` and `sshd -T`.
    pub commands: &'a dyn Commands,
    /// Looks at what is offered.
    pub probe: &'a dyn Probe,
    /// Waits.
    pub pause: &'a dyn Fn(Duration),
    /// The program.
    pub sshd: &'a Path,
    /// Its file.
    pub file: &'a Path,
    /// The daemon, where it is seen running.
    pub running: Option<&'a Running>,
}

/// What a reload came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reloaded {
    /// Who was reloaded, in words.
    pub service: String,
    /// Where it was asked.
    pub address: SocketAddr,
    /// Whether a reload was needed: it is not where the list is offered already.
    pub was_needed: bool,
}

impl<'a> Reload<'a> {
    /// Looks whether a reload would be safe. Nothing is changed.
    ///
    /// # Errors
    /// Why it would not be.
    pub fn prepare(
        request: ReloadRequest<'a>,
        service: &'a dyn Service,
    ) -> Result<Self, ReloadError> {
        let check = question(request, "-t");
        accepted(request.commands, &check).map_err(ReloadError::RefusedBefore)?;
        let told = request.commands.run(&question(request, "-T"));
        let told = told.map_err(|failure| ReloadError::NoAddress(failure.to_string()))?;
        let address = listening(&told.stdout_text());
        Ok(Self {
            commands: request.commands,
            probe: request.probe,
            service,
            check,
            address: address.ok_or_else(|| ReloadError::NoAddress(told.stderr_text()))?,
            pause: request.pause,
        })
    }

    /// Makes the daemon offer `new`, which is on the disk. Where it does not come to that, `put_back` brings
    /// the old files back, and the daemon is brought to `old`. Without `put_back` nothing was written.
    ///
    /// # Errors
    /// What became of it.
    pub fn carry_out(
        &self,
        new: &[String],
        old: &[String],
        put_back: Option<&dyn Fn() -> Result<(), ApplyError>>,
    ) -> Result<Reloaded, ReloadError> {
        let done = |was_needed| Reloaded {
            service: self.service.name(),
            address: self.address,
            was_needed,
        };
        if put_back.is_none() && self.probe.ciphers(self.address).is_ok_and(|it| it == new) {
            return Ok(done(false));
        }
        let Err(why) = self.take_up(new) else {
            return Ok(done(true));
        };
        let Some(put_back) = put_back else {
            return Err(self.lost(why, "the files are as they were"));
        };
        put_back().map_err(|trouble| ReloadError::NotRestored {
            why: why.clone(),
            trouble: Box::new(trouble),
            rescue: self.service.rescue(),
        })?;
        self.come_back(old, why)
    }

    fn take_up(&self, new: &[String]) -> Result<(), String> {
        accepted(self.commands, &self.check)
            .map_err(|why| format!("sshd refuses the new configuration: {why}"))?;
        let name = self.service.name();
        self.service
            .reload()
            .map_err(|why| format!("{name} could not be reloaded: {why}"))?;
        self.offers(new)
    }

    /// The old files are on the disk: the daemon, or a new one, is to offer the old list.
    fn come_back(&self, old: &[String], why: String) -> Result<Reloaded, ReloadError> {
        let back = || Err(ReloadError::TakenBack(why.clone(), self.service.name()));
        if self.service.is_alive() {
            // What could not be reloaded may still be asked.
            let _ = self.service.reload();
            if self.offers(old).is_ok() {
                return back();
            }
        }
        if !self.service.is_alive() {
            let _ = self.service.start();
            if self.offers(old).is_ok() {
                return back();
            }
        }
        Err(self.lost(
            why.clone(),
            "the old files are back, but sshd could not be brought to offer the old list",
        ))
    }

    fn lost(&self, why: String, state: &'static str) -> ReloadError {
        ReloadError::Lost {
            why,
            state,
            rescue: self.service.rescue(),
        }
    }

    /// Whether a new connection is offered this list.
    fn offers(&self, wanted: &[String]) -> Result<(), String> {
        let mut last = String::new();
        for wait in WAITS {
            (self.pause)(wait);
            last = match self.probe.ciphers(self.address) {
                Ok(offered) if offered == wanted => return Ok(()),
                Ok(offered) => format!("{} offers {}", self.address, offered.join(",")),
                Err(why) => format!("{} does not answer as it should: {why}", self.address),
            };
        }
        Err(format!("after the reload {last}"))
    }
}

/// Whether `sshd -t` accepts what is on the disk, with the daemon's own keys and options.
fn accepted(commands: &dyn Commands, check: &CommandRequest) -> Result<(), String> {
    match commands.run(check) {
        Ok(output) if output.succeeded() => Ok(()),
        Ok(output) => Err(output.stderr_text().trim().replace('\n', "; ")),
        Err(failure) => Err(failure.to_string()),
    }
}

/// `sshd` with a flag, the file, and what else the daemon was started with.
fn question(request: ReloadRequest<'_>, flag: &str) -> CommandRequest {
    let mut arguments: Vec<OsString> = vec![flag.into(), "-f".into(), request.file.into()];
    let own = request.running.map(service::lasting_arguments);
    arguments.extend(own.into_iter().flatten().map(OsString::from));
    CommandRequest::new(request.sshd).args(arguments)
}

/// The first address that `sshd -T` prints, as one can reach it from here.
fn listening(told: &str) -> Option<SocketAddr> {
    let mut lines = told.lines().filter_map(|line| {
        let (keyword, value) = line.split_once(' ')?;
        keyword
            .eq_ignore_ascii_case("listenaddress")
            .then_some(value)
    });
    let mut address: SocketAddr = lines.find_map(|value| {
        // A routing domain may follow.
        value.split(' ').next()?.parse().ok()
    })?;
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    Some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_address_is_taken_as_it_is_reached_from_here() {
        for (told, address) in [
            (
                "port 22\nlistenaddress [::]:22\nlistenaddress 0.0.0.0:22\n",
                "[::1]:22",
            ),
            ("ListenAddress 0.0.0.0:2222\n", "127.0.0.1:2222"),
            ("listenaddress 192.0.2.7:22 rdomain 1\n", "192.0.2.7:22"),
        ] {
            assert_eq!(listening(told), Some(address.parse().unwrap()));
        }
        assert_eq!(listening("port 22\n"), None);
    }
}
