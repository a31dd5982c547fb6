//! Where this run works: which tree, whose files, which releases' rules.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use advisor::apply::{self, Validator};
use advisor::apply::{Scope, state_directory};
use advisor::files::{Files, SystemFiles};
use advisor::plan::Target;
use advisor::resolver::{
    ClientFiles, ClientRequest, Effective, ServerRequest, Side, Supported, resolve_client,
    resolve_server,
};
use anyhow::{Context, Result, bail};
use engine::host::Commands;
use engine::installed::releases::Release;
use engine::report::{OpenSsh, Program};

use super::args::{Options, Sides};

const CLIENT: &str = "/etc/ssh/ssh_config";
const SERVER: &str = "/etc/ssh/sshd_config";

/// The rules assumed where no program says which release it is.
pub(super) const ASSUMED: Release = Release::new(10, 0);

/// The tree, the user, and the files that count.
pub(super) struct Surroundings {
    pub(super) files: SystemFiles,
    /// Directory for journal, lock and backups, inside the tree.
    pub(super) state: PathBuf,
    pub(super) scope: Scope,
    client: Target,
    server: Target,
    user: String,
    uid: u32,
    home: PathBuf,
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
        let client = match &options.ssh_config {
            Some(file) => Target::System(inside(file, in_image)?),
            None if is_system => Target::System(CLIENT.into()),
            None => Target::User(home.join(".ssh/config")),
        };
        let server = match &options.sshd_config {
            Some(file) => inside(file, in_image)?,
            None => SERVER.into(),
        };
        let scope = match (&client, options.side) {
            (Target::User(_), Sides::Client) => Scope::User,
            _ => Scope::System,
        };
        let user_state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
        let user_state = user_state.filter(|_| !in_image);
        Ok(Self {
            state: state_directory(scope, &home, user_state.as_deref()),
            files,
            scope,
            client,
            server: Target::System(server),
            user: user_name(uid),
            uid,
            home,
        })
    }

    pub(super) const fn target(&self, side: Side) -> &Target {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    /// What a side would use, with the rules of the programs found. `host` is for the client.
    pub(super) fn resolve(
        &self,
        files: &dyn Files,
        side: Side,
        programs: &OpenSsh,
        host: Option<&str>,
    ) -> Effective {
        match side {
            Side::Client => resolve_client(files, &self.client_request(programs, host)),
            Side::Server => resolve_server(files, &self.server_request(programs)),
        }
    }

    /// Whom to ask about a candidate tree.
    pub(super) fn validator<'a>(
        &'a self,
        programs: &OpenSsh,
        commands: &'a dyn Commands,
    ) -> Validator<'a> {
        let program = |program: &Option<Program>, side| {
            program.as_ref().map(|it| apply::Program {
                path: it.path.clone().into(),
                release: rules(programs, side).0,
            })
        };
        let (user_file, system_file) = match &self.client {
            Target::User(main) => (Some(main.clone()), Some(CLIENT.into())),
            Target::System(main) => (None, Some(main.clone())),
        };
        Validator {
            files: &self.files,
            commands,
            ssh: program(&programs.client, Side::Client),
            sshd: program(&programs.server, Side::Server),
            user_file,
            system_file,
            server_file: self.server.main_file().to_owned(),
            home: self.home.clone(),
            uid: self.uid,
        }
    }

    fn client_request(&self, programs: &OpenSsh, host: Option<&str>) -> ClientRequest {
        let (release, supported) = rules(programs, Side::Client);
        let version = programs.client.as_ref().map(|it| it.version.as_str());
        let files = match &self.client {
            Target::User(main) => ClientFiles::Usual {
                user: Some(main.clone()),
                system: Some(CLIENT.into()),
            },
            Target::System(main) => ClientFiles::Usual {
                user: None,
                system: Some(main.clone()),
            },
        };
        let request = ClientRequest {
            supported,
            files,
            user: self.user.clone(),
            uid: self.uid,
            home: self.home.clone(),
            private_groups: version
                .is_some_and(|it| it.contains("Debian") || it.contains("Ubuntu")),
            ..ClientRequest::new(release)
        };
        match host {
            Some(host) => request.destination(host),
            None => request,
        }
    }

    fn server_request(&self, programs: &OpenSsh) -> ServerRequest {
        let (release, supported) = rules(programs, Side::Server);
        ServerRequest {
            supported,
            file: self.server.main_file().to_owned(),
            ..ServerRequest::new(release)
        }
    }
}

/// The release whose rules a side follows, and what its binary knows. Where one program is absent the
/// other one speaks for it.
pub(super) fn rules(programs: &OpenSsh, side: Side) -> (Release, Supported) {
    let both = [programs.client.as_ref(), programs.server.as_ref()];
    let own = match side {
        Side::Client => both[0],
        Side::Server => both[1],
    };
    let release = |program: &Program| program.version.parse().ok();
    let candidates = own.into_iter().chain(both.into_iter().flatten());
    let release = candidates.clone().find_map(release).unwrap_or(ASSUMED);
    let supported = match candidates.into_iter().find(|it| !it.ciphers.is_empty()) {
        Some(program) => Supported::listed(&program.ciphers, &program.macs, release),
        None => Supported::by_release(release),
    };
    (release, supported)
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
