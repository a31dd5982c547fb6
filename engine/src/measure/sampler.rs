//! Times one cell: a provider's packets of one cipher and size, sealed and then opened.
//!
//! A *window* is a batch of packets sealed under one pair of clock readings and opened under the next.
//! Opening leaves the clear packets behind, so window follows window without any copying, and both
//! directions see the same buffers in the same state of the caches. A *sample* is the median of
//! several windows, after one that only warms up.
#![forbid(unsafe_code)]

use std::time::Duration;

use super::statistics::median;
use crate::algorithm::{Cipher, Mac};
use crate::host::{Clock, run_cycles};
use crate::packet::{LENGTH_FIELD, Layout, PacketCipher, PacketError};
use crate::providers::{Direction, Keys, Provider, Unavailable};

/// Bytes a batch may fill: well inside a second-level cache, as the buffers of a running ssh are.
const FOOTPRINT: usize = 512 * 1024;
/// A window ends after about this long, so that a sample of a slow cipher stays short.
const LONGEST_WINDOW: Duration = Duration::from_micros(500);
/// The time of a small batch says little about one much larger than this many times.
const MOST_GROWTH: u128 = 8;
const CACHE_LINE: usize = 64;
/// The first byte of a body is the padding length, at least four (RFC 4253 §6).
const LEAST_PADDING: u8 = 4;
/// Length of the clock probe: about 25 µs.
const PROBE_CYCLES: u64 = 80_000;

/// One cell: who does which cipher on packets of which size, both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) provider: usize,
    pub(super) cipher: Cipher,
    pub(super) mac: Option<Mac>,
    /// The size asked for, see [`Cell::body`].
    pub(super) bytes: usize,
}

impl Cell {
    /// Packet length without length field and tag. Where the length field is encrypted with the rest
    /// (encrypt-and-MAC, RFC 4253 §6) both together fill whole blocks, so the body is as much shorter.
    fn body(self) -> usize {
        match self.mac {
            Some(mac) if !mac.encrypt_then_mac => self.bytes - LENGTH_FIELD,
            _ => self.bytes,
        }
    }

    /// Whether both are the same provider's same algorithm, at whatever size.
    pub(super) fn is_same_algorithm(self, other: Self) -> bool {
        let algorithm = |cell: Self| (cell.provider, cell.cipher, cell.mac);
        algorithm(self) == algorithm(other)
    }

    /// Bytes a receiver needs before it can tell the length: the field, or the first block that hides it.
    fn head(self) -> usize {
        Layout::of(self.cipher, self.mac).head_len()
    }
}

/// The buffers every cell works in, one after the other.
pub(super) struct Arena(Vec<u8>);

impl Arena {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }
}

/// The clocks of a measurement, and what reading them costs.
pub(super) struct Stopwatch<'a> {
    clock: &'a dyn Clock,
    reading: Duration,
}

impl<'a> Stopwatch<'a> {
    /// Finds out what one reading costs: on many systems a system call, some percent of a short window.
    pub(super) fn new(clock: &'a dyn Clock) -> Self {
        let costs: Vec<_> = (0..101)
            .map(|_| {
                let before = clock.thread_cpu();
                (clock.thread_cpu() - before).as_secs_f64()
            })
            .collect();
        let reading = Duration::from_secs_f64(median(&costs).unwrap_or(0.0));
        Self { clock, reading }
    }

    fn since(&self, before: Duration) -> (Duration, Duration) {
        let now = self.clock.thread_cpu();
        ((now - before).saturating_sub(self.reading), now)
    }

    /// The core's clock rate in Hz, from a run of known length; `None` where nothing is known or the
    /// answer is absurd, as it is under a clock that stands still.
    fn core_hz(&self) -> Option<f64> {
        let before = self.clock.thread_cpu();
        let cycles = run_cycles(PROBE_CYCLES)?;
        let (taken, _) = self.since(before);
        let hz = cycles as f64 / taken.as_secs_f64();
        (1e8..1e11).contains(&hz).then_some(hz)
    }
}

/// One sample: seconds a byte in each direction, and the core's clock rate beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) seal: f64,
    pub(super) open: f64,
    pub(super) core_hz: Option<f64>,
}

/// A cell that is ready to be timed.
pub(super) struct Subject {
    pub(super) cell: Cell,
    pub(super) worker: String,
    sealer: Box<dyn PacketCipher>,
    opener: Box<dyn PacketCipher>,
    sequence: u32,
    batch: usize,
    /// Time one window takes, with both directions.
    pub(super) window: Duration,
}

impl Subject {
    /// Prepares a cell and finds how many packets make a window.
    ///
    /// # Errors
    /// When the provider does not do this, fails at it, or does not give back what it sealed.
    pub(super) fn prepare(
        provider: &dyn Provider,
        cell: Cell,
        arena: &mut Arena,
        watch: &Stopwatch<'_>,
    ) -> Result<Self, Unavailable> {
        let keys = keys(cell);
        let cipher = |direction| provider.packet_cipher(cell.cipher, cell.mac, &keys, direction);
        let mut subject = Self {
            cell,
            worker: provider.worker(cell.cipher, cell.mac)?,
            sealer: cipher(Direction::Seal)?,
            opener: cipher(Direction::Open)?,
            sequence: 0,
            batch: 1,
            window: Duration::ZERO,
        };
        subject.calibrate(arena, watch).map_err(broken)?;
        Ok(subject)
    }

    /// One sample of that many windows.
    ///
    /// # Errors
    /// When the provider fails.
    pub(super) fn sample(
        &mut self,
        windows: usize,
        arena: &mut Arena,
        watch: &Stopwatch<'_>,
    ) -> Result<Sample, Unavailable> {
        self.fill(arena);
        self.window(arena, watch).map_err(broken)?;
        let timed: Result<Vec<_>, _> = (0..windows).map(|_| self.window(arena, watch)).collect();
        let (seal, open): (Vec<_>, Vec<_>) = timed.map_err(broken)?.into_iter().unzip();
        let bytes = (self.batch * self.cell.body()) as f64;
        let per_byte = |windows: &[f64]| match median(windows) {
            Some(seconds) if seconds > 0.0 => Ok(seconds / bytes),
            _ => Err(Unavailable(
                "the processor-time clock of this system is too coarse to time it".to_owned(),
            )),
        };
        Ok(Sample {
            seal: per_byte(&seal)?,
            open: per_byte(&open)?,
            core_hz: watch.core_hz(),
        })
    }

    /// Enlarges the batch until a window is long enough or the footprint is full.
    fn calibrate(&mut self, arena: &mut Arena, watch: &Stopwatch<'_>) -> Result<(), PacketError> {
        let most = (FOOTPRINT / self.stride()).max(1);
        loop {
            self.fill(arena);
            // The first window of a size also pays for cold caches and lazy set-up.
            self.window(arena, watch)?;
            self.check(arena)?;
            let (seal, open) = self.window(arena, watch)?;
            self.window = Duration::from_secs_f64(seal + open) + watch.reading * 3;
            let longest = Duration::from_secs_f64(seal.max(open)).as_nanos().max(1);
            let growth = LONGEST_WINDOW.as_nanos() / longest;
            if self.batch == most || growth < 2 {
                return Ok(());
            }
            self.batch = (self.batch * growth.min(MOST_GROWTH) as usize).min(most);
        }
    }

    /// Seals and opens one batch. Gives the seconds of both.
    fn window(
        &mut self,
        arena: &mut Arena,
        watch: &Stopwatch<'_>,
    ) -> Result<(f64, f64), PacketError> {
        let (packet, stride, head) = (self.packet(), self.stride(), self.cell.head());
        let first = self.sequence;
        let before = watch.clock.thread_cpu();
        let mut sequence = first;
        for slot in arena.0.chunks_exact_mut(stride).take(self.batch) {
            self.sealer.seal(sequence, &mut slot[..packet])?;
            sequence = sequence.wrapping_add(1);
        }
        let (sealed, before) = watch.since(before);
        sequence = first;
        for slot in arena.0.chunks_exact_mut(stride).take(self.batch) {
            // As a receiver does it: the length first, then the packet.
            self.opener.packet_length(sequence, &slot[..head])?;
            self.opener.open(sequence, &mut slot[..packet])?;
            sequence = sequence.wrapping_add(1);
        }
        let (opened, _) = watch.since(before);
        self.sequence = sequence;
        Ok((sealed.as_secs_f64(), opened.as_secs_f64()))
    }

    /// Writes the clear packets of one batch.
    fn fill(&self, arena: &mut Arena) {
        let (stride, body) = (self.stride(), self.cell.body());
        arena.0.clear();
        arena.0.resize(stride * self.batch, 0);
        for slot in arena.0.chunks_exact_mut(stride) {
            slot[..LENGTH_FIELD].copy_from_slice(&(body as u32).to_be_bytes());
            for (place, byte) in slot[LENGTH_FIELD..][..body].iter_mut().enumerate() {
                *byte = place as u8 | LEAST_PADDING;
            }
        }
    }

    /// Whether the opened packets are the ones that were sealed.
    fn check(&self, arena: &Arena) -> Result<(), PacketError> {
        let clear = LENGTH_FIELD + self.cell.body();
        let mut expected = Arena::new();
        self.fill(&mut expected);
        let both = arena
            .0
            .chunks_exact(self.stride())
            .zip(expected.0.chunks_exact(self.stride()));
        if both.into_iter().all(|(a, b)| a[..clear] == b[..clear]) {
            Ok(())
        } else {
            Err(PacketError::Library(
                "opening did not give back what was sealed".to_owned(),
            ))
        }
    }

    fn packet(&self) -> usize {
        LENGTH_FIELD + self.cell.body() + self.sealer.tag_len()
    }

    fn stride(&self) -> usize {
        self.packet().next_multiple_of(CACHE_LINE)
    }
}

fn broken(error: PacketError) -> Unavailable {
    Unavailable(format!("failed while it was measured: {error}"))
}

/// Keys no speed depends on: distinct bytes, so that 3DES gets three different keys.
fn keys(cell: Cell) -> Keys {
    let mut next = 0_u8;
    let mut take = |len: usize| -> Vec<u8> {
        (0..len)
            .map(|_| {
                next = next.wrapping_add(37);
                next
            })
            .collect()
    };
    Keys {
        cipher: take(cell.cipher.key_len()),
        iv: take(cell.cipher.iv_len()),
        mac: take(cell.mac.map_or(0, |mac| mac.function.key_len())),
    }
}
