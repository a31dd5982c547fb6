//! What random bytes cost here, by source and size of request.
//!
//! Sources and sizes are sampled in turns until the time is used up. Time is this thread's processor
//! time, which counts the system's work for it too.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::gate::Gate;
use super::statistics::estimate;
use crate::cpu::Detected;
use crate::host::Clock;
use crate::providers::{RandomSource, Unavailable, random_sources};
use crate::report::Entropy;

/// Bytes a request: keys, nonces, cookies, seeds.
const SIZES: [usize; 5] = [16, 32, 64, 128, 4096];
/// A sample lasts about this long.
const SAMPLE: Duration = Duration::from_millis(1);
/// More requests a sample are for clocks that stand still.
const MOST_REQUESTS: usize = 1 << 16;
/// More rounds make no interval narrower that matters.
const MOST_ROUNDS: usize = 200;

/// What to measure with, and for how long.
#[derive(Clone, Debug)]
pub struct EntropyRequest {
    /// Wall-clock time for all of it; every cell gets one sample even where that takes longer.
    pub budget: Duration,
    /// Shared with whoever draws.
    pub gate: Gate,
}

/// The whole table, source by source.
///
/// # Errors
/// When the system gives no random bytes.
pub fn entropy(
    request: &EntropyRequest,
    detected: Detected,
    clock: &dyn Clock,
    cancel: &AtomicBool,
) -> Result<Vec<Entropy>, Unavailable> {
    let mut sources = random_sources(detected)?;
    let began = clock.wall();
    let mut cells = Vec::new();
    for (source, filler) in sources.iter_mut().enumerate() {
        for bytes in SIZES {
            let requests = calibrate(&mut **filler, bytes, clock)?;
            cells.push(Cell {
                source,
                bytes,
                requests,
                samples: Vec::new(),
            });
        }
    }
    for round in 0..MOST_ROUNDS {
        for cell in &mut cells {
            let late = clock.wall().saturating_sub(began) >= request.budget;
            if cancel.load(Ordering::Relaxed) || late && round > 0 {
                break;
            }
            let inside = request.gate.sample();
            let source = &mut *sources[cell.source];
            let spent = run(source, cell.bytes, cell.requests, clock)?;
            drop(inside);
            cell.samples
                .push(spent.as_secs_f64() * 1e9 / cell.requests as f64);
        }
    }
    let rows = cells
        .iter()
        .filter_map(|cell| cell.row(&*sources[cell.source]));
    Ok(rows.collect())
}

/// One source at one size.
struct Cell {
    source: usize,
    bytes: usize,
    /// Requests a sample.
    requests: usize,
    /// Nanoseconds a request, a sample each.
    samples: Vec<f64>,
}

impl Cell {
    fn row(&self, source: &dyn RandomSource) -> Option<Entropy> {
        let found = estimate(&self.samples).filter(|found| found.median > 0.0)?;
        Some(Entropy {
            source: source.name(),
            bytes: self.bytes,
            ns_per_request: found.median,
            ci95: found.ci95,
            mb_per_s: self.bytes as f64 * 1e3 / found.median,
            rounds: found.samples,
        })
    }
}

/// How many requests last as long as a sample.
fn calibrate(
    source: &mut dyn RandomSource,
    bytes: usize,
    clock: &dyn Clock,
) -> Result<usize, Unavailable> {
    let mut requests = 1;
    loop {
        let spent = run(source, bytes, requests, clock)?;
        if spent >= SAMPLE / 2 || requests >= MOST_REQUESTS {
            return Ok(requests);
        }
        let wanted = SAMPLE.as_nanos() / spent.as_nanos().max(1);
        requests *= wanted.clamp(2, 8) as usize;
    }
}

fn run(
    source: &mut dyn RandomSource,
    bytes: usize,
    requests: usize,
    clock: &dyn Clock,
) -> Result<Duration, Unavailable> {
    let mut buffer = [0; 4096];
    let before = clock.thread_cpu();
    for _ in 0..requests {
        source.fill(std::hint::black_box(&mut buffer[..bytes]))?;
    }
    Ok(clock.thread_cpu().saturating_sub(before))
}
