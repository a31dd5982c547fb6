//! `advisor explain HOST`, text and JSON, beside what `ssh -G HOST` and `sshd -T` print for the same files.
#![forbid(unsafe_code)]

use serde_json::Value;

use crate::oracle::{Oracle, Verdict};
use crate::world::{Ran, advisor};

const CLIENT: &str = "Include @/part\nHost web* !web2\n  HostName %h.example.com\n  Ciphers ^aes256-gcm(at)openssh.com\n\
    Match host *.example.com\n\tCiphers=aes128-ctr # shadowed\nHost db\n  Ciphers +3des-cbc\n\
    Match final all\n  Ciphers -chacha20*\n";
const PART: &str = "Host old\n  Ciphers aes128-cbc\n";
const SERVER: &str = "Include @/more\nMatch all\n  Ciphers aes128-ctr\n";
const MORE: &str = "Ciphers \"aes256-ctr,aes192-ctr\"\n";

fn write(oracle: &Oracle) {
    let home = oracle.home().to_str().unwrap();
    for (name, text) in [
        ("ssh", CLIENT),
        ("part", PART),
        ("sshd", SERVER),
        ("more", MORE),
    ] {
        oracle.write(name, text.replace('@', home).replace("(at)", "@"));
    }
}

fn explain(oracle: &Oracle, host: &str, more: &[&str]) -> Ran {
    let mut command = advisor();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.args(["explain", host, "--ssh-config"]);
    command.arg(oracle.home().join("ssh")).arg("--sshd-config");
    command.arg(oracle.home().join("sshd")).args(more);
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran
}

#[test]
fn the_lists_are_those_the_programs_print() {
    let Some(oracle) = Oracle::new() else { return };
    write(&oracle);
    let (ssh, sshd) = (oracle.home().join("ssh"), oracle.home().join("sshd"));
    for host in ["web1", "web2", "db", "old", "other"] {
        let document: Value =
            serde_json::from_str(&explain(&oracle, host, &["--json"]).out).unwrap();
        for (side, theirs) in [
            ("client", oracle.ssh(&ssh, host)),
            ("server", oracle.sshd(&sshd)),
        ] {
            let Verdict::Lists { ciphers, .. } = theirs else {
                panic!("{side} refuses");
            };
            let theirs: Vec<_> = ciphers.split(',').collect();
            let ours = &document["configuration"][side]["effective"];
            assert_eq!(*ours, serde_json::json!(theirs), "{side} {host}");
        }
        let text = explain(&oracle, host, &["--plain"]).out;
        for side in ["client", "server"] {
            let list = document["configuration"][side]["effective"]
                .as_array()
                .unwrap();
            let names = list.iter().map(|name| name.as_str().unwrap());
            let short = names.map(|name| name.split('@').next().unwrap());
            let mut rest = text.as_str();
            for name in short {
                let at = rest.find(name);
                assert!(
                    at.is_some(),
                    "{side} {host}: no {name} in its place\n{text}"
                );
                rest = &rest[at.unwrap()..];
            }
        }
    }
}

#[test]
fn every_line_is_told_in_the_order_of_looking_with_what_became_of_it() {
    let Some(oracle) = Oracle::new() else { return };
    write(&oracle);
    let ran = explain(&oracle, "web1", &["--json"]);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let home = oracle.home().to_str().unwrap();
    let told = |side: &str| -> Vec<String> {
        let considered = &document["configuration"][side]["considered"];
        let lines = considered.as_array().unwrap().iter();
        lines
            .map(|line| {
                let (file, outcome) = (&line["file"], &line["outcome"]);
                let (file, outcome) = (file.as_str().unwrap(), outcome.as_str().unwrap());
                format!("{file}:{} {outcome}", line["line"]).replace(home, "")
            })
            .collect()
    };
    assert_eq!(
        told("client"),
        [
            "/part:2 its block at /part:1:1 does not apply",
            "/ssh:4 sets the list",
            "/ssh:6 too late: /ssh:4:11 has set the list",
            "/ssh:8 its block at /ssh:7:1 does not apply",
            "/ssh:10 too late: /ssh:4:11 has set the list",
        ]
    );
    assert_eq!(
        told("server"),
        [
            "/more:1 sets the list",
            "/sshd:3 too late: /more:1:9 has set the list",
        ]
    );
}
