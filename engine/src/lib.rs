//! What this machine and its SSH can do: CPU facts, cipher kernels, SSH packet protection,
//! the libraries that do the work, and honest measurement of all of them.
//!
//! Data flows one way: `cpu → kernels → packet → providers` and `installed → transfer`, both `→ measure → report`.
//! Nothing here prints, and nothing here knows a configuration file.

pub mod algorithm;
pub mod cpu;
pub mod host;
pub mod installed;
pub mod kernels;
pub mod measure;
pub mod packet;
pub mod providers;
pub mod report;
pub mod transfer;
