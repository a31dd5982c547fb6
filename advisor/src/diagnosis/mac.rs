//! What the second pass of a separate MAC costs.
#![forbid(unsafe_code)]

use engine::algorithm::{Cipher, Mac};
use engine::providers::CLEARING;
use engine::report::{ProviderName, Report};
use engine::transfer::Implementation;

use super::{Finding, Subject, slower};
use crate::resolver::Severity;

/// By how much aes-gcm must be faster before the MAC of aes-ctr is worth a word.
const WORTH_A_WORD: f64 = 1.5;

/// By how much real transfers must exceed what packets let expect, as a factor and in seconds a GiB.
const UNEXPECTED: f64 = 2.0;
const UNEXPECTED_S_PER_GIB: f64 = 0.25;

const SLOW_UMAC_CURE: &str = "keep aes-gcm first; where aes-ctr is needed, put hmac-sha2-256-etm first in MACs and measure again";

/// In units of 1e9 bytes.
const GIB: f64 = 1.073_741_824;

pub(super) fn findings(subject: Subject<'_>) -> Vec<Finding> {
    let slow = || slow_umac(subject.report);
    let slow = clearing_umac(subject).or_else(slow);
    [second_pass(subject), slow].into_iter().flatten().collect()
}

/// A build that clears every register whenever a function returns: UMAC calls one for every four bytes.
fn clearing_umac(subject: Subject<'_>) -> Option<Finding> {
    let macs = &subject.client?.macs;
    let cell = |provider, mac| slower(subject.report, provider, Cipher::Aes128Ctr.name(), mac);
    let as_built = |mac| cell(ProviderName::OpenSsh, Some(mac));
    let ours = macs.iter().find_map(|mac| as_built(mac))?;
    let mac = ours.mac.as_deref()?;
    if !ours.kernel.ends_with(CLEARING) {
        return None;
    }
    let own = cell(ProviderName::Native, Some(mac));
    let own = own.map(|it| format!(", {:.2} GB/s in this program's own kernels", it.gb_per_s));
    Some(Finding::new(
        "umac-slow",
        Severity::Info,
        format!(
            "the installed OpenSSH clears all registers whenever a function returns, and its UMAC calls one for every four bytes: aes-ctr with {} is slow",
            short(mac)
        ),
        format!(
            "built with -fzero-call-used-regs=all, as its code shows; aes128-ctr with it {:.2} GB/s{}",
            ours.gb_per_s,
            own.unwrap_or_default()
        ),
        SLOW_UMAC_CURE,
    ))
}

/// What aes-ctr with UMAC costs over aes-gcm in real transfers, against the same difference of packets that
/// this program's own UMAC protects: what is left is how the installed one was compiled.
fn slow_umac(report: &Report) -> Option<Finding> {
    let (ctr, gcm) = (Cipher::Aes128Ctr.name(), Cipher::Aes128Gcm.name());
    let mut umacs = report.transfers.iter().filter_map(|it| it.mac.as_deref());
    let umac = umacs.find(|mac| mac.starts_with("umac"))?;
    let real = |cipher, mac| carried(report, cipher, mac);
    let packet = |cipher, mac| {
        let cell = slower(report, ProviderName::OpenSsh, cipher, mac)?;
        Some(GIB / cell.gb_per_s)
    };
    let spent = real(ctr, Some(umac))? - real(gcm, None)?;
    let expected = packet(ctr, Some(umac))? - packet(gcm, None)?;
    let is_slow = spent > UNEXPECTED * expected.max(0.0) && spent - expected > UNEXPECTED_S_PER_GIB;
    is_slow.then(|| {
        Finding::new(
            "umac-slow",
            Severity::Info,
            format!("the UMAC of the installed ssh is slower than the same code elsewhere, so aes-ctr with {} is too", short(umac)),
            format!("it costs {spent:.2} s of processor time a GiB more than aes128-gcm in transfers, {expected:.2} s in packets"),
            SLOW_UMAC_CURE,
        )
    })
}

/// User seconds a GiB of the slower direction in transfers on this machine.
fn carried(report: &Report, cipher: &str, mac: Option<&str>) -> Option<f64> {
    let transfers = report.transfers.iter().filter(|it| {
        it.implementation == Implementation::OpenSsh
            && it.host.is_none()
            && it.cipher == cipher
            && it.mac.as_deref() == mac
    });
    transfers.map(|it| it.user_s_per_gib).reduce(f64::max)
}

fn short(name: &str) -> String {
    let known = name.parse::<Mac>();
    known.map_or(name.to_owned(), |mac| mac.short_name().to_owned())
}

fn second_pass(subject: Subject<'_>) -> Option<Finding> {
    let client = subject.client?;
    let offers = |cipher: Cipher| client.ciphers.iter().any(|name| name == cipher.name());
    if !offers(Cipher::Aes128Ctr) || !offers(Cipher::Aes128Gcm) {
        return None;
    }
    let cell =
        |cipher: Cipher, mac| slower(subject.report, ProviderName::OpenSsh, cipher.name(), mac);
    let gcm = cell(Cipher::Aes128Gcm, None)?;
    let ctr = client
        .macs
        .iter()
        .find_map(|mac| cell(Cipher::Aes128Ctr, Some(mac)))?;
    let mac = ctr.mac.as_deref()?;
    let mac = short(mac);
    (gcm.gb_per_s >= WORTH_A_WORD * ctr.gb_per_s).then(|| {
        Finding::new(
            "mac-costs",
            Severity::Info,
            format!("aes-ctr pays for {mac}, a second pass over every byte"),
            format!(
                "aes128-ctr with it {:.2} GB/s, aes128-gcm {:.2} GB/s",
                ctr.gb_per_s, gcm.gb_per_s
            ),
            "keep aes-gcm before aes-ctr",
        )
    })
}
