//! Real transfers, repeated: which cipher is carried when and for how long, and what the runs say together.
//!
//! `session` makes the runs in a time box, `series` takes the handshake out of them, `spread` says how far to
//! trust so few, `ranking` turns processor time into a speed. How a run is made is the carrier's; which order
//! of ciphers follows is the advisor's.
#![forbid(unsafe_code)]

mod ranking;
mod series;
mod session;
mod spread;

pub use ranking::{RankedSpeed, rank};
pub use session::{Pair, Transferred, TransfersRequest, transfer};
