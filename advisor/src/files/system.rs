//! The real file system below a root.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use super::{Changes, Files, Kind, Lock, Status, sys};

/// More links than this in one path are a circle (Linux's limit).
const MOST_LINKS: usize = 40;

/// More than any configuration has; what is longer (`/dev/zero`) is not read to its end.
const LONGEST_FILE: u64 = 64 << 20;

/// The real files below a directory that stands for `/`.
///
/// Links are followed as the target host would follow them: an absolute one starts at the root, and
/// `..` never leads above it. Where the root is `/` there is nothing to confine, and the system follows
/// them itself.
#[derive(Clone, Debug)]
pub struct SystemFiles {
    root: PathBuf,
}

impl SystemFiles {
    /// The files below `root`, which is taken from the current directory where it is relative.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn new(root: &Path) -> io::Result<Self> {
        let root = fs::canonicalize(root)?;
        if !fs::metadata(&root)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { root })
    }

    fn is_whole_system(&self) -> bool {
        self.root.parent().is_none()
    }

    /// Where a path inside the root that holds no link really lies.
    fn below_root(&self, inside: &Path) -> PathBuf {
        let mut real = self.root.clone();
        real.extend(
            inside
                .components()
                .filter(|part| matches!(part, Component::Normal(_))),
        );
        real
    }

    /// The real path to hand to the system; the link at its end is followed or not.
    fn real(&self, path: &Path, links: AtEnd) -> io::Result<PathBuf> {
        if self.is_whole_system() {
            return Ok(self.root.join(path));
        }
        Ok(self.below_root(&self.resolve(path, links)?))
    }

    /// The path inside the root that holds no links any more. A last name that does not exist is kept,
    /// for it may be about to be created.
    fn resolve(&self, path: &Path, links: AtEnd) -> io::Result<PathBuf> {
        let mut inside = PathBuf::from("/");
        let mut rest: Vec<OsString> = names_backwards(path);
        let mut followed = 0;
        while let Some(name) = rest.pop() {
            match Path::new(&name).components().next() {
                Some(Component::RootDir) => inside = PathBuf::from("/"),
                Some(Component::ParentDir) => {
                    inside.pop();
                }
                Some(Component::Normal(name)) => {
                    let next = inside.join(name);
                    let last = rest.is_empty();
                    match fs::symlink_metadata(self.below_root(&next)) {
                        Ok(found) if found.is_symlink() && (!last || links == AtEnd::Follow) => {
                            followed += 1;
                            if followed > MOST_LINKS {
                                return Err(too_many_links());
                            }
                            let target = fs::read_link(self.below_root(&next))?;
                            rest.extend(names_backwards(&target));
                        }
                        Ok(found) if !last && !found.is_dir() => {
                            return Err(io::ErrorKind::NotADirectory.into());
                        }
                        Err(error) if !last || error.kind() != io::ErrorKind::NotFound => {
                            return Err(error);
                        }
                        _ => inside = next,
                    }
                }
                _ => {}
            }
        }
        Ok(inside)
    }

    /// One name of a pattern at a time, so that a link in the middle is followed inside the root only.
    fn glob_inside(&self, pattern: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = vec![PathBuf::from("/")];
        for part in pattern.components() {
            let name = match part {
                Component::Normal(name) => name,
                Component::ParentDir => OsStr::new(".."),
                _ => continue,
            };
            let mut next = Vec::new();
            for directory in &found {
                let Ok(real) = self.real(directory, AtEnd::Follow) else {
                    continue;
                };
                let mut whole = sys::glob_literal(&real);
                whole.push(std::path::MAIN_SEPARATOR_STR);
                whole.push(name);
                let hits = sys::glob(&whole)?;
                next.extend(
                    hits.iter()
                        .map(|hit| directory.join(sys::last_name(hit, &real))),
                );
            }
            found = next;
        }
        found.sort_by(|a, b| by_bytes(a, b));
        Ok(found)
    }
}

/// What to do with a link that is the last name of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtEnd {
    Follow,
    Stay,
}

fn names_backwards(path: &Path) -> Vec<OsString> {
    let names = path.components().rev();
    names.map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(unix)]
fn is_pipe(found: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&found.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

/// Opens the file itself. A link in its place was put there by somebody else, perhaps to have us write
/// through it or out of the root: opening fails.
fn without_following() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
    options
}

fn too_many_links() -> io::Error {
    #[cfg(unix)]
    return rustix::io::Errno::LOOP.into();
    #[cfg(not(unix))]
    io::Error::other("too many levels of symbolic links")
}

fn by_bytes(a: &Path, b: &Path) -> std::cmp::Ordering {
    let (a, b) = (a.as_os_str(), b.as_os_str());
    a.as_encoded_bytes().cmp(b.as_encoded_bytes())
}

impl Files for SystemFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut options = OpenOptions::new();
        options.read(true);
        // Opening a named pipe would wait for somebody to write to it, perhaps for ever.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        let file = options.open(self.real(path, AtEnd::Follow)?)?;
        if is_pipe(&file.metadata()?) {
            return Err(io::Error::other("a pipe, not a file"));
        }
        let mut bytes = Vec::new();
        file.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LONGEST_FILE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    fn status(&self, path: &Path) -> io::Result<Status> {
        fs::metadata(self.real(path, AtEnd::Follow)?).map(|found| status(&found))
    }

    fn link_status(&self, path: &Path) -> io::Result<Status> {
        fs::symlink_metadata(self.real(path, AtEnd::Stay)?).map(|found| status(&found))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        if self.is_whole_system() {
            return fs::canonicalize(self.root.join(path));
        }
        let inside = self.resolve(path, AtEnd::Follow)?;
        fs::symlink_metadata(self.below_root(&inside))?;
        Ok(inside)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.real(directory, AtEnd::Follow)?)? {
            names.push(directory.join(entry?.file_name()));
        }
        names.sort_by(|a, b| by_bytes(a, b));
        Ok(names)
    }

    fn glob(&self, pattern: &Path) -> io::Result<Vec<PathBuf>> {
        if self.is_whole_system() {
            return sys::glob(self.root.join(pattern).as_os_str());
        }
        self.glob_inside(pattern)
    }

    fn root(&self) -> &Path {
        &self.root
    }
}

impl Changes for SystemFiles {
    fn create(&self, path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(self.real(path, AtEnd::Stay)?).map(drop)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut options = without_following();
        options.write(true).truncate(true);
        options
            .open(self.real(path, AtEnd::Stay)?)?
            .write_all(bytes)
    }

    #[cfg(unix)]
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        let file = without_following()
            .read(true)
            .open(self.real(path, AtEnd::Stay)?)?;
        file.set_permissions(permissions)
    }

    #[cfg(not(unix))]
    fn set_mode(&self, _: &Path, _: u32) -> io::Result<()> {
        Ok(())
    }

    #[cfg(unix)]
    fn set_owner(&self, path: &Path, uid: u32, gid: u32) -> io::Result<()> {
        std::os::unix::fs::lchown(self.real(path, AtEnd::Stay)?, Some(uid), Some(gid))
    }

    #[cfg(not(unix))]
    fn set_owner(&self, _: &Path, _: u32, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn copy_attributes(&self, from: &Path, to: &Path) -> io::Result<()> {
        attributes::copy(
            &self.real(from, AtEnd::Follow)?,
            &self.real(to, AtEnd::Stay)?,
        )
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        // Windows flushes only through a handle that may write.
        let mut options = without_following();
        options.read(true).write(cfg!(windows));
        options.open(self.real(path, AtEnd::Stay)?)?.sync_all()
    }

    #[cfg(unix)]
    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        use rustix::io::Errno;
        let synced = File::open(self.real(path, AtEnd::Follow)?)?.sync_all();
        // Some network and FUSE file systems have no such thing; nothing better can be done there.
        synced.or_else(|error| match Errno::from_io_error(&error) {
            Some(Errno::INVAL | Errno::NOTSUP) => Ok(()),
            _ => Err(error),
        })
    }

    #[cfg(not(unix))]
    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(self.real(from, AtEnd::Stay)?, self.real(to, AtEnd::Stay)?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(self.real(path, AtEnd::Stay)?)
    }

    fn create_directory(&self, path: &Path, mode: u32) -> io::Result<()> {
        let path = self.real(path, AtEnd::Stay)?;
        fs::create_dir(&path)?;
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode))?;
        #[cfg(not(unix))]
        let _ = mode;
        Ok(())
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(self.real(path, AtEnd::Stay)?)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Lock>> {
        let mut options = without_following();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
        let file = options.open(self.real(path, AtEnd::Stay)?)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock(file))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(unix)]
fn status(found: &Metadata) -> Status {
    use std::os::unix::fs::MetadataExt;
    Status {
        kind: kind(found),
        mode: found.mode() & 0o7777,
        uid: found.uid(),
        gid: found.gid(),
        len: found.len(),
        identity: (found.dev(), found.ino()),
        modified: found.modified().unwrap_or(SystemTime::UNIX_EPOCH),
    }
}

#[cfg(not(unix))]
fn status(found: &Metadata) -> Status {
    Status {
        kind: kind(found),
        mode: 0,
        uid: 0,
        gid: 0,
        len: found.len(),
        identity: (0, 0),
        modified: found.modified().unwrap_or(SystemTime::UNIX_EPOCH),
    }
}

fn kind(found: &Metadata) -> Kind {
    match found.file_type() {
        kind if kind.is_symlink() => Kind::Link,
        kind if kind.is_dir() => Kind::Directory,
        kind if kind.is_file() => Kind::File,
        _ => Kind::Other,
    }
}

/// Extended attributes: access control lists, security labels and the user's own.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod attributes {
    use std::ffi::{CStr, CString};
    use std::io;
    use std::path::Path;

    use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
    use rustix::io::Errno;

    /// A new file may have inherited one from its directory.
    const ACCESS_LIST: &CStr = c"system.posix_acl_access";

    pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
        let names = names(from)?;
        for name in &names {
            let wanted = value(from, name)?;
            // A new file has its label already, and an ordinary user may not set it even to itself.
            if let Some(wanted) = wanted.as_deref()
                && value(to, name)?.as_deref() != Some(wanted)
            {
                setxattr(to, &**name, wanted, XattrFlags::empty())?;
            }
        }
        if !names.iter().any(|name| **name == *ACCESS_LIST) && value(to, ACCESS_LIST)?.is_some() {
            removexattr(to, ACCESS_LIST)?;
        }
        Ok(())
    }

    fn names(path: &Path) -> io::Result<Vec<CString>> {
        let list = grown(|buffer| listxattr(path, buffer))?.unwrap_or_default();
        let names = list.split_inclusive(|&byte| byte == 0);
        let names = names.filter_map(|name| CStr::from_bytes_with_nul(name).ok());
        Ok(names.map(ToOwned::to_owned).collect())
    }

    fn value(path: &Path, name: &CStr) -> io::Result<Option<Vec<u8>>> {
        grown(|buffer| getxattr(path, name, buffer))
    }

    /// Calls with a buffer that is long enough; `None` where there is no such attribute, or none at all.
    fn grown(
        mut call: impl FnMut(&mut [u8]) -> rustix::io::Result<usize>,
    ) -> io::Result<Option<Vec<u8>>> {
        let mut buffer = vec![0; 256];
        loop {
            match call(&mut buffer) {
                Ok(length) => {
                    buffer.truncate(length);
                    return Ok(Some(buffer));
                }
                Err(Errno::RANGE) if buffer.len() < 1 << 20 => buffer.resize(buffer.len() * 4, 0),
                Err(Errno::NOTSUP | MISSING) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    #[cfg(not(target_vendor = "apple"))]
    const MISSING: Errno = Errno::NODATA;
    #[cfg(target_vendor = "apple")]
    const MISSING: Errno = Errno::NOATTR;
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod attributes {
    /// Nothing to copy where the system's interface is not known to us.
    pub(super) fn copy(_: &std::path::Path, _: &std::path::Path) -> std::io::Result<()> {
        Ok(())
    }
}
