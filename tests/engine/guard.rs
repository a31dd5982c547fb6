//! Buffers between two pages that must not be touched: a kernel that reads or writes one byte outside
//! its slice ends the test.
#![forbid(unsafe_code)]

use crate::sweep::is_thin;
use crate::sys::Guarded;

/// Lengths around every vector, step and threshold of the kernels.
pub(crate) fn guarded_lengths() -> Vec<usize> {
    if is_thin() {
        return (0..=80).chain([255, 257, 1023, 1025]).collect();
    }
    (0..=1400).chain(2040..=2060).chain([4095, 4097]).collect()
}

/// Gives `run` a buffer of each length twice: up against the page after it, and right behind the page before it.
pub(crate) fn each_guarded(lengths: &[usize], mut run: impl FnMut(&mut [u8])) {
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let mut guarded = Guarded::new(longest);
    let whole = guarded.bytes().len();
    for &length in lengths {
        run(&mut guarded.bytes()[whole - length..]);
        run(&mut guarded.bytes()[..length]);
    }
}
