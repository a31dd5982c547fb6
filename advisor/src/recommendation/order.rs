//! The order itself: a pure function of today's order, intervals and a threshold.
#![forbid(unsafe_code)]

use engine::measure::statistics::{Comparison, compare};

/// A confidence interval of a speed, in GB/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether this is faster than the other beyond both intervals and the threshold (0.1 = 10 %).
    #[must_use]
    pub fn beats(&self, other: &Self, threshold: f64) -> bool {
        let (this, other) = ([self.low, self.high], [other.low, other.high]);
        compare(this, other, threshold) == Comparison::Faster
    }

    /// Whether neither beats the other.
    #[must_use]
    pub fn ties(&self, other: &Self, threshold: f64) -> bool {
        !self.beats(other, threshold) && !other.beats(self, threshold)
    }

    /// By proven speed, the lower end: then whatever is beaten at all is beaten by the fastest.
    /// It does not depend on where a cipher stands today.
    pub(super) fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let proven = self.low.total_cmp(&other.low);
        proven
            .then(self.median.total_cmp(&other.median))
            .then(self.high.total_cmp(&other.high))
    }
}

/// How a cipher came to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It was today's first of those left, and none of them beats it.
    Kept,
    /// It was today's first of those left, and has no measurement that could be compared.
    Unmeasured,
    /// It beats today's first of those left.
    Overtook {
        /// Index of the cipher it displaced.
        incumbent: usize,
        /// Index of the fastest of those left: itself, or one it ties with and stood before.
        fastest: usize,
    },
}

/// Fills the places from the top; gives indices into `today` with how each came there.
///
/// The incumbent of a place is today's first of those left. Where the fastest of those left beats it, it
/// is displaced by the earliest in today's order that beats it too and is not beaten by the fastest:
/// so noise cannot swap two that are tied. What passes no test stays. A cipher without measurement
/// is never moved up, and nothing overtakes it at a place where it is the incumbent; it steps back
/// only when one from below it overtakes one from above it.
///
/// The fastest does not depend on the order, so arranging an arranged list changes nothing.
pub(super) fn arrange(today: &[Option<Interval>], threshold: f64) -> Vec<(usize, Step)> {
    let mut left: Vec<usize> = (0..today.len()).collect();
    let mut order = Vec::with_capacity(today.len());
    while !left.is_empty() {
        let (position, step) = next(&left, today, threshold);
        order.push((left.remove(position), step));
    }
    order
}

/// The position in `left` of what comes next.
fn next(left: &[usize], today: &[Option<Interval>], threshold: f64) -> (usize, Step) {
    let incumbent = left[0];
    let Some(speed) = today[incumbent] else {
        return (0, Step::Unmeasured);
    };
    let measured = left
        .iter()
        .filter_map(|&index| Some((index, today[index]?)));
    let (fastest, best) = measured
        .max_by(|(_, a), (_, b)| a.cmp(b))
        .expect("the incumbent is measured");
    if !best.beats(&speed, threshold) {
        return (0, Step::Kept);
    }
    let wins = |index: usize| {
        today[index].is_some_and(|it| it.beats(&speed, threshold) && !best.beats(&it, threshold))
    };
    let position = left
        .iter()
        .position(|&index| wins(index))
        .expect("the fastest wins");
    (position, Step::Overtook { incumbent, fastest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exactly(gb_per_s: f64) -> Option<Interval> {
        Some(Interval {
            low: gb_per_s,
            median: gb_per_s,
            high: gb_per_s,
        })
    }

    fn indices(today: &[Option<Interval>], threshold: f64) -> Vec<usize> {
        let order = arrange(today, threshold);
        order.into_iter().map(|(index, _)| index).collect()
    }

    #[test]
    fn near_ties_keep_todays_order() {
        let gcm256_first = [exactly(1.6), exactly(7.0), exactly(7.4)];
        assert_eq!(indices(&gcm256_first, 0.1), [1, 2, 0]);
        let not_transitive = [exactly(87.0), exactly(93.0), exactly(100.0)];
        assert_eq!(
            indices(&not_transitive, 0.1),
            [2, 0, 1],
            "93 does not beat 87, so it may not take its place"
        );
    }

    #[test]
    fn a_wide_interval_does_not_ride_on_the_fastest() {
        let vague = Some(Interval {
            low: 0.5,
            median: 1.5,
            high: 9.0,
        });
        assert_eq!(indices(&[exactly(1.7), vague, exactly(7.0)], 0.1)[0], 2);
    }

    #[test]
    fn the_unmeasured_keep_their_place_before_what_follows() {
        let today = [None, exactly(1.0), None, exactly(5.0)];
        assert_eq!(indices(&today, 0.1), [0, 3, 1, 2]);
    }

    fn speed() -> impl Strategy<Value = Option<Interval>> {
        let measured = (0.01..20.0_f64, 0.0..0.4_f64, 0.0..0.4_f64).prop_map(|(median, d, u)| {
            Some(Interval {
                low: median * (1.0 - d),
                median,
                high: median * (1.0 + u),
            })
        });
        prop_oneof![6 => measured, 1 => Just(None)]
    }

    fn speeds() -> impl Strategy<Value = Vec<Option<Interval>>> {
        proptest::collection::vec(speed(), 0..12)
    }

    proptest! {
        #[test]
        fn it_is_a_permutation(today in speeds(), threshold in 0.0..0.5_f64) {
            let mut order = indices(&today, threshold);
            order.sort_unstable();
            prop_assert_eq!(order, (0..today.len()).collect::<Vec<_>>());
        }

        #[test]
        fn arranging_again_changes_nothing(today in speeds(), threshold in 0.0..0.5_f64) {
            let once: Vec<_> = indices(&today, threshold).into_iter().map(|i| today[i]).collect();
            prop_assert_eq!(indices(&once, threshold), (0..today.len()).collect::<Vec<_>>());
        }

        #[test]
        fn nothing_below_beats_a_measured_place(today in speeds(), threshold in 0.0..0.5_f64) {
            let order = indices(&today, threshold);
            for (place, &above) in order.iter().enumerate() {
                for &below in &order[place + 1..] {
                    if let (Some(above), Some(below)) = (today[above], today[below]) {
                        prop_assert!(!below.beats(&above, threshold));
                    }
                }
            }
        }

        #[test]
        fn the_unmeasured_never_move_before_anything(today in speeds(), threshold in 0.0..0.5_f64) {
            let order = indices(&today, threshold);
            for (place, &index) in order.iter().enumerate() {
                if today[index].is_none() {
                    prop_assert!(order[..place].iter().filter(|&&before| before < index).count() == index);
                }
            }
        }

        #[test]
        fn a_faster_measurement_never_costs_the_first_place(
            today in speeds(), threshold in 0.0..0.5_f64, factor in 1.0..4.0_f64
        ) {
            let order = indices(&today, threshold);
            let Some(&first) = order.first() else { return Ok(()) };
            let mut faster = today.clone();
            faster[first] = faster[first].map(|it| Interval {
                low: it.low * factor, median: it.median * factor, high: it.high * factor,
            });
            prop_assert_eq!(indices(&faster, threshold)[0], first);
        }

        #[test]
        fn a_larger_threshold_never_dethrones_an_incumbent(today in speeds(), low in 0.0..0.5_f64, more in 0.0..0.5_f64) {
            if indices(&today, low).first() == Some(&0) {
                prop_assert_eq!(indices(&today, low + more)[0], 0);
            }
        }
    }
}
