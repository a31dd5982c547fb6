//! A whole survey of a pretended machine, with a real provider at work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use engine::cpu::Features;
use engine::host::{Clock, Machine, ProcessorTime};
use engine::installed::Installed;
use engine::measure::transfers::Pair;
use engine::measure::{
    MeasureRequest, SurveyRequest, TransferPart, World, describe, survey, survey_with,
};
use engine::report::{FeatureState, Host, ProviderName, Report};

use crate::carrier::{REAL, SimulatedCarrier, SimulatedClock};

/// A clock of which each reading takes a little longer than the one before: time passes without any
/// real clock, and every window takes longer than a reading was found to take.
#[derive(Default)]
struct Ticking(AtomicU64);

impl Ticking {
    fn tick(&self) -> Duration {
        let readings = self.0.fetch_add(1, Ordering::Relaxed);
        Duration::from_nanos(500 * readings * readings)
    }
}

impl Clock for Ticking {
    fn wall(&self) -> Duration {
        self.tick()
    }
    fn thread_cpu(&self) -> Duration {
        self.tick()
    }
    fn since_1970(&self) -> Duration {
        Duration::from_secs(1_800_000_000)
    }
}

/// Busy, slowed down, and robbed of a tenth of its time.
#[derive(Default)]
struct Neighbourhood(AtomicU64);

impl Machine for Neighbourhood {
    fn describe(&self) -> Host {
        Host {
            name: "elsewhere".to_owned(),
            processors: 2,
            load: Some(3.0),
            governor: Some("powersave".to_owned()),
            ..Host::default()
        }
    }
    fn processor_time(&self) -> Option<ProcessorTime> {
        let readings = self.0.fetch_add(1, Ordering::Relaxed);
        Some(ProcessorTime {
            total: 1000 * readings,
            stolen: 100 * readings,
        })
    }
    fn frequency_driver(&self) -> Option<String> {
        Some("acpi-cpufreq".to_owned())
    }
}

fn request() -> SurveyRequest {
    SurveyRequest {
        installed: Installed {
            problems: vec!["/x/ssh: not an executable file".to_owned()],
            ..Installed::default()
        },
        hidden: Features::NONE,
        mac: None,
        providers: vec![ProviderName::RustCrypto],
        measure: MeasureRequest {
            sizes: vec![1024, 64],
            budget: Duration::from_millis(500),
            ..MeasureRequest::default()
        },
        ..SurveyRequest::default()
    }
}

fn run() -> Report {
    let world = World {
        clock: &Ticking::default(),
        machine: &Neighbourhood::default(),
    };
    survey(&request(), world, &mut |_| (), &AtomicBool::new(false))
}

#[test]
fn a_survey_is_the_same_every_time_under_a_pretended_world() {
    let without_clock_rate = |mut report: Report| {
        // The clock rate is the one thing taken from the real core.
        report
            .measurements
            .iter_mut()
            .for_each(|one| one.cycles_per_byte = None);
        report
    };
    let first = without_clock_rate(run());
    assert_eq!(first, without_clock_rate(run()));
    assert!(
        first
            .measurements
            .iter()
            .any(|one| one.cipher == "aes128-gcm@openssh.com")
    );
    assert!(
        first
            .measurements
            .iter()
            .all(|one| one.gb_per_s.is_finite())
    );
}

#[test]
fn a_survey_tells_who_where_when_and_how_disturbed() {
    let report = run();
    assert_eq!(report.host.name, "elsewhere");
    assert_eq!(report.host.measured_at, 1_800_000_000);
    assert_eq!(report.host.steal_percent, Some(10.0));
    for part in [
        "/x/ssh: not an executable file",
        "load 3.0 on 2 processors",
        "10 % of the time to other machines",
        "governor is powersave",
    ] {
        let told = report.warnings.iter().any(|warning| warning.contains(part));
        assert!(told, "{part}: {:?}", report.warnings);
    }
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
}

#[test]
fn describing_measures_nothing_and_shows_what_is_hidden() {
    let world = World {
        clock: &Ticking::default(),
        machine: &Neighbourhood::default(),
    };
    let hiding = SurveyRequest {
        hidden: Features::ALL,
        ..request()
    };
    let report = describe(&hiding, world);
    assert!(report.measurements.is_empty() && report.unavailable.is_empty());
    let states = report.cpu.features.values();
    assert!(
        states
            .into_iter()
            .all(|&state| state != FeatureState::Present)
    );
}

fn carrying(share: f64) -> SurveyRequest {
    let pair = |cipher: &str| Pair {
        cipher: cipher.to_owned(),
        mac: None,
    };
    SurveyRequest {
        transfers: TransferPart {
            pairs: REAL.iter().map(|it| pair(it.cipher)).collect(),
            share,
        },
        measure: MeasureRequest {
            budget: Duration::from_secs(10),
            ..request().measure
        },
        ..request()
    }
}

#[test]
fn transfers_alone_leave_packets_out() {
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.05, 1);
    let world = World {
        clock: &clock,
        machine: &Neighbourhood::default(),
    };
    let never = AtomicBool::new(false);
    let mut last = 0.0;
    let mut tell = |at: engine::measure::Progress| last = at.fraction;
    let report = survey_with(&mut carrier, &carrying(1.0), world, &mut tell, &never);
    assert_eq!(report.transfers.len(), 2 * REAL.len());
    assert!(report.measurements.is_empty() && report.unavailable.is_empty());
    assert!(clock.wall() > Duration::from_secs(9), "all of the time");
    assert!((0.9..=1.0).contains(&last), "{last}");
    let disturbed = report.warnings.iter().any(|it| it.contains("governor"));
    assert!(disturbed, "{:?}", report.warnings);
}

#[test]
fn where_nothing_can_be_carried_packets_get_the_time() {
    let clock = SimulatedClock::default();
    let mut carrier = SimulatedCarrier::new(&clock, &REAL, 0.05, 1);
    carrier.impossible_from = Some(0);
    let world = World {
        clock: &Ticking::default(),
        machine: &Neighbourhood::default(),
    };
    let never = AtomicBool::new(false);
    let report = survey_with(&mut carrier, &carrying(0.9), world, &mut |_| (), &never);
    assert!(report.transfers.is_empty());
    assert_eq!(report.unavailable_transfers.len(), 1);
    let sizes = report.measurements.iter().map(|one| one.bytes);
    assert!(
        sizes.into_iter().any(|bytes| bytes == 64),
        "the last ones too"
    );
}
