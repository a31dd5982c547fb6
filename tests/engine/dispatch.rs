//! Which row each generation of x86-64 processors gets. The sets are synthetic: nothing here runs a kernel.
#![forbid(unsafe_code)]

use engine::cpu::Features;
use engine::kernels::aes::Aes;
use engine::kernels::aes_gcm::Fused;
use engine::kernels::chacha20::ChaCha20;
use engine::kernels::chacha20_poly1305::ChaCha20Poly1305;
use engine::kernels::poly1305::Poly1305;
use engine::kernels::umac::Nh;
use engine::kernels::{Primitive, choose};

/// Every feature by the processor that brought it, oldest first.
const SSE2: &str = "sse2";
const CORE_2: &str = "sse2,ssse3";
const WESTMERE: &str = "sse2,ssse3,aes,pclmulqdq";
const SANDY_BRIDGE: &str = "sse2,ssse3,aes,pclmulqdq,avx";
const HASWELL: &str = "sse2,ssse3,aes,pclmulqdq,avx,avx2,bmi2";
const SKYLAKE_X: &str = "sse2,ssse3,aes,pclmulqdq,avx,avx2,bmi2,avx512f,avx512bw,avx512vl";
const ZEN_3: &str = "sse2,ssse3,aes,pclmulqdq,avx,avx2,bmi2,vaes,vpclmulqdq,sha";
const ICE_LAKE: &str = "sse2,ssse3,aes,pclmulqdq,avx,avx2,bmi2,vaes,vpclmulqdq,sha,\
                        avx512f,avx512bw,avx512vl,avx512ifma,avx512vbmi2";

const PROCESSORS: [(&str, &str); 13] = [
    ("K8", SSE2),
    ("Core 2", CORE_2),
    ("Nehalem", CORE_2),
    ("Westmere", WESTMERE),
    ("Sandy Bridge", SANDY_BRIDGE),
    ("Haswell", HASWELL),
    ("Skylake-X", SKYLAKE_X),
    ("Zen 3", ZEN_3),
    ("Alder Lake", ZEN_3),
    ("Ice Lake", ICE_LAKE),
    ("Zen 5", ICE_LAKE),
    ("Granite Rapids", ICE_LAKE),
    ("Granite Rapids, no AVX state saved by the system", WESTMERE),
];

/// Asserts the row of every processor, in their order.
fn assert_rows<P: Primitive>(expected: [&str; PROCESSORS.len()]) {
    for ((processor, features), expected) in PROCESSORS.into_iter().zip(expected) {
        let features = Features::parse(features).unwrap();
        assert_eq!(choose::<P>(features).name, expected, "{processor}");
    }
}

#[test]
fn chacha20() {
    assert_rows::<ChaCha20>([
        "sse2", "sse2", "sse2", "sse2", "sse2", "avx2", "avx512vl", "avx2", "avx2", "avx512",
        "avx512", "avx512", "sse2",
    ]);
    assert_eq!(choose::<ChaCha20>(Features::NONE).name, "portable");
}

#[test]
fn poly1305() {
    let [scalar, avx2, ifma] = ["portable", "avx2", "avx512ifma"];
    assert_rows::<Poly1305>([
        scalar, scalar, scalar, scalar, scalar, avx2, avx2, avx2, avx2, ifma, ifma, ifma, scalar,
    ]);
    assert_eq!(choose::<Poly1305>(Features::NONE).name, scalar);
}

#[test]
fn chacha20_poly1305() {
    let [sse2, avx2, ifma] = ["sse2", "avx2", "avx512ifma"];
    assert_rows::<ChaCha20Poly1305>([
        sse2, sse2, sse2, sse2, sse2, avx2, avx2, avx2, avx2, ifma, ifma, ifma, sse2,
    ]);
    assert_eq!(choose::<ChaCha20Poly1305>(Features::NONE).name, "portable");
}

#[test]
fn aes() {
    let [soft, hard, wide] = ["portable", "aesni", "vaes512"];
    assert_rows::<Aes>([
        soft, soft, soft, hard, hard, hard, hard, hard, hard, wide, wide, wide, hard,
    ]);
    assert_eq!(choose::<Aes>(Features::NONE).name, soft);
}

#[test]
fn umac() {
    let [narrow, wide, widest] = ["sse2", "avx2", "avx512"];
    assert_rows::<Nh>([
        narrow, narrow, narrow, narrow, narrow, wide, wide, wide, wide, widest, widest, widest,
        narrow,
    ]);
    assert_eq!(choose::<Nh>(Features::NONE).name, "portable");
}

#[test]
fn aes_gcm() {
    let [hard, wide, widest] = [Some("aesni"), Some("vaes256"), Some("vaes512")];
    let expected = [
        None, None, None, hard, hard, hard, hard, wide, wide, widest, widest, widest, hard,
    ];
    // No row runs everywhere: where none does, AES-GCM is composed.
    let fused = |features: Features| {
        let mut rows = Fused::ROWS.iter();
        rows.find(|row| features.contains(row.needs))
            .map(|row| row.name)
    };
    for ((processor, features), expected) in PROCESSORS.into_iter().zip(expected) {
        assert_eq!(
            fused(Features::parse(features).unwrap()),
            expected,
            "{processor}"
        );
    }
    assert_eq!(fused(Features::NONE), None);
}
