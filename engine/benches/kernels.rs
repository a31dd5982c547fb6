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

criterion_group!(kernels, chacha20, poly1305);
criterion_main!(kernels);

fn detected() -> Detected {
    Detected::new(Features::NONE)
}

/// Measures all contestants at every size, one size after the other.
fn compare(criterion: &mut Criterion, primitive: &str, mut contestants: Vec<(&'static str, Run)>) {
    let mut group = criterion.benchmark_group(primitive);
    for size in SIZES {
        let mut data = vec![0; size];
        group.throughput(Throughput::Bytes(size as u64));
        for (name, run) in &mut contestants {
            group.bench_function(BenchmarkId::new(*name, size), |bencher| {
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
