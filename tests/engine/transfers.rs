//! Transfers by carriers whose costs are known, under a clock that only they move.
#![forbid(unsafe_code)]

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::host::Clock;
use engine::measure::transfers::{
    Pair, RankedSpeed, Transferred, TransfersRequest, rank, transfer,
};
use engine::measure::{Progress, Warning};
use engine::report::Transfer;
use engine::transfer::Way;

use crate::carrier::{REAL, SYSTEM, SimulatedCarrier, SimulatedClock, Truth};

fn pairs(ciphers: &[&str]) -> Vec<Pair> {
    let pair = |&cipher: &&str| Pair {
        cipher: cipher.to_owned(),
        mac: (!cipher.contains('@')).then(|| "umac-64-etm@openssh.com".to_owned()),
    };
    ciphers.iter().map(pair).collect()
}

fn request(truth: &[Truth], seconds: f64) -> TransfersRequest {
    let ciphers: Vec<&str> = truth.iter().map(|it| it.cipher).collect();
    TransfersRequest {
        pairs: pairs(&ciphers),
        budget: Duration::from_secs_f64(seconds),
        shared_core: false,
    }
}

fn run(carrier: &mut SimulatedCarrier<'_>, request: &TransfersRequest) -> Transferred {
    let clock = carrier.clock;
    transfer(
        carrier,
        request,
        clock,
        &mut |_| (),
        &AtomicBool::new(false),
    )
}

fn ranked(found: &Transferred) -> Vec<RankedSpeed> {
    let mut ranked = rank(&found.transfers, false);
    ranked.sort_by(|a, b| b.gb_per_s.total_cmp(&a.gb_per_s));
    ranked
}

fn true_speed(cipher: &str) -> f64 {
    let truth = REAL.iter().find(|it| it.cipher == cipher).unwrap();
    1.073_741_824 / (truth.send.max(truth.receive) + SYSTEM)
}

fn holds_the_truth(found: &&Transfer) -> bool {
    let mut truths = REAL.iter();
    let truth = truths.find(|it| it.cipher == found.cipher).unwrap();
    let busier = truth.send.max(truth.receive);
    found.user_ci95[0] <= busier && busier <= found.user_ci95[1]
}

#[test]
fn without_noise_the_figures_are_the_truth() {
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.0, 1);
    let found = run(&mut carrier, &request(&REAL, 6.0));
    let ranked = ranked(&found);
    assert_eq!(ranked.len(), REAL.len());
    for speed in &ranked {
        let ratio = speed.gb_per_s / true_speed(&speed.cipher);
        // The handshake itself scatters by 3 %.
        assert!((ratio - 1.0).abs() < 0.03, "{speed:?}");
    }
    let cbc = ranked.iter().find(|it| it.cipher == "aes128-cbc").unwrap();
    assert_eq!(cbc.mac.as_deref(), Some("umac-64-etm@openssh.com"));
    assert!(found.warnings.is_empty() && found.unavailable.is_empty());
}

#[test]
fn a_noisy_machine_gives_the_right_order_in_the_default_time() {
    let mut held = 0;
    for seed in 0..50 {
        let clock = SimulatedClock::default();
        let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.08, seed);
        let found = run(&mut carrier, &request(&REAL, 5.5));
        let ranked = ranked(&found);
        assert!(ranked[0].cipher.ends_with("gcm@openssh.com"), "seed {seed}");
        assert!(ranked[1].cipher.ends_with("gcm@openssh.com"), "seed {seed}");
        assert_eq!(ranked[5].cipher, "3des-cbc", "seed {seed}");
        held += found.transfers.iter().filter(holds_the_truth).count();
    }
    assert!(
        held >= 50 * 6 * 88 / 100,
        "{held} of 300 intervals hold the truth"
    );
}

#[test]
fn a_system_that_counts_in_ticks_gives_the_right_leaders_and_honest_intervals() {
    let (mut held, mut led) = (0, 0);
    for seed in 0..50 {
        let clock = SimulatedClock::default();
        let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.04, seed);
        carrier.tick = 0.004;
        let found = run(&mut carrier, &request(&REAL, 6.5));
        let ranked = ranked(&found);
        led += usize::from(ranked[0].cipher.ends_with("gcm@openssh.com"));
        held += found.transfers.iter().filter(holds_the_truth).count();
    }
    assert!(led >= 49, "{led} of 50");
    assert!(
        held >= 50 * 6 * 88 / 100,
        "{held} of 300 intervals hold the truth"
    );
}

#[test]
fn the_time_box_is_kept() {
    for seconds in [0.5, 1.0, 2.0, 5.5, 30.0] {
        let clock = SimulatedClock::default();
        let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.05, 3);
        run(&mut carrier, &request(&REAL, seconds));
        let took = clock.wall().as_secs_f64();
        assert!(took <= seconds + 0.1, "{took} of {seconds} s");
    }
}

#[test]
fn it_ends_early_once_everything_is_known() {
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.01, 3);
    let found = run(&mut carrier, &request(&REAL, 600.0));
    assert!(
        clock.wall() < Duration::from_secs(100),
        "{:?}",
        clock.wall()
    );
    for speed in ranked(&found) {
        let half = speed.ci95[1] / speed.gb_per_s - 1.0;
        assert!(half < 0.04, "{speed:?}");
    }
}

#[test]
fn slow_ciphers_get_few_bytes_and_the_race_goes_to_the_fast() {
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.08, 5);
    run(&mut carrier, &request(&REAL, 8.0));
    assert_eq!(carrier.runs_of("3des-cbc"), 4, "two rounds, both ways");
    let gcm = carrier.runs_of("aes128-gcm@openssh.com");
    assert!(gcm > 4, "{gcm} runs");
}

#[test]
fn a_drift_of_the_machine_hits_all_alike() {
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.0, 5);
    run(&mut carrier, &request(&REAL, 6.0));
    let sent = carrier.requests.iter().filter(|it| !it.slice.is_zero());
    let first: Vec<_> = sent.take(12).map(|it| (&it.cipher, it.way)).collect();
    for truth in &REAL {
        for way in Way::BOTH {
            let times = first
                .iter()
                .filter(|it| it.0 == truth.cipher && it.1 == way)
                .count();
            assert_eq!(times, 1, "{} {way} in the first round", truth.cipher);
        }
    }
}

#[test]
fn a_short_time_goes_to_the_leading_ciphers_and_the_others_say_why() {
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.05, 3);
    let found = run(&mut carrier, &request(&REAL, 2.0));
    let carried: Vec<_> = found.transfers.iter().map(|it| &it.cipher).collect();
    assert!(carried.contains(&&REAL[0].cipher.to_owned()));
    assert!(carried.contains(&&REAL[1].cipher.to_owned()));
    let last = found.unavailable.last().unwrap();
    assert_eq!(last.cipher.as_deref(), Some("3des-cbc"));
    assert_eq!(last.reason, "no time was left for it; raise --time-budget");
    assert_eq!(carried.len() / 2 + found.unavailable.len(), REAL.len());
}

#[test]
fn a_time_too_short_for_two_ciphers_is_left_to_others() {
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.05, 3);
    let found = run(&mut carrier, &request(&REAL, 0.5));
    assert_eq!(carrier.requests.len(), 1);
    assert!(found.transfers.is_empty());
    let reason = &found.unavailable[0].reason;
    assert!(
        reason.contains("two ciphers alone need 1.4 s here"),
        "{reason}"
    );
}

#[test]
fn what_was_carried_survives_being_stopped() {
    let stop = AtomicBool::new(false);
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.05, 3);
    carrier.cancel_after = Some((20, &stop));
    let found = transfer(
        &mut carrier,
        &request(&REAL, 6.0),
        &clock,
        &mut |_| (),
        &stop,
    );
    assert!(found.cancelled);
    assert_eq!(carrier.requests.len(), 21, "nothing is carried afterwards");
    assert_eq!(found.transfers.len(), 12, "the first round is whole");
    assert!(found.unavailable.is_empty());
}

#[test]
fn a_refused_cipher_is_told_once_and_the_others_go_on() {
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &REAL[1..], 0.02, 3);
    let found = run(&mut carrier, &request(&REAL, 6.0));
    assert_eq!(found.unavailable.len(), 1);
    let told = &found.unavailable[0];
    assert_eq!(told.cipher.as_deref(), Some(REAL[0].cipher));
    assert!(
        told.reason.contains("no matching cipher"),
        "{}",
        told.reason
    );
    assert_eq!(ranked(&found).len(), 5);
}

#[test]
fn where_nothing_can_be_carried_one_reason_stands_for_all() {
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.02, 3);
    carrier.impossible_from = Some(0);
    let found = run(&mut carrier, &request(&REAL, 6.0));
    assert_eq!(carrier.requests.len(), 1);
    assert_eq!(found.unavailable.len(), 1);
    assert_eq!(found.unavailable[0].cipher, None);
    let reason = &found.unavailable[0].reason;
    assert_eq!(reason, "no server is installed; install openssh-server");
    assert_eq!(clock.wall(), Duration::ZERO);
}

#[test]
fn a_wall_that_contradicts_is_warned_of() {
    let mut truth = REAL;
    truth[2].held_up = 3.0;
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &truth, 0.03, 3);
    let found = run(&mut carrier, &request(&truth, 8.0));
    let contradicted = found.warnings.iter().any(|warning| {
        matches!(warning, Warning::Contradicted { above, .. } if above == truth[2].cipher)
    });
    assert!(contradicted, "{:?}", found.warnings);
    assert_eq!(
        ranked(&found)[0].cipher,
        truth[2].cipher,
        "it ranks nothing"
    );
}

#[test]
fn progress_tells_the_share_of_time_and_the_figures_so_far() {
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.15, 3);
    let mut told: Vec<Progress> = Vec::new();
    transfer(
        &mut carrier,
        &request(&REAL, 6.0),
        &clock,
        &mut |at| told.push(at),
        &AtomicBool::new(false),
    );
    assert!(
        told.windows(2)
            .all(|two| two[0].fraction <= two[1].fraction)
    );
    assert!(told.last().unwrap().fraction > 0.8);
    assert!(told.iter().all(|at| (1..=2).contains(&at.carried.len())));
    assert_eq!(told[0].carried[0].rounds, 1);
}
