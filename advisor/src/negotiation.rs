//! What `ssh` and `sshd` of this host may agree on: the ciphers worth carrying, and the MAC beside them.
//!
//! It says what to measure and measures nothing.
#![forbid(unsafe_code)]

use engine::algorithm::{Cipher, Mac};
use engine::installed::Installed;
use engine::measure::SurveyRequest;
use engine::measure::transfers::Pair;
use engine::report::OpenSsh;
use engine::transfer::Implementation;

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

/// Fills in the pairs that Dropbear's client carries by itself: no file says otherwise.
pub fn negotiate_by_dropbear(request: &mut SurveyRequest, programs: &OpenSsh) {
    let dropbear = programs.dropbear.clone().unwrap_or_default();
    request.transfers.pairs = pairs(dropbear.ciphers, dropbear.macs.first());
}

/// Who carries where nobody is named: Dropbear only where OpenSSH has no client.
#[must_use]
pub fn usual_implementation(installed: &Installed) -> Implementation {
    match (&installed.client, installed.dbclient()) {
        (None, Some(_)) if installed.dropbear_server.is_some() => Implementation::Dropbear,
        (None, Some(_)) if installed.server.is_some() => Implementation::DropbearToOpenSsh,
        _ => Implementation::OpenSsh,
    }
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
    use engine::report::Program;

    use super::*;

    #[test]
    fn dropbear_carries_only_where_openssh_has_no_client() {
        let dropbear = Installed {
            dropbear: Some(Program {
                path: "/usr/bin/dbclient".to_owned(),
                ..Program::default()
            }),
            dropbear_server: Some("/usr/sbin/dropbear".into()),
            ..Installed::default()
        };
        assert_eq!(usual_implementation(&dropbear), Implementation::Dropbear);
        let server_only = Installed {
            dropbear: Some(Program {
                path: "/usr/sbin/dropbear".to_owned(),
                ..Program::default()
            }),
            ..dropbear.clone()
        };
        let client_only = Installed {
            dropbear_server: None,
            ..dropbear
        };
        for nothing in [server_only, client_only, Installed::default()] {
            assert_eq!(usual_implementation(&nothing), Implementation::OpenSsh);
        }
    }

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
