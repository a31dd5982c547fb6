//! Where this run works: which tree, whose files, which releases' rules.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use advisor::apply::{Scope, Validator, state_directory};
use advisor::examination::Perspective;
use advisor::files::SystemFiles;
use advisor::layout::Layout;
use advisor::plan::{Reader, Target};
use anyhow::{Context, Result, bail};
use engine::host::{Commands, SystemCommands};
use engine::installed::{DiscoverRequest, discover};
use engine::report::OpenSsh;

use super::args::{Options, Sides};

/// The tree, the user, and the files that count.
pub(super) struct Surroundings {
    pub(super) files: SystemFiles,
    /// Directory for journal, lock and backups, inside the tree.
    pub(super) state: PathBuf,
    pub(super) scope: Scope,
    /// Who looks, and whose files count.
    pub(super) perspective: Perspective,
}

impl Surroundings {
    pub(super) fn new(options: &Options) -> Result<Self> {
        if options.user_config && options.side != Sides::Client {
            bail!("--user-config is about the client only; change the server in a run of its own");
        }
        let root = options.root.as_deref().unwrap_or(Path::new("/"));
        let files = SystemFiles::new(root)
            .with_context(|| format!("{}: cannot be the root of a tree", root.display()))?;
        let uid = user_id();
        // Inside another tree nobody is logged in, so its root is meant.
        let in_image = options.root.is_some();
        let home = if in_image { "/root".into() } else { home()? };
        let is_system = !options.user_config && (uid == 0 || in_image);
        let layout = layout(options, &files);
        let client = match &options.ssh_config {
            Some(file) => Target::System(inside(file, in_image)?),
            None if is_system => Target::System(layout.client_file()),
            None => Target::User(home.join(".ssh/config")),
        };
        let server = match &options.sshd_config {
            Some(file) => inside(file, in_image)?,
            None => layout.server_file(),
        };
        let scope = match (&client, options.side) {
            (Target::User(_), Sides::Client) => Scope::User,
            _ => Scope::System,
        };
        // An image has no home that others share.
        let readers = match &client {
            Target::User(_) if !in_image => readers(options),
            _ => Vec::new(),
        };
        let user_state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
        let user_state = user_state.filter(|_| !in_image);
        Ok(Self {
            state: state_directory(scope, &layout, &home, user_state.as_deref()),
            files,
            scope,
            perspective: Perspective {
                client,
                server: Target::System(server),
                user: user_name(uid),
                uid,
                home,
                layout,
                processes: (!in_image).then(|| "/proc".into()),
                readers,
            },
        })
    }

    /// Whom to ask about a candidate tree.
    pub(super) fn validator<'a>(
        &'a self,
        programs: &OpenSsh,
        commands: &'a dyn Commands,
    ) -> Validator<'a> {
        self.perspective.validator(&self.files, commands, programs)
    }
}

/// Every `ssh` in `PATH` but the one that is asked anyway: whichever is started next reads the user's file.
fn readers(options: &Options) -> Vec<Reader> {
    let search = DiscoverRequest::default().search;
    let found = search.iter().map(|directory| directory.join("ssh"));
    let mut known: Vec<PathBuf> = Vec::new();
    let mut readers = Vec::new();
    for path in found.filter(|path| path.is_file()) {
        // The first is the one that is asked, unless another was named; links lead to one program.
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let is_asked = known.is_empty() && options.ssh.is_none();
        if known.contains(&real) {
            continue;
        }
        known.push(real);
        if !is_asked {
            readers.extend(reader(path));
        }
    }
    readers
}

/// What one of them knows; `None` for what is no OpenSSH.
fn reader(path: PathBuf) -> Option<Reader> {
    let request = DiscoverRequest {
        ssh: Some(path.clone()),
        sshd: None,
        search: Vec::new(),
    };
    let found = discover(&SystemCommands, &request).client?;
    Some(Reader {
        path,
        release: found.release,
        ciphers: found.program.ciphers,
    })
}

/// Whose files these are, by the programs named, and by the tree or the system this runs on.
fn layout(options: &Options, files: &SystemFiles) -> Layout {
    let program = options.ssh.as_deref().or(options.sshd.as_deref());
    if options.root.is_some() {
        return Layout::of_tree(files, program);
    }
    let program_data = std::env::var_os("ProgramData").map(PathBuf::from);
    Layout::of(std::env::consts::OS, program_data.as_deref(), program)
}

/// A path as the tree names it.
fn inside(path: &Path, in_image: bool) -> Result<PathBuf> {
    if in_image {
        return Ok(Path::new("/").join(path));
    }
    std::path::absolute(path).with_context(|| format!("{}: no path", path.display()))
}

fn home() -> Result<PathBuf> {
    std::env::home_dir()
        .filter(|home| home.is_absolute())
        .context("no home directory is known; set HOME")
}

#[cfg(unix)]
fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn user_id() -> u32 {
    0
}

fn user_name(uid: u32) -> String {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let name = ["LOGNAME", "USER", "USERNAME"].iter().find_map(set);
    name.unwrap_or_else(|| {
        if uid == 0 {
            "root".to_owned()
        } else {
            uid.to_string()
        }
    })
}
