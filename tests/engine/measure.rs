//! Measuring under a clock and with providers whose speed is known.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use engine::algorithm::{Cipher, Mac, MacFunction};
use engine::host::Clock;
use engine::measure::{
    ENOUGH_ROUNDS, MeasureRequest, Measured, Progress, Warning, measure, statistics,
};
use engine::packet::{Layout, PacketCipher, PacketError};
use engine::providers::{Direction, Keys, Provider, SelfTestFailure, Unavailable};
use engine::report::ProviderName;

/// A clock that stands still unless somebody works.
#[derive(Default)]
struct FakeClock(AtomicU64);

impl FakeClock {
    fn pass(&self, nanoseconds: u64) {
        self.0.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

impl Clock for FakeClock {
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

type Speed = fn(Cipher) -> u64;

/// Takes a fixed time a KiB, and sometimes, in a fixed pattern, a little longer.
struct FakeProvider {
    name: ProviderName,
    clock: &'static FakeClock,
    ns_per_kib: Speed,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Does not know AES-CTR.
    NoCtr,
    /// Opens to something else than was sealed.
    Garbles,
    /// Fails after some packets.
    FailsLater,
}

struct FakeCipher {
    tag: usize,
    clock: &'static FakeClock,
    ns_per_kib: u64,
    packets: u64,
    fault: Fault,
}

impl FakeCipher {
    fn work(&mut self, packet: &[u8]) {
        self.packets += 1;
        let slowly = if self.packets.is_multiple_of(7) { 3 } else { 0 };
        let bytes = (packet.len() - 4 - self.tag) as u64;
        self.clock
            .pass((bytes * self.ns_per_kib * (100 + slowly) / 102_400).max(1));
    }
}

impl PacketCipher for FakeCipher {
    fn tag_len(&self) -> usize {
        self.tag
    }
    fn seal(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        self.work(packet);
        packet.iter_mut().for_each(|byte| *byte ^= sequence as u8);
        if self.fault == Fault::FailsLater && self.packets > 5_000 {
            return Err(PacketError::Library("out of order".to_owned()));
        }
        Ok(())
    }
    fn packet_length(&mut self, sequence: u32, head: &[u8]) -> Result<u32, PacketError> {
        let field = head
            .first_chunk()
            .ok_or(PacketError::Malformed(head.len()))?;
        Ok(u32::from_be_bytes(field.map(|byte| byte ^ sequence as u8)))
    }
    fn open(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        self.work(packet);
        let mask = if self.fault == Fault::Garbles { 1 } else { 0 };
        packet
            .iter_mut()
            .for_each(|byte| *byte ^= sequence as u8 ^ mask);
        Ok(())
    }
}

impl FakeProvider {
    fn knows(&self, cipher: Cipher) -> Result<(), Unavailable> {
        if self.fault == Fault::NoCtr && !cipher.is_aead() {
            return Err(Unavailable("no CTR here".to_owned()));
        }
        Ok(())
    }
}

impl Provider for FakeProvider {
    fn name(&self) -> ProviderName {
        self.name
    }
    fn worker(&self, cipher: Cipher, _mac: Option<Mac>) -> Result<String, Unavailable> {
        self.knows(cipher)?;
        Ok("fake".to_owned())
    }
    fn packet_cipher(
        &self,
        cipher: Cipher,
        mac: Option<Mac>,
        keys: &Keys,
        _direction: Direction,
    ) -> Result<Box<dyn PacketCipher>, Unavailable> {
        self.knows(cipher)?;
        assert_eq!(keys.cipher.len(), cipher.key_len());
        assert_eq!(keys.iv.len(), cipher.iv_len());
        assert_eq!(keys.mac.is_empty(), mac.is_none());
        Ok(Box::new(FakeCipher {
            tag: Layout::of(cipher, mac).tag_len(),
            clock: self.clock,
            ns_per_kib: (self.ns_per_kib)(cipher),
            packets: 0,
            fault: self.fault,
        }))
    }
}

/// 0.4096 GB/s for gcm, 0.1024 for the others.
fn gcm_is_fast(cipher: Cipher) -> u64 {
    if cipher == Cipher::Aes128Gcm {
        2_500
    } else {
        10_000
    }
}

fn umac() -> Mac {
    Mac::new(MacFunction::Umac64, true)
}

fn pairs() -> Vec<(Cipher, Option<Mac>)> {
    vec![
        (Cipher::ChaCha20Poly1305, None),
        (Cipher::Aes128Gcm, None),
        (Cipher::Aes128Ctr, Some(umac())),
    ]
}

/// XOR with the sequence number passes no real test.
fn anything_goes(_: &dyn Provider, _: Cipher, _: Option<Mac>) -> Result<(), SelfTestFailure> {
    Ok(())
}

struct Run {
    measured: Measured,
    progress: Vec<Progress>,
    wall: Duration,
}

fn run(budget: Duration, faults: &[Fault]) -> Run {
    let clock: &'static FakeClock = Box::leak(Box::default());
    let names = [ProviderName::OpenSsh, ProviderName::Native];
    let providers: Vec<_> = names
        .into_iter()
        .zip(faults)
        .map(|(name, &fault)| FakeProvider {
            name,
            clock,
            ns_per_kib: gcm_is_fast,
            fault,
        })
        .collect();
    let providers: Vec<&dyn Provider> = providers.iter().map(|one| one as &dyn Provider).collect();
    let request = MeasureRequest {
        budget,
        self_test: anything_goes,
        ..MeasureRequest::default()
    };
    let mut progress = Vec::new();
    let measured = measure(
        &providers,
        &pairs(),
        &request,
        clock,
        &mut |step| progress.push(step),
        &AtomicBool::new(false),
    );
    Run {
        measured,
        progress,
        wall: clock.wall(),
    }
}

#[test]
fn a_known_speed_is_found_in_both_directions_at_every_size() {
    let run = run(Duration::from_secs(2), &[Fault::None, Fault::None]);
    assert_eq!(run.measured.measurements.len(), 2 * 3 * 2 * 3);
    assert!(run.measured.unavailable.is_empty());
    for found in &run.measured.measurements {
        let truth = if found.cipher.starts_with("aes128-gcm") {
            0.4096
        } else {
            0.1024
        };
        let error = (found.gb_per_s / truth - 1.0).abs();
        assert!(error < 0.1, "{found:?}");
        assert!(found.ci95[0] <= found.gb_per_s && found.gb_per_s <= found.ci95[1]);
        assert!(found.rounds >= ENOUGH_ROUNDS, "{found:?}");
        assert_eq!(found.mac.is_some(), found.cipher == "aes128-ctr");
    }
    assert!(run.wall <= Duration::from_secs(2) + Duration::from_millis(20));
}

#[test]
fn the_same_arguments_give_the_same_numbers() {
    let budget = Duration::from_millis(700);
    let first = run(budget, &[Fault::None, Fault::NoCtr]);
    let second = run(budget, &[Fault::None, Fault::NoCtr]);
    assert_eq!(first.measured, second.measured);
}

#[test]
fn intervals_support_the_true_ranking() {
    let run = run(Duration::from_secs(1), &[Fault::None]);
    let of = |cipher: &str| {
        let mut found = run.measured.measurements.iter();
        found
            .find(|one| one.cipher == cipher && one.bytes == 32768)
            .expect("measured")
            .ci95
    };
    let (gcm, chacha, ctr) = (
        of("aes128-gcm@openssh.com"),
        of("chacha20-poly1305@openssh.com"),
        of("aes128-ctr"),
    );
    let compare = |a, b| statistics::compare(a, b, 0.1);
    assert_eq!(compare(gcm, chacha), statistics::Comparison::Faster);
    assert_eq!(compare(chacha, ctr), statistics::Comparison::NoDifference);
}

#[test]
fn what_a_provider_does_not_do_is_a_reason_and_not_a_gap() {
    let run = run(Duration::from_secs(1), &[Fault::NoCtr, Fault::None]);
    let [only] = &run.measured.unavailable[..] else {
        panic!("one reason for all sizes: {:?}", run.measured.unavailable);
    };
    assert_eq!(only.cipher, "aes128-ctr");
    assert_eq!(only.mac.as_deref(), Some("umac-64-etm@openssh.com"));
    assert_eq!(only.provider, ProviderName::OpenSsh);
    assert_eq!(only.reason, "no CTR here");
    assert_eq!(run.measured.measurements.len(), 2 * 3 * 5);
}

#[test]
fn a_provider_that_garbles_or_fails_gets_no_numbers() {
    for fault in [Fault::Garbles, Fault::FailsLater] {
        let run = run(Duration::from_secs(1), &[Fault::None, fault]);
        let is_faulty = |provider| provider == ProviderName::Native;
        assert_eq!(run.measured.unavailable.len(), 3);
        assert!(
            run.measured
                .unavailable
                .iter()
                .all(|cell| is_faulty(cell.provider))
        );
        assert!(
            run.measured
                .measurements
                .iter()
                .all(|cell| !is_faulty(cell.provider))
        );
        assert_eq!(run.measured.measurements.len(), 2 * 3 * 3);
    }
}

#[test]
fn a_short_budget_goes_to_the_first_provider_and_the_largest_packets() {
    let run = run(Duration::from_millis(100), &[Fault::None, Fault::None]);
    let rounds = |bytes, provider| {
        let of_cell =
            |one: &&engine::report::Measurement| one.bytes == bytes && one.provider == provider;
        let found = run.measured.measurements.iter().filter(of_cell);
        found.map(|one| one.rounds).min().unwrap_or(0)
    };
    assert!(rounds(32768, ProviderName::OpenSsh) >= ENOUGH_ROUNDS);
    assert!(rounds(64, ProviderName::Native) < ENOUGH_ROUNDS);
    let about_time =
        |warning: &Warning| matches!(warning, Warning::FewRounds { .. } | Warning::NoTime { .. });
    assert!(run.measured.warnings.iter().any(about_time));
}

#[test]
fn no_budget_gives_reasons_instead_of_numbers() {
    let run = run(Duration::ZERO, &[Fault::None, Fault::None]);
    assert!(run.measured.measurements.is_empty());
    assert_eq!(run.measured.unavailable.len(), 6);
    assert!(run.measured.unavailable[0].reason.contains("time budget"));
}

#[test]
fn progress_grows_and_carries_the_newest_numbers() {
    let run = run(Duration::from_millis(500), &[Fault::None]);
    let fractions: Vec<_> = run.progress.iter().map(|step| step.fraction).collect();
    assert!(fractions.is_sorted() && fractions.iter().all(|part| (0.0..=1.0).contains(part)));
    let last = run.progress.last().expect("some progress");
    assert!(last.round >= ENOUGH_ROUNDS && last.latest.len() == 2);
    assert!(run.measured.measurements.contains(&last.latest[0]));
}

#[test]
fn cancelling_stops_at_once_and_keeps_what_was_measured() {
    let clock: &'static FakeClock = Box::leak(Box::default());
    let provider = FakeProvider {
        name: ProviderName::OpenSsh,
        clock,
        ns_per_kib: gcm_is_fast,
        fault: Fault::None,
    };
    let cancel = AtomicBool::new(false);
    let mut after = 0;
    let measured = measure(
        &[&provider],
        &pairs(),
        &MeasureRequest {
            self_test: anything_goes,
            ..MeasureRequest::default()
        },
        clock,
        &mut |step| {
            after += usize::from(cancel.load(Ordering::Relaxed));
            cancel.store(step.round == 2, Ordering::Relaxed);
        },
        &cancel,
    );
    assert!(measured.cancelled);
    assert_eq!(after, 0);
    assert!(measured.measurements.len() > 2);
    assert!(clock.wall() < Duration::from_secs(1));
}

#[test]
fn a_wrong_provider_gets_no_numbers_and_a_loud_warning() {
    let clock: &'static FakeClock = Box::leak(Box::default());
    let provider = FakeProvider {
        name: ProviderName::Native,
        clock,
        ns_per_kib: gcm_is_fast,
        fault: Fault::NoCtr,
    };
    let measured = measure(
        &[&provider],
        &pairs(),
        &MeasureRequest::default(),
        clock,
        &mut |_| (),
        &AtomicBool::new(false),
    );
    assert!(measured.measurements.is_empty());
    let reasons: Vec<_> = measured
        .unavailable
        .iter()
        .map(|cell| &cell.reason)
        .collect();
    assert!(
        reasons[0].starts_with("SELF-TEST FAILED: it computes wrong"),
        "{reasons:?}"
    );
    assert_eq!(measured.warnings.len(), 2, "CTR is unavailable, not wrong");
    let warning = measured.warnings[0].to_string();
    assert!(warning.starts_with("SELF-TEST FAILED: native chacha20-poly1305: it computes wrong"));
}
