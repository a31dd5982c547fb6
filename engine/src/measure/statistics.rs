//! Medians, their confidence intervals, and the comparison that may answer "no difference".
//!
//! Nothing here assumes a distribution: timings have a floor and a long tail.
#![forbid(unsafe_code)]

/// A median and how far to trust it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The middle value; the mean of the two middle ones for an even number of samples.
    pub median: f64,
    /// 95 % confidence interval of the median. From one sample: that sample twice.
    pub ci95: [f64; 2],
    /// Median absolute deviation from the median.
    pub mad: f64,
    /// How many samples it rests on.
    pub samples: usize,
}

/// What two intervals say about two speeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The first is faster, beyond chance and beyond the threshold.
    Faster,
    /// The second is.
    Slower,
    /// Neither can be claimed.
    NoDifference,
}

/// The fewest samples whose whole range covers the true median with 95 % probability: 1 − 2 · (1/2)ⁿ is
/// 94 % for five samples and 97 % for six. An interval from fewer claims more than it knows.
pub const SAMPLES_FOR_95: usize = 6;

/// The median of some samples; `None` of none.
#[must_use]
pub fn estimate(samples: &[f64]) -> Option<Estimate> {
    let sorted = ascending(samples);
    let median = middle(&sorted)?;
    let distances: Vec<_> = sorted.iter().map(|value| (value - median).abs()).collect();
    let below = outside(sorted.len());
    Some(Estimate {
        median,
        ci95: [sorted[below], sorted[sorted.len() - 1 - below]],
        mad: middle(&ascending(&distances))?,
        samples: sorted.len(),
    })
}

/// The median of some samples; `None` of none.
#[must_use]
pub fn median(samples: &[f64]) -> Option<f64> {
    middle(&ascending(samples))
}

/// Compares two speeds by their 95 % intervals: `a` is faster only if its lower end exceeds the upper
/// end of `b` by the threshold (0.1 for 10 %).
#[must_use]
pub fn compare(a: [f64; 2], b: [f64; 2], threshold: f64) -> Comparison {
    if exceeds(a, b, threshold) {
        Comparison::Faster
    } else if exceeds(b, a, threshold) {
        Comparison::Slower
    } else {
        Comparison::NoDifference
    }
}

fn exceeds(a: [f64; 2], b: [f64; 2], threshold: f64) -> bool {
    a[0] > b[1] * (1.0 + threshold)
}

fn ascending(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[half]),
        _ => Some(f64::midpoint(sorted[half - 1], sorted[half])),
    }
}

/// How many of the sorted samples may be left out at each end so that the rest still covers the true
/// median with 95 % probability. The number of samples below the median is binomial(n, 1/2), whatever
/// the distribution. Below six samples even the whole range covers less; it is used all the same.
fn outside(samples: usize) -> usize {
    let mut left_out = 0;
    let mut term = 0.5_f64.powi(samples as i32);
    // P(at most `left_out` samples lie below the median).
    let mut tail = term;
    while left_out + 1 < samples.div_ceil(2) {
        term *= (samples - left_out) as f64 / (left_out + 1) as f64;
        if 2.0 * (tail + term) > 0.05 {
            break;
        }
        tail += term;
        left_out += 1;
    }
    left_out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn left_out_ranks_are_those_of_published_tables() {
        // Ranks of the 95 % interval of a median (1-based lower rank minus one), as in tables of the sign test.
        for (samples, rank) in [
            (1, 0),
            (2, 0),
            (5, 0),
            (6, 0),
            (8, 0),
            (9, 1),
            (10, 1),
            (12, 2),
            (15, 3),
            (20, 5),
            (25, 7),
            (30, 9),
            (50, 17),
            (100, 39),
        ] {
            assert_eq!(outside(samples), rank, "{samples} samples");
        }
    }

    #[test]
    fn medians_of_few() {
        assert_eq!(estimate(&[]), None);
        let one = estimate(&[2.0]).expect("one sample");
        assert_eq!((one.median, one.ci95, one.mad), (2.0, [2.0, 2.0], 0.0));
        let four = estimate(&[4.0, 1.0, 3.0, 2.0]).expect("four samples");
        assert_eq!((four.median, four.ci95, four.mad), (2.5, [1.0, 4.0], 1.0));
    }

    #[test]
    fn a_difference_inside_the_threshold_is_none() {
        assert_eq!(compare([1.2, 1.3], [1.0, 1.05], 0.1), Comparison::Faster);
        assert_eq!(compare([1.0, 1.05], [1.2, 1.3], 0.1), Comparison::Slower);
        assert_eq!(
            compare([1.1, 1.2], [1.0, 1.05], 0.1),
            Comparison::NoDifference
        );
        assert_eq!(
            compare([f64::NAN; 2], [1.0; 2], 0.1),
            Comparison::NoDifference
        );
    }

    fn speeds() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(0.001..100.0, 1..60)
    }

    fn interval() -> impl Strategy<Value = [f64; 2]> {
        (0.001..100.0, 0.0..10.0).prop_map(|(low, width)| [low, low + width])
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_median_and_lies_within_the_samples(samples in speeds()) {
            let found = estimate(&samples).expect("at least one");
            let sorted = ascending(&samples);
            prop_assert!(found.ci95[0] <= found.median && found.median <= found.ci95[1]);
            prop_assert!(sorted[0] <= found.ci95[0] && found.ci95[1] <= sorted[sorted.len() - 1]);
            prop_assert!(found.mad >= 0.0);
        }

        #[test]
        fn the_order_of_samples_is_irrelevant(mut samples in speeds()) {
            let before = estimate(&samples);
            samples.reverse();
            prop_assert_eq!(estimate(&samples), before);
        }

        #[test]
        fn comparison_is_antisymmetric(a in interval(), b in interval(), threshold in 0.0..0.5) {
            let mirrored = match compare(b, a, threshold) {
                Comparison::Faster => Comparison::Slower,
                Comparison::Slower => Comparison::Faster,
                Comparison::NoDifference => Comparison::NoDifference,
            };
            prop_assert_eq!(compare(a, b, threshold), mirrored);
            prop_assert_eq!(compare(a, a, threshold), Comparison::NoDifference);
        }

        #[test]
        fn a_higher_threshold_claims_nothing_new(a in interval(), b in interval(), threshold in 0.0..0.5) {
            let strict = compare(a, b, threshold + 0.1);
            prop_assert!(strict == Comparison::NoDifference || strict == compare(a, b, threshold));
        }

        #[test]
        fn being_faster_is_transitive(a in interval(), b in interval(), c in interval(), threshold in 0.0..0.5) {
            if exceeds(a, b, threshold) && exceeds(b, c, threshold) {
                prop_assert!(exceeds(a, c, threshold));
            }
        }
    }
}
