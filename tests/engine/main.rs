//! The engine against vectors, other implementations, and every instruction-set row.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

mod aes;
mod aes_gcm;
#[path = "../support/carrier.rs"]
mod carrier;
mod chacha20;
mod chacha20_poly1305;
mod commands;
mod cpu;
#[cfg(target_arch = "x86_64")]
mod dispatch;
mod entropy;
mod ghash;
mod guard;
mod installed;
mod interop;
mod libraries;
mod measure;
#[cfg(target_arch = "x86_64")]
mod models;
mod offer;
mod openssh;
mod packet;
mod poly1305;
mod providers;
mod rfc8439;
#[path = "../support/mod.rs"]
mod support;
mod survey;
#[path = "../support/sweep.rs"]
mod sweep;
mod sys;
mod transfers;
mod umac;
