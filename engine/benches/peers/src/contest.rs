//! One cell: all contestants of a work at one size, first compared byte for byte, then timed in turn.
#![forbid(unsafe_code)]

use std::hint::black_box;

use crate::clock::{gigahertz, nanoseconds};
use crate::peers;
use crate::work::{Contestant, Work, message};

/// Bytes that are worked on in turn: they stay in the first-level cache.
const WORKING_SET: usize = 16 * 1024;

/// How long a cell is measured.
#[derive(Clone, Copy)]
pub struct Effort {
    pub samples: usize,
    /// Nanoseconds per sample.
    pub sample: f64,
}

/// What one contestant took, per message: medians, and their spread.
pub struct Figure {
    pub name: String,
    pub nanoseconds: f64,
    /// Median distance from the median, in per cent of it.
    pub spread: f64,
    /// Cycles of the core's clock, as measured right after each sample.
    pub cycles: f64,
}

/// Measures one cell.
///
/// # Panics
/// When two contestants disagree about a byte, or one takes a damaged message for genuine.
pub fn measure(work: Work, size: usize, key: &[u8; 64], rows: bool, effort: Effort) -> Vec<Figure> {
    let mut contestants = peers::contestants(work, key, rows);
    let messages = input(work, size, key);
    compare(work, size, &mut contestants, &messages);
    let mut racers: Vec<Racer> = contestants
        .into_iter()
        .map(|contestant| Racer::new(contestant, work, &messages, effort))
        .collect();
    let mut order: Vec<usize> = (0..racers.len()).collect();
    let mut random = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..effort.samples {
        shuffle(&mut order, &mut random);
        for &turn in &order {
            racers[turn].sample(&messages);
        }
    }
    racers.into_iter().map(Racer::figure).collect()
}

/// The messages of a cell: clear, or sealed where the work opens them.
fn input(work: Work, size: usize, key: &[u8; 64]) -> Vec<Vec<u8>> {
    let count = (WORKING_SET / size).clamp(1, 256);
    let mut messages: Vec<_> = (0..count).map(|seed| message(size, seed)).collect();
    if let Some(seal) = work.inverse() {
        let mut sealer = peers::contestants(seal, key, false).swap_remove(0);
        for (number, message) in (0..).zip(&mut messages) {
            assert!((sealer.run)(number, message), "{} seals", sealer.name);
        }
    }
    messages
}

fn compare(work: Work, size: usize, contestants: &mut [Contestant], messages: &[Vec<u8>]) {
    // Of what was opened, some leave the length field sealed or the tag changed.
    let compared = if work.inverse().is_some() {
        4..4 + size
    } else {
        0..messages[0].len()
    };
    for (number, message) in (0..).zip(messages) {
        let mut expected: Option<Vec<u8>> = None;
        for contestant in contestants.iter_mut() {
            let mut result = message.clone();
            assert!(
                (contestant.run)(number, &mut result),
                "{}: {work:?}, {size}",
                contestant.name
            );
            match &expected {
                None => expected = Some(result),
                Some(first) => assert!(
                    first[compared.clone()] == result[compared.clone()],
                    "{} differs: {work:?}, {size} bytes",
                    contestant.name
                ),
            }
        }
    }
    if work.inverse().is_some() {
        let mut damaged = messages[0].clone();
        damaged[4 + size / 2] ^= 1;
        for contestant in contestants {
            let refused = !(contestant.run)(0, &mut damaged.clone());
            assert!(refused, "{} takes a damaged message", contestant.name);
        }
    }
}

/// A contestant, its messages and its samples so far.
struct Racer {
    contestant: Contestant,
    /// Whether the work needs its input as it was, and cannot go on with its own output.
    restores: bool,
    messages: Vec<Vec<u8>>,
    number: u64,
    /// Times a sample goes through all messages.
    rounds: usize,
    /// Nanoseconds per message, and the clock right after.
    samples: Vec<(f64, f64)>,
}

impl Racer {
    fn new(contestant: Contestant, work: Work, messages: &[Vec<u8>], effort: Effort) -> Self {
        let mut racer = Self {
            contestant,
            restores: work.inverse().is_some() || work == Work::SshSeal,
            messages: messages.to_vec(),
            number: 1 << 20,
            rounds: 4,
            samples: Vec::new(),
        };
        let round = racer.time(messages) / racer.rounds as f64;
        racer.rounds = ((effort.sample / round) as usize).max(1);
        racer
    }

    fn sample(&mut self, original: &[Vec<u8>]) {
        let time = self.time(original) / (self.rounds * self.messages.len()) as f64;
        self.samples.push((time, gigahertz()));
    }

    /// Nanoseconds of all rounds. Input is restored between them, outside of the time.
    fn time(&mut self, original: &[Vec<u8>]) -> f64 {
        let Self {
            contestant,
            messages,
            number,
            ..
        } = self;
        let run = &mut contestant.run;
        if !self.restores {
            return nanoseconds(|| {
                for _ in 0..self.rounds {
                    for message in messages.iter_mut() {
                        *number += 1;
                        assert!(run(*number, black_box(message)), "it works");
                    }
                }
            });
        }
        let round = |_| {
            for (message, original) in messages.iter_mut().zip(original) {
                message.copy_from_slice(original);
            }
            nanoseconds(|| {
                for (number, message) in (0..).zip(messages.iter_mut()) {
                    assert!(run(number, black_box(message)), "it works");
                }
            })
        };
        (0..self.rounds).map(round).sum()
    }

    fn figure(self) -> Figure {
        let times: Vec<f64> = self.samples.iter().map(|&(time, _)| time).collect();
        let middle = median(times.clone());
        let distances = times.iter().map(|time| (time - middle).abs()).collect();
        Figure {
            name: self.contestant.name,
            nanoseconds: middle,
            spread: median(distances) / middle * 100.0,
            cycles: median(
                self.samples
                    .iter()
                    .map(|(time, clock)| time * clock)
                    .collect(),
            ),
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Puts `order` into another order (xorshift).
fn shuffle(order: &mut [usize], random: &mut u64) {
    for last in (1..order.len()).rev() {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        order.swap(last, (*random % (last as u64 + 1)) as usize);
    }
}
