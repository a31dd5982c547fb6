//! Random bytes: every source fills every byte, none repeats itself, and the table is whole.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use engine::cpu::{Detected, Features};
use engine::host::Clock;
use engine::measure::{EntropyRequest, Gate, entropy};
use engine::providers::random_sources;

fn detected() -> Detected {
    Detected::new(Features::NONE)
}

#[test]
fn every_source_fills_every_byte_and_never_the_same_way() {
    let mut seen = BTreeSet::new();
    for source in &mut random_sources(detected()).unwrap() {
        for length in [0, 1, 16, 63, 64, 65, 4096] {
            // A byte that is left alone keeps its value in every one of so many fillings.
            let mut touched = vec![false; length];
            for _ in 0..16 {
                let mut bytes = vec![0xa5; length];
                source.fill(&mut bytes).unwrap();
                let changed = bytes.iter().map(|&byte| byte != 0xa5);
                touched
                    .iter_mut()
                    .zip(changed)
                    .for_each(|(was, is)| *was |= is);
                if length >= 16 {
                    assert!(seen.insert(bytes), "{} repeats itself", source.name());
                }
            }
            assert!(touched.iter().all(|&it| it), "{}: {length}", source.name());
        }
    }
}

#[test]
fn every_row_of_the_key_stream_is_a_source_of_its_own() {
    let all: Vec<_> = random_sources(detected())
        .unwrap()
        .iter()
        .map(|it| it.name())
        .collect();
    assert_eq!(all[0], "getrandom");
    assert!(all.contains(&"ChaCha20 portable".to_owned()), "{all:?}");
    if cfg!(unix) {
        assert!(all.contains(&"/dev/urandom".to_owned()), "{all:?}");
    }
    let fewer = random_sources(detected().without(Features::ALL)).unwrap();
    let streams = fewer.iter().filter(|it| it.name().starts_with("ChaCha20"));
    assert_eq!(streams.count(), 1);
}

/// Each reading takes longer than the one before, so that every sample is long enough at some time.
#[derive(Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn wall(&self) -> Duration {
        self.thread_cpu()
    }
    fn thread_cpu(&self) -> Duration {
        let readings = self.0.fetch_add(1, Ordering::Relaxed);
        Duration::from_micros(50 * readings * readings)
    }
    fn since_1970(&self) -> Duration {
        Duration::ZERO
    }
}

#[test]
fn the_table_is_whole_however_short_the_time() {
    let sources = random_sources(detected()).unwrap().len();
    for budget in [Duration::ZERO, Duration::from_millis(1)] {
        let request = EntropyRequest {
            budget,
            gate: Gate::default(),
        };
        let (clock, never) = (Ticking::default(), AtomicBool::new(false));
        let table = entropy(&request, detected(), &clock, &never).unwrap();
        let cells: BTreeSet<_> = table
            .iter()
            .map(|it| (it.source.clone(), it.bytes))
            .collect();
        assert_eq!((cells.len(), table.len()), (sources * 5, sources * 5));
        for cell in &table {
            assert!(cell.rounds > 0 && cell.ns_per_request > 0.0, "{cell:?}");
            let speed = cell.bytes as f64 / cell.ns_per_request * 1e3;
            assert!((speed / cell.mb_per_s - 1.0).abs() < 1e-9, "{cell:?}");
        }
    }
}
