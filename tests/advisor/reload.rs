//! A real `sshd` on this machine that takes up a new list, or keeps the old one.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use advisor::apply::{self, ApplyError, ApplyRequest, Scope};
use advisor::examination::Perspective;
use advisor::files::{Files, SystemFiles};
use advisor::plan::{Edit, Plan, Target};
use advisor::reload::{
    Probe, Reload, ReloadError, ReloadRequest, Reloaded, Service, ServiceRequest, TcpProbe, find,
};
use advisor::resolver::Side;
use advisor::startup::Running;
use engine::host::SystemCommands;
use engine::report::{OpenSsh, Program};

use crate::installed::{Installed, uid};
use crate::listener::Listener;
use crate::report::{CHACHA20, GCM128, owned};
use crate::support::{program, skip_here};

const OLD: [&str; 3] = [CHACHA20, "aes128-ctr", GCM128];
const NEW: [&str; 2] = [GCM128, "aes128-ctr"];

/// What a reload came to.
type Came = Result<Reloaded, ReloadError>;

/// A daemon of our own, somebody who may log in, and a place for the journal.
struct Stage {
    installed: Installed,
    listener: Listener,
    folder: tempfile::TempDir,
    files: SystemFiles,
    perspective: Perspective,
    text: String,
    /// Connections that copy all the time keep a small machine busy: one such stage at a time.
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::new(());

impl Stage {
    fn new() -> Option<Self> {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let installed = Installed::find()?;
        if uid() == 0 && !Path::new("/run/sshd").is_dir() {
            skip_here("sshd -t wants /run/sshd, which is not there");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("id");
        let keygen = program("ssh-keygen", "openssh-client")?;
        let made = Command::new(keygen)
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(&key)
            .status();
        assert!(made.unwrap().success());
        let text = format!(
            "# ours\nCiphers {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPermitUserRC no\n",
            OLD.join(","),
            key.with_extension("pub").display()
        );
        let listener = Listener::start(&text, &[])?;
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap().trim().to_owned();
        let perspective = Perspective {
            server: Target::System(listener.config()),
            ..Perspective::of_user(user, uid(), folder.path().into())
        };
        Some(Self {
            installed,
            listener,
            folder,
            files: SystemFiles::new(Path::new("/")).unwrap(),
            perspective,
            text,
            _alone: alone,
        })
    }

    fn running(&self) -> Running {
        self.perspective.running_daemon(&self.files).unwrap()
    }

    fn new_text(&self) -> String {
        self.text.replace(&OLD.join(","), &NEW.join(","))
    }

    fn plan(&self, text: &str) -> Plan {
        let path = self.listener.config();
        Plan {
            side: Side::Server,
            edits: vec![Edit {
                before: Some(self.files.read(&path).unwrap()),
                path,
                after: text.into(),
            }],
            order: owned(&NEW),
            strategy: String::new(),
        }
    }

    /// Writes a text and reloads, through a service that `around` may put something around.
    fn apply(
        &self,
        text: &str,
        validated: bool,
        around: &dyn Fn(Box<dyn Service + '_>) -> Came,
    ) -> Came {
        let validator = self
            .perspective
            .validator(&self.files, &SystemCommands, &self.programs());
        let plans = [self.plan(text)];
        let state = self.folder.path().join("state");
        let cancelled = AtomicBool::new(false);
        let validate = || match validated {
            true => validator.require(&plans),
            false => Ok(()),
        };
        apply::apply(&plans, &self.request(&state, &cancelled, &validate)).unwrap();
        let running = self.running();
        let service = find(ServiceRequest {
            files: &self.files,
            commands: &SystemCommands,
            program: "sshd",
            is_usual: false,
            running: Some(&running),
        });
        around(service.unwrap())
    }

    fn request<'a>(
        &'a self,
        state: &'a Path,
        cancelled: &'a AtomicBool,
        validate: &'a dyn Fn() -> Result<(), ApplyError>,
    ) -> ApplyRequest<'a> {
        ApplyRequest {
            files: &self.files,
            state,
            scope: Scope::System,
            now: std::time::SystemTime::now(),
            cancelled,
            validate,
            verify: &|| Ok(()),
        }
    }

    fn put_back(&self) -> Result<(), ApplyError> {
        let state = self.folder.path().join("state");
        let never = AtomicBool::new(false);
        let request = self.request(&state, &never, &|| Ok(()));
        apply::rollback(None, false, &request).map(drop)
    }

    /// The reload itself. It is prepared on the old text, which is what is on the disk before a change.
    fn carry_out(&self, service: &dyn Service) -> Came {
        let file = self.listener.config();
        let running = self.running();
        let now = fs::read(&file).unwrap();
        fs::write(&file, &self.text).unwrap();
        let request = ReloadRequest {
            commands: &SystemCommands,
            probe: &TcpProbe,
            pause: &thread::sleep,
            sshd: &self.installed.sshd.path,
            file: &file,
            running: Some(&running),
        };
        let reload = Reload::prepare(request, service);
        fs::write(&file, now).unwrap();
        reload?.carry_out(&owned(&NEW), &owned(&OLD), Some(&|| self.put_back()))
    }

    fn programs(&self) -> OpenSsh {
        let program = |it: &apply::Program| {
            Some(Program {
                path: it.path.display().to_string(),
                version: format!("OpenSSH_{}.{}p1", it.release.major, it.release.minor),
                ..Program::default()
            })
        };
        OpenSsh {
            client: program(&self.installed.ssh),
            server: program(&self.installed.sshd),
            ..OpenSsh::default()
        }
    }

    fn offered(&self) -> Result<Vec<String>, String> {
        TcpProbe.ciphers(([127, 0, 0, 1], self.listener.port()).into())
    }

    /// `ssh` to the daemon, with nothing of this user's.
    fn ssh(&self, more: &[&str]) -> Command {
        let mut command = Command::new(&self.installed.ssh.path);
        command
            .args([
                "-F",
                "none",
                "-o",
                "BatchMode=yes",
                "-o",
                "IdentitiesOnly=yes",
            ])
            .args(["-o", "IdentityAgent=none", "-o", "StrictHostKeyChecking=no"])
            .args([
                "-o",
                "UserKnownHostsFile=/dev/null",
                "-o",
                "GlobalKnownHostsFile=/dev/null",
            ])
            .arg("-o")
            .arg(format!("Ciphers={CHACHA20},{GCM128},aes128-ctr"))
            .arg("-i")
            .arg(self.folder.path().join("id"))
            .args(["-p", &self.listener.port().to_string()])
            .arg("-l")
            .arg(&self.perspective.user)
            .args(more);
        command
    }

    /// What a new connection comes to use.
    fn negotiated(&self) -> String {
        let ran = self.ssh(&["-v", "127.0.0.1", "true"]).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{said}");
        let (_, rest) = said.split_once("kex: server->client cipher: ").unwrap();
        rest.split(' ').next().unwrap().to_owned()
    }
}

impl Drop for Stage {
    /// One that was started anew is nobody's child.
    fn drop(&mut self) {
        while let Some(running) = self.perspective.running_daemon(&self.files) {
            let ended = Command::new("kill")
                .args(["-KILL", &running.id.to_string()])
                .status();
            if running.id == self.listener.id() || !ended.is_ok_and(|it| it.success()) {
                return;
            }
        }
    }
}

/// A connection that keeps sending blocks and compares what comes back.
struct Copying {
    child: Child,
    stop: Arc<AtomicBool>,
    blocks: Arc<AtomicUsize>,
    copier: thread::JoinHandle<()>,
}

impl Copying {
    fn start(stage: &Stage) -> Self {
        let mut child = stage
            .ssh(&["-q", "127.0.0.1", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        let (stop, blocks) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicUsize::new(0)),
        );
        let (told, count) = (Arc::clone(&stop), Arc::clone(&blocks));
        let copier = thread::spawn(move || copy(to, from, &told, &count));
        let copying = Self {
            child,
            stop,
            blocks,
            copier,
        };
        copying.goes_on();
        copying
    }

    /// Waits for more blocks than there are now.
    fn goes_on(&self) {
        let now = self.blocks.load(Ordering::SeqCst);
        while self.blocks.load(Ordering::SeqCst) < now + 10 {
            assert!(!self.copier.is_finished(), "the open connection broke");
            thread::yield_now();
        }
    }

    fn end(mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.copier.join().unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

fn copy(
    mut to: ChildStdin,
    mut from: BufReader<ChildStdout>,
    stop: &AtomicBool,
    blocks: &AtomicUsize,
) {
    let mut back = vec![0; 8192];
    for number in 0_u64.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let block: Vec<u8> = number.to_le_bytes().repeat(back.len() / 8);
        to.write_all(&block).unwrap();
        to.flush().unwrap();
        from.read_exact(&mut back).unwrap();
        assert_eq!(back, block);
        blocks.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn new_connections_get_the_new_list_while_an_open_one_goes_on() {
    let Some(stage) = Stage::new() else { return };
    let copying = Copying::start(&stage);
    assert_eq!(stage.negotiated(), CHACHA20);
    assert_eq!(stage.offered().unwrap(), owned(&OLD));
    let reloaded = stage.apply(&stage.new_text(), true, &|service| {
        stage.carry_out(&*service)
    });
    let reloaded = reloaded.unwrap();
    assert!(reloaded.was_needed);
    assert_eq!(reloaded.address.port(), stage.listener.port());
    assert_eq!(stage.offered().unwrap(), owned(&NEW));
    assert_eq!(stage.negotiated(), GCM128);
    assert_eq!(stage.running().id, stage.listener.id(), "the same process");
    copying.goes_on();
    copying.end();
}

#[test]
fn a_refused_candidate_is_never_reloaded_and_the_daemon_answers_as_before() {
    let Some(stage) = Stage::new() else { return };
    let copying = Copying::start(&stage);
    let bad = stage.text.replace(&OLD.join(","), "aes128-gcm");
    let error = stage
        .apply(&bad, false, &|service| stage.carry_out(&*service))
        .unwrap_err();
    assert!(matches!(error, ReloadError::TakenBack(..)), "{error}");
    let told = error.to_string();
    assert!(
        told.contains("sshd refuses the new configuration")
            && told.contains("Bad SSH2 cipher spec"),
        "{told}"
    );
    assert_eq!(
        fs::read_to_string(stage.listener.config()).unwrap(),
        stage.text
    );
    assert_eq!(stage.offered().unwrap(), owned(&OLD));
    assert_eq!(stage.running().id, stage.listener.id());
    copying.goes_on();
    copying.end();
}

/// A daemon whose file somebody spoils at the worst moment: behind the check, and before the signal.
struct Spoilt<'a> {
    inner: Box<dyn Service + 'a>,
    file: PathBuf,
    good: String,
}

impl Service for Spoilt<'_> {
    fn name(&self) -> String {
        self.inner.name()
    }
    fn reload(&self) -> Result<(), String> {
        let candidate = fs::read_to_string(&self.file).unwrap();
        fs::write(&self.file, "Nonsense yes\n").unwrap();
        let reloaded = self.inner.reload();
        while self.inner.is_alive() {
            thread::yield_now();
        }
        fs::write(&self.file, candidate).unwrap();
        reloaded
    }
    fn is_alive(&self) -> bool {
        self.inner.is_alive()
    }
    fn start(&self) -> Result<(), String> {
        assert_eq!(
            fs::read_to_string(&self.file).unwrap(),
            self.good,
            "the old file is back first"
        );
        self.inner.start()
    }
    fn rescue(&self) -> String {
        self.inner.rescue()
    }
}

#[test]
fn a_daemon_that_a_reload_ended_is_started_with_the_old_files() {
    let Some(stage) = Stage::new() else { return };
    let copying = Copying::start(&stage);
    let error = stage.apply(&stage.new_text(), true, &|inner| {
        stage.carry_out(&Spoilt {
            inner,
            file: stage.listener.config(),
            good: stage.text.clone(),
        })
    });
    let error = error.unwrap_err();
    assert!(matches!(error, ReloadError::TakenBack(..)), "{error}");
    assert_eq!(stage.offered().unwrap(), owned(&OLD));
    assert_eq!(stage.negotiated(), CHACHA20);
    assert_ne!(stage.running().id, stage.listener.id(), "another process");
    copying.goes_on();
    copying.end();
}

#[test]
fn what_would_end_the_daemon_already_is_told_before_anything_is_written() {
    let Some(stage) = Stage::new() else { return };
    let running = stage.running();
    let service = find(ServiceRequest {
        files: &stage.files,
        commands: &SystemCommands,
        program: "sshd",
        is_usual: false,
        running: Some(&running),
    })
    .unwrap();
    fs::write(stage.listener.config(), "Nonsense yes\n").unwrap();
    let file = stage.listener.config();
    let prepared = Reload::prepare(
        ReloadRequest {
            commands: &SystemCommands,
            probe: &TcpProbe,
            pause: &thread::sleep,
            sshd: &stage.installed.sshd.path,
            file: &file,
            running: Some(&running),
        },
        &*service,
    );
    let error = prepared.err().unwrap();
    assert!(matches!(error, ReloadError::RefusedBefore(_)), "{error}");
    assert!(
        error.to_string().ends_with("; nothing was changed"),
        "{error}"
    );
    assert_eq!(
        stage.offered().unwrap(),
        owned(&OLD),
        "it goes on with what it has read"
    );
}

#[test]
fn the_command_does_all_of_it() {
    if uid() != 0 {
        return skip_here("an ordinary user's server is not this command's to write");
    }
    if !crate::special::with_own_mounts("reload::the_command_does_all_of_it") {
        return;
    }
    let Some(stage) = Stage::new() else { return };
    // The machine's journal is not for a test.
    let state = Path::new("/var/lib/cipher-advisor");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "tmpfs", "/var/lib"])
        .status();
    assert!(mounted.unwrap().success());
    let saved = stage.folder.path().join("saved.json");
    let document = advisor::output::Document::new(crate::report::fast_aes());
    fs::write(&saved, advisor::output::json(&document)).unwrap();
    let policy = stage.folder.path().join("policy.toml");
    fs::write(&policy, "restrict = true\n").unwrap();
    let run = |more: &[&str]| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("advisor"));
        command.arg("--sshd-config").arg(stage.listener.config());
        command
            .arg("--measurements")
            .arg(&saved)
            .arg("--policy")
            .arg(&policy);
        command
            .arg("--sshd")
            .arg(&stage.installed.sshd.path)
            .arg("--ssh")
            .arg(&stage.installed.ssh.path);
        let ran = command.args(more).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (ran.status.code(), text(ran.stdout), text(ran.stderr))
    };
    let (code, out, err) = run(&["--apply", "--reload", "--side", "server"]);
    assert_eq!(code, Some(0), "{err}");
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        out.contains("was reloaded, and offers this list to new connections at 127.0.0.1:"),
        "{out}"
    );
    assert_eq!(stage.offered().unwrap(), owned(&NEW));
    assert!(state.join("journal").is_dir());
    let (code, out, err) = run(&["--apply", "--reload", "--side", "server"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.contains("offers this list already at 127.0.0.1:"),
        "{out}"
    );
    fs::write(&policy, "").unwrap();
    let (code, _, err) = run(&["--apply", "--reload"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(
        err.contains("--reload is about sshd: give --side server"),
        "{err}"
    );
}
