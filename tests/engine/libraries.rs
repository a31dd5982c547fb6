//! Other libraries than the system's own: OpenSSL 1.1, LibreSSL, BoringSSL, AWS-LC.
//!
//! BoringSSL is looked for where Debian's `android-libboringssl` puts it. `ADVISOR_TEST_LIBCRYPTO` names
//! more libraries, as paths separated by colons.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use engine::algorithm::Cipher;
use engine::cpu::{Detected, Features};
use engine::installed::releases::Release;
use engine::providers::{Libcrypto, OpenSsh, Provider, SelfTestFailure, self_test};

use crate::providers::algorithms;
use crate::support::skip_here;

#[test]
fn every_library_computes_right_or_says_what_it_lacks() {
    for library in libraries() {
        let mut passed = 0;
        for (cipher, mac) in algorithms() {
            match self_test(&library, cipher, mac) {
                Ok(()) => passed += 1,
                Err(SelfTestFailure::Unavailable(why)) => {
                    assert!(why.0.contains("libcrypto"), "{}: {why}", library.name());
                    assert_ne!(cipher, Cipher::Aes128Gcm, "{}: {why}", library.name());
                }
                Err(wrong) => panic!("{}, {cipher} {mac:?}: {wrong}", library.name()),
            }
        }
        println!("{} ({}): {passed} pass", library.version(), library.name());
    }
}

#[test]
fn openssh_does_everything_on_every_library() {
    let detected = Detected::new(Features::NONE);
    for library in libraries() {
        let borrows = library.worker(Cipher::ChaCha20Poly1305, None).is_ok();
        let openssh = OpenSsh::new(Ok(library.clone()), Some(Release::new(10, 0)), detected);
        for (cipher, mac) in algorithms() {
            let result = self_test(&openssh, cipher, mac);
            assert_eq!(result, Ok(()), "{}, {cipher} {mac:?}", library.name());
        }
        let worker = openssh.worker(Cipher::ChaCha20Poly1305, None);
        let worker = worker.expect("whatever the library has");
        assert_eq!(worker.contains("EVP_chacha20"), borrows, "{worker}");
    }
}

#[test]
fn a_library_may_be_set_up_again_and_again() {
    for library in libraries() {
        let first = library.initialise();
        assert_eq!(library.initialise(), first, "{}", library.name());
        assert_eq!(self_test(&library, Cipher::Aes128Gcm, None), Ok(()));
    }
}

fn libraries() -> Vec<Libcrypto> {
    let named = std::env::var_os("ADVISOR_TEST_LIBCRYPTO").unwrap_or_default();
    let mut paths: Vec<PathBuf> = std::env::split_paths(&named)
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    let folders = std::fs::read_dir("/usr/lib")
        .into_iter()
        .flatten()
        .flatten();
    let boring = folders.map(|folder| folder.path().join("android/libcrypto.so.0"));
    paths.extend(boring.filter(|path| path.is_file()));
    if paths.is_empty() {
        skip_here("no other libcrypto; android-libboringssl brings one");
    }
    paths.iter().map(|path| load(path)).collect()
}

fn load(path: &Path) -> Libcrypto {
    let name = path.to_str().expect("a path that is text").to_owned();
    Libcrypto::load(&[name]).expect("a libcrypto")
}
