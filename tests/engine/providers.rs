//! Each provider by itself: what it can do, how it says what it cannot, and that its self-test would
//! notice a fault.
#![forbid(unsafe_code)]

use engine::algorithm::{Cipher, Mac, MacFunction, Mode};
use engine::packet::{PacketCipher, PacketError};
use engine::providers::{
    Direction, Keys, Libcrypto, Provider, RustCrypto, SelfTestFailure, Unavailable, self_test,
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

/// Every provider there is here, each with a name for messages.
pub(crate) fn providers() -> Vec<(String, Box<dyn Provider>)> {
    let mut found: Vec<(String, Box<dyn Provider>)> =
        vec![("rustcrypto".to_owned(), Box::new(RustCrypto::new()))];
    if let Some(library) = libcrypto() {
        found.push(("libcrypto".to_owned(), Box::new(library)));
    }
    found
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
        match self.inside.open(sequence, packet) {
            Err(PacketError::Refused) if matches!(self.fault, Fault::TakesAll) => Ok(()),
            other => other,
        }
    }
}

#[test]
fn the_self_test_notices_faults() {
    for (fault, wrong) in [
        (Fault::Bulk, "sealed packets differ from the known ones"),
        (Fault::TakesAll, "it takes a damaged packet"),
    ] {
        let inside = RustCrypto::new();
        let faulty = Faulty { inside, fault };
        for cipher in [Cipher::ChaCha20Poly1305, Cipher::Aes256Gcm] {
            let tested = self_test(&faulty, cipher, None);
            assert_eq!(tested, Err(SelfTestFailure::Wrong(wrong)), "{fault:?}");
        }
    }
}
