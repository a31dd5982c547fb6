//! What follows from real transfers in a report.
#![forbid(unsafe_code)]

use std::path::Path;

use advisor::policy::Policy;
use advisor::recommendation::{
    Advice, Evidence, Reason, Recommendation, order_of_dropbear, recommend,
};
use advisor::resolver::Side;
use engine::report::{Program, Report};
use engine::transfer::{Implementation, Way};

use crate::report::{
    CHACHA20, DEFAULT, GCM128, GCM256, carried, carried_aes, effective, fast_aes, machine, ssh,
};

fn with(report: &Report, ciphers: &[&str], choice: Option<Evidence>) -> Recommendation {
    let client = effective(Side::Client, ciphers);
    recommend(report, Some(&client), None, &Policy::default(), choice)
}

fn client(report: &Report, ciphers: &[&str]) -> Advice {
    with(report, ciphers, None).client.unwrap()
}

#[test]
fn transfers_overrule_packets() {
    let report = carried_aes();
    let packets = with(&report, &DEFAULT, Some(Evidence::Packet));
    let ctr_first = [GCM128, GCM256, "aes128-ctr"];
    assert_eq!(packets.client.unwrap().order()[..3], ctr_first);
    let found = with(&report, &DEFAULT, None);
    assert_eq!(found.evidence, Some(Evidence::Transfer));
    assert!((found.threshold - 0.05).abs() < 1e-9);
    assert!(found.basis.starts_with("real transfers"), "{}", found.basis);
    let advice = found.client.unwrap();
    let expected = [
        GCM128,
        GCM256,
        CHACHA20,
        "aes128-ctr",
        "aes192-ctr",
        "aes256-ctr",
    ];
    assert_eq!(advice.order(), expected);
    // (0.95 + 0.4) / (0.41 + 0.4), as measured: nothing is projected.
    assert!((advice.gain.unwrap() - 1.6667).abs() < 1e-3);
    let first = advice.places[0].speed.as_ref().unwrap();
    assert!((first.interval.median - 1.073_741_824 / 0.81).abs() < 1e-9);
    assert!((first.projected_mb_per_s - first.interval.median * 1000.0).abs() < 1e-9);
    assert!((first.wall_mb_per_s.unwrap() - 800.0 / 0.81).abs() < 1e-9);
}

#[test]
fn a_difference_below_the_threshold_keeps_the_incumbent() {
    let mut report = machine();
    carried(&mut report, CHACHA20, 0.60);
    carried(&mut report, GCM128, 0.56);
    let advice = client(&report, &[CHACHA20, GCM128]);
    assert!(!advice.differs());
    assert_eq!(advice.ties, [[CHACHA20, GCM128]]);
}

#[test]
fn advising_on_the_advised_order_changes_nothing() {
    let report = carried_aes();
    let order = client(&report, &DEFAULT).order();
    let order: Vec<&str> = order.iter().map(String::as_str).collect();
    assert!(!client(&report, &order).differs());
}

#[test]
fn a_cipher_without_transfer_keeps_its_place_and_is_named() {
    let mut report = carried_aes();
    report.transfers.retain(|it| it.cipher != "aes192-ctr");
    let advice = client(&report, &DEFAULT);
    let place = advice.places.iter().find(|it| it.cipher == "aes192-ctr");
    assert_eq!(place.unwrap().reason, Reason::Unmeasured);
    let named = advice.limits.iter().find(|it| it.contains("aes192-ctr"));
    assert_eq!(
        named.unwrap(),
        "Not compared, for want of a transfer: aes192-ctr. Raise --time-budget, or take --evidence packet."
    );
}

#[test]
fn transfers_of_one_cipher_or_one_way_are_no_comparison() {
    let mut report = fast_aes();
    carried(&mut report, GCM128, 0.41);
    assert_eq!(
        with(&report, &DEFAULT, None).evidence,
        Some(Evidence::Packet)
    );
    carried(&mut report, CHACHA20, 0.95);
    assert_eq!(
        with(&report, &DEFAULT, None).evidence,
        Some(Evidence::Transfer)
    );
    report.transfers.retain(|it| it.direction == Way::Up);
    assert_eq!(
        with(&report, &DEFAULT, None).evidence,
        Some(Evidence::Packet)
    );
    let asked = with(&report, &DEFAULT, Some(Evidence::Transfer));
    assert_eq!(asked.evidence, None, "asked for, and not there");
    assert!(asked.basis.contains("advisor doctor"), "{}", asked.basis);
}

#[test]
fn single_runs_and_strange_times_are_no_evidence() {
    let mut single = carried_aes();
    for it in &mut single.transfers {
        it.user_ci95 = [it.user_s_per_gib; 2];
    }
    assert_eq!(
        with(&single, &DEFAULT, None).evidence,
        Some(Evidence::Packet)
    );
    for strange in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        let mut report = carried_aes();
        for it in &mut report.transfers {
            it.user_s_per_gib = strange;
        }
        assert_eq!(
            with(&report, &DEFAULT, None).evidence,
            Some(Evidence::Packet),
            "{strange}"
        );
    }
}

#[test]
fn transfers_by_others_and_to_others_say_nothing_of_this_ssh() {
    let mut report = carried_aes();
    for it in &mut report.transfers {
        it.implementation = Implementation::Dropbear;
    }
    assert_eq!(
        with(&report, &DEFAULT, None).evidence,
        Some(Evidence::Packet)
    );
    let mut report = carried_aes();
    for it in &mut report.transfers {
        it.host = Some("elsewhere".to_owned());
    }
    assert_eq!(
        with(&report, &DEFAULT, None).evidence,
        Some(Evidence::Packet)
    );
}

#[test]
fn small_packets_are_judged_by_packets_unless_asked_otherwise() {
    let policy = Policy::parse(Path::new("p.toml"), b"profile = 'mixed'").unwrap();
    let client = effective(Side::Client, &DEFAULT);
    let found = |choice| recommend(&carried_aes(), Some(&client), None, &policy, choice).evidence;
    assert_eq!(found(None), Some(Evidence::Packet));
    assert_eq!(found(Some(Evidence::Transfer)), Some(Evidence::Transfer));
}

#[test]
fn on_one_processor_both_ends_count() {
    let mut report = machine();
    report.host.processors = 1;
    carried(&mut report, CHACHA20, 1.0);
    carried(&mut report, GCM128, 0.5);
    let advice = client(&report, &[CHACHA20, GCM128]);
    let first = advice.places[0].speed.as_ref().unwrap();
    // 0.5 + 0.45 user, 0.4 + 0.4 system.
    assert!((first.interval.median - 1.073_741_824 / 1.75).abs() < 1e-9);
}

#[test]
fn the_projection_takes_its_overhead_from_transfers_and_tells_its_error() {
    let mut report = machine();
    for (cipher, gb_per_s) in [(CHACHA20, 1.0), (GCM128, 4.0), ("aes128-ctr", 2.0)] {
        ssh(&mut report, cipher, gb_per_s);
    }
    // Costs by packets: 1.0737, 0.2684 and 0.5369; by transfers 0.6 more, but for aes128-ctr.
    carried(&mut report, CHACHA20, 1.0737 + 0.2);
    carried(&mut report, GCM128, 0.2684 + 0.2);
    carried(&mut report, "aes128-ctr", 1.5);
    let found = with(&report, &DEFAULT, Some(Evidence::Packet));
    let projection = found.projection;
    assert!((projection.overhead_s_per_gib - 0.6).abs() < 1e-3);
    assert_eq!(projection.ciphers, 3);
    let (worst, error) = projection.worst.unwrap();
    assert_eq!(worst, "aes128-ctr");
    assert!((error - (1.9 / 1.1369 - 1.0)).abs() < 1e-3, "{error}");
    let advice = found.client.unwrap();
    let gcm = advice.places.iter().find(|it| it.cipher == GCM128).unwrap();
    let projected = gcm.projected_mb_per_s().unwrap();
    assert!((projected - 1073.74 / 0.8684).abs() < 1.0, "{projected}");
}

#[test]
fn without_transfers_the_overhead_is_an_assumption() {
    let projection = with(&fast_aes(), &DEFAULT, None).projection;
    assert!((projection.overhead_s_per_gib - 0.5).abs() < 1e-9);
    assert_eq!((projection.ciphers, projection.worst), (0, None));
}

#[test]
fn a_tie_for_want_of_precision_is_left_to_packets_and_a_proven_one_is_not() {
    let evidence = |factor: f64| {
        let mut report = carried_aes();
        for it in &mut report.transfers {
            it.user_s_per_gib = 0.6;
            it.user_ci95 = [0.6 / factor, 0.6 * factor];
        }
        with(&report, &DEFAULT, None).evidence
    };
    assert_eq!(evidence(1.03), Some(Evidence::Transfer));
    assert_eq!(evidence(1.25), Some(Evidence::Packet));
}

#[test]
fn transfers_too_vague_to_tell_anything_apart_are_left_to_packets() {
    let mut report = carried_aes();
    for it in &mut report.transfers {
        it.user_ci95 = [it.user_s_per_gib / 3.0, it.user_s_per_gib * 3.0];
    }
    assert_eq!(
        with(&report, &DEFAULT, None).evidence,
        Some(Evidence::Packet)
    );
    let asked = with(&report, &DEFAULT, Some(Evidence::Transfer));
    assert_eq!(asked.evidence, Some(Evidence::Transfer), "asked for");
    assert!(!asked.client.unwrap().differs(), "nothing is proven");
}

/// Dropbear's client with two ciphers, and what it carried with each of them.
fn with_dropbear(implementation: Implementation, users: [f64; 2]) -> Report {
    let ciphers = [CHACHA20, "aes128-ctr"];
    let mut report = machine();
    report.openssh.dropbear = Some(Program {
        ciphers: ciphers.map(str::to_owned).into(),
        ..Program::default()
    });
    for (cipher, user) in ciphers.into_iter().zip(users) {
        carried(&mut report, cipher, user);
    }
    for it in &mut report.transfers {
        it.implementation = implementation;
    }
    report
}

#[test]
fn dropbears_order_rests_on_its_own_transfers() {
    use Implementation::{Dropbear, DropbearToOpenSsh, OpenSsh};
    let own = Some(vec![CHACHA20.to_owned(), "aes128-ctr".to_owned()]);
    let turned = Some(vec!["aes128-ctr".to_owned(), CHACHA20.to_owned()]);
    for by in [Dropbear, DropbearToOpenSsh] {
        assert_eq!(order_of_dropbear(&with_dropbear(by, [8.0, 5.0])), turned);
        assert_eq!(order_of_dropbear(&with_dropbear(by, [5.0, 8.0])), own);
        assert_eq!(order_of_dropbear(&with_dropbear(by, [5.1, 5.0])), own);
    }
    assert_eq!(order_of_dropbear(&with_dropbear(OpenSsh, [8.0, 5.0])), None);
    let mut one = with_dropbear(Dropbear, [8.0, 5.0]);
    one.transfers.retain(|it| it.cipher == CHACHA20);
    assert_eq!(order_of_dropbear(&one), None);
}
