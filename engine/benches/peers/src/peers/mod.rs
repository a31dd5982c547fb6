//! Who takes part: one file a library. Each says which works it can do.

mod aws_lc;
mod graviola;
mod libcrypto;
mod libgcrypt;
mod own;
mod ring;
mod rustcrypto;
mod sys;

use crate::work::{Contestant, Work};

/// Everybody who does this work here, ourselves first. `rows` adds every row of our kernels.
pub fn contestants(work: Work, key: &[u8; 64], rows: bool) -> Vec<Contestant> {
    [
        own::contestants(work, key, rows),
        aws_lc::contestants(work, key),
        ring::contestants(work, key),
        graviola::contestants(work, key),
        rustcrypto::contestants(work, key),
        libcrypto::contestants(work, key),
        libgcrypt::contestants(work, key),
    ]
    .into_iter()
    .flatten()
    .collect()
}
