//! Who the processor says it is, and which instruction sets it offers, whether or not they can be used.
//!
//! For people and for diagnosis. Nothing is decided here: kernels are admitted by [`Detected`] alone.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;

use super::{Detected, Feature, Features};
use crate::report::{Cpu, FeatureState};

/// What is known about the processor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// The processor, as reports show it.
    pub cpu: Cpu,
    /// The hypervisor that shows itself, if any.
    pub hypervisor: Option<String>,
    /// Where two ways of detection disagree; empty on a sane system.
    pub warnings: Vec<String>,
}

/// Identifies this processor. `hidden` are the features the user does not want used.
#[must_use]
pub fn identify(hidden: Features) -> Identity {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let detected = Detected::new(Features::NONE).features();
    let offered = offer(detected);
    let mut identity = whoami(&cpuinfo);
    identity.cpu.microcode = field(&cpuinfo, "microcode");
    identity.cpu.features = states(offered.offered, detected.hide(hidden));
    identity.warnings = disagreements(offered, detected);
    identity
}

/// The state of every feature of this architecture.
fn states(offered: Features, usable: Features) -> BTreeMap<String, FeatureState> {
    let native = Feature::ALL.iter().filter(|feature| feature.is_native());
    native
        .map(|&feature| {
            let state = match (usable.has(feature), offered.has(feature)) {
                (true, _) => FeatureState::Present,
                (false, true) => FeatureState::Disabled,
                (false, false) => FeatureState::Absent,
            };
            (feature.name().to_owned(), state)
        })
        .collect()
}

/// What the processor offers, and what of it the operating system lets programs use.
#[derive(Clone, Copy, Debug)]
struct Offer {
    offered: Features,
    enabled: Features,
}

/// Our reading of CPUID and XCR0 against the standard library's: they should say the same.
fn disagreements(offer: Offer, detected: Features) -> Vec<String> {
    let native = Feature::ALL.iter().filter(|feature| feature.is_native());
    native
        .filter(|&&feature| offer.enabled.has(feature) != detected.has(feature))
        .map(|feature| {
            let (yes, no) = if detected.has(*feature) {
                ("the standard library finds", "CPUID and XCR0 do not show")
            } else {
                ("CPUID and XCR0 show", "the standard library does not find")
            };
            format!(
                "{yes} {name}, {no} it: results that depend on {name} may not hold on this machine; hide it to be safe",
                name = feature.name()
            )
        })
        .collect()
}

/// The value of the first line `name : value` of `/proc/cpuinfo`.
fn field(cpuinfo: &str, name: &str) -> Option<String> {
    let mut pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = pairs.find(|(key, _)| key.trim_end() == name)?;
    Some(value.trim().to_owned())
}

#[cfg(target_arch = "x86_64")]
fn whoami(_cpuinfo: &str) -> Identity {
    use raw_cpuid::{CpuId, Hypervisor};

    let cpuid = CpuId::new();
    let brand = cpuid.get_processor_brand_string();
    let vendor = cpuid.get_vendor_info();
    let model = cpuid.get_feature_info().map(|info| {
        format!(
            "family {} model {} stepping {}",
            info.family_id(),
            info.model_id(),
            info.stepping_id()
        )
    });
    let hypervisor = cpuid
        .get_hypervisor_info()
        .map(|info| match info.identify() {
            Hypervisor::Unknown(ebx, ecx, edx) => signature([ebx, ecx, edx]),
            Hypervisor::HyperV => "Hyper-V".to_owned(),
            Hypervisor::Bhyve => "bhyve".to_owned(),
            known => format!("{known:?}"),
        });
    Identity {
        cpu: Cpu {
            brand: brand.map_or_else(String::new, |brand| brand.as_str().trim().to_owned()),
            vendor: vendor.map_or_else(String::new, |vendor| vendor.as_str().to_owned()),
            model: model.unwrap_or_default(),
            ..Cpu::default()
        },
        hypervisor,
        warnings: Vec::new(),
    }
}

/// The twelve characters with which a hypervisor signs leaf 0x4000_0000.
#[cfg(target_arch = "x86_64")]
fn signature(registers: [u32; 3]) -> String {
    let bytes: Vec<u8> = registers
        .iter()
        .flat_map(|register| register.to_le_bytes())
        .filter(u8::is_ascii_graphic)
        .collect();
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(not(target_arch = "x86_64"))]
fn whoami(cpuinfo: &str) -> Identity {
    let system = sysinfo::System::new_with_specifics(
        sysinfo::RefreshKind::nothing().with_cpu(sysinfo::CpuRefreshKind::nothing()),
    );
    let first = system
        .as_ref()
        .ok()
        .and_then(|system| system.cpus().first());
    let words = ["CPU implementer", "CPU part", "CPU variant", "CPU revision"];
    let model: Vec<_> = words
        .iter()
        .filter_map(|word| Some(format!("{word} {}", field(cpuinfo, word)?)))
        .collect();
    Identity {
        cpu: Cpu {
            brand: first.map_or_else(String::new, |cpu| cpu.brand().trim().to_owned()),
            vendor: first.map_or_else(String::new, |cpu| cpu.vendor_id().to_owned()),
            model: model.join(", "),
            ..Cpu::default()
        },
        hypervisor: None,
        warnings: Vec::new(),
    }
}

#[cfg(target_arch = "x86_64")]
fn offer(_detected: Features) -> Offer {
    use raw_cpuid::CpuId;

    let cpuid = CpuId::new();
    let basic = cpuid.get_feature_info();
    let basic = basic.as_ref();
    let extended = cpuid.get_extended_feature_info();
    let extended = extended.as_ref();
    macro_rules! bits { ($($feature:ident: $leaf:ident.$has:ident),* $(,)?) => {
        [$($leaf.is_some_and(|leaf| leaf.$has()).then_some(Feature::$feature)),*]
    }; }
    let found = bits![
        Sse2: basic.has_sse2,
        Ssse3: basic.has_ssse3,
        Aes: basic.has_aesni,
        Pclmulqdq: basic.has_pclmulqdq,
        Avx: basic.has_avx,
        Avx2: extended.has_avx2,
        Bmi2: extended.has_bmi2,
        Avx512f: extended.has_avx512f,
        Avx512bw: extended.has_avx512bw,
        Avx512vl: extended.has_avx512vl,
        Avx512ifma: extended.has_avx512_ifma,
        Avx512vbmi2: extended.has_avx512vbmi2,
        Vaes: extended.has_vaes,
        Vpclmulqdq: extended.has_vpclmulqdq,
        Sha: extended.has_sha,
    ];
    let offered = Features::of(&found.into_iter().flatten().collect::<Vec<_>>());
    Offer {
        offered,
        enabled: enabled(offered, crate::host::enabled_vector_state().unwrap_or(0)),
    }
}

/// What of `offered` works with the register states saved under `xcr0`: AVX needs the upper halves of
/// ymm (bits 1, 2), AVX-512 also its masks and the zmm registers (bits 5–7).
#[cfg(target_arch = "x86_64")]
fn enabled(offered: Features, xcr0: u64) -> Features {
    const AVX: u64 = 0b0110;
    const AVX512: u64 = 0b1110_0110;
    let mut closed = Features::NONE;
    if xcr0 & AVX != AVX {
        closed = closed.with(Features::of(&[Feature::Avx]));
    }
    if xcr0 & AVX512 != AVX512 {
        closed = closed.with(Features::of(&[Feature::Avx512f]));
    }
    offered.hide(closed)
}

/// Other systems give programs one list only: what may be used.
#[cfg(not(target_arch = "x86_64"))]
fn offer(detected: Features) -> Offer {
    Offer {
        offered: detected,
        enabled: detected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_features_are_disabled_and_missing_ones_absent() {
        let native: Vec<_> = Feature::ALL.iter().filter(|f| f.is_native()).collect();
        let (&first, &last) = (native[0], native[native.len() - 1]);
        let offered = Features::of(&[first]);
        let states_of = |usable| states(offered, usable);
        assert_eq!(states_of(offered)[first.name()], FeatureState::Present);
        assert_eq!(
            states_of(Features::NONE)[first.name()],
            FeatureState::Disabled
        );
        assert_eq!(states_of(offered)[last.name()], FeatureState::Absent);
        assert_eq!(states_of(offered).len(), native.len());
    }

    #[test]
    fn disagreement_names_the_feature_and_the_side_that_misses_it() {
        let aes = Features::of(&[Feature::Aes]);
        let offer = |enabled| Offer {
            offered: aes,
            enabled,
        };
        assert!(disagreements(offer(aes), aes).is_empty());
        let missing = disagreements(offer(aes), Features::NONE);
        assert!(missing[0].starts_with("CPUID and XCR0 show aes, the standard library does not"));
        let extra = disagreements(offer(Features::NONE), aes);
        assert!(extra[0].starts_with("the standard library finds aes"));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_system_that_saves_no_vectors_enables_no_avx() {
        let all = Features::ALL;
        let none = enabled(all, 0);
        assert!(none.has(Feature::Aes) && none.has(Feature::Sha) && none.has(Feature::Bmi2));
        assert!(!none.has(Feature::Avx2) && !none.has(Feature::Vaes));
        let avx = enabled(all, 0b111);
        assert!(avx.has(Feature::Vaes) && !avx.has(Feature::Avx512ifma));
        assert_eq!(enabled(all, 0xe7), all);
    }

    #[test]
    fn fields_of_cpuinfo_are_found_whatever_the_padding() {
        let text = "processor\t: 0\nmicrocode\t: 0x2b000661\nmodel name : X: Y\n";
        assert_eq!(field(text, "microcode").as_deref(), Some("0x2b000661"));
        assert_eq!(field(text, "model name").as_deref(), Some("X: Y"));
        assert_eq!(field(text, "model"), None);
    }
}
