//! The installed `ssh` and `sshd` as judges of a candidate, and as witnesses of what was written.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::symlink;

use advisor::apply::{self, ApplyError, Verdict};
use advisor::resolver::Side;
use engine::host::SystemCommands;

use crate::host::{CLIENT, Host, SERVER};
use crate::installed::{
    CLIENT_DROP_IN, Installed, ORDER, SERVER_DROP_IN, WithoutHelpers, apply_with, both, line, one,
    oracle, refused,
};

const USER_FILE: &str = "/home/me/.ssh/config";

#[test]
fn drop_ins_are_accepted_written_used_and_taken_back() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let host = Host::debian();
    let old = host.snapshot("/etc");
    apply_with(&installed, &host, &both(&host)).unwrap();
    let order: Vec<_> = ORDER.split(',').collect();
    assert_eq!(
        oracle(&installed, &host.real("/etc/ssh"), Side::Client),
        order
    );
    assert_eq!(
        oracle(&installed, &host.real("/etc/ssh"), Side::Server),
        order
    );

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
        assert_eq!(
            oracle(&installed, &host.real("/etc/ssh"), Side::Client),
            order
        );
        assert_eq!(
            oracle(&installed, &host.real("/etc/ssh"), Side::Server),
            order
        );
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

/// Whatever the installed `ssh` makes of the line: it may refuse it, but not run it.
#[test]
fn no_way_to_write_exec_runs_it() {
    let Some(installed) = Installed::find() else {
        return;
    };
    let traces = tempfile::tempdir().unwrap();
    let trace = traces.path().join("trace");
    let command = format!("touch {}", trace.display());
    for line in [
        format!("Match 'exec' '{command}'"),
        format!("Match exec='{command}'"),
        format!("Match \"exec={command}\""),
        format!("Match e\"xe\"c \"{command}\""),
        format!("Match !EXEC=\"{command}\""),
        format!("Match user=root exec \"{command}\""),
        format!("Match user 'a\\'b,*' exec \"{command}\""),
        format!("Match !user \"a\\\"b\" exec \"{command}\""),
        format!("Match tagged \"\" exec \"{command}\""),
        format!("Match !host '' exec \"{command}\""),
    ] {
        let host = Host::debian();
        let text = format!(
            "{line}\n    Compression yes\nMatch all\n{}",
            self::line(ORDER)
        );
        let plan = one(&host, Side::Client, CLIENT, &text);
        let validator = installed.validator(&host, &SystemCommands);
        let verdict = validator.validate(&plan);
        assert!(!trace.exists(), "{line}: {verdict:?}");
    }
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
