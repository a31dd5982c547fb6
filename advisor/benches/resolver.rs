//! What resolving costs where a configuration is absurdly large: `cargo bench -p advisor -- resolve`.
//!
//! The sizes double, so that a cost which is not linear shows itself as more than double.
#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use advisor::files::SystemFiles;
use advisor::resolver::{
    ClientFiles, ClientRequest, Effective, ServerRequest, resolve_client, resolve_server,
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use engine::installed::releases::Release;

const RELEASE: Release = Release::new(9, 2);

criterion_group!(resolver, lines, considered, includes);
criterion_main!(resolver);

/// One file of many lines, most of which have nothing to do with ciphers.
fn lines(criterion: &mut Criterion) {
    sweep(
        criterion,
        "lines",
        &[25_000, 50_000, 100_000],
        |root, count| {
            let client = "Host web*.example.com\n  User git\n  # why\n  Ciphers ^aes128-ctr\n";
            write(root, "ssh", &client.repeat(count / 4));
            let server = "X11Forwarding no\nLogLevel INFO\n# why\nCiphers ^aes128-ctr\n";
            write(root, "sshd", &server.repeat(count / 4));
        },
    );
}

/// One file in which every line is about ciphers and some are refused.
fn considered(criterion: &mut Criterion) {
    sweep(
        criterion,
        "only-ciphers",
        &[25_000, 50_000, 100_000],
        |root, count| {
            let text = "Ciphers aes128-ctr,aes256-ctr\nCiphers nonsense\n".repeat(count / 2);
            write(root, "ssh", &text);
            write(root, "sshd", &text);
        },
    );
}

/// One file that includes many.
fn includes(criterion: &mut Criterion) {
    sweep(
        criterion,
        "included-files",
        &[250, 500, 1_000],
        |root, count| {
            for number in 0..count {
                write(
                    root,
                    &format!("parts/{number:04}.conf"),
                    "Ciphers ^aes128-ctr\n",
                );
            }
            let mut text = String::from("Include /parts/*.conf\n");
            // Each once more by its name: a glob asks the directory once, names ask for each file.
            for number in 0..count {
                let _ = writeln!(text, "Include /parts/{number:04}.conf");
            }
            write(root, "ssh", &text);
            write(root, "sshd", &text);
        },
    );
}

fn sweep(criterion: &mut Criterion, name: &str, sizes: &[usize], fill: impl Fn(&Path, usize)) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    for &size in sizes {
        let root = tempfile::tempdir().expect("a temporary directory");
        fill(root.path(), size);
        let files = SystemFiles::new(root.path()).expect("it exists");
        group.throughput(Throughput::Elements(size as u64));
        group.bench_function(BenchmarkId::new("ssh", size), |bencher| {
            bencher.iter(|| client(&files));
        });
        group.bench_function(BenchmarkId::new("sshd", size), |bencher| {
            bencher.iter(|| server(&files));
        });
    }
    group.finish();
}

fn client(files: &SystemFiles) -> Effective {
    let request = ClientRequest {
        files: ClientFiles::Only("/ssh".into()),
        ..ClientRequest::new(RELEASE).destination("web1.example.com")
    };
    resolve_client(files, &request)
}

fn server(files: &SystemFiles) -> Effective {
    let request = ServerRequest {
        file: "/sshd".into(),
        ..ServerRequest::new(RELEASE)
    };
    resolve_server(files, &request)
}

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
    fs::write(path, text).expect("a file");
}
