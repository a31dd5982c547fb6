//! What would be written: edits with their bytes before and after.
//!
//! A plan is proven before anybody sees it: the files are resolved again with the edits laid over them,
//! and what does not yield the order is refused. Nothing here writes.
#![forbid(unsafe_code)]

mod diff;
mod form;
mod manager;
mod overlay;
mod place;

use std::fmt;
use std::path::{Path, PathBuf};

use engine::installed::releases::Release;

pub use diff::unified_diff;
pub use overlay::Overlay;

use crate::files::Files;
use crate::layout::Layout;
use crate::policy::Form;
use crate::resolver::{Effective, Location, Severity, Side};

/// One file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file, as the target host names it.
    pub path: PathBuf,
    /// Its bytes when the plan was made; `None` where there is no such file yet.
    pub before: Option<Vec<u8>>,
    /// Its bytes afterwards.
    pub after: Vec<u8>,
}

/// All edits that bring one side to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Which side.
    pub side: Side,
    /// The edits; empty when the order is in force already.
    pub edits: Vec<Edit>,
    /// The effective list once they are written.
    pub order: Vec<String>,
    /// Why the edits are where they are, in one sentence.
    pub strategy: String,
}

/// Why no plan is made, and the way that is right instead. Prints as `file:line:column: what; cure`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    /// What it is about, where it is about a place.
    pub location: Option<Location>,
    /// Why not.
    pub what: String,
    /// What to do instead.
    pub cure: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        write!(f, "{}; {}", self.what, self.cure)
    }
}

/// Whose files may be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The machine's, from this main file on (`/etc/ssh/ssh_config`).
    System(PathBuf),
    /// One user's, from this main file on (`~/.ssh/config`).
    User(PathBuf),
}

impl Target {
    /// The main file.
    #[must_use]
    pub fn main_file(&self) -> &Path {
        match self {
            Self::System(file) | Self::User(file) => file,
        }
    }
}

/// A program that reads a file beside the one it is planned for, and must not be made to refuse it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    /// Where it is.
    pub path: PathBuf,
    /// Whose rules it follows.
    pub release: Release,
    /// The ciphers it lists; empty where it cannot be asked.
    pub ciphers: Vec<String>,
}

/// What a plan is made from.
pub struct PlanRequest<'a> {
    /// The tree.
    pub files: &'a dyn Files,
    /// What it says today.
    pub effective: &'a Effective,
    /// Whose files may be edited.
    pub target: Target,
    /// The flavour of OpenSSH they belong to.
    pub layout: &'a Layout,
    /// The order to bring about.
    pub order: &'a [String],
    /// How a new value is written.
    pub form: Form,
    /// The installed release.
    pub release: Release,
    /// The ciphers the installed binary lists.
    pub supported: &'a [String],
    /// Other programs that read the file: a home may be shared with machines whose `ssh` is older.
    pub readers: &'a [Reader],
    /// Whether files that say another tool writes them are changed all the same.
    pub force_managed: bool,
    /// Resolves a tree as today's was resolved.
    pub resolve: &'a dyn Fn(&dyn Files) -> Effective,
}

/// Plans the edits that bring about the order.
///
/// # Errors
/// Where an edit would not be right, or could not be proven to work.
pub fn plan(request: &PlanRequest<'_>) -> Result<Plan, Refusal> {
    let effective = request.effective;
    let planned = |edits, strategy: String| Plan {
        side: effective.side,
        edits,
        order: request.order.to_vec(),
        strategy,
    };
    if request.order == effective.ciphers {
        return Ok(planned(
            Vec::new(),
            "The order is in force already.".to_owned(),
        ));
    }
    refuse_unsound(request)?;
    refuse_unread(request)?;
    let (edit, strategy) = place::edit(request)?;
    place::refuse_unspeakable(request, &edit.path)?;
    prove(request, &edit)?;
    Ok(planned(vec![edit], strategy))
}

/// What no edit can put right.
fn refuse_unsound(request: &PlanRequest<'_>) -> Result<(), Refusal> {
    let effective = request.effective;
    let problems = effective.problems.iter();
    if let Some(problem) = problems
        .clone()
        .find(|problem| problem.severity == Severity::Error)
    {
        return Err(Refusal {
            location: Some(problem.location.clone()),
            what: problem.what.clone(),
            cure: format!("{}, then run this again", problem.cure),
        });
    }
    if !effective.alternatives.is_empty() {
        return Err(Refusal {
            location: place::depends_on(effective),
            what: "which Ciphers line counts depends on a command or the network".to_owned(),
            cure: "put the order into each of the lines by hand".to_owned(),
        });
    }
    let unknown = |name: &&String| !request.supported.contains(name);
    if let Some(name) = request.order.iter().find(unknown) {
        return Err(Refusal {
            location: None,
            what: format!("the installed program does not list {name}"),
            cure: "measure on this host, not on another".to_owned(),
        });
    }
    Ok(())
}

/// A name that one of them does not know would end it, wherever in the file it stands.
fn refuse_unread(request: &PlanRequest<'_>) -> Result<(), Refusal> {
    let value = place::value(request);
    let names = || value.trim_start_matches('^').split(',');
    let lacks = |reader: &Reader, name: &&str| {
        !reader.ciphers.is_empty() && reader.ciphers.iter().all(|known| known != name)
    };
    for reader in request.readers {
        if let Some(name) = names().find(|name| lacks(reader, name)) {
            return Err(Refusal {
                location: Some(Location::whole(&reader.path)),
                what: format!(
                    "this ssh reads {} too, and would refuse to start on {name}, which it does not know",
                    request.target.main_file().display()
                ),
                cure: "update it, take it out of PATH, or put the order into the system's file of this machine".to_owned(),
            });
        }
    }
    Ok(())
}

/// Resolves the tree as it would be.
fn prove(request: &PlanRequest<'_>, edit: &Edit) -> Result<(), Refusal> {
    let edits = std::slice::from_ref(edit);
    let result = (request.resolve)(&Overlay::new(request.files, edits));
    if result.ciphers == request.order && !result.is_refused() && result.alternatives.is_empty() {
        return Ok(());
    }
    Err(Refusal {
        location: Some(Location::whole(&edit.path)),
        what: "a line there would not bring about the order".to_owned(),
        cure: "put it before the line that wins by hand; `advisor explain` shows which".to_owned(),
    })
}
