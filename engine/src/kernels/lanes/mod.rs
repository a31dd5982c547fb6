//! The only way kernels reach memory: loads and stores between byte arrays and vector registers.
//!
//! Each takes an array whose length is the vector's, so none can read or write past its argument and
//! the kernels need no `unsafe`. `as_chunks` and `as_chunks_mut` cut buffers into such arrays without
//! bounds checks; a tail shorter than a vector goes through an array on the stack. Arithmetic does not
//! belong here.

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{
    load128, load128_quad, load128_words, load256, store128, store128_words, store256,
};
