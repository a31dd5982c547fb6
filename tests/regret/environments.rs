//! The machines we can make out of this one.
#![forbid(unsafe_code)]

use std::process::Command;

use engine::transfer::Implementation;

/// One machine to be advised on.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub(crate) name: &'static str,
    /// `OPENSSL_ia32cap` of both ends and of the advisor: the features libcrypto is not to see.
    ia32cap: Option<&'static str>,
    /// Whether everything runs on the first processor alone.
    pub(crate) one_core: bool,
    /// Busy processes beside the measurement.
    pub(crate) load: usize,
    /// The client's `MACs` line.
    pub(crate) macs: Option<&'static str>,
    /// Who carries the bytes.
    pub(crate) implementation: Implementation,
}

const NATIVE: Environment = Environment {
    name: "native",
    ia32cap: None,
    one_core: false,
    load: 0,
    macs: None,
    implementation: Implementation::OpenSsh,
};

/// Bits of `OPENSSL_ia32cap` (man page OPENSSL_ia32cap(3)): vector 0 holds CPUID 1 EDX and ECX, vector 1
/// CPUID 7 EBX and ECX.
const NO_VAES: &str = ":~0x60000000000";
const NO_AES: &str = "~0x200000200000000:~0x60000000000";
const NO_AES_NO_SSSE3: &str = "~0x200020200000000:~0x60000000000";
/// AVX2 (bit 5), AVX-512 F, DQ, IFMA, CD, BW, VL (16, 17, 21, 28, 30, 31) and what builds on them.
const NO_AVX2: &str = ":~0x600d0230020";

/// All of them; the short form keeps those that differ most.
pub(crate) fn all(short: bool) -> Vec<Environment> {
    let masked = |name, mask| Environment {
        name,
        ia32cap: Some(mask),
        ..NATIVE
    };
    let short_form = vec![NATIVE, masked("no AES-NI, no PCLMUL", NO_AES)];
    if short {
        return short_form;
    }
    let mut list = short_form;
    list.extend([
        masked("no VAES, no VPCLMUL", NO_VAES),
        masked("no AES-NI, no PCLMUL, no SSSE3", NO_AES_NO_SSSE3),
        masked("no AVX2 and above", NO_AVX2),
        Environment {
            name: "one core",
            one_core: true,
            ..NATIVE
        },
        Environment {
            name: "loaded",
            load: 2,
            ..NATIVE
        },
        Environment {
            name: "MACs hmac-sha2-512-etm",
            macs: Some("hmac-sha2-512-etm@openssh.com"),
            ..NATIVE
        },
        Environment {
            name: "Dropbear",
            implementation: Implementation::Dropbear,
            ..NATIVE
        },
        Environment {
            name: "Dropbear to sshd",
            implementation: Implementation::DropbearToOpenSsh,
            ..NATIVE
        },
    ]);
    list
}

impl Environment {
    /// A command that runs a program in this environment.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = if self.one_core {
            let mut command = Command::new("taskset");
            command.args(["-c", "0", program]);
            command
        } else {
            Command::new(program)
        };
        if let Some(mask) = self.ia32cap {
            command.env("OPENSSL_ia32cap", mask);
        }
        command
    }
}
