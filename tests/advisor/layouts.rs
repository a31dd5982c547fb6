//! The whole way in trees of other flavours, below `--root`: read, plan, ask, write, check, put back.
//!
//! Their programs do not exist here. A script stands in for each: it answers for its flavour what only that
//! knows, and leaves everything else to the installed `ssh` and `sshd`.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;

use engine::report::Report;
use serde_json::Value;

use crate::report::fast_aes;
use crate::support::program;
use crate::world::{Ran, World, write_script};

const THREADED: &str = "chacha20-poly1305-mt@hpnssh.org";

/// A tree and the programs that judge it.
struct Image {
    world: World,
    programs: Vec<String>,
}

impl Image {
    fn new(report: Report, files: &[(&str, &str)]) -> Self {
        let image = Self {
            world: World::empty(report),
            programs: Vec::new(),
        };
        for (path, text) in files {
            image.put(path, text);
        }
        image
    }

    fn put(&self, path: &str, text: &str) {
        let real = self.world.root().join(path);
        fs::create_dir_all(real.parent().unwrap()).unwrap();
        fs::write(real, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.world.root().join(path)).unwrap()
    }

    /// Uses the installed programs themselves; false where there are none.
    fn with_installed(&mut self) -> bool {
        let (Some(ssh), Some(sshd)) = installed() else {
            return false;
        };
        self.name_programs(&ssh, &sshd);
        true
    }

    /// Uses scripts of these names around the installed programs; false where there are none. `answers` are
    /// cases of the first that ask nobody, `in_copy` is what the
    /// files go through before.
    fn with_scripts(
        &mut self,
        names: [&str; 2],
        version: &str,
        answers: &str,
        in_copy: &str,
        after: &str,
    ) -> bool {
        let (Some(ssh), Some(sshd)) = installed() else {
            return false;
        };
        let mut paths = Vec::new();
        for (name, real) in names.into_iter().zip([ssh, sshd]) {
            let real = real.display();
            let script = format!(
                r#"#!/bin/sh
case "$*" in
{answers}
*cipher-advisor-*) ;;
-Q*) exec {real} "$@" ;;
*) echo '{version}, OpenSSL 3.0.19 27 Jan 2026' >&2; exit 0 ;;
esac
for word; do
    case "$word" in */cipher-advisor-*/*)
        rest=${{word#*/cipher-advisor-}}
        top=${{word%%/cipher-advisor-*}}/cipher-advisor-${{rest%%/*}} ;;
    esac
done
own=$(mktemp -d) && cp -R "$top/." "$own" || exit
find "$own" -type f ! -name key -exec sed -i "s#$top#$own#g"';{in_copy}' {{}} +
for word; do
    shift
    [ "$word" = -G ] && [ {name} = {names1} ] && word=-T
    case "$word" in "$top"/*) word=$own${{word#"$top"}} ;; esac
    set -- "$@" "$word"
done
{real} "$@" >"$own/said"
code=$?
sed '{after}' "$own/said"
rm -rf "$own"
exit $code
"#,
                names1 = names[1],
            );
            let path = self.world.root().with_file_name(name);
            write_script(&path, &script);
            paths.push(path);
        }
        self.name_programs(&paths[0], &paths[1]);
        true
    }

    fn name_programs(&mut self, ssh: &std::path::Path, sshd: &std::path::Path) {
        let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
        self.programs = vec![
            "--ssh".to_owned(),
            text(ssh),
            "--sshd".to_owned(),
            text(sshd),
        ];
    }

    fn run(&self, args: &[&str]) -> Ran {
        let programs: Vec<_> = self.programs.iter().map(String::as_str).collect();
        self.world.run(&[args, &programs].concat())
    }

    /// Applies a side, checks everything about that, and gives the file that was written and its new text.
    fn round_trip(&self, side: &str, more: &[&str]) -> (PathBuf, String) {
        let run = |args: &[&str]| self.run(&[args, &["--side", side], more].concat());
        let before = self.configuration();
        assert_eq!(run(&["--check", "-q"]).code, 1, "{side}");
        let applied = run(&["--apply", "--json"]);
        assert_eq!(applied.code, 0, "{side}: {}", applied.err);
        let document: Value = serde_json::from_str(&applied.out).unwrap();
        let file = document["changes"][0]["file"].as_str().unwrap();
        let order = &document["recommendation"][side]["order"];
        assert_eq!(document["configuration"][side]["effective"], *order);
        let checked = run(&["--check", "-q"]);
        assert_eq!(checked.code, 0, "{side}: {}", checked.err);
        let after = self.configuration();
        assert_eq!(run(&["--apply", "-q"]).code, 0);
        assert_eq!(self.configuration(), after, "a second run changes nothing");
        let written = self.text(file.trim_start_matches('/'));
        let back = self.run(&["--rollback", "-q", "--side", side]);
        assert_eq!(back.code, 0, "{}", back.err);
        assert_eq!(self.configuration(), before);
        (file.into(), written)
    }

    /// Everything but the journal.
    fn configuration(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = self.world.below("");
        let journal = |path: &PathBuf| {
            path.components()
                .any(|it| it.as_os_str() == "cipher-advisor")
        };
        found.retain(|(path, ..)| {
            !journal(path) && !path.ends_with("var") && !path.ends_with("var/lib")
        });
        found
    }
}

fn installed() -> (Option<PathBuf>, Option<PathBuf>) {
    (
        program("ssh", "openssh-client"),
        program("sshd", "openssh-server"),
    )
}

/// A report of programs that call themselves so.
fn report(version: &str, more: &[&str]) -> Report {
    let mut report = fast_aes();
    for program in [&mut report.openssh.client, &mut report.openssh.server] {
        let program = program.as_mut().unwrap();
        version.clone_into(&mut program.version);
        program
            .ciphers
            .splice(0..0, more.iter().map(ToString::to_string));
    }
    report
}

#[test]
fn opensuse_keeps_its_files_below_usr() {
    let mut image = Image::new(
        fast_aes(),
        &[
            (
                "usr/etc/ssh/ssh_config",
                "Include /etc/ssh/ssh_config.d/*.conf\nInclude /usr/etc/ssh/ssh_config.d/*.conf\nHost *\n    HashKnownHosts yes\n",
            ),
            (
                "usr/etc/ssh/ssh_config.d/50-suse.conf",
                "SendEnv LANG LC_*\n",
            ),
            (
                "usr/etc/ssh/sshd_config",
                "Include /etc/ssh/sshd_config.d/*.conf\nInclude /usr/etc/ssh/sshd_config.d/*.conf\nUsePAM yes\n",
            ),
            (
                "usr/etc/ssh/sshd_config.d/40-suse.conf",
                "Ciphers chacha20-poly1305@openssh.com,aes128-ctr,aes128-gcm@openssh.com\n",
            ),
            ("etc/ssh/ssh_config.d/90-own.conf", "Compression no\n"),
            ("etc/ssh/sshd_config.d/90-own.conf", "Compression no\n"),
        ],
    );
    if !image.with_installed() {
        return;
    }
    let (file, text) = image.round_trip("client", &[]);
    assert_eq!(
        file,
        PathBuf::from("/etc/ssh/ssh_config.d/10-cipher-advisor.conf")
    );
    assert!(text.contains("\nCiphers ^aes128-gcm@openssh.com"), "{text}");
    // The package's line is overruled, never edited.
    let (file, text) = image.round_trip("server", &[]);
    assert_eq!(
        file,
        PathBuf::from("/etc/ssh/sshd_config.d/10-cipher-advisor.conf")
    );
    assert!(
        text.contains("\nCiphers aes128-gcm@openssh.com,aes128-ctr,"),
        "{text}"
    );
    // A file of the administrator's hides the package's.
    image.put(
        "etc/ssh/sshd_config",
        "UsePAM yes\nCiphers aes256-ctr,aes128-gcm@openssh.com # ours\n",
    );
    let (file, text) = image.round_trip("server", &[]);
    assert_eq!(file, PathBuf::from("/etc/ssh/sshd_config"));
    assert_eq!(
        text,
        "UsePAM yes\nCiphers aes128-gcm@openssh.com,aes256-ctr # ours\n"
    );
}

#[test]
fn hpn_ssh_lies_beside_an_openssh() {
    let mut image = Image::new(
        report("OpenSSH_10.2p1-hpn18.8.0", &[THREADED]),
        &[
            ("etc/ssh/ssh_config", "Ciphers aes192-ctr\n"),
            ("etc/ssh/sshd_config", "Ciphers aes192-ctr\n"),
            (
                "etc/hpnssh/ssh_config",
                "Include more.conf\nHost *\n    HashKnownHosts yes\n",
            ),
            ("etc/hpnssh/more.conf", "Compression no\n"),
            (
                "etc/hpnssh/sshd_config",
                "NoneEnabled no\nInclude sshd_config.d/*.conf\nUsePAM yes\n",
            ),
            ("etc/hpnssh/sshd_config.d/50-x.conf", "Compression no\n"),
        ],
    );
    let policy = image.world.root().with_file_name("list.toml");
    fs::write(&policy, "name = 'list'\nform = 'list'\n").unwrap();
    let swap = |from: &str, to: &str| format!("s/{from}/{to}/g");
    let ready = image.with_scripts(
        ["hpnssh", "hpnsshd"],
        "OpenSSH_10.2p1-hpn18.8.0",
        &format!("'-Q cipher') echo {THREADED}; exec ssh -Q cipher ;;"),
        &format!("{};s/^NoneEnabled/#&/", swap(THREADED, "aes256-cbc")),
        &swap("aes256-cbc", THREADED),
    );
    if !ready {
        return;
    }
    let list = ["--policy", policy.to_str().unwrap()];
    let (file, text) = image.round_trip("client", &list);
    assert_eq!(file, PathBuf::from("/etc/hpnssh/ssh_config"));
    assert!(text.contains(THREADED), "{text}");
    let (file, _) = image.round_trip("server", &list);
    assert_eq!(
        file,
        PathBuf::from("/etc/hpnssh/sshd_config.d/10-cipher-advisor.conf")
    );
    assert_eq!(image.text("etc/ssh/sshd_config"), "Ciphers aes192-ctr\n");
}

#[test]
fn windows_keeps_its_files_below_program_data() {
    let server = "\u{feff}# of the package\r\nInclude __PROGRAMDATA__/ssh/sshd_config.d/*.conf\r\nSubsystem sftp sftp-server.exe\r\nMatch Group administrators\r\n       AuthorizedKeysFile __PROGRAMDATA__/ssh/administrators_authorized_keys\r\n";
    let version = "OpenSSH_for_Windows_9.8p2 Win32-OpenSSH-GitHub";
    let mut image = Image::new(
        report(version, &[]),
        &[
            (
                "ProgramData/ssh/ssh_config",
                "\u{feff}Include conf.d\\*.txt\r\n\r\nHost *\r\n    HashKnownHosts yes\r\n",
            ),
            ("ProgramData/ssh/conf.d/a.txt", "\u{feff}Compression no\r\n"),
            ("ProgramData/ssh/sshd_config", server),
            (
                "ProgramData/ssh/sshd_config.d/50-x.conf",
                "Compression no\r\n",
            ),
        ],
    );
    if !image.with_scripts(["ssh", "sshd"], version, "", r"1s/^\xef\xbb\xbf//", "") {
        return;
    }
    let (file, text) = image.round_trip("client", &[]);
    assert_eq!(file, PathBuf::from("/ProgramData/ssh/ssh_config"));
    assert!(
        text.starts_with("\u{feff}Include conf.d\\*.txt\r\n\r\nCiphers ^aes128-gcm"),
        "{text:?}"
    );
    assert_eq!(
        text.matches('\n').count(),
        text.matches("\r\n").count(),
        "{text:?}"
    );
    let (file, _) = image.round_trip("server", &[]);
    assert_eq!(
        file,
        PathBuf::from("/ProgramData/ssh/sshd_config.d/10-cipher-advisor.conf")
    );
    assert!(
        image
            .world
            .root()
            .join("ProgramData/cipher-advisor/journal")
            .is_dir()
    );
    assert!(!image.world.root().join("var").exists());
    // Without that directory the line goes above the block, behind the mark.
    image.put(
        "ProgramData/ssh/sshd_config",
        &server.replace("Include", "#"),
    );
    let (file, text) = image.round_trip("server", &[]);
    assert_eq!(file, PathBuf::from("/ProgramData/ssh/sshd_config"));
    assert!(text.starts_with("\u{feff}# of the package\r\n"), "{text:?}");
    assert!(
        text.contains("\r\nMatch Group administrators\r\n"),
        "{text:?}"
    );
    let list = text.find("\r\nCiphers ^aes128-gcm").unwrap();
    assert!(list < text.find("Match").unwrap(), "{text:?}");
}
