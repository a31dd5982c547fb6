//! Validation where a program or a helper is missing, or is of another release.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::Command;

use advisor::apply::{self, ApplyError, ApplyRequest, Validator, Verdict};
use advisor::layout::Layout;
use advisor::resolver::Side;
use engine::host::{CommandFailure, CommandOutput, CommandRequest, Commands, SystemCommands};
use engine::installed::releases::Release;

use crate::host::{CLIENT, Host, SERVER};
use crate::installed::{Installed, ORDER, WithoutHelpers, both, one, refused, uid};

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
