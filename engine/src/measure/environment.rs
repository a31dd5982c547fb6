//! What makes the numbers less trustworthy, each with advice.
#![forbid(unsafe_code)]

use std::fmt;
use std::time::Duration;

use super::statistics::median;
use crate::report::Host;

/// Load per processor above which others take part in the measurement.
const BUSY: f64 = 0.5;
/// Stolen time, in percent, above which a virtual machine's numbers are doubtful.
const STOLEN: f64 = 2.0;
/// Spread of the core's clock above which it was moving.
const MOVING: f64 = 0.10;

/// Something to know beside the numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Other programs were running.
    Busy {
        /// One-minute load average.
        load: f64,
        /// Logical processors.
        processors: usize,
    },
    /// The hypervisor gave time to others.
    Stolen {
        /// In percent of the time that passed.
        percent: f64,
    },
    /// The frequency governor holds the clock down.
    Governor(String),
    /// The core's clock was not steady.
    ClockMoved {
        /// Tenth percentile, in Hz.
        low: f64,
        /// Ninetieth percentile, in Hz.
        high: f64,
    },
    /// Cells got fewer rounds than an interval needs.
    FewRounds {
        /// How many.
        cells: usize,
        /// The time box.
        budget: Duration,
    },
    /// Cells got no time at all.
    NoTime {
        /// How many.
        cells: usize,
        /// The time box.
        budget: Duration,
    },
    /// The clock on the wall orders two ciphers the other way round than their processor time does.
    Contradicted {
        /// The cipher that costs less.
        above: String,
        /// Its speed on the wall.
        above_mb_per_s: f64,
        /// The cipher that costs more.
        below: String,
        /// Its speed on the wall.
        below_mb_per_s: f64,
    },
    /// A provider does not compute what it should.
    SelfTest {
        /// The provider and the algorithm.
        who: String,
        /// What it did.
        what: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy { load, processors } => write!(
                f,
                "the machine was busy (load {load:.1} on {processors} processors): measure again when it is idle"
            ),
            Self::Stolen { percent } => write!(
                f,
                "the hypervisor gave {percent:.0} % of the time to other machines: measure again at a quieter hour"
            ),
            Self::Governor(name) => write!(
                f,
                "the frequency governor is {name}, so speeds are those of a slowed processor: measure under the governor the machine works with"
            ),
            Self::ClockMoved { low, high } => write!(
                f,
                "the core's clock moved between {:.1} and {:.1} GHz (throttling or frequency changes): compare cycles per byte rather than GB/s",
                low / 1e9,
                high / 1e9
            ),
            Self::FewRounds { cells, budget } => write!(
                f,
                "{cells} numbers rest on fewer than {} rounds: raise the time budget of {:.1} s",
                super::ENOUGH_ROUNDS,
                budget.as_secs_f64()
            ),
            Self::NoTime { cells, budget } => write!(
                f,
                "{cells} numbers are missing because the time budget of {:.1} s was used up: raise it",
                budget.as_secs_f64()
            ),
            Self::Contradicted {
                above,
                above_mb_per_s,
                below,
                below_mb_per_s,
            } => write!(
                f,
                "{above} costs less processor time than {below} but was carried more slowly ({above_mb_per_s:.0} against {below_mb_per_s:.0} MB/s): something else held it up; run advisor transfer on an idle machine"
            ),
            Self::SelfTest { who, what } => write!(
                f,
                "SELF-TEST FAILED: {who}: {what}; it gets no numbers here and should not protect anything"
            ),
        }
    }
}

/// What the machine was doing. `host` is complete, with the time stolen while measuring.
#[must_use]
pub fn of_host(host: &Host, frequency_driver: Option<&str>) -> Vec<Warning> {
    let busy = host
        .load
        .filter(|load| load / host.processors.max(1) as f64 > BUSY);
    let stolen = host.steal_percent.filter(|&percent| percent > STOLEN);
    let slow = host
        .governor
        .as_ref()
        .filter(|governor| holds_down(governor, frequency_driver));
    [
        busy.map(|load| Warning::Busy {
            load,
            processors: host.processors,
        }),
        stolen.map(|percent| Warning::Stolen { percent }),
        slow.cloned().map(Warning::Governor),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whether a governor keeps the clock low. With drivers that choose the clock in hardware,
/// `powersave` is the name of the normal dynamic mode.
fn holds_down(governor: &str, driver: Option<&str>) -> bool {
    let in_hardware = driver.is_some_and(|driver| {
        ["intel_pstate", "amd-pstate-epp", "amd_pstate_epp"].contains(&driver)
    });
    match governor {
        "powersave" => !in_hardware,
        "conservative" | "userspace" => true,
        _ => false,
    }
}

/// What the core's clock was doing, from readings taken beside the samples.
pub(super) fn of_clock(readings: &[f64]) -> Option<Warning> {
    let mut sorted = readings.to_vec();
    sorted.sort_by(f64::total_cmp);
    let tenth = sorted.len() / 10;
    let (low, high) = (*sorted.get(tenth)?, *sorted.get(sorted.len() - 1 - tenth)?);
    let middle = median(readings)?;
    ((high - low) / middle > MOVING).then_some(Warning::ClockMoved { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_machine_gives_no_warning() {
        let host = Host {
            processors: 4,
            load: Some(1.9),
            steal_percent: Some(0.5),
            governor: Some("schedutil".to_owned()),
            ..Host::default()
        };
        assert_eq!(of_host(&host, None), []);
        assert_eq!(of_host(&Host::default(), None), [], "nothing is known");
    }

    #[test]
    fn every_disturbance_is_named_with_its_figure() {
        let host = Host {
            processors: 2,
            load: Some(1.5),
            steal_percent: Some(12.0),
            governor: Some("powersave".to_owned()),
            ..Host::default()
        };
        let words: Vec<_> = of_host(&host, Some("acpi-cpufreq"))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(words[0].contains("load 1.5 on 2 processors"));
        assert!(words[1].contains("12 %"));
        assert!(words[2].contains("governor is powersave"));
        assert_eq!(of_host(&host, Some("intel_pstate")).len(), 2);
    }

    #[test]
    fn a_moving_clock_is_noticed_and_a_single_outlier_is_not() {
        let mut readings = vec![3.0e9; 20];
        readings[7] = 1.0e9;
        assert_eq!(of_clock(&readings), None);
        readings[..6].fill(2.0e9);
        let warning = of_clock(&readings).expect("six of twenty are slow");
        assert!(warning.to_string().contains("between 2.0 and 3.0 GHz"));
        assert_eq!(of_clock(&[]), None);
    }
}
