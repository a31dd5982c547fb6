//! What was found: plain serialisable data. Everything downstream works on a [`Report`], also on one
//! read from a file of another host.
//!
//! The field names are the JSON contract; within a schema number keys are only ever added. Units are
//! in the names: `gb` = 1e9 bytes, `mb` = 1e6, `gib` = 2^30.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::transfer::{Implementation, Way};

/// The schema every report and every JSON document of this program follows.
pub const SCHEMA: &str = "cipher-advisor/1";

/// Everything measured and detected on one host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The machine and how busy it was.
    pub host: Host,
    /// The processor.
    pub cpu: Cpu,
    /// The SSH programs and the library they use.
    pub openssh: OpenSsh,
    /// Speeds of packets sealed and opened in this process.
    #[serde(default)]
    pub measurements: Vec<Measurement>,
    /// Cells of the table that hold a reason in place of a number.
    #[serde(default)]
    pub unavailable: Vec<UnavailableCell>,
    /// chacha20-poly1305 from plain code to vectors, the slowest way first; empty where not measured.
    #[serde(default)]
    pub ladder: Vec<Rung>,
    /// What random bytes cost, source by source; empty where not measured.
    #[serde(default)]
    pub entropy: Vec<Entropy>,
    /// Speeds of real transfers.
    #[serde(default)]
    pub transfers: Vec<Transfer>,
    /// Transfers that did not come about, with the reason.
    #[serde(default)]
    pub unavailable_transfers: Vec<UnavailableTransfer>,
    /// What makes the numbers less trustworthy, each with advice.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Host name.
    pub name: String,
    /// Operating system with its version, as the system names itself.
    pub os: String,
    /// Kernel version.
    pub kernel: String,
    /// Architecture (`x86_64`, `aarch64`, …).
    pub architecture: String,
    /// Logical processors.
    pub processors: usize,
    /// Hypervisor, where one shows itself (`KVM`, `Hyper-V`, …).
    pub hypervisor: Option<String>,
    /// One-minute load average when measuring began.
    pub load: Option<f64>,
    /// Share of processor time taken by the hypervisor for others while measuring, in percent.
    pub steal_percent: Option<f64>,
    /// Frequency governor (`performance`, `powersave`, …).
    pub governor: Option<String>,
    /// The driver behind it (`intel_pstate`, `acpi-cpufreq`, …).
    #[serde(default)]
    pub frequency_driver: Option<String>,
    /// How often the processor was throttled for heat while measuring.
    #[serde(default)]
    pub throttled: Option<u64>,
    /// Whether the kernel runs in FIPS mode; `None` where it does not say.
    #[serde(default)]
    pub fips: Option<bool>,
    /// Variables this program was started with that decide which instructions libcrypto uses.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// When measuring began, in seconds since 1970-01-01 UTC.
    #[serde(default)]
    pub measured_at: u64,
}

/// Whether an instruction set can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeatureState {
    /// Usable.
    Present,
    /// The processor or the hypervisor does not offer it.
    Absent,
    /// Offered, but the operating system does not support it or the user has hidden it.
    Disabled,
}

/// The processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Brand string.
    pub brand: String,
    /// Vendor string.
    pub vendor: String,
    /// Family, model and stepping as the processor reports them, for people only: nothing is decided by them.
    pub model: String,
    /// Microcode revision, where readable.
    pub microcode: Option<String>,
    /// Every instruction set of this architecture that matters to ciphers, by [`Feature::name`](crate::cpu::Feature::name).
    pub features: BTreeMap<String, FeatureState>,
}

/// The SSH programs found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenSsh {
    /// The `ssh` client, if any.
    pub client: Option<Program>,
    /// The `sshd` server, if any.
    pub server: Option<Program>,
    /// The cryptographic library they use, if found.
    pub libcrypto: Option<Library>,
    /// Dropbear, if any; its ciphers are those it prefers, in that order.
    #[serde(default)]
    pub dropbear: Option<Program>,
}

/// An installed program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Its path.
    pub path: String,
    /// The version it prints (`OpenSSH_9.2p1 Debian-2+deb12u10`).
    pub version: String,
    /// Ciphers it was compiled with, as it lists them (`ssh -Q cipher`); empty where it cannot be asked.
    #[serde(default)]
    pub ciphers: Vec<String>,
    /// MACs it was compiled with (`ssh -Q mac`).
    #[serde(default)]
    pub macs: Vec<String>,
    /// Whether its first packet announced strict key exchange, the cure for CVE-2023-48795; `None` where
    /// it was not asked.
    #[serde(default)]
    pub strict_key_exchange: Option<bool>,
}

/// A cryptographic library.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Library {
    /// The name it was loaded by (`libcrypto.so.3`).
    pub name: String,
    /// The version it gives (`OpenSSL 3.0.19 27 Jan 2026`).
    pub version: String,
    /// Its speed before and after `OPENSSL_init_crypto`, where both were measured.
    #[serde(default)]
    pub initialisation: Option<Initialisation>,
}

/// The speed of aes128-gcm in a process that has not called `OPENSSL_init_crypto` and in one that has:
/// the slower of sealing and opening packets of 8 KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Initialisation {
    /// Without the call.
    pub before_gb_per_s: f64,
    /// With it.
    pub after_gb_per_s: f64,
}

/// Who did the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderName {
    /// What the installed OpenSSH would run.
    OpenSsh,
    /// Our kernels.
    Native,
    /// The RustCrypto crates.
    RustCrypto,
    /// The system's libcrypto throughout.
    Libcrypto,
}

impl ProviderName {
    /// The name in JSON and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenSsh => "openssh",
            Self::Native => "native",
            Self::RustCrypto => "rustcrypto",
            Self::Libcrypto => "libcrypto",
        }
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What was done to the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Encrypted and authenticated.
    Seal,
    /// Checked and decrypted.
    Open,
}

/// The speed of one cipher, provider, direction and packet size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The cipher's name.
    pub cipher: String,
    /// The MAC's name; `None` for an AEAD.
    pub mac: Option<String>,
    /// Who did the work.
    pub provider: ProviderName,
    /// What was done.
    pub direction: Direction,
    /// Packet size in bytes, without length field and tag.
    pub bytes: usize,
    /// The kernel rows or the library that did the work.
    pub kernel: String,
    /// Median speed.
    pub gb_per_s: f64,
    /// 95 % confidence interval of the median.
    pub ci95: [f64; 2],
    /// Core clock cycles per byte, where the clock could be measured.
    pub cycles_per_byte: Option<f64>,
    /// Rounds this cell got. Fewer than three are marked wherever the number is shown.
    pub rounds: usize,
    /// Whether several packets were worked on at once.
    pub batched: bool,
}

/// What one source of random bytes takes for requests of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entropy {
    /// `getrandom`, `arc4random_buf`, `/dev/urandom`, or a row of the ChaCha20 key stream.
    pub source: String,
    /// Bytes a request.
    pub bytes: usize,
    /// Median time a request takes.
    pub ns_per_request: f64,
    /// 95 % confidence interval of the median.
    pub ci95: [f64; 2],
    /// The same as a speed.
    pub mb_per_s: f64,
    /// Samples it rests on.
    pub rounds: usize,
}

/// One way of computing chacha20-poly1305: packets of 32 KiB sealed, all ways in turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// What computes ChaCha20 and Poly1305.
    pub kernel: String,
    /// Median speed.
    pub gb_per_s: f64,
    /// 95 % confidence interval of the median.
    pub ci95: [f64; 2],
}

/// A cell without a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnavailableCell {
    /// The cipher's name.
    pub cipher: String,
    /// The MAC's name; `None` for an AEAD.
    pub mac: Option<String>,
    /// Who did not do the work.
    pub provider: ProviderName,
    /// Why.
    pub reason: String,
}

/// The speed of one cipher over a real connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// Which programs carried the bytes.
    pub implementation: Implementation,
    /// The other host, as it was asked for; `None` for a server of this machine's own.
    #[serde(default)]
    pub host: Option<String>,
    /// The cipher's name.
    pub cipher: String,
    /// The MAC's name; `None` for an AEAD.
    pub mac: Option<String>,
    /// Which way the bytes went.
    pub direction: Way,
    /// Median wall-clock speed.
    pub mb_per_s: f64,
    /// 95 % confidence interval of `mb_per_s`.
    pub ci95: [f64; 2],
    /// User and system seconds of the client per GiB over all runs, the handshakes subtracted.
    pub client_cpu_s_per_gib: [f64; 2],
    /// The same of the server; `None` where it runs on another host.
    pub server_cpu_s_per_gib: Option<[f64; 2]>,
    /// User seconds per GiB of the busier end over all runs, the handshakes subtracted: what the cipher costs.
    pub user_s_per_gib: f64,
    /// 95 % confidence interval of `user_s_per_gib`.
    pub user_ci95: [f64; 2],
    /// Runs this cipher got in this direction.
    pub rounds: usize,
}

/// A cipher that could not be transferred with, or a way of transferring that is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnavailableTransfer {
    /// Which programs would have carried the bytes.
    pub implementation: Implementation,
    /// The cipher's name; `None` where no cipher can be transferred with.
    pub cipher: Option<String>,
    /// Why, and what would help.
    pub reason: String,
}
