//! The runs of every cipher and direction, and what they say once the handshake is taken out.
#![forbid(unsafe_code)]

use super::session::Pair;
use super::spread::Spread;
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

    fn client(&self) -> CpuTime {
        self.middle(|run| run.client)
    }

    fn server(&self) -> CpuTime {
        self.middle(|run| run.server.unwrap_or_default())
    }

    fn middle(&self, end: impl Fn(&Run) -> CpuTime) -> CpuTime {
        let times: Vec<CpuTime> = self.0.iter().map(end).collect();
        let middle = |part: fn(&CpuTime) -> f64| {
            median(&times.iter().map(part).collect::<Vec<_>>()).unwrap_or(0.0)
        };
        CpuTime {
            user: middle(|it| it.user),
            system: middle(|it| it.system),
        }
    }
}

/// Every series' figures, in the order given; a series without a usable run has none.
///
/// The spread of user time and that of wall time are each pooled over all series.
pub(super) fn figures(
    all: &[Series],
    handshake: &Handshake,
    implementation: Implementation,
    host: Option<&str>,
) -> Vec<Transfer> {
    let costs: Vec<Costs> = all.iter().map(|one| Costs::of(one, handshake)).collect();
    let user = Spread::pooled(costs.iter().map(Costs::busier));
    let wall = Spread::pooled(costs.iter().map(|it| it.speed.as_slice()));
    let figure = |(one, costs): (&Series, &Costs)| {
        let busier = costs.busier();
        let user_s_per_gib = median(busier)?;
        let mb_per_s = median(&costs.speed)?;
        Some(Transfer {
            implementation,
            host: host.map(str::to_owned),
            cipher: one.pair.cipher.clone(),
            mac: one.pair.mac.clone(),
            direction: one.way,
            mb_per_s,
            ci95: around(mb_per_s, wall.factor(costs.speed.len())),
            client_cpu_s_per_gib: costs.client.medians(),
            server_cpu_s_per_gib: costs.server.as_ref().map(End::medians),
            user_s_per_gib,
            user_ci95: around(user_s_per_gib, user.factor(busier.len())),
            rounds: busier.len(),
        })
    };
    all.iter().zip(&costs).filter_map(figure).collect()
}

fn around(middle: f64, factor: f64) -> [f64; 2] {
    [middle / factor, middle * factor]
}

/// What every usable run of a series cost.
struct Costs {
    /// Wall speed in MB/s.
    speed: Vec<f64>,
    client: End,
    server: Option<End>,
}

/// Seconds per GiB of one end, run by run.
#[derive(Default)]
struct End {
    user: Vec<f64>,
    system: Vec<f64>,
}

impl End {
    /// Times can come out below zero where the handshake varied more than the bytes cost.
    fn add(&mut self, run: &Run, time: CpuTime, handshake: CpuTime) {
        let per_gib = |seconds: f64| seconds.max(0.0) / run.bytes as f64 * GIB;
        self.user.push(per_gib(time.user - handshake.user));
        self.system.push(per_gib(time.system - handshake.system));
    }

    fn medians(&self) -> [f64; 2] {
        [&self.user, &self.system].map(|times| median(times).unwrap_or(0.0))
    }
}

impl Costs {
    fn of(series: &Series, handshake: &Handshake) -> Self {
        let (at_client, at_server) = (handshake.client(), handshake.server());
        let mut costs = Self {
            speed: Vec::new(),
            client: End::default(),
            server: None,
        };
        for run in series
            .runs
            .iter()
            .filter(|run| is_usable(run, at_client, at_server))
        {
            costs.speed.push(run.bytes as f64 / 1e6 / run.seconds);
            costs.client.add(run, run.client, at_client);
            if let Some(time) = run.server {
                let server = costs.server.get_or_insert_default();
                server.add(run, time, at_server);
            }
        }
        costs
    }

    /// User time of the end that has more of it.
    fn busier(&self) -> &[f64] {
        match &self.server {
            Some(server) if server.medians()[0] > self.client.medians()[0] => &server.user,
            _ => &self.client.user,
        }
    }
}

/// Whether bytes arrived and both ends worked measurably longer than for a handshake: a system that counts
/// processor time in ticks may give a short run none at all.
fn is_usable(run: &Run, at_client: CpuTime, at_server: CpuTime) -> bool {
    let worked = |time: CpuTime, handshake: CpuTime| time.user > handshake.user;
    run.bytes > 0
        && run.seconds > 0.0
        && worked(run.client, at_client)
        && run.server.is_none_or(|server| worked(server, at_server))
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
    fn runs_that_say_nothing_are_left_out() {
        let mut handshake = Handshake::default();
        handshake.add(run(0, cpu(0.02, 0.01), cpu(0.02, 0.01)));
        let coarse = run(16, cpu(0.02, 0.02), cpu(0.03, 0.02));
        let empty = run(0, cpu(0.05, 0.02), cpu(0.05, 0.02));
        let none = [series(vec![coarse, empty]), series(Vec::new())];
        assert_eq!(
            figures(&none, &handshake, Implementation::OpenSsh, None),
            []
        );
    }
}
