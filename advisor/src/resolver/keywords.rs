//! Which keywords each program knows. Values of keywords that are none of this room's business are not judged.
//!
//! Derived from the keyword tables of `readconf.c` and `servconf.c` at 9.2, Debian's own keywords included,
//! and from the release notes of later releases. A name that no table has is an error only where the tables
//! are complete; after that it may be news.
#![forbid(unsafe_code)]

use engine::installed::releases::Release;

/// The last release whose keywords are known completely.
pub(super) const COMPLETE: Release = Release::new(9, 7);

/// How a program takes a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Anywhere.
    Everywhere,
    /// By `sshd` outside a `Match` block only.
    Global,
    /// Not at all.
    No,
    /// Not yet: this release brings it.
    Since(Release),
    /// Perhaps: the release is later than the tables, or a distribution's patch may have brought it.
    Perhaps,
}

/// How `ssh` takes a keyword, given in lower case.
pub(super) fn client(release: Release, keyword: &[u8]) -> Known {
    let name = str::from_utf8(keyword).unwrap_or_default();
    if CLIENT.binary_search(&name).is_ok() {
        return Known::Everywhere;
    }
    by_table(CLIENT_SINCE, release, name, Known::Everywhere)
        .unwrap_or_else(|| unknown(release, name))
}

/// How `sshd` takes a keyword, given in lower case.
pub(super) fn server(release: Release, keyword: &[u8]) -> Known {
    let name = str::from_utf8(keyword).unwrap_or_default();
    if name == "subsystem" && release >= Release::new(9, 5) {
        return Known::Everywhere;
    }
    if SERVER_GLOBAL.binary_search(&name).is_ok() {
        return Known::Global;
    }
    if SERVER_EVERYWHERE.binary_search(&name).is_ok() {
        return Known::Everywhere;
    }
    by_table(SERVER_GLOBAL_SINCE, release, name, Known::Global)
        .or_else(|| by_table(SERVER_SINCE, release, name, Known::Everywhere))
        .unwrap_or_else(|| unknown(release, name))
}

/// The answer for a keyword that a table has.
fn by_table(table: Since, release: Release, name: &str, known: Known) -> Option<Known> {
    let (_, since) = table.iter().find(|(listed, _)| *listed == name)?;
    Some(if release >= *since {
        known
    } else {
        Known::Since(*since)
    })
}

/// What to do where it is the file's encoding that makes a keyword unknown.
pub(super) fn cure_of_encoding(keyword: &[u8]) -> Option<&'static str> {
    match keyword {
        [0xef, 0xbb, 0xbf, ..] => Some("save the file without a byte order mark"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            Some("save the file as UTF-8, without a byte order mark")
        }
        _ => None,
    }
}

fn unknown(release: Release, name: &str) -> Known {
    if release <= COMPLETE && !PATCHED.contains(&name) {
        Known::No
    } else {
        Known::Perhaps
    }
}

/// Keywords and the first release that has them.
type Since = &'static [(&'static str, Release)];

const CLIENT_SINCE: Since = &[
    ("tag", Release::new(9, 4)),
    ("obscurekeystroketiming", Release::new(9, 5)),
    ("channeltimeout", Release::new(9, 6)),
    ("versionaddendum", Release::new(10, 0)),
    ("refuseconnection", Release::new(10, 1)),
    ("warnweakcrypto", Release::new(10, 1)),
];

const SERVER_GLOBAL_SINCE: Since = &[
    ("persourcepenalties", Release::new(9, 8)),
    ("persourcepenaltyexemptlist", Release::new(9, 8)),
    ("sshdsessionpath", Release::new(9, 8)),
    ("sshdauthpath", Release::new(10, 0)),
];

const SERVER_SINCE: Since = &[
    ("pamservicename", Release::new(9, 8)),
    ("refuseconnection", Release::new(9, 9)),
];

/// Keywords that Fedora's and HPN-SSH's patches bring to any release.
const PATCHED: &[&str] = &[
    "gssapienablek5users",
    "hpnbuffersize",
    "hpndisabled",
    "kerberosuniqueccache",
    "kerberosusekuserok",
    "noneenabled",
    "nonemacenabled",
    "noneswitch",
    "rsaminsize",
    "tcprcvbuf",
    "tcprcvbufpoll",
    "x11maxdisplays",
];

/// Sorted.
const CLIENT: &[&str] = &[
    "addkeystoagent",
    "addressfamily",
    "afstokenpassing",
    "batchmode",
    "bindaddress",
    "bindinterface",
    "canonicaldomains",
    "canonicalizefallbacklocal",
    "canonicalizehostname",
    "canonicalizemaxdots",
    "canonicalizepermittedcnames",
    "casignaturealgorithms",
    "certificatefile",
    "challengeresponseauthentication",
    "checkhostip",
    "cipher",
    "ciphers",
    "clearallforwardings",
    "compression",
    "compressionlevel",
    "connectionattempts",
    "connecttimeout",
    "controlmaster",
    "controlpath",
    "controlpersist",
    "dsaauthentication",
    "dynamicforward",
    "enableescapecommandline",
    "enablesshkeysign",
    "escapechar",
    "exitonforwardfailure",
    "fallbacktorsh",
    "fingerprinthash",
    "forkafterauthentication",
    "forwardagent",
    "forwardx11",
    "forwardx11timeout",
    "forwardx11trusted",
    "gatewayports",
    "globalknownhostsfile",
    "globalknownhostsfile2",
    "gssapiauthentication",
    "gssapiclientidentity",
    "gssapidelegatecredentials",
    "gssapikexalgorithms",
    "gssapikeyexchange",
    "gssapirenewalforcesrekey",
    "gssapiserveridentity",
    "gssapitrustdns",
    "hashknownhosts",
    "host",
    "hostbasedacceptedalgorithms",
    "hostbasedauthentication",
    "hostbasedkeytypes",
    "hostkeyalgorithms",
    "hostkeyalias",
    "hostname",
    "identitiesonly",
    "identityagent",
    "identityfile",
    "identityfile2",
    "ignoreunknown",
    "include",
    "ipqos",
    "kbdinteractiveauthentication",
    "kbdinteractivedevices",
    "keepalive",
    "kerberosauthentication",
    "kerberostgtpassing",
    "kexalgorithms",
    "knownhostscommand",
    "localcommand",
    "localforward",
    "loglevel",
    "logverbose",
    "macs",
    "match",
    "nohostauthenticationforlocalhost",
    "numberofpasswordprompts",
    "passwordauthentication",
    "permitlocalcommand",
    "permitremoteopen",
    "pkcs11provider",
    "port",
    "preferredauthentications",
    "protocol",
    "protocolkeepalives",
    "proxycommand",
    "proxyjump",
    "proxyusefdpass",
    "pubkeyacceptedalgorithms",
    "pubkeyacceptedkeytypes",
    "pubkeyauthentication",
    "rekeylimit",
    "remotecommand",
    "remoteforward",
    "requesttty",
    "requiredrsasize",
    "revokedhostkeys",
    "rhostsauthentication",
    "rhostsrsaauthentication",
    "rsaauthentication",
    "securitykeyprovider",
    "sendenv",
    "serveralivecountmax",
    "serveraliveinterval",
    "sessiontype",
    "setenv",
    "setuptimeout",
    "skeyauthentication",
    "smartcarddevice",
    "stdinnull",
    "streamlocalbindmask",
    "streamlocalbindunlink",
    "stricthostkeychecking",
    "syslogfacility",
    "tcpkeepalive",
    "tisauthentication",
    "tunnel",
    "tunneldevice",
    "updatehostkeys",
    "useblacklistedkeys",
    "useprivilegedport",
    "user",
    "userknownhostsfile",
    "userknownhostsfile2",
    "useroaming",
    "usersh",
    "verifyhostkeydns",
    "visualhostkey",
    "xauthlocation",
];

/// Sorted.
const SERVER_GLOBAL: &[&str] = &[
    "addressfamily",
    "afstokenpassing",
    "checkmail",
    "ciphers",
    "compression",
    "debianbanner",
    "dsaauthentication",
    "fingerprinthash",
    "gssapicleanupcredentials",
    "gssapicleanupcreds",
    "gssapikexalgorithms",
    "gssapikeyexchange",
    "gssapistorecredentialsonrekey",
    "gssapistrictacceptorcheck",
    "gssapiusesessioncredcache",
    "gssusesessionccache",
    "hostcertificate",
    "hostdsakey",
    "hostkey",
    "hostkeyagent",
    "hostkeyalgorithms",
    "ignoreuserknownhosts",
    "keepalive",
    "kerberosgetafstoken",
    "kerberosorlocalpasswd",
    "kerberostgtpassing",
    "kerberosticketcleanup",
    "kexalgorithms",
    "keyregenerationinterval",
    "listenaddress",
    "logingracetime",
    "macs",
    "maxstartups",
    "modulifile",
    "pamauthenticationviakbdint",
    "permitblacklistedkeys",
    "permituserenvironment",
    "persourcemaxstartups",
    "persourcenetblocksize",
    "pidfile",
    "port",
    "printlastlog",
    "printmotd",
    "protocol",
    "reversemappingcheck",
    "rhostsauthentication",
    "securitykeyprovider",
    "serverkeybits",
    "strictmodes",
    "subsystem",
    "syslogfacility",
    "tcpkeepalive",
    "usedns",
    "uselogin",
    "usepam",
    "useprivilegeseparation",
    "verifyreversemapping",
    "versionaddendum",
    "xauthlocation",
];

/// Sorted.
const SERVER_EVERYWHERE: &[&str] = &[
    "acceptenv",
    "allowagentforwarding",
    "allowgroups",
    "allowstreamlocalforwarding",
    "allowtcpforwarding",
    "allowusers",
    "authenticationmethods",
    "authorizedkeyscommand",
    "authorizedkeyscommanduser",
    "authorizedkeysfile",
    "authorizedkeysfile2",
    "authorizedprincipalscommand",
    "authorizedprincipalscommanduser",
    "authorizedprincipalsfile",
    "banner",
    "casignaturealgorithms",
    "challengeresponseauthentication",
    "channeltimeout",
    "chrootdirectory",
    "clientalivecountmax",
    "clientaliveinterval",
    "denygroups",
    "denyusers",
    "disableforwarding",
    "exposeauthinfo",
    "forcecommand",
    "gatewayports",
    "gssapiauthentication",
    "hostbasedacceptedalgorithms",
    "hostbasedacceptedkeytypes",
    "hostbasedauthentication",
    "hostbasedusesnamefrompacketonly",
    "ignorerhosts",
    "include",
    "ipqos",
    "kbdinteractiveauthentication",
    "kerberosauthentication",
    "loglevel",
    "logverbose",
    "match",
    "maxauthtries",
    "maxsessions",
    "passwordauthentication",
    "permitemptypasswords",
    "permitlisten",
    "permitopen",
    "permitrootlogin",
    "permittty",
    "permittunnel",
    "permituserrc",
    "pubkeyacceptedalgorithms",
    "pubkeyacceptedkeytypes",
    "pubkeyauthentication",
    "pubkeyauthoptions",
    "rdomain",
    "rekeylimit",
    "requiredrsasize",
    "revokedkeys",
    "rhostsrsaauthentication",
    "rsaauthentication",
    "setenv",
    "skeyauthentication",
    "streamlocalbindmask",
    "streamlocalbindunlink",
    "trustedusercakeys",
    "unusedconnectiontimeout",
    "x11displayoffset",
    "x11forwarding",
    "x11uselocalhost",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(CLIENT.is_sorted() && SERVER_GLOBAL.is_sorted() && SERVER_EVERYWHERE.is_sorted());
    }

    #[test]
    fn later_keywords_belong_to_later_releases() {
        let at = |major, minor| Release::new(major, minor);
        for (keyword, since) in CLIENT_SINCE {
            let keyword = keyword.as_bytes();
            assert_eq!(client(*since, keyword), Known::Everywhere);
            assert_eq!(client(at(9, 2), keyword), Known::Since(*since));
        }
        for (keyword, since) in SERVER_GLOBAL_SINCE {
            let keyword = keyword.as_bytes();
            assert_eq!(server(*since, keyword), Known::Global);
            assert_eq!(server(at(9, 2), keyword), Known::Since(*since));
        }
        for (keyword, since) in SERVER_SINCE {
            let keyword = keyword.as_bytes();
            assert_eq!(server(*since, keyword), Known::Everywhere);
            assert_eq!(server(at(9, 2), keyword), Known::Since(*since));
        }
    }

    #[test]
    fn what_no_table_has_is_judged_where_the_tables_are_complete() {
        let after = Release::new(10, 2);
        assert_eq!(client(COMPLETE, b"nonsense"), Known::No);
        assert_eq!(server(COMPLETE, b"nonsense"), Known::No);
        assert_eq!(client(after, b"nonsense"), Known::Perhaps);
        assert_eq!(server(after, b"nonsense"), Known::Perhaps);
        assert_eq!(
            server(Release::new(8, 7), b"x11maxdisplays"),
            Known::Perhaps
        );
    }

    #[test]
    fn some_keywords_stand_outside_match_only() {
        assert_eq!(server(Release::new(9, 2), b"ciphers"), Known::Global);
        assert_eq!(server(Release::new(9, 2), b"include"), Known::Everywhere);
        assert_eq!(server(Release::new(9, 4), b"subsystem"), Known::Global);
        assert_eq!(server(Release::new(9, 5), b"subsystem"), Known::Everywhere);
    }
}
