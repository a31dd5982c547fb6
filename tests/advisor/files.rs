//! The real file system below a root: links stay inside, globs sort as libc's do, changes keep what they should.
#![cfg(unix)]
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use advisor::files::{Changes, Files, Kind, SystemFiles};

/// `outside/secret` and a root beside it whose name glob(3) would take for a pattern.
fn tree() -> (tempfile::TempDir, PathBuf, SystemFiles) {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    let root = outside.path().join("a[b]*?\\root");
    fs::create_dir_all(root.join("etc/ssh/sshd_config.d")).unwrap();
    fs::write(root.join("etc/ssh/sshd_config"), "inside").unwrap();
    let files = SystemFiles::new(&root).unwrap();
    (outside, root, files)
}

fn read(files: &SystemFiles, path: &str) -> String {
    match files.read(Path::new(path)) {
        Ok(bytes) => String::from_utf8(bytes).unwrap(),
        Err(error) => format!("{:?}", error.kind()),
    }
}

fn glob(files: &SystemFiles, pattern: &str) -> Vec<String> {
    let found = files.glob(Path::new(pattern)).unwrap();
    let found = found.into_iter().map(PathBuf::into_os_string);
    found.map(|path| path.into_string().unwrap()).collect()
}

#[test]
fn paths_are_those_of_the_target_host() {
    let (_outside, root, files) = tree();
    assert_eq!(read(&files, "/etc/ssh/sshd_config"), "inside");
    assert_eq!(read(&files, "/etc/./ssh/../ssh/sshd_config"), "inside");
    assert_eq!(read(&files, "/../../etc/ssh/sshd_config"), "inside");
    assert_eq!(read(&files, "/etc/ssh/ssh_config"), "NotFound");
    assert_eq!(read(&files, "/etc/ssh/sshd_config/x"), "NotADirectory");
    assert_eq!(
        read(&files, "/etc/ssh/sshd_config/../sshd_config"),
        "NotADirectory"
    );
    assert_eq!(files.root(), root.canonicalize().unwrap());
    let status = files.status(Path::new("/etc/ssh/sshd_config")).unwrap();
    let real = fs::metadata(root.join("etc/ssh/sshd_config")).unwrap();
    assert_eq!((status.kind, status.len), (Kind::File, 6));
    assert_eq!(
        (status.mode, status.uid, status.gid),
        (real.mode() & 0o7777, real.uid(), real.gid())
    );
    assert_eq!(status.identity, (real.dev(), real.ino()));
}

#[test]
fn links_are_followed_inside_the_root_only() {
    let (outside, root, files) = tree();
    let etc = root.join("etc");
    symlink("/etc/ssh", etc.join("absolute")).unwrap();
    symlink("ssh/sshd_config", etc.join("relative")).unwrap();
    symlink(outside.path().join("secret"), etc.join("out")).unwrap();
    symlink("../../../../../secret", etc.join("up")).unwrap();
    symlink("/etc/circle", etc.join("circle")).unwrap();
    symlink("/etc/missing", etc.join("dangling")).unwrap();
    symlink("..", etc.join("parent")).unwrap();

    assert_eq!(read(&files, "/etc/absolute/sshd_config"), "inside");
    assert_eq!(read(&files, "/etc/relative"), "inside");
    assert_eq!(read(&files, "/etc/out"), "NotFound");
    assert_eq!(read(&files, "/etc/up"), "NotFound");
    assert_eq!(read(&files, "/etc/circle"), "FilesystemLoop");
    assert_eq!(read(&files, "/etc/dangling"), "NotFound");
    assert_eq!(read(&files, "/etc/parent/etc/relative"), "inside");
    assert_eq!(read(&files, "/etc/parent/../../secret"), "NotFound");
    fs::write(root.join("secret"), "mine").unwrap();
    assert_eq!(
        read(&files, "/etc/up"),
        "mine",
        "`..` above the root is the root"
    );

    let canonical = |path: &str| {
        files
            .canonical(Path::new(path))
            .map_err(|error| error.kind())
    };
    assert_eq!(
        canonical("/etc/absolute/sshd_config"),
        Ok(PathBuf::from("/etc/ssh/sshd_config"))
    );
    assert_eq!(
        canonical("/etc/relative"),
        Ok(PathBuf::from("/etc/ssh/sshd_config"))
    );
    assert_eq!(
        canonical("/etc/dangling"),
        Err(std::io::ErrorKind::NotFound)
    );
    let link = files.link_status(Path::new("/etc/relative")).unwrap();
    assert_eq!(link.kind, Kind::Link);
    assert_eq!(
        files.status(Path::new("/etc/relative")).unwrap().kind,
        Kind::File
    );
}

#[test]
fn a_glob_matches_as_libc_does_and_stays_inside() {
    let (outside, root, files) = tree();
    let drop_ins = root.join("etc/ssh/sshd_config.d");
    for name in [
        "9-b.conf",
        "10-a.conf",
        "B.conf",
        "_.conf",
        "a.conf",
        "a.conf~",
        ".hidden.conf",
        "{x,y}.conf",
    ] {
        fs::write(drop_ins.join(name), "").unwrap();
    }
    symlink(outside.path(), root.join("etc/out")).unwrap();
    symlink("/etc/ssh", root.join("etc/in")).unwrap();
    fs::create_dir_all(root.join("home/a-b")).unwrap();
    fs::create_dir_all(root.join("home/a")).unwrap();
    fs::write(root.join("home/a/c"), "").unwrap();
    fs::write(root.join("home/a-b/c"), "").unwrap();

    let names = [
        "10-a.conf",
        "9-b.conf",
        "B.conf",
        "_.conf",
        "a.conf",
        "{x,y}.conf",
    ];
    let expected = |directory: &str| {
        names
            .map(|name| format!("{directory}/sshd_config.d/{name}"))
            .to_vec()
    };
    assert_eq!(
        glob(&files, "/etc/ssh/sshd_config.d/*.conf"),
        expected("/etc/ssh")
    );
    assert_eq!(
        glob(&files, "/etc/in/sshd_config.d/*.conf"),
        expected("/etc/in")
    );
    assert_eq!(
        glob(&files, "/etc/*/sshd_config.d/1*.conf"),
        [
            "/etc/in/sshd_config.d/10-a.conf",
            "/etc/ssh/sshd_config.d/10-a.conf"
        ]
    );
    assert_eq!(
        glob(&files, "/etc/ssh/sshd_config.d/[_a].conf"),
        [
            "/etc/ssh/sshd_config.d/_.conf",
            "/etc/ssh/sshd_config.d/a.conf"
        ]
    );
    assert_eq!(
        glob(&files, "/etc/ssh/sshd_config.d/{a,_}.conf"),
        Vec::<String>::new(),
        "no braces"
    );
    assert_eq!(
        glob(&files, "/etc/ssh/sshd_config.d/a.conf"),
        ["/etc/ssh/sshd_config.d/a.conf"],
        "no magic"
    );
    assert_eq!(
        glob(&files, "/home/*/c"),
        ["/home/a-b/c", "/home/a/c"],
        "sorted as whole paths"
    );
    assert_eq!(glob(&files, "/etc/out/*"), Vec::<String>::new());
    assert_eq!(glob(&files, "/../*/secret"), Vec::<String>::new());
    assert_eq!(glob(&files, "/missing/*"), Vec::<String>::new());

    // With `/` as the root the whole pattern goes to libc: the same names, below the real directory.
    let whole = SystemFiles::new(Path::new("/")).unwrap();
    let plain = outside.path().join("plain");
    fs::rename(&root, &plain).unwrap();
    let pattern = plain.join("etc/ssh/sshd_config.d/*.conf");
    assert_eq!(
        glob(&whole, pattern.to_str().unwrap()),
        expected(plain.join("etc/ssh").to_str().unwrap())
    );
}

#[test]
fn a_listing_is_sorted_and_complete() {
    let (_outside, root, files) = tree();
    for name in ["b", "a", ".c"] {
        fs::write(root.join("etc/ssh/sshd_config.d").join(name), "").unwrap();
    }
    let found = files.list(Path::new("/etc/ssh/sshd_config.d")).unwrap();
    let expected = [".c", "a", "b"].map(|name| Path::new("/etc/ssh/sshd_config.d").join(name));
    assert_eq!(found, expected);
    assert!(files.list(Path::new("/etc/none")).is_err());
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let (_outside, root, files) = tree();
    let pipe = root.join("etc/ssh/ssh_config");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let error = files.read(Path::new("/etc/ssh/ssh_config")).unwrap_err();
    assert_eq!(error.to_string(), "a pipe, not a file");
}

#[test]
fn what_has_no_end_is_not_read_to_its_end() {
    let files = SystemFiles::new(Path::new("/")).unwrap();
    assert_eq!(read(&files, "/dev/zero"), "FileTooLarge");
    assert_eq!(read(&files, "/dev/null"), "");
}

#[test]
fn changes_do_what_they_say() {
    let (_outside, root, files) = tree();
    let path = Path::new("/etc/ssh/new");
    let real = root.join("etc/ssh/new");
    files.create(path).unwrap();
    assert_eq!(fs::metadata(&real).unwrap().mode() & 0o7777, 0o600);
    assert_eq!(
        files.create(path).unwrap_err().kind(),
        std::io::ErrorKind::AlreadyExists
    );
    files.write(path, b"long before").unwrap();
    files.write(path, b"after").unwrap();
    assert_eq!(fs::read(&real).unwrap(), b"after");
    files.set_mode(path, 0o640).unwrap();
    let (uid, gid) = (
        fs::metadata(&real).unwrap().uid(),
        fs::metadata(&real).unwrap().gid(),
    );
    files.set_owner(path, uid, gid).unwrap();
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o7777,
        0o640
    );
    files.sync(path).unwrap();
    files.sync_directory(Path::new("/etc/ssh")).unwrap();
    files
        .rename(path, Path::new("/etc/ssh/sshd_config"))
        .unwrap();
    assert_eq!(read(&files, "/etc/ssh/sshd_config"), "after");
    files.remove(Path::new("/etc/ssh/sshd_config")).unwrap();
    assert_eq!(read(&files, "/etc/ssh/sshd_config"), "NotFound");
    files.create_directory(Path::new("/var"), 0o711).unwrap();
    assert_eq!(
        fs::metadata(root.join("var")).unwrap().mode() & 0o7777,
        0o711
    );
    files.remove_directory(Path::new("/var")).unwrap();
    assert!(files.remove_directory(Path::new("/etc")).is_err());
    assert!(
        files.write(Path::new("/etc/none"), b"").is_err(),
        "write never creates"
    );
}

#[test]
fn no_change_goes_through_a_link_in_the_place_of_its_file() {
    let (outside, root, files) = tree();
    let secret = outside.path().join("secret");
    let before = fs::metadata(&secret).unwrap();
    let lock = Path::new("/etc/ssh/lock");
    symlink(&secret, root.join("etc/ssh/lock")).unwrap();
    assert!(files.lock(lock).is_err());
    assert!(files.write(lock, b"1234").is_err());
    assert!(files.create(lock).is_err());
    assert!(files.set_mode(lock, 0o666).is_err());
    assert!(files.sync(lock).is_err());
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    let after = fs::metadata(&secret).unwrap();
    assert_eq!(
        (after.mode(), after.mtime_nsec()),
        (before.mode(), before.mtime_nsec())
    );
}

#[test]
fn a_link_that_dangles_is_not_written_through() {
    let (outside, root, files) = tree();
    symlink(outside.path().join("made"), root.join("etc/trap")).unwrap();
    assert!(files.create(Path::new("/etc/trap")).is_err());
    assert!(!outside.path().join("made").exists());
    files.remove(Path::new("/etc/trap")).unwrap();
    assert!(!root.join("etc/trap").is_symlink());
}

#[cfg(target_os = "linux")]
#[test]
fn attributes_and_access_lists_are_copied_and_inherited_lists_dropped() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};

    let (_outside, root, files) = tree();
    let from = root.join("etc/ssh/sshd_config");
    let to = root.join("etc/ssh/new");
    let get = |path: &Path, name: &str| {
        let mut buffer = [0; 256];
        let length = getxattr(path, name, &mut buffer).ok()?;
        Some(buffer[..length].to_vec())
    };
    // acl_ea_header version 2; user::rw- user:1:r-- group::r-- mask::r-- other::r--
    let list = access_list(&[
        (1, 6, u32::MAX),
        (2, 4, 1),
        (4, 4, u32::MAX),
        (16, 4, u32::MAX),
        (32, 4, u32::MAX),
    ]);
    if setxattr(&from, "user.note", b"kept", XattrFlags::empty()).is_err() {
        println!("skipped: this file system has no user attributes");
        return;
    }
    files.create(Path::new("/etc/ssh/new")).unwrap();
    files
        .copy_attributes(Path::new("/etc/ssh/sshd_config"), Path::new("/etc/ssh/new"))
        .unwrap();
    assert_eq!(get(&to, "user.note").unwrap(), b"kept");

    if setxattr(&from, "system.posix_acl_access", &list, XattrFlags::empty()).is_err() {
        println!("skipped: this file system has no access control lists");
        return;
    }
    files
        .copy_attributes(Path::new("/etc/ssh/sshd_config"), Path::new("/etc/ssh/new"))
        .unwrap();
    assert_eq!(get(&to, "system.posix_acl_access").unwrap(), list);
    assert_eq!(fs::metadata(&to).unwrap().mode() & 0o777, 0o644);

    fs::write(root.join("etc/ssh/plain"), "").unwrap();
    files
        .copy_attributes(Path::new("/etc/ssh/plain"), Path::new("/etc/ssh/new"))
        .unwrap();
    assert_eq!(get(&to, "system.posix_acl_access"), None);
}

/// The kernel's form of an access control list: tag, permissions, id.
#[cfg(target_os = "linux")]
fn access_list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

#[test]
fn a_lock_is_held_by_one_at_a_time() {
    let (_outside, _root, files) = tree();
    let path = Path::new("/etc/lock");
    let first = files.lock(path).unwrap();
    assert!(first.is_some());
    assert!(files.lock(path).unwrap().is_none());
    drop(first);
    assert!(files.lock(path).unwrap().is_some());
}
