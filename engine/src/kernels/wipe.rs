//! Clears the vector registers a kernel may have left secrets in.
//!
//! Keys and key stream pass through registers that no destructor reaches. Each row names the function
//! here that clears what its instruction set can hold; `row!` calls it at the end of every entry. It
//! costs a few nanoseconds.

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{call_used, xmm, ymm, zmm};

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

    /// Clears what GCC's `-fzero-call-used-regs=all` clears whenever a function returns: the x87 stack, xmm0–15
    /// and the integer registers a caller saves, one by one.
    #[inline]
    pub(in super::super) fn call_used() {
        // SAFETY: the block clears registers it declares as clobbered and touches nothing else; eight pushes
        // and eight pops leave the x87 stack as empty as the clobbers have it found.
        unsafe {
            asm!(
                "fldz", "fldz", "fldz", "fldz", "fldz", "fldz", "fldz", "fldz",
                "fstp st(0)", "fstp st(0)", "fstp st(0)", "fstp st(0)",
                "fstp st(0)", "fstp st(0)", "fstp st(0)", "fstp st(0)",
                "xor edx, edx", "xor ecx, ecx", "xor esi, esi", "xor edi, edi",
                "xor r8d, r8d", "xor r9d, r9d", "xor r10d, r10d", "xor r11d, r11d",
                "pxor xmm0, xmm0", "pxor xmm1, xmm1", "pxor xmm2, xmm2", "pxor xmm3, xmm3",
                "pxor xmm4, xmm4", "pxor xmm5, xmm5", "pxor xmm6, xmm6", "pxor xmm7, xmm7",
                "pxor xmm8, xmm8", "pxor xmm9, xmm9", "pxor xmm10, xmm10", "pxor xmm11, xmm11",
                "pxor xmm12, xmm12", "pxor xmm13, xmm13", "pxor xmm14, xmm14", "pxor xmm15, xmm15",
                out("rdx") _, out("rcx") _, out("rsi") _, out("rdi") _,
                out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                options(nomem, nostack),
            );
        }
    }

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

    /// Clears ymm0–15, for rows with AVX and AVX2. An instruction a register is faster than `vzeroall`:
    /// the processor knows a register XORed with itself to be zero without computing it.
    #[inline]
    #[target_feature(enable = "avx")]
    pub(in super::super) fn ymm() {
        // SAFETY: the block clears registers it declares as clobbered and touches nothing else.
        unsafe {
            asm!(
                "vpxor xmm0, xmm0, xmm0", "vpxor xmm1, xmm1, xmm1", "vpxor xmm2, xmm2, xmm2",
                "vpxor xmm3, xmm3, xmm3", "vpxor xmm4, xmm4, xmm4", "vpxor xmm5, xmm5, xmm5",
                "vpxor xmm6, xmm6, xmm6", "vpxor xmm7, xmm7, xmm7", "vpxor xmm8, xmm8, xmm8",
                "vpxor xmm9, xmm9, xmm9", "vpxor xmm10, xmm10, xmm10", "vpxor xmm11, xmm11, xmm11",
                "vpxor xmm12, xmm12, xmm12", "vpxor xmm13, xmm13, xmm13", "vpxor xmm14, xmm14, xmm14",
                "vpxor xmm15, xmm15, xmm15",
                "vzeroupper",
                out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
                out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
                out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
                out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
                options(nomem, nostack, preserves_flags),
            );
        }
    }

    /// Clears zmm0–31, for rows with AVX-512.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(in super::super) fn zmm() {
        // SAFETY: the block clears registers it declares as clobbered and touches nothing else.
        unsafe {
            asm!(
                "vpxor xmm0, xmm0, xmm0", "vpxor xmm1, xmm1, xmm1", "vpxor xmm2, xmm2, xmm2",
                "vpxor xmm3, xmm3, xmm3", "vpxor xmm4, xmm4, xmm4", "vpxor xmm5, xmm5, xmm5",
                "vpxor xmm6, xmm6, xmm6", "vpxor xmm7, xmm7, xmm7", "vpxor xmm8, xmm8, xmm8",
                "vpxor xmm9, xmm9, xmm9", "vpxor xmm10, xmm10, xmm10", "vpxor xmm11, xmm11, xmm11",
                "vpxor xmm12, xmm12, xmm12", "vpxor xmm13, xmm13, xmm13", "vpxor xmm14, xmm14, xmm14",
                "vpxor xmm15, xmm15, xmm15",
                "vpxord zmm16, zmm16, zmm16", "vpxord zmm17, zmm17, zmm17", "vpxord zmm18, zmm18, zmm18",
                "vpxord zmm19, zmm19, zmm19", "vpxord zmm20, zmm20, zmm20", "vpxord zmm21, zmm21, zmm21",
                "vpxord zmm22, zmm22, zmm22", "vpxord zmm23, zmm23, zmm23", "vpxord zmm24, zmm24, zmm24",
                "vpxord zmm25, zmm25, zmm25", "vpxord zmm26, zmm26, zmm26", "vpxord zmm27, zmm27, zmm27",
                "vpxord zmm28, zmm28, zmm28", "vpxord zmm29, zmm29, zmm29", "vpxord zmm30, zmm30, zmm30",
                "vpxord zmm31, zmm31, zmm31",
                "vzeroupper",
                out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
                out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
                out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _,
                out("zmm12") _, out("zmm13") _, out("zmm14") _, out("zmm15") _,
                out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
                out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _,
                out("zmm24") _, out("zmm25") _, out("zmm26") _, out("zmm27") _,
                out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
                options(nomem, nostack),
            );
        }
    }
}
