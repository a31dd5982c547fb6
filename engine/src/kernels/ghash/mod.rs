//! GHASH (SP 800-38D §6.4): the universal hash that authenticates AES-GCM.
//!
//! All rows work in the field of POLYVAL (RFC 8452 appendix A): a block read as one big-endian number
//! is an element there, and GHASH becomes products *a·b·x^-128* with powers of *H·x*, whose reduction
//! is two short multiplications.
#![forbid(unsafe_code)]

#[cfg(target_arch = "x86_64")]
pub(super) mod pclmul;
mod portable;

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::row::{Entry, Kernel, Operation, Primitive, Row, row};
use super::wipe;

/// Bytes in a block.
pub const BLOCK: usize = 16;

/// The primitive.
pub struct Ghash;

/// What each row of [`Ghash`] owns.
#[derive(Clone, Copy)]
pub struct Entries {
    expand: Entry<Expand>,
    update: Entry<Update>,
}

impl Primitive for Ghash {
    type Entries = Entries;
    const ROWS: &'static [Row<Self>] = &[
        #[cfg(target_arch = "x86_64")]
        row!("pclmul", ["pclmulqdq", "ssse3"], wipe::xmm, Entries {
            expand: Expand => pclmul::expand,
            update: Update => pclmul::update,
        }),
        row!("portable", [], wipe::baseline, Entries {
            expand: Expand => portable::expand,
            update: Update => portable::update,
        }),
    ];
}

impl Kernel<Ghash> {
    /// Prepares the hash key *H*, which is the zero block encrypted.
    #[must_use]
    pub fn expand(self, h: &[u8; BLOCK]) -> Key {
        let mut key = Key {
            kernel: self,
            powers: Powers([0; POWERS]),
        };
        let args = ExpandArgs {
            h,
            powers: &mut key.powers,
        };
        self.run(|row| row.expand, args);
        key
    }
}

/// A prepared hash key, bound to the row that laid it out: no other row can be handed it.
#[derive(Clone)]
pub struct Key {
    kernel: Kernel<Ghash>,
    powers: Powers,
}

impl Key {
    /// The row that works with this key.
    #[must_use]
    pub fn kernel(&self) -> Kernel<Ghash> {
        self.kernel
    }

    /// Hashes `data` into `state`, which starts as zeros. The last block is filled up with zeros, so
    /// only the last call for one field of a message may end within a block.
    pub fn update(&self, state: &mut [u8; BLOCK], data: &[u8]) {
        let args = UpdateArgs {
            powers: &self.powers,
            state,
            data,
        };
        self.kernel.run(|row| row.update, args);
    }
}

/// Words in the widest layout: eight powers and, for Karatsuba's method, the sums of their halves.
const POWERS: usize = 24;

/// Multiples of the hash key, in a layout that only the row that made them knows.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
#[repr(C, align(64))]
struct Powers([u64; POWERS]);

/// *H·x* in the field of POLYVAL, modulo x^128 + x^127 + x^126 + x^121 + 1; low word first.
fn times_x(h: &[u8; BLOCK]) -> [u64; 2] {
    let h = u128::from_be_bytes(*h);
    let overflow = 0u128.wrapping_sub(h >> 127);
    let product = (h << 1) ^ (overflow & (0xc2 << 120 | 1));
    [product as u64, (product >> 64) as u64]
}

struct Expand;
struct ExpandArgs<'a> {
    h: &'a [u8; BLOCK],
    powers: &'a mut Powers,
}
impl Operation for Expand {
    type Args<'a> = ExpandArgs<'a>;
    type Output = ();
}

struct Update;
struct UpdateArgs<'a> {
    powers: &'a Powers,
    state: &'a mut [u8; BLOCK],
    data: &'a [u8],
}
impl Operation for Update {
    type Args<'a> = UpdateArgs<'a>;
    type Output = ();
}
