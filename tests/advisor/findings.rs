//! When a finding fires and when it does not, on reports made by hand.
#![forbid(unsafe_code)]

use advisor::diagnosis::Finding;
use advisor::resolver::{Effective, Location, RekeyLimit, Severity, Side};
use engine::algorithm::Cipher;
use engine::providers::CLEARING;
use engine::report::{Direction, FeatureState, Measurement, ProviderName, Report, Rung, Transfer};
use engine::transfer::{Implementation, Way};

use crate::document::document;
use crate::report::{
    CHACHA20, DEFAULT, GCM128, UMAC64, cells, effective, fast_aes, machine, no_aes, owned,
};

fn of(report: Report, client: &Effective, server: &Effective) -> Vec<Finding> {
    document(report, client, server).findings
}

/// The finding of that id, with the compiled default on both sides.
fn found(report: Report, id: &str) -> Option<Finding> {
    let sides = [Side::Client, Side::Server].map(|side| effective(side, &DEFAULT));
    let mut findings = of(report, &sides[0], &sides[1]).into_iter();
    findings.find(|finding| finding.id == id)
}

#[test]
fn every_finding_has_evidence_and_a_cure_and_the_worst_come_first() {
    for report in [fast_aes(), no_aes(), machine()] {
        let sides = [Side::Client, Side::Server].map(|side| effective(side, &DEFAULT));
        let findings = of(report, &sides[0], &sides[1]);
        assert!(findings.is_sorted_by(|a, b| a.severity >= b.severity));
        for finding in findings {
            assert!(
                !finding.what.is_empty() && !finding.evidence.is_empty(),
                "{finding:?}"
            );
            assert!(!finding.cure.is_empty(), "{finding:?}");
        }
    }
}

#[test]
fn absent_aes_is_a_warning_where_the_model_has_it() {
    assert_eq!(found(machine(), "aes-absent"), None);
    let mut report = no_aes();
    report.cpu.brand = "AMD EPYC 7763 64-Core Processor".to_owned();
    let finding = found(report.clone(), "aes-absent").unwrap();
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding.evidence.contains("EPYC") && finding.evidence.contains("KVM"),
        "{finding:?}"
    );
    report.cpu.brand = "Some Processor".to_owned();
    assert_eq!(
        found(report, "aes-absent").unwrap().severity,
        Severity::Info
    );
}

#[test]
fn a_library_without_aes_on_a_processor_with_it_is_slow() {
    assert_eq!(found(fast_aes(), "library-slow"), None);
    let mut report = machine();
    cells(
        &mut report,
        GCM128,
        ProviderName::OpenSsh,
        32 * 1024,
        0.32,
        9,
    );
    cells(&mut report, GCM128, ProviderName::Native, 32 * 1024, 9.9, 9);
    let finding = found(report.clone(), "library-slow").unwrap();
    assert!(finding.evidence.contains("0.32 GB/s") && finding.evidence.contains("9.90 GB/s"));
    report
        .cpu
        .features
        .insert("aes".to_owned(), FeatureState::Absent);
    assert_eq!(found(report, "library-slow"), None);
}

#[test]
fn a_mask_of_the_library_is_told_with_what_it_hides() {
    assert_eq!(found(machine(), "library-masked"), None);
    let mut report = machine();
    let mask = (
        "OPENSSL_ia32cap".to_owned(),
        "~0x200000200000000".to_owned(),
    );
    report.host.environment.extend([mask]);
    let finding = found(report, "library-masked").unwrap();
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding.evidence.ends_with("which hides aes, pclmulqdq"),
        "{finding:?}"
    );
    assert!(
        finding.cure.starts_with("unset OPENSSL_ia32cap"),
        "{finding:?}"
    );
}

#[test]
fn the_ladder_says_what_a_vectorised_poly1305_would_bring() {
    let mut report = fast_aes();
    let rung = |kernel: &str, gb_per_s| Rung {
        kernel: kernel.to_owned(),
        gb_per_s,
        ci95: [gb_per_s, gb_per_s],
    };
    report.ladder = vec![
        rung("portable ChaCha20 + portable Poly1305", 0.4),
        rung("EVP_chacha20 + portable Poly1305", 1.6),
        rung("chacha20 avx2 + poly1305 avx2", 4.0),
    ];
    let finding = found(report.clone(), "poly1305-portable").unwrap();
    assert_eq!(
        finding.evidence,
        "0.40 GB/s portable ChaCha20 + portable Poly1305 → 1.60 GB/s EVP_chacha20 + portable Poly1305 → 4.00 GB/s chacha20 avx2 + poly1305 avx2"
    );
    assert!(finding.cure.ends_with("2.5 ×"), "{}", finding.cure);
    report.ladder[2].gb_per_s = 1.7;
    assert_eq!(found(report, "poly1305-portable"), None);
}

#[test]
fn a_umac_that_costs_more_in_transfers_than_in_packets_is_slow() {
    let carried = |cipher: Cipher, mac: Option<&str>, seconds| Transfer {
        implementation: Implementation::OpenSsh,
        host: None,
        cipher: cipher.name().to_owned(),
        mac: mac.map(str::to_owned),
        direction: Way::Up,
        mb_per_s: 500.0,
        ci95: [490.0, 510.0],
        client_cpu_s_per_gib: [seconds, 0.3],
        server_cpu_s_per_gib: Some([seconds, 0.3]),
        user_s_per_gib: seconds,
        user_ci95: [seconds, seconds],
        rounds: 5,
    };
    let with = |ctr| {
        let mut report = fast_aes();
        report.transfers = vec![
            carried(Cipher::Aes128Gcm, None, 0.34),
            carried(Cipher::Aes128Ctr, Some(UMAC64), ctr),
        ];
        found(report, "umac-slow")
    };
    assert_eq!(with(0.62), None, "as packets let expect");
    let finding = with(1.22).unwrap();
    assert!(finding.evidence.contains("0.88 s"), "{finding:?}");
    assert_eq!(found(fast_aes(), "umac-slow"), None, "no transfers");
}

#[test]
fn a_build_that_clears_registers_is_named_as_why_its_umac_is_slow() {
    let mut report = fast_aes();
    let name = Cipher::Aes128Ctr.name();
    let openssh = |it: &&mut Measurement| it.provider == ProviderName::OpenSsh && it.cipher == name;
    for cell in report.measurements.iter_mut().filter(openssh) {
        cell.kernel = format!("EVP_aes_128_ctr of OpenSSL 3.0.19 + {CLEARING}");
    }
    let finding = found(report, "umac-slow").unwrap();
    assert!(finding.what.contains("umac-64-etm"), "{finding:?}");
    assert!(
        finding.evidence.contains("-fzero-call-used-regs=all"),
        "{finding:?}"
    );
}

#[test]
fn cbc_is_told_to_be_lopsided_where_it_is_offered() {
    let cbc = "aes128-cbc";
    let mut report = fast_aes();
    cells(&mut report, cbc, ProviderName::OpenSsh, 32 * 1024, 0.9, 9);
    for cell in &mut report.measurements {
        if cell.cipher == cbc && cell.direction == Direction::Open {
            cell.gb_per_s = 1.9;
        }
    }
    assert_eq!(found(report.clone(), "cbc-lopsided"), None, "not offered");
    let client = effective(Side::Client, &[GCM128, cbc]);
    let server = effective(Side::Server, &DEFAULT);
    let told = |report| {
        of(report, &client, &server)
            .into_iter()
            .any(|it| it.id == "cbc-lopsided")
    };
    assert!(told(report.clone()));
    report.measurements.retain(|cell| cell.cipher != cbc);
    assert!(!told(report));
}

#[test]
fn a_rekey_limit_is_judged_by_what_it_costs() {
    let limited = |bytes| {
        let mut client = effective(Side::Client, &DEFAULT);
        let location = Location {
            file: "/etc/ssh/ssh_config".into(),
            line: 7,
            column: 12,
        };
        client.rekey_limit = Some(RekeyLimit { bytes, location });
        let server = effective(Side::Server, &DEFAULT);
        let findings = of(fast_aes(), &client, &server);
        findings.into_iter().find(|it| it.id == "rekey-limit")
    };
    assert_eq!(limited(16 << 30), None);
    let gib = limited(1 << 30).unwrap();
    assert_eq!((gib.severity, gib.line), (Severity::Info, Some(7)));
    assert!(
        gib.what.ends_with("every 1 GiB") && gib.evidence.contains("about 9 %"),
        "{gib:?}"
    );
    assert_eq!(limited(64 << 20).unwrap().severity, Severity::Warning);
    assert_eq!(found(fast_aes(), "rekey-limit"), None);
}

#[test]
fn automatic_new_keys_are_told_where_chacha20_stays_first() {
    assert_eq!(
        found(fast_aes(), "rekey-automatic"),
        None,
        "another order is advised"
    );
    let finding = found(no_aes(), "rekey-automatic").unwrap();
    assert!(
        finding.what.contains("chacha20-poly1305 every GiB"),
        "{finding:?}"
    );
}

#[test]
fn terrapin_is_told_of_an_end_that_was_seen_without_the_cure() {
    let with = |strict, ciphers: &[&str]| {
        let mut report = fast_aes();
        report.openssh.server.as_mut().unwrap().strict_key_exchange = strict;
        let client = effective(Side::Client, &DEFAULT);
        let server = effective(Side::Server, ciphers);
        let findings = of(report, &client, &server);
        findings.into_iter().find(|it| it.id == "terrapin")
    };
    assert_eq!(with(None, &DEFAULT), None, "not asked");
    assert_eq!(with(Some(true), &DEFAULT), None);
    assert_eq!(with(Some(false), &[GCM128, "aes128-ctr"]), None);
    let finding = with(Some(false), &[GCM128, CHACHA20, "aes128-cbc"]).unwrap();
    assert!(
        finding.what.starts_with("sshd takes no part"),
        "{finding:?}"
    );
    assert!(finding.evidence.contains("chacha20") && finding.evidence.contains("aes128-cbc"));
}

#[test]
fn cbc_needs_strict_key_exchange_only_with_a_mac_over_the_ciphertext() {
    let mut report = fast_aes();
    report.openssh.client.as_mut().unwrap().strict_key_exchange = Some(false);
    let mut client = effective(Side::Client, &["aes128-cbc"]);
    client.macs = owned(&["hmac-sha2-256"]);
    let server = effective(Side::Server, &DEFAULT);
    let findings = of(report, &client, &server);
    assert!(findings.iter().all(|it| it.id != "terrapin"));
}

#[test]
fn fips_mode_matters_while_chacha20_is_in_a_list() {
    let mut report = fast_aes();
    assert_eq!(found(report.clone(), "fips-mode"), None);
    report.host.fips = Some(false);
    assert_eq!(found(report.clone(), "fips-mode"), None);
    report.host.fips = Some(true);
    assert!(found(report.clone(), "fips-mode").is_some());
    let sides = [Side::Client, Side::Server].map(|side| effective(side, &[GCM128]));
    assert!(
        of(report, &sides[0], &sides[1])
            .iter()
            .all(|it| it.id != "fips-mode")
    );
}

#[test]
fn one_processor_matters_to_transfers_between_local_ends() {
    let mut report = fast_aes();
    report.host.processors = 1;
    assert_eq!(found(report, "one-processor"), None, "no transfers");
}
