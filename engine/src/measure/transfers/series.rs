//! The runs of every cipher and direction, and what they say once the handshake is taken out.
#![forbid(unsafe_code)]

use super::session::Pair;
use super::spread::{Scatter, Spread, Work, rate};
use crate::measure::statistics::median;
use crate::report::Transfer;
use crate::transfer::{CpuTime, Implementation, Run, Way};

const GIB: f64 = (1_u64 << 30) as f64;

/// One cipher in one direction.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) pair: Pair,
    pub(super) way: Way,
    pub(super) runs: Vec<Run>,
}

/// What the handshake costs, from runs without bytes.
#[derive(Debug, Default)]
pub(super) struct Handshake(Vec<Run>);

impl Handshake {
    pub(super) fn add(&mut self, run: Run) {
        self.0.push(run);
    }

    /// The mean: the time is shared out between user and system by chance, and chance has no outliers.
    fn mean(&self, part: impl Fn(&Run) -> f64) -> f64 {
        self.0.iter().map(part).sum::<f64>() / self.0.len().max(1) as f64
    }
}

/// Every series' figures, in the order given; a series whose runs leave no user time beside their handshakes has
/// none.
///
/// The spread of user time and that of wall time are each pooled over all series.
pub(super) fn figures(
    all: &[Series],
    handshake: &Handshake,
    implementation: Implementation,
    host: Option<&str>,
) -> Vec<Transfer> {
    let costs: Vec<Costs> = all.iter().map(|one| Costs::of(one, handshake)).collect();
    let user = Scatter::pooled(costs.iter().map(Costs::busier));
    let wall = Spread::pooled(costs.iter().map(|it| it.speed.as_slice()));
    let figure = |(one, costs): (&Series, &Costs)| {
        let busier = costs.busier();
        let user_s_per_gib = rate(busier)? * GIB;
        let mb_per_s = median(&costs.speed)?;
        Some(Transfer {
            implementation,
            host: host.map(str::to_owned),
            cipher: one.pair.cipher.clone(),
            mac: one.pair.mac.clone(),
            direction: one.way,
            mb_per_s,
            ci95: around(mb_per_s, wall.factor(costs.speed.len())),
            client_cpu_s_per_gib: costs.client.rates(),
            server_cpu_s_per_gib: costs.server.as_ref().map(End::rates),
            user_s_per_gib,
            user_ci95: around(user_s_per_gib, user.factor(busier)),
            rounds: busier.len(),
        })
    };
    all.iter().zip(&costs).filter_map(figure).collect()
}

fn around(middle: f64, factor: f64) -> [f64; 2] {
    [middle / factor, middle * factor]
}

/// What the runs of a series cost beside their handshakes.
struct Costs {
    /// Wall speed in MB/s.
    speed: Vec<f64>,
    client: End,
    server: Option<End>,
}

/// The work of one end, run by run.
#[derive(Default)]
struct End {
    user: Vec<Work>,
    system: Vec<Work>,
}

impl End {
    /// The end's time in each of the runs, less that of a handshake.
    fn of(runs: &[&Run], handshake: &Handshake, time: impl Fn(&Run) -> CpuTime) -> Self {
        let work = |part: fn(CpuTime) -> f64| {
            let before = handshake.mean(|run| part(time(run)));
            let of = |run: &&Run| Work {
                seconds: part(time(run)) - before,
                bytes: run.bytes as f64,
            };
            runs.iter().map(of).collect()
        };
        Self {
            user: work(|it| it.user),
            system: work(|it| it.system),
        }
    }

    /// User and system seconds per GiB.
    fn rates(&self) -> [f64; 2] {
        [&self.user, &self.system].map(|work| rate(work).unwrap_or(0.0) * GIB)
    }
}

impl Costs {
    fn of(series: &Series, handshake: &Handshake) -> Self {
        let carried = |run: &&Run| run.bytes > 0 && run.seconds > 0.0;
        let runs: Vec<&Run> = series.runs.iter().filter(carried).collect();
        let has_server = runs.iter().any(|run| run.server.is_some());
        Self {
            speed: runs
                .iter()
                .map(|run| run.bytes as f64 / 1e6 / run.seconds)
                .collect(),
            client: End::of(&runs, handshake, |run| run.client),
            server: has_server
                .then(|| End::of(&runs, handshake, |run| run.server.unwrap_or_default())),
        }
    }

    /// User time of the end that has more of it.
    fn busier(&self) -> &[Work] {
        match &self.server {
            Some(server) if server.rates()[0] > self.client.rates()[0] => &server.user,
            _ => &self.client.user,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(user: f64, system: f64) -> CpuTime {
        CpuTime { user, system }
    }

    fn run(mib: u64, client: CpuTime, server: CpuTime) -> Run {
        Run {
            bytes: mib << 20,
            seconds: 1.0,
            client,
            server: Some(server),
        }
    }

    fn series(runs: Vec<Run>) -> Series {
        Series {
            pair: Pair {
                cipher: "aes128-ctr".to_owned(),
                mac: Some("umac-64-etm@openssh.com".to_owned()),
            },
            way: Way::Down,
            runs,
        }
    }

    #[test]
    fn the_handshake_is_taken_out_of_each_end() {
        let mut handshake = Handshake::default();
        handshake.add(run(0, cpu(0.02, 0.01), cpu(0.10, 0.02)));
        let runs = vec![run(512, cpu(0.52, 0.11), cpu(0.40, 0.22))];
        let found = figures(&[series(runs)], &handshake, Implementation::OpenSsh, None);
        let close = |found: [f64; 2], expected: [f64; 2]| {
            let distance = (found[0] - expected[0]).abs() + (found[1] - expected[1]).abs();
            assert!(distance < 1e-9, "{found:?}");
        };
        close(found[0].client_cpu_s_per_gib, [1.0, 0.2]);
        close(found[0].server_cpu_s_per_gib.expect("a server"), [0.6, 0.4]);
        assert!((found[0].user_s_per_gib - 1.0).abs() < 1e-9, "the client's");
        assert!((found[0].mb_per_s - 536.870_912).abs() < 1e-6);
        assert_eq!(found[0].user_ci95, [found[0].user_s_per_gib; 2], "one run");
    }

    #[test]
    fn long_runs_count_for_more() {
        let runs = vec![
            run(512, cpu(0.6, 0.1), cpu(0.1, 0.1)),
            run(256, cpu(0.2, 0.1), cpu(0.1, 0.1)),
        ];
        let none = Handshake::default();
        let found = figures(&[series(runs)], &none, Implementation::OpenSsh, None);
        let user = found[0].user_s_per_gib;
        assert!((user - 0.8 / 0.75).abs() < 1e-9, "{user}");
        let [low, high] = found[0].user_ci95;
        assert!(low < user && user < high && found[0].rounds == 2);
    }

    #[test]
    fn runs_that_cost_no_more_than_a_handshake_say_nothing() {
        let mut handshake = Handshake::default();
        handshake.add(run(0, cpu(0.02, 0.01), cpu(0.02, 0.01)));
        let coarse = run(16, cpu(0.02, 0.02), cpu(0.02, 0.02));
        let empty = run(0, cpu(0.05, 0.02), cpu(0.05, 0.02));
        let none = [series(vec![coarse, empty]), series(Vec::new())];
        assert_eq!(
            figures(&none, &handshake, Implementation::OpenSsh, None),
            []
        );
    }
}
