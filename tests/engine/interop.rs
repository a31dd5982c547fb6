//! An independent SSH implementation opens what we seal and seals what we open.
//!
//! asyncssh shares no code with us: UMAC comes from libnettle, the ciphers from python3-cryptography,
//! the packet format is its author's own reading of the RFCs.
#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use engine::algorithm::{Cipher, Mac};
use engine::packet::{LENGTH_FIELD, Layout, PacketCipher};
use engine::providers::{Direction, Keys, Provider, known_answer};
use sha2::{Digest, Sha256};

use crate::providers::{algorithms, keys, providers};
use crate::support::{program, skip};
use crate::sweep::hex;

/// `tests/support/asyncssh_packets.py`, running.
struct Asyncssh {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Asyncssh {
    /// Starts it, or says what it would need.
    fn start() -> Option<Self> {
        let python = python_with_asyncssh()?;
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/support/asyncssh_packets.py"
        );
        let mut child = Command::new(&python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs");
        let requests = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        Some(Self {
            child,
            requests,
            answers,
        })
    }

    fn ask(&mut self, request: &str) -> String {
        writeln!(self.requests, "{request}").expect("asyncssh listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        assert!(!answer.is_empty(), "asyncssh ended at: {request:.200}");
        answer.trim_end().to_owned()
    }

    /// Sets up one direction. asyncssh knows every algorithm we know: were one missing, it would not be tested.
    fn key(&mut self, name: &str, cipher: Cipher, mac: Option<Mac>, keys: &Keys) {
        let mac = mac.map_or("-", Mac::name);
        let [key, iv, mac_key] = [&keys.cipher, &keys.iv, &keys.mac].map(|bytes| word(bytes));
        let answer = self.ask(&format!("key {name} {cipher} {mac} {key} {iv} {mac_key}"));
        assert_eq!(answer, "ok", "{cipher} {mac}");
    }

    fn seal(&mut self, name: &str, sequence: u32, clear: &[u8]) -> Vec<u8> {
        hex(&self.ask(&format!("seal {name} {sequence} {}", word(clear))))
    }

    fn open(&mut self, name: &str, sequence: u32, sealed: &[u8]) -> Option<Vec<u8>> {
        let answer = self.ask(&format!("open {name} {sequence} {}", word(sealed)));
        (answer != "refused").then(|| hex(&answer))
    }
}

impl Drop for Asyncssh {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A Python that has asyncssh. Debian's packages are for Debian's own, which may not be the first in PATH.
pub(crate) fn python_with_asyncssh() -> Option<PathBuf> {
    let first = program("python3", "python3")?;
    let pythons = [PathBuf::from("/usr/bin/python3"), first];
    let found = pythons.into_iter().find(|python| {
        let import = Command::new(python)
            .args(["-W", "ignore", "-c", "import asyncssh"])
            .output();
        import.is_ok_and(|import| import.status.success())
    });
    if found.is_none() {
        skip("needs python3-asyncssh");
    }
    found
}

/// Bytes as a word of a request.
pub(crate) fn word(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    bytes.iter().fold(String::new(), |mut word, byte| {
        let _ = write!(word, "{byte:02x}");
        word
    })
}

/// Both directions of a provider under one pair of keys, as two ends of a connection have them.
struct Ends {
    sealer: Box<dyn PacketCipher>,
    opener: Box<dyn PacketCipher>,
}

/// The ends after a key exchange; `None` when the provider lacks the algorithm.
fn exchange(
    provider: &dyn Provider,
    asyncssh: &mut Asyncssh,
    cipher: Cipher,
    mac: Option<Mac>,
    seed: u64,
) -> Option<Ends> {
    let (ours, theirs) = (keys(cipher, mac, seed), keys(cipher, mac, !seed));
    let sealer = provider.packet_cipher(cipher, mac, &ours, Direction::Seal);
    let opener = provider.packet_cipher(cipher, mac, &theirs, Direction::Open);
    let ends = Ends {
        sealer: sealer.ok()?,
        opener: opener.ok()?,
    };
    asyncssh.key("opener", cipher, mac, &ours);
    asyncssh.key("sealer", cipher, mac, &theirs);
    Some(ends)
}

#[test]
fn asyncssh_and_we_open_each_others_packets_over_rekey_and_wrap() {
    /// Payload lengths; the keys are new after the first half.
    const LENGTHS: [usize; 14] = [0, 1, 3, 4, 11, 12, 40, 13, 27, 28, 255, 1000, 5, 32 * 1024];
    let Some(mut asyncssh) = Asyncssh::start() else {
        return;
    };
    for (name, provider) in providers() {
        for (cipher, mac) in algorithms() {
            let layout = Layout::of(cipher, mac);
            let Some(mut ends) = exchange(&*provider, &mut asyncssh, cipher, mac, 1) else {
                continue;
            };
            // The wrap is in the second half, so the sequence number goes on over the rekey.
            let mut sequence = u32::MAX - 9;
            for (i, len) in LENGTHS.into_iter().enumerate() {
                if i == LENGTHS.len() / 2 {
                    ends = exchange(&*provider, &mut asyncssh, cipher, mac, 2).expect("as before");
                }
                let what = format!("{name} {cipher} {mac:?}, {len} bytes");
                let payload: Vec<_> = (0..len).map(|i| (i * 11 + len) as u8).collect();
                let framed = layout.frame(&payload);
                let clear = &framed[..framed.len() - layout.tag_len()];

                let mut ours = framed.clone();
                ends.sealer.seal(sequence, &mut ours).expect(&what);
                let opened = asyncssh.open("opener", sequence, &ours);
                assert_eq!(opened.as_deref(), Some(clear), "asyncssh opens: {what}");

                let mut theirs = asyncssh.seal("sealer", sequence, clear);
                let head = &theirs[..layout.head_len()];
                let length = ends.opener.packet_length(sequence, head).expect(&what);
                assert_eq!(length as usize + LENGTH_FIELD, clear.len(), "{what}");
                assert_eq!(ends.opener.open(sequence, &mut theirs), Ok(()), "{what}");
                assert_eq!(&theirs[..clear.len()], clear, "we open: {what}");
                sequence = sequence.wrapping_add(1);
            }
            assert!(sequence < 10, "the sequence number has wrapped");
        }
    }
}

#[test]
fn asyncssh_counts_gcm_packets_as_we_do() {
    let Some(mut asyncssh) = Asyncssh::start() else {
        return;
    };
    for (name, provider) in providers() {
        for cipher in [Cipher::Aes128Gcm, Cipher::Aes256Gcm] {
            for first in [u64::from(u32::MAX), u64::MAX] {
                let mut keys = keys(cipher, None, 3);
                keys.iv[4..].copy_from_slice(&first.to_be_bytes());
                let sealer = provider.packet_cipher(cipher, None, &keys, Direction::Seal);
                let Ok(mut sealer) = sealer else { continue };
                asyncssh.key("opener", cipher, None, &keys);
                for i in 0..3 {
                    let mut packet = Layout::of(cipher, None).frame(b"counted");
                    let clear = packet[..packet.len() - sealer.tag_len()].to_vec();
                    assert_eq!(sealer.seal(i, &mut packet), Ok(()));
                    let opened = asyncssh.open("opener", i, &packet);
                    assert_eq!(opened, Some(clear), "{name} {cipher} {first:#x} + {i}");
                }
            }
        }
    }
}

#[test]
fn asyncssh_refuses_what_we_would_refuse() {
    let Some(mut asyncssh) = Asyncssh::start() else {
        return;
    };
    for (cipher, mac) in algorithms() {
        let layout = Layout::of(cipher, mac);
        let known = known_answer(cipher, mac).expect("a known answer");
        let (sequence, clear) = &known.packets[1];
        asyncssh.key("sealer", cipher, mac, &known.keys);
        let sealed = asyncssh.seal(
            "sealer",
            *sequence,
            &clear[..clear.len() - layout.tag_len()],
        );
        for damaged in [LENGTH_FIELD + 20, sealed.len() - 1] {
            asyncssh.key("opener", cipher, mac, &known.keys);
            let mut packet = sealed.clone();
            packet[damaged] ^= 1;
            let opened = asyncssh.open("opener", *sequence, &packet);
            assert_eq!(opened, None, "{cipher} {mac:?}, byte {damaged}");
        }
    }
}

#[test]
fn asyncssh_gives_the_known_answers() {
    let Some(mut asyncssh) = Asyncssh::start() else {
        return;
    };
    for (cipher, mac) in algorithms() {
        let tag = Layout::of(cipher, mac).tag_len();
        let known = known_answer(cipher, mac).expect("a known answer");
        asyncssh.key("sealer", cipher, mac, &known.keys);
        let mut digest = Sha256::new();
        for (sequence, clear) in &known.packets {
            digest.update(asyncssh.seal("sealer", *sequence, &clear[..clear.len() - tag]));
        }
        assert_eq!(digest.finalize()[..], known.digest, "{cipher} {mac:?}");
    }
}
