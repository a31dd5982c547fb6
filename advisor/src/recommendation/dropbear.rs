//! The order of Dropbear's client. No file sets it: it goes on a command line, and rests on Dropbear's own transfers.
#![forbid(unsafe_code)]

use engine::report::Report;
use engine::transfer::Implementation;

use super::carried::Carried;
use super::evidence::Evidence;
use super::order::{Interval, arrange};

/// What `dbclient -c` is best given: its own order, except where a cipher is faster beyond the threshold of
/// transfers. `None` without at least two ciphers carried by it, both ways.
#[must_use]
pub fn order_of_dropbear(report: &Report) -> Option<Vec<String>> {
    let own = &report.openssh.dropbear.as_ref()?.ciphers;
    // With its own server first: the two are mostly used together.
    let servers = [Implementation::Dropbear, Implementation::DropbearToOpenSsh];
    servers.into_iter().find_map(|implementation| {
        let carried = Carried::by(implementation, report);
        let interval = |cipher: &String| {
            let found = carried.ranked().find(|it| it.cipher == *cipher)?;
            Some(Interval {
                low: found.ci95[0],
                median: found.gb_per_s,
                high: found.ci95[1],
            })
        };
        let speeds: Vec<_> = own.iter().map(interval).collect();
        if speeds.iter().flatten().count() < 2 {
            return None;
        }
        let order = arrange(&speeds, Evidence::Transfer.threshold());
        Some(order.iter().map(|&(index, _)| own[index].clone()).collect())
    })
}
