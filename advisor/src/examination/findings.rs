//! What only the whole examination can find: it takes files, processes and plans together.
//!
//! What follows from the report and the lists alone is the diagnosis's.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use engine::host::CAPABILITY_VARIABLES;
use engine::report::OpenSsh;

use super::{ASSUMED, Examination, Perspective};
use crate::diagnosis::{Finding, Subject, diagnose, of_daemon};
use crate::plan::{Refusal, Target};
use crate::resolver::{Severity, Side, Source};
use crate::startup;

impl Examination<'_> {
    /// Everything found, the worst first.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let request = &self.request;
        let subject = Subject {
            report: request.report,
            client: Some(&self.client),
            server: Some(&self.server),
            recommendation: &self.recommendation,
            policy: request.policy,
        };
        let mut findings = diagnose(subject, &|path| request.files.read(path).ok());
        let refusals = self.plans.iter().filter_map(|it| it.as_ref().err());
        findings.extend(refusals.map(refused));
        findings.extend(assumed(&request.report.openssh));
        findings.extend(self.overruled());
        findings.extend(self.missing_host_keys());
        findings.extend(self.masked_daemon());
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings
    }

    /// Variables of the running sshd that decide what its libcrypto does.
    fn masked_daemon(&self) -> Vec<Finding> {
        let perspective = self.request.perspective;
        let Some(processes) = &perspective.processes else {
            return Vec::new();
        };
        let (files, daemon) = (self.request.files, perspective.layout.daemon);
        let variables = startup::variables(files, processes, daemon, &CAPABILITY_VARIABLES);
        let findings = variables.iter();
        findings
            .filter_map(|(place, text)| of_daemon(place, text))
            .collect()
    }

    /// A server without a key of its own does not start, whatever its lists say: `sshd -t` fails for that, and
    /// not for anything this program writes.
    fn missing_host_keys(&self) -> Option<Finding> {
        let (files, perspective) = (self.request.files, self.request.perspective);
        // Images get theirs when they start for the first time.
        perspective.processes.as_ref()?;
        let usual = perspective.layout.directory.join("ssh_host_*_key");
        let names_key = |path: &PathBuf| {
            let bytes = files.read(path).unwrap_or_default();
            let mut lines = bytes.split(|&byte| byte == b'\n');
            lines.any(|line| {
                let word = line.trim_ascii_start().get(..7).unwrap_or_default();
                word.eq_ignore_ascii_case(b"hostkey")
            })
        };
        let has_key = files.glob(&usual).is_ok_and(|found| !found.is_empty());
        if has_key || self.server.files.is_empty() || self.server.files.iter().any(names_key) {
            return None;
        }
        Some(Finding::new(
            "host-keys-missing",
            Severity::Warning,
            "sshd has no host key, and does not start without one",
            format!(
                "nothing matches {}, and no HostKey line names another",
                usual.display()
            ),
            "make them: ssh-keygen -A",
        ))
    }

    /// The machine's list is not the one of a user whose own file sets another, which may be the one who looks.
    fn overruled(&self) -> Option<Finding> {
        let request = &self.request;
        let Target::System(_) = request.perspective.client else {
            return None;
        };
        let own = Perspective {
            client: Target::User(request.perspective.home.join(".ssh/config")),
            ..request.perspective.clone()
        };
        let programs = &request.report.openssh;
        let theirs = own.resolve(request.files, Side::Client, programs, request.host);
        let Source::Line(location) = &theirs.source else {
            return None;
        };
        let is_own = location.file.starts_with(&request.perspective.home);
        (is_own && theirs.ciphers != self.client.ciphers).then(|| Finding {
            file: Some(location.file.clone()),
            line: Some(location.line),
            ..Finding::new(
                "own-file-overrules",
                Severity::Info,
                format!("{}'s own file sets another list", request.perspective.user),
                theirs.ciphers.join(","),
                "--user-config works on that one; this is about the machine's",
            )
        })
    }
}

/// Which rules were applied where no program says so.
fn assumed(programs: &OpenSsh) -> Option<Finding> {
    (programs.client.is_none() && programs.server.is_none()).then(|| {
        Finding::new(
            "release-assumed",
            Severity::Warning,
            format!("no OpenSSH was found, so the rules of {ASSUMED} are assumed"),
            "neither ssh nor sshd answers",
            "install openssh-client, or name the programs with --ssh and --sshd",
        )
    })
}

/// A refusal as documents show it.
fn refused(refusal: &Refusal) -> Finding {
    let location = refusal.location.as_ref();
    Finding {
        file: location.map(|it| it.file.clone()),
        line: location.map(|it| it.line).filter(|&line| line > 0),
        ..Finding::new(
            "no-change-planned",
            Severity::Warning,
            format!("this program will not write the order: {}", refusal.what),
            location.map_or_else(|| "the report".to_owned(), ToString::to_string),
            &refusal.cure,
        )
    }
}
