//! What the second pass of a separate MAC costs.
#![forbid(unsafe_code)]

use engine::algorithm::{Cipher, Mac};
use engine::report::ProviderName;

use super::{Finding, Subject, slower};
use crate::resolver::Severity;

/// By how much aes-gcm must be faster before the MAC of aes-ctr is worth a word.
const WORTH_A_WORD: f64 = 1.5;

pub(super) fn findings(subject: Subject<'_>) -> Option<Finding> {
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
    let mac = mac
        .parse::<Mac>()
        .map_or(mac.to_owned(), |mac| mac.short_name().to_owned());
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
