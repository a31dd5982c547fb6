//! The time box: which run comes next, and when there are enough.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::ranking::{RankedSpeed, rank};
use super::series::{Handshake, Series, figures};
use crate::host::Clock;
use crate::measure::environment::Warning;
use crate::measure::plan::shuffle;
use crate::measure::session::Progress;
use crate::report::{Transfer, UnavailableTransfer};
use crate::transfer::{Carrier, Run, TransferFailure, TransferRequest, Way};

/// Rounds every cipher gets before some get more: one run alone says nothing of the spread.
const FULL_ROUNDS: usize = 2;
/// The share of the time box that these may take. The rest goes to those that are still in the race.
const FULL_SHARE: f64 = 0.8;
/// Sending for less gives less processor time than the handshake varies by.
const SHORTEST_SLICE: Duration = Duration::from_millis(50);
/// Longer sending is not worth more than another connection.
const LONGEST_SLICE: Duration = Duration::from_millis(600);
/// A bound on what goes through the pipes of one run, whatever the clock says.
const MOST_BYTES: u64 = 8 << 30;
/// Half an interval, as a share of the speed, that is narrow enough.
const NARROW: f64 = 0.03;
/// A cipher slower than the best by this beyond both intervals is out of the race: the threshold of an advice
/// that rests on transfers.
const CLEARLY: f64 = 0.05;
/// More rounds make no interval narrower that matters.
const MOST_ROUNDS: usize = 200;

/// A cipher, and the MAC beside it where it needs one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The cipher, as `ssh -c` takes it.
    pub cipher: String,
    /// The MAC; `None` for an AEAD.
    pub mac: Option<String>,
}

/// What to carry, and for how long.
#[derive(Clone, Debug)]
pub struct TransfersRequest {
    /// The ciphers, most important first: a short time box goes to the leading ones.
    pub pairs: Vec<Pair>,
    /// Wall-clock time for all of it.
    pub budget: Duration,
    /// Whether both ends run on one processor, where their times add up.
    pub shared_core: bool,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transferred {
    /// The figures, most important cipher first, each up and down.
    pub transfers: Vec<Transfer>,
    /// What could not be carried, and why.
    pub unavailable: Vec<UnavailableTransfer>,
    /// What makes the figures less trustworthy.
    pub warnings: Vec<Warning>,
    /// Whether it was stopped before its time.
    pub cancelled: bool,
}

/// Carries bytes with every cipher, both ways, in interleaved rounds, until what matters is known to 3 % or
/// the time is used up.
///
/// The first rounds take every cipher, so that a drift of the machine hits all alike. Those after take the
/// ciphers that may still be the fastest, in the direction that may be the slower; once these are settled,
/// all whose interval is still wide. When `cancel` is set on the way, the result holds what was carried until
/// then. The result depends on nothing but the arguments.
pub fn transfer(
    carrier: &mut dyn Carrier,
    request: &TransfersRequest,
    clock: &dyn Clock,
    progress: &mut dyn FnMut(Progress),
    cancel: &AtomicBool,
) -> Transferred {
    let mut session = Session {
        carrier,
        request,
        clock,
        started: clock.wall(),
        slice: SHORTEST_SLICE,
        longest: Vec::new(),
        series: Vec::new(),
        handshake: Handshake::default(),
        found: Transferred::default(),
        progress,
        cancel,
    };
    // Whoever ended it has said why.
    let _ended = session.run();
    session.finish()
}

struct Session<'a> {
    carrier: &'a mut dyn Carrier,
    request: &'a TransfersRequest,
    clock: &'a dyn Clock,
    started: Duration,
    slice: Duration,
    /// The longest a run of each series took, from start to end.
    longest: Vec<Duration>,
    series: Vec<Series>,
    handshake: Handshake,
    found: Transferred,
    progress: &'a mut dyn FnMut(Progress),
    cancel: &'a AtomicBool,
}

/// Nothing more can be carried.
struct Ended;

impl Session<'_> {
    fn run(&mut self) -> Result<(), Ended> {
        let connection = self.first_handshake()?;
        self.plan(connection)?;
        for round in 0..MOST_ROUNDS {
            let mut due = self.due(round);
            shuffle(&mut due, round as u64);
            if round < FULL_ROUNDS {
                self.shake_hands()?;
            }
            if !self.round(&due, round)? && round >= FULL_ROUNDS {
                break;
            }
        }
        Ok(())
    }

    /// Whether any run fitted.
    fn round(&mut self, due: &[usize], round: usize) -> Result<bool, Ended> {
        let mut carried = false;
        for &index in due {
            let is_refused = self.is_refused(&self.series[index].pair.cipher);
            if is_refused || self.left() < self.longest[index] {
                continue;
            }
            self.carry(index)?;
            self.report(round + 1, index);
            carried = true;
        }
        Ok(carried)
    }

    /// The first connection that works: how long one takes. It warms the programs up and is counted too.
    fn first_handshake(&mut self) -> Result<Duration, Ended> {
        for pair in &self.request.pairs {
            let before = self.clock.wall();
            if let Some(run) = self.connect(pair, Way::Down, Duration::ZERO)? {
                self.handshake.add(run);
                return Ok(self.clock.wall().saturating_sub(before));
            }
        }
        Err(Ended)
    }

    /// One more run without bytes, with whatever cipher is not refused.
    fn shake_hands(&mut self) -> Result<(), Ended> {
        let mut pairs = self.request.pairs.iter();
        let Some(pair) = pairs.find(|pair| !self.is_refused(&pair.cipher)) else {
            return Err(Ended);
        };
        if let Some(run) = self.connect(pair, Way::Down, Duration::ZERO)? {
            self.handshake.add(run);
        }
        Ok(())
    }

    /// How long each run sends, and how many of the ciphers fit into the time.
    fn plan(&mut self, connection: Duration) -> Result<(), Ended> {
        let left = self.left();
        let runs = |pairs: usize| (FULL_ROUNDS * (2 * pairs + 1)) as u32;
        let all = self.request.pairs.len();
        let shortest = connection + SHORTEST_SLICE;
        let fitting = (0..=all)
            .rev()
            .find(|&pairs| shortest * runs(pairs) <= left);
        let fitting = fitting.unwrap_or(0);
        if fitting < 2.min(all) {
            let needed = (shortest * runs(2)).as_secs_f64() + 0.1;
            self.without_time(0, &format!("two ciphers alone need {needed:.1} s here"));
            return Err(Ended);
        }
        self.without_time(fitting, "raise --time-budget");
        let slice = left.mul_f64(FULL_SHARE) / runs(fitting);
        let slice = slice.saturating_sub(connection);
        self.slice = slice.clamp(SHORTEST_SLICE, LONGEST_SLICE);
        for pair in &self.request.pairs[..fitting] {
            for way in Way::BOTH {
                self.series.push(Series {
                    pair: pair.clone(),
                    way,
                    runs: Vec::new(),
                });
                self.longest.push(connection + self.slice);
            }
        }
        Ok(())
    }

    fn without_time(&mut self, from: usize, cure: &str) {
        for pair in &self.request.pairs[from..] {
            if !self.is_refused(&pair.cipher) {
                let reason = format!("no time was left for it; {cure}");
                self.refuse(Some(&pair.cipher), reason);
            }
        }
    }

    fn carry(&mut self, index: usize) -> Result<(), Ended> {
        let before = self.clock.wall();
        let Series { pair, way, .. } = &self.series[index];
        let (pair, way) = (pair.clone(), *way);
        let run = self.connect(&pair, way, self.slice)?;
        let took = self.clock.wall().saturating_sub(before);
        self.longest[index] = self.longest[index].max(took);
        self.series[index].runs.extend(run);
        Ok(())
    }

    /// One run; `None` where this cipher is refused, which is noted once.
    fn connect(&mut self, pair: &Pair, way: Way, slice: Duration) -> Result<Option<Run>, Ended> {
        if self.cancel.load(Ordering::Relaxed) {
            self.found.cancelled = true;
            return Err(Ended);
        }
        let request = TransferRequest {
            cipher: pair.cipher.clone(),
            mac: pair.mac.clone(),
            way,
            slice,
            most_bytes: MOST_BYTES,
        };
        match self.carrier.run(&request) {
            Ok(run) => Ok(Some(run)),
            Err(TransferFailure::Refused(why)) => {
                self.refuse(Some(&pair.cipher), why);
                Ok(None)
            }
            Err(TransferFailure::Cancelled) => {
                self.found.cancelled = true;
                Err(Ended)
            }
            Err(failure @ TransferFailure::Impossible { .. }) => {
                self.refuse(None, failure.to_string());
                Err(Ended)
            }
        }
    }

    fn refuse(&mut self, cipher: Option<&str>, reason: String) {
        self.found.unavailable.push(UnavailableTransfer {
            implementation: self.carrier.implementation(),
            cipher: cipher.map(str::to_owned),
            reason,
        });
    }

    fn is_refused(&self, cipher: &str) -> bool {
        let mut refused = self.found.unavailable.iter();
        refused.any(|it| it.cipher.as_deref() == Some(cipher))
    }

    /// The series of one round.
    fn due(&self, round: usize) -> Vec<usize> {
        if round < FULL_ROUNDS {
            return (0..self.series.len()).collect();
        }
        let transfers = self.figures();
        let ranked = rank(&transfers, self.request.shared_core);
        let proven = |a: &&RankedSpeed, b: &&RankedSpeed| a.ci95[0].total_cmp(&b.ci95[0]);
        let best = ranked.iter().max_by(proven);
        let is_wide = |transfer: &Transfer| {
            let speed = speed_of(transfer, &ranked);
            speed.is_some_and(|speed| speed.relative_error() > NARROW)
                && may_be_slower(transfer, &transfers)
        };
        let is_racing = |transfer: &Transfer| {
            let speed = speed_of(transfer, &ranked);
            is_wide(transfer)
                && speed.is_some_and(|it| best.is_some_and(|best| !best.beats(it, CLEARLY)))
        };
        let racing = self.of(&transfers, is_racing);
        // One alone has nobody left to race against.
        let ciphers = racing.iter().map(|&index| &self.series[index].pair);
        if ciphers
            .collect::<Vec<_>>()
            .windows(2)
            .any(|two| two[0] != two[1])
        {
            return racing;
        }
        self.of(&transfers, is_wide)
    }

    /// The series whose transfers are of that kind.
    fn of(&self, transfers: &[Transfer], is: impl Fn(&Transfer) -> bool) -> Vec<usize> {
        let all = 0..self.series.len();
        let of = |&index: &usize| {
            let Series { pair, way, .. } = &self.series[index];
            let mut own = transfers.iter().filter(|it| {
                it.cipher == pair.cipher && it.mac == pair.mac && it.direction == *way
            });
            own.any(&is)
        };
        all.filter(of).collect()
    }

    fn figures(&self) -> Vec<Transfer> {
        let implementation = self.carrier.implementation();
        figures(&self.series, &self.handshake, implementation, None)
    }

    fn finish(mut self) -> Transferred {
        self.found.transfers = self.figures();
        let ranked = rank(&self.found.transfers, self.request.shared_core);
        let contradiction = contradiction(&ranked, &self.found.transfers);
        self.found.warnings.extend(contradiction);
        if !self.found.cancelled {
            self.explain_gaps();
        }
        self.found
    }

    /// Runs that gave no usable figure leave a reason behind.
    fn explain_gaps(&mut self) {
        for pair in &self.request.pairs {
            let mut found = self.found.transfers.iter();
            let ran = |one: &Series| one.pair == *pair && !one.runs.is_empty();
            let missing = !found.any(|it| it.cipher == pair.cipher)
                && !self.is_refused(&pair.cipher)
                && self.series.iter().any(ran);
            if missing {
                let reason = "its runs cost no processor time that this system can tell from a handshake; raise --time-budget";
                self.refuse(Some(&pair.cipher), reason.to_owned());
            }
        }
    }

    fn report(&mut self, round: usize, index: usize) {
        let whole = self.request.budget.as_secs_f64();
        let used = self.request.budget.saturating_sub(self.left());
        let pair = &self.series[index].pair;
        let mut carried = self.figures();
        carried.retain(|it| it.cipher == pair.cipher && it.mac == pair.mac);
        (self.progress)(Progress {
            fraction: if whole > 0.0 {
                used.as_secs_f64() / whole
            } else {
                1.0
            },
            round,
            latest: Vec::new(),
            carried,
        });
    }

    fn left(&self) -> Duration {
        let used = self.clock.wall().saturating_sub(self.started);
        self.request.budget.saturating_sub(used)
    }
}

fn speed_of<'a>(transfer: &Transfer, ranked: &'a [RankedSpeed]) -> Option<&'a RankedSpeed> {
    let mut ranked = ranked.iter();
    ranked.find(|it| it.cipher == transfer.cipher && it.mac == transfer.mac)
}

/// Whether this direction may be the one that counts: no other is proven to cost more.
fn may_be_slower(transfer: &Transfer, all: &[Transfer]) -> bool {
    let mut other = all
        .iter()
        .filter(|it| it.cipher == transfer.cipher && it.mac == transfer.mac);
    other.all(|it| transfer.user_ci95[1] >= it.user_ci95[0])
}

/// The two ciphers the clock on the wall puts the other way round most, if any.
fn contradiction(ranked: &[RankedSpeed], transfers: &[Transfer]) -> Option<Warning> {
    let wall = |it: &RankedSpeed| {
        let own = transfers
            .iter()
            .filter(|one| one.cipher == it.cipher && one.mac == it.mac);
        own.min_by(|a, b| a.mb_per_s.total_cmp(&b.mb_per_s))
    };
    let pairs = ranked
        .iter()
        .flat_map(|above| ranked.iter().map(move |below| (above, below)));
    let against = pairs.filter_map(|(above, below)| {
        let (a, b) = (wall(above)?, wall(below)?);
        let contradicts = above.beats(below, 0.0) && b.ci95[0] > a.ci95[1];
        contradicts.then(|| (b.mb_per_s / a.mb_per_s, a, b))
    });
    let (_, above, below) = against.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Warning::Contradicted {
        above: above.cipher.clone(),
        above_mb_per_s: above.mb_per_s,
        below: below.cipher.clone(),
        below_mb_per_s: below.mb_per_s,
    })
}
