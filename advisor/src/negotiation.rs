//! What `ssh` and `sshd` of this host may agree on: the ciphers worth carrying, and the MAC beside them.
//!
//! It says what to measure and measures nothing.
#![forbid(unsafe_code)]

use engine::algorithm::{Cipher, Mac};
use engine::measure::SurveyRequest;
use engine::measure::transfers::Pair;
use engine::report::OpenSsh;

use crate::examination::Perspective;
use crate::files::Files;
use crate::resolver::Side;

/// Which ciphers real transfers carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// Those in force, the client's first.
    InForce,
    /// After them the others that the client has.
    All,
}

/// Fills in the MAC that is negotiated, and the pairs to carry. `programs` are those of this host.
pub fn negotiate(
    request: &mut SurveyRequest,
    perspective: &Perspective,
    files: &dyn Files,
    programs: &OpenSsh,
    carried: Carried,
) {
    let resolve = |side| perspective.resolve(files, side, programs, None);
    let (client, server) = (resolve(Side::Client), resolve(Side::Server));
    request.mac = client.macs.iter().find_map(|name| name.parse::<Mac>().ok());
    let mut ciphers = client.ciphers;
    ciphers.extend(server.ciphers);
    if carried == Carried::All {
        let known = programs.client.iter().flat_map(|it| &it.ciphers);
        ciphers.extend(known.cloned());
    }
    request.transfers.pairs = pairs(ciphers, client.macs.first());
}

/// Each cipher once, with the MAC it would be used with.
fn pairs(ciphers: Vec<String>, mac: Option<&String>) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    for cipher in ciphers {
        if pairs.iter().all(|it| it.cipher != cipher) {
            let mac = mac.filter(|_| !is_aead(&cipher)).cloned();
            pairs.push(Pair { cipher, mac });
        }
    }
    pairs
}

/// A cipher we do not know has a MAC beside it unless its name says otherwise.
fn is_aead(cipher: &str) -> bool {
    let known = cipher.parse::<Cipher>();
    known.map_or(
        cipher.contains("gcm") || cipher.contains("poly1305"),
        Cipher::is_aead,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cipher_is_carried_once_and_a_mac_goes_where_one_is_used() {
        let names = [
            "aes128-gcm@openssh.com",
            "aes128-ctr",
            "aes128-gcm@openssh.com",
            "future-gcm@example.org",
        ];
        let mac = "umac-64-etm@openssh.com".to_owned();
        let found = pairs(names.map(str::to_owned).into(), Some(&mac));
        let shown: Vec<_> = found
            .iter()
            .map(|it| (it.cipher.as_str(), it.mac.is_some()))
            .collect();
        assert_eq!(
            shown,
            [
                ("aes128-gcm@openssh.com", false),
                ("aes128-ctr", true),
                ("future-gcm@example.org", false)
            ]
        );
    }
}
