//! Dropbear, whose order no file decides.
#![forbid(unsafe_code)]

use engine::report::Report;

use super::Finding;
use crate::recommendation::order_of_dropbear;
use crate::resolver::Severity;

pub(super) fn findings(report: &Report) -> Option<Finding> {
    let dropbear = report.openssh.dropbear.as_ref()?;
    let list = if dropbear.ciphers.is_empty() {
        "its ciphers cannot be asked for".to_owned()
    } else {
        dropbear.ciphers.join(",")
    };
    Some(Finding::new(
        "dropbear-compiled-in",
        Severity::Info,
        "Dropbear is installed too, and no file orders its ciphers: they are compiled in",
        format!("{} ({}): {list}", dropbear.version, dropbear.path),
        choice(report).unwrap_or_else(|| {
            "choose per connection with `dbclient -c LIST`, `advisor transfer --implementation dropbear` shows by what; the order itself is set when Dropbear is built"
                .to_owned()
        }),
    ))
}

/// What to do about Dropbear's order, where its transfers say.
pub(crate) fn choice(report: &Report) -> Option<String> {
    let order = order_of_dropbear(report)?;
    let own = &report.openssh.dropbear.as_ref()?.ciphers;
    Some(if order == *own {
        "no order is faster than dbclient's own: nothing to do".to_owned()
    } else {
        format!(
            "`dbclient -c {}` is faster than its own order, which is set when Dropbear is built",
            order.join(",")
        )
    })
}
