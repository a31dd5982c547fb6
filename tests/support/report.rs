//! Reports and configurations made by hand, so that what is decided and printed can be tested without
//! a machine.
#![forbid(unsafe_code)]
#![allow(dead_code, reason = "no test binary uses all of it")]

use advisor::resolver::{Effective, Side, Source};
use engine::algorithm::Cipher;
use engine::report::{
    Cpu, Direction, FeatureState, Host, Library, Measurement, OpenSsh, Program, ProviderName,
    Report, Transfer, UnavailableCell,
};
use engine::transfer::{Implementation, Way};

pub(crate) const CHACHA20: &str = "chacha20-poly1305@openssh.com";
pub(crate) const GCM128: &str = "aes128-gcm@openssh.com";
pub(crate) const GCM256: &str = "aes256-gcm@openssh.com";
pub(crate) const UMAC64: &str = "umac-64-etm@openssh.com";

/// OpenSSH's default order from 7.6 to 9.9.
pub(crate) const DEFAULT: [&str; 6] = [
    CHACHA20,
    "aes128-ctr",
    "aes192-ctr",
    "aes256-ctr",
    GCM128,
    GCM256,
];

/// A list whose source is the compiled default.
pub(crate) fn effective(side: Side, ciphers: &[&str]) -> Effective {
    Effective {
        side,
        ciphers: owned(ciphers),
        source: Source::Default("OpenSSH 9.2".to_owned()),
        written: None,
        default: owned(&DEFAULT),
        macs: owned(&[UMAC64, "umac-128-etm@openssh.com"]),
        rekey_limit: None,
        alternatives: Vec::new(),
        considered: Vec::new(),
        problems: Vec::new(),
        files: Vec::new(),
        unread: Vec::new(),
    }
}

pub(crate) fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// A machine with AES on which nothing was measured yet.
pub(crate) fn machine() -> Report {
    let features = [
        ("aes", FeatureState::Present),
        ("avx2", FeatureState::Present),
        ("avx512f", FeatureState::Disabled),
        ("pclmulqdq", FeatureState::Present),
        ("vaes", FeatureState::Absent),
    ];
    let program = |name: &str| Program {
        path: format!("/usr/bin/{name}"),
        version: "OpenSSH_9.2p1 Debian-2+deb12u10".to_owned(),
        ciphers: Cipher::ALL.iter().map(|it| it.name().to_owned()).collect(),
        macs: owned(&[UMAC64]),
        ..Program::default()
    };
    Report {
        host: Host {
            name: "example".to_owned(),
            os: "Debian GNU/Linux 12".to_owned(),
            kernel: "6.1.0".to_owned(),
            architecture: "x86_64".to_owned(),
            processors: 2,
            hypervisor: Some("KVM".to_owned()),
            load: Some(0.07),
            ..Host::default()
        },
        cpu: Cpu {
            brand: "Intel(R) Xeon(R) Processor @ 2.90GHz".to_owned(),
            vendor: "GenuineIntel".to_owned(),
            model: "family 6 model 106 stepping 6".to_owned(),
            microcode: None,
            features: features
                .map(|(name, state)| (name.to_owned(), state))
                .into(),
        },
        openssh: OpenSsh {
            client: Some(program("ssh")),
            server: Some(program("sshd")),
            libcrypto: Some(Library {
                name: "libcrypto.so.3".to_owned(),
                version: "OpenSSL 3.0.19 27 Jan 2026".to_owned(),
                ..Library::default()
            }),
            dropbear: None,
        },
        ..Report::default()
    }
}

/// Adds the speed of full packets, both directions, as ssh does it.
pub(crate) fn ssh(report: &mut Report, cipher: &str, gb_per_s: f64) {
    cells(
        report,
        cipher,
        ProviderName::OpenSsh,
        32 * 1024,
        gb_per_s,
        9,
    );
}

/// Adds the speed of packets in both directions, ± 2 %. Opening is a little slower than sealing.
pub(crate) fn cells(
    report: &mut Report,
    cipher: &str,
    provider: ProviderName,
    bytes: usize,
    gb_per_s: f64,
    rounds: usize,
) {
    let known: Cipher = cipher.parse().expect("a cipher of OpenSSH");
    for (direction, factor) in [(Direction::Seal, 1.02), (Direction::Open, 1.0)] {
        let speed = gb_per_s * factor;
        report.measurements.push(Measurement {
            cipher: cipher.to_owned(),
            mac: (!known.is_aead()).then(|| UMAC64.to_owned()),
            provider,
            direction,
            bytes,
            kernel: kernel(cipher, provider),
            gb_per_s: speed,
            ci95: [speed * 0.98, speed * 1.02],
            cycles_per_byte: None,
            rounds,
            batched: false,
        });
    }
}

/// Adds transfers in both directions whose busier end costs so many user seconds per GiB, ± 3 %, and 0.4
/// system seconds. Sending costs a little more than receiving.
pub(crate) fn carried(report: &mut Report, cipher: &str, user: f64) {
    let known: Cipher = cipher.parse().expect("a cipher of OpenSSH");
    for direction in Way::BOTH {
        let (client, server) = match direction {
            Way::Up => (user, user * 0.9),
            Way::Down => (user * 0.85, user * 0.95),
        };
        let busier = client.max(server);
        let mb_per_s = 800.0 / (busier + 0.4);
        report.transfers.push(Transfer {
            implementation: Implementation::OpenSsh,
            host: None,
            cipher: cipher.to_owned(),
            mac: (!known.is_aead()).then(|| UMAC64.to_owned()),
            direction,
            mb_per_s,
            ci95: [mb_per_s * 0.9, mb_per_s * 1.1],
            client_cpu_s_per_gib: [client, 0.4],
            server_cpu_s_per_gib: Some([server, 0.4]),
            user_s_per_gib: busier,
            user_ci95: [busier * 0.97, busier * 1.03],
            rounds: 3,
        });
    }
}

/// [`fast_aes`] as transfers show it: aes-ctr with UMAC is behind chacha20, though its packets are faster.
pub(crate) fn carried_aes() -> Report {
    let mut report = fast_aes();
    for (cipher, user) in [
        (CHACHA20, 0.95),
        ("aes128-ctr", 1.28),
        ("aes192-ctr", 1.26),
        ("aes256-ctr", 1.27),
        (GCM128, 0.41),
        (GCM256, 0.46),
    ] {
        carried(&mut report, cipher, user);
    }
    report
}

fn kernel(cipher: &str, provider: ProviderName) -> String {
    match (provider, cipher) {
        (ProviderName::Native, CHACHA20) => "chacha20 avx2 + poly1305 avx2".to_owned(),
        (ProviderName::Native, _) => "aes aesni + ghash pclmul".to_owned(),
        (ProviderName::RustCrypto, _) => "RustCrypto".to_owned(),
        (_, CHACHA20) => "OpenSSL 3.0.19 ChaCha20 + portable Poly1305".to_owned(),
        _ => "OpenSSL 3.0.19".to_owned(),
    }
}

/// The machine with figures like those of a real one: AES-GCM far ahead, chacha20 held back by Poly1305.
pub(crate) fn fast_aes() -> Report {
    let mut report = machine();
    let speeds = [
        (CHACHA20, 1.66, 4.80),
        ("aes128-ctr", 2.61, 3.10),
        ("aes192-ctr", 2.50, 2.95),
        ("aes256-ctr", 2.44, 2.90),
        (GCM128, 7.02, 9.90),
        (GCM256, 5.91, 8.70),
    ];
    for (bytes, factor) in [(32 * 1024, 1.0), (1024, 0.4), (64, 0.04)] {
        for (cipher, ssh, native) in speeds {
            let rounds = if bytes == 64 { 2 } else { 9 };
            cells(
                &mut report,
                cipher,
                ProviderName::OpenSsh,
                bytes,
                ssh * factor,
                rounds,
            );
            cells(
                &mut report,
                cipher,
                ProviderName::Native,
                bytes,
                native * factor,
                rounds,
            );
        }
        cells(
            &mut report,
            GCM128,
            ProviderName::RustCrypto,
            bytes,
            2.2 * factor,
            5,
        );
    }
    report.unavailable.push(UnavailableCell {
        cipher: CHACHA20.to_owned(),
        mac: None,
        provider: ProviderName::RustCrypto,
        reason: "the crate chacha20poly1305 has no 64-bit nonce".to_owned(),
    });
    report.warnings.push(
        "The load was 1.7 when measuring began: close other programs and measure again.".to_owned(),
    );
    report
}

/// A machine without AES instructions.
pub(crate) fn no_aes() -> Report {
    let mut report = machine();
    report
        .cpu
        .features
        .insert("aes".to_owned(), FeatureState::Absent);
    for (cipher, speed) in [
        (CHACHA20, 1.70),
        ("aes128-ctr", 0.55),
        ("aes192-ctr", 0.48),
        ("aes256-ctr", 0.42),
        (GCM128, 0.32),
        (GCM256, 0.27),
    ] {
        ssh(&mut report, cipher, speed);
    }
    report
}
