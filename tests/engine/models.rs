//! Detection on processors that an emulator pretends to be: each has to get the rows of its generation. What
//! the rows compute is the other files' business; `.ci/processors` runs both.
#![forbid(unsafe_code)]

use engine::cpu::{Detected, Features};
use engine::kernels::Kernel;
use engine::kernels::aes::Aes;
use engine::kernels::aes_gcm::Rows;
use engine::kernels::chacha20::ChaCha20;
use engine::kernels::chacha20_poly1305::ChaCha20Poly1305;
use engine::kernels::poly1305::Poly1305;

/// The `-cpu` of the emulator this runs under.
const MODEL: &str = "ADVISOR_TEST_MODEL";

/// The rows of ChaCha20, Poly1305, both fused, AES and AES-GCM.
type Names = [&'static str; 5];

const COMPOSED: &str = "aes portable + ghash portable";
const FUSED: &str = "aes-gcm aesni";

const SSE2: Names = ["sse2", "portable", "sse2", "portable", COMPOSED];
const AESNI: Names = ["sse2", "portable", "sse2", "aesni", FUSED];
const AVX2: Names = ["avx2", "avx2", "avx2", "aesni", FUSED];

const MODELS: [(&str, Names); 7] = [
    ("qemu64", SSE2),
    ("core2duo", SSE2),
    ("Nehalem", SSE2),
    ("Westmere", AESNI),
    ("SandyBridge", AESNI),
    ("Haswell", AVX2),
    ("max,vaes=off", AVX2),
];

#[test]
#[ignore = "needs an emulator: .ci/processors"]
fn an_emulated_processor_gets_the_rows_of_its_generation() {
    let model = std::env::var(MODEL).expect("the model is named by whoever starts the emulator");
    let known = MODELS.iter().find(|(name, _)| *name == model);
    let (_, expected) = known.expect("a model of the table");
    let detected = Detected::new(Features::NONE);
    let found = [
        Kernel::<ChaCha20>::best(detected).name(),
        Kernel::<Poly1305>::best(detected).name(),
        Kernel::<ChaCha20Poly1305>::best(detected).name(),
        Kernel::<Aes>::best(detected).name(),
    ];
    let [rows @ .., gcm] = expected;
    assert_eq!(found, *rows, "{model}");
    assert_eq!(Rows::best(detected).to_string(), *gcm, "{model}");
}
