//! Numbers as both faces show them, where the command line's words do not have them already.
#![forbid(unsafe_code)]

use advisor::output::words;
use engine::measure::ENOUGH_ROUNDS;
use engine::report::{Direction, Measurement};

/// A median with half of its 95 % interval: `7.43 ±2 %`. A cell with too few rounds is marked with `*`.
#[must_use]
pub fn with_spread(gb_per_s: f64, ci95: [f64; 2], enough: bool) -> String {
    let percent = spread_percent(gb_per_s, ci95);
    let mark = if enough { "" } else { "*" };
    format!("{} ±{percent:.0} %{mark}", words::speed(gb_per_s))
}

/// Half of a 95 % interval in percent of the median.
#[must_use]
pub fn spread_percent(median: f64, ci95: [f64; 2]) -> f64 {
    (ci95[1] - ci95[0]).max(0.0) / 2.0 / median * 100.0
}

/// Whether the interval of this cell rests on enough.
#[must_use]
pub const fn has_enough_rounds(cell: &Measurement) -> bool {
    cell.rounds >= ENOUGH_ROUNDS
}

/// `1 round`, `9 rounds`.
#[must_use]
pub fn round_count(rounds: usize) -> String {
    let plural = if rounds == 1 { "" } else { "s" };
    format!("{rounds} round{plural}")
}

/// What was done to packets, as a noun.
#[must_use]
pub const fn doing(direction: Direction) -> &'static str {
    match direction {
        Direction::Seal => "sealing",
        Direction::Open => "opening",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_half_the_interval() {
        assert_eq!(with_spread(7.0, [6.86, 7.14], true), "7.00 ±2 %");
        assert_eq!(with_spread(0.041, [0.020, 0.062], false), "0.041 ±51 %*");
    }
}
