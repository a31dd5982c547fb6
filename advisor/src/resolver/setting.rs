//! First value wins, also where it cannot be known which lines apply.
#![forbid(unsafe_code)]

use super::algorithms::{Family, Kind, NoList};
use super::patterns::Activity;
use super::reading::Reading;
use super::{Considered, Effective, Location, Outcome, RekeyLimit, Severity, Side, Source, show};

/// Values that hang on something unknown. Nobody writes or reads more of them, and every comparison looks at
/// all.
const MOST_POSSIBLE: usize = 256;

/// A value and where it is written.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) value: Vec<u8>,
    pub(super) location: Location,
}

/// A keyword's value so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Setting {
    /// What a line that surely applies has set.
    pub(super) winner: Option<Written>,
    /// What earlier lines set if they apply.
    pub(super) possible: Vec<Written>,
}

impl Setting {
    /// Offers a value; only the first counts.
    pub(super) fn offer(&mut self, active: Activity, value: &[u8], location: &Location) {
        if self.winner.is_some() || active == Activity::No {
            return;
        }
        let written = Written {
            value: value.to_vec(),
            location: location.clone(),
        };
        match active {
            Activity::Yes => self.winner = Some(written),
            _ if self.possible.len() < MOST_POSSIBLE => self.possible.push(written),
            _ => {}
        }
    }

    /// Every value it may have; `None` is "not set".
    pub(super) fn candidates(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let last = self.winner.as_ref().map(|written| &*written.value);
        let possible = self.possible.iter().map(|written| Some(&*written.value));
        possible.chain([last])
    }

    /// What a comparison of the value gives.
    pub(super) fn compare(&self, holds: impl FnMut(Option<&[u8]>) -> Activity) -> Activity {
        Activity::common(self.candidates().map(holds))
    }
}

/// Why the current line applies or does not.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub(super) active: Activity,
    /// The block that decides; meaningless outside any.
    pub(super) block: Option<Location>,
}

/// The two lists of a side, and what became of every line about ciphers.
pub(super) struct Lists {
    pub(super) ciphers: Setting,
    pub(super) macs: Setting,
    pub(super) rekey: Setting,
    pub(super) cipher_family: Family,
    pub(super) mac_family: Family,
    pub(super) considered: Vec<Considered>,
    /// Whether the command line set the ciphers.
    typed: bool,
    /// In a second pass: the line of `considered` that comes next.
    revisited: Option<usize>,
}

impl Lists {
    pub(super) fn new(cipher_family: Family, mac_family: Family) -> Self {
        Self {
            ciphers: Setting::default(),
            macs: Setting::default(),
            rekey: Setting::default(),
            cipher_family,
            mac_family,
            considered: Vec::new(),
            typed: false,
            revisited: None,
        }
    }

    pub(super) fn family(&self, kind: Kind) -> &Family {
        match kind {
            Kind::Ciphers => &self.cipher_family,
            Kind::Macs => &self.mac_family,
        }
    }

    /// From here on files are read.
    pub(super) fn end_command_line(&mut self) {
        self.typed = self.ciphers.winner.is_some();
    }

    /// From here on the same lines come once more; those before `first` do not.
    pub(super) fn begin_second_pass(&mut self, first: usize) {
        self.revisited = Some(first);
    }

    /// Takes a valid value.
    pub(super) fn offer(
        &mut self,
        kind: Kind,
        standing: &Standing,
        value: &[u8],
        location: Location,
    ) {
        match kind {
            Kind::Macs => self.macs.offer(standing.active, value, &location),
            Kind::Ciphers => {
                let outcome = self.outcome(standing, &location);
                self.ciphers.offer(standing.active, value, &location);
                self.consider(location, value, outcome);
            }
        }
    }

    /// Takes note of a value the program refuses.
    pub(super) fn refuse(&mut self, kind: Kind, value: &[u8], location: Location, why: String) {
        if kind == Kind::Ciphers {
            self.consider(location, value, Outcome::Refused(why));
        }
    }

    fn outcome(&self, standing: &Standing, location: &Location) -> Outcome {
        let block = || standing.block.clone().unwrap_or_else(|| location.clone());
        match (standing.active, &self.ciphers.winner) {
            (Activity::No, _) => Outcome::BlockDoesNotMatch(block()),
            (_, Some(winner)) => Outcome::Shadowed(winner.location.clone()),
            (Activity::Maybe, None) => Outcome::Depends(block()),
            (Activity::Yes, None) => Outcome::Won,
        }
    }

    fn consider(&mut self, location: Location, value: &[u8], outcome: Outcome) {
        if let Some(at) = &mut self.revisited {
            let earlier = self.considered.get_mut(*at);
            *at += 1;
            // What became of a line in the first pass stands, unless its block applies only now.
            if let Some(earlier) = earlier
                && matches!(earlier.outcome, Outcome::BlockDoesNotMatch(_))
            {
                earlier.outcome = outcome;
            }
            return;
        }
        self.considered.push(Considered {
            location,
            value: String::from_utf8_lossy(value).into_owned(),
            outcome,
        });
    }

    /// The answer of a side.
    pub(super) fn conclude(self, side: Side, mut reading: Reading<'_>) -> Effective {
        let ciphers = self.list(&self.ciphers, &self.cipher_family, &mut reading);
        let macs = self.list(&self.macs, &self.mac_family, &mut reading);
        warn_of_empty(side, &self.ciphers, &ciphers, &mut reading);
        let mut alternatives: Vec<Vec<String>> = Vec::new();
        for possible in &self.ciphers.possible {
            if let Ok(list) = self.cipher_family.expand(&possible.value)
                && list != ciphers
                && !alternatives.contains(&list)
            {
                alternatives.push(list);
            }
        }
        let winner = self.ciphers.winner;
        let source = match &winner {
            Some(written) if self.typed => Source::CommandLine(written.location.clone()),
            Some(written) => Source::Line(written.location.clone()),
            None => Source::Default(self.cipher_family.release.to_string()),
        };
        let finished = reading.finish();
        Effective {
            side,
            ciphers,
            source,
            written: winner.map(|written| String::from_utf8_lossy(&written.value).into_owned()),
            default: self.cipher_family.default,
            macs,
            rekey_limit: rekey_limit(self.rekey.winner),
            alternatives,
            considered: self.considered,
            problems: finished.problems,
            files: finished.files,
            unread: finished.unread,
        }
    }

    /// The list in force; the default, and a problem, where the value gives none.
    fn list(&self, setting: &Setting, family: &Family, reading: &mut Reading<'_>) -> Vec<String> {
        let Some(written) = &setting.winner else {
            return family.default.clone();
        };
        family.expand(&written.value).unwrap_or_else(|NoList| {
            reading.refuse(
                written.location.clone(),
                &format!("'{}' leaves no algorithm to offer", show(&written.value)),
                "name at least one algorithm, without ! and without empty names",
            );
            family.default.clone()
        })
    }
}

/// `default`, `none` and 0 leave it to the cipher (`scan_scaled` and `RekeyLimit` in `readconf.c`).
fn rekey_limit(winner: Option<Written>) -> Option<RekeyLimit> {
    let Written { value, location } = winner?;
    let value = String::from_utf8(value).ok()?.to_ascii_uppercase();
    let number = value.trim_end_matches(['K', 'M', 'G']);
    let scale = match &value[number.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    let bytes = number.parse::<u64>().ok()?.checked_mul(scale)?;
    (bytes > 0).then_some(RekeyLimit { bytes, location })
}

/// Both programs start with an empty list. `sshd -T` even prints the default then, but offers nothing.
fn warn_of_empty(side: Side, setting: &Setting, list: &[String], reading: &mut Reading<'_>) {
    if let Some(written) = &setting.winner
        && list.is_empty()
    {
        let severity = match side {
            Side::Client => Severity::Warning,
            Side::Server => Severity::Error,
        };
        reading.report(
            severity,
            written.location.clone(),
            &format!(
                "'{}' removes every cipher: nobody can connect",
                show(&written.value)
            ),
            "keep at least one cipher",
        );
    }
}
