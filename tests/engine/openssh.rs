//! The installed OpenSSH itself opens what we seal and seals what we open, over several key exchanges.
//!
//! Key exchange, login and channel are asyncssh's, over a pipe to `sshd -i`: no port, no service, no
//! file outside a temporary directory.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use engine::algorithm::{Cipher, Mac, MacFunction, Mode};
use engine::cpu::{Detected, Features};
use engine::packet::{Layout, PacketCipher};
use engine::providers::{Direction, Keys, Native, OpenSsh, Provider};

use crate::interop::{python_with_asyncssh, word};
use crate::providers::libcrypto;
use crate::support::{program, skip};
use crate::sweep::{hex, is_thin};

#[test]
fn the_installed_sshd_and_we_open_each_others_packets() {
    let Some(library) = libcrypto() else { return };
    let Some(server) = Server::prepare() else {
        return;
    };
    let detected = Detected::new(Features::NONE);
    let native = Native::new(detected);
    let openssh = OpenSsh::new(Ok(library), None, detected);
    for (cipher, mac) in algorithms() {
        let ours: &dyn Provider = if cipher.mode() == Mode::Cbc {
            &openssh
        } else {
            &native
        };
        let exchanges = server.talk(ours, cipher, mac);
        assert!(exchanges > 1, "{cipher} {mac:?}: no rekey happened");
    }
}

/// Every cipher with one MAC and every MAC with one cipher: with asyncssh all pairs were tried. The
/// thin form leaves it at the AEADs.
fn algorithms() -> impl Iterator<Item = (Cipher, Option<Mac>)> {
    let usual = Mac::new(MacFunction::HmacSha256, true);
    let ciphers = Cipher::ALL.iter().map(move |&cipher| {
        let mac = (!cipher.is_aead()).then_some(usual);
        (cipher, mac)
    });
    let macs = Mac::ALL.iter().filter(move |&&mac| mac != usual);
    let all = ciphers.chain(macs.map(|&mac| (Cipher::Aes128Ctr, Some(mac))));
    all.filter(|(cipher, _)| cipher.is_aead() || !is_thin())
}

/// What a private sshd needs: keys and a configuration in a directory of its own.
struct Server {
    directory: tempfile::TempDir,
    sshd: String,
    python: PathBuf,
}

impl Server {
    fn prepare() -> Option<Self> {
        let sshd = program("sshd", "openssh-server")?;
        let keygen = program("ssh-keygen", "openssh-client")?;
        let python = python_with_asyncssh()?;
        let directory = tempfile::tempdir().expect("a temporary directory");
        for key in ["host", "user"] {
            let made = Command::new(&keygen)
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(directory.path().join(key))
                .status();
            assert!(made.expect("ssh-keygen runs").success());
        }
        let server = Self {
            sshd: sshd.display().to_string(),
            python,
            directory,
        };
        server.can_separate_privileges().then_some(server)
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// sshd of root wants `/run/sshd`, which the service's start makes. Without it, a mount namespace gives one.
    fn can_separate_privileges(&self) -> bool {
        let tried = self.inside("true").status();
        let can = tried.is_ok_and(|status| status.success());
        if !can {
            skip("needs /run/sshd");
        }
        can
    }

    /// A shell command where `/run/sshd` exists.
    fn inside(&self, script: &str) -> Command {
        let script = format!(
            "if [ $(id -u) -ne 0 ] || [ -d /run/sshd ]; then {script}; else exec unshare --mount \
             sh -c 'mount -t tmpfs none /run && mkdir -m 755 /run/sshd && {script}'; fi"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]).stdin(Stdio::null());
        command
    }

    fn configure(&self, cipher: Cipher, mac: Option<Mac>) {
        let macs = mac.map_or(String::new(), |mac| format!("MACs {mac}\n"));
        let directory = self.path().display();
        let configuration = format!(
            "HostKey {directory}/host\nAuthorizedKeysFile {directory}/user.pub\nStrictModes no\n\
             PermitRootLogin yes\nPidFile none\nCiphers {cipher}\n{macs}"
        );
        std::fs::write(self.path().join("sshd_config"), configuration).expect("a writable file");
    }

    /// One connection whose packets `ours` seals and opens; the answer is how often keys were exchanged.
    fn talk(&self, ours: &dyn Provider, cipher: Cipher, mac: Option<Mac>) -> usize {
        self.configure(cipher, mac);
        // The shell stays: asyncssh takes the end of its standard error for the end of the connection.
        let sshd = format!(
            "{} -i -e -f {}/sshd_config 2>>{}/log; true",
            self.sshd,
            self.path().display(),
            self.path().display()
        );
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/support/sshd_with_our_packets.py"
        );
        let sshd = self.inside(&sshd);
        let mut client = Command::new(&self.python)
            .arg(script)
            .arg(self.path())
            .args([cipher.name(), mac.map_or("-", Mac::name)])
            .arg(sshd.get_program())
            .args(sshd.get_args())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs");
        let exchanges = answer(&mut client, ours);
        let ended = client.wait().expect("the client was started");
        let log = || std::fs::read_to_string(self.path().join("log")).unwrap_or_default();
        assert!(ended.success(), "{cipher} {mac:?}: {}", log());
        exchanges.expect("the client was done")
    }
}

/// Both directions under one set of keys; the client uses one of them.
struct Keyed {
    sealer: Box<dyn PacketCipher>,
    opener: Box<dyn PacketCipher>,
    layout: Layout,
}

/// Answers the client's requests until it is done; then it tells the number of key exchanges.
fn answer(client: &mut Child, ours: &dyn Provider) -> Option<usize> {
    let mut answers = client.stdin.take().expect("a pipe");
    let requests = BufReader::new(client.stdout.take().expect("a pipe"));
    let mut keyed = HashMap::new();
    for request in requests.lines() {
        let request = request.expect("text");
        let words: Vec<_> = request.split(' ').collect();
        let answer = match words[..] {
            ["key", name, cipher, mac, key, iv, mac_key] => {
                let mac = (mac != "-").then(|| mac.parse().unwrap());
                let keys = [key, iv, mac_key];
                keyed.insert(
                    name.to_owned(),
                    set_up(ours, cipher.parse().unwrap(), mac, keys),
                );
                "ok".to_owned()
            }
            ["done", exchanges] => return exchanges.parse().ok(),
            [verb, name, sequence, bytes] => {
                let keyed = keyed.get_mut(name).expect("a key");
                keyed.answer(verb, sequence.parse().unwrap(), hex(bytes))
            }
            _ => panic!("{request}"),
        };
        writeln!(answers, "{answer}").expect("the client listens");
    }
    None
}

fn set_up(ours: &dyn Provider, cipher: Cipher, mac: Option<Mac>, keys: [&str; 3]) -> Keyed {
    let [key, iv, mac_key] = keys.map(|word| if word == "-" { Vec::new() } else { hex(word) });
    let keys = Keys {
        cipher: key,
        iv,
        mac: mac_key,
    };
    let make = |direction| ours.packet_cipher(cipher, mac, &keys, direction).unwrap();
    Keyed {
        sealer: make(Direction::Seal),
        opener: make(Direction::Open),
        layout: Layout::of(cipher, mac),
    }
}

impl Keyed {
    fn answer(&mut self, verb: &str, sequence: u32, mut packet: Vec<u8>) -> String {
        let tag = self.layout.tag_len();
        match verb {
            "seal" => {
                packet.resize(packet.len() + tag, 0);
                self.sealer.seal(sequence, &mut packet).unwrap();
                word(&packet)
            }
            "length" => {
                let length = self.opener.packet_length(sequence, &packet);
                length.unwrap().to_string()
            }
            "open" => match self.opener.open(sequence, &mut packet) {
                Ok(()) => word(&packet[..packet.len() - tag]),
                Err(_) => "refused".to_owned(),
            },
            _ => panic!("{verb}"),
        }
    }
}
