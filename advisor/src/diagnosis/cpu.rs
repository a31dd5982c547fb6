//! What the processor lacks, or what hides it.
#![forbid(unsafe_code)]

use engine::report::{FeatureState, Host, Report};

use super::{Finding, state};
use crate::resolver::Severity;

pub(super) fn findings(report: &Report) -> Option<Finding> {
    match state(report, "aes")? {
        FeatureState::Present => None,
        FeatureState::Disabled => Some(Finding::new(
            "aes-disabled",
            Severity::Info,
            "AES instructions are there but not used by this program",
            "hidden by --cpu-disable, ADVISOR_CPU_DISABLE or the operating system",
            "unset the variable to measure what this processor can do",
        )),
        FeatureState::Absent => Some(absent(&report.host, &report.cpu.brand)),
    }
}

fn absent(host: &Host, brand: &str) -> Finding {
    let has = |list: &[&str]| list.iter().any(|part| brand.contains(part));
    let is_hidden = has(MODELS_WITH_AES);
    let virtual_machine = host.hypervisor.as_deref().unwrap_or("a hypervisor");
    let is_guest = host.hypervisor.is_some() || has(MODELS_OF_GUESTS);
    let (severity, evidence, cure) = match (is_guest, is_hidden) {
        (true, true) => (
            Severity::Warning,
            format!("{brand} has them, but CPUID shows none to this guest of {virtual_machine}"),
            "give the guest the host's processor model (host-passthrough, or a named model with aes)",
        ),
        (true, false) => (
            Severity::Info,
            format!("CPUID shows none to this guest of {virtual_machine}"),
            "give the guest the host's processor model (host-passthrough) if the host has AES",
        ),
        (false, true) => (
            Severity::Warning,
            format!("{brand} has them, but CPUID shows none"),
            "look for AES or AES-NI in the firmware's set-up and switch it on",
        ),
        (false, false) => (
            Severity::Info,
            "the processor reports none".to_owned(),
            "prefer chacha20-poly1305, which needs no special instructions",
        ),
    };
    let what = "there are no AES instructions";
    Finding::new("aes-absent", severity, what, evidence, cure)
}

/// Product lines of which every processor has AES instructions. For people's eyes only: nothing but the
/// words of this finding depends on them.
const MODELS_WITH_AES: &[&str] = &[
    "EPYC",
    "Ryzen",
    "Threadripper",
    "Xeon(R) Platinum",
    "Xeon(R) Gold",
    "Xeon(R) Silver",
    "Xeon(R) Bronze",
    "Xeon(R) CPU E5-",
    "Xeon(R) CPU E7-",
    "Xeon(R) E-",
    "Core(TM) Ultra",
    "Neoverse",
];

/// Names that only virtual processors have.
const MODELS_OF_GUESTS: &[&str] = &["QEMU", "Common KVM", "Common 32-bit KVM"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_has_aes_makes_its_absence_a_warning() {
        let guest = Host {
            hypervisor: Some("KVM".to_owned()),
            ..Host::default()
        };
        let bare = Host::default();
        for (host, brand, severity, words) in [
            (
                &guest,
                "AMD EPYC 7763 64-Core Processor",
                Severity::Warning,
                "host-passthrough",
            ),
            (
                &guest,
                "Intel(R) Xeon(R) Processor",
                Severity::Info,
                "if the host has AES",
            ),
            (
                &bare,
                "QEMU Virtual CPU version 2.5+",
                Severity::Info,
                "host-passthrough",
            ),
            (
                &bare,
                "Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz",
                Severity::Warning,
                "firmware",
            ),
            (
                &bare,
                "ARMv7 Processor rev 4 (v7l)",
                Severity::Info,
                "chacha20",
            ),
        ] {
            let finding = absent(host, brand);
            assert_eq!(finding.severity, severity, "{brand}");
            assert!(finding.cure.contains(words), "{brand}: {}", finding.cure);
        }
    }
}
