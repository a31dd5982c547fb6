//! The installed `ssh` and `sshd` as judges of a candidate, and as witnesses of what was written.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use advisor::apply::{self, ApplyError, ApplyRequest, Program, Validator, Verdict};
use advisor::layout::Layout;
use advisor::plan::Plan;
use advisor::resolver::{ClientRequest, ServerRequest, Side, resolve_client, resolve_server};
use engine::host::{CommandFailure, CommandOutput, CommandRequest, Commands, SystemCommands};
use engine::installed::releases::Release;

use crate::host::{CLIENT, Host, SERVER};
use crate::support::program;

const ORDER: &str = "aes256-gcm@openssh.com,aes128-ctr,chacha20-poly1305@openssh.com";
const CLIENT_DROP_IN: &str = "/etc/ssh/ssh_config.d/00-cipher-advisor.conf";
const SERVER_DROP_IN: &str = "/etc/ssh/sshd_config.d/00-cipher-advisor.conf";
const USER_FILE: &str = "/home/me/.ssh/config";

/// The installed programs.
struct Installed {
    ssh: Program,
    sshd: Program,
}

impl Installed {
    fn find() -> Option<Self> {
        let ssh = program("ssh", "openssh-client")?;
        let sshd = program("sshd", "openssh-server")?;
        let release = release(&ssh);
        Some(Self {
            ssh: Program { path: ssh, release },
            sshd: Program {
                path: sshd,
                release,
            },
        })
    }

    fn validator<'a>(&self, host: &'a Host, commands: &'a dyn Commands) -> Validator<'a> {
        Validator {
            files: &host.files,
            commands,
            ssh: Some(self.ssh.clone()),
            sshd: Some(self.sshd.clone()),
            user_file: None,
            system_file: Some(CLIENT.into()),
            server_file: SERVER.into(),
            layout: Layout::unix(),
            home: "/home/me".into(),
            uid: uid(),
        }
    }
}

fn release(ssh: &Path) -> Release {
    let told = Command::new(ssh).arg("-V").output().unwrap();
    String::from_utf8(told.stderr).unwrap().parse().unwrap()
}

fn uid() -> u32 {
    fs::metadata("/proc/self").unwrap().uid()
}

fn line(order: &str) -> String {
    format!("Ciphers {order}\n")
}

fn both(host: &Host) -> [Plan; 2] {
    [
        host.plan(Side::Client, ORDER, &[(CLIENT_DROP_IN, &line(ORDER))]),
        host.plan(Side::Server, ORDER, &[(SERVER_DROP_IN, &line(ORDER))]),
    ]
}

fn one(host: &Host, side: Side, path: &str, text: &str) -> Plan {
    host.plan(side, ORDER, &[(path, text)])
}

/// What the programs themselves make of a tree, asked in another way than the advisor's: on a copy in which
/// every `/etc/ssh/` is the copy's.
fn oracle(installed: &Installed, host: &Host, side: Side) -> Vec<String> {
    let place = tempfile::tempdir_in("/tmp").unwrap();
    let copied = place.path().join("etc/ssh");
    fs::create_dir_all(&copied).unwrap();
    let status = Command::new("cp")
        .arg("-rL")
        .arg(host.real("/etc/ssh/."))
        .arg(&copied)
        .status()
        .unwrap();
    assert!(status.success());
    let redirect = format!(
        "grep -rl . {0} | xargs sed -i 's#/etc/ssh/#{0}/#g'",
        copied.display()
    );
    assert!(
        Command::new("sh")
            .arg("-c")
            .arg(redirect)
            .status()
            .unwrap()
            .success()
    );
    let output = match side {
        Side::Client => Command::new(&installed.ssh.path)
            .arg("-F")
            .arg(copied.join("ssh_config"))
            .args(["-G", "some.host"])
            .output()
            .unwrap(),
        Side::Server => sshd(installed, place.path(), &copied.join("sshd_config")),
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| {
        line.to_ascii_lowercase()
            .strip_prefix("ciphers ")
            .map(str::to_owned)
    });
    line.unwrap().split(',').map(str::to_owned).collect()
}

fn sshd(installed: &Installed, place: &Path, file: &Path) -> Output {
    let key = place.join("key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ecdsa", "-N", "", "-f"])
        .arg(&key)
        .status()
        .unwrap();
    assert!(made.success());
    let mut command = Command::new("sh");
    command.arg("-c");
    if uid() == 0 {
        assert!(
            Command::new("chown")
                .arg("-R")
                .arg("65534:65534")
                .arg(place)
                .status()
                .unwrap()
                .success()
        );
        command.arg("exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\" \"$@\"");
    } else {
        command.arg("exec \"$0\" \"$@\"");
    }
    command
        .arg(&installed.sshd.path)
        .arg("-T")
        .arg("-f")
        .arg(file)
        .arg("-h")
        .arg(&key);
    command.output().unwrap()
}

fn refused(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Refused(message) => message,
        other => panic!("not refused: {other:?}"),
    }
}

/// Does what a request is for, with the real programs as judges.
fn apply_with(
    installed: &Installed,
    host: &Host,
    plans: &[Plan],
) -> Result<apply::Applied, ApplyError> {
    let validator = installed.validator(host, &SystemCommands);
    let verify = || {
        for plan in plans {
            let found = resolved(installed, host, plan.side);
            if found != plan.order {
                return Err(format!("the {} resolves to {}", plan.side, found.join(",")));
            }
        }
        Ok(())
    };
    let request = ApplyRequest {
        validate: &|| validator.require(plans),
        verify: &verify,
        ..host.request(&host.files)
    };
    apply::apply(plans, &request)
}

/// The list by our own rules.
fn resolved(installed: &Installed, host: &Host, side: Side) -> Vec<String> {
    let release = installed.ssh.release;
    let request = ClientRequest {
        uid: uid(),
        ..ClientRequest::new(release)
    };
    let effective = match side {
        Side::Client => resolve_client(&host.files, &request),
        Side::Server => resolve_server(&host.files, &ServerRequest::new(release)),
    };
    effective.ciphers
}

#[test]
fn drop_ins_are_accepted_written_used_and_taken_back() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    let old = host.snapshot("/etc");
    apply_with(&installed, &host, &both(&host)).unwrap();
    let order: Vec<_> = ORDER.split(',').collect();
    assert_eq!(oracle(&installed, &host, Side::Client), order);
    assert_eq!(oracle(&installed, &host, Side::Server), order);

    let new = (
        host.snapshot("/"),
        host.inode(SERVER_DROP_IN),
        host.inode(CLIENT_DROP_IN),
        host.inode(SERVER),
    );
    let again = apply_with(&installed, &host, &both(&host)).unwrap();
    assert_eq!(again.id, None);
    let now = (
        host.snapshot("/"),
        host.inode(SERVER_DROP_IN),
        host.inode(CLIENT_DROP_IN),
        host.inode(SERVER),
    );
    assert_eq!(now, new, "a second apply changes nothing");

    apply::rollback(None, false, &host.request(&host.files)).unwrap();
    assert_eq!(host.snapshot("/etc"), old);
}

#[test]
fn edits_in_place_are_accepted_and_used() {
    let Some(installed) = Installed::find() else {
        return;
    };
    for ending in ["\n", "\r\n"] {
        let host = Host::debian();
        let with = |path: &str| format!("{}{}", line(ORDER), host.text(path)).replace('\n', ending);
        let plans = [
            one(&host, Side::Client, CLIENT, &with(CLIENT)),
            one(&host, Side::Server, SERVER, &with(SERVER)),
        ];
        apply_with(&installed, &host, &plans).unwrap();
        let order: Vec<_> = ORDER.split(',').collect();
        assert_eq!(oracle(&installed, &host, Side::Client), order);
        assert_eq!(oracle(&installed, &host, Side::Server), order);
    }
}

#[test]
fn a_refused_candidate_leaves_the_tree_untouched() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    let old = host.snapshot("/etc");
    let bad = "# a comment\nCiphers aes128-gcm\n";
    for (side, path, program) in [
        (Side::Client, CLIENT_DROP_IN, "ssh"),
        (Side::Server, SERVER_DROP_IN, "sshd"),
    ] {
        let error = apply_with(&installed, &host, &[one(&host, side, path, bad)]).unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, ApplyError::Refused(_)), "{message}");
        assert_eq!(error.exit_code(), 2);
        let expected = format!(
            "{path}:2: Bad SSH2 cipher spec 'aes128-gcm' ({program} refuses it); name only ciphers that ssh -Q cipher lists; nothing was changed"
        );
        assert_eq!(message, expected);
        assert!(!message.contains("/tmp/"), "{message}");
        assert_eq!(host.snapshot("/etc"), old);
    }
}

#[test]
fn a_drop_in_that_cannot_win_is_refused_for_its_list() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    host.put("/etc/ssh/ssh_config.d/00-a.conf", "Ciphers aes128-ctr\n");
    host.put("/etc/ssh/sshd_config.d/00-a.conf", "Ciphers aes128-ctr\n");
    let validator = installed.validator(&host, &SystemCommands);
    for plan in both(&host) {
        let verdict = validator.validate(&plan);
        let message = refused(&verdict);
        assert!(
            message.contains("would use aes128-ctr instead of the planned aes256-gcm"),
            "{message}"
        );
    }
}

#[test]
fn a_tree_that_was_refused_already_stays_refused() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    host.put("/etc/ssh/ssh_config.d/zz.conf", "NoSuchOption yes\n");
    host.put("/etc/ssh/sshd_config.d/zz.conf", "\n\nNoSuchOption yes\n");
    let validator = installed.validator(&host, &SystemCommands);
    let [client, server] = both(&host).map(|plan| validator.validate(&plan));
    let message = refused(&client);
    assert!(
        message.starts_with("/etc/ssh/ssh_config.d/zz.conf:1: Bad configuration option"),
        "{message}"
    );
    let message = refused(&server);
    assert!(
        message.starts_with("/etc/ssh/sshd_config.d/zz.conf:3: Bad configuration option"),
        "{message}"
    );
}

#[test]
fn nothing_outside_the_root_is_read() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let outside = tempfile::tempdir().unwrap();
    let theirs = outside.path().join("theirs.conf");
    fs::write(&theirs, "Ciphers 3des-cbc\n").unwrap();
    let host = Host::debian();
    for main in [CLIENT, SERVER] {
        let text = format!(
            "Include {0} /../..{0}\n{1}",
            theirs.display(),
            host.text(main)
        );
        host.put(main, text);
    }
    symlink(&theirs, host.real("/etc/ssh/ssh_config.d/00-0.conf")).unwrap();
    symlink(&theirs, host.real("/etc/ssh/sshd_config.d/00-0.conf")).unwrap();
    let validator = installed.validator(&host, &SystemCommands);
    for plan in both(&host) {
        assert_eq!(validator.validate(&plan), Verdict::Accepted);
    }
}

#[test]
fn includes_are_followed_wherever_they_lead() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    host.put(
        "/srv/one/a b.conf",
        format!("Include \"/srv/two/*.conf\" deep.conf\n{}", line(ORDER)),
    );
    host.put("/srv/two/x.conf", "Compression yes\n");
    host.put("/etc/ssh/deep.conf", "# nothing\n");
    symlink("/srv", host.real("/etc/link")).unwrap();
    for main in [CLIENT, SERVER] {
        let text = format!(
            "Include \"/etc/link/one/a b.conf\" /etc/none/*.conf # comment\n{}",
            host.text(main)
        );
        host.put(main, text);
    }
    let validator = installed.validator(&host, &SystemCommands);
    for (side, other) in [
        (Side::Client, "Compression no\n"),
        (Side::Server, "Compression no\n"),
    ] {
        let plan = one(&host, side, "/srv/two/x.conf", other);
        assert_eq!(validator.validate(&plan), Verdict::Accepted);
        let plan = one(&host, side, "/srv/two/new.conf", "Ciphers aes128-ctr\n");
        assert!(refused(&validator.validate(&plan)).contains("would use aes128-ctr"));
        let plan = one(&host, side, "/etc/ssh/deep.conf", "Ciphers nonsense\n");
        assert!(refused(&validator.validate(&plan)).contains("/etc/ssh/deep.conf"));
    }
}

#[test]
fn commands_of_match_exec_never_run_and_both_answers_count() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    let traces = tempfile::tempdir().unwrap();
    let trace = traces.path().join("trace");
    let block = |extra: &str| {
        format!(
            "Match host *.example,web exec \"touch {0} \" !exec=\"touch {0}\"\n    {extra}\nMatch all\n",
            trace.display()
        )
    };
    let validator = installed.validator(&host, &SystemCommands);
    for (inside, accepted) in [("Compression yes", true), ("Ciphers aes128-ctr", true)] {
        host.put(
            CLIENT,
            format!("{}Host *\n    HashKnownHosts yes\n", block(inside)),
        );
        let plan = one(
            &host,
            Side::Client,
            CLIENT,
            &format!("{}{}", line(ORDER), host.text(CLIENT)),
        );
        assert_eq!(
            validator.validate(&plan) == Verdict::Accepted,
            accepted,
            "{inside}"
        );
    }
    // A list that hangs on a command in front of ours: one of the two answers gives another list.
    for command in ["exec", "!exec"] {
        let text = format!(
            "Match {command} \"touch {}\"\n    Ciphers aes128-ctr\nMatch all\n{}",
            trace.display(),
            line(ORDER)
        );
        let plan = one(&host, Side::Client, CLIENT, &text);
        assert!(refused(&validator.validate(&plan)).contains("ssh would use aes128-ctr"));
    }
    assert!(!trace.exists(), "no command was run");
}

#[test]
fn hosts_with_lists_of_their_own_keep_them() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    host.put(
        CLIENT,
        "Host old.example *.lab\n    Ciphers aes128-ctr\nHost *\n    HashKnownHosts yes\n",
    );
    let validator = installed.validator(&host, &SystemCommands);
    let after = format!(
        "{}Host *\n    {}",
        host.text(CLIENT)
            .replace("Host *\n", "Host *\n    Compression no\n"),
        line(ORDER)
    );
    assert_eq!(
        validator.validate(&one(&host, Side::Client, CLIENT, &after)),
        Verdict::Accepted
    );
    let moved = after.replace("aes128-ctr\nHost *", "aes192-ctr\nHost *");
    let verdict = validator.validate(&one(&host, Side::Client, CLIENT, &moved));
    assert!(
        refused(&verdict).starts_with("ssh old.example would use aes192-ctr"),
        "{verdict:?}"
    );
}

#[test]
fn a_users_file_is_judged_together_with_the_systems() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    host.put("/home/me/.ssh/more.conf", "Compression yes\n");
    host.put("/home/me/extra.conf", "# nothing\n");
    host.put(
        USER_FILE,
        "Include more.conf ~/extra.conf\nHost *\n    Compression no\n",
    );
    let mut validator = installed.validator(&host, &SystemCommands);
    validator.user_file = Some(USER_FILE.into());
    let user = |text: &str| one(&host, Side::Client, USER_FILE, text);
    let with_list = format!("{}{}", host.text(USER_FILE), line(ORDER));
    assert_eq!(validator.validate(&user(&with_list)), Verdict::Accepted);
    let plan = one(&host, Side::Client, "/home/me/.ssh/more.conf", &line(ORDER));
    assert_eq!(validator.validate(&plan), Verdict::Accepted);
    let plan = one(
        &host,
        Side::Client,
        "/home/me/extra.conf",
        "Ciphers aes128-ctr\n",
    );
    assert!(refused(&validator.validate(&plan)).contains("would use aes128-ctr"));

    host.put(CLIENT, "Nonsense yes\n");
    let verdict = validator.validate(&user(&with_list));
    assert!(
        refused(&verdict).contains("/etc/ssh/ssh_config:1: Bad configuration option"),
        "{verdict:?}"
    );
    // Without a file of his own the system's counts alone.
    host.put(CLIENT, line(ORDER));
    fs::remove_file(host.real(USER_FILE)).unwrap();
    let plan = one(&host, Side::Client, USER_FILE, "Compression yes\n");
    assert_eq!(validator.validate(&plan), Verdict::Accepted);
}

#[test]
fn the_systems_file_may_not_name_a_home() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    host.put(CLIENT, format!("Include ~/x.conf\n{}", host.text(CLIENT)));
    let [plan, _] = both(&host);
    let verdict = installed.validator(&host, &SystemCommands).validate(&plan);
    assert!(
        refused(&verdict).contains("bad include path ~/x.conf"),
        "{verdict:?}"
    );
    let verdict = installed
        .validator(&host, &WithoutHelpers::default())
        .validate(&plan);
    assert!(
        refused(&verdict).contains("/etc/ssh/ssh_config:1: bad include path ~/x.conf"),
        "{verdict:?}"
    );
}

#[test]
fn files_others_may_write_to_are_refused_as_ssh_does() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    host.put("/etc/ssh/ssh_config.d/50-open.conf", "Compression yes\n");
    host.chmod("/etc/ssh/ssh_config.d/50-open.conf", 0o666);
    let [plan, _] = both(&host);
    let verdict = installed.validator(&host, &SystemCommands).validate(&plan);
    assert!(
        refused(&verdict)
            .starts_with("/etc/ssh/ssh_config.d/50-open.conf: Bad owner or permissions"),
        "{verdict:?}"
    );
    host.chmod("/etc/ssh/ssh_config.d/50-open.conf", 0o644);
    if host.chown("/etc/ssh/ssh_config.d/50-open.conf", 4242, 0) {
        let verdict = installed.validator(&host, &SystemCommands).validate(&plan);
        assert!(
            refused(&verdict)
                .starts_with("/etc/ssh/ssh_config.d/50-open.conf: Bad owner or permissions"),
            "{verdict:?}"
        );
    }
}

#[test]
fn absent_programs_cannot_judge() {
    let host = Host::debian();
    let validator = Validator {
        files: &host.files,
        commands: &SystemCommands,
        ssh: None,
        sshd: None,
        user_file: None,
        system_file: Some(CLIENT.into()),
        server_file: SERVER.into(),
        layout: Layout::unix(),
        home: "/root".into(),
        uid: uid(),
    };
    for (plan, package) in both(&host).iter().zip(["openssh-client", "openssh-server"]) {
        match validator.validate(plan) {
            Verdict::Cannot { help, .. } => assert!(help.contains(package), "{help}"),
            other => panic!("{other:?}"),
        }
        let old = host.snapshot("/etc");
        let plans = std::slice::from_ref(plan);
        let request = ApplyRequest {
            validate: &|| validator.require(plans),
            ..host.request(&host.files)
        };
        let error = apply::apply(plans, &request).unwrap_err();
        assert!(
            matches!(error, ApplyError::CannotValidate { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("--no-validate"), "{error}");
        assert_eq!(host.snapshot("/etc"), old);
    }
}

/// A machine without setpriv and unshare.
#[derive(Default)]
struct WithoutHelpers {
    asked: Mutex<Vec<PathBuf>>,
}

impl Commands for WithoutHelpers {
    fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure> {
        self.asked.lock().unwrap().push(request.program.clone());
        if ["setpriv", "unshare"]
            .iter()
            .any(|helper| request.program == Path::new(helper))
        {
            return Err(CommandFailure::NotStarted {
                program: request.program.display().to_string(),
                cause: std::io::ErrorKind::NotFound.into(),
            });
        }
        SystemCommands.run(request)
    }
}

#[test]
fn without_namespaces_the_copy_and_our_own_rules_judge() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    host.put("/etc/ssh/relative.conf", "Compression yes\n");
    host.put(
        CLIENT,
        format!("Include relative.conf\n{}", host.text(CLIENT)),
    );
    let commands = WithoutHelpers::default();
    let validator = installed.validator(&host, &commands);
    let [plan, _] = both(&host);
    assert_eq!(validator.validate(&plan), Verdict::Accepted);
    let plan = one(
        &host,
        Side::Client,
        "/etc/ssh/relative.conf",
        "Ciphers aes128-ctr\n",
    );
    assert!(refused(&validator.validate(&plan)).contains("would use aes128-ctr"));
    assert!(commands.asked.lock().unwrap().contains(&installed.ssh.path));
}

#[test]
fn a_server_that_cannot_start_here_is_not_a_refusal() {
    let Some(installed) = Installed::find() else {
        return;
    };
    if uid() != 0 || Path::new("/run/sshd").exists() {
        return crate::support::skip_here("only root without /run/sshd meets this");
    }
    let host = Host::debian();
    let [_, plan] = both(&host);
    let commands = WithoutHelpers::default();
    match installed.validator(&host, &commands).validate(&plan) {
        Verdict::Cannot { reason, help } => {
            assert!(
                reason.contains("Missing privilege separation directory: /run/sshd"),
                "{reason}"
            );
            assert!(help.contains("install -d -m 755 /run/sshd"), "{help}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        installed.validator(&host, &SystemCommands).validate(&plan),
        Verdict::Accepted
    );
}

/// A machine with unshare but without setpriv.
struct WithoutSetpriv;

impl Commands for WithoutSetpriv {
    fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure> {
        if request.program == Path::new("setpriv") {
            return WithoutHelpers::default().run(request);
        }
        SystemCommands.run(request)
    }
}

#[test]
fn a_namespace_with_its_own_run_will_do_too() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let allowed = Command::new("unshare").args(["-m", "true"]).status();
    if uid() != 0 || !allowed.is_ok_and(|status| status.success()) {
        return crate::support::skip_here("mount namespaces are not allowed here");
    }
    let host = Host::debian();
    let [_, plan] = both(&host);
    assert_eq!(
        installed.validator(&host, &WithoutSetpriv).validate(&plan),
        Verdict::Accepted
    );
}

/// Answers as an `sshd` of another release would.
struct Answering(fn(&CommandRequest) -> Option<CommandOutput>);

impl Commands for Answering {
    fn run(&self, request: &CommandRequest) -> Result<CommandOutput, CommandFailure> {
        (self.0)(request).map_or_else(|| SystemCommands.run(request), Ok)
    }
}

fn said(code: i32, stdout: &str, stderr: &str) -> Option<CommandOutput> {
    Some(CommandOutput {
        code: Some(code),
        stdout: stdout.into(),
        stderr: stderr.into(),
    })
}

fn has(request: &CommandRequest, argument: &str) -> bool {
    request.args.iter().any(|known| known == argument)
}

#[test]
fn newer_servers_are_asked_with_g_and_print_mixed_case() {
    let Some(mut installed) = Installed::find() else {
        return;
    };
    installed.sshd.release = Release::new(10, 5);
    let host = Host::debian();
    let commands = Answering(|request| {
        let sshd = request.program.ends_with("sshd");
        assert!(!sshd || has(request, "-G") && !has(request, "-t") && !has(request, "-T"));
        if sshd {
            said(0, &format!("Port 22\nCiphers {ORDER}\n"), "")
        } else {
            None
        }
    });
    let [_, plan] = both(&host);
    assert_eq!(
        installed.validator(&host, &commands).validate(&plan),
        Verdict::Accepted
    );
}

#[test]
fn servers_that_want_a_connection_get_one() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    let commands = Answering(|request| {
        if !request.program.ends_with("sshd") {
            return None;
        }
        match (has(request, "-t"), has(request, "-C")) {
            (true, _) => said(0, "", ""),
            (false, false) => said(
                255,
                "",
                "'Match User' in configuration but 'user' not in connection test specification.\r\n",
            ),
            (false, true) => said(0, &format!("port 22\nciphers {ORDER}\n"), ""),
        }
    });
    let [_, plan] = both(&host);
    assert_eq!(
        installed.validator(&host, &commands).validate(&plan),
        Verdict::Accepted
    );
}
