//! Where the flavours of OpenSSH keep their files, and what else sets them apart: the one place for such facts.
//!
//! What is not known here is treated like the portable release on a Unix. Nothing asks which system this
//! program runs on: that is a parameter, so every layout is tested on any machine.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::Files;

/// Where openSUSE keeps the files of its packages (its `vendordir` patch).
const VENDOR: &str = "/usr/etc/ssh";
/// Where the administrator's files lie that count in their place.
const ADMINISTRATOR: &str = "/etc/ssh";
/// What files of the Windows port write for the directory of program data (`win32compat`).
const PROGRAM_DATA: &[u8] = b"__PROGRAMDATA__";
/// What HPN-SSH puts before the other ciphers of its default (`myproposal.h`).
const HPN_CIPHERS: &[&str] = &["chacha20-poly1305-mt@hpnssh.org"];

/// One flavour's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The system's files lie here, and relative names in them count from here.
    pub directory: PathBuf,
    /// The server program.
    pub daemon: &'static str,
    /// The directory of program data, on Windows.
    program_data: Option<PathBuf>,
    ciphers: &'static [&'static str],
}

impl Layout {
    /// The portable release on a Unix.
    #[must_use]
    pub fn unix() -> Self {
        Self {
            directory: ADMINISTRATOR.into(),
            daemon: "sshd",
            program_data: None,
            ciphers: &[],
        }
    }

    /// HPN-SSH, which is installed beside an OpenSSH.
    #[must_use]
    pub fn hpn() -> Self {
        Self {
            directory: "/etc/hpnssh".into(),
            daemon: "hpnsshd",
            ciphers: HPN_CIPHERS,
            ..Self::unix()
        }
    }

    /// The Windows port; `program_data` is the value of `%ProgramData%`.
    #[must_use]
    pub fn windows(program_data: &Path) -> Self {
        Self {
            directory: program_data.join("ssh"),
            program_data: Some(program_data.to_owned()),
            ..Self::unix()
        }
    }

    /// The layout of a program, by its name, on a system as [`std::env::consts::OS`] names it.
    #[must_use]
    pub fn of(system: &str, program_data: Option<&Path>, program: Option<&Path>) -> Self {
        let name = program.and_then(Path::file_stem).unwrap_or_default();
        match system {
            "windows" => Self::windows(program_data.unwrap_or(Path::new(r"C:\ProgramData"))),
            _ if name.as_encoded_bytes().starts_with(b"hpnssh") => Self::hpn(),
            _ => Self::unix(),
        }
    }

    /// The layout of another tree, which only its directories show: the system this runs on says nothing
    /// about it.
    #[must_use]
    pub fn of_tree(files: &dyn Files, program: Option<&Path>) -> Self {
        let has = |path: &Path| files.status(path).is_ok();
        let named = Self::of("", None, program);
        if named != Self::unix() || has(Path::new(ADMINISTRATOR)) || has(Path::new(VENDOR)) {
            return named;
        }
        let others = [Self::windows(Path::new("/ProgramData")), Self::hpn()];
        let found = others.into_iter().find(|it| has(&it.directory));
        found.unwrap_or(named)
    }

    /// Where programs keep what they must not forget.
    #[must_use]
    pub fn state_directory(&self) -> PathBuf {
        let state = self.program_data.as_deref();
        state
            .unwrap_or(Path::new("/var/lib"))
            .join("cipher-advisor")
    }

    /// The system's client file.
    #[must_use]
    pub fn client_file(&self) -> PathBuf {
        self.directory.join("ssh_config")
    }

    /// The server's file.
    #[must_use]
    pub fn server_file(&self) -> PathBuf {
        self.directory.join("sshd_config")
    }

    /// Whether a mark of Unicode in front of a file is passed over.
    #[must_use]
    pub const fn strips_bom(&self) -> bool {
        self.program_data.is_some()
    }

    /// A path of a file, as this system's paths are written.
    #[must_use]
    pub fn local<'w>(&self, written: &'w [u8]) -> Cow<'w, [u8]> {
        let Some(program_data) = &self.program_data else {
            return Cow::Borrowed(written);
        };
        let mut path = match written.strip_prefix(PROGRAM_DATA) {
            Some(rest) => [program_data.as_os_str().as_encoded_bytes(), rest].concat(),
            None => written.to_vec(),
        };
        for byte in &mut path {
            if *byte == b'\\' {
                *byte = b'/';
            }
        }
        Cow::Owned(path)
    }

    /// A release's default, with what this flavour puts before it.
    #[must_use]
    pub fn ciphers(&self, of_release: &[&'static str]) -> Vec<&'static str> {
        [self.ciphers, of_release].concat()
    }
}

/// The file that is read where this main file is asked for: openSUSE's own while the administrator has none.
#[must_use]
pub fn in_force(files: &dyn Files, main: &Path) -> PathBuf {
    let absent = |path: &Path| {
        let status = files.status(path);
        status.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    match main.strip_prefix(ADMINISTRATOR) {
        Ok(name) if absent(main) => {
            let vendor = Path::new(VENDOR).join(name);
            if absent(&vendor) {
                main.to_owned()
            } else {
                vendor
            }
        }
        _ => main.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_like_a_unix() {
        for system in ["linux", "macos", "freebsd", "plan9", ""] {
            assert_eq!(Layout::of(system, None, None), Layout::unix(), "{system}");
        }
        let hpn = Some(Path::new("/usr/sbin/hpnsshd"));
        assert_eq!(Layout::of("linux", None, hpn), Layout::hpn());
        assert_eq!(
            Layout::of("linux", None, Some(Path::new("/usr/bin/ssh"))),
            Layout::unix()
        );
    }

    #[test]
    fn the_files_of_each_flavour() {
        let windows = Layout::of("windows", Some(Path::new("/data")), None);
        for (layout, server) in [
            (Layout::unix(), "/etc/ssh/sshd_config"),
            (Layout::hpn(), "/etc/hpnssh/sshd_config"),
            (windows, "/data/ssh/sshd_config"),
        ] {
            assert_eq!(layout.server_file(), Path::new(server));
            assert_eq!(layout.client_file(), layout.directory.join("ssh_config"));
        }
    }

    #[test]
    fn paths_of_windows_are_made_local() {
        let windows = Layout::windows(Path::new("/data"));
        assert_eq!(&*windows.local(b"__PROGRAMDATA__/ssh/x"), b"/data/ssh/x");
        assert_eq!(&*windows.local(br"conf.d\*.conf"), b"conf.d/*.conf");
        assert_eq!(&*Layout::unix().local(br"a\b"), br"a\b");
    }
}
