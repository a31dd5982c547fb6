//! What a resolved configuration says, and why.
#![forbid(unsafe_code)]

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Which end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// `ssh`: its order decides what is negotiated.
    Client,
    /// `sshd`: it can only leave ciphers out.
    Server,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Client => "client",
            Self::Server => "server",
        })
    }
}

/// A place in a file. Prints as `file:line:column`; both count from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// The file, as the target host names it.
    pub file: PathBuf,
    /// Line, from 1; 0 means the file as a whole.
    pub line: usize,
    /// Column in bytes, from 1; 0 means the line as a whole.
    pub column: usize,
}

impl Location {
    /// A file as a whole.
    #[must_use]
    pub fn whole(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            line: 0,
            column: 0,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.line > 0 && self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

/// Where an effective list comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// No line sets it: the compiled default of this release (`OpenSSH 9.2`).
    Default(String),
    /// A line of a file.
    Line(Location),
    /// An option on the program's command line, and where that is written or was seen.
    CommandLine(Location),
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Something does not do what its author thinks, or could not be read.
    Warning,
    /// The installed program would refuse this configuration, or nobody could use it.
    Error,
}

/// Something wrong with a configuration. Prints as `file:line:column: what, and the cure`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub location: Location,
    /// What is wrong, as the program itself would put it where it would complain.
    pub what: String,
    /// What to do about it.
    pub cure: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.location, self.what, self.cure)
    }
}

/// What became of a line that could have set the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It set the list.
    Won,
    /// An earlier line had set it.
    Shadowed(Location),
    /// Its Host or Match block does not apply.
    BlockDoesNotMatch(Location),
    /// Whether its block applies cannot be known without running a command or asking the network.
    Depends(Location),
    /// The program would refuse it.
    Refused(String),
}

/// A `Ciphers` line that was looked at, in the order in which OpenSSH looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Considered {
    /// Where it stands.
    pub location: Location,
    /// Its value as written.
    pub value: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// After how many bytes a side asks for new keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RekeyLimit {
    /// The bytes.
    pub bytes: u64,
    /// Where that is written.
    pub location: Location,
}

/// What one side would use, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// Which side.
    pub side: Side,
    /// The effective `Ciphers`, expanded, in order.
    pub ciphers: Vec<String>,
    /// Where they come from.
    pub source: Source,
    /// The winning value as written (`^aes128-gcm@openssh.com`); `None` for the default.
    pub written: Option<String>,
    /// The compiled default of this side and release.
    pub default: Vec<String>,
    /// The effective `MACs`, expanded, in order.
    pub macs: Vec<String>,
    /// The `RekeyLimit` in force, where one sets a number of bytes.
    pub rekey_limit: Option<RekeyLimit>,
    /// The other possible lists, where a `Match exec` or the like decides: at least one, beside `ciphers`.
    pub alternatives: Vec<Vec<String>>,
    /// Every `Ciphers` line considered, in order.
    pub considered: Vec<Considered>,
    /// What is wrong with the files.
    pub problems: Vec<Problem>,
    /// Every file read, in order of first reading.
    pub files: Vec<PathBuf>,
    /// Each Include of which only the running program knows what it reads.
    pub unread: Vec<Location>,
}

impl Effective {
    /// Whether the installed program would refuse these files, or be of use to nobody with them.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| problem.severity == Severity::Error)
    }
}
