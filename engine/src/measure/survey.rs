//! The whole look at one machine: who it is, what is installed, how fast each provider is.
#![forbid(unsafe_code)]

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::environment::of_host;
use super::ladder::ladder;
use super::session::{MeasureRequest, Measured, Progress, measure};
use super::transfers::{Pair, TransfersRequest, transfer};
use crate::algorithm::{Cipher, Mac};
use crate::cpu::{Detected, Features, identify};
use crate::host::{Clock, Machine};
use crate::installed::releases::client_macs;
use crate::installed::{Installed, InstalledProgram};
use crate::packet::PacketCipher;
use crate::providers::{
    Direction, Keys, Libcrypto, Native, OpenSsh, Provider, RustCrypto, Unavailable,
};
use crate::report::{Library, OpenSsh as Programs, ProviderName, Report, Rung, UnavailableCell};
use crate::transfer::Carrier;

/// The share of a time box that the three cells of the ladder are worth.
const LADDER: f64 = 0.04;

/// What to look at.
#[derive(Clone, Debug)]
pub struct SurveyRequest {
    /// What [`discover`](crate::installed::discover) found.
    pub installed: Installed,
    /// CPU features that are not to be used.
    pub hidden: Features,
    /// The MAC negotiated beside ciphers that are no AEADs, as the configuration says; without one,
    /// the first of the client's compiled default that it has.
    pub mac: Option<Mac>,
    /// Who is measured, most important first.
    pub providers: Vec<ProviderName>,
    /// Sizes, time for everything, and gate.
    pub measure: MeasureRequest,
    /// What is carried over real connections, where somebody can carry.
    pub transfers: TransferPart,
}

/// The part that transfers have in a survey.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferPart {
    /// The ciphers, most important first.
    pub pairs: Vec<Pair>,
    /// The share of the time that goes to them, from 0 to 1, before packets get the rest. With all of it for
    /// transfers no packet is measured.
    pub share: f64,
}

impl Default for TransferPart {
    /// Most of the time: a connection costs more than a packet, and says more. No cipher yet.
    fn default() -> Self {
        Self {
            pairs: Vec::new(),
            share: 0.75,
        }
    }
}

impl Default for SurveyRequest {
    /// What the installed OpenSSH would do, what our kernels can, and what the RustCrypto crates do.
    fn default() -> Self {
        Self {
            installed: Installed::default(),
            hidden: Features::NONE,
            mac: None,
            providers: vec![
                ProviderName::OpenSsh,
                ProviderName::Native,
                ProviderName::RustCrypto,
            ],
            measure: MeasureRequest::default(),
            transfers: TransferPart::default(),
        }
    }
}

/// The outside world of a survey.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Its clocks.
    pub clock: &'a dyn Clock,
    /// The machine it is about.
    pub machine: &'a dyn Machine,
}

/// Everything known without measuring: host, processor, programs.
#[must_use]
pub fn describe(request: &SurveyRequest, world: World<'_>) -> Report {
    let identity = identify(request.hidden);
    let mut host = world.machine.describe();
    host.hypervisor = identity.hypervisor;
    host.measured_at = world.clock.since_1970().as_secs();
    let mut warnings = identity.warnings;
    warnings.extend(request.installed.problems.iter().cloned());
    Report {
        host,
        cpu: identity.cpu,
        openssh: programs(&request.installed),
        warnings,
        ..Report::default()
    }
}

/// Describes the machine and measures packets. When `cancel` is set on the way, the report holds what was
/// measured until then.
pub fn survey(
    request: &SurveyRequest,
    world: World<'_>,
    progress: &mut dyn FnMut(Progress),
    cancel: &AtomicBool,
) -> Report {
    watched(request, world, |report| {
        packets(report, request, world.clock, progress, cancel);
    })
}

/// The same with real transfers before it; what time they leave goes to packets.
pub fn survey_with(
    carrier: &mut dyn Carrier,
    request: &SurveyRequest,
    world: World<'_>,
    progress: &mut dyn FnMut(Progress),
    cancel: &AtomicBool,
) -> Report {
    watched(request, world, |report| {
        let budget = request.measure.budget;
        let begun = world.clock.wall();
        let mut whole = |at: Progress, part: Duration, before: Duration| {
            let passed = before + part.mul_f64(at.fraction.clamp(0.0, 1.0));
            let fraction = passed.as_secs_f64() / budget.as_secs_f64().max(f64::MIN_POSITIVE);
            progress(Progress { fraction, ..at });
        };
        let own = budget.mul_f64(request.transfers.share.clamp(0.0, 1.0));
        let carried = transfer(
            carrier,
            &TransfersRequest {
                pairs: request.transfers.pairs.clone(),
                budget: own,
                shared_core: report.host.processors == 1,
            },
            world.clock,
            &mut |at| whole(at, own, Duration::ZERO),
            cancel,
        );
        report.transfers = carried.transfers;
        report.unavailable_transfers = carried.unavailable;
        let warnings = carried.warnings.iter().map(ToString::to_string);
        report.warnings.extend(warnings);
        if request.transfers.share >= 1.0 || carried.cancelled {
            return;
        }
        let used = world.clock.wall().saturating_sub(begun);
        let mut rest = request.clone();
        rest.measure.budget = budget.saturating_sub(used);
        let left = rest.measure.budget;
        packets(
            report,
            &rest,
            world.clock,
            &mut |at| whole(at, left, used),
            cancel,
        );
    })
}

/// A description with what was found meanwhile, and what disturbed it.
fn watched(request: &SurveyRequest, world: World<'_>, measure: impl FnOnce(&mut Report)) -> Report {
    let mut report = describe(request, world);
    let known = report.warnings.len();
    let before = world.machine.processor_time();
    let throttled = world.machine.throttle_events();
    measure(&mut report);
    let after = world.machine.processor_time();
    report.host.steal_percent = after
        .zip(before)
        .and_then(|(after, before)| after.steal_percent_since(before));
    let events = world.machine.throttle_events().zip(throttled);
    report.host.throttled = events.map(|(after, before)| after.saturating_sub(before));
    let driver = world.machine.frequency_driver();
    let disturbances = of_host(&report.host, driver.as_deref());
    let disturbances = disturbances.iter().map(ToString::to_string);
    report.warnings.splice(known..known, disturbances);
    report
}

fn packets(
    report: &mut Report,
    request: &SurveyRequest,
    clock: &dyn Clock,
    progress: &mut dyn FnMut(Progress),
    cancel: &AtomicBool,
) {
    let mut request = request.clone();
    report.ladder = steps(&mut request, clock, cancel);
    let measured = measure_all(&request, clock, progress, cancel);
    let warnings = measured.warnings.iter().map(ToString::to_string);
    report.warnings.extend(warnings);
    report.measurements = measured.measurements;
    report.unavailable = measured.unavailable;
}

/// The ladder, and the rest of the time left to `request`. Of interest only beside what it explains.
fn steps(request: &mut SurveyRequest, clock: &dyn Clock, cancel: &AtomicBool) -> Vec<Rung> {
    let asked = [ProviderName::OpenSsh, ProviderName::Native];
    let has_chacha20 = ciphers(&request.installed)
        .0
        .contains(&Cipher::ChaCha20Poly1305);
    if !has_chacha20 || asked.iter().any(|name| !request.providers.contains(name)) {
        return Vec::new();
    }
    let budget = request.measure.budget;
    let own = MeasureRequest {
        sizes: vec![32 * 1024],
        budget: budget.mul_f64(LADDER),
        gate: request.measure.gate.clone(),
        self_test: request.measure.self_test,
    };
    request.measure.budget = budget.saturating_sub(own.budget);
    let library = Libcrypto::load(&request.installed.libcrypto());
    ladder(library, Detected::new(request.hidden), &own, clock, cancel)
}

fn measure_all(
    request: &SurveyRequest,
    clock: &dyn Clock,
    progress: &mut dyn FnMut(Progress),
    cancel: &AtomicBool,
) -> Measured {
    let (ciphers, foreign) = ciphers(&request.installed);
    let mac = request
        .mac
        .unwrap_or_else(|| default_mac(&request.installed));
    let pairs: Vec<_> = ciphers
        .iter()
        .map(|&cipher| (cipher, (!cipher.is_aead()).then_some(mac)))
        .collect();
    let providers = request.providers.iter();
    let providers: Vec<_> = providers.map(|&name| provider(name, request)).collect();
    let providers: Vec<_> = providers.iter().map(AsRef::as_ref).collect();
    let mut measured = measure(
        &providers,
        &pairs,
        &request.measure,
        clock,
        progress,
        cancel,
    );
    for cipher in foreign {
        measured.unavailable.push(UnavailableCell {
            cipher,
            mac: None,
            provider: ProviderName::OpenSsh,
            reason: "this program has no implementation of it to measure".to_owned(),
        });
    }
    measured
}

/// The ciphers to measure, in the order of [`Cipher::ALL`], and the installed ones we do not know.
fn ciphers(installed: &Installed) -> (Vec<Cipher>, Vec<String>) {
    let Some(client) = &installed.client else {
        return (Cipher::ALL.to_vec(), Vec::new());
    };
    let (mut known, mut foreign) = (Vec::new(), Vec::new());
    for name in client.ciphers() {
        match name.parse() {
            Ok(cipher) => known.push(cipher),
            Err(_) => foreign.push(name),
        }
    }
    known.sort_unstable();
    (known, foreign)
}

/// The first MAC of the client's compiled default that it has and we know.
fn default_mac(installed: &Installed) -> Mac {
    let first = installed.client.as_ref().and_then(|client| {
        let compiled_in = client.macs();
        let has = |name: &&&str| compiled_in.iter().any(|one| one == **name);
        let defaults = client_macs(client.release).iter().filter(has);
        defaults.filter_map(|name| name.parse().ok()).next()
    });
    first.unwrap_or(Mac::ALL[0])
}

fn provider(name: ProviderName, request: &SurveyRequest) -> Box<dyn Provider> {
    let detected = Detected::new(request.hidden);
    let libcrypto = || Libcrypto::load(&request.installed.libcrypto());
    let client = request.installed.client.as_ref();
    match name {
        ProviderName::OpenSsh => {
            let library = libcrypto();
            if let Ok(library) = &library
                && client.is_none_or(InstalledProgram::is_portable)
            {
                library.initialise();
            }
            let release = client.map(|client| client.release);
            let openssh = OpenSsh::new(library, release, detected);
            Box::new(if request.installed.clears_registers() {
                openssh.clearing_registers()
            } else {
                openssh
            })
        }
        ProviderName::Native => Box::new(Native::new(detected)),
        ProviderName::RustCrypto => Box::new(RustCrypto),
        ProviderName::Libcrypto => match libcrypto() {
            Ok(library) => Box::new(library),
            Err(reason) => Box::new(Missing(name, reason)),
        },
    }
}

/// A provider that is not on this machine: it answers everything with the reason.
struct Missing(ProviderName, Unavailable);

impl Provider for Missing {
    fn name(&self) -> ProviderName {
        self.0
    }

    fn worker(&self, _: Cipher, _: Option<Mac>) -> Result<String, Unavailable> {
        Err(self.1.clone())
    }

    fn packet_cipher(
        &self,
        _: Cipher,
        _: Option<Mac>,
        _: &Keys,
        _: Direction,
    ) -> Result<Box<dyn PacketCipher>, Unavailable> {
        Err(self.1.clone())
    }
}

/// The programs as reports show them. The library is the one the programs link, by the version they
/// print, else by the version it gives when loaded.
fn programs(installed: &Installed) -> Programs {
    let both = || installed.client.iter().chain(&installed.server);
    let soname = installed.libcrypto().first().cloned();
    let libcrypto = soname.map(|name| {
        let printed = both().find_map(|program| program.library.clone());
        let loaded = || Libcrypto::load(std::slice::from_ref(&name)).ok();
        let version = printed.or_else(|| Some(loaded()?.version().to_owned()));
        Library {
            version: version.unwrap_or_default(),
            name,
            ..Library::default()
        }
    });
    Programs {
        client: installed.client.as_ref().map(|one| one.program.clone()),
        server: installed.server.as_ref().map(|one| one.program.clone()),
        libcrypto,
        dropbear: installed.dropbear.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::installed::releases::Release;
    use crate::report::Program;

    fn with(ciphers: &[&str], macs: &[&str]) -> Installed {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let client = InstalledProgram {
            program: Program {
                ciphers: owned(ciphers),
                macs: owned(macs),
                ..Program::default()
            },
            release: Release::new(9, 2),
            libcrypto: vec!["libcrypto.so.3".to_owned()],
            library: Some("OpenSSL 3.0.19 27 Jan 2026".to_owned()),
            clears_registers: false,
        };
        Installed {
            client: Some(client),
            ..Installed::default()
        }
    }

    #[test]
    fn ciphers_we_do_not_know_are_told_apart() {
        let installed = with(&["3des-cbc", "arcfour", "aes128-gcm@openssh.com"], &[]);
        let (known, foreign) = ciphers(&installed);
        assert_eq!(known, [Cipher::Aes128Gcm, Cipher::TripleDesCbc]);
        assert_eq!(foreign, ["arcfour"]);
        assert_eq!(ciphers(&Installed::default()).0, Cipher::ALL);
    }

    #[test]
    fn the_default_mac_is_the_first_the_client_has() {
        let has = |macs| default_mac(&with(&[], macs)).name();
        assert_eq!(
            has(&["hmac-sha1", "umac-128-etm@openssh.com"]),
            "umac-128-etm@openssh.com"
        );
        assert_eq!(has(&["hmac-sha2-512"]), "hmac-sha2-512");
        assert_eq!(has(&[]), "umac-64-etm@openssh.com", "by its release");
    }

    #[test]
    fn the_library_is_the_one_the_programs_print() {
        let found = programs(&with(&[], &[])).libcrypto;
        let expected = Library {
            name: "libcrypto.so.3".to_owned(),
            version: "OpenSSL 3.0.19 27 Jan 2026".to_owned(),
            ..Library::default()
        };
        assert_eq!(found, Some(expected));
        assert_eq!(programs(&Installed::default()), Programs::default());
    }
}
