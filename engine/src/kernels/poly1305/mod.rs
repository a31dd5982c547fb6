//! Poly1305, the one-time authenticator of RFC 8439 §2.5.
//!
//! The blocks of the message are the coefficients of a polynomial over the integers modulo
//! p = 2¹³⁰ − 5, evaluated at `r`, the clamped first half of the key; the second half, `s`, is added to
//! the result. A key must not be used for two messages.
#![forbid(unsafe_code)]

pub(super) mod portable;
pub(super) mod portable32;

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512ifma;

use super::row::{Entry, Kernel, Operation, Primitive, Row, row};
use super::wipe;

/// The Poly1305 one-time authenticator.
pub struct Poly1305;

impl Kernel<Poly1305> {
    /// The tag of `data` under a one-time key: `r ‖ s`.
    #[inline]
    #[must_use]
    pub fn tag(self, key: &[u8; 32], data: &[u8]) -> [u8; 16] {
        self.run(|row| row.tag, (key, data))
    }
}

/// The tag of a message.
struct Tag;

impl Operation for Tag {
    /// Key and message.
    type Args<'a> = (&'a [u8; 32], &'a [u8]);
    type Output = [u8; 16];
}

/// What every row of Poly1305 can do.
#[derive(Clone, Copy)]
pub struct Entries {
    tag: Entry<Tag>,
}

impl Primitive for Poly1305 {
    type Entries = Entries;
    const ROWS: &'static [Row<Self>] = &[
        #[cfg(target_arch = "x86_64")]
        row!(
            "avx512ifma",
            ["avx512f", "avx512bw", "avx512ifma", "avx512vbmi2"],
            wipe::zmm,
            Entries { tag: Tag => avx512ifma::tag }
        ),
        #[cfg(target_arch = "x86_64")]
        row!("avx2", ["avx2"], wipe::ymm, Entries { tag: Tag => avx2::tag }),
        #[cfg(not(target_pointer_width = "32"))]
        row!("portable", [], wipe::baseline, Entries { tag: Tag => portable::tag }),
        row!("portable32", [], wipe::baseline, Entries { tag: Tag => portable32::tag }),
        // Last where its products of 128 bits are calls.
        #[cfg(target_pointer_width = "32")]
        row!("portable", [], wipe::baseline, Entries { tag: Tag => portable::tag }),
    ];
}

/// Length of a block in bytes.
const BLOCK: usize = 16;

/// The last, incomplete block of a message: a 1 follows its bytes (RFC 8439 §2.5.1).
///
/// It is put together in registers: a copy of unknown length would be a call, and loading what it wrote
/// would have to wait for several stores.
#[inline]
fn padded(partial: &[u8]) -> [u8; BLOCK] {
    let (words, bytes) = partial.as_chunks::<4>();
    let mut block = 1_u128;
    for byte in bytes.iter().rev() {
        block = block << 8 | u128::from(*byte);
    }
    for word in words.iter().rev() {
        block = block << 32 | u128::from(u32::from_le_bytes(*word));
    }
    block.to_le_bytes()
}
