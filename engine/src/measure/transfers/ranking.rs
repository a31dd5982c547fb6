//! From processor time to the speed that ranks a cipher: 1/(u + o).
//!
//! u is the user time per byte of the busier end in the slower direction, o the system time of the busier end,
//! pooled over all ciphers: system time is the noise of scheduler and pipes and does not depend on the cipher,
//! so taken cipher by cipher it would drown the difference. Wall time is shown beside it and ranks nothing.
#![forbid(unsafe_code)]

use crate::measure::statistics::median;
use crate::report::Transfer;
use crate::transfer::Way;

const GIB: f64 = (1_u64 << 30) as f64;

/// The speed one cipher allows when nothing but the processor limits it.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedSpeed {
    /// The cipher's name.
    pub cipher: String,
    /// The MAC's name; `None` for an AEAD.
    pub mac: Option<String>,
    /// The slower direction, which counts.
    pub direction: Way,
    /// 1/(u + o).
    pub gb_per_s: f64,
    /// Its 95 % confidence interval. Without width where a single run speaks.
    pub ci95: [f64; 2],
}

impl RankedSpeed {
    /// Whether this is faster than the other beyond both intervals and a threshold (0.05 = 5 %).
    pub(super) fn beats(&self, other: &Self, threshold: f64) -> bool {
        self.ci95[0] > other.ci95[1] * (1.0 + threshold)
    }

    /// Half the interval as a share of the speed.
    pub(super) fn relative_error(&self) -> f64 {
        let [low, high] = self.ci95;
        (high - self.gb_per_s).max(self.gb_per_s - low) / self.gb_per_s
    }
}

/// The speeds of ciphers that went both ways, in the order of the transfers given.
///
/// All transfers must be of one implementation and one host. `shared_core` says that both ends run on one
/// processor, where their times add up.
#[must_use]
pub fn rank(transfers: &[Transfer], shared_core: bool) -> Vec<RankedSpeed> {
    let system: Vec<f64> = transfers
        .iter()
        .map(|it| cost(it, shared_core).system)
        .collect();
    let Some(overhead) = median(&system) else {
        return Vec::new();
    };
    let ups = transfers.iter().filter(|it| it.direction == Way::Up);
    let both = ups.filter_map(|up| {
        let down = transfers
            .iter()
            .find(|it| it.direction == Way::Down && it.cipher == up.cipher && it.mac == up.mac)?;
        let [of_up, of_down] = [up, down].map(|it| cost(it, shared_core).user);
        Some(if of_up > of_down { up } else { down })
    });
    both.map(|slower| speed(slower, &cost(slower, shared_core), overhead))
        .collect()
}

fn speed(transfer: &Transfer, cost: &Cost, overhead: f64) -> RankedSpeed {
    let gb_per_s = |user: f64| GIB / 1e9 / (user + overhead);
    let [low, high] = cost.user_ci95;
    RankedSpeed {
        cipher: transfer.cipher.clone(),
        mac: transfer.mac.clone(),
        direction: transfer.direction,
        gb_per_s: gb_per_s(cost.user),
        ci95: [gb_per_s(high), gb_per_s(low)],
    }
}

/// Seconds per GiB of whoever limits the speed.
struct Cost {
    user: f64,
    user_ci95: [f64; 2],
    system: f64,
}

fn cost(transfer: &Transfer, shared_core: bool) -> Cost {
    let client = transfer.client_cpu_s_per_gib;
    let server = transfer.server_cpu_s_per_gib.unwrap_or_default();
    let busier = if server[0] > client[0] {
        server
    } else {
        client
    };
    if !shared_core {
        return Cost {
            user: transfer.user_s_per_gib,
            user_ci95: transfer.user_ci95,
            system: busier[1],
        };
    }
    // Both ends are disturbed by the same share.
    let user = client[0] + server[0];
    Cost {
        user,
        user_ci95: transfer
            .user_ci95
            .map(|end| end / transfer.user_s_per_gib * user),
        system: client[1] + server[1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::Implementation;

    fn transfer(cipher: &str, direction: Way, client: [f64; 2], server: [f64; 2]) -> Transfer {
        let user = client[0].max(server[0]);
        Transfer {
            implementation: Implementation::OpenSsh,
            host: None,
            cipher: cipher.to_owned(),
            mac: None,
            direction,
            mb_per_s: 500.0,
            ci95: [490.0, 510.0],
            client_cpu_s_per_gib: client,
            server_cpu_s_per_gib: Some(server),
            user_s_per_gib: user,
            user_ci95: [user * 0.9, user * 1.1],
            rounds: 3,
        }
    }

    #[test]
    fn the_busier_end_in_the_slower_direction_counts() {
        let transfers = [
            transfer("a", Way::Up, [0.5, 0.1], [0.6, 0.4]),
            transfer("a", Way::Down, [1.0, 0.2], [0.7, 9.0]),
            transfer("b", Way::Up, [0.5, 0.3], [0.4, 0.4]),
        ];
        let ranked = rank(&transfers, false);
        assert_eq!(ranked.len(), 1, "b went one way only");
        assert_eq!(ranked[0].direction, Way::Down);
        // o is the median of 0.4, 0.2 and 0.3: 1.0737 / (1.0 + 0.3).
        assert!((ranked[0].gb_per_s - 0.8260).abs() < 1e-4, "{ranked:?}");
        assert!((ranked[0].ci95[0] - 1.073_741_824 / 1.4).abs() < 1e-9);
    }

    #[test]
    fn on_one_core_the_times_add_up() {
        let transfers = [
            transfer("a", Way::Up, [0.5, 0.1], [0.6, 0.4]),
            transfer("a", Way::Down, [0.6, 0.1], [0.2, 0.4]),
        ];
        let ranked = rank(&transfers, true);
        assert_eq!(ranked[0].direction, Way::Up, "1.1 against 0.8");
        assert!((ranked[0].gb_per_s - 1.073_741_824 / 1.6).abs() < 1e-9);
        assert!((ranked[0].ci95[0] - 1.073_741_824 / (1.1 * 1.1 + 0.5)).abs() < 1e-9);
    }

    #[test]
    fn nothing_carried_ranks_nothing() {
        assert_eq!(rank(&[], false), []);
    }
}
