//! Which host a configuration speaks of: as typed, as `HostName` renames it, as canonicalisation might.
#![forbid(unsafe_code)]

use std::net::IpAddr;

use super::client::Client;
use super::patterns::{Activity, Name};
use super::show;

impl Client<'_> {
    /// The names the host may have now; as typed where no `HostName` applies.
    pub(super) fn hosts(&self) -> Vec<Name> {
        if let Some(host) = &self.final_host {
            return vec![host.clone()];
        }
        let typed = &self.original;
        let named = |value: Option<&[u8]>| match value {
            None => typed.clone(),
            Some(value) => expanded(value, typed).unwrap_or_else(|_| typed.clone()),
        };
        self.hostname.candidates().map(named).collect()
    }

    pub(super) fn host_after_first_pass(&self) -> Name {
        let hosts = self.hosts();
        let canonical = self.canonical();
        let mut names = hosts.iter().map(|host| match host {
            Name::Known(name) if canonical > Activity::No && address(name).is_none() => {
                Name::Unknown
            }
            Name::Known(name) => match address(name) {
                Some(address) => Name::Known(address.to_string().into_bytes()),
                None => host.lowercase(),
            },
            other => other.clone(),
        });
        let first = names.next().unwrap_or(Name::Unknown);
        if names.all(|name| name == first) {
            first
        } else {
            Name::Unknown
        }
    }

    /// Whether host names are made canonical, which asks the network.
    fn canonical(&self) -> Activity {
        let on = |value: Option<&[u8]>| {
            let value = value.unwrap_or(b"no").to_ascii_lowercase();
            (!matches!(&*value, b"no" | b"false")).into()
        };
        self.canonicalize.compare(on)
    }

    pub(super) fn final_activity(&self) -> Activity {
        self.canonical().max(self.wants_final.into())
    }

    /// `HostName` knows `%h` and `%%` only.
    pub(super) fn check_hostname(&mut self) {
        if let Some(written) = &self.hostname.winner
            && let Err(key) = expanded(&written.value, &self.original)
        {
            let location = written.location.clone();
            self.reading.refuse(
                location,
                &format!("percent_expand: unknown key %{}", show(&key)),
                "use %h and %% only",
            );
        }
    }
}

/// The name a `HostName` value gives; the unknown key after `%` where there is one.
fn expanded(value: &[u8], typed: &Name) -> Result<Name, Vec<u8>> {
    let mut name = Vec::new();
    let mut uses_typed = false;
    let mut bytes = value.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'%' {
            name.push(byte);
            continue;
        }
        match (bytes.next(), typed) {
            (Some(b'%'), _) => name.push(b'%'),
            (Some(b'h'), Name::Known(typed)) => name.extend_from_slice(typed),
            (Some(b'h'), _) => uses_typed = true,
            (key, _) => return Err(key.copied().into_iter().collect()),
        }
    }
    Ok(if uses_typed {
        typed.clone()
    } else {
        Name::Known(name)
    })
}

fn address(name: &[u8]) -> Option<IpAddr> {
    str::from_utf8(name).ok()?.parse().ok()
}
