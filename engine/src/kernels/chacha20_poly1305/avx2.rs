//! The fused message in 256-bit vectors: header block, one-time key and the body's first two blocks in
//! one pass, the rest by the `avx2` rows of both primitives.
#![forbid(unsafe_code)]

use super::composed::{self, Passes};
use super::{BeginArgs, OpenArgs, SealArgs, Start, TAG};
use crate::kernels::{chacha20, poly1305};

#[target_feature(enable = "avx2")]
pub(super) fn begin(args: BeginArgs<'_>) {
    let (key, blocks) = (args.key, &mut args.start.blocks);
    chacha20::avx2::first_blocks(&key.header, &key.main, args.nonce, blocks);
}

#[target_feature(enable = "avx2")]
pub(super) fn seal(args: SealArgs<'_>) -> [u8; TAG] {
    let mut start = Start::new();
    begin(BeginArgs {
        key: args.key,
        nonce: args.nonce,
        start: &mut start,
    });
    composed::seal(args, &start, passes())
}

#[target_feature(enable = "avx2")]
pub(super) fn open(args: OpenArgs<'_>) -> bool {
    composed::open(args, passes())
}

#[inline]
#[target_feature(enable = "avx2")]
fn passes() -> Passes {
    Passes {
        stream: chacha20::avx2::apply,
        tag: poly1305::avx2::tag,
        ahead: 2,
    }
}
