//! The only way kernels reach memory: loads and stores between byte arrays and vector registers.
//!
//! Each takes an array whose length is the vector's, so none can read or write past its argument and
//! the kernels need no `unsafe`. `as_chunks` and `as_chunks_mut` cut buffers into such arrays without
//! bounds checks; a tail shorter than a vector goes through a masked `part`, or through an array on the
//! stack where there are no masks. Arithmetic does not belong here.

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{
    in_order128, in_order256, in_order512, load128, load128_quad, load128_words, load256,
    load256_quads, load256_words, load512, load512_end, load512_part, load512_quads, load512_words,
    store128, store128_words, store256, store256_words, store512, store512_part,
};
