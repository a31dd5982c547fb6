//! What a listening `sshd` offers to whoever connects.
#![forbid(unsafe_code)]

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use engine::installed::offer_over;

/// How long a connection, and each part of its answer, may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Something that looks at what is offered.
pub trait Probe: Sync {
    /// The ciphers offered at an address, in order.
    ///
    /// # Errors
    /// Why there is no answer.
    fn ciphers(&self, address: SocketAddr) -> Result<Vec<String>, String>;
}

/// Connects, reads the first packet, and goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpProbe;

impl Probe for TcpProbe {
    fn ciphers(&self, address: SocketAddr) -> Result<Vec<String>, String> {
        let connect = || {
            let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Ok(stream)
        };
        let stream = connect().map_err(|error: std::io::Error| error.to_string())?;
        let offer = offer_over(stream).map_err(|none| none.to_string())?;
        Ok(offer.ciphers)
    }
}
