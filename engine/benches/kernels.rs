//! Every kernel row that this machine can run, beside RustCrypto: `cargo bench -p engine -- chacha20`.
//!
//! The figures of one run may be compared with each other; across runs only their ratios may.
#![forbid(unsafe_code)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use engine::cpu::{Detected, Features};
use engine::kernels::Kernel;
use std::hint::black_box;

/// Bytes of a keystroke's packet, of a small one and of the bulk of a transfer.
const SIZES: [usize; 3] = [64, 1024, 32 * 1024];

const KEY: [u8; 32] = [0x5a; 32];

/// Work on a buffer in place.
type Run = Box<dyn FnMut(&mut [u8])>;

criterion_group!(
    kernels,
    chacha20,
    poly1305,
    chacha20_poly1305,
    aes_ctr,
    ghash,
    aes_gcm,
    umac
);
criterion_main!(kernels);

fn detected() -> Detected {
    Detected::new(Features::NONE)
}

/// Measures all contestants at every size, one size after the other.
fn compare<N: AsRef<str>>(
    criterion: &mut Criterion,
    primitive: &str,
    mut contestants: Vec<(N, Run)>,
) {
    let mut group = criterion.benchmark_group(primitive);
    for size in SIZES {
        let mut data = vec![0; size];
        group.throughput(Throughput::Bytes(size as u64));
        for (name, run) in &mut contestants {
            group.bench_function(BenchmarkId::new(name.as_ref(), size), |bencher| {
                bencher.iter(|| run(black_box(&mut data)));
            });
        }
    }
    group.finish();
}

fn chacha20(criterion: &mut Criterion) {
    use chacha20::ChaCha20Legacy;
    use chacha20::cipher::{KeyIvInit, StreamCipher};
    use engine::kernels::chacha20::{ChaCha20, Key};

    let nonce = [7; 8];
    let rows = Kernel::<ChaCha20>::usable(detected()).map(|row| {
        let key = Key::new(&KEY);
        let run: Run = Box::new(move |data| row.xor(&key, nonce, 1, data));
        (row.name(), run)
    });
    let rustcrypto: Run = Box::new(move |data| {
        ChaCha20Legacy::new(&KEY.into(), &nonce.into()).apply_keystream(data);
    });
    compare(
        criterion,
        "chacha20",
        rows.chain([("rustcrypto", rustcrypto)]).collect(),
    );
}

fn poly1305(criterion: &mut Criterion) {
    use engine::kernels::poly1305::Poly1305;
    use poly1305::universal_hash::KeyInit;

    let rows = Kernel::<Poly1305>::usable(detected()).map(|row| {
        let run: Run = Box::new(move |data| {
            black_box(row.tag(&KEY, data));
        });
        (row.name(), run)
    });
    let rustcrypto: Run = Box::new(|data| {
        black_box(poly1305::Poly1305::new(&KEY.into()).compute_unpadded(data));
    });
    compare(
        criterion,
        "poly1305",
        rows.chain([("rustcrypto", rustcrypto)]).collect(),
    );
}

fn chacha20_poly1305(criterion: &mut Criterion) {
    use engine::kernels::chacha20_poly1305::{ChaCha20Poly1305, Key};

    let rows = Kernel::<ChaCha20Poly1305>::usable(detected()).map(|row| {
        let key = Key::new(&KEY, &[0xa5; 32]);
        let run: Run = Box::new(move |data| {
            black_box(row.seal(&key, [7; 8], data));
        });
        (row.name(), run)
    });
    compare(criterion, "chacha20-poly1305", rows.collect());
}

fn aes_ctr(criterion: &mut Criterion) {
    use ctr::cipher::{KeyIvInit, StreamCipher};
    use engine::kernels::aes::Aes;

    let rows = |key: &'static [u8]| {
        Kernel::<Aes>::usable(detected()).map(move |row| {
            let (key, mut counter) = (row.expand(key), [0; 16]);
            let run: Run = Box::new(move |data| key.ctr128(&mut counter, data));
            (row.name(), run)
        })
    };
    let key = KEY.first_chunk::<16>().expect("the key is longer");
    let mut short = ctr::Ctr128BE::<aes::Aes128>::new(key.into(), &[0; 16].into());
    let mut long = ctr::Ctr128BE::<aes::Aes256>::new(&KEY.into(), &[0; 16].into());
    let short: Run = Box::new(move |data| short.apply_keystream(data));
    let long: Run = Box::new(move |data| long.apply_keystream(data));
    let contestants = rows(&KEY[..16]).chain([("rustcrypto", short)]).collect();
    compare(criterion, "aes128-ctr", contestants);
    let contestants = rows(&KEY).chain([("rustcrypto", long)]).collect();
    compare(criterion, "aes256-ctr", contestants);
}

fn ghash(criterion: &mut Criterion) {
    use engine::kernels::ghash::Ghash;

    let rows = Kernel::<Ghash>::usable(detected()).map(|row| {
        let (key, mut state) = (row.expand(&[0x5a; 16]), [0; 16]);
        let run: Run = Box::new(move |data| key.update(&mut state, data));
        (row.name(), run)
    });
    compare(criterion, "ghash", rows.collect());
}

fn aes_gcm(criterion: &mut Criterion) {
    use aes_gcm::aead::{AeadInOut, KeyInit};
    use engine::kernels::aes_gcm::{AesGcm, Rows};

    let nonce = [7; 12];
    let rows = Rows::usable(detected()).map(|rows| {
        let gcm = AesGcm::new(rows, &KEY);
        let run: Run = Box::new(move |data| {
            black_box(gcm.seal(&nonce, &[0; 4], data));
        });
        (rows.to_string(), run)
    });
    let rustcrypto = aes_gcm::Aes256Gcm::new(&KEY.into());
    let rustcrypto: Run = Box::new(move |data| {
        let tag = rustcrypto.encrypt_inout_detached(&nonce.into(), &[0; 4], data.into());
        black_box(tag).expect("the message is short");
    });
    let contestants = rows
        .chain([("rustcrypto".to_owned(), rustcrypto)])
        .collect();
    compare(criterion, "aes256-gcm", contestants);
}

fn umac(criterion: &mut Criterion) {
    use engine::kernels::umac::{Nh, TagLen, Umac};

    let key = [0x5a; 16];
    for (name, tag_len) in [("umac-64", TagLen::Bits64), ("umac-128", TagLen::Bits128)] {
        let rows = Kernel::<Nh>::usable(detected()).map(|row| {
            let mut umac = Umac::new(row, Kernel::best(detected()), &key, tag_len);
            let mut sequence = 0u64;
            let run: Run = Box::new(move |data| {
                let mut tag = [0; 16];
                umac.tag(&sequence.to_be_bytes(), data, &mut tag);
                sequence += 1;
                black_box(tag);
            });
            (row.name(), run)
        });
        compare(criterion, name, rows.collect());
    }
}
