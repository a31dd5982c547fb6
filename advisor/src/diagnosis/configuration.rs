//! What the files say that they should not, and what only looks like a setting.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::path::Path;

use super::{Finding, LEFT_OUT, Subject};
use crate::policy::{Objection, Policy};
use crate::resolver::{Effective, Problem, Severity, Side, Source};

/// The resolver's problems, as findings. A file both sides read is reported once.
pub(super) fn problems(subject: Subject<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut told = HashSet::new();
    for effective in sides(subject) {
        for problem in &effective.problems {
            let Problem {
                severity,
                location,
                what,
                cure,
            } = problem;
            if !told.insert((severity, location, what, cure)) {
                continue;
            }
            findings.push(Finding {
                file: Some(location.file.clone()),
                line: Some(location.line).filter(|&line| line > 0),
                ..Finding::new(
                    "configuration-problem",
                    *severity,
                    what,
                    location.to_string(),
                    cure,
                )
            });
        }
        findings.extend(undecided(effective));
    }
    findings
}

fn undecided(effective: &Effective) -> Option<Finding> {
    let lists = effective.alternatives.len();
    (lists > 0).then(|| {
        Finding::new(
            "configuration-depends",
            Severity::Warning,
            format!("which Ciphers the {} uses depends on a Match that is decided only at run time, by a command, the network or the kind of session", effective.side),
            match lists {
                1 => "1 other list is possible".to_owned(),
                _ => format!("{lists} other lists are possible"),
            },
            "this program runs no such command; `advisor explain` shows the lines",
        )
    })
}

/// Ciphers a policy objects to that are offered all the same.
pub(super) fn objections(subject: Subject<'_>) -> Vec<Finding> {
    let findings = sides(subject).filter_map(|side| objection(side, subject.policy));
    findings.collect()
}

fn objection(effective: &Effective, policy: &Policy) -> Option<Finding> {
    let objected: Vec<(&str, Objection)> = effective
        .ciphers
        .iter()
        .filter_map(|name| Some((name.as_str(), policy.objection(name)?)))
        .collect();
    let names: Vec<&str> = objected.iter().map(|(name, _)| *name).collect();
    let program = match effective.side {
        Side::Client => "ssh",
        Side::Server => "sshd",
    };
    (!names.is_empty()).then(|| {
        Finding::new(
            "policy-objection",
            Severity::Warning,
            format!(
                "{program} offers ciphers to which policy {} objects",
                policy.name
            ),
            names.join(", "),
            match (&policy.exact, policy.restrict, effective.side) {
                (Some(_), ..) | (None, true, Side::Server) => {
                    "the recommended list leaves them out"
                }
                _ => "an order only puts them last; remove them by hand if no peer needs them",
            },
        )
    })
}

/// Ciphers that the recommended list leaves out, and who misses them.
pub(super) fn left_out(subject: Subject<'_>) -> Vec<Finding> {
    let sides = [Side::Client, Side::Server];
    let advices = sides
        .into_iter()
        .filter_map(|side| subject.recommendation.side(side));
    let findings = advices.filter_map(|advice| {
        let dropped = advice.dropped();
        let (peers, here) = match advice.side {
            Side::Client => ("servers", "be reached"),
            Side::Server => ("clients", "connect"),
        };
        (!dropped.is_empty()).then(|| {
            Finding::new(
                LEFT_OUT,
                Severity::Warning,
                format!(
                    "WARNING: with the recommended list, {peers} that know only what it leaves out can not {here} any more"
                ),
                format!("left out: {}; left: {}", dropped.join(", "), advice.order().join(", ")),
                "try it on one host first and keep a session open there; advisor --rollback puts the old list back",
            )
        })
    });
    findings.collect()
}

/// Commented-out `Ciphers` lines that are not the default, though they look like it.
pub(super) fn examples(
    subject: Subject<'_>,
    read: &dyn Fn(&Path) -> Option<Vec<u8>>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for effective in sides(subject) {
        let Source::Default(release) = &effective.source else {
            continue;
        };
        for file in &effective.files {
            let bytes = read(file).unwrap_or_default();
            let lines = String::from_utf8_lossy(&bytes).into_owned();
            let misleading = lines
                .lines()
                .enumerate()
                .filter_map(|(index, line)| Some((index + 1, example(line)?)))
                .find(|(_, value)| !value.split(',').eq(effective.default.iter()));
            if let Some((line, value)) = misleading {
                findings.push(Finding {
                    file: Some(file.clone()),
                    line: Some(line),
                    ..Finding::new(
                        "misleading-example",
                        Severity::Info,
                        format!("the commented-out Ciphers line is not the default of {release}"),
                        value,
                        "ignore it; `advisor explain` shows the list in force",
                    )
                });
            }
        }
    }
    findings
}

/// The value of a line like `#   Ciphers aes128-ctr,aes192-ctr`.
fn example(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix('#')?.trim();
    let (keyword, value) = text.split_once([' ', '\t', '='])?;
    let value = value.trim();
    let is_list = value.contains(',') && !value.contains(' ');
    (keyword.eq_ignore_ascii_case("ciphers") && is_list).then_some(value)
}

fn sides<'a>(subject: Subject<'a>) -> impl Iterator<Item = &'a Effective> {
    [subject.client, subject.server].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_commented_out_setting_is_an_example() {
        let value = "aes128-ctr,aes192-ctr";
        assert_eq!(example("#   Ciphers aes128-ctr,aes192-ctr"), Some(value));
        assert_eq!(example("  #ciphers=aes128-ctr,aes192-ctr"), Some(value));
        assert_eq!(example("Ciphers aes128-ctr,aes192-ctr"), None);
        assert_eq!(example("# Ciphers and MACs, in order"), None);
        assert_eq!(example("# Ciphers"), None);
    }
}
