//! `glob(3)`, the one thing `Include` needs that the standard library lacks.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// What a pattern matches, in the order OpenSSH sees: sorted by bytes, no braces, no tilde.
///
/// # Errors
/// When the pattern holds a NUL or memory runs out. Directories that cannot be read match nothing.
#[cfg(unix)]
pub(super) fn glob(pattern: &OsStr) -> io::Result<Vec<PathBuf>> {
    use std::ffi::{CStr, CString};
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    let pattern = CString::new(pattern.as_bytes())?;
    let mut matches = MaybeUninit::<libc::glob_t>::zeroed();
    // SAFETY: the pattern ends in NUL, and a zeroed structure is what glob(3) asks for without GLOB_APPEND.
    let code = unsafe { libc::glob(pattern.as_ptr(), 0, None, matches.as_mut_ptr()) };
    // SAFETY: zeroed is a valid value of this structure, and glob(3) may have filled it.
    let mut matches = unsafe { matches.assume_init() };
    let mut found = Vec::new();
    if code == 0 {
        for index in 0..matches.gl_pathc {
            // SAFETY: after success gl_pathv holds gl_pathc strings, each ending in NUL, until globfree.
            let path = unsafe { CStr::from_ptr(*matches.gl_pathv.add(index)) };
            found.push(PathBuf::from(OsString::from_vec(path.to_bytes().to_vec())));
        }
    }
    // SAFETY: the structure is glob's own or still zeroed; globfree accepts both.
    unsafe { libc::globfree(&raw mut matches) };
    match code {
        0 | libc::GLOB_NOMATCH => Ok(found),
        libc::GLOB_NOSPACE => Err(io::ErrorKind::OutOfMemory.into()),
        _ => Err(io::Error::other(
            "glob stopped at a directory it cannot read",
        )),
    }
}

/// A plain stand-in: `*` and `?` in any name of the path.
#[cfg(not(unix))]
pub(super) fn glob(pattern: &OsStr) -> io::Result<Vec<PathBuf>> {
    use std::path::Component;

    let mut found = vec![PathBuf::new()];
    for part in Path::new(pattern).components() {
        let name = part.as_os_str().to_string_lossy();
        let mut next = Vec::new();
        for directory in found {
            if !matches!(part, Component::Normal(_)) || !name.contains(['*', '?']) {
                next.push(directory.join(part));
                continue;
            }
            let Ok(entries) = std::fs::read_dir(&directory) else {
                continue;
            };
            for entry in entries.flatten() {
                let entry = entry.file_name();
                let text = entry.to_string_lossy();
                if (name.starts_with('.') || !text.starts_with('.'))
                    && fits(name.as_bytes(), text.as_bytes())
                {
                    next.push(directory.join(&entry));
                }
            }
        }
        found = next;
    }
    found.retain(|path| path.exists());
    found.sort();
    Ok(found)
}

#[cfg(not(unix))]
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skip| fits(rest, &name[skip..])),
        Some((&wanted, rest)) => name
            .split_first()
            .is_some_and(|(&byte, name)| (wanted == b'?' || wanted == byte) && fits(rest, name)),
    }
}

/// A path as a pattern that matches it alone.
pub(super) fn glob_literal(path: &Path) -> OsString {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::{OsStrExt, OsStringExt};
        let mut escaped = Vec::new();
        for &byte in path.as_os_str().as_bytes() {
            if matches!(byte, b'*' | b'?' | b'[' | b']' | b'\\') {
                escaped.push(b'\\');
            }
            escaped.push(byte);
        }
        OsString::from_vec(escaped)
    }
    #[cfg(not(unix))]
    path.as_os_str().to_owned()
}

/// The name a match has in the directory it was found in; `..` is one too.
pub(super) fn last_name<'a>(found: &'a Path, directory: &Path) -> &'a Path {
    found.strip_prefix(directory).unwrap_or(found)
}
