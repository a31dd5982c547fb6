//! Where random bytes come from on this machine: the kernel, the C library, and what a ChaCha20 key
//! stream would give.
//!
//! **Invariant:** nothing is kept between requests. Each request is answered whole, and the rest of a key
//! stream's last block is dropped.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::Read;

use super::Unavailable;
use crate::cpu::Detected;
use crate::host::Arc4random;
use crate::kernels::Kernel;
use crate::kernels::chacha20::{ChaCha20, Key};

/// Somebody who fills buffers with random bytes.
pub trait RandomSource {
    /// Its name in tables: `getrandom`, `ChaCha20 avx2`.
    fn name(&self) -> String;

    /// Fills every byte.
    ///
    /// # Errors
    /// When the system refuses.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Unavailable>;
}

/// Every source there is here, the kernel's first; of the key stream one for each row this processor runs.
///
/// # Errors
/// When the kernel gives no key.
pub fn random_sources(detected: Detected) -> Result<Vec<Box<dyn RandomSource>>, Unavailable> {
    let mut sources: Vec<Box<dyn RandomSource>> = vec![Box::new(Getrandom)];
    if let Some(function) = Arc4random::find() {
        sources.push(Box::new(function));
    }
    if let Ok(device) = File::open("/dev/urandom") {
        sources.push(Box::new(Device(device)));
    }
    for kernel in Kernel::usable(detected) {
        sources.push(Box::new(KeyStream::new(kernel)?));
    }
    Ok(sources)
}

struct Getrandom;

impl RandomSource for Getrandom {
    fn name(&self) -> String {
        "getrandom".to_owned()
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Unavailable> {
        getrandom::fill(bytes).map_err(|error| Unavailable(error.to_string()))
    }
}

impl RandomSource for Arc4random {
    fn name(&self) -> String {
        "arc4random_buf".to_owned()
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Unavailable> {
        self.write(bytes);
        Ok(())
    }
}

/// `/dev/urandom`, read without a buffer.
struct Device(File);

impl RandomSource for Device {
    fn name(&self) -> String {
        "/dev/urandom".to_owned()
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Unavailable> {
        let read = self.0.read_exact(bytes);
        read.map_err(|error| Unavailable(error.to_string()))
    }
}

/// The key stream under one key from the kernel; every request begins at a fresh block.
struct KeyStream {
    kernel: Kernel<ChaCha20>,
    key: Key,
    block: u64,
}

impl KeyStream {
    fn new(kernel: Kernel<ChaCha20>) -> Result<Self, Unavailable> {
        let mut bytes = zeroize::Zeroizing::new([0; 32]);
        Getrandom.fill(&mut *bytes)?;
        Ok(Self {
            kernel,
            key: Key::new(&bytes),
            block: 0,
        })
    }
}

impl RandomSource for KeyStream {
    fn name(&self) -> String {
        format!("ChaCha20 {}", self.kernel.name())
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Unavailable> {
        bytes.fill(0);
        self.kernel.xor(&self.key, [0; 8], self.block, bytes);
        self.block += bytes.len().div_ceil(64) as u64;
        Ok(())
    }
}
