//! How far to trust a median of two or three runs.
//!
//! A connection makes one sample, so a short time box gives a cipher too few for an interval that assumes
//! nothing about the distribution ([`SAMPLES_FOR_95`](crate::measure::statistics::SAMPLES_FOR_95)). What one
//! cipher cannot tell, all of them can: the machine disturbs each run by some share of its size, whatever the
//! cipher. That share is taken from all runs together, and Student's t does the rest.
//!
//! The assumptions: disturbances are alike for all ciphers, and about normal. One that is steadier than the rest
//! gets an interval wider than it needs.
//!
//! Wall speeds scatter by a share of themselves ([`Spread`]). User time scatters like counts do ([`Scatter`]):
//! most systems know exactly how long a process ran, but share that out between user and system by where the
//! clock's ticks happened to fall. The error then shrinks with the seconds worked, in few runs or in many.
#![forbid(unsafe_code)]

use crate::measure::statistics::median;

/// The relative spread of single runs, pooled over groups of runs that measure the same thing each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// Standard deviation of the natural logarithm of one run.
    deviation: f64,
    /// How many independent deviations it rests on.
    freedom: usize,
}

impl Spread {
    /// The spread of groups of positive values around their medians. Groups of one tell nothing.
    pub(super) fn pooled<'a>(groups: impl IntoIterator<Item = &'a [f64]>) -> Self {
        let (mut squares, mut freedom) = (0.0, 0);
        for group in groups {
            let Some(middle) = median(group) else {
                continue;
            };
            let deviations = group.iter().map(|value| (value / middle).ln());
            squares += deviations.map(|it| it * it).sum::<f64>();
            freedom += group.len() - 1;
        }
        Self {
            deviation: (squares / freedom.max(1) as f64).sqrt(),
            freedom,
        }
    }

    /// Half the 95 % interval of a median of so many runs, as a factor to divide and multiply it by; 1 where
    /// nothing is known of the spread.
    pub(super) fn factor(&self, runs: usize) -> f64 {
        if self.freedom == 0 || runs == 0 {
            return 1.0;
        }
        let error = self.deviation * error_of_median(runs) / (runs as f64).sqrt();
        (student(self.freedom) * error).exp()
    }
}

/// What one run worked, and for how many bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// Seconds; below zero where a handshake alone took longer.
    pub(super) seconds: f64,
    /// Bytes carried.
    pub(super) bytes: f64,
}

/// Seconds a byte over all runs; `None` where nothing was carried or no time is left beside the handshakes.
pub(super) fn rate(runs: &[Work]) -> Option<f64> {
    let bytes: f64 = runs.iter().map(|it| it.bytes).sum();
    let seconds: f64 = runs.iter().map(|it| it.seconds).sum();
    (bytes > 0.0 && seconds > 0.0).then(|| seconds / bytes)
}

/// The spread of processor time, pooled over groups of runs that do the same work each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scatter {
    /// Variance for each second worked, in seconds.
    variance: f64,
    /// How many independent deviations it rests on.
    freedom: usize,
}

impl Scatter {
    /// The spread of runs around the rate of their group.
    pub(super) fn pooled<'a>(groups: impl IntoIterator<Item = &'a [Work]>) -> Self {
        let (mut squares, mut freedom) = (0.0, 0);
        for group in groups {
            let Some(rate) = rate(group) else { continue };
            let squared = |it: &Work| {
                let expected = rate * it.bytes;
                (it.seconds - expected).powi(2) / expected
            };
            let carried = group.iter().filter(|it| it.bytes > 0.0);
            squares += carried.map(squared).sum::<f64>();
            freedom += group.len() - 1;
        }
        Self {
            variance: squares / freedom.max(1) as f64,
            freedom,
        }
    }

    /// Half the 95 % interval of the rate of these runs, as a factor to divide and multiply it by; 1 where
    /// nothing is known of the spread.
    pub(super) fn factor(&self, runs: &[Work]) -> f64 {
        /// e⁵ is 148: no interval that wide says anything.
        const WIDEST: f64 = 5.0;
        let worked: f64 = runs.iter().map(|it| it.seconds).sum();
        if self.freedom == 0 || worked <= 0.0 {
            return 1.0;
        }
        let error = student(self.freedom) * (self.variance / worked).sqrt();
        error.min(WIDEST).exp()
    }
}

/// How much wider a median scatters than a mean. Of one or two values they are the same; of many normal ones
/// the ratio tends to √(π/2) from below.
fn error_of_median(runs: usize) -> f64 {
    if runs < 3 {
        1.0
    } else {
        std::f64::consts::FRAC_PI_2.sqrt()
    }
}

/// The 97.5 % quantile of Student's t: exact for one and two degrees of freedom, else the expansion in 1/ν
/// around the normal quantile (Abramowitz and Stegun 26.7.5), good to 0.8 % from three on.
fn student(freedom: usize) -> f64 {
    const Z: f64 = 1.959_964;
    match freedom {
        0 | 1 => 12.706,
        2 => 4.303,
        more => {
            let v = more as f64;
            let [z3, z5, z7] = [Z.powi(3), Z.powi(5), Z.powi(7)];
            Z + (z3 + Z) / (4.0 * v)
                + (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * v * v)
                + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / (384.0 * v.powi(3))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_published_tables() {
        for (freedom, published) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (10, 2.228),
            (30, 2.042),
            (120, 1.980),
        ] {
            let ratio = student(freedom) / published;
            assert!((ratio - 1.0).abs() < 0.008, "{freedom}: {ratio}");
        }
    }

    #[test]
    fn one_run_of_a_kind_says_nothing_about_the_spread() {
        let spread = Spread::pooled([[3.0].as_slice(), &[5.0], &[]]);
        assert_eq!(spread.factor(1), 1.0);
    }

    #[test]
    fn the_spread_is_relative_and_shared() {
        let both = Spread::pooled([[90.0, 110.0].as_slice(), &[0.9, 1.1]]);
        let one = Spread::pooled([[90.0, 110.0].as_slice()]);
        assert!((both.deviation / one.deviation - 1.0).abs() < 1e-9);
        assert!(both.factor(2) < one.factor(2), "more is known");
        assert!(both.factor(8) < both.factor(2), "more runs");
        assert!(both.factor(1) > both.factor(2), "also of a single run");
    }

    /// Of many ciphers with few runs each, about 95 % of the intervals hold the truth.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_claim() {
        let mut noise = Noise(7);
        let (mut held, mut all) = (0_u32, 0_u32);
        for _ in 0..200 {
            let groups: Vec<Vec<f64>> = (0..12)
                .map(|_| (0..3).map(|_| (0.1 * noise.normal()).exp()).collect())
                .collect();
            let spread = Spread::pooled(groups.iter().map(Vec::as_slice));
            for group in &groups {
                let middle = median(group).expect("three runs");
                let factor = spread.factor(3);
                held += u32::from(middle / factor <= 1.0 && 1.0 <= middle * factor);
                all += 1;
            }
        }
        let share = f64::from(held) / f64::from(all);
        assert!((0.94..0.99).contains(&share), "{share}");
    }

    /// The same for processor time that is shared out by ticks, in runs of unequal length.
    #[test]
    fn intervals_of_ticks_hold_the_truth_as_often_as_they_claim() {
        const TICK: f64 = 0.004;
        let mut noise = Noise(11);
        let (mut held, mut all) = (0, 0);
        for _ in 0..200 {
            let mut run = |index: usize| {
                let bytes = [20.0, 40.0, 30.0][index];
                // 1 user and 1 system millisecond a byte.
                let ticks = 2.0 * bytes * 0.001 / TICK;
                let user = (ticks / 2.0 + noise.normal() * (ticks / 4.0).sqrt()) * TICK;
                let seconds = user.max(0.0);
                Work { seconds, bytes }
            };
            let groups: Vec<Vec<Work>> = (0..12).map(|_| (0..3).map(&mut run).collect()).collect();
            let scatter = Scatter::pooled(groups.iter().map(Vec::as_slice));
            for group in &groups {
                let rate = rate(group).expect("some work");
                let factor = scatter.factor(group);
                held += u32::from(rate / factor <= 0.001 && 0.001 <= rate * factor);
                all += 1;
            }
        }
        let share = f64::from(held) / f64::from(all);
        assert!((0.92..0.99).contains(&share), "{share}");
    }

    #[test]
    fn no_work_is_no_rate() {
        assert_eq!(rate(&[]), None);
        let idle = Work {
            seconds: -0.01,
            bytes: 5.0,
        };
        assert_eq!(rate(&[idle]), None);
        assert_eq!(Scatter::pooled([[idle].as_slice()]).factor(&[idle]), 1.0);
    }

    /// Sums of twelve uniform numbers are normal enough.
    struct Noise(u64);

    impl Noise {
        fn normal(&mut self) -> f64 {
            let mut uniform = || {
                self.0 = self
                    .0
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (self.0 >> 11) as f64 / (1_u64 << 53) as f64
            };
            (0..12).map(|_| uniform()).sum::<f64>() - 6.0
        }
    }
}
