//! Which keywords each program knows. Values of keywords that are none of this room's business are not judged.
//!
//! Derived from the keyword tables of `readconf.c` and `servconf.c` at 9.2, Debian's own keywords included,
//! and from the release notes of later releases.
#![forbid(unsafe_code)]

use engine::installed::releases::Release;

/// The last release whose keywords are known completely.
const COMPLETE: Release = Release::new(9, 2);

/// How a program takes a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Anywhere.
    Everywhere,
    /// By `sshd` outside a `Match` block only.
    Global,
    /// Not at all.
    No,
    /// Perhaps: the release is later than the tables.
    Perhaps,
}

/// How `ssh` takes a keyword, given in lower case.
pub(super) fn client(release: Release, keyword: &[u8]) -> Known {
    let name = str::from_utf8(keyword).unwrap_or_default();
    if CLIENT.binary_search(&name).is_ok() || is_newer(CLIENT_SINCE, release, name) {
        return Known::Everywhere;
    }
    unknown(release)
}

/// How `sshd` takes a keyword, given in lower case.
pub(super) fn server(release: Release, keyword: &[u8]) -> Known {
    let name = str::from_utf8(keyword).unwrap_or_default();
    if SERVER_GLOBAL.binary_search(&name).is_ok() || is_newer(SERVER_GLOBAL_SINCE, release, name) {
        return Known::Global;
    }
    if SERVER_EVERYWHERE.binary_search(&name).is_ok() || is_newer(SERVER_SINCE, release, name) {
        return Known::Everywhere;
    }
    unknown(release)
}

fn unknown(release: Release) -> Known {
    if release <= COMPLETE {
        Known::No
    } else {
        Known::Perhaps
    }
}

fn is_newer(table: &[(&str, Release)], release: Release, name: &str) -> bool {
    table
        .iter()
        .any(|(known, since)| *known == name && release >= *since)
}

const CLIENT_SINCE: &[(&str, Release)] = &[
    ("tag", Release::new(9, 4)),
    ("channeltimeout", Release::new(9, 5)),
    ("obscurekeystroketiming", Release::new(9, 5)),
    ("versionaddendum", Release::new(10, 0)),
];

const SERVER_GLOBAL_SINCE: &[(&str, Release)] = &[
    ("persourcepenalties", Release::new(9, 8)),
    ("persourcepenaltyexemptlist", Release::new(9, 8)),
    ("sshdsessionpath", Release::new(9, 8)),
    ("sshdauthpath", Release::new(10, 0)),
];

const SERVER_SINCE: &[(&str, Release)] = &[("refuseconnection", Release::new(9, 9))];

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
        assert_eq!(client(Release::new(9, 2), b"tag"), Known::No);
        assert_eq!(client(Release::new(9, 4), b"tag"), Known::Everywhere);
        assert_eq!(client(Release::new(10, 2), b"nonsense"), Known::Perhaps);
        assert_eq!(server(Release::new(9, 2), b"ciphers"), Known::Global);
        assert_eq!(server(Release::new(9, 2), b"include"), Known::Everywhere);
    }
}
