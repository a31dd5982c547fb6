//! What real transfers say of the other evidence, and why there are none.
#![forbid(unsafe_code)]

use engine::report::UnavailableTransfer;
use engine::transfer::Implementation;

use super::{Finding, Subject};
use crate::policy::Profile;
use crate::recommendation::Evidence;
use crate::resolver::Severity;

/// Share by which a projection may be off before it misleads.
const MISLEADING: f64 = 0.15;

pub(super) fn findings(subject: Subject<'_>) -> Vec<Finding> {
    let closed = subject.report.unavailable_transfers.iter();
    let closed = closed.filter(|it| it.cipher.is_none()).map(impossible);
    let vague = vague(subject).into_iter();
    closed.chain(vague).chain(projection(subject)).collect()
}

fn impossible(closed: &UnavailableTransfer) -> Finding {
    let (why, cure) = closed
        .reason
        .rsplit_once("; ")
        .unwrap_or((&closed.reason, "see above"));
    Finding::new(
        "no-transfers",
        Severity::Info,
        format!("no real transfers by {}", closed.implementation),
        why,
        cure,
    )
}

/// Transfers that were made, and speak for nothing.
fn vague(subject: Subject<'_>) -> Option<Finding> {
    let recommendation = subject.recommendation;
    let mut transfers = subject.report.transfers.iter();
    let own = transfers.any(|it| it.implementation == Implementation::OpenSsh && it.host.is_none());
    let unused = own
        && recommendation.profile == Profile::Bulk
        && recommendation.evidence != Some(Evidence::Transfer);
    unused.then(|| {
        Finding::new(
            "transfers-vague",
            Severity::Info,
            "the real transfers scatter too much to compare, or are too few",
            "the advice rests on weaker evidence",
            "run advisor again on an idle machine, or with a longer --time-budget",
        )
    })
}

/// Packets leave out what surrounds the cipher in ssh: its caches, its buffers, its second pass for the MAC.
fn projection(subject: Subject<'_>) -> Option<Finding> {
    let projection = &subject.recommendation.projection;
    let (cipher, error) = projection.worst.as_ref()?;
    if error.abs() < MISLEADING {
        return None;
    }
    let rests_on_packets = subject.recommendation.evidence == Some(Evidence::Packet);
    let severity = if rests_on_packets {
        Severity::Warning
    } else {
        Severity::Info
    };
    let direction = if *error > 0.0 { "fast" } else { "slow" };
    Some(Finding::new(
        "projection-error",
        severity,
        format!(
            "packets alone make {} look {:.0} % too {direction}",
            cipher.strip_suffix("@openssh.com").unwrap_or(cipher),
            error.abs() * 100.0
        ),
        format!(
            "projected as 1/(c + {:.2}) against the real transfers of {} ciphers",
            projection.overhead_s_per_gib, projection.ciphers
        ),
        "rely on --evidence transfer here",
    ))
}
