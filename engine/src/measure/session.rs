//! One measurement from start to end: prepare every cell, sample in rounds until the time is used up.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::environment::{Warning, of_clock};
use super::gate::Gate;
use super::plan::{ENOUGH_ROUNDS, Plan};
use super::sampler::{Arena, Cell, Sample, Stopwatch, Subject};
use super::statistics::{estimate, median};
use crate::algorithm::{Cipher, Mac};
use crate::host::Clock;
use crate::providers::{Direction, Provider, SelfTestFailure, self_test};
use crate::report::{Measurement, Transfer, UnavailableCell};

/// More rounds make no interval narrower that matters.
const MOST_ROUNDS: usize = 200;

/// What to measure, and for how long.
#[derive(Clone, Debug)]
pub struct MeasureRequest {
    /// Packet sizes in bytes, without length field and tag, most important first. Multiples of 16, at least 16.
    pub sizes: Vec<usize>,
    /// Wall-clock time for all of it.
    pub budget: Duration,
    /// Shared with whoever draws: nothing is drawn while a sample is timed.
    pub gate: Gate,
    /// What a provider must pass before any of its numbers is shown.
    pub self_test: SelfTest,
}

/// A test of a provider at one algorithm.
pub type SelfTest = fn(&dyn Provider, Cipher, Option<Mac>) -> Result<(), SelfTestFailure>;

impl Default for MeasureRequest {
    /// Packets of 32 KiB (a full channel packet), 1 KiB and 64 B (a key stroke), in seven seconds.
    fn default() -> Self {
        Self {
            sizes: vec![32 * 1024, 1024, 64],
            budget: Duration::from_secs(7),
            gate: Gate::default(),
            self_test,
        }
    }
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The numbers, most important first.
    pub measurements: Vec<Measurement>,
    /// What has no number, and why.
    pub unavailable: Vec<UnavailableCell>,
    /// What makes the numbers less trustworthy.
    pub warnings: Vec<Warning>,
    /// Whether it was stopped before its time.
    pub cancelled: bool,
}

/// Where a measurement stands. Sent after every sample and every run, never while one is timed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Share of the time box used, 0 to 1.
    pub fraction: f64,
    /// Rounds begun; 0 while cells are prepared.
    pub round: usize,
    /// The numbers the last sample changed: sealing and opening of one cell; empty while preparing.
    pub latest: Vec<Measurement>,
    /// The figures the last run changed: those of one cipher, up and down.
    pub carried: Vec<Transfer>,
}

/// Measures every provider with every cipher (and the MAC negotiated beside it) at every size.
///
/// Providers and pairs come most important first: a short time box goes to the leading ones. The result
/// depends on nothing but the arguments, so a fake clock and a fake provider give the same numbers every time.
pub fn measure(
    providers: &[&dyn Provider],
    pairs: &[(Cipher, Option<Mac>)],
    request: &MeasureRequest,
    clock: &dyn Clock,
    progress: &mut dyn FnMut(Progress),
    cancel: &AtomicBool,
) -> Measured {
    let mut session = Session {
        providers,
        request,
        clock,
        watch: Stopwatch::new(clock),
        started: clock.wall(),
        started_cpu: clock.thread_cpu(),
        arena: Arena::new(),
        series: Vec::new(),
        late: Vec::new(),
        refused: Vec::new(),
        passed: Vec::new(),
        measured: Measured::default(),
        progress,
        cancel,
    };
    session.prepare(pairs);
    session.run();
    session.finish()
}

struct Session<'a> {
    providers: &'a [&'a dyn Provider],
    request: &'a MeasureRequest,
    clock: &'a dyn Clock,
    watch: Stopwatch<'a>,
    started: Duration,
    started_cpu: Duration,
    arena: Arena,
    series: Vec<Series>,
    /// Cells whose turn to be prepared never came.
    late: Vec<Cell>,
    /// One cell of each algorithm that a provider does not do.
    refused: Vec<Cell>,
    /// One cell of each algorithm that passed its self-test.
    passed: Vec<Cell>,
    measured: Measured,
    progress: &'a mut dyn FnMut(Progress),
    cancel: &'a AtomicBool,
}

/// A cell and what was measured of it.
struct Series {
    subject: Subject,
    samples: Vec<Sample>,
    /// Why it gives no more samples.
    failure: Option<String>,
}

impl Session<'_> {
    /// Makes the cells ready, most important first, as far as the time goes.
    fn prepare(&mut self, pairs: &[(Cipher, Option<Mac>)]) {
        for cell in self.cells(pairs) {
            if self.is_cancelled() {
                return;
            }
            if self.is_refused(cell) {
                continue;
            }
            if self.left().is_zero() {
                self.late.push(cell);
                continue;
            }
            if !self.passes(cell) {
                continue;
            }
            let provider = self.providers[cell.provider];
            let inside = self.request.gate.sample();
            let prepared = Subject::prepare(provider, cell, &mut self.arena, &self.watch);
            drop(inside);
            match prepared {
                Ok(subject) => self.series.push(Series {
                    subject,
                    samples: Vec::new(),
                    failure: None,
                }),
                Err(reason) => self.refuse(cell, reason.to_string()),
            }
            self.report(0, Vec::new());
        }
    }

    /// Runs the self-test of an algorithm; once for all sizes.
    fn passes(&mut self, cell: Cell) -> bool {
        if self
            .passed
            .iter()
            .any(|other| other.is_same_algorithm(cell))
        {
            return true;
        }
        let provider = self.providers[cell.provider];
        let Err(failure) = (self.request.self_test)(provider, cell.cipher, cell.mac) else {
            self.passed.push(cell);
            return true;
        };
        let reason = if let SelfTestFailure::Unavailable(reason) = &failure {
            reason.to_string()
        } else {
            let warning = Warning::SelfTest {
                who: format!("{} {}", provider.name(), name(cell)),
                what: failure.to_string(),
            };
            self.measured.warnings.push(warning);
            format!("SELF-TEST FAILED: {failure}")
        };
        self.refuse(cell, reason);
        false
    }

    /// Every cell, most important first: the first size of all providers, then the next size.
    fn cells(&self, pairs: &[(Cipher, Option<Mac>)]) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &bytes in &self.request.sizes {
            for provider in 0..self.providers.len() {
                cells.extend(pairs.iter().map(|&(cipher, mac)| Cell {
                    provider,
                    cipher,
                    mac,
                    bytes,
                }));
            }
        }
        cells
    }

    /// Rounds until no cell's sample fits any more.
    fn run(&mut self) {
        // On a busy machine this thread gets part of the time only, so a window takes longer by the wall.
        let slowdown = self.slowdown();
        let windows = self.series.iter().map(|one| one.subject.window);
        let windows: Vec<_> = windows.map(|window| window.mul_f64(slowdown)).collect();
        let plan = Plan::new(&windows, self.left());
        for round in 0..MOST_ROUNDS {
            let mut sampled = false;
            for index in plan.round(round) {
                if self.is_cancelled() {
                    return;
                }
                if self.left() >= plan.cost[index] && self.series[index].failure.is_none() {
                    self.sample(index, plan.windows[index]);
                    self.report(round + 1, self.numbers(index));
                    sampled = true;
                }
            }
            // A round of cells that did not fit says nothing about the rounds of the others.
            if !sampled && round >= Plan::UNEVEN_ROUNDS {
                return;
            }
        }
    }

    fn sample(&mut self, index: usize, windows: usize) {
        let series = &mut self.series[index];
        let inside = self.request.gate.sample();
        let sample = series.subject.sample(windows, &mut self.arena, &self.watch);
        drop(inside);
        match sample {
            Ok(sample) => series.samples.push(sample),
            Err(reason) => series.failure = Some(reason.to_string()),
        }
    }

    fn finish(mut self) -> Measured {
        self.measured.cancelled = self.is_cancelled();
        self.drop_failures();
        for index in 0..self.series.len() {
            let numbers = self.numbers(index);
            self.measured.measurements.extend(numbers);
        }
        self.explain_gaps();
        let samples = self.series.iter().flat_map(|one| &one.samples);
        let readings: Vec<_> = samples.filter_map(|sample| sample.core_hz).collect();
        self.measured.warnings.extend(of_clock(&readings));
        self.measured
    }

    /// A provider that fails at an algorithm once has no speed there: what it did before, or does at
    /// other sizes, does not count either.
    fn drop_failures(&mut self) {
        let failures = self.series.iter_mut();
        let failures: Vec<_> = failures
            .filter_map(|one| Some((one.subject.cell, one.failure.take()?)))
            .collect();
        for (cell, reason) in failures {
            self.refuse(cell, reason);
        }
        let refused = &self.refused;
        let is_refused = |cell| refused.iter().any(|other| other.is_same_algorithm(cell));
        self.series.retain(|one| !is_refused(one.subject.cell));
        self.late.retain(|&cell| !is_refused(cell));
    }

    /// Says which numbers are missing or weak for want of time.
    fn explain_gaps(&mut self) {
        let budget = self.request.budget;
        let few = |one: &&Series| (1..ENOUGH_ROUNDS).contains(&one.samples.len());
        let few = 2 * self.series.iter().filter(few).count();
        if few > 0 {
            let warning = Warning::FewRounds { cells: few, budget };
            self.measured.warnings.push(warning);
        }
        let without = self.series.iter().filter(|one| one.samples.is_empty());
        let without = without.map(|one| one.subject.cell);
        let missing: Vec<_> = without.chain(self.late.iter().copied()).collect();
        if missing.is_empty() || self.measured.cancelled {
            return;
        }
        let cells = 2 * missing.len();
        let warning = Warning::NoTime { cells, budget };
        self.measured.warnings.push(warning);
        for cell in missing {
            let has_numbers =
                |one: &Series| one.subject.cell.is_same_algorithm(cell) && !one.samples.is_empty();
            if !self.series.iter().any(has_numbers) {
                self.refuse(
                    cell,
                    "the time budget was used up before its turn".to_owned(),
                );
            }
        }
    }

    /// The two numbers of a cell as they stand now; none before its first sample.
    fn numbers(&self, index: usize) -> Vec<Measurement> {
        let series = &self.series[index];
        let seal = self.number(series, Direction::Seal, |sample| sample.seal);
        let open = self.number(series, Direction::Open, |sample| sample.open);
        seal.into_iter().chain(open).collect()
    }

    fn number(
        &self,
        series: &Series,
        direction: Direction,
        seconds_per_byte: impl Fn(&Sample) -> f64,
    ) -> Option<Measurement> {
        let Subject { cell, worker, .. } = &series.subject;
        let gb_per_s = |sample: &Sample| 1e-9 / seconds_per_byte(sample);
        let speeds: Vec<_> = series.samples.iter().map(gb_per_s).collect();
        let cycles = |sample: &Sample| Some(sample.core_hz? * seconds_per_byte(sample));
        let cycles: Vec<_> = series.samples.iter().filter_map(cycles).collect();
        let found = estimate(&speeds)?;
        Some(Measurement {
            cipher: cell.cipher.to_string(),
            mac: cell.mac.map(|mac| mac.to_string()),
            provider: self.providers[cell.provider].name(),
            direction,
            bytes: cell.bytes,
            kernel: worker.clone(),
            gb_per_s: found.median,
            ci95: found.ci95,
            cycles_per_byte: median(&cycles),
            rounds: found.samples,
            batched: false,
        })
    }

    fn is_refused(&self, cell: Cell) -> bool {
        let mut refused = self.refused.iter();
        refused.any(|other| other.is_same_algorithm(cell))
    }

    /// Notes why an algorithm has no numbers; once for all sizes.
    fn refuse(&mut self, cell: Cell, reason: String) {
        if self.is_refused(cell) {
            return;
        }
        self.refused.push(cell);
        self.measured.unavailable.push(UnavailableCell {
            cipher: cell.cipher.to_string(),
            mac: cell.mac.map(|mac| mac.to_string()),
            provider: self.providers[cell.provider].name(),
            reason,
        });
    }

    fn report(&mut self, round: usize, latest: Vec<Measurement>) {
        let used = self.request.budget.saturating_sub(self.left());
        let whole = self.request.budget.as_secs_f64();
        (self.progress)(Progress {
            fraction: if whole > 0.0 {
                used.as_secs_f64() / whole
            } else {
                1.0
            },
            round,
            latest,
            carried: Vec::new(),
        });
    }

    /// How much faster the wall's clock went than this thread's since the start; at least 1.
    fn slowdown(&self) -> f64 {
        let passed = self.clock.wall().saturating_sub(self.started);
        let worked = self.clock.thread_cpu().saturating_sub(self.started_cpu);
        let ratio = passed.as_secs_f64() / worked.as_secs_f64();
        if ratio.is_finite() {
            ratio.max(1.0)
        } else {
            1.0
        }
    }

    fn left(&self) -> Duration {
        let used = self.clock.wall().saturating_sub(self.started);
        self.request.budget.saturating_sub(used)
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// The algorithm as people write it: `aes128-ctr + umac-64-etm`.
fn name(cell: Cell) -> String {
    match cell.mac {
        Some(mac) => format!("{} + {}", cell.cipher.short_name(), mac.short_name()),
        None => cell.cipher.short_name().to_owned(),
    }
}
