//! Clears the vector registers a kernel may have left secrets in.
//!
//! Keys and key stream pass through registers that no destructor reaches. Each row names the function
//! here that clears what its instruction set can hold; `row!` calls it at the end of every entry. It
//! costs about 5 ns.

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{xmm, ymm};

/// For portable rows: the compiler may use the vectors that every processor of the architecture has.
#[inline]
pub(super) fn baseline() {
    // SAFETY: every x86-64 has SSE2.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        xmm();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::asm;

    /// Clears xmm0–15, for rows up to SSE4 and AES-NI.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(in super::super) fn xmm() {
        // SAFETY: the block clears registers it declares as clobbered and touches nothing else.
        unsafe {
            asm!(
                "pxor xmm0, xmm0", "pxor xmm1, xmm1", "pxor xmm2, xmm2", "pxor xmm3, xmm3",
                "pxor xmm4, xmm4", "pxor xmm5, xmm5", "pxor xmm6, xmm6", "pxor xmm7, xmm7",
                "pxor xmm8, xmm8", "pxor xmm9, xmm9", "pxor xmm10, xmm10", "pxor xmm11, xmm11",
                "pxor xmm12, xmm12", "pxor xmm13, xmm13", "pxor xmm14, xmm14", "pxor xmm15, xmm15",
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                options(nomem, nostack, preserves_flags),
            );
        }
    }

    /// Clears ymm0–15, for rows with AVX and AVX2.
    #[inline]
    #[target_feature(enable = "avx")]
    pub(in super::super) fn ymm() {
        // SAFETY: the block clears registers it declares as clobbered and touches nothing else.
        unsafe {
            asm!(
                "vzeroall",
                out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
                out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
                out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
                out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
                options(nomem, nostack, preserves_flags),
            );
        }
    }
}
