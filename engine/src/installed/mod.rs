//! What is on this machine: the installed SSH programs, their versions, and the library they use.
//!
//! Facts only. No opinion about them belongs here, and no configuration file is read. Programs run
//! through [`Commands`](crate::host::Commands), so a test can pretend any machine.
#![forbid(unsafe_code)]

mod dropbear;
pub mod elf;
mod kexinit;
mod offer;
mod openssh;
pub mod releases;

pub use offer::{NoOffer, Offer, client_offer, offer_over, server_offer};
pub use openssh::{DiscoverRequest, Installed, InstalledProgram, discover};
