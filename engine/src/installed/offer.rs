//! What `ssh` and `sshd` offer a peer, from their own first packet: no port, no peer, no authentication.
//!
//! The server talks over its standard input and output (`sshd -i`). The client talks to a `ProxyCommand` that
//! greets it, sends nothing more, and copies what it hears to standard error, which nobody else uses then.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;

use super::kexinit::{self, Greeting};
use crate::host::{CommandRequest, Commands};

/// What one end offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its version line (`SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u10`).
    pub version: String,
    /// Ciphers for what it sends, in order.
    pub ciphers: Vec<String>,
    /// MACs for what it sends, in order.
    pub macs: Vec<String>,
    /// Whether it takes part in strict key exchange, the cure for CVE-2023-48795 (PROTOCOL §1.10).
    pub strict_key_exchange: bool,
}

/// Why there is no offer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{program} offers nothing to read: {why}")]
pub struct NoOffer {
    /// `ssh` or `sshd`.
    pub program: &'static str,
    /// What it said itself, or what was wrong with what it said.
    pub why: String,
}

/// More than any version line and KEXINIT together; they have some thousand bytes.
const LONGEST_GREETING: usize = 256 * 1024;

/// All a peer has to say for a program to go on to its KEXINIT.
const GREETING: &str = "SSH-2.0-advisor\r\n";

/// The peer of `ssh`. It closes its output behind the greeting, so that `ssh` ends once it has sent its own
/// part, and ignores the hangup it is then sent, so that none of that gets lost.
const PEER: &str =
    "sh -c 'trap \"\" HUP; printf \"SSH-2.0-advisor\\r\\n\"; exec >&-; exec cat >&2'";

/// What `sshd` offers with a configuration file, and the values of `-o` that `options` are.
///
/// `host_key` is a key made for the question: the real ones need not be readable then. Root needs
/// `/run/sshd`; where that is missing, an account without rights asks, for whom `sshd` does not look at it.
///
/// # Errors
/// What `sshd` says in place of an offer.
pub fn server_offer(
    commands: &dyn Commands,
    sshd: &Path,
    file: &Path,
    host_key: &Path,
    options: &[String],
) -> Result<Offer, NoOffer> {
    let mut arguments: Vec<OsString> = ["-i", "-e", "-h"].map(OsString::from).to_vec();
    arguments.extend([host_key.into(), "-f".into(), file.into()]);
    arguments.extend(options.iter().map(|value| format!("-o{value}").into()));
    let first = ask_server(commands, sshd.into(), &arguments);
    let Err(NoOffer { why, .. }) = &first else {
        return first;
    };
    if !why.contains("privilege separation directory") {
        return first;
    }
    let nobody = [
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "--no-new-privs",
    ];
    let mut before: Vec<OsString> = nobody.map(OsString::from).to_vec();
    before.push(sshd.into());
    before.extend(arguments);
    ask_server(commands, "setpriv".into(), &before).or(first)
}

/// What the server at the other end of a fresh connection offers. It is told a version and nothing more, so it
/// takes the connection for one that was given up. The stream's own time limits hold.
///
/// # Errors
/// When it sends no whole KEXINIT.
pub fn offer_over(mut stream: impl Read + Write) -> Result<Offer, NoOffer> {
    let none = |why: String| NoOffer {
        program: "sshd",
        why,
    };
    let mut heard = Vec::new();
    let mut buffer = [0; 4096];
    let sent = stream.write_all(GREETING.as_bytes());
    sent.map_err(|error| none(error.to_string()))?;
    loop {
        let malformed = match kexinit::read(&heard) {
            Ok(greeting) => return Ok(offer(greeting, SERVER)),
            Err(malformed) => malformed,
        };
        let count = stream.read(&mut buffer);
        let count = count.map_err(|error| none(error.to_string()))?;
        if count == 0 || heard.len() > LONGEST_GREETING {
            return Err(none(malformed.to_string()));
        }
        heard.extend_from_slice(&buffer[..count]);
    }
}

fn ask_server(
    commands: &dyn Commands,
    program: OsString,
    arguments: &[OsString],
) -> Result<Offer, NoOffer> {
    let mut request = CommandRequest::new(program).args(arguments.iter().cloned());
    request.stdin = GREETING.into();
    let none = |why: String| NoOffer {
        program: "sshd",
        why,
    };
    let output = commands
        .run(&request)
        .map_err(|error| none(error.to_string()))?;
    let greeting = kexinit::read(&output.stdout)
        .map_err(|error| none(explained(&output.stderr_text(), &error.to_string())))?;
    Ok(offer(greeting, SERVER))
}

/// What `ssh` offers a host with the files it reads by itself, or with those that `options` name.
///
/// `ssh` runs the commands of `Match exec` in these files: whoever asks makes sure there are none.
///
/// # Errors
/// What `ssh` says in place of an offer.
pub fn client_offer(
    commands: &dyn Commands,
    ssh: &Path,
    host: &str,
    options: &[OsString],
) -> Result<Offer, NoOffer> {
    let mut request = CommandRequest::new(ssh)
        .arg(format!("-oProxyCommand={PEER}"))
        // No connection that is open already, no question, no name looked up, no word of its own.
        .args([
            "-oControlPath=none",
            "-oControlMaster=no",
            "-oBatchMode=yes",
        ])
        .args([
            "-oCanonicalizeHostname=no",
            "-oLogLevel=ERROR",
            "-oProxyUseFdpass=no",
            "-N",
            "-T",
        ])
        .args(options.iter().cloned())
        .args(["--", host]);
    request.env.push(("SHELL".into(), "/bin/sh".into()));
    let none = |why: String| NoOffer {
        program: "ssh",
        why,
    };
    let output = commands
        .run(&request)
        .map_err(|error| none(error.to_string()))?;
    let greeting = kexinit::read(&output.stderr)
        .map_err(|error| none(explained(&output.stderr_text(), &error.to_string())))?;
    Ok(offer(greeting, CLIENT))
}

/// Which lists are an end's own, and how it says that it knows strict key exchange.
struct End {
    ciphers: usize,
    macs: usize,
    strict: &'static str,
}

const CLIENT: End = End {
    ciphers: 2,
    macs: 4,
    strict: "kex-strict-c-v00@openssh.com",
};

const SERVER: End = End {
    ciphers: 3,
    macs: 5,
    strict: "kex-strict-s-v00@openssh.com",
};

fn offer(greeting: Greeting, end: End) -> Offer {
    let Greeting { version, mut lists } = greeting;
    Offer {
        version,
        strict_key_exchange: lists[0].iter().any(|name| name == end.strict),
        ciphers: std::mem::take(&mut lists[end.ciphers]),
        macs: std::mem::take(&mut lists[end.macs]),
    }
}

/// The program's own words where it has any.
fn explained(said: &str, otherwise: &str) -> String {
    let lines: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    if lines.is_empty() {
        otherwise.to_owned()
    } else {
        lines.join("; ")
    }
}
