//! One list arranged: which ciphers it has, and in which order, by what the policy says and what was measured.
//!
//! Today's ciphers, and no others, unless the policy asks for some by name. Speed decides inside each class of
//! the policy. What is left out is left out by an exact list, or where a server is to be restricted.
#![forbid(unsafe_code)]

use super::evidence::Numbers;
use super::order::{Interval, Step, arrange};
use super::{Place, Reason, Speed, short};
use crate::policy::Policy;
use crate::resolver::{Effective, Side};

/// A list to be arranged, with all that decides.
pub(super) struct List<'a> {
    side: Side,
    /// The list in force.
    today: &'a [String],
    /// What is arranged: of today's what the policy does not take out, and what it adds.
    candidates: Vec<String>,
    speeds: Vec<Option<Speed>>,
    policy: &'a Policy,
    threshold: f64,
    /// Why the candidates keep their order, where that is the policy's.
    fixed: Option<Reason>,
}

impl<'a> List<'a> {
    /// `installed` are the ciphers the program lists; empty where that is not known.
    pub(super) fn new(
        effective: &'a Effective,
        installed: &[String],
        numbers: &Numbers<'_>,
        policy: &'a Policy,
        threshold: f64,
    ) -> Self {
        let (candidates, fixed) = candidates(&effective.ciphers, installed, policy);
        let speed = |name: &String| numbers.speed(name, &effective.macs);
        Self {
            side: effective.side,
            today: &effective.ciphers,
            speeds: candidates.iter().map(speed).collect(),
            candidates,
            policy,
            threshold,
            fixed,
        }
    }

    /// The list as it should be.
    pub(super) fn places(&self) -> Vec<Place> {
        match &self.fixed {
            Some(reason) => self.as_they_are(reason),
            None => self.restricted(self.arranged()),
        }
    }

    fn as_they_are(&self, reason: &Reason) -> Vec<Place> {
        let ciphers = self.candidates.iter().zip(&self.speeds);
        let place = |(cipher, speed): (&String, &Option<Speed>)| Place {
            cipher: cipher.clone(),
            speed: speed.clone(),
            today: self.place_today(cipher),
            reason: reason.clone(),
            preference: None,
        };
        ciphers.map(place).collect()
    }

    /// Class by class; what is objected to comes last.
    fn arranged(&self) -> Vec<Place> {
        let mut classes: Vec<Class> = self.candidates.iter().map(|it| self.class_of(it)).collect();
        classes.sort_unstable();
        classes.dedup();
        let mut places = Vec::new();
        for class in &classes {
            let members = (0..self.candidates.len())
                .filter(|&index| self.class_of(&self.candidates[index]) == *class);
            let members: Vec<usize> = members.collect();
            let preference = self.preference(*class, &classes);
            places.extend(self.class(&members, preference.as_deref()));
        }
        places
    }

    fn class_of(&self, cipher: &str) -> Class {
        if self.policy.objection(cipher).is_some() {
            return OBJECTED;
        }
        Class {
            is_objected: false,
            number: self.policy.class(cipher),
            is_behind: !self.policy.prefers(cipher),
        }
    }

    /// What a class has to do with where its members stand.
    fn preference(&self, class: Class, all: &[Class]) -> Option<String> {
        let policy = &self.policy.name;
        let splits =
            |differs: &dyn Fn(&Class) -> bool| all.iter().any(|it| !it.is_objected && differs(it));
        if class.is_objected {
            return None;
        }
        let mut notes = Vec::new();
        if splits(&|it| it.number != class.number) {
            notes.push(format!("class {} (policy {policy})", class.number + 1));
        }
        if splits(&|it| it.number == class.number && it.is_behind != class.is_behind) {
            let which = if class.is_behind {
                "behind 256-bit keys"
            } else {
                "256-bit keys first"
            };
            notes.push(format!("{which} (policy {policy})"));
        }
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// Without what is proven slower than the fastest, where a server is to be restricted.
    fn restricted(&self, mut places: Vec<Place>) -> Vec<Place> {
        if !self.policy.restrict || self.side != Side::Server {
            return places;
        }
        let is_allowed = |it: &Place| self.policy.objection(&it.cipher).is_none();
        let allowed = places.iter().filter(|it| is_allowed(it));
        let speeds = allowed.filter_map(|it| it.speed.as_ref());
        let fastest = speeds.max_by(|a, b| a.interval.cmp(&b.interval)).cloned();
        let Some(fastest) = fastest else {
            return places;
        };
        // Twice as fast a cipher is no reason to lose a client where a transfer shows little of it.
        let is_slow = |it: &Place| {
            it.speed.as_ref().is_some_and(|it| {
                let times = fastest.projected_mb_per_s / it.projected_mb_per_s;
                fastest.interval.beats(&it.interval, self.threshold) && times > 1.0 + self.threshold
            })
        };
        let is_kept = |it: &Place| {
            is_allowed(it) && !is_slow(it) || self.policy.required.contains(&it.cipher)
        };
        let is_ctr = |it: &Place| it.cipher.starts_with("aes") && it.cipher.ends_with("-ctr");
        let lacks_ctr = self.policy.keep_ctr && !places.iter().any(|it| is_ctr(it) && is_kept(it));
        let ctr = places
            .iter()
            .find(|it| lacks_ctr && is_ctr(it) && is_allowed(it));
        let ctr = ctr.map(|it| it.cipher.clone());
        places.retain(|it| is_kept(it) || ctr.as_ref() == Some(&it.cipher));
        places
    }

    /// A cipher's place in the list in force, from 1; 0 where it is not in it.
    fn place_today(&self, cipher: &str) -> usize {
        let place = self.today.iter().position(|it| it == cipher);
        place.map_or(0, |index| index + 1)
    }

    fn class(&self, members: &[usize], preference: Option<&str>) -> Vec<Place> {
        let interval = |&index: &usize| self.speeds[index].as_ref().map(|it| it.interval);
        let intervals: Vec<Option<Interval>> = members.iter().map(interval).collect();
        let steps = arrange(&intervals, self.threshold);
        let order: Vec<usize> = steps.iter().map(|&(member, _)| members[member]).collect();
        let place = |(place, &(_, step)): (usize, &(usize, Step))| Place {
            cipher: self.candidates[order[place]].clone(),
            speed: self.speeds[order[place]].clone(),
            today: self.place_today(&self.candidates[order[place]]),
            reason: self.reason(&order, place, step, members),
            preference: preference.map(str::to_owned),
        };
        steps.iter().enumerate().map(place).collect()
    }

    fn reason(&self, order: &[usize], place: usize, step: Step, members: &[usize]) -> Reason {
        let index = order[place];
        if let Some(objection) = self.policy.objection(&self.candidates[index]) {
            return Reason::Objection(objection, self.policy.name.clone());
        }
        let median = |index: usize| {
            let speed = self.speeds[index].as_ref();
            speed.map_or(f64::NAN, |speed| speed.interval.median)
        };
        let name = |index: usize| self.candidates[index].clone();
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

/// What is arranged, and why it keeps its order where it does.
fn candidates(
    today: &[String],
    installed: &[String],
    policy: &Policy,
) -> (Vec<String>, Option<Reason>) {
    let is_known = |name: &&String| installed.is_empty() || installed.contains(name);
    let pinned = || Reason::Pinned(policy.name.clone());
    if policy.pins(today) {
        return (today.to_vec(), Some(pinned()));
    }
    if let Some(exact) = &policy.exact {
        let lacking = exact.iter().filter(|it| !is_known(it));
        let lacking: Vec<&str> = lacking.map(|it| short(it)).collect();
        return if lacking.is_empty() {
            (exact.clone(), Some(pinned()))
        } else {
            let lacking = lacking.join(", ");
            (
                today.to_vec(),
                Some(Reason::Unattainable(policy.name.clone(), lacking)),
            )
        };
    }
    let required = policy.required.iter().filter(is_known);
    let missing = required.filter(|it| !today.contains(it));
    (today.iter().chain(missing).cloned().collect(), None)
}

/// Where the policy puts a cipher: what is smaller goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Class {
    is_objected: bool,
    number: usize,
    is_behind: bool,
}

/// Behind all others, among themselves by speed.
const OBJECTED: Class = Class {
    is_objected: true,
    number: 0,
    is_behind: false,
};
