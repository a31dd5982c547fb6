//! How the regret benchmark counts.
#![forbid(unsafe_code)]

#[path = "../regret/score.rs"]
#[allow(dead_code, reason = "the benchmark prints what no test looks at")]
mod score;

use engine::transfer::{CpuTime, Way};
use score::{Runs, Sample};

fn sample(client: f64, server: f64, system: f64) -> Sample {
    let cpu = |user| CpuTime { user, system };
    Sample {
        bytes: 1e9,
        seconds: 2.0,
        client: cpu(client),
        server: cpu(server),
    }
}

fn runs(cipher: &str, way: Way, users: &[f64], runs: &mut Runs) {
    for &user in users {
        runs.add(cipher, way, sample(user, user / 2.0, 0.5));
    }
}

#[test]
fn the_slower_way_and_the_busier_end_decide() {
    let mut all = Runs::default();
    runs("a", Way::Up, &[0.5; 6], &mut all);
    runs("a", Way::Down, &[1.5; 6], &mut all);
    runs("b", Way::Up, &[1.0; 6], &mut all);
    runs("b", Way::Down, &[1.0; 6], &mut all);
    let truths = all.truths(false);
    assert_eq!(truths[0].cipher, "b");
    assert!((truths[0].speed - 1e9 / 1.5).abs() < 1.0);
    assert!((truths[1].speed - 1e9 / 2.0).abs() < 1.0);
    let shared = all.truths(true);
    assert!((shared[0].speed - 1e9 / 2.5).abs() < 1.0);
}

#[test]
fn regret_inside_the_truths_own_interval_counts_nothing() {
    let mut all = Runs::default();
    runs("a", Way::Up, &[0.9, 1.0, 1.1, 1.0, 1.0, 1.2], &mut all);
    runs("b", Way::Up, &[1.0, 1.1, 1.2, 1.1, 1.1, 1.3], &mut all);
    runs("c", Way::Up, &[3.0; 6], &mut all);
    let truths = all.truths(false);
    let regret = |cipher| score::regret(&truths, cipher).expect("known");
    assert_eq!(regret("a").raw, 0.0);
    assert!(regret("b").raw > 0.05);
    assert_eq!(regret("b").counted, 0.0);
    assert!((regret("c").counted - (1.0 - 1.5 / 3.5)).abs() < 1e-9);
    assert!(score::regret(&truths, "d").is_none());
}
