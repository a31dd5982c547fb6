//! From many runs to the truth about one environment, and from a piece of advice to its regret. Pure.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use engine::measure::statistics::{estimate, median};
use engine::transfer::{CpuTime, Way};

/// One run, the handshake subtracted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) bytes: f64,
    pub(crate) seconds: f64,
    pub(crate) client: CpuTime,
    pub(crate) server: CpuTime,
}

/// All runs of an environment, by cipher and way.
#[derive(Debug, Default)]
pub(crate) struct Runs(BTreeMap<(String, Way), Vec<Sample>>);

/// How fast a cipher really is.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    pub(crate) cipher: String,
    /// Bytes per second its busier end can do in the slower way: 1 / (u + o).
    pub(crate) speed: f64,
    /// 95 % confidence interval of `speed`; the whole range where there are fewer than six runs.
    pub(crate) interval: [f64; 2],
    /// Median bytes per second of wall time in the slower way.
    pub(crate) wall: f64,
}

/// What following a piece of advice costs, as shares of the best speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Regret {
    /// One minus the advised cipher's speed over the best one's.
    pub(crate) raw: f64,
    /// The same; zero where the truth's own intervals cannot tell the two apart.
    pub(crate) counted: f64,
}

impl Runs {
    pub(crate) fn add(&mut self, cipher: &str, way: Way, sample: Sample) {
        let key = (cipher.to_owned(), way);
        self.0.entry(key).or_default().push(sample);
    }

    /// Every cipher's truth, the fastest first. `one_core` says that both ends share it.
    pub(crate) fn truths(&self, one_core: bool) -> Vec<Truth> {
        let all = self.0.values().flatten();
        let system: Vec<f64> = all
            .map(|run| busier(run, one_core).system / run.bytes)
            .collect();
        let overhead = median(&system).unwrap_or_default();
        let ciphers: std::collections::BTreeSet<_> = self.0.keys().map(|(name, _)| name).collect();
        let mut truths: Vec<Truth> = ciphers
            .into_iter()
            .filter_map(|cipher| self.truth(cipher, overhead, one_core))
            .collect();
        truths.sort_by(|a, b| b.speed.total_cmp(&a.speed));
        truths
    }

    fn truth(&self, cipher: &str, overhead: f64, one_core: bool) -> Option<Truth> {
        let ways = Way::BOTH.map(|way| self.0.get(&(cipher.to_owned(), way)));
        let slower = ways.into_iter().flatten().filter_map(|runs| {
            let user = runs
                .iter()
                .map(|run| busier(run, one_core).user / run.bytes);
            let user = estimate(&user.collect::<Vec<_>>())?;
            let wall: Vec<f64> = runs.iter().map(|run| run.bytes / run.seconds).collect();
            Some((user, median(&wall)?))
        });
        let (user, wall) = slower.max_by(|a, b| a.0.median.total_cmp(&b.0.median))?;
        let speed = |user: f64| 1.0 / (user + overhead);
        Some(Truth {
            cipher: cipher.to_owned(),
            speed: speed(user.median),
            interval: [speed(user.ci95[1]), speed(user.ci95[0])],
            wall,
        })
    }
}

/// The end that limits the transfer; on one core both do.
fn busier(run: &Sample, one_core: bool) -> CpuTime {
    if one_core {
        return CpuTime {
            user: run.client.user + run.server.user,
            system: run.client.system + run.server.system,
        };
    }
    if run.client.user >= run.server.user {
        run.client
    } else {
        run.server
    }
}

/// The regret of using `cipher`; `None` where the truth does not know it.
pub(crate) fn regret(truths: &[Truth], cipher: &str) -> Option<Regret> {
    let best = truths.first()?;
    let used = truths.iter().find(|truth| truth.cipher == cipher)?;
    let raw = 1.0 - used.speed / best.speed;
    let apart = used.interval[1] < best.interval[0];
    Some(Regret {
        raw,
        counted: if apart { raw } else { 0.0 },
    })
}
