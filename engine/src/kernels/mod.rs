//! Cipher primitives in every instruction set: the only room that knows SIMD.
//!
//! One folder a primitive, one file an instruction set. Each primitive has one static table of rows,
//! best first; that order is the dispatch policy. A [`Kernel`] is a row admitted by
//! [`Detected`](crate::cpu::Detected) features. Nothing here knows an SSH packet.
//!
//! **Invariant:** kernel files carry `forbid(unsafe_code)`. Memory is touched through `lanes`, rows are
//! entered through `row`, registers are cleared by `wipe`: these three hold all `unsafe` of the room.

pub mod aes;
pub mod aes_gcm;
pub mod chacha20;
pub mod chacha20_poly1305;
pub mod ghash;
mod lanes;
pub mod poly1305;
pub mod row;
pub mod umac;
mod wipe;

pub use row::{Kernel, Operation, Primitive, Row, choose};
