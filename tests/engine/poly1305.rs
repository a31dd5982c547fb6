//! Every row of Poly1305 against RFC 8439, RustCrypto and the edges of its arithmetic.
#![forbid(unsafe_code)]

use crate::guard::{each_guarded, guarded_lengths};
use crate::sweep::{Random, hex, placements};
use engine::cpu::{Detected, Feature, Features};
use engine::kernels::Kernel;
use engine::kernels::poly1305::Poly1305;
use poly1305::universal_hash::KeyInit;

fn rows() -> Vec<Kernel<Poly1305>> {
    Kernel::usable(Detected::new(Features::NONE)).collect()
}

fn rustcrypto(key: &[u8; 32], data: &[u8]) -> [u8; 16] {
    poly1305::Poly1305::new(&(*key).into())
        .compute_unpadded(data)
        .into()
}

/// Asks every row for the tag of `data` under `r ‖ s`.
fn check(r: &str, s: &str, data: &[u8], tag: &str) {
    let key = hex(&format!("{r}{s}"));
    for row in rows() {
        let found = row.tag(key.as_array().unwrap(), data);
        assert_eq!(found[..], hex(tag), "{row:?}, r = {r}");
    }
}

const ZERO: &str = "00000000000000000000000000000000";

#[test]
fn rfc8439_example() {
    // §2.5.2.
    check(
        "85d6be7857556d337f4452fe42d506a8",
        "0103808afb0db2fd4abff6af4149f51b",
        b"Cryptographic Forum Research Group",
        "a8061dc1305136c6c22b8baf0c0127a9",
    );
}

#[test]
fn rfc8439_edges() {
    // Appendix A.3, test vectors 1 and 7 to 11: the sum at, above and below p and 2¹²⁸.
    let one = "01000000000000000000000000000000";
    let two = "02000000000000000000000000000000";
    let full = "ffffffffffffffffffffffffffffffff";
    check(ZERO, ZERO, &[0; 64], ZERO);
    check(two, ZERO, &hex(full), "03000000000000000000000000000000");
    check(two, full, &hex(two), "03000000000000000000000000000000");
    let seventh = [
        full,
        "f0ffffffffffffffffffffffffffffff",
        "11000000000000000000000000000000",
    ];
    check(
        one,
        ZERO,
        &hex(&seventh.concat()),
        "05000000000000000000000000000000",
    );
    let eighth = [
        full,
        "fbfefefefefefefefefefefefefefefe",
        "01010101010101010101010101010101",
    ];
    check(one, ZERO, &hex(&eighth.concat()), ZERO);
    check(
        two,
        ZERO,
        &hex("fdffffffffffffffffffffffffffffff"),
        "faffffffffffffffffffffffffffffff",
    );
    let tenth = "e33594d7505e43b9 0000000000000000 3394d7505e4379cd 0100000000000000
                 0000000000000000 0000000000000000 0100000000000000 0000000000000000";
    let r = "01000000000000000400000000000000";
    check(r, ZERO, &hex(tenth), "14000000000000005500000000000000");
    check(
        r,
        ZERO,
        &hex(tenth)[..48],
        "13000000000000000000000000000000",
    );
}

#[test]
fn every_row_is_rustcrypto_at_all_lengths_and_offsets() {
    let mut random = Random(1305);
    for (offset, length) in placements() {
        let key = random.array();
        let buffer = random.bytes(offset + length);
        let data = &buffer[offset..];
        let expected = rustcrypto(&key, data);
        for row in rows() {
            assert_eq!(
                row.tag(&key, data),
                expected,
                "{row:?}, {length} bytes at {offset}"
            );
        }
    }
}

#[test]
fn limbs_filled_to_the_brim_lose_no_carry() {
    let keys = [[0xff; 32], [0; 32], {
        let mut smallest = [0; 32];
        smallest[0] = 1;
        smallest
    }];
    for length in (0..=1100).chain([32 * 1024]) {
        for (key, byte) in keys
            .iter()
            .flat_map(|key| [0xff, 0x80, 0].map(|byte| (key, byte)))
        {
            let data = vec![byte; length];
            let expected = rustcrypto(key, &data);
            for row in rows() {
                assert_eq!(
                    row.tag(key, &data),
                    expected,
                    "{row:?}, {length} times {byte:#x}"
                );
            }
        }
    }
}

#[test]
fn sums_around_the_modulus_are_reduced_once_and_fully() {
    // With r = 1 the value is the sum of the blocks, each with its bit at 2¹²⁸; four of those make
    // 2¹³⁰ ≡ 5. The first block brings the sum to 2¹³⁰ + `above` − 6, the rest are zero.
    let mut key = [0; 32];
    key[0] = 1;
    for groups in [1, 2, 4, 5, 8, 17, 64] {
        for above in 0..12_u128 {
            let mut data = vec![0; 64 * groups];
            let wraps = 5 * groups as u128;
            data[..16].copy_from_slice(&above.wrapping_sub(6 + wraps).to_le_bytes());
            let expected = rustcrypto(&key, &data);
            for row in rows() {
                assert_eq!(
                    row.tag(&key, &data),
                    expected,
                    "{row:?}, {groups} groups, {above}"
                );
            }
        }
    }
}

#[test]
fn hidden_features_bring_the_lower_rows() {
    let best =
        |hidden: &[Feature]| Kernel::<Poly1305>::best(Detected::new(Features::of(hidden))).name();
    assert!(best(&[Feature::Sse2, Feature::Neon]).starts_with("portable"));
    if Detected::new(Features::NONE).features().has(Feature::Avx2) {
        assert_eq!(best(&[Feature::Avx512f]), "avx2");
        assert_eq!(best(&[Feature::Avx2]), "portable");
    }
    let named = Kernel::<Poly1305>::named(Detected::new(Features::ALL), "portable32");
    assert_eq!(named.map(Kernel::name), Some("portable32"));
}

#[test]
fn no_row_leaves_its_message() {
    let key = Random(1).array();
    each_guarded(&guarded_lengths(), |message| {
        let expected = rustcrypto(&key, message);
        for row in rows() {
            assert_eq!(row.tag(&key, message), expected, "{row:?}");
        }
    });
}
