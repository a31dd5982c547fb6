//! A file system that fails where a test tells it to.
#![forbid(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use advisor::files::{Changes, Files, Lock, Status, SystemFiles};
use rustix::io::Errno;

/// How the calls from a certain one on go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// This one call fails and does nothing.
    Once(Errno),
    /// This one call, where it writes, writes half and fails.
    Short,
    /// This call and all after it fail, as after SIGKILL; a write gets half of its bytes out.
    Killed,
    /// The process ends before this call, by a real SIGKILL; a write gets half of its bytes out.
    Sigkill,
    /// Nothing fails, but a signal arrives.
    Signal,
}

/// Which calls count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Changing,
    Reading,
}

/// The real files, with one fault.
pub(crate) struct Faulty<'a> {
    inner: &'a SystemFiles,
    counted: Counted,
    at: usize,
    fault: Fault,
    calls: AtomicUsize,
    cancelled: AtomicBool,
    log: Mutex<Vec<(&'static str, PathBuf)>>,
}

enum Outcome {
    Works,
    Half(io::Error),
    Fails(io::Error),
    Dies,
}

impl<'a> Faulty<'a> {
    /// Lets the call number `at` (from 0) of the counted kind go wrong.
    pub(crate) fn new(inner: &'a SystemFiles, counted: Counted, at: usize, fault: Fault) -> Self {
        Self {
            inner,
            counted,
            at,
            fault,
            calls: AtomicUsize::new(0),
            cancelled: AtomicBool::new(false),
            log: Mutex::new(Vec::new()),
        }
    }

    /// Nothing goes wrong; the calls are counted.
    pub(crate) fn none(inner: &'a SystemFiles, counted: Counted) -> Self {
        Self::new(inner, counted, usize::MAX, Fault::Killed)
    }

    /// How many calls of the counted kind were made.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// The changing calls so far: what, and on which file (a rename: the new name).
    pub(crate) fn log(&self) -> Vec<(&'static str, PathBuf)> {
        self.log.lock().unwrap().clone()
    }

    /// The flag a signal sets.
    pub(crate) fn cancelled(&self) -> &AtomicBool {
        &self.cancelled
    }

    fn outcome(&self, kind: Counted) -> Outcome {
        if kind != self.counted {
            let killed = self.fault == Fault::Killed && self.calls() > self.at;
            return if killed { failure() } else { Outcome::Works };
        }
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        match self.fault {
            Fault::Once(errno) if call == self.at => Outcome::Fails(errno.into()),
            Fault::Sigkill if call == self.at => Outcome::Dies,
            Fault::Short | Fault::Killed if call == self.at => Outcome::Half(Errno::IO.into()),
            Fault::Killed if call > self.at => failure(),
            Fault::Signal if call == self.at => {
                self.cancelled.store(true, Ordering::SeqCst);
                Outcome::Works
            }
            _ => Outcome::Works,
        }
    }

    fn change<T>(
        &self,
        what: &'static str,
        path: &Path,
        act: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        self.note(what, path);
        match self.outcome(Counted::Changing) {
            Outcome::Works => act(),
            Outcome::Dies => die(),
            Outcome::Half(error) | Outcome::Fails(error) => Err(error),
        }
    }

    fn note(&self, what: &'static str, path: &Path) {
        self.log.lock().unwrap().push((what, path.to_owned()));
    }

    fn look<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self.outcome(Counted::Reading) {
            Outcome::Works => act(),
            Outcome::Dies => die(),
            Outcome::Half(error) | Outcome::Fails(error) => Err(error),
        }
    }
}

/// What nobody can catch.
fn die() -> ! {
    let own = rustix::process::getpid();
    rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    unreachable!("nothing runs behind SIGKILL");
}

fn failure() -> Outcome {
    Outcome::Fails(Errno::IO.into())
}

impl Files for Faulty<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.look(|| self.inner.read(path))
    }
    fn status(&self, path: &Path) -> io::Result<Status> {
        self.look(|| self.inner.status(path))
    }
    fn link_status(&self, path: &Path) -> io::Result<Status> {
        self.look(|| self.inner.link_status(path))
    }
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.look(|| self.inner.canonical(path))
    }
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        self.look(|| self.inner.list(directory))
    }
    fn glob(&self, pattern: &Path) -> io::Result<Vec<PathBuf>> {
        self.look(|| self.inner.glob(pattern))
    }
    fn root(&self) -> &Path {
        self.inner.root()
    }
}

impl Changes for Faulty<'_> {
    fn create(&self, path: &Path) -> io::Result<()> {
        self.change("create", path, || self.inner.create(path))
    }
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.note("write", path);
        match self.outcome(Counted::Changing) {
            Outcome::Works => self.inner.write(path, bytes),
            Outcome::Dies => {
                self.inner.write(path, &bytes[..bytes.len() / 2])?;
                die()
            }
            Outcome::Half(error) => {
                self.inner.write(path, &bytes[..bytes.len() / 2])?;
                Err(error)
            }
            Outcome::Fails(error) => Err(error),
        }
    }
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.change("set_mode", path, || self.inner.set_mode(path, mode))
    }
    fn set_owner(&self, path: &Path, uid: u32, gid: u32) -> io::Result<()> {
        self.change("set_owner", path, || self.inner.set_owner(path, uid, gid))
    }
    fn copy_attributes(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change("copy_attributes", to, || {
            self.inner.copy_attributes(from, to)
        })
    }
    fn sync(&self, path: &Path) -> io::Result<()> {
        self.change("sync", path, || self.inner.sync(path))
    }
    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.change("sync_directory", path, || self.inner.sync_directory(path))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change("rename", to, || self.inner.rename(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change("remove", path, || self.inner.remove(path))
    }
    fn create_directory(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.change("create_directory", path, || {
            self.inner.create_directory(path, mode)
        })
    }
    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.change("remove_directory", path, || {
            self.inner.remove_directory(path)
        })
    }
    fn lock(&self, path: &Path) -> io::Result<Option<Lock>> {
        self.change("lock", path, || self.inner.lock(path))
    }
}
