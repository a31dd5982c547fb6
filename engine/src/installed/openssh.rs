//! Finds `ssh` and `sshd` and asks them what they are.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::releases::{Ability, Release, supported_ciphers, supported_macs};
use super::{dropbear, elf};
use crate::host::{CommandRequest, Commands};
use crate::report::Program;

/// A healthy program answers within milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoverRequest {
    /// The client, where the user names one.
    pub ssh: Option<PathBuf>,
    /// The server, where the user names one.
    pub sshd: Option<PathBuf>,
    /// The directories searched otherwise, in order.
    pub search: Vec<PathBuf>,
}

impl Default for DiscoverRequest {
    /// Searches `PATH`, then where servers lie, which is not in an ordinary user's `PATH`.
    fn default() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let usual = [
            "/usr/local/sbin",
            "/usr/local/bin",
            "/usr/sbin",
            "/usr/bin",
            "/sbin",
            "/bin",
        ];
        Self {
            ssh: None,
            sshd: None,
            search: std::env::split_paths(&path)
                .chain(usual.map(PathBuf::from))
                .collect(),
        }
    }
}

/// The OpenSSH programs of this machine. Absence is a normal answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Installed {
    /// `ssh`.
    pub client: Option<InstalledProgram>,
    /// `sshd`.
    pub server: Option<InstalledProgram>,
    /// Dropbear, which may be here beside or instead.
    pub dropbear: Option<Program>,
    /// Where Dropbear's server lies.
    pub dropbear_server: Option<PathBuf>,
    /// What went wrong while looking, each with a cure.
    pub problems: Vec<String>,
}

impl Installed {
    /// Dropbear's client, where it is here.
    #[must_use]
    pub fn dbclient(&self) -> Option<&Path> {
        let found = self.dropbear.as_ref().map(|it| Path::new(&it.path));
        found.filter(|path| path.ends_with("dbclient"))
    }

    /// The sonames of libcrypto the programs link, the client's first, each once.
    #[must_use]
    pub fn libcrypto(&self) -> Vec<String> {
        let programs = self.client.iter().chain(&self.server);
        let mut sonames = Vec::new();
        for soname in programs.flat_map(|program| &program.libcrypto) {
            if !sonames.contains(soname) {
                sonames.push(soname.clone());
            }
        }
        sonames
    }

    /// Whether one of the programs clears every register whenever a function returns: a connection is as fast
    /// as its slower end.
    #[must_use]
    pub fn clears_registers(&self) -> bool {
        let mut programs = self.client.iter().chain(&self.server);
        programs.any(|program| program.clears_registers)
    }
}

/// One OpenSSH program.
#[derive(Clone, Debug, PartialEq)]
pub struct InstalledProgram {
    /// What reports show.
    pub program: Program,
    /// Its release.
    pub release: Release,
    /// The sonames of libcrypto it, or the programs it hands sessions to, link. Empty when built
    /// without one or statically.
    pub libcrypto: Vec<String>,
    /// The library's version as the program prints it (`OpenSSL 3.0.19 27 Jan 2026`).
    pub library: Option<String>,
    /// Whether it, or a program it hands sessions to, clears every register whenever a function returns,
    /// which makes its UMAC several times slower.
    pub clears_registers: bool,
}

impl InstalledProgram {
    /// The ciphers compiled in, as it lists them, else as its release is known to have.
    #[must_use]
    pub fn ciphers(&self) -> Vec<String> {
        asked_or_known(&self.program.ciphers, supported_ciphers(self.release))
    }

    /// Whether it is the portable edition, `9.2p1`, which sets its libcrypto up by
    /// `OPENSSL_init_crypto`; OpenBSD's own does not.
    #[must_use]
    pub fn is_portable(&self) -> bool {
        let number = self.program.version.split([' ', ',', '-']).next();
        number.is_some_and(|it| it.trim_start_matches("OpenSSH").contains('p'))
    }

    /// Reads how it was linked and compiled from the file itself and, where it hands its sessions to others
    /// (sshd since 9.8), from theirs.
    fn look_into(&mut self, path: &Path, helpers: &[&str]) {
        let Ok(program) = fs::read(path) else {
            return;
        };
        let named = helpers
            .iter()
            .flat_map(|name| elf::paths_to(&program, name));
        let helpers: Vec<_> = named.filter_map(|helper| fs::read(helper).ok()).collect();
        let files = || helpers.iter().chain([&program]);
        self.libcrypto = files().flat_map(|file| elf::libcrypto(file)).collect();
        self.libcrypto.sort();
        self.libcrypto.dedup();
        self.clears_registers = files().any(|file| elf::clears_registers(file));
    }

    /// The MACs compiled in, as it lists them, else as its release is known to have.
    #[must_use]
    pub fn macs(&self) -> Vec<String> {
        asked_or_known(&self.program.macs, supported_macs(self.release))
    }
}

fn asked_or_known(asked: &[String], known: &[&str]) -> Vec<String> {
    if asked.is_empty() {
        known.iter().map(|&name| name.to_owned()).collect()
    } else {
        asked.to_vec()
    }
}

/// Finds the installed client and server.
#[must_use]
pub fn discover(commands: &dyn Commands, request: &DiscoverRequest) -> Installed {
    let mut search = Search {
        commands,
        request,
        problems: Vec::new(),
    };
    Installed {
        client: search.client(),
        server: search.server(),
        dropbear: dropbear::find(commands, &request.search),
        dropbear_server: dropbear::server(&request.search),
        problems: search.problems,
    }
}

struct Search<'a> {
    commands: &'a dyn Commands,
    request: &'a DiscoverRequest,
    problems: Vec<String>,
}

impl Search<'_> {
    fn client(&mut self) -> Option<InstalledProgram> {
        let path = self.find("ssh", self.request.ssh.as_deref())?;
        let mut found = self.identify(&path, &["-V"])?;
        if found.release.can(Ability::ListCiphers) {
            found.program.ciphers = self.list(&path, "cipher");
            found.program.macs = self.list(&path, "mac");
        }
        found.look_into(&path, &[]);
        Some(found)
    }

    fn server(&mut self) -> Option<InstalledProgram> {
        let path = self.find("sshd", self.request.sshd.as_deref())?;
        // An unknown option makes every sshd print its full version above the usage; `-V`, where it
        // is known, leaves out the distribution's part.
        let mut found = self.identify(&path, &["-?", "-V"])?;
        found.look_into(&path, &["sshd-session", "sshd-auth"]);
        Some(found)
    }

    fn find(&mut self, name: &str, named: Option<&Path>) -> Option<PathBuf> {
        let Some(named) = named else {
            let name = self.flavoured(name);
            let candidates = self.request.search.iter().map(|folder| folder.join(&name));
            return candidates.into_iter().find(|path| is_executable(path));
        };
        if !is_executable(named) {
            let path = named.display();
            self.problems.push(format!(
                "{path}: not an executable file; give --{name} the path of an installed {name}, or leave it out"
            ));
            return None;
        }
        Some(named.to_owned())
    }

    /// Where one program named is of HPN-SSH (`hpnssh`, `hpnsshd`), so is the other.
    fn flavoured(&self, name: &str) -> String {
        let mut named = self.request.ssh.iter().chain(&self.request.sshd);
        let is_hpn = named.any(|path| {
            let name = path.file_name().unwrap_or_default();
            name.as_encoded_bytes().starts_with(b"hpn")
        });
        format!("{}{name}", if is_hpn { "hpn" } else { "" })
    }

    /// Asks for the version, in the first way that gives one.
    fn identify(&mut self, path: &Path, options: &[&str]) -> Option<InstalledProgram> {
        let mut said = String::new();
        for option in options {
            match self.commands.run(&request(path).arg(option)) {
                Ok(output) => said = output.stdout_text() + &output.stderr_text(),
                Err(failure) => {
                    let cure = "reinstall it, or name another one";
                    self.problems.push(format!("{failure}; {cure}"));
                    return None;
                }
            }
            if let Some(found) = banner(path, &said) {
                return Some(found);
            }
        }
        let first = said.lines().next().unwrap_or("nothing").trim();
        let path = path.display();
        self.problems.push(format!(
            "{path} says {first:?} and is no OpenSSH; name one with --ssh or --sshd to have it looked at"
        ));
        None
    }

    /// One name a line, as `ssh -Q` prints them; empty when it cannot be asked.
    fn list(&mut self, path: &Path, what: &str) -> Vec<String> {
        let output = self.commands.run(&request(path).args(["-Q", what]));
        match output {
            Ok(output) if output.succeeded() => output
                .stdout_text()
                .lines()
                .map(|line| line.trim().to_owned())
                .filter(|line| !line.is_empty())
                .collect(),
            _ => Vec::new(),
        }
    }
}

pub(super) fn request(path: &Path) -> CommandRequest {
    let mut request = CommandRequest::new(path);
    request.timeout = PATIENCE;
    request
}

/// Reads `OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026`.
fn banner(path: &Path, said: &str) -> Option<InstalledProgram> {
    let line = said.lines().find(|line| line.starts_with("OpenSSH_"))?;
    let release = line.parse().ok()?;
    let (version, library) = match line.split_once(", ") {
        Some((version, library)) => (version, Some(library.trim().to_owned())),
        None => (line, None),
    };
    Some(InstalledProgram {
        program: Program {
            path: path.display().to_string(),
            version: version.trim().to_owned(),
            ..Program::default()
        },
        release,
        libcrypto: Vec::new(),
        library: library.filter(|library| !library.starts_with("without")),
        clears_registers: false,
    })
}

#[cfg(unix)]
pub(super) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_portable_edition_has_a_p_in_its_number() {
        let of = |version: &str| {
            let program = Program {
                version: version.to_owned(),
                ..Program::default()
            };
            InstalledProgram {
                program,
                release: Release::new(9, 2),
                libcrypto: Vec::new(),
                library: None,
                clears_registers: false,
            }
            .is_portable()
        };
        assert!(of("OpenSSH_9.2p1 Debian-2+deb12u10") && of("OpenSSH_for_Windows_9.8p2 Win32"));
        assert!(!of("OpenSSH_10.0") && !of("OpenSSH_9.9, LibreSSL 4.0.0 portable"));
    }

    #[test]
    fn banners_of_many_builds_are_read() {
        let read = |said| banner(Path::new("/usr/bin/ssh"), said);
        let debian = read("OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19 27 Jan 2026\n")
            .expect("an OpenSSH");
        assert_eq!(debian.program.version, "OpenSSH_9.2p1 Debian-2+deb12u10");
        assert_eq!(
            debian.library.as_deref(),
            Some("OpenSSL 3.0.19 27 Jan 2026")
        );
        let usage = "unknown option -- ?\nOpenSSH_10.0p2, LibreSSL 3.3.6\nusage: sshd [-46]\n";
        let apple = read(usage).expect("an OpenSSH");
        assert_eq!(apple.release, Release::new(10, 0));
        let bare = read("OpenSSH_9.8p1, without OpenSSL\n").expect("an OpenSSH");
        assert_eq!(bare.library, None);
        assert_eq!(read("Dropbear v2022.83\n"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn a_program_that_cannot_be_asked_has_what_its_release_has() {
        let mut found = banner(Path::new("/x"), "OpenSSH_6.2p2").expect("an OpenSSH");
        assert!(found.ciphers().contains(&"arcfour".to_owned()));
        assert!(!found.macs().is_empty());
        found.program.ciphers = vec!["aes128-ctr".to_owned()];
        assert_eq!(found.ciphers(), ["aes128-ctr"]);
    }
}
