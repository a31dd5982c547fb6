//! Finding OpenSSH: pretended machines, and this one against what its own programs say.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use engine::host::{CommandFailure, CommandOutput, CommandRequest, Commands, SystemCommands};
use engine::installed::releases::{self, Release};
use engine::installed::{DiscoverRequest, Installed, discover};

use crate::support::{program, skip};

/// Programs that only say what they are told to, by `name option…`.
#[derive(Default)]
struct FakeCommands(BTreeMap<&'static str, CommandOutput>);

impl FakeCommands {
    fn says(mut self, call: &'static str, code: i32, stdout: &str, stderr: &str) -> Self {
        let output = CommandOutput {
            code: Some(code),
            stdout: stdout.into(),
            stderr: stderr.into(),
        };
        self.0.insert(call, output);
        self
    }
}

impl Commands for FakeCommands {
    fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure> {
        let name = request
            .program
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let args = request.args.iter().map(|arg| arg.to_string_lossy());
        let call: Vec<_> = std::iter::once(name).chain(args).collect();
        let known = self.0.get(call.join(" ").as_str());
        known.cloned().ok_or_else(|| CommandFailure::TimedOut {
            program: request.program.display().to_string(),
            timeout: request.timeout,
        })
    }
}

/// A folder with empty executables of these names.
fn folder(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        let path = folder.path().join(name);
        fs::write(&path, b"").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

fn look(commands: &FakeCommands, folder: &Path) -> Installed {
    let request = DiscoverRequest {
        ssh: None,
        sshd: None,
        search: vec![PathBuf::from("/nowhere"), folder.to_owned()],
    };
    discover(commands, &request)
}

#[test]
fn a_machine_without_ssh_is_a_normal_machine() {
    let empty = folder(&[]);
    let found = look(&FakeCommands::default(), empty.path());
    assert_eq!(found, Installed::default());
    assert!(found.libcrypto().is_empty());
}

#[test]
fn client_and_server_are_asked_for_versions_and_lists() {
    let there = folder(&["ssh", "sshd"]);
    let commands = FakeCommands::default()
        .says(
            "ssh -V",
            0,
            "",
            "OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.19\r\n",
        )
        .says("ssh -Q cipher", 0, "3des-cbc\naes128-ctr\n", "")
        .says("ssh -Q mac", 0, "hmac-sha1\n", "")
        .says(
            "sshd -?",
            1,
            "",
            "unknown option -- ?\r\nOpenSSH_9.9p1\r\nusage: sshd\r\n",
        );
    let found = look(&commands, there.path());
    let client = found.client.unwrap();
    assert_eq!(client.release, Release::new(9, 2));
    assert_eq!(client.program.version, "OpenSSH_9.2p1 Debian-2");
    assert_eq!(client.program.ciphers, ["3des-cbc", "aes128-ctr"]);
    assert_eq!(client.program.macs, ["hmac-sha1"]);
    let server = found.server.unwrap();
    assert_eq!(server.release, Release::new(9, 9));
    assert!(server.program.ciphers.is_empty(), "sshd has no -Q");
    assert!(found.problems.is_empty());
}

#[test]
fn an_old_client_is_not_asked_what_it_cannot_answer() {
    let there = folder(&["ssh"]);
    let commands = FakeCommands::default().says("ssh -V", 0, "", "OpenSSH_5.3p1, OpenSSL 1.0.1e\n");
    let client = look(&commands, there.path()).client.unwrap();
    assert!(client.program.ciphers.is_empty());
    assert!(client.ciphers().contains(&"arcfour256".to_owned()));
}

#[test]
fn what_is_no_openssh_or_does_not_answer_is_a_problem_with_a_cure() {
    let there = folder(&["ssh", "sshd"]);
    let commands = FakeCommands::default().says("ssh -V", 0, "", "Dropbear v2022.83\n");
    let found = look(&commands, there.path());
    assert!(found.client.is_none() && found.server.is_none());
    assert!(found.problems[0].contains("\"Dropbear v2022.83\" and is no OpenSSH"));
    assert!(found.problems[1].contains("sshd did not end within 5 s"));
}

#[test]
fn a_named_program_must_be_there_and_executable() {
    let there = folder(&["ssh"]);
    let plain = there.path().join("plain");
    fs::write(&plain, b"").unwrap();
    for path in [
        plain,
        PathBuf::from("/nowhere/ssh"),
        there.path().to_owned(),
    ] {
        let request = DiscoverRequest {
            ssh: Some(path.clone()),
            ..DiscoverRequest::default()
        };
        let found = discover(&FakeCommands::default(), &request);
        assert!(found.client.is_none());
        let problem = format!("{}: not an executable file", path.display());
        assert!(
            found.problems[0].starts_with(&problem),
            "{:?}",
            found.problems
        );
    }
}

#[test]
fn the_installed_client_is_what_it_says_it_is() {
    let Some(ssh) = program("ssh", "openssh-client") else {
        return;
    };
    let request = DiscoverRequest {
        ssh: Some(ssh),
        ..DiscoverRequest::default()
    };
    let client = discover(&SystemCommands, &request).client.unwrap();
    assert!(
        client
            .program
            .version
            .contains(&client.release.to_string().replace(' ', "_"))
    );
    assert_eq!(
        client.program.ciphers,
        releases::supported_ciphers(client.release)
    );
    assert_eq!(
        client.program.macs,
        releases::supported_macs(client.release)
    );
    assert!(
        !client.libcrypto.is_empty(),
        "every distribution's ssh links libcrypto"
    );
    if cfg!(target_arch = "x86_64") && client.program.version.contains("9.2p1 Debian") {
        assert!(client.clears_registers, "Debian 12's is built to");
    }
}

#[test]
fn compiled_defaults_are_those_the_installed_programs_print() {
    let found = discover(&SystemCommands, &DiscoverRequest::default());
    let (Some(ssh), Some(sshd)) = (
        program("ssh", "openssh-client"),
        program("sshd", "openssh-server"),
    ) else {
        return;
    };
    let client = found.client.unwrap();
    let asked = CommandRequest::new(ssh).args(["-G", "-F", "none", "host"]);
    let printed = SystemCommands.run(&asked).unwrap().stdout_text();
    assert_eq!(
        value(&printed, "ciphers"),
        releases::client_ciphers(client.release)
    );
    assert_eq!(
        value(&printed, "macs"),
        releases::client_macs(client.release)
    );

    let server = found.server.unwrap();
    let Some(printed) = server_configuration(&sshd) else {
        return skip("needs /run/sshd or user namespaces");
    };
    assert_eq!(
        value(&printed, "ciphers"),
        releases::server_ciphers(server.release)
    );
    assert_eq!(
        value(&printed, "macs"),
        releases::server_macs(server.release)
    );
    assert_eq!(
        client.libcrypto, server.libcrypto,
        "one package, one library"
    );
}

/// `sshd -T` of an empty configuration, with a host key of its own. As root it wants /run/sshd, which
/// a user namespace gives it without touching the system.
fn server_configuration(sshd: &Path) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    let keygen = program("ssh-keygen", "openssh-client").unwrap();
    let make = CommandRequest::new(keygen)
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(&key);
    assert!(SystemCommands.run(&make).unwrap().succeeded());
    let script = "mount -t tmpfs none /run && mkdir -m755 /run/sshd && exec \"$0\" -T -f /dev/null -h \"$1\"";
    let private = CommandRequest::new("unshare")
        .args(["-rm", "sh", "-c", script])
        .arg(sshd)
        .arg(&key);
    let plain = CommandRequest::new(sshd)
        .args(["-T", "-f", "/dev/null", "-h"])
        .arg(&key);
    [plain, private]
        .iter()
        .filter_map(|request| SystemCommands.run(request).ok())
        .find(CommandOutput::succeeded)
        .map(|output| output.stdout_text())
}

fn value(printed: &str, keyword: &str) -> Vec<String> {
    let line = printed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(key, _)| key.eq_ignore_ascii_case(keyword));
    let (_, value) = line.unwrap();
    value.split(',').map(str::to_owned).collect()
}

const COMPILED_IN: &str = "chacha20-poly1305@openssh.com,aes128-ctr,aes256-ctr";

#[test]
fn dropbear_is_asked_what_was_compiled_in() {
    let here = folder(&["dbclient", "dropbear"]);
    let listed = format!("dbclient: Available ciphers: {COMPILED_IN}\n\ndbclient: Exited: .\n");
    let macs = "dbclient: Available MACs: hmac-sha1,hmac-sha2-256\n";
    let commands = FakeCommands::default()
        .says("dbclient -V", 0, "", "Dropbear v2022.83\n")
        .says("dbclient -c help", 1, "", &listed)
        .says("dbclient -m help", 1, "", macs);
    let found = look(&commands, here.path()).dropbear.unwrap();
    assert_eq!(found.version, "Dropbear v2022.83");
    assert_eq!(found.ciphers.join(","), COMPILED_IN);
    assert_eq!(found.macs, ["hmac-sha1", "hmac-sha2-256"]);
    assert_eq!(Path::new(&found.path), here.path().join("dbclient"));
}

#[test]
fn a_dropbear_that_is_a_server_only_has_a_version() {
    let here = folder(&["dropbear"]);
    let commands = FakeCommands::default().says("dropbear -V", 0, "", "Dropbear v2024.86\n");
    let found = look(&commands, here.path()).dropbear.unwrap();
    assert_eq!(found.version, "Dropbear v2024.86");
    assert!(found.ciphers.is_empty());
    // Something else of that name is none.
    let commands = FakeCommands::default().says("dropbear -V", 0, "other 1.0\n", "");
    assert_eq!(look(&commands, here.path()).dropbear, None);
}

#[test]
fn this_dropbear_lists_what_it_has() {
    if program("dbclient", "dropbear-bin").is_none() {
        return;
    }
    let found = discover(&SystemCommands, &DiscoverRequest::default());
    let found = found.dropbear.unwrap();
    assert!(
        found.version.starts_with("Dropbear v20"),
        "{}",
        found.version
    );
    assert!(found.ciphers.contains(&"aes128-ctr".to_owned()));
    assert!(found.macs.contains(&"hmac-sha2-256".to_owned()));
}

#[test]
fn one_program_of_hpn_ssh_brings_the_other() {
    let here = folder(&["ssh", "sshd", "hpnssh", "hpnsshd"]);
    let banner = "OpenSSH_10.2p1-hpn18.8.0, OpenSSL 3.0.19 27 Jan 2026\n";
    let commands = FakeCommands::default()
        .says("hpnssh -V", 0, "", banner)
        .says("hpnsshd -?", 1, "", banner);
    let request = DiscoverRequest {
        ssh: Some(here.path().join("hpnssh")),
        sshd: None,
        search: vec![here.path().to_owned()],
    };
    let found = discover(&commands, &request);
    assert!(found.client.unwrap().program.path.ends_with("/hpnssh"));
    assert!(found.server.unwrap().program.path.ends_with("/hpnsshd"));
}
