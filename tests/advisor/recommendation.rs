//! Which order is recommended, and why.
#![forbid(unsafe_code)]

use std::path::Path;

use advisor::policy::Policy;
use advisor::recommendation::{Advice, Evidence, Place, Reason, Recommendation, recommend};
use advisor::resolver::{Effective, Side};
use engine::report::{ProviderName, Report};

use crate::report::{
    CHACHA20, DEFAULT, GCM128, GCM256, cells, effective, fast_aes, machine, no_aes, owned, ssh,
};

fn policy(text: &str) -> Policy {
    Policy::parse(Path::new("site.toml"), text.as_bytes()).unwrap()
}

fn with(report: &Report, ciphers: &[&str], policy: &Policy) -> Recommendation {
    let client = effective(Side::Client, ciphers);
    recommend(report, Some(&client), None, policy, None)
}

fn client(report: &Report, ciphers: &[&str]) -> Advice {
    with(report, ciphers, &Policy::default()).client.unwrap()
}

fn why(advice: &Advice) -> Vec<String> {
    advice.places.iter().map(Place::why).collect()
}

#[test]
fn fast_aes_comes_before_chacha20() {
    let advice = client(&fast_aes(), &DEFAULT);
    let expected = [
        GCM128,
        GCM256,
        "aes128-ctr",
        "aes192-ctr",
        "aes256-ctr",
        CHACHA20,
    ];
    assert_eq!(advice.order(), expected);
    assert_eq!(
        why(&advice),
        [
            "4.2 × as fast as chacha20-poly1305",
            "3.6 × as fast as chacha20-poly1305",
            "1.6 × as fast as chacha20-poly1305",
            "1.5 × as fast as chacha20-poly1305",
            "1.5 × as fast as chacha20-poly1305",
            "behind 5 faster ones",
        ]
    );
    // 1.0737 s/GiB per GB/s: (1.0737/1.66 + 0.5) / (1.0737/7.02 + 0.5).
    let gain = advice.gain.unwrap();
    assert!((gain - 1.756).abs() < 0.001, "{gain}");
    assert_eq!(advice.ties, [["aes128-ctr", "aes192-ctr", "aes256-ctr"]]);
}

#[test]
fn without_aes_chacha20_stays_first() {
    let advice = client(&no_aes(), &DEFAULT);
    assert_eq!(advice.order(), DEFAULT);
    assert!(!advice.differs());
    assert_eq!(advice.gain, Some(1.0));
    assert_eq!(why(&advice)[0], "stays: none below is proven 10 % faster");
}

#[test]
fn without_aes_chacha20_overtakes_aes() {
    let order = [
        GCM128,
        GCM256,
        CHACHA20,
        "aes128-ctr",
        "aes192-ctr",
        "aes256-ctr",
    ];
    let advice = client(&no_aes(), &order);
    assert_eq!(advice.order()[..2], [CHACHA20, "aes128-ctr"]);
}

#[test]
fn a_tie_with_the_fastest_keeps_todays_order() {
    let mut report = machine();
    ssh(&mut report, CHACHA20, 1.7);
    ssh(&mut report, GCM128, 7.0);
    ssh(&mut report, GCM256, 6.9);
    let advice = client(&report, &[CHACHA20, GCM256, GCM128]);
    assert_eq!(advice.order(), [GCM256, GCM128, CHACHA20]);
    assert_eq!(
        why(&advice)[0],
        "4.1 × as fast as chacha20-poly1305; tied with aes128-gcm, which stands below it today"
    );
}

#[test]
fn recommending_on_the_recommended_order_changes_nothing() {
    for report in [fast_aes(), no_aes()] {
        let first = client(&report, &DEFAULT).order();
        let names: Vec<&str> = first.iter().map(String::as_str).collect();
        assert!(!client(&report, &names).differs());
    }
}

#[test]
fn noise_cannot_flip_an_applied_order() {
    let applied = client(&fast_aes(), &DEFAULT).order();
    let applied: Vec<&str> = applied.iter().map(String::as_str).collect();
    // Every cell drifts by up to 6 %, each in its own direction.
    for seed in 0..200_u64 {
        let mut report = fast_aes();
        let mut state = seed;
        for cell in &mut report.measurements {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let noise = 1.0 + ((state >> 33) as f64 / f64::from(u32::MAX >> 1) - 0.5) * 0.12;
            cell.gb_per_s *= noise;
            cell.ci95 = cell.ci95.map(|end| end * noise);
        }
        assert!(!client(&report, &applied).differs(), "seed {seed}");
    }
}

#[test]
fn an_interval_of_fewer_than_95_percent_is_no_evidence() {
    let mut report = machine();
    ssh(&mut report, CHACHA20, 1.7);
    ssh(&mut report, "aes128-ctr", 1.6);
    cells(
        &mut report,
        GCM128,
        ProviderName::OpenSsh,
        32 * 1024,
        7.0,
        5,
    );
    let advice = client(&report, &[CHACHA20, "aes128-ctr", GCM128]);
    assert!(!advice.differs());
    assert_eq!(advice.places[2].reason, Reason::Unmeasured);
}

#[test]
fn nothing_measured_leaves_everything() {
    let recommendation = with(&machine(), &DEFAULT, &Policy::default());
    assert_eq!(recommendation.evidence, None);
    assert!(
        recommendation.basis.starts_with("nothing: "),
        "{}",
        recommendation.basis
    );
    assert_eq!(recommendation.client.unwrap().order(), DEFAULT);
}

#[test]
fn native_evidence_stands_in_and_says_so() {
    let mut report = machine();
    for (cipher, speed) in [(CHACHA20, 4.8), (GCM128, 9.9)] {
        cells(
            &mut report,
            cipher,
            ProviderName::Native,
            32 * 1024,
            speed,
            9,
        );
    }
    let recommendation = with(&report, &DEFAULT, &Policy::default());
    assert_eq!(recommendation.evidence, Some(Evidence::Native));
    assert!(
        recommendation.basis.contains("not what ssh does"),
        "{}",
        recommendation.basis
    );
    let client = effective(Side::Client, &DEFAULT);
    let packet = recommend(
        &report,
        Some(&client),
        None,
        &Policy::default(),
        Some(Evidence::Packet),
    );
    assert_eq!(
        packet.evidence, None,
        "asked for packet evidence, there is none"
    );
}

#[test]
fn the_slower_direction_counts() {
    let mut report = machine();
    ssh(&mut report, CHACHA20, 1.7);
    ssh(&mut report, "aes128-cbc", 9.0);
    let seal = report
        .measurements
        .iter_mut()
        .rfind(|cell| cell.cipher == "aes128-cbc");
    let slow = seal.unwrap();
    slow.gb_per_s = 0.9;
    slow.ci95 = [0.9, 0.9];
    assert!(!client(&report, &[CHACHA20, "aes128-cbc"]).differs());
}

#[test]
fn the_mac_that_would_be_negotiated_counts() {
    let mut report = machine();
    ssh(&mut report, CHACHA20, 1.7);
    ssh(&mut report, "aes128-ctr", 1.0);
    let mut faster: Vec<_> = report.measurements[2..].to_vec();
    for cell in &mut faster {
        cell.mac = Some("hmac-sha2-256-etm@openssh.com".to_owned());
        cell.gb_per_s = 4.0;
        cell.ci95 = [4.0, 4.0];
    }
    report.measurements.extend(faster);
    let order = [CHACHA20, "aes128-ctr"];
    assert!(
        !client(&report, &order).differs(),
        "umac-64-etm comes first in MACs"
    );
    let hmac = Effective {
        macs: owned(&["hmac-sha2-256-etm@openssh.com"]),
        ..effective(Side::Client, &order)
    };
    let advice = recommend(&report, Some(&hmac), None, &Policy::default(), None);
    assert!(advice.client.unwrap().differs());
}

#[test]
fn the_profile_chooses_the_packet_size() {
    let mut report = machine();
    for (bytes, chacha, gcm) in [(32 * 1024, 1.7, 7.0), (64, 0.20, 0.10)] {
        cells(
            &mut report,
            CHACHA20,
            ProviderName::OpenSsh,
            bytes,
            chacha,
            9,
        );
        cells(&mut report, GCM128, ProviderName::OpenSsh, bytes, gcm, 9);
    }
    let first = |text| {
        with(&report, &[CHACHA20, GCM128], &policy(text))
            .client
            .unwrap()
            .order()[0]
            .clone()
    };
    assert_eq!(first("profile = 'bulk'"), GCM128);
    assert_eq!(first("profile = 'interactive'"), CHACHA20);
}

#[test]
fn a_policy_puts_what_it_objects_to_last_and_removes_nothing() {
    let strict = policy("forbidden = ['aes128-gcm@openssh.com']\nminimum_key_bits = 256");
    let advice = with(&fast_aes(), &DEFAULT, &strict).client.unwrap();
    assert_eq!(
        advice.order(),
        [
            GCM256,
            "aes256-ctr",
            CHACHA20,
            GCM128,
            "aes128-ctr",
            "aes192-ctr"
        ]
    );
    assert_eq!(
        why(&advice)[3],
        "policy site forbids it: behind all it allows"
    );
    assert_eq!(
        why(&advice)[4],
        "policy site asks for a longer key: behind all it allows"
    );
}

#[test]
fn a_policy_may_prefer_long_keys() {
    let advice = with(&fast_aes(), &DEFAULT, &policy("prefer_256 = true"))
        .client
        .unwrap();
    assert_eq!(
        advice.order(),
        [
            GCM256,
            "aes256-ctr",
            CHACHA20,
            GCM128,
            "aes128-ctr",
            "aes192-ctr"
        ]
    );
    assert_eq!(
        why(&advice)[0],
        "3.6 × as fast as chacha20-poly1305; 256-bit keys first (policy site)"
    );
    assert!(why(&advice)[3].ends_with("behind 256-bit keys (policy site)"));
}

#[test]
fn a_policy_may_ask_for_more_before_anything_moves() {
    let advice = with(&fast_aes(), &DEFAULT, &policy("threshold_percent = 400"))
        .client
        .unwrap();
    assert!(!advice.differs());
}

#[test]
fn a_servers_order_is_said_to_have_no_effect() {
    let server = effective(Side::Server, &DEFAULT);
    let recommendation = recommend(&fast_aes(), None, Some(&server), &Policy::default(), None);
    let advice = recommendation.server.unwrap();
    assert_eq!(advice.order()[0], GCM128);
    assert!(advice.limits[0].starts_with("No effect on speed"));
}

#[test]
fn strange_numbers_are_no_evidence() {
    for strange in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        let mut report = machine();
        ssh(&mut report, CHACHA20, 1.7);
        ssh(&mut report, "aes128-ctr", 1.6);
        ssh(&mut report, GCM128, strange);
        assert!(
            !client(&report, &[CHACHA20, "aes128-ctr", GCM128]).differs(),
            "{strange}"
        );
    }
}

#[test]
fn an_empty_list_is_advised_on_too() {
    let advice = client(&fast_aes(), &[]);
    assert!(advice.places.is_empty() && advice.gain.is_none());
}
