//! Which keywords each program knows. Values of keywords that are none of this room's business are not judged.
//!
//! Derived from the keyword tables of `readconf.c` and `servconf.c`, from the release notes, and from asking
//! Debian's builds of 8.4, 9.2, 10.0 and 10.6 about every word they hold, Debian's own keywords included. A
//! name that no table has is an error only where the tables are complete; after that it may be news.
#![forbid(unsafe_code)]

use engine::installed::releases::{Ability, Release};

/// The last release whose keywords are known completely.
pub(super) const COMPLETE: Release = Release::new(10, 6);

/// What came or went after this release and before [`COMPLETE`] did so in a release not known here.
const BEFORE_COMPLETE: Release = Release::new(10, 0);

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
        return leaves(release, name, Known::Everywhere);
    }
    by_table(CLIENT_SINCE, release, name, Known::Everywhere)
        .unwrap_or_else(|| unknown(release, name))
}

/// How `sshd` takes a keyword, given in lower case.
pub(super) fn server(release: Release, keyword: &[u8]) -> Known {
    let name = str::from_utf8(keyword).unwrap_or_default();
    if SERVER_GLOBAL.binary_search(&name).is_ok() {
        let loosened = by_table(SERVER_LOOSENED, release, name, Known::Everywhere);
        return match loosened {
            Some(Known::Everywhere) => Known::Everywhere,
            _ => leaves(release, name, Known::Global),
        };
    }
    if SERVER_EVERYWHERE.binary_search(&name).is_ok() {
        return Known::Everywhere;
    }
    by_table(SERVER_GLOBAL_SINCE, release, name, Known::Global)
        .or_else(|| by_table(SERVER_SINCE, release, name, Known::Everywhere))
        .or_else(|| arrives(SERVER_GLOBAL_ARRIVED, release, name, Known::Global))
        .or_else(|| arrives(SERVER_ARRIVED, release, name, Known::Everywhere))
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

/// The answer for a keyword that came between two releases that were asked.
fn arrives(table: &[&str], release: Release, name: &str, known: Known) -> Option<Known> {
    table.contains(&name).then(|| {
        if release >= COMPLETE {
            known
        } else if release > BEFORE_COMPLETE {
            Known::Perhaps
        } else {
            Known::No
        }
    })
}

/// The answer for a keyword of old that may have gone.
fn leaves(release: Release, name: &str, known: Known) -> Known {
    if release <= BEFORE_COMPLETE {
        return known;
    }
    match name {
        _ if PACKED_APART.contains(&name) => Known::Perhaps,
        "pamauthenticationviakbdint" if release >= COMPLETE => Known::No,
        "pamauthenticationviakbdint" => Known::Perhaps,
        _ => known,
    }
}

/// Whether `ssh` before 8.7 takes `#` for one more word of this keyword, or never looks at its words. To all
/// other keywords a comment behind the value was a word too many. Found by asking 8.4 about each.
pub(super) fn took_any_words(keyword: &[u8]) -> bool {
    let name = str::from_utf8(keyword).unwrap_or_default();
    TOOK_ANY_WORDS.binary_search(&name).is_ok()
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
    ("include", Ability::ClientInclude.since()),
    ("hostbasedacceptedalgorithms", Release::new(8, 5)),
    ("knownhostscommand", Release::new(8, 5)),
    ("logverbose", Release::new(8, 5)),
    ("permitremoteopen", Release::new(8, 5)),
    ("pubkeyacceptedalgorithms", Release::new(8, 5)),
    ("forkafterauthentication", Release::new(8, 7)),
    ("sessiontype", Release::new(8, 7)),
    ("stdinnull", Release::new(8, 7)),
    ("requiredrsasize", Release::new(9, 1)),
    ("enableescapecommandline", Release::new(9, 2)),
    ("tag", Release::new(9, 4)),
    ("obscurekeystroketiming", Release::new(9, 5)),
    ("channeltimeout", Release::new(9, 6)),
    ("versionaddendum", Release::new(10, 0)),
    ("refuseconnection", Release::new(10, 1)),
    ("warnweakcrypto", Release::new(10, 1)),
];

const SERVER_GLOBAL_SINCE: Since = &[
    ("modulifile", Release::new(8, 5)),
    ("persourcemaxstartups", Release::new(8, 5)),
    ("persourcenetblocksize", Release::new(8, 5)),
    ("persourcepenalties", Release::new(9, 8)),
    ("persourcepenaltyexemptlist", Release::new(9, 8)),
    ("sshdsessionpath", Release::new(9, 8)),
    ("sshdauthpath", Release::new(10, 0)),
];

const SERVER_SINCE: Since = &[
    ("include", Ability::ServerInclude.since()),
    ("hostbasedacceptedalgorithms", Release::new(8, 5)),
    ("logverbose", Release::new(8, 5)),
    ("pubkeyacceptedalgorithms", Release::new(8, 5)),
    ("requiredrsasize", Release::new(9, 1)),
    ("channeltimeout", Release::new(9, 2)),
    ("unusedconnectiontimeout", Release::new(9, 2)),
    ("pamservicename", Release::new(9, 8)),
    ("refuseconnection", Release::new(9, 9)),
];

/// Not in 10.0, in 10.6.
const SERVER_GLOBAL_ARRIVED: &[&str] = &["gssapidelegatecredentials", "warnweakcrypto"];

/// Not in 10.0, in 10.6.
const SERVER_ARRIVED: &[&str] = &["agentsocketpath"];

/// Allowed inside `Match` only from a release on.
const SERVER_LOOSENED: Since = &[
    ("challengeresponseauthentication", Release::new(8, 7)),
    ("skeyauthentication", Release::new(8, 7)),
    ("subsystem", Release::new(9, 5)),
];

/// Of Debian's patch for GSSAPI, which its plain packages no longer carry by 10.6.
const PACKED_APART: &[&str] = &[
    "gssapicleanupcreds",
    "gssapiclientidentity",
    "gssapikexalgorithms",
    "gssapikeyexchange",
    "gssapirenewalforcesrekey",
    "gssapiserveridentity",
    "gssapistorecredentialsonrekey",
    "gssapitrustdns",
    "gssapiusesessioncredcache",
    "gssusesessionccache",
];

/// Sorted.
const TOOK_ANY_WORDS: &[&str] = &[
    "afstokenpassing",
    "cipher",
    "compressionlevel",
    "fallbacktorsh",
    "globalknownhostsfile",
    "globalknownhostsfile2",
    "host",
    "include",
    "kerberosauthentication",
    "kerberostgtpassing",
    "localcommand",
    "match",
    "protocol",
    "proxycommand",
    "proxyjump",
    "remotecommand",
    "rhostsauthentication",
    "rhostsrsaauthentication",
    "rsaauthentication",
    "sendenv",
    "skeyauthentication",
    "useblacklistedkeys",
    "useprivilegedport",
    "userknownhostsfile",
    "userknownhostsfile2",
    "useroaming",
    "usersh",
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
    "enablesshkeysign",
    "escapechar",
    "exitonforwardfailure",
    "fallbacktorsh",
    "fingerprinthash",
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
    "ipqos",
    "kbdinteractiveauthentication",
    "kbdinteractivedevices",
    "keepalive",
    "kerberosauthentication",
    "kerberostgtpassing",
    "kexalgorithms",
    "localcommand",
    "localforward",
    "loglevel",
    "macs",
    "match",
    "nohostauthenticationforlocalhost",
    "numberofpasswordprompts",
    "passwordauthentication",
    "permitlocalcommand",
    "pkcs11provider",
    "port",
    "preferredauthentications",
    "protocol",
    "protocolkeepalives",
    "proxycommand",
    "proxyjump",
    "proxyusefdpass",
    "pubkeyacceptedkeytypes",
    "pubkeyauthentication",
    "rekeylimit",
    "remotecommand",
    "remoteforward",
    "requesttty",
    "revokedhostkeys",
    "rhostsauthentication",
    "rhostsrsaauthentication",
    "rsaauthentication",
    "securitykeyprovider",
    "sendenv",
    "serveralivecountmax",
    "serveraliveinterval",
    "setenv",
    "setuptimeout",
    "skeyauthentication",
    "smartcarddevice",
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
    "challengeresponseauthentication",
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
    "pamauthenticationviakbdint",
    "permitblacklistedkeys",
    "permituserenvironment",
    "pidfile",
    "port",
    "printlastlog",
    "printmotd",
    "protocol",
    "reversemappingcheck",
    "rhostsauthentication",
    "securitykeyprovider",
    "serverkeybits",
    "skeyauthentication",
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
    "hostbasedacceptedkeytypes",
    "hostbasedauthentication",
    "hostbasedusesnamefrompacketonly",
    "ignorerhosts",
    "ipqos",
    "kbdinteractiveauthentication",
    "kerberosauthentication",
    "loglevel",
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
    "pubkeyacceptedkeytypes",
    "pubkeyauthentication",
    "pubkeyauthoptions",
    "rdomain",
    "rekeylimit",
    "revokedkeys",
    "rhostsrsaauthentication",
    "rsaauthentication",
    "setenv",
    "streamlocalbindmask",
    "streamlocalbindunlink",
    "trustedusercakeys",
    "x11displayoffset",
    "x11forwarding",
    "x11uselocalhost",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(TOOK_ANY_WORDS.is_sorted());
        assert!(CLIENT.is_sorted() && SERVER_GLOBAL.is_sorted() && SERVER_EVERYWHERE.is_sorted());
    }

    #[test]
    fn later_keywords_belong_to_later_releases() {
        let before = Release::new(6, 0);
        for (keyword, since) in CLIENT_SINCE {
            let keyword = keyword.as_bytes();
            assert_eq!(client(*since, keyword), Known::Everywhere);
            assert_eq!(client(before, keyword), Known::Since(*since));
        }
        for (keyword, since) in SERVER_GLOBAL_SINCE {
            let keyword = keyword.as_bytes();
            assert_eq!(server(*since, keyword), Known::Global);
            assert_eq!(server(before, keyword), Known::Since(*since));
        }
        for (keyword, since) in SERVER_SINCE {
            let keyword = keyword.as_bytes();
            assert_eq!(server(*since, keyword), Known::Everywhere);
            assert_eq!(server(before, keyword), Known::Since(*since));
        }
    }

    #[test]
    fn what_came_and_went_in_between_is_open_there() {
        let between = Release::new(10, 3);
        for (keyword, after) in [
            ("warnweakcrypto", Known::Global),
            ("agentsocketpath", Known::Everywhere),
        ] {
            let keyword = keyword.as_bytes();
            assert_eq!(server(BEFORE_COMPLETE, keyword), Known::No);
            assert_eq!(server(between, keyword), Known::Perhaps);
            assert_eq!(server(COMPLETE, keyword), after);
        }
        let gone = b"pamauthenticationviakbdint";
        assert_eq!(server(BEFORE_COMPLETE, gone), Known::Global);
        assert_eq!(server(between, gone), Known::Perhaps);
        assert_eq!(server(COMPLETE, gone), Known::No);
        for ask in [client, server] {
            assert_ne!(ask(BEFORE_COMPLETE, b"gssapikeyexchange"), Known::Perhaps);
            assert_eq!(ask(COMPLETE, b"gssapikeyexchange"), Known::Perhaps);
        }
    }

    #[test]
    fn what_no_table_has_is_judged_where_the_tables_are_complete() {
        let after = Release::new(10, 7);
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
        let old = b"challengeresponseauthentication";
        assert_eq!(server(Release::new(8, 4), old), Known::Global);
        assert_eq!(server(Release::new(8, 7), old), Known::Everywhere);
    }
}
