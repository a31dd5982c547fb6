//! From a report, an effective configuration and a policy to an order of ciphers, with a reason for
//! every position.
//!
//! Reorder only: no cipher is added or removed. Nothing here reads a file or measures.
#![forbid(unsafe_code)]

mod carried;
mod evidence;
mod order;
mod projection;

use std::fmt;

use engine::measure::statistics::SAMPLES_FOR_95;
use engine::report::Report;

pub use evidence::{Evidence, Speed};
pub use order::Interval;
pub use projection::Projection;

use crate::policy::{Objection, Policy, Profile};
use crate::resolver::{Effective, Side};
use carried::{NARROW, VAGUE};
use evidence::Numbers;
use order::{Step, arrange};

/// The speed of a full 1 Gbit/s link in MB/s.
const GIGABIT_MB_PER_S: f64 = 118.0;

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
    /// Its place today, from 1.
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
        let mut advice = advise(effective, &numbers, policy, threshold);
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

fn advise(effective: &Effective, numbers: &Numbers<'_>, policy: &Policy, threshold: f64) -> Advice {
    let today = &effective.ciphers;
    let speed = |name: &String| numbers.speed(name, &effective.macs);
    let list = List {
        today,
        speeds: today.iter().map(speed).collect(),
        policy,
        threshold,
    };
    let places = list.places();
    Advice {
        side: effective.side,
        today: today.clone(),
        ties: ties(&places, threshold),
        gain: gain(&places),
        limits: limits(effective, &places),
        places,
    }
}

/// A list to be arranged, with all that decides.
struct List<'a> {
    today: &'a [String],
    speeds: Vec<Option<Speed>>,
    policy: &'a Policy,
    threshold: f64,
}

impl List<'_> {
    fn places(&self) -> Vec<Place> {
        let [preferred, allowed, objected] = self.classes();
        let split = !preferred.is_empty() && !allowed.is_empty();
        let note = |text: &str| split.then(|| format!("{text} (policy {})", self.policy.name));
        let mut places = self.class(&preferred, note("256-bit keys first").as_deref());
        places.extend(self.class(&allowed, note("behind 256-bit keys").as_deref()));
        places.extend(self.class(&objected, None));
        places
    }

    /// Indices into today's list by what the policy says: preferred, allowed, objected to. Speed
    /// decides inside each.
    fn classes(&self) -> [Vec<usize>; 3] {
        let mut classes = [const { Vec::new() }; 3];
        for (index, cipher) in self.today.iter().enumerate() {
            let class = match self.policy.objection(cipher) {
                Some(_) => 2,
                None if self.policy.prefers(cipher) => 0,
                None => 1,
            };
            classes[class].push(index);
        }
        classes
    }

    fn class(&self, members: &[usize], preference: Option<&str>) -> Vec<Place> {
        let interval = |&index: &usize| self.speeds[index].as_ref().map(|it| it.interval);
        let intervals: Vec<Option<Interval>> = members.iter().map(interval).collect();
        let steps = arrange(&intervals, self.threshold);
        let order: Vec<usize> = steps.iter().map(|&(member, _)| members[member]).collect();
        let place = |(place, &(_, step)): (usize, &(usize, Step))| Place {
            cipher: self.today[order[place]].clone(),
            speed: self.speeds[order[place]].clone(),
            today: order[place] + 1,
            reason: self.reason(&order, place, step, members),
            preference: preference.map(str::to_owned),
        };
        steps.iter().enumerate().map(place).collect()
    }

    fn reason(&self, order: &[usize], place: usize, step: Step, members: &[usize]) -> Reason {
        let index = order[place];
        if let Some(objection) = self.policy.objection(&self.today[index]) {
            return Reason::Objection(objection, self.policy.name.clone());
        }
        let median = |index: usize| {
            let speed = self.speeds[index].as_ref();
            speed.map_or(f64::NAN, |speed| speed.interval.median)
        };
        let name = |index: usize| self.today[index].clone();
        match step {
            Step::Unmeasured => Reason::Unmeasured,
            Step::Overtook { incumbent, fastest } => Reason::Faster {
                than: name(members[incumbent]),
                times: median(index) / median(members[incumbent]),
                tied_with: Some(members[fastest]).filter(|&it| it != index).map(name),
            },
            Step::Kept => Reason::Kept {
                overtaken_by: order[..place]
                    .iter()
                    .filter(|&&before| before > index)
                    .map(|&before| name(before))
                    .collect(),
                compared: order[place + 1..]
                    .iter()
                    .any(|&after| self.speeds[after].is_some()),
                threshold: self.threshold,
            },
        }
    }
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
fn gain(places: &[Place]) -> Option<f64> {
    let today = places.iter().find(|place| place.today == 1)?;
    Some(places.first()?.projected_mb_per_s()? / today.projected_mb_per_s()?)
}

fn limits(effective: &Effective, places: &[Place]) -> Vec<String> {
    let mut limits = match effective.side {
        Side::Client => client_limits(places),
        Side::Server => vec![
            "No effect on speed: the client's order decides, a server can only leave ciphers out."
                .to_owned(),
        ],
    };
    if !effective.alternatives.is_empty() {
        limits.push(
            "Which list holds depends on a Match that runs a command or asks the network; this is advice for the one shown."
                .to_owned(),
        );
    }
    limits
}

fn client_limits(places: &[Place]) -> Vec<String> {
    let mut limits = vec![
        "Nothing is added or removed, so whatever connects today still connects.".to_owned(),
        "A connection uses the first cipher of this list that the server has; open ones keep theirs."
            .to_owned(),
        "Many short connections gain nothing: a handshake costs as much as some 100 MB.".to_owned(),
    ];
    let ends = [places.first(), places.iter().find(|place| place.today == 1)];
    let projected = ends.map(|place| place.and_then(Place::projected_mb_per_s));
    if let [Some(new), Some(old)] = projected
        && new.min(old) > GIGABIT_MB_PER_S
    {
        limits.push(
            "On a link of 1 Gbit/s or less (118 MB/s) the link is the limit; what is saved there is processor time."
                .to_owned(),
        );
    }
    limits
}
