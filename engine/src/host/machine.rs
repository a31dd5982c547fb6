//! The machine as a parameter: what it is, how busy it is, and what a hypervisor took from it.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;

use sysinfo::System;

use crate::report::Host;

/// A machine that can describe itself.
pub trait Machine: Sync {
    /// What it is and how busy it is now. `steal_percent`, `hypervisor` and `measured_at` are left
    /// open: they are known at other times or in other rooms.
    fn describe(&self) -> Host;

    /// The processor time spent since the system started; `None` where the system does not say.
    fn processor_time(&self) -> Option<ProcessorTime>;

    /// The driver behind the frequency governor (`intel_pstate`, `acpi-cpufreq`, …).
    fn frequency_driver(&self) -> Option<String>;

    /// How often the processor was throttled for heat since the system started; `None` where the system
    /// does not say.
    fn throttle_events(&self) -> Option<u64> {
        None
    }
}

/// Processor time since the system started, all processors together, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTime {
    /// All of it, idle time too.
    pub total: u64,
    /// What the hypervisor gave to others although this machine wanted it.
    pub stolen: u64,
}

impl ProcessorTime {
    /// The share stolen since `before`, in percent; `None` when no tick has passed.
    #[must_use]
    pub fn steal_percent_since(self, before: Self) -> Option<f64> {
        let passed = self.total.checked_sub(before.total)?;
        let stolen = self.stolen.checked_sub(before.stolen)?;
        (passed > 0).then(|| 100.0 * stolen as f64 / passed as f64)
    }

    /// Reads the first line of `/proc/stat` (proc_stat(5)): user, nice, system, idle, iowait, irq,
    /// softirq, steal, and two that are part of the first two.
    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line
            .split_ascii_whitespace()
            .take(8)
            .map_while(|word| word.parse().ok())
            .collect();
        Some(Self {
            total: ticks.iter().sum(),
            stolen: *ticks.get(7)?,
        })
    }
}

/// The machine this program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemMachine;

impl Machine for SystemMachine {
    fn describe(&self) -> Host {
        Host {
            name: System::host_name().unwrap_or_default(),
            os: operating_system(),
            kernel: System::kernel_version().unwrap_or_default(),
            architecture: std::env::consts::ARCH.to_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            load: System::load_average().ok().map(|load| load.one),
            governor: frequency("scaling_governor"),
            frequency_driver: frequency("scaling_driver"),
            fips: fips(),
            environment: capability_variables(),
            ..Host::default()
        }
    }

    fn processor_time(&self) -> Option<ProcessorTime> {
        ProcessorTime::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn frequency_driver(&self) -> Option<String> {
        frequency("scaling_driver")
    }

    fn throttle_events(&self) -> Option<u64> {
        let folder = "/sys/devices/system/cpu/cpu0/thermal_throttle";
        let count = |file| -> Option<u64> {
            let text = fs::read_to_string(format!("{folder}/{file}")).ok()?;
            text.trim().parse().ok()
        };
        let counts = ["core_throttle_count", "package_throttle_count"].map(count);
        counts
            .into_iter()
            .flatten()
            .reduce(|sum, count| sum + count)
    }
}

/// Variables by which one tells OpenSSL and its relatives which instructions the processor has
/// (OPENSSL_ia32cap(3) and its counterparts).
pub const CAPABILITY_VARIABLES: [&str; 5] = [
    "OPENSSL_ia32cap",
    "OPENSSL_armcap",
    "OPENSSL_ppccap",
    "OPENSSL_s390xcap",
    "OPENSSL_riscvcap",
];

fn capability_variables() -> BTreeMap<String, String> {
    let set = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
    CAPABILITY_VARIABLES
        .iter()
        .filter_map(|name| set(name))
        .collect()
}

fn fips() -> Option<bool> {
    let text = fs::read_to_string("/proc/sys/crypto/fips_enabled").ok()?;
    Some(text.trim() == "1")
}

/// The system with its version, as it names itself: `Debian GNU/Linux 12`.
fn operating_system() -> String {
    let long = System::long_os_version().unwrap_or_default();
    let inner = long.strip_prefix("Linux (");
    let inner = inner.and_then(|long| long.strip_suffix(')'));
    inner.map_or_else(|| long.clone(), str::to_owned)
}

/// A word of the first processor's frequency control; virtual machines rarely have any.
fn frequency(file: &str) -> Option<String> {
    let folder = "/sys/devices/system/cpu/cpu0/cpufreq";
    let text = fs::read_to_string(format!("{folder}/{file}")).ok()?;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stolen_share_is_taken_between_two_readings() {
        let read = |text| ProcessorTime::parse(text).expect("a cpu line");
        let before = read("cpu  100 0 50 800 0 0 0 50 0 0\ncpu0 1 2 3\n");
        let after = read("cpu  150 0 50 830 0 0 0 70 9 9\n");
        assert_eq!(before.total, 1000);
        assert_eq!(after.steal_percent_since(before), Some(20.0));
        assert_eq!(before.steal_percent_since(before), None);
        assert_eq!(before.steal_percent_since(after), None);
    }

    #[test]
    fn short_or_foreign_lines_give_no_time() {
        for text in ["", "cpu0 1 2 3", "cpu  1 2 3 4", "cpu  1 2 3 4 5 6 x 8"] {
            assert_eq!(ProcessorTime::parse(text), None, "{text:?}");
        }
    }
}
