//! What the processor lacks, or what hides it.
#![forbid(unsafe_code)]

use engine::report::{FeatureState, Report};

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
        FeatureState::Absent => Some(absent(report.host.hypervisor.as_deref())),
    }
}

fn absent(hypervisor: Option<&str>) -> Finding {
    let (evidence, cure) = match hypervisor {
        Some(name) => (
            format!("CPUID shows none to this guest of {name}"),
            "give the guest the host's processor model (host-passthrough) if the host has AES",
        ),
        None => (
            "the processor reports none".to_owned(),
            "prefer chacha20-poly1305, which needs no special instructions",
        ),
    };
    let what = "there are no AES instructions";
    Finding::new("aes-absent", Severity::Info, what, evidence, cure)
}
