//! The whole way on Debian's own files: the order of the document is the one `ssh -G` and `sshd -T` print afterwards.
#![forbid(unsafe_code)]

use advisor::resolver::Side;
use serde_json::Value;

use crate::installed::{Installed, oracle};
use crate::world::{CLIENT, SERVER, World};

/// Every setting of Debian 12's `ssh_config`, and some of its lines that are switched off.
const STOCK_CLIENT: &str = "\n# Settings for all users.\n\nInclude /etc/ssh/ssh_config.d/*.conf\n\nHost *\n#   ForwardAgent no\n#   Ciphers aes128-ctr,aes192-ctr,aes256-ctr,aes128-cbc,3des-cbc\n#   MACs hmac-md5,hmac-sha1,umac-64@openssh.com\n    SendEnv LANG LC_*\n    HashKnownHosts yes\n    GSSAPIAuthentication yes\n";
/// The same of its `sshd_config`.
const STOCK_SERVER: &str = "\n# Settings of the server.\n\nInclude /etc/ssh/sshd_config.d/*.conf\n\n#Port 22\n#HostKey /etc/ssh/ssh_host_rsa_key\n\n# Ciphers and keying\n#RekeyLimit default none\n\nKbdInteractiveAuthentication no\n#GSSAPIAuthentication no\nUsePAM yes\nX11Forwarding yes\nPrintMotd no\n\nAcceptEnv LANG LC_*\n\nSubsystem\tsftp\t/usr/lib/openssh/sftp-server\n\n# Example of overriding settings\n#Match User anoncvs\n#\tX11Forwarding no\n";

/// Drop-ins as cloud images and administrators add them.
const DROP_INS: [(&str, &str); 3] = [
    (
        "ssh_config.d/20-site.conf",
        "Host *.example.com\n    Compression yes\n",
    ),
    (
        "sshd_config.d/50-cloud-init.conf",
        "PasswordAuthentication no\n",
    ),
    (
        "sshd_config.d/60-site.conf",
        "MaxSessions 20\nMatch Group sftp\n    X11Forwarding no\n",
    ),
];

#[test]
fn the_programs_use_the_order_of_the_document() {
    let Some(installed) = Installed::find() else {
        return;
    };
    for with_drop_ins in [false, true] {
        let world = World::new();
        world.write(CLIENT, STOCK_CLIENT);
        world.write(SERVER, STOCK_SERVER);
        let drop_ins = if with_drop_ins { &DROP_INS[..] } else { &[] };
        for (name, text) in drop_ins {
            world.write(&format!("etc/ssh/{name}"), text);
        }
        let before = world.contents();
        let (ssh, sshd) = (&installed.ssh.path, &installed.sshd.path);
        let programs = [
            "--ssh",
            ssh.to_str().unwrap(),
            "--sshd",
            sshd.to_str().unwrap(),
        ];
        let run = |args: &[&str]| world.run(&[args, &["--side", "both"], &programs].concat());
        let applied = run(&["--apply", "--json"]);
        assert_eq!(applied.code, 0, "{}", applied.err);
        let document: Value = serde_json::from_str(&applied.out).unwrap();
        assert_eq!(document["changed"], true);
        for (side, name) in [(Side::Client, "client"), (Side::Server, "server")] {
            let order = &document["recommendation"][name]["order"];
            assert_eq!(order[0], "aes128-gcm@openssh.com", "not today's order");
            let used = oracle(&installed, &world.root().join("etc/ssh"), side);
            assert_eq!(serde_json::json!(used), *order, "{side}");
        }
        let after = world.contents();
        assert_eq!(run(&["--apply", "-q"]).code, 0);
        assert_eq!(world.contents(), after, "a second run changes nothing");
        assert_eq!(run(&["--check", "-q"]).code, 0);
        assert_eq!(world.run(&["--rollback", "-q"]).code, 0);
        assert_eq!(world.contents(), before);
    }
}
