//! The message as separate passes of ChaCha20 and Poly1305, whichever those are: all of the rows
//! without a fused pass, and what the others leave to it.
#![forbid(unsafe_code)]

use subtle::ConstantTimeEq;

use super::{BeginArgs, HEADER, Key, OpenArgs, SealArgs, Start, TAG};
use crate::kernels::chacha20::{self, BLOCK, XorArgs, xor_partial};
use crate::kernels::poly1305;

/// A pass of Poly1305: key and message make a tag.
type TagOf = fn((&[u8; 32], &[u8])) -> [u8; TAG];

/// Where the passes come from.
#[derive(Clone, Copy)]
pub(super) struct Passes {
    pub(super) stream: fn(XorArgs<'_>),
    pub(super) tag: TagOf,
    /// Blocks of the body's key stream that the row puts into [`Start`]: none or two.
    pub(super) ahead: usize,
}

/// Makes the two blocks that are needed in any case.
pub(super) fn begin(args: BeginArgs<'_>, passes: Passes) {
    let Key { main, header } = args.key;
    for (key, block) in [header, main].into_iter().zip(&mut args.start.blocks) {
        *block = [0; BLOCK];
        (passes.stream)(XorArgs {
            key,
            nonce: args.nonce,
            block: 0,
            data: block,
        });
    }
}

pub(super) fn seal(args: SealArgs<'_>, start: &Start, passes: Passes) -> [u8; TAG] {
    let SealArgs {
        key,
        nonce,
        message,
    } = args;
    apply(key, nonce, start, message, passes);
    (passes.tag)((start.one_time_key(), message))
}

pub(super) fn open(args: OpenArgs<'_>, passes: Passes) -> bool {
    let tag = (passes.tag)((args.start.one_time_key(), args.message));
    let genuine = bool::from(tag.ct_eq(args.tag));
    if genuine {
        apply(args.key, args.nonce, args.start, args.message, passes);
    }
    genuine
}

/// Encrypts or decrypts header and body.
fn apply(key: &Key, nonce: u64, start: &Start, message: &mut [u8], passes: Passes) {
    let (header, body) = message
        .split_first_chunk_mut::<HEADER>()
        .expect("a message has a header");
    *header = start.header(*header);
    let (first, rest) = body.split_at_mut(body.len().min(passes.ahead * BLOCK));
    for (part, stream) in first.chunks_mut(BLOCK).zip(start.body()) {
        xor_partial(part, stream);
    }
    (passes.stream)(XorArgs {
        key: &key.main,
        nonce,
        block: 1 + passes.ahead as u64,
        data: rest,
    });
}

/// Portable ChaCha20 and Poly1305.
pub(super) mod portable {
    use super::*;

    const PASSES: Passes = Passes {
        stream: chacha20::portable::apply,
        tag: SCALAR_TAG,
        ahead: 0,
    };

    pub(in super::super) fn begin(args: BeginArgs<'_>) {
        super::begin(args, PASSES);
    }

    pub(in super::super) fn seal(args: SealArgs<'_>) -> [u8; TAG] {
        seal_with(args, PASSES)
    }

    pub(in super::super) fn open(args: OpenArgs<'_>) -> bool {
        super::open(args, PASSES)
    }
}

/// ChaCha20 in 128-bit vectors, scalar Poly1305.
#[cfg(target_arch = "x86_64")]
pub(super) mod sse2 {
    use super::*;

    #[inline]
    #[target_feature(enable = "sse2")]
    fn passes() -> Passes {
        Passes {
            stream: chacha20::sse2::apply,
            tag: SCALAR_TAG,
            ahead: 0,
        }
    }

    #[target_feature(enable = "sse2")]
    pub(in super::super) fn begin(args: BeginArgs<'_>) {
        super::begin(args, passes());
    }

    #[target_feature(enable = "sse2")]
    pub(in super::super) fn seal(args: SealArgs<'_>) -> [u8; TAG] {
        seal_with(args, passes())
    }

    #[target_feature(enable = "sse2")]
    pub(in super::super) fn open(args: OpenArgs<'_>) -> bool {
        super::open(args, passes())
    }
}

/// Poly1305 of the width that this architecture multiplies in.
#[cfg(not(target_pointer_width = "32"))]
const SCALAR_TAG: TagOf = poly1305::portable::tag;
#[cfg(target_pointer_width = "32")]
const SCALAR_TAG: TagOf = poly1305::portable32::tag;

fn seal_with(args: SealArgs<'_>, passes: Passes) -> [u8; TAG] {
    let mut start = Start::new();
    let (key, nonce) = (args.key, args.nonce);
    let begun = BeginArgs {
        key,
        nonce,
        start: &mut start,
    };
    begin(begun, passes);
    seal(args, &start, passes)
}
