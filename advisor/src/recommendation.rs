//! From a report, an effective configuration and a policy to an order of ciphers, with a reason for
//! every position.
//!
//! Reorder only: no cipher is added or removed, but where a policy says so by name. Nothing here reads a file
//! or measures.
#![forbid(unsafe_code)]

mod carried;
mod dropbear;
mod evidence;
mod limits;
mod list;
mod order;
mod projection;

use std::fmt;

use engine::measure::statistics::SAMPLES_FOR_95;
use engine::report::Report;

pub use dropbear::order_of_dropbear;
pub use evidence::{Evidence, Speed};
pub use order::Interval;
pub use projection::Projection;

use crate::policy::{Objection, Policy, Profile};
use crate::resolver::{Effective, Side, Source};
use carried::{NARROW, VAGUE};
use evidence::Numbers;
use list::List;

/// The advice for both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// What it rests on; `None` when nothing was measured that could be compared.
    pub evidence: Option<Evidence>,
    /// The evidence in one sentence, with what it lacks.
    pub basis: String,
    /// By what share a cipher had to be faster to overtake (0.1 = 10 %).
    pub threshold: f64,
    /// How far packets can be projected to transfers here.
    pub projection: Projection,
    /// What the machine is assumed to do.
    pub profile: Profile,
    /// The policy's name.
    pub policy: String,
    /// Advice for the client's list.
    pub client: Option<Advice>,
    /// Advice for the server's list.
    pub server: Option<Advice>,
}

impl Recommendation {
    /// The advice for one side.
    #[must_use]
    pub const fn side(&self, side: Side) -> Option<&Advice> {
        match side {
            Side::Client => self.client.as_ref(),
            Side::Server => self.server.as_ref(),
        }
    }
}

/// The advice for one list.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Which side.
    pub side: Side,
    /// The effective list today.
    pub today: Vec<String>,
    /// The recommended list.
    pub places: Vec<Place>,
    /// Neighbours in the recommended list none of which beats another, each group from its leader on.
    pub ties: Vec<Vec<String>>,
    /// Speed of a transfer with the recommended first cipher as a multiple of today's first, measured or
    /// projected as the evidence has it; `None` where one of them was not measured.
    pub gain: Option<f64>,
    /// The policy that pins this list, where one does.
    pub pinned: Option<String>,
    /// By how much the fastest cipher there is would be faster than the one that policy puts first.
    pub price: Option<f64>,
    /// What this order can and cannot change.
    pub limits: Vec<String>,
}

impl Advice {
    /// The recommended list.
    #[must_use]
    pub fn order(&self) -> Vec<String> {
        self.places
            .iter()
            .map(|place| place.cipher.clone())
            .collect()
    }

    /// What is recommended and not in today's list.
    #[must_use]
    pub fn added(&self) -> Vec<&str> {
        let places = self.places.iter().filter(|it| it.today == 0);
        places.map(|it| it.cipher.as_str()).collect()
    }

    /// What is in today's list and not recommended.
    #[must_use]
    pub fn dropped(&self) -> Vec<&str> {
        let is_kept = |name: &&String| self.places.iter().any(|it| it.cipher == **name);
        let dropped = self.today.iter().filter(|it| !is_kept(it));
        dropped.map(String::as_str).collect()
    }

    /// Whether the recommended order is not today's.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.places
            .iter()
            .map(|place| &place.cipher)
            .ne(&self.today)
    }
}

/// One place in the recommended list.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The cipher's name.
    pub cipher: String,
    /// Its speed, where measured well enough.
    pub speed: Option<Speed>,
    /// Its place today, from 1; 0 where the policy adds it.
    pub today: usize,
    /// How it came here among those the policy treats alike.
    pub reason: Reason,
    /// What the policy's preference for long keys has to do with it.
    pub preference: Option<String>,
}

impl Place {
    /// The whole reason, in a few words.
    #[must_use]
    pub fn why(&self) -> String {
        match &self.preference {
            Some(preference) => format!("{}; {preference}", self.reason),
            None => self.reason.to_string(),
        }
    }

    /// Projected speed of a transfer in MB/s, if nothing but this processor limits it.
    #[must_use]
    pub fn projected_mb_per_s(&self) -> Option<f64> {
        Some(self.speed.as_ref()?.projected_mb_per_s)
    }
}

/// Why a cipher stands where it stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// None of those below is faster beyond the threshold.
    Kept {
        /// Ciphers that stood below it today and stand above it now.
        overtaken_by: Vec<String>,
        /// Whether there is anything below it that it was compared with.
        compared: bool,
        /// The threshold.
        threshold: f64,
    },
    /// There is no number to compare.
    Unmeasured,
    /// It is faster than the one that stood here.
    Faster {
        /// The displaced cipher.
        than: String,
        /// Speed as a multiple of the displaced cipher's.
        times: f64,
        /// The cipher with the highest proven speed, where that is another one it ties with.
        tied_with: Option<String>,
    },
    /// The policy puts it behind all that it allows.
    Objection(Objection, String),
    /// The policy of this name pins the list.
    Pinned(String),
    /// The policy of this name pins a list with ciphers that the installed program lacks.
    Unattainable(String, String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept {
                overtaken_by,
                compared,
                threshold,
            } => kept(f, overtaken_by, *compared, *threshold),
            Self::Unmeasured => {
                f.write_str("no usable measurement: left behind what stood before it")
            }
            Self::Faster {
                than,
                times,
                tied_with: None,
            } => write!(f, "{times:.1} × as fast as {}", short(than)),
            Self::Faster {
                than,
                times,
                tied_with: Some(other),
            } => write!(
                f,
                "{times:.1} × as fast as {}; tied with {}, which stands below it today",
                short(than),
                short(other)
            ),
            Self::Objection(objection, policy) => {
                let rule = match objection {
                    Objection::NotAllowed => "does not allow it",
                    Objection::Forbidden => "forbids it",
                    Objection::ShortKey => "asks for a longer key",
                };
                write!(f, "policy {policy} {rule}: behind all it allows")
            }
            Self::Pinned(policy) => write!(f, "policy {policy} pins this list and its order"),
            Self::Unattainable(policy, lacking) => write!(
                f,
                "stays: policy {policy} pins a list with {lacking}, which is not installed"
            ),
        }
    }
}

fn kept(
    f: &mut fmt::Formatter<'_>,
    overtaken_by: &[String],
    compared: bool,
    threshold: f64,
) -> fmt::Result {
    match overtaken_by {
        [] if compared => f.write_str("stays")?,
        [] => return f.write_str("stays: nothing below to compare"),
        [one] => write!(f, "behind {}", short(one))?,
        several => write!(f, "behind {} faster ones", several.len())?,
    }
    if compared {
        write!(
            f,
            ": none below is proven {:.0} % faster",
            threshold * 100.0
        )?;
    }
    Ok(())
}

/// A cipher's name without `@openssh.com`.
fn short(name: &str) -> &str {
    name.strip_suffix("@openssh.com").unwrap_or(name)
}

/// Which evidence to use: the strongest there is, or one kind only.
pub type Choice = Option<Evidence>;

/// Recommends an order for each side that is given. `choice` of `None` takes the strongest evidence.
///
/// The order is a function of its arguments alone; recommending on a recommended order with the
/// same report changes nothing.
#[must_use]
pub fn recommend(
    report: &Report,
    client: Option<&Effective>,
    server: Option<&Effective>,
    policy: &Policy,
    choice: Choice,
) -> Recommendation {
    let sides: Vec<&Effective> = [client, server].into_iter().flatten().collect();
    let evidence = evidence(report, &sides, policy, choice);
    let counted = evidence.or(choice).unwrap_or(Evidence::Packet);
    let threshold = policy.threshold.unwrap_or(counted.threshold());
    let numbers = Numbers::new(report, counted, policy.profile.packet_bytes());
    let advise = |effective: &Effective| {
        let own = pinning(effective, policy);
        let policy = own.as_ref().unwrap_or(policy);
        let installed = installed(report, effective.side);
        let mut advice = advise(effective, installed, &numbers, policy, threshold);
        if evidence == Some(Evidence::Transfer) {
            advice.limits.extend(without_transfer(&advice.places));
        }
        advice
    };
    Recommendation {
        evidence,
        basis: basis(evidence, choice, policy.profile),
        threshold,
        projection: Projection::of(report),
        profile: policy.profile,
        policy: policy.name.clone(),
        client: client.map(advise),
        server: server.map(advise),
    }
}

/// The built-in policy that pins a list somebody has written, where that is to be respected.
fn pinning(effective: &Effective, policy: &Policy) -> Option<Policy> {
    let is_written = matches!(effective.source, Source::Line(_) | Source::CommandLine(_));
    let asks = policy.respect_pinned && policy.exact.is_none() && is_written;
    asks.then(|| Policy::that_pins(&effective.ciphers))
        .flatten()
}

/// What the program of a side lists; nothing where it is not known.
fn installed(report: &Report, side: Side) -> &[String] {
    let program = match side {
        Side::Client => &report.openssh.client,
        Side::Server => &report.openssh.server,
    };
    program.as_ref().map_or(&[], |it| &it.ciphers)
}

/// The strongest evidence that can compare at least two ciphers of one side. Transfers move full packets, so
/// unasked they speak for bulk only.
fn evidence(report: &Report, sides: &[&Effective], policy: &Policy, choice: Choice) -> Choice {
    let profile = policy.profile;
    let candidates = match (choice, profile) {
        (Some(one), _) => vec![one],
        (None, Profile::Bulk) => vec![Evidence::Transfer, Evidence::Packet, Evidence::Native],
        (None, _) => vec![Evidence::Packet, Evidence::Native],
    };
    candidates.into_iter().find(|&candidate| {
        let numbers = Numbers::new(report, candidate, profile.packet_bytes());
        let threshold = policy.threshold.unwrap_or(candidate.threshold());
        let measured = |side: &&Effective| {
            let speeds = side
                .ciphers
                .iter()
                .map(|name| numbers.speed(name, &side.macs));
            speeds.flatten().count()
        };
        let is_clear = |side: &&Effective| {
            let asked = choice.is_some() || candidate != Evidence::Transfer;
            asked || clear(side, &numbers, threshold)
        };
        let mut sides = sides.iter().copied();
        sides.any(|side| measured(&side) >= 2 && is_clear(&side))
    })
}

/// Whether transfers tell ciphers apart, or know that there is nothing to tell: on a busy machine their intervals
/// can be so wide that packets say more. Today's first has to be among those that are known, since it is what
/// others are compared with.
fn clear(side: &Effective, numbers: &Numbers<'_>, threshold: f64) -> bool {
    let interval = |cipher: &String| Some(numbers.speed(cipher, &side.macs)?.interval);
    let width = |it: &Interval| it.high / it.low;
    let first = side.ciphers.first().and_then(interval);
    let known: Vec<Interval> = side.ciphers.iter().filter_map(interval).collect();
    let clear = || known.iter().filter(|it| width(it) < VAGUE);
    let tells_apart = || clear().any(|a| clear().any(|b| a.beats(b, threshold)));
    let is_narrow = |it: &Interval| width(it) < NARROW;
    first.is_none_or(|it| width(&it) < VAGUE)
        && clear().count() >= 2
        && (tells_apart() || known.iter().all(is_narrow))
}

/// Ciphers that were not carried are not compared; that must not go unsaid.
fn without_transfer(places: &[Place]) -> Option<String> {
    let without = places.iter().filter(|place| place.speed.is_none());
    let names: Vec<&str> = without.map(|place| short(&place.cipher)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Not compared, for want of a transfer: {}. Raise --time-budget, or take --evidence packet.",
            names.join(", ")
        )
    })
}

fn basis(evidence: Option<Evidence>, choice: Choice, profile: Profile) -> String {
    let size = match profile {
        Profile::Bulk => "32 KiB",
        Profile::Mixed => "1 KiB",
        Profile::Interactive => "64-byte",
    };
    match (evidence, choice) {
        (Some(Evidence::Transfer), _) => {
            "real transfers between the installed ssh and sshd, both ways, by the processor time of the busier end"
                .to_owned()
        }
        (Some(Evidence::Packet), _) => {
            format!("{size} packets, sealed and opened as the installed OpenSSH does it")
        }
        (Some(Evidence::Native), Some(_)) => {
            format!("{size} packets in this program's own kernels, as asked: not what ssh runs")
        }
        (Some(Evidence::Native), None) => format!(
            "{size} packets in this program's own kernels: the installed OpenSSH could not be measured, so this is what the processor can do, not what ssh does"
        ),
        (None, Some(Evidence::Transfer)) => {
            "nothing: no two ciphers of a list were carried often enough both ways, so today's order stands; raise --time-budget, or see advisor doctor for what is in the way"
                .to_owned()
        }
        (None, _) => format!(
            "nothing: no two ciphers of a list have {SAMPLES_FOR_95} rounds of {size} packets in both directions, so today's order stands; raise --time-budget"
        ),
    }
}

fn advise(
    effective: &Effective,
    installed: &[String],
    numbers: &Numbers<'_>,
    policy: &Policy,
    threshold: f64,
) -> Advice {
    let places = List::new(effective, installed, numbers, policy, threshold).places();
    let today = effective.ciphers.iter();
    let today: Vec<Option<Speed>> = today.map(|it| numbers.speed(it, &effective.macs)).collect();
    let mut advice = Advice {
        side: effective.side,
        today: effective.ciphers.clone(),
        ties: ties(&places, threshold),
        gain: gain(&places, &today),
        pinned: pinned(&places),
        price: None,
        limits: Vec::new(),
        places,
    };
    advice.price = advice
        .pinned
        .is_some()
        .then(|| price(&advice.places, &today))
        .flatten();
    advice.limits = limits::limits(effective, &advice);
    advice
}

/// The policy whose list this is.
fn pinned(places: &[Place]) -> Option<String> {
    match &places.first()?.reason {
        Reason::Pinned(policy) => Some(policy.clone()),
        _ => None,
    }
}

/// By how much the fastest cipher, of today's and of those pinned, is faster than the one pinned first.
fn price(places: &[Place], today: &[Option<Speed>]) -> Option<f64> {
    let first = places.first()?.projected_mb_per_s()?;
    let known = places.iter().filter_map(Place::projected_mb_per_s);
    let others = today.iter().flatten().map(|it| it.projected_mb_per_s);
    Some(known.chain(others).fold(first, f64::max) / first)
}

/// Groups against the leader of the group, not the neighbour: ties are not transitive.
fn ties(places: &[Place], threshold: f64) -> Vec<Vec<String>> {
    let mut groups: Vec<(Interval, Vec<String>)> = Vec::new();
    for place in places {
        let Some(interval) = place.speed.as_ref().map(|speed| speed.interval) else {
            continue;
        };
        match groups.last_mut() {
            Some((leader, members)) if leader.ties(&interval, threshold) => {
                members.push(place.cipher.clone());
            }
            _ => groups.push((interval, vec![place.cipher.clone()])),
        }
    }
    let groups = groups.into_iter().map(|(_, members)| members);
    groups.filter(|members| members.len() > 1).collect()
}

/// The first cipher is what gets negotiated wherever the other side has it.
fn gain(places: &[Place], today: &[Option<Speed>]) -> Option<f64> {
    let today = today.first()?.as_ref()?.projected_mb_per_s;
    Some(places.first()?.projected_mb_per_s()? / today)
}
