//! Where each flavour of OpenSSH keeps its files and who writes them: crypto-policies, macOS, openSUSE, Windows,
//! HPN-SSH, Dropbear.
#![forbid(unsafe_code)]

use std::path::Path;

use advisor::examination::{ExaminationRequest, examine};
use advisor::layout::Layout;
use advisor::policy::Policy;
use advisor::resolver::Side;
use engine::installed::releases::{Release, supported_ciphers};
use engine::report::{Program, Report};
use engine::transfer::Implementation;

use crate::perspective::{
    MAIN, POLICY, client, process, programs, root, seen, server, source, try_plan,
};
use crate::question::Tree;
use crate::report::carried;

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
            force_managed: false,
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
        ..Program::default()
    });
    let evidence = found(&report).unwrap().evidence;
    assert_eq!(
        evidence,
        "Dropbear v2022.83 (/usr/bin/dbclient): aes128-ctr,aes256-ctr"
    );
    let cure = |report: &Report| found(report).unwrap().cure;
    assert!(cure(&report).contains("advisor transfer --implementation dropbear"));
    for (cipher, user) in [("aes128-ctr", 9.0), ("aes256-ctr", 5.0)] {
        carried(&mut report, cipher, user);
    }
    for transfer in &mut report.transfers {
        transfer.implementation = Implementation::Dropbear;
    }
    let faster = "`dbclient -c aes256-ctr,aes128-ctr` is faster than its own order";
    assert!(cure(&report).starts_with(faster), "{}", cure(&report));
}
