//! Where a list comes from when it is in no file of OpenSSH's own: the command line of a running `sshd`, the
//! unit that starts it, the system-wide cryptographic policy; and where each flavour of OpenSSH keeps its files.
#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use advisor::examination::{ExaminationRequest, Perspective, examine};
use advisor::files::{Files, SystemFiles};
use advisor::layout::Layout;
use advisor::output::{SideConfiguration, words};
use advisor::plan::{Plan, PlanRequest, Refusal, plan};
use advisor::policy::{Form, Policy};
use advisor::resolver::{Effective, Location, Side, Source};
use engine::installed::releases::{Release, supported_ciphers};
use engine::report::{OpenSsh, Program, Report};

use crate::question::Tree;

const RHEL8: &str = "OpenSSH_8.0p1";
const MAIN: &str = "etc/ssh/sshd_config";
const POLICY: &str = "/etc/crypto-policies/back-ends/opensshserver.config";
const UNIT: &str = "[Unit]\nDescription=OpenSSH server daemon\n\n[Service]\nType=notify\n\
    EnvironmentFile=-/etc/crypto-policies/back-ends/opensshserver.config\n\
    EnvironmentFile=-/etc/sysconfig/sshd\n\
    ExecStart=/usr/sbin/sshd -D $OPTIONS $CRYPTO_POLICY\nExecReload=/bin/kill -HUP $MAINPID\n";

fn programs(version: &str) -> OpenSsh {
    let program = || {
        Some(Program {
            version: version.to_owned(),
            ..Program::default()
        })
    };
    OpenSsh {
        client: program(),
        server: program(),
        ..OpenSsh::default()
    }
}

fn root() -> Perspective {
    Perspective::of_user("root".to_owned(), 0, "/root".into())
}

fn server(tree: &Tree, version: &str) -> Effective {
    root().resolve(&tree.files(), Side::Server, &programs(version), None)
}

fn try_plan(tree: &Tree, side: Side, version: &str) -> Result<Plan, Refusal> {
    let (perspective, programs, files) = (root(), programs(version), tree.files());
    let effective = perspective.resolve(&files, side, &programs, None);
    let release: Release = version.parse().unwrap();
    let supported = supported_ciphers(release).iter();
    let mut order = effective.ciphers.clone();
    order.rotate_left(1);
    plan(&PlanRequest {
        files: &files,
        effective: &effective,
        target: perspective.target(side).clone(),
        layout: &perspective.layout,
        order: &order,
        form: Form::Auto,
        release,
        supported: &supported.map(ToString::to_string).collect::<Vec<_>>(),
        resolve: &|files: &dyn Files| perspective.resolve(files, side, &programs, None),
    })
}

/// A machine like RHEL 8: the unit hands the policy to sshd.
fn rhel8() -> Tree {
    let tree = Tree::new();
    tree.put(MAIN, "Ciphers aes128-ctr\n");
    tree.put("usr/lib/systemd/system/sshd.service", UNIT);
    tree.put(
        POLICY,
        "CRYPTO_POLICY='-oCiphers=aes256-gcm@openssh.com,aes256-ctr -oMACs=hmac-sha2-256 -oCASignatureAlgorithms=rsa-sha2-256'\n",
    );
    tree.put("etc/sysconfig/sshd", "# comment\nOPTIONS=\"-u0\"\n");
    tree
}

fn process(tree: &Tree, number: u32, name: &str, command_line: &[u8]) {
    tree.put(&format!("proc/{number}/comm"), format!("{name}\n"));
    tree.put(&format!("proc/{number}/cmdline"), command_line);
}

fn seen(number: u32) -> Source {
    let file = format!("/proc/{number}/cmdline");
    Source::CommandLine(Location::whole(Path::new(&file)))
}

#[test]
fn the_unit_hands_the_policy_to_sshd() {
    let answer = server(&rhel8(), RHEL8);
    assert_eq!(answer.ciphers, ["aes256-gcm@openssh.com", "aes256-ctr"]);
    assert_eq!(answer.macs, ["hmac-sha2-256"]);
    let Source::CommandLine(origin) = &answer.source else {
        panic!("{:?}", answer.source);
    };
    assert_eq!(origin.to_string(), format!("{POLICY}:1"));
    assert_eq!(answer.considered.len(), 2);
}

#[test]
fn an_empty_variable_gives_the_file_the_say() {
    let tree = rhel8();
    tree.put("etc/sysconfig/sshd", "CRYPTO_POLICY=\n");
    let answer = server(&tree, RHEL8);
    assert_eq!(answer.ciphers, ["aes128-ctr"]);
    assert!(matches!(answer.source, Source::Line(_)));
    assert!(try_plan(&tree, Side::Server, RHEL8).is_ok());
}

#[test]
fn no_line_of_the_file_is_planned_against_the_command_line() {
    let tree = rhel8();
    let refusal = try_plan(&tree, Side::Server, RHEL8).unwrap_err();
    assert_eq!(refusal.location.unwrap().to_string(), format!("{POLICY}:1"));
    assert!(
        refusal.cure.contains("update-crypto-policies"),
        "{}",
        refusal.cure
    );
    assert!(
        refusal.cure.contains("/etc/sysconfig/sshd"),
        "{}",
        refusal.cure
    );

    tree.put(
        "etc/sysconfig/sshd",
        "OPTIONS='-oCiphers=aes128-ctr,aes256-ctr'\n",
    );
    let refusal = try_plan(&tree, Side::Server, RHEL8).unwrap_err();
    assert!(
        refusal.cure.contains("/etc/sysconfig/sshd:1"),
        "{}",
        refusal.cure
    );
    assert!(
        !refusal.cure.contains("update-crypto-policies"),
        "{}",
        refusal.cure
    );
}

#[test]
fn text_and_json_tell_the_option_and_its_place() {
    let side = SideConfiguration::from(&server(&rhel8(), RHEL8));
    let json = serde_json::to_value(&side).unwrap();
    let option = "-oCiphers=aes256-gcm@openssh.com,aes256-ctr";
    assert_eq!(
        json["source"],
        serde_json::json!({ "command_line": option, "file": POLICY, "line": 1 })
    );
    assert_eq!(
        words::source(&side),
        format!("{option} on its command line, from {POLICY}:1")
    );
}

#[test]
fn drop_ins_and_variables_of_a_unit_count() {
    let tree = rhel8();
    tree.put(
        "etc/systemd/system/sshd.service.d/10-own.conf",
        "[Service]\nEnvironment=\"LIST=aes192-ctr\" X=1\nExecStart=\nExecStart=-/usr/sbin/sshd -D \\\n  -o Ciphers=${LIST}\n",
    );
    let answer = server(&tree, RHEL8);
    assert_eq!(answer.ciphers, ["aes192-ctr"]);
    // The administrator's unit hides the package's.
    tree.put(
        "etc/systemd/system/sshd.service",
        "[Service]\nExecStart=/usr/sbin/sshd -D\n",
    );
    tree.put("etc/systemd/system/sshd.service.d/10-own.conf", "");
    assert_eq!(server(&tree, RHEL8).ciphers, ["aes128-ctr"]);
    // A link to nothing masks it.
    std::fs::remove_file(tree.real("etc/systemd/system/sshd.service")).unwrap();
    std::os::unix::fs::symlink("/dev/null", tree.real("etc/systemd/system/sshd.service")).unwrap();
    assert_eq!(server(&tree, RHEL8).ciphers, ["aes128-ctr"]);
}

#[test]
fn debians_unit_has_another_name() {
    let tree = Tree::new();
    tree.put(MAIN, "");
    tree.put(
        "lib/systemd/system/ssh.service",
        "[Service]\nEnvironmentFile=-/etc/default/ssh\nExecStart=/usr/sbin/sshd -D $SSHD_OPTS\n",
    );
    tree.put(
        "etc/default/ssh",
        "# Options\nSSHD_OPTS=-oCiphers=aes256-ctr\n",
    );
    let Source::CommandLine(origin) = server(&tree, "OpenSSH_9.2p1").source else {
        panic!("not the command line");
    };
    assert_eq!(origin.to_string(), "/etc/default/ssh:2");
}

#[test]
fn a_running_listener_is_asked_before_the_unit() {
    let tree = rhel8();
    process(
        &tree,
        812,
        "sshd",
        b"/usr/sbin/sshd\0-D\0-oCiphers=aes192-ctr\0",
    );
    let answer = server(&tree, RHEL8);
    assert_eq!(answer.ciphers, ["aes192-ctr"]);
    assert_eq!(answer.source, seen(812));
    // Where nothing of the tree runs, nobody looks.
    let image = Perspective {
        processes: None,
        ..root()
    };
    let answer = image.resolve(&tree.files(), Side::Server, &programs(RHEL8), None);
    assert_eq!(answer.ciphers[0], "aes256-gcm@openssh.com");
}

#[test]
fn what_runs_as_the_unit_says_is_traced_to_the_file() {
    let tree = rhel8();
    process(
        &tree,
        812,
        "sshd",
        b"/usr/sbin/sshd\0-D\0-u0\0-oCiphers=aes256-gcm@openssh.com,aes256-ctr\0-oMACs=hmac-sha2-256\0",
    );
    let Source::CommandLine(origin) = server(&tree, RHEL8).source else {
        panic!("not the command line");
    };
    assert_eq!(origin.to_string(), format!("{POLICY}:1"));
}

#[test]
fn a_rewritten_title_is_read() {
    let tree = Tree::new();
    tree.put(MAIN, "Ciphers aes128-ctr\n");
    let title = b"sshd: /usr/sbin/sshd -D -o Ciphers aes192-ctr -p 22 [listener] 0 of 10-100 startups\0\0\0\0";
    process(&tree, 9, "sshd", title);
    let answer = server(&tree, "OpenSSH_9.2p1");
    assert_eq!(answer.ciphers, ["aes192-ctr"]);
    assert_eq!(answer.source, seen(9));
}

#[test]
fn sessions_and_other_daemons_do_not_count() {
    let tree = Tree::new();
    tree.put(MAIN, "Ciphers aes128-ctr\n");
    process(&tree, 3, "sshd", b"sshd: -oCiphers=aes192-ctr [priv]\0");
    process(&tree, 4, "sshd", b"sshd: me@pts/0\0");
    process(
        &tree,
        5,
        "sshd",
        b"/usr/sbin/sshd\0-D\0-R\0-oCiphers=aes192-ctr\0",
    );
    process(
        &tree,
        6,
        "sshd",
        b"/usr/sbin/sshd\0-f\0/other\0-oCiphers=aes192-ctr\0",
    );
    process(&tree, 7, "nginx", b"/usr/sbin/sshd\0-oCiphers=aes192-ctr\0");
    process(&tree, 8, "sshd", b"");
    let mut cut = b"sshd: /usr/sbin/sshd -D -oCiphers=aes192-ctr,".to_vec();
    cut.resize(1023, b'x');
    process(&tree, 9, "sshd", &cut);
    let answer = server(&tree, "OpenSSH_9.2p1");
    assert_eq!(answer.ciphers, ["aes128-ctr"]);
    // The daemon of that other file is asked about that file.
    tree.put("other", "");
    let other = Perspective {
        server: advisor::plan::Target::System("/other".into()),
        ..root()
    };
    let answer = other.resolve(
        &tree.files(),
        Side::Server,
        &programs("OpenSSH_9.2p1"),
        None,
    );
    assert_eq!(answer.source, seen(6));
}

#[test]
fn the_listener_of_a_container_does_not_count() {
    let tree = Tree::new();
    tree.put(MAIN, "Ciphers aes128-ctr\n");
    process(
        &tree,
        9,
        "sshd",
        b"/usr/sbin/sshd\0-D\0-oCiphers=aes192-ctr\0",
    );
    tree.put("proc/self/ns/pid", "");
    tree.put("proc/9/ns/pid", "");
    assert_eq!(server(&tree, "OpenSSH_9.2p1").ciphers, ["aes128-ctr"]);
}

#[test]
fn a_bad_option_is_reported_where_it_is_written() {
    let tree = rhel8();
    tree.put("etc/sysconfig/sshd", "\nOPTIONS=-oCiphers=arcfour\n");
    let answer = server(&tree, RHEL8);
    let problem = answer
        .problems
        .iter()
        .find(|it| it.what.contains("arcfour"));
    assert_eq!(
        problem.unwrap().location.to_string(),
        "/etc/sysconfig/sshd:2"
    );
    assert!(answer.is_refused());
}

const MODERN: &str = "OpenSSH_9.6p1";
const DROP_INS: &str = "Include /etc/ssh/sshd_config.d/*.conf\n";
const PLAIN: &str = "Ciphers aes256-gcm@openssh.com,aes128-gcm@openssh.com,aes256-ctr\n";

/// A machine like Fedora and RHEL 9: the back-ends are links, and included from a drop-in.
fn fedora(server_drop_in: &str) -> Tree {
    let tree = Tree::new();
    tree.put(MAIN, DROP_INS);
    let include = |name: &str| format!("Include /etc/crypto-policies/back-ends/{name}.config\n");
    tree.put(
        &format!("etc/ssh/sshd_config.d/{server_drop_in}"),
        include("opensshserver"),
    );
    tree.put(
        "etc/ssh/ssh_config",
        "Include /etc/ssh/ssh_config.d/*.conf\n",
    );
    tree.put(
        "etc/ssh/ssh_config.d/50-redhat.conf",
        format!("Match final all\n\t{}", include("openssh")),
    );
    for name in ["openssh", "opensshserver"] {
        let shared = format!("usr/share/crypto-policies/DEFAULT/{name}.txt");
        tree.put(&shared, PLAIN);
        link(
            &tree,
            &shared,
            &format!("etc/crypto-policies/back-ends/{name}.config"),
        );
    }
    tree
}

fn link(tree: &Tree, to: &str, at: &str) {
    let at = tree.real(at);
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(format!("/{to}"), at).unwrap();
}

fn source(answer: &Effective) -> String {
    match &answer.source {
        Source::Line(location) => location.to_string(),
        other => panic!("{other:?}"),
    }
}

fn client(tree: &Tree, version: &str) -> Effective {
    root().resolve(&tree.files(), Side::Client, &programs(version), None)
}

#[test]
fn a_back_end_of_the_policy_is_named() {
    let tree = fedora("50-redhat.conf");
    assert_eq!(source(&server(&tree, MODERN)), format!("{POLICY}:1:9"));
    assert_eq!(
        source(&client(&tree, MODERN)),
        "/etc/crypto-policies/back-ends/openssh.config:1:9"
    );
}

#[test]
fn the_policy_is_changed_by_its_own_tool_or_knowingly_overruled() {
    for (drop_in, first) in [("50-redhat.conf", "10"), ("05-redhat.conf", "05")] {
        let tree = fedora(drop_in);
        let refusal = try_plan(&tree, Side::Server, MODERN).unwrap_err();
        assert_eq!(refusal.location.unwrap().file, Path::new(POLICY));
        let cure = refusal.cure;
        assert!(cure.contains("update-crypto-policies"), "{cure}");
        let file = format!("/etc/ssh/sshd_config.d/{first}-cipher-advisor.conf");
        assert!(cure.contains(&file), "{cure}");
        // It does what the sentence says.
        tree.put(&file, "Ciphers aes192-ctr\n");
        assert_eq!(server(&tree, MODERN).ciphers, ["aes192-ctr"]);
    }
    let refusal = try_plan(&fedora("50-redhat.conf"), Side::Client, MODERN).unwrap_err();
    assert!(
        refusal
            .cure
            .contains("/etc/ssh/ssh_config.d/10-cipher-advisor.conf")
    );
}

#[test]
fn a_plain_client_line_beats_the_policy() {
    let tree = fedora("50-redhat.conf");
    tree.put("etc/ssh/ssh_config.d/90-own.conf", "Ciphers aes192-ctr\n");
    let answer = client(&tree, MODERN);
    assert_eq!(answer.ciphers, ["aes192-ctr"]);
}

/// Both sides include a link to the list that is chosen.
fn macos(chosen: &str) -> Tree {
    let tree = Tree::new();
    tree.put(MAIN, "Include /etc/ssh/sshd_config.d/*\n");
    tree.put(
        "etc/ssh/sshd_config.d/100-macos.conf",
        "Include /etc/ssh/crypto.conf\n",
    );
    tree.put("etc/ssh/ssh_config", "Include /etc/ssh/ssh_config.d/*\n");
    tree.put(
        "etc/ssh/ssh_config.d/100-macos-ssh.conf",
        "Include /etc/ssh/crypto.conf\n",
    );
    tree.put(
        "etc/ssh/crypto/apple.conf",
        "# default\nCiphers ^aes128-gcm@openssh.com,aes256-gcm@openssh.com\n",
    );
    tree.put(
        "etc/ssh/crypto/fips.conf",
        "Ciphers aes128-gcm@openssh.com,aes256-gcm@openssh.com\n",
    );
    let chosen = format!("crypto/{chosen}.conf");
    std::os::unix::fs::symlink(chosen, tree.real("etc/ssh/crypto.conf")).unwrap();
    tree
}

#[test]
fn apples_list_is_overruled_from_a_file_before_it() {
    let tree = macos("apple");
    let answer = client(&tree, "OpenSSH_10.0p2");
    assert_eq!(source(&answer), "/etc/ssh/crypto.conf:2:9");
    assert_eq!(
        answer.ciphers[..3],
        [
            "aes128-gcm@openssh.com",
            "aes256-gcm@openssh.com",
            "chacha20-poly1305@openssh.com"
        ]
    );
    for (side, directory) in [
        (Side::Client, "ssh_config.d"),
        (Side::Server, "sshd_config.d"),
    ] {
        let plan = try_plan(&tree, side, "OpenSSH_10.0p2").unwrap();
        let file = format!("/etc/ssh/{directory}/10-cipher-advisor.conf");
        assert_eq!(plan.edits[0].path, Path::new(&file));
        assert!(
            plan.strategy.contains("/etc/ssh/crypto.conf:2"),
            "{}",
            plan.strategy
        );
    }
}

#[test]
fn a_chosen_fips_list_stands() {
    let refusal = try_plan(&macos("fips"), Side::Client, "OpenSSH_10.0p2").unwrap_err();
    assert!(refusal.what.contains("FIPS"), "{refusal}");
}

#[test]
fn a_vendors_file_counts_while_the_administrator_has_none() {
    let tree = Tree::new();
    let vendor = "Include /etc/ssh/sshd_config.d/*.conf\nInclude /usr/etc/ssh/sshd_config.d/*.conf\nCiphers aes256-ctr,aes128-ctr\n";
    tree.put("usr/etc/ssh/sshd_config", vendor);
    assert_eq!(
        source(&server(&tree, MODERN)),
        "/usr/etc/ssh/sshd_config:3:9"
    );
    // A new main file would hide the vendor's, so none is made where no directory is included.
    tree.put("usr/etc/ssh/ssh_config", "Host *\n");
    let refusal = try_plan(&tree, Side::Client, MODERN).unwrap_err();
    assert_eq!(
        refusal.location.unwrap().file,
        Path::new("/usr/etc/ssh/ssh_config")
    );
    assert!(
        refusal
            .cure
            .contains("copy this file to /etc/ssh/ssh_config")
    );
    assert!(try_plan(&tree, Side::Server, MODERN).is_err());
    // An included directory of the administrator's takes a file.
    std::fs::create_dir_all(tree.real("etc/ssh/sshd_config.d")).unwrap();
    let plan = try_plan(&tree, Side::Server, MODERN).unwrap();
    let file = Path::new("/etc/ssh/sshd_config.d/10-cipher-advisor.conf");
    assert_eq!(plan.edits[0].path, file);

    tree.put(MAIN, "Ciphers aes192-ctr\n");
    assert_eq!(source(&server(&tree, MODERN)), "/etc/ssh/sshd_config:1:9");
}

#[test]
fn files_of_windows_are_found_below_program_data() {
    let tree = Tree::new();
    let windows = root().with_layout(Layout::windows(Path::new("/ProgramData")));
    tree.put(
        "ProgramData/ssh/sshd_config",
        "\u{feff}Include conf.d\\*.conf\r\nInclude __PROGRAMDATA__/ssh/more.conf\r\nMatch Group administrators\r\n       AuthorizedKeysFile __PROGRAMDATA__/ssh/administrators_authorized_keys\r\n",
    );
    tree.put(
        "ProgramData/ssh/more.conf",
        "\u{feff}Ciphers aes256-ctr\r\n",
    );
    let resolve = |side| windows.resolve(&tree.files(), side, &programs(MODERN), None);
    let answer = resolve(Side::Server);
    assert!(!answer.is_refused(), "{:?}", answer.problems);
    assert_eq!(source(&answer), "/ProgramData/ssh/more.conf:1:12");
    tree.put("ProgramData/ssh/conf.d/1.conf", "Ciphers aes128-ctr\r\n");
    assert_eq!(
        source(&resolve(Side::Server)),
        "/ProgramData/ssh/conf.d/1.conf:1:9"
    );
    tree.put(
        "ProgramData/ssh/ssh_config",
        "\u{feff}Ciphers aes192-ctr\r\n",
    );
    assert_eq!(resolve(Side::Client).ciphers, ["aes192-ctr"]);
    // Everywhere else the mark is part of a keyword nobody knows.
    tree.put(MAIN, "\u{feff}Ciphers aes192-ctr\n");
    let answer = server(&tree, "OpenSSH_9.2p1");
    assert!(answer.is_refused());
}

#[test]
fn hpn_ssh_has_files_daemon_and_a_first_cipher_of_its_own() {
    let tree = Tree::new();
    let hpn = root().with_layout(Layout::hpn());
    let threaded = "chacha20-poly1305-mt@hpnssh.org";
    let mut programs = programs("OpenSSH_10.2p1-hpn18.8.0");
    let known = supported_ciphers(Release::new(10, 2)).iter();
    let known: Vec<String> = [threaded]
        .iter()
        .chain(known)
        .map(ToString::to_string)
        .collect();
    for program in [&mut programs.client, &mut programs.server] {
        program.as_mut().unwrap().ciphers = known.clone();
    }
    tree.put(MAIN, "Ciphers aes128-ctr\n");
    tree.put(
        "etc/hpnssh/sshd_config",
        "NoneEnabled no\nInclude own.conf\n",
    );
    let resolve = |side| hpn.resolve(&tree.files(), side, &programs, None);
    for side in [Side::Client, Side::Server] {
        let answer = resolve(side);
        assert_eq!(
            answer.ciphers[..2],
            [threaded, "chacha20-poly1305@openssh.com"]
        );
        assert!(!answer.is_refused(), "{:?}", answer.problems);
    }
    tree.put("etc/hpnssh/own.conf", "Ciphers aes256-ctr\n");
    assert_eq!(source(&resolve(Side::Server)), "/etc/hpnssh/own.conf:1:9");
    process(&tree, 4, "sshd", b"/usr/sbin/sshd\0-oCiphers=aes128-ctr\0");
    process(
        &tree,
        5,
        "hpnsshd",
        b"hpnsshd: /usr/sbin/hpnsshd -D -oCiphers=aes192-ctr [listener] 0 of 10-100 startups\0",
    );
    assert_eq!(resolve(Side::Server).source, seen(5));
}

#[test]
fn dropbears_order_is_said_to_be_compiled_in() {
    let tree = Tree::new();
    let mut report = crate::report::fast_aes();
    let id = "dropbear-compiled-in";
    let found = |report: &Report| {
        let document = examine(&ExaminationRequest {
            files: &tree.files(),
            perspective: &root(),
            report,
            policy: &Policy::default(),
            choice: None,
            sides: &[],
            host: None,
        });
        document
            .findings
            .into_iter()
            .find(|finding| finding.id == id)
    };
    assert_eq!(found(&report), None);
    report.openssh.dropbear = Some(Program {
        path: "/usr/bin/dbclient".to_owned(),
        version: "Dropbear v2022.83".to_owned(),
        ciphers: vec!["aes128-ctr".to_owned(), "aes256-ctr".to_owned()],
        macs: Vec::new(),
    });
    let evidence = found(&report).unwrap().evidence;
    assert_eq!(
        evidence,
        "Dropbear v2022.83 (/usr/bin/dbclient): aes128-ctr,aes256-ctr"
    );
}

/// `sshd`, in a mount namespace where `/run/sshd` exists if it would miss that.
fn daemon(sshd: &Path) -> Command {
    if Path::new("/run/sshd").is_dir() {
        return Command::new(sshd);
    }
    let mut command = Command::new("unshare");
    let script = "mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec \"$@\"";
    command
        .args(["--mount", "sh", "-c", script, "sh"])
        .arg(sshd);
    command
}

/// A real `sshd`, killed at the end.
struct Listener(Child);

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_real_listener_is_understood() {
    let Some(sshd) = crate::support::program("sshd", "openssh-server") else {
        return;
    };
    let Some(keygen) = crate::support::program("ssh-keygen", "openssh-client") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf { directory.path().join(name) };
    let made = Command::new(keygen)
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(at("key"))
        .status();
    assert!(made.unwrap().success());
    std::fs::write(at("config"), "Ciphers aes128-ctr\n").unwrap();
    // Given back at once, so that sshd may have it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let child = daemon(&sshd)
        .args(["-D", "-e", "-oCiphers=aes192-ctr", "-oPidFile=none", "-p"])
        .arg(port.to_string())
        .arg("-oListenAddress=127.0.0.1")
        .arg("-f")
        .arg(at("config"))
        .arg("-h")
        .arg(at("key"))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut listener = Listener(child.unwrap());
    let said = BufReader::new(listener.0.stderr.take().unwrap()).lines();
    let said = { said }
        .map_while(Result::ok)
        .find(|line| line.contains("listening"));
    if said.is_none() {
        crate::support::skip_here("sshd does not start here");
        return;
    }
    let perspective = Perspective {
        server: advisor::plan::Target::System(at("config")),
        ..root()
    };
    let files = SystemFiles::new(Path::new("/")).unwrap();
    let answer = perspective.resolve(&files, Side::Server, &programs("OpenSSH_9.2p1"), None);
    assert_eq!(answer.ciphers, ["aes192-ctr"]);
    assert_eq!(answer.source, seen(listener.0.id()));
}
