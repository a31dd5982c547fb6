//! Carriers whose costs are known: what they find can be held against the truth, in no time at all.
#![forbid(unsafe_code)]
#![allow(dead_code, reason = "no test binary uses all of it")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use engine::host::Clock;
use engine::transfer::{
    Carrier, CpuTime, Implementation, Run, TransferFailure, TransferRequest, Way,
};

const GIB: f64 = (1_u64 << 30) as f64;
/// What a connection takes on the wall before and after its bytes.
const CONNECTION: Duration = Duration::from_millis(80);

/// A clock that stands still unless somebody works.
#[derive(Default)]
pub(crate) struct SimulatedClock(AtomicU64);

impl SimulatedClock {
    pub(crate) fn pass(&self, time: Duration) {
        self.0.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }
}

impl Clock for SimulatedClock {
    fn wall(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
    fn thread_cpu(&self) -> Duration {
        self.wall()
    }
    fn since_1970(&self) -> Duration {
        self.wall()
    }
}

/// What a cipher truly costs, in user seconds per GiB: sending and receiving.
#[derive(Clone, Copy)]
pub(crate) struct Truth {
    pub(crate) cipher: &'static str,
    pub(crate) send: f64,
    pub(crate) receive: f64,
    /// By how much the wall is slower than the processor time says.
    pub(crate) held_up: f64,
}

impl Truth {
    pub(crate) const fn new(cipher: &'static str, send: f64, receive: f64) -> Self {
        Self {
            cipher,
            send,
            receive,
            held_up: 1.0,
        }
    }
}

/// Figures as seen on a real machine: aes-gcm leads, chacha20 and ctr with UMAC follow close together, the
/// sending side of CBC is the slower one, and 3DES is far behind.
pub(crate) const REAL: [Truth; 6] = [
    Truth::new("chacha20-poly1305@openssh.com", 1.10, 1.05),
    Truth::new("aes128-ctr", 1.40, 1.30),
    Truth::new("aes128-gcm@openssh.com", 0.55, 0.50),
    Truth::new("aes256-gcm@openssh.com", 0.60, 0.55),
    Truth::new("aes128-cbc", 1.90, 1.20),
    Truth::new("3des-cbc", 32.0, 31.0),
];

/// System seconds per GiB of either end, whatever the cipher.
pub(crate) const SYSTEM: f64 = 0.30;

pub(crate) struct SimulatedCarrier<'a> {
    pub(crate) clock: &'a SimulatedClock,
    pub(crate) truth: Vec<Truth>,
    /// Relative standard deviation of one run's user time; system time scatters three times as much.
    pub(crate) noise: f64,
    pub(crate) seed: u64,
    /// Seconds between the ticks by which the system shares time out between user and system; 0 for none.
    pub(crate) tick: f64,
    /// Every request, in order.
    pub(crate) requests: Vec<TransferRequest>,
    /// Set after so many runs, as a signal would.
    pub(crate) cancel_after: Option<(usize, &'a AtomicBool)>,
    /// Why nothing can be carried, from this run on.
    pub(crate) impossible_from: Option<usize>,
}

impl<'a> SimulatedCarrier<'a> {
    pub(crate) fn new(clock: &'a SimulatedClock, truth: &[Truth], noise: f64, seed: u64) -> Self {
        Self {
            clock,
            truth: truth.to_vec(),
            noise,
            seed: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            tick: 0.0,
            requests: Vec::new(),
            cancel_after: None,
            impossible_from: None,
        }
    }

    /// Bytes asked for with a cipher, in seconds.
    pub(crate) fn runs_of(&self, cipher: &str) -> usize {
        let runs = self.requests.iter();
        runs.filter(|it| it.cipher == cipher && !it.slice.is_zero())
            .count()
    }

    fn uniform(&mut self) -> f64 {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn noisy(&mut self, value: f64, noise: f64) -> f64 {
        // Sums of twelve uniform numbers are normal enough.
        let normal = (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0;
        value * (noise * normal).exp()
    }

    fn end(&mut self, bytes: u64, user: f64, handshake: f64) -> CpuTime {
        let gib = bytes as f64 / GIB;
        let user = self.noisy(gib * user, self.noise) + self.noisy(handshake, 0.03);
        let system = self.noisy(gib * SYSTEM, 3.0 * self.noise) + self.noisy(handshake, 0.03);
        self.by_ticks(CpuTime { user, system })
    }

    /// The whole is exact; what is the user's share is what the ticks met.
    fn by_ticks(&mut self, time: CpuTime) -> CpuTime {
        if self.tick == 0.0 {
            return time;
        }
        let whole = time.user + time.system;
        let ticks = (whole / self.tick).ceil() as u32;
        let met = (0..ticks).filter(|_| self.uniform() * whole < time.user);
        let user = whole * met.count() as f64 / f64::from(ticks);
        CpuTime {
            user,
            system: whole - user,
        }
    }
}

impl Carrier for SimulatedCarrier<'_> {
    fn implementation(&self) -> Implementation {
        Implementation::OpenSsh
    }

    fn run(&mut self, request: &TransferRequest) -> Result<Run, TransferFailure> {
        let number = self.requests.len();
        self.requests.push(request.clone());
        if let Some((after, cancel)) = self.cancel_after
            && number >= after
        {
            cancel.store(true, Ordering::SeqCst);
            return Err(TransferFailure::Cancelled);
        }
        if self.impossible_from.is_some_and(|from| number >= from) {
            return Err(TransferFailure::Impossible {
                why: "no server is installed".to_owned(),
                cure: "install openssh-server".to_owned(),
            });
        }
        let truth = self.truth.iter().find(|it| it.cipher == request.cipher);
        let Some(&truth) = truth else {
            let why = format!("ssh refuses {}: no matching cipher found", request.cipher);
            return Err(TransferFailure::Refused(why));
        };
        let seconds_per_gib = truth.send.max(truth.receive) + SYSTEM;
        let speed = GIB / seconds_per_gib / truth.held_up;
        let seconds = request.slice.as_secs_f64();
        let bytes = ((speed * seconds) as u64).min(request.most_bytes);
        self.clock.pass(CONNECTION + request.slice);
        let (client, server) = match request.way {
            Way::Up => (truth.send, truth.receive),
            Way::Down => (truth.receive, truth.send),
        };
        Ok(Run {
            bytes,
            seconds: self.noisy(seconds, self.noise),
            client: self.end(bytes, client, 0.020),
            server: Some(self.end(bytes, server, 0.012)),
        })
    }
}
