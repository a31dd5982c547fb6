//! What an organisation's rules make of a list, from the file to what is written.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use advisor::policy::Policy;
use advisor::recommendation::{Advice, Place, recommend};
use advisor::resolver::Side;
use engine::report::Report;
use serde_json::Value;

use crate::report::{CHACHA20, DEFAULT, GCM128, GCM256, effective, fast_aes, no_aes, owned};
use crate::support::program;
use crate::world::{CLIENT, Ran, SERVER, World};

const STIG: [&str; 4] = [GCM256, "aes256-ctr", GCM128, "aes128-ctr"];

fn advice(report: &Report, side: Side, list: &[&str], policy: &str) -> Advice {
    let policy = Policy::parse(Path::new("site.toml"), policy.as_bytes()).unwrap();
    let effective = effective(side, list);
    let (client, server) = match side {
        Side::Client => (Some(&effective), None),
        Side::Server => (None, Some(&effective)),
    };
    let recommendation = recommend(report, client, server, &policy, None);
    recommendation.side(side).unwrap().clone()
}

fn client(policy: &str) -> Advice {
    advice(&fast_aes(), Side::Client, &DEFAULT, policy)
}

fn server(policy: &str) -> Advice {
    advice(&fast_aes(), Side::Server, &DEFAULT, policy)
}

#[test]
fn classes_go_before_speed_and_speed_decides_inside() {
    let advice = client(
        "classes = [['aes256-ctr', 'aes256-gcm@openssh.com'], ['chacha20-poly1305@openssh.com']]\n\
         forbidden = ['aes128-ctr']",
    );
    let expected = [
        GCM256,
        "aes256-ctr",
        CHACHA20,
        GCM128,
        "aes192-ctr",
        "aes128-ctr",
    ];
    assert_eq!(advice.order(), expected);
    let why: Vec<String> = advice.places.iter().map(Place::why).collect();
    assert!(why[0].ends_with("; class 1 (policy site)"), "{}", why[0]);
    assert!(why[2].ends_with("; class 2 (policy site)"), "{}", why[2]);
    assert!(why[3].ends_with("; class 3 (policy site)"), "{}", why[3]);
    assert_eq!(why[5], "policy site forbids it: behind all it allows");
}

#[test]
fn a_required_cipher_is_added_where_the_program_knows_it() {
    let policy = "required = ['aes256-cbc', 'aes128-ctr', 'fast@vendor.example']";
    let advice = client(policy);
    assert_eq!(advice.added(), ["aes256-cbc"]);
    assert_eq!(advice.order().last().unwrap(), "aes256-cbc");
    assert_eq!(advice.order().len(), DEFAULT.len() + 1);
    assert!(advice.differs());
    let said = "Added, as the policy asks: aes256-cbc.";
    assert!(
        advice.limits.iter().any(|it| it == said),
        "{:?}",
        advice.limits
    );
}

#[test]
fn a_restricted_server_keeps_its_fastest_and_one_ctr() {
    let advice = server("restrict = true");
    assert_eq!(advice.order(), [GCM128, GCM256, "aes128-ctr"]);
    assert_eq!(advice.dropped(), [CHACHA20, "aes192-ctr", "aes256-ctr"]);
    let said = "Left out: chacha20-poly1305, aes192-ctr, aes256-ctr. Clients that have none of aes128-gcm, aes256-gcm, aes128-ctr can not connect any more.";
    assert!(
        advice.limits.iter().any(|it| it == said),
        "{:?}",
        advice.limits
    );
    let alone = server("restrict = true\nkeep_ctr = false");
    assert_eq!(alone.order(), [GCM128, GCM256]);
    let required = server("restrict = true\nrequired = ['aes256-ctr']");
    assert_eq!(required.order(), [GCM128, GCM256, "aes256-ctr"]);
    let cis = server(
        "restrict = true\nforbidden = ['aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr']",
    );
    assert_eq!(cis.order(), [GCM128, "aes256-ctr"]);
    // A client's own order does it all, and it may meet servers that have nothing fast.
    assert!(client("restrict = true").dropped().is_empty());
    // A restricted list is the incumbent of the next run.
    let order = advice.order();
    let names: Vec<&str> = order.iter().map(String::as_str).collect();
    assert!(!self::advice(&fast_aes(), Side::Server, &names, "restrict = true").differs());
}

#[test]
fn nothing_is_left_out_that_was_not_proven_slow() {
    let unmeasured = advice(
        &crate::report::machine(),
        Side::Server,
        &DEFAULT,
        "restrict = true",
    );
    assert_eq!(unmeasured.order(), owned(&DEFAULT));
    let list = [CHACHA20, GCM128, "aes256-cbc"];
    let unknown = advice(&fast_aes(), Side::Server, &list, "restrict = true");
    assert_eq!(
        unknown.dropped(),
        [CHACHA20],
        "of aes256-cbc nothing is known"
    );
}

#[test]
fn an_exact_list_holds_as_it_is_and_its_price_is_told() {
    let stig = Policy::built_in("stig").unwrap();
    let of = |report: &Report, list: &[&str]| {
        let client = effective(Side::Client, list);
        recommend(report, Some(&client), None, &stig, None)
            .client
            .unwrap()
    };
    let written = of(&fast_aes(), &DEFAULT);
    assert_eq!(written.order(), owned(&STIG));
    assert_eq!(written.dropped(), [CHACHA20, "aes192-ctr"]);
    assert_eq!(written.pinned.as_deref(), Some("stig"));
    assert!(!of(&fast_aes(), &STIG).differs());
    let ubuntu = ["aes256-ctr", GCM256, "aes192-ctr", "aes128-ctr", GCM128];
    let kept = of(&fast_aes(), &ubuntu);
    assert!(!kept.differs(), "as good as the exact one");
    let told = kept
        .limits
        .iter()
        .find(|it| it.starts_with("Policy stig pins"))
        .unwrap();
    assert!(
        told.contains("× the data of aes256-ctr, which it puts first"),
        "{told}"
    );
    assert!(kept.price.unwrap() > 1.2, "{:?}", kept.price);
    // Without AES in hardware the list costs far more: what it leaves out counts too.
    let slow = of(&no_aes(), &DEFAULT);
    assert!(
        slow.price.unwrap() > written.price.unwrap(),
        "{:?}",
        slow.price
    );
}

#[test]
fn an_exact_list_the_program_lacks_changes_nothing() {
    let mut report = fast_aes();
    let known = owned(&[CHACHA20, GCM128, "aes128-ctr"]);
    report.openssh.client.as_mut().unwrap().ciphers = known;
    let exact = "exact = ['aes256-ctr', 'aes128-ctr']";
    let advice = advice(&report, Side::Client, &[CHACHA20, GCM128], exact);
    assert!(!advice.differs());
    let why = advice.places[0].why();
    assert_eq!(
        why,
        "stays: policy site pins a list with aes256-ctr, which is not installed"
    );
}

/// The command with the installed programs as judges.
fn judged(world: &World, args: &[&str]) -> Option<Ran> {
    let ssh = program("ssh", "openssh-client")?;
    let sshd = program("sshd", "openssh-server")?;
    let programs = [
        "--ssh",
        ssh.to_str().unwrap(),
        "--sshd",
        sshd.to_str().unwrap(),
    ];
    Some(world.run(&[args, &programs].concat()))
}

fn list_of(world: &World, path: &str) -> String {
    let text = fs::read_to_string(world.root().join(path)).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("Ciphers "));
    line.unwrap_or_else(|| panic!("{text}")).to_owned()
}

const CLIENT_DROP_IN: &str = "etc/ssh/ssh_config.d/10-cipher-advisor.conf";
const SERVER_DROP_IN: &str = "etc/ssh/sshd_config.d/10-cipher-advisor.conf";

#[test]
fn a_baseline_is_written_to_both_sides_and_taken_back() {
    let world = World::new();
    let before = world.contents();
    let apply = ["--apply", "--policy", "stig", "--side", "both"];
    let Some(applied) = judged(&world, &apply) else {
        return;
    };
    assert_eq!(applied.code, 0, "{}", applied.err);
    assert!(
        applied
            .err
            .contains("WARNING: with the recommended list, clients"),
        "{}",
        applied.err
    );
    for file in [CLIENT_DROP_IN, SERVER_DROP_IN] {
        assert_eq!(list_of(&world, file), STIG.join(","));
    }
    let after = world.contents();
    let again = judged(&world, &apply).unwrap();
    assert_eq!((again.code, again.err.as_str()), (0, ""));
    assert_eq!(world.contents(), after);
    // Found again, it stays without being named.
    assert_eq!(world.run(&["--check", "--side", "both"]).code, 0);
    let shown = world.run(&[]).out;
    assert!(
        shown.starts_with("ssh keeps the list that policy stig pins."),
        "{shown}"
    );
    assert!(
        shown.contains("Policy stig pins this list and its order. It costs no speed here."),
        "{shown}"
    );
    let free = world.folder.path().join("free.toml");
    fs::write(&free, "respect_pinned = false\n").unwrap();
    let free = free.to_str().unwrap();
    assert_eq!(world.run(&["--check", "--policy", free]).code, 1);
    assert_eq!(world.run(&["--rollback"]).code, 0);
    assert_eq!(world.contents(), before);
}

#[test]
fn a_restricting_policy_writes_the_server_and_says_so_loudly() {
    let world = World::new();
    let policy = world.folder.path().join("fast.toml");
    fs::write(&policy, "restrict = true\n").unwrap();
    let policy = policy.to_str().unwrap();
    let shown = world.run(&["--policy", policy]);
    assert!(shown.err.contains("WARNING"), "{}", shown.err);
    assert!(!world.root().join(SERVER_DROP_IN).exists());
    let Some(applied) = judged(&world, &["--apply", "--policy", policy, "--json"]) else {
        return;
    };
    assert_eq!(applied.code, 0, "{}", applied.err);
    let told = "WARNING: with the recommended list, clients that know only what it leaves out can not connect any more; left out: chacha20-poly1305@openssh.com, aes192-ctr, aes256-ctr";
    assert!(applied.err.contains(told), "{}", applied.err);
    assert_eq!(
        list_of(&world, SERVER_DROP_IN),
        [GCM128, GCM256, "aes128-ctr"].join(",")
    );
    let document: Value = serde_json::from_str(&applied.out).unwrap();
    let dropped = &document["recommendation"]["server"]["dropped"];
    assert_eq!(
        dropped,
        &serde_json::json!([CHACHA20, "aes192-ctr", "aes256-ctr"])
    );
    assert_eq!(
        document["recommendation"]["client"]["dropped"],
        serde_json::json!([])
    );
    assert_eq!(world.run(&["--check", "--policy", policy]).code, 0);
    // Without the policy what it left out does not come back, and is no difference.
    assert_eq!(world.run(&["--check", "--side", "both"]).code, 0);
}

#[test]
fn mistakes_in_a_policy_are_told_with_their_place() {
    let world = World::new();
    let before = world.contents();
    let policy = world.folder.path().join("site.toml");
    fs::write(&policy, "# ours\nexact = ['aes256-ctr', 'aes512-ctr']\n").unwrap();
    let ran = world.run(&["--apply", "--policy", policy.to_str().unwrap()]);
    ran.fails_with("site.toml:2:24: \"aes512-ctr\" is no cipher");
    assert_eq!(world.contents(), before);
    assert!(
        before
            .iter()
            .any(|(path, ..)| path.ends_with(CLIENT) || path.ends_with(SERVER))
    );
}
