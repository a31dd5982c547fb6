//! What no safe interface gives: which vector registers the system saves, a count of core cycles, and a
//! function that only some C libraries have.
//! time of one child, and a child that does not outlive its parent.

#[cfg(unix)]
use std::io;
#[cfg(target_os = "linux")]
use std::os::unix::process::CommandExt;
#[cfg(unix)]
use std::process::Command;

/// XCR0: the register states the operating system saves on a task switch (Intel SDM vol. 1, §13.3).
/// `None` where the processor has no such register or the system keeps it closed.
#[cfg(target_arch = "x86_64")]
pub(crate) fn enabled_vector_state() -> Option<u64> {
    let features = raw_cpuid::CpuId::new().get_feature_info()?;
    if !(features.has_xsave() && features.has_oxsave()) {
        return None;
    }
    // SAFETY: OSXSAVE says that the system has enabled XGETBV; register 0 always exists then.
    Some(unsafe { std::arch::x86_64::_xgetbv(0) })
}

/// Keeps the core busy for a known number of cycles and returns that number, at least `cycles`.
///
/// A chain of additions, each waiting for the one before: one cycle each on every core that takes
/// part. The operands are registers, because newer cores do away with additions of small constants.
/// `None` on other architectures.
#[must_use]
pub fn run_cycles(cycles: u64) -> Option<u64> {
    const LINKS: u64 = 16;
    let turns = cycles.div_ceil(LINKS).max(1);
    chain(turns).then_some(turns * LINKS)
}

#[cfg(target_arch = "x86_64")]
fn chain(turns: u64) -> bool {
    // SAFETY: the block changes the registers it declares, and nothing else.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 16",
            "add {sum}, {step}",
            ".endr",
            "dec {turns}",
            "jnz 2b",
            sum = inout(reg) 0u64 => _,
            step = in(reg) 1u64,
            turns = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
    true
}

#[cfg(target_arch = "aarch64")]
fn chain(turns: u64) -> bool {
    // SAFETY: the block changes the registers it declares, and nothing else.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 16",
            "add {sum}, {sum}, {step}",
            ".endr",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            sum = inout(reg) 0u64 => _,
            step = in(reg) 1u64,
            turns = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn chain(_turns: u64) -> bool {
    false
}

/// What wait4(2) gives: the status of a child that has ended, and what it used with all that it waited for.
#[cfg(unix)]
pub(super) type Ending = (libc::c_int, libc::rusage);

/// Takes note of the end of a child; `None` where it is still running.
#[cfg(unix)]
pub(super) fn take_ending(child: rustix::process::Pid) -> io::Result<Option<Ending>> {
    let mut status = 0;
    // SAFETY: an rusage is a structure of numbers, for which zero is a value.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    let child = child.as_raw_nonzero().get();
    // SAFETY: both pointers are to live values of the types wait4 writes.
    match unsafe { libc::wait4(child, &mut status, libc::WNOHANG, &mut used) } {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(Some((status, used))),
    }
}

/// Has the system kill the child when the thread that starts it ends, in whatever way. Where the system has no
/// such thing, the child notices by its closed sockets at the latest.
#[cfg(unix)]
pub(super) fn end_with_this_thread(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
        let parent = getpid();
        let before_exec = move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have ended before the line above, and then no signal comes any more.
            match getppid() {
                Some(now) if now == parent => Ok(()),
                _ => Err(io::ErrorKind::NotFound.into()),
            }
        };
        // SAFETY: two system calls and a comparison; nothing allocates, locks or unwinds between fork and exec.
        unsafe { command.pre_exec(before_exec) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

/// The C library's `arc4random_buf`, where it has one (the BSDs, macOS, glibc since 2.36).
pub(crate) struct Arc4random(unsafe extern "C" fn(*mut std::ffi::c_void, usize));

impl Arc4random {
    /// Looks for it among what this program has loaded.
    #[cfg(unix)]
    pub(crate) fn find() -> Option<Self> {
        let loaded = libloading::os::unix::Library::this();
        // SAFETY: the symbol has this type (arc4random_buf(3)). The C library is never unloaded.
        let found = unsafe { loaded.get("arc4random_buf") }.ok()?;
        Some(Self(*found))
    }

    /// There is none.
    #[cfg(not(unix))]
    pub(crate) fn find() -> Option<Self> {
        None
    }

    /// Fills every byte. It cannot fail.
    pub(crate) fn write(&self, bytes: &mut [u8]) {
        // SAFETY: writes as many bytes as it is told, which are ours.
        unsafe { (self.0)(bytes.as_mut_ptr().cast(), bytes.len()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_rounded_up_to_whole_turns() {
        if let Some(cycles) = run_cycles(100) {
            assert_eq!(cycles, 112);
            assert_eq!(run_cycles(0), Some(16));
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_system_saves_what_std_detects() {
        let saved = enabled_vector_state().unwrap_or(0);
        if std::is_x86_feature_detected!("avx") {
            assert_eq!(saved & 0b110, 0b110, "{saved:#x}");
        }
        if std::is_x86_feature_detected!("avx512f") {
            assert_eq!(saved & 0xe6, 0xe6, "{saved:#x}");
        }
    }
}
