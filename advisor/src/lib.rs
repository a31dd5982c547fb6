//! From a report and a configuration to an order of ciphers, and from there to a file, safely.
//!
//! `syntax → resolver → Effective`, joined with the engine's `Report` in `recommendation`, then
//! `plan → apply`. The library prints nothing; `output` makes text, the binary prints it.

pub mod apply;
pub mod diagnosis;
pub mod examination;
pub mod files;
pub mod layout;
pub mod live;
pub mod negotiation;
pub mod output;
pub mod plan;
pub mod policy;
pub mod probing;
pub mod recommendation;
pub mod reload;
pub mod resolver;
pub mod saved;
pub mod startup;
pub mod syntax;
