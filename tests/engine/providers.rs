//! Each provider by itself: what it can do, how it says what it cannot, and that its self-test would
//! notice a fault.
#![forbid(unsafe_code)]

use engine::algorithm::{Cipher, Mac, MacFunction, Mode};
use engine::cpu::{Detected, Feature, Features};
use engine::installed::releases::Release;
use engine::packet::{PacketCipher, PacketError};
use engine::providers::{
    CLEARING, Direction, Keys, Libcrypto, Native, OpenSsh, Provider, RustCrypto, SelfTestFailure,
    Unavailable, self_test,
};
use engine::report::ProviderName;

use crate::support::skip;
use crate::sweep::Random;

/// Every cipher with every MAC it can be negotiated with.
pub(crate) fn algorithms() -> impl Iterator<Item = (Cipher, Option<Mac>)> {
    Cipher::ALL.iter().flat_map(|&cipher| {
        let alone = cipher.is_aead().then_some(None);
        let macs = Mac::ALL.iter().filter(move |_| !cipher.is_aead());
        let pairs = alone.into_iter().chain(macs.map(|&mac| Some(mac)));
        pairs.map(move |mac| (cipher, mac))
    })
}

/// Every provider there is here, each with a name for messages; of our kernels one for every set of
/// rows this processor can run.
pub(crate) fn providers() -> Vec<(String, Box<dyn Provider>)> {
    let mut found: Vec<(String, Box<dyn Provider>)> =
        vec![("rustcrypto".to_owned(), Box::new(RustCrypto::new()))];
    for native in shrunk().into_iter().map(Native::new) {
        let name = format!("{native:?}");
        if found.iter().all(|(known, _)| *known != name) {
            found.push((name, Box::new(native)));
        }
    }
    if let Some(library) = libcrypto() {
        let all = Detected::new(Features::NONE);
        for release in [None, Some(Release::new(8, 2))] {
            let openssh = OpenSsh::new(Ok(library.clone()), release, all);
            found.push((format!("openssh {release:?}"), Box::new(openssh)));
        }
        found.push(("libcrypto".to_owned(), Box::new(library)));
    }
    found
}

/// What this processor has, and ever less of it: the newest features are taken away first.
pub(crate) fn shrunk() -> Vec<Detected> {
    let mut detected = Detected::new(Features::NONE);
    let mut sets = vec![detected];
    for &feature in Feature::ALL.iter().rev() {
        let fewer = detected.without(Features::of(&[feature]));
        if fewer != detected {
            sets.push(fewer);
        }
        detected = fewer;
    }
    sets
}

/// This system's libcrypto.
pub(crate) fn libcrypto() -> Option<Libcrypto> {
    let loaded = Libcrypto::load(&[]);
    if loaded.is_err() {
        skip("needs libssl3");
    }
    loaded.ok()
}

/// Different bytes for each seed, the same in every run.
pub(crate) fn keys(cipher: Cipher, mac: Option<Mac>, seed: u64) -> Keys {
    let mut random = Random(seed);
    Keys::fill(cipher, mac, || random.array::<1>()[0])
}

#[test]
fn every_provider_passes_its_self_test_or_says_why_it_cannot() {
    for (name, provider) in providers() {
        for (cipher, mac) in algorithms() {
            let tested = self_test(&*provider, cipher, mac);
            match provider.worker(cipher, mac) {
                Ok(worker) => {
                    assert_eq!(tested, Ok(()), "{name} {cipher} {mac:?}");
                    assert!(!worker.is_empty());
                }
                Err(reason) => {
                    assert!(!reason.0.is_empty());
                    assert_eq!(tested, Err(SelfTestFailure::Unavailable(reason)));
                }
            }
        }
    }
}

#[test]
fn rustcrypto_has_aeads_and_ctr_with_hmac() {
    for (cipher, mac) in algorithms() {
        let umac = |mac: Mac| matches!(mac.function, MacFunction::Umac64 | MacFunction::Umac128);
        let expected = cipher.mode() != Mode::Cbc && !mac.is_some_and(umac);
        let worker = RustCrypto::new().worker(cipher, mac);
        assert_eq!(worker.is_ok(), expected, "{cipher} {mac:?}: {worker:?}");
    }
}

#[test]
fn native_does_all_but_cbc_and_openssh_does_all() {
    let detected = Detected::new(Features::NONE);
    let native = Native::new(detected);
    for (cipher, mac) in algorithms() {
        let worker = native.worker(cipher, mac);
        let expected = cipher.mode() != Mode::Cbc;
        assert_eq!(worker.is_ok(), expected, "{cipher} {mac:?}: {worker:?}");
    }
    let Some(library) = libcrypto() else { return };
    let openssh = OpenSsh::new(Ok(library), None, detected);
    for (cipher, mac) in algorithms() {
        let worker = openssh.worker(cipher, mac);
        assert!(worker.is_ok(), "{cipher} {mac:?}: {worker:?}");
    }
}

#[test]
fn native_names_the_rows_that_work() {
    let portable = Native::new(Detected::new(Features::ALL));
    let worker = |cipher, mac| portable.worker(cipher, mac).map_err(|reason| reason.0);
    assert_eq!(
        worker(Cipher::ChaCha20Poly1305, None).as_deref(),
        Ok("chacha20-poly1305 portable")
    );
    assert_eq!(
        worker(Cipher::Aes128Gcm, None).as_deref(),
        Ok("aes portable + ghash portable")
    );
    let mac = Mac::new(MacFunction::HmacSha256, false);
    assert_eq!(
        worker(Cipher::Aes192Ctr, Some(mac)).as_deref(),
        Ok("aes portable + crates hmac + sha2")
    );
    let mac = Mac::new(MacFunction::Umac64, true);
    assert_eq!(
        worker(Cipher::Aes256Ctr, Some(mac)).as_deref(),
        Ok("aes portable + umac portable")
    );
    let best = Native::new(Detected::new(Features::NONE));
    if Detected::new(Features::NONE).features().has(Feature::Aes) {
        let worker = best.worker(Cipher::Aes128Gcm, None).expect("GCM");
        assert!(!worker.contains("aes portable"), "{worker}");
    }
}

#[test]
fn openssh_takes_what_the_release_takes_from_where_the_release_takes_it() {
    let detected = Detected::new(Features::NONE);
    let Some(library) = libcrypto() else { return };
    let worker = |release, cipher| {
        let openssh = OpenSsh::new(Ok(library.clone()), release, detected);
        openssh.worker(cipher, None).map_err(|reason| reason.0)
    };
    let version = library.version();
    let borrowed = format!("EVP_chacha20 of {version} + portable Poly1305");
    let own = "portable ChaCha20 + portable Poly1305".to_owned();
    let gcm = format!("EVP_aes_128_gcm of {version}");
    for (release, chacha20) in [
        (None, &borrowed),
        (Some(Release::new(8, 2)), &own),
        (Some(Release::new(8, 3)), &borrowed),
        (Some(Release::new(10, 0)), &borrowed),
    ] {
        let worker = |cipher| worker(release, cipher);
        assert_eq!(worker(Cipher::ChaCha20Poly1305).as_ref(), Ok(chacha20));
        assert_eq!(worker(Cipher::Aes128Gcm).as_ref(), Ok(&gcm));
    }
    let openssh = OpenSsh::new(Ok(library.clone()), None, detected);
    for (function, worker) in [
        (
            MacFunction::Umac128,
            format!("EVP_aes_128_ctr of {version} + portable UMAC"),
        ),
        (
            MacFunction::HmacSha512,
            format!("EVP_aes_128_ctr + EVP_sha512 of {version}"),
        ),
    ] {
        let mac = Mac::new(function, true);
        assert_eq!(openssh.worker(Cipher::Aes128Ctr, Some(mac)), Ok(worker));
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn an_openssh_that_clears_registers_gives_the_same_packets_by_slower_code() {
    let Some(library) = libcrypto() else { return };
    let detected = Detected::new(Features::NONE);
    let openssh = OpenSsh::new(Ok(library), None, detected).clearing_registers();
    for function in [MacFunction::Umac64, MacFunction::Umac128] {
        let mac = Some(Mac::new(function, true));
        let worker = openssh.worker(Cipher::Aes128Ctr, mac).unwrap();
        assert!(worker.ends_with(CLEARING), "{worker}");
        self_test(&openssh, Cipher::Aes128Ctr, mac).unwrap();
    }
    let hmac = Some(Mac::new(MacFunction::HmacSha256, true));
    let worker = openssh.worker(Cipher::Aes128Ctr, hmac).unwrap();
    assert!(!worker.contains("clearing"), "{worker}");
}

#[test]
fn openssh_without_its_library_says_so() {
    let reason = Unavailable("the library is gone".to_owned());
    let detected = Detected::new(Features::NONE);
    let new = OpenSsh::new(Err(reason.clone()), Some(Release::new(9, 2)), detected);
    let old = OpenSsh::new(Err(reason.clone()), Some(Release::new(8, 2)), detected);
    for (cipher, mac) in algorithms() {
        assert_eq!(new.worker(cipher, mac), Err(reason.clone()));
        let needs_none = cipher == Cipher::ChaCha20Poly1305;
        assert_eq!(old.worker(cipher, mac).is_ok(), needs_none, "{cipher}");
    }
}

#[test]
fn libcrypto_names_itself_and_its_functions() {
    let Some(library) = libcrypto() else { return };
    let gcm = library.worker(Cipher::Aes256Gcm, None).expect("AES-GCM");
    assert_eq!(gcm, format!("EVP_aes_256_gcm of {}", library.version()));
    let mac = Mac::new(MacFunction::HmacSha256, true);
    let ctr = library.worker(Cipher::Aes128Ctr, Some(mac)).expect("CTR");
    assert_eq!(
        ctr,
        format!("EVP_aes_128_ctr + EVP_sha256 of {}", library.version())
    );
    let umac = library.worker(Cipher::Aes128Ctr, Some(Mac::new(MacFunction::Umac64, true)));
    assert_eq!(umac, Err(Unavailable("libcrypto has no UMAC".to_owned())));
}

#[test]
fn a_library_that_is_absent_or_no_libcrypto_gives_a_reason() {
    let absent = Libcrypto::load(&["libcrypto.so.does-not-exist".to_owned()]);
    let reason = absent.err().expect("no such library").0;
    assert!(reason.contains("libcrypto.so.does-not-exist"), "{reason}");
    if cfg!(target_os = "linux") {
        let other = Libcrypto::load(&["libm.so.6".to_owned()]);
        let reason = other.err().expect("no libcrypto").0;
        assert!(reason.contains("libm.so.6"), "{reason}");
    }
}

#[test]
fn wrong_keys_and_wrong_pairs_are_refused_with_a_reason() {
    let mac = Mac::new(MacFunction::HmacSha256, true);
    for (name, provider) in providers() {
        for (cipher, suiting, wrong) in [
            (Cipher::ChaCha20Poly1305, None, Some(mac)),
            (Cipher::Aes128Gcm, None, Some(mac)),
            (Cipher::Aes128Ctr, Some(mac), None),
        ] {
            let good = keys(cipher, suiting, 1);
            let make = |mac, keys: &Keys| {
                let made = provider.packet_cipher(cipher, mac, keys, Direction::Seal);
                made.err().map(|reason| reason.0)
            };
            assert_eq!(make(suiting, &good), None, "{name}");
            assert!(make(wrong, &good).is_some(), "{name} {cipher}");
            let mut short = good.clone();
            short.cipher.pop();
            assert!(make(suiting, &short).is_some(), "{name} {cipher}");
            let mut long = good.clone();
            long.iv.push(0);
            assert!(make(suiting, &long).is_some(), "{name} {cipher}");
            let mut long = good.clone();
            long.mac.push(0);
            assert!(make(suiting, &long).is_some(), "{name} {cipher}");
        }
    }
}

/// A provider with a fault.
struct Faulty {
    inside: RustCrypto,
    fault: Fault,
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    /// One bit of a long packet is wrong both ways, as a miscompiled bulk path would have it.
    Bulk,
    /// Every tag is taken.
    TakesAll,
    /// Every tag of a long packet is taken.
    TakesLong,
}

struct FaultyCipher {
    inside: Box<dyn PacketCipher>,
    fault: Fault,
}

impl Provider for Faulty {
    fn name(&self) -> ProviderName {
        self.inside.name()
    }
    fn worker(&self, cipher: Cipher, mac: Option<Mac>) -> Result<String, Unavailable> {
        self.inside.worker(cipher, mac)
    }
    fn packet_cipher(
        &self,
        cipher: Cipher,
        mac: Option<Mac>,
        keys: &Keys,
        direction: Direction,
    ) -> Result<Box<dyn PacketCipher>, Unavailable> {
        let inside = self.inside.packet_cipher(cipher, mac, keys, direction)?;
        let fault = self.fault;
        Ok(Box::new(FaultyCipher { inside, fault }))
    }
}

impl PacketCipher for FaultyCipher {
    fn tag_len(&self) -> usize {
        self.inside.tag_len()
    }
    fn seal(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        self.inside.seal(sequence, packet)?;
        if matches!(self.fault, Fault::Bulk) && packet.len() > 20_000 {
            packet[20_000] ^= 1;
        }
        Ok(())
    }
    fn packet_length(&mut self, sequence: u32, head: &[u8]) -> Result<u32, PacketError> {
        self.inside.packet_length(sequence, head)
    }
    fn open(&mut self, sequence: u32, packet: &mut [u8]) -> Result<(), PacketError> {
        if matches!(self.fault, Fault::Bulk) && packet.len() > 20_000 {
            packet[20_000] ^= 1;
        }
        let takes = match self.fault {
            Fault::Bulk => false,
            Fault::TakesAll => true,
            Fault::TakesLong => packet.len() > 4096,
        };
        match self.inside.open(sequence, packet) {
            Err(PacketError::Refused) if takes => Ok(()),
            other => other,
        }
    }
}

#[test]
fn the_self_test_notices_faults() {
    for (fault, wrong) in [
        (Fault::Bulk, "sealed packets differ from the known ones"),
        (Fault::TakesAll, "it takes a damaged packet"),
        (Fault::TakesLong, "it takes a damaged packet"),
    ] {
        let inside = RustCrypto::new();
        let faulty = Faulty { inside, fault };
        for cipher in [Cipher::ChaCha20Poly1305, Cipher::Aes256Gcm] {
            let tested = self_test(&faulty, cipher, None);
            assert_eq!(tested, Err(SelfTestFailure::Wrong(wrong)), "{fault:?}");
        }
    }
}
