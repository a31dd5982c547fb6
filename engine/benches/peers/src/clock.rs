//! Time, and the clock the core runs at.

use std::time::Instant;

/// Nanoseconds that `work` takes.
pub fn nanoseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9
}

/// The core's clock in GHz, from a chain of multiplications that take three cycles each: so slow a
/// chain leaves a neighbour on the same core nothing to take away.
#[cfg(target_arch = "x86_64")]
pub fn gigahertz() -> f64 {
    const STEPS: u64 = 20_000;
    let time = nanoseconds(|| {
        // SAFETY: the block works on two registers of its own.
        unsafe {
            std::arch::asm!(
                "2:", "imul {1}, {1}", "dec {0}", "jnz 2b",
                inout(reg) STEPS => _, inout(reg) 3u64 => _, options(nomem, nostack),
            );
        }
    });
    3.0 * STEPS as f64 / time
}

/// Unknown elsewhere.
#[cfg(not(target_arch = "x86_64"))]
pub fn gigahertz() -> f64 {
    f64::NAN
}
