//! Dropbear, whose order no file decides.
#![forbid(unsafe_code)]

use engine::report::Report;

use super::Finding;
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
        "choose per connection with `dbclient -c LIST`; the order itself is set when Dropbear is built",
    ))
}
