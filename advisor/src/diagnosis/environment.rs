//! What the machine did to the numbers: other work, a governor, heat, noise, too few processors.
#![forbid(unsafe_code)]

use engine::measure::Warning;
use engine::measure::environment::of_host;
use engine::report::{ProviderName, Report};

use super::{FULL_PACKET, Finding};
use crate::resolver::Severity;

/// Half the width of an interval, as a share of its median, above which a comparison is a gamble.
const NOISY: f64 = 0.15;

/// The findings that a measured report has among its warnings too.
pub const DISTURBANCES: [&str; 3] = ["machine-busy", "time-stolen", "governor-slow"];

pub(super) fn findings(report: &Report) -> Vec<Finding> {
    let host = &report.host;
    let disturbances = of_host(host, host.frequency_driver.as_deref());
    let mut findings: Vec<_> = disturbances.iter().filter_map(disturbance).collect();
    findings.extend(
        [throttled(report), noisy(report), one_processor(report)]
            .into_iter()
            .flatten(),
    );
    findings
}

fn disturbance(warning: &Warning) -> Option<Finding> {
    let [busy, stolen, governor] = DISTURBANCES;
    let info = Severity::Info;
    Some(match warning {
        Warning::Busy { load, processors } => Finding::new(
            busy,
            info,
            "the machine is busy with other work",
            format!("load {load:.1} on {processors} processors"),
            "measure when it is idle",
        ),
        Warning::Stolen { percent } => Finding::new(
            stolen,
            Severity::Warning,
            "the hypervisor gave part of the time to other machines",
            format!("{percent:.0} % of it while measuring"),
            "measure again at a quieter hour",
        ),
        Warning::Governor(name) => Finding::new(
            governor,
            Severity::Warning,
            "the frequency governor holds the processor down",
            format!("it is {name}"),
            "measure, and work, under schedutil or performance (cpupower frequency-set -g)",
        ),
        _ => return None,
    })
}

fn throttled(report: &Report) -> Option<Finding> {
    let times = report.host.throttled.filter(|&times| times > 0)?;
    Some(Finding::new(
        "throttled",
        Severity::Warning,
        "the processor grew too hot and slowed down while it was measured",
        format!("throttled {times} times"),
        "let it cool, clean its fans, and measure again",
    ))
}

fn noisy(report: &Report) -> Option<Finding> {
    let counted = report
        .measurements
        .iter()
        .filter(|cell| cell.provider == ProviderName::OpenSsh && cell.bytes == FULL_PACKET);
    let mut widths: Vec<f64> = counted
        .map(|cell| (cell.ci95[1] - cell.ci95[0]) / 2.0 / cell.gb_per_s)
        .collect();
    widths.sort_by(f64::total_cmp);
    let middle = *widths.get(widths.len() / 2)?;
    (middle > NOISY).then(|| {
        Finding::new(
            "noisy-samples",
            Severity::Info,
            "the samples scatter, so only large differences count",
            format!(
                "half of the numbers are known to no better than ±{:.0} %",
                middle * 100.0
            ),
            "stop other work, or give more time: --time-budget 60s",
        )
    })
}

/// Both ends of a local transfer share what a real one would not.
fn one_processor(report: &Report) -> Option<Finding> {
    let local = report
        .transfers
        .iter()
        .any(|transfer| transfer.host.is_none());
    (report.host.processors == 1 && local).then(|| {
        Finding::new(
            "one-processor",
            Severity::Info,
            "both ends of the transfers shared one processor",
            "1 processor; MB/s are those of client and server one after the other",
            "compare the CPU seconds, which are each end's own; between two hosts the slower end counts",
        )
    })
}

#[cfg(test)]
mod tests {
    use engine::report::{Direction, Host, Measurement};

    use super::*;

    fn ids(report: &Report) -> Vec<String> {
        findings(report).into_iter().map(|it| it.id).collect()
    }

    fn of(host: Host) -> Report {
        Report {
            host,
            ..Report::default()
        }
    }

    fn cell(half: f64) -> Measurement {
        Measurement {
            cipher: "aes128-gcm@openssh.com".to_owned(),
            mac: None,
            provider: ProviderName::OpenSsh,
            direction: Direction::Seal,
            bytes: FULL_PACKET,
            kernel: String::new(),
            gb_per_s: 2.0,
            ci95: [2.0 - 2.0 * half, 2.0 + 2.0 * half],
            cycles_per_byte: None,
            rounds: 9,
            batched: false,
        }
    }

    #[test]
    fn a_quiet_machine_gives_none() {
        let host = Host {
            processors: 4,
            load: Some(0.3),
            steal_percent: Some(0.5),
            governor: Some("schedutil".to_owned()),
            throttled: Some(0),
            ..Host::default()
        };
        let mut report = of(host);
        report.measurements = vec![cell(0.03); 5];
        assert_eq!(ids(&report), Vec::<String>::new());
    }

    #[test]
    fn every_disturbance_has_its_finding() {
        let mut report = of(Host {
            processors: 2,
            load: Some(3.0),
            steal_percent: Some(9.0),
            governor: Some("powersave".to_owned()),
            throttled: Some(2),
            ..Host::default()
        });
        report.measurements = vec![cell(0.03), cell(0.2), cell(0.3)];
        let expected = [
            "machine-busy",
            "time-stolen",
            "governor-slow",
            "throttled",
            "noisy-samples",
        ];
        assert_eq!(ids(&report), expected);
        report.host.frequency_driver = Some("intel_pstate".to_owned());
        assert!(!ids(&report).contains(&"governor-slow".to_owned()));
    }
}
