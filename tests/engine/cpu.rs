//! What is said of the processor, against what the kernel says of it.

use std::fs;

use engine::cpu::{Detected, Feature, Features, identify};
use engine::report::FeatureState;

#[test]
fn two_ways_of_detection_agree_here() {
    let identity = identify(Features::NONE);
    assert!(identity.warnings.is_empty(), "{:?}", identity.warnings);
    let detected = Detected::new(Features::NONE).features();
    for (name, state) in &identity.cpu.features {
        let feature = Features::named(name).unwrap();
        let present = *state == FeatureState::Present;
        assert_eq!(present, detected.contains(feature), "{name}");
    }
}

#[test]
fn hiding_a_feature_disables_what_needs_it_and_nothing_else() {
    let all = identify(Features::NONE).cpu.features;
    for &hidden in Feature::ALL.iter().filter(|feature| feature.is_native()) {
        let left = identify(Features::of(&[hidden])).cpu.features;
        let usable = Detected::new(Features::of(&[hidden])).features();
        for (name, state) in &left {
            let expected = match all[name] {
                FeatureState::Present if !usable.contains(Features::named(name).unwrap()) => {
                    FeatureState::Disabled
                }
                unchanged => unchanged,
            };
            assert_eq!(*state, expected, "{name} with {} hidden", hidden.name());
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_kernel_names_the_same_processor_and_features() {
    let Ok(cpuinfo) = fs::read_to_string("/proc/cpuinfo") else {
        println!("skipped: needs /proc");
        return;
    };
    let field = |name: &str| {
        let mut pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        let found = pairs.find(|(key, _)| key.trim() == name);
        found
            .map(|(_, value)| value.trim().to_owned())
            .unwrap_or_default()
    };
    let cpu = identify(Features::NONE).cpu;
    assert_eq!(cpu.vendor, field("vendor_id"));
    assert_eq!(cpu.brand, field("model name"));
    let model = format!(
        "family {} model {} stepping {}",
        field("cpu family"),
        field("model"),
        field("stepping")
    );
    assert_eq!(cpu.model, model);
    let flags = field("flags");
    let has = |flag: &str| flags.split(' ').any(|word| word == flag);
    for (name, flag) in [
        ("aes", "aes"),
        ("pclmulqdq", "pclmulqdq"),
        ("ssse3", "ssse3"),
        ("avx2", "avx2"),
        ("avx512f", "avx512f"),
        ("avx512ifma", "avx512ifma"),
        ("avx512vbmi2", "avx512_vbmi2"),
        ("vaes", "vaes"),
        ("vpclmulqdq", "vpclmulqdq"),
        ("sha", "sha_ni"),
    ] {
        let present = cpu.features[name] == FeatureState::Present;
        assert_eq!(present, has(flag), "{name}");
    }
}
