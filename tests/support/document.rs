//! A document made from a report and two configurations as the program makes it, without a machine.
#![forbid(unsafe_code)]

use advisor::diagnosis::{Subject, diagnose};
use advisor::output::{Change, Document, RecommendationRecord};
use advisor::policy::Policy;
use advisor::recommendation::recommend;
use advisor::resolver::{Effective, Side};
use engine::report::Report;

/// What the program says of them, with a drop-in as the change.
pub(crate) fn document(report: Report, client: &Effective, server: &Effective) -> Document {
    let policy = Policy::default();
    let recommendation = recommend(&report, Some(client), Some(server), &policy, None);
    let subject = Subject {
        report: &report,
        client: Some(client),
        server: Some(server),
        recommendation: &recommendation,
        policy: &policy,
    };
    let findings = diagnose(subject, &|_| None);
    let mut document = Document::new(report);
    document.configuration.client = Some(client.into());
    document.configuration.server = Some(server.into());
    document.recommendation = Some(RecommendationRecord::from(&recommendation));
    document.findings = findings;
    document.changes.push(Change {
        side: Side::Client,
        file: "/etc/ssh/ssh_config.d/10-cipher-advisor.conf".into(),
        strategy: "A drop-in read before any other line.".to_owned(),
        diff: "--- /dev/null\n+++ /etc/ssh/ssh_config.d/10-cipher-advisor.conf\n@@ -0,0 +1 @@\n+Ciphers ^aes128-gcm@openssh.com\n".to_owned(),
        backup: None,
    });
    document
}
