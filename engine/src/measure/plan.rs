//! The time box: which cell is sampled when, and for how long.
//!
//! Pure arithmetic on what calibration found. Cells stand in order of importance; every cell gets
//! the rounds an interval takes if that fits, else the most important ones get them first.
#![forbid(unsafe_code)]

use std::time::Duration;

use super::statistics::SAMPLES_FOR_95;

/// Rounds below which a number is marked wherever it is shown.
pub const ENOUGH_ROUNDS: usize = 3;

/// Rounds worth aiming at: with 15 the 95 % interval leaves out the three samples at each end.
const WANTED_ROUNDS: u32 = 15;
const SHORTEST_SAMPLE: Duration = Duration::from_micros(500);
/// Half of the 20 ms a drawing may have to wait, because slow cells overshoot.
const LONGEST_SAMPLE: Duration = Duration::from_millis(10);

/// When what is sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// How many windows one sample of each cell has.
    pub(super) windows: Vec<usize>,
    /// Time one sample of each cell takes, its warm-up included.
    pub(super) cost: Vec<Duration>,
    /// So many of the cells get their rounds before the others get any.
    first: usize,
}

impl Plan {
    /// After so many rounds no cell goes before another.
    pub(super) const UNEVEN_ROUNDS: usize = 2 * SAMPLES_FOR_95;

    /// A plan for cells of which one window takes that long each, most important first.
    pub(super) fn new(window: &[Duration], budget: Duration) -> Self {
        let cells = window.len().max(1) as u32;
        let target = budget / (cells * WANTED_ROUNDS);
        let target = target.clamp(SHORTEST_SAMPLE, LONGEST_SAMPLE);
        let windows: Vec<_> = window
            .iter()
            .map(|&window| whole(target, window).max(1))
            .collect();
        let cost: Vec<_> = window
            .iter()
            .zip(&windows)
            .map(|(&window, &count)| window * (count as u32 + 1))
            .collect();
        let first = affordable(&cost, budget);
        Self {
            windows,
            cost,
            first,
        }
    }

    /// The cells of one round. The rounds come from 0; they do not end by themselves.
    ///
    /// Each round is shuffled, so that drift hits all cells alike, and the same on every run.
    pub(super) fn round(&self, round: usize) -> Vec<usize> {
        let all = self.windows.len();
        let mut cells: Vec<_> = match round {
            first if first < SAMPLES_FOR_95 => (0..self.first).collect(),
            // Those that did not fit take what time is left, most important first.
            second if second < Self::UNEVEN_ROUNDS && self.first < all => {
                return (self.first..all).collect();
            }
            _ => (0..all).collect(),
        };
        shuffle(&mut cells, round as u64);
        cells
    }
}

fn whole(target: Duration, part: Duration) -> usize {
    let count = target.as_nanos() / part.as_nanos().max(1);
    usize::try_from(count).unwrap_or(usize::MAX).min(1 << 16)
}

/// How many of the leading cells can have enough rounds in that time; at least one.
fn affordable(cost: &[Duration], budget: Duration) -> usize {
    let mut spent = Duration::ZERO;
    let fitting = cost.iter().take_while(|&&cost| {
        spent += cost * SAMPLES_FOR_95 as u32;
        spent <= budget
    });
    fitting.count().max(1).min(cost.len())
}

/// Fisher–Yates with a generator of our own: the same order on every run and every platform.
pub(super) fn shuffle(cells: &mut [usize], seed: u64) {
    let mut state = seed;
    for last in (1..cells.len()).rev() {
        cells.swap(last, (split_mix(&mut state) % (last as u64 + 1)) as usize);
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn every_cell_is_in_every_round_when_all_fit() {
        let plan = Plan::new(&[ms(1); 40], ms(7000));
        for round in 0..5 {
            let mut cells = plan.round(round);
            assert_ne!(cells, (0..40).collect::<Vec<_>>(), "shuffled");
            cells.sort_unstable();
            assert_eq!(cells, (0..40).collect::<Vec<_>>());
        }
        assert_ne!(plan.round(0), plan.round(1), "each round has its own order");
        assert_eq!(plan.round(1), plan.round(1), "the same on every run");
    }

    #[test]
    fn samples_are_as_long_as_the_budget_allows_within_bounds() {
        let window = [Duration::from_micros(50); 60];
        assert_eq!(Plan::new(&window, ms(7000)).windows[0], 155);
        assert_eq!(
            Plan::new(&window, ms(10)).windows[0],
            10,
            "not under 0.5 ms"
        );
        assert_eq!(
            Plan::new(&window, ms(999_999)).windows[0],
            200,
            "not over 10 ms"
        );
        assert_eq!(Plan::new(&[ms(300)], ms(7000)).windows, [1], "slow cells");
    }

    #[test]
    fn a_short_budget_goes_to_the_most_important_cells() {
        // A sample costs two windows: one to warm up. Six rounds of 20 ms a cell.
        let plan = Plan::new(&[ms(10); 10], ms(500));
        assert_eq!(plan.cost[0], ms(20));
        let mut first = plan.round(0);
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2, 3]);
        assert_eq!(plan.round(SAMPLES_FOR_95), [4, 5, 6, 7, 8, 9]);
        assert_eq!(plan.round(Plan::UNEVEN_ROUNDS).len(), 10);
    }

    #[test]
    fn no_cells_and_no_time_are_no_panic() {
        assert!(Plan::new(&[], ms(100)).round(0).is_empty());
        assert_eq!(Plan::new(&[ms(5), ms(5)], ms(0)).round(0), [0]);
        assert_eq!(Plan::new(&[Duration::ZERO], ms(10)).windows, [1 << 16]);
    }
}
