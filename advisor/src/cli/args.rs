//! The command line: flags, help, man page and completions come from this one table.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Duration;

use advisor::policy::Profile;
use advisor::recommendation::{Choice, Evidence};
use advisor::resolver::Side;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use engine::cpu::Features;
use engine::measure::parse_budget;
use engine::transfer::Implementation;

const EXIT_CODES: &str = "\
Exit codes:
  0    fine, or done
  1    --check: the effective order is not the recommended one
  2    wrong usage or a failure; nothing was changed
  130  interrupted; nothing was changed";

/// Finds the fastest SSH cipher order for this machine and puts it into the configuration.
///
/// Without a command it measures, reads the configuration as OpenSSH does, recommends an order and shows the
/// change it would make. It writes nothing unless --apply is given.
#[derive(Debug, Parser)]
#[command(name = "advisor", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) action: Action,
    #[command(flatten)]
    pub(crate) options: Options,
}

/// What to do with the recommendation.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Action {
    /// Write the recommended order.
    #[arg(long, conflicts_with_all = ["check", "rollback"])]
    pub(crate) apply: bool,
    /// Write nothing; exit with 1 if the effective order is not the recommended one.
    #[arg(long, conflicts_with = "rollback")]
    pub(crate) check: bool,
    /// Put back what the last --apply replaced, or the change of that number; `list` shows all of them.
    #[arg(long, value_name = "N|list", num_args = 0..=1, default_missing_value = "last", value_parser = which)]
    pub(crate) rollback: Option<Which>,
    /// With --rollback: put the old bytes back also over what somebody has written since.
    #[arg(long, requires = "rollback")]
    pub(crate) force: bool,
    /// With --apply: have the running sshd take up the new list, and everything taken back if it does not.
    #[arg(long, requires = "apply")]
    pub(crate) reload: bool,
    /// With --apply: do not ask the installed ssh and sshd whether they accept the candidate.
    #[arg(long, requires = "apply")]
    pub(crate) no_validate: bool,
}

/// Which change is put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// The last one that was not put back yet.
    Last,
    /// The one of this number.
    Number(u64),
    /// None: they are shown.
    List,
}

impl Arguments {
    /// Whether this is the name of an option that all commands share.
    pub(crate) fn is_shared_option(id: &str) -> bool {
        let command = Self::command();
        command
            .get_arguments()
            .any(|it| it.get_id() == id && it.is_global_set())
    }
}

impl Action {
    pub(crate) const fn any(self) -> bool {
        self.apply || self.check || self.rollback.is_some()
    }
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure and show the speeds, without reading any configuration.
    Measure,
    /// Show which files and lines decide about the ciphers, and why.
    Explain {
        /// The host as one would type it after `ssh`.
        host: Option<String>,
        /// Ask the installed ssh and sshd as well what they offer. Opens no port and connects to nothing.
        #[arg(long)]
        live: bool,
    },
    /// Carry bytes through the installed ssh and a private sshd with every cipher, and show what each costs.
    Transfer {
        /// The programs that carry: openssh, where its client is installed.
        #[arg(long, value_enum, value_name = "NAME")]
        implementation: Option<ImplementationName>,
    },
    /// Show what random bytes cost here: the kernel, the C library, and ChaCha20 key streams.
    Entropy,
    /// Show what was found on this machine and what is odd about it, without measuring the ciphers.
    Doctor,
    /// Print a completion script.
    Completions {
        /// The shell it is for.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
    /// Start the terminal interface.
    Tui {
        /// Handed on to advisor-tui.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<std::ffi::OsString>,
    },
    /// Start the graphical interface.
    Gui {
        /// Handed on to advisor-gui.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<std::ffi::OsString>,
    },
}

/// Options that several commands share.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// The side to change or check. The client's order decides what is negotiated.
    #[arg(long, global = true, value_enum, default_value_t = Sides::Client, value_name = "SIDE")]
    pub(crate) side: Sides,
    /// The system's client file, in place of /etc/ssh/ssh_config.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        conflicts_with = "user_config"
    )]
    pub(crate) ssh_config: Option<PathBuf>,
    /// The server's file, in place of /etc/ssh/sshd_config.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) sshd_config: Option<PathBuf>,
    /// Work on ~/.ssh/config also as root; others do so anyway.
    #[arg(long, global = true)]
    pub(crate) user_config: bool,
    /// Also change files whose header says that another tool writes them.
    #[arg(long, global = true)]
    pub(crate) force_managed: bool,
    /// The tree to read and write in place of /, for building images.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// A policy file, or the name of a built-in policy (balanced, cis, fips, stig).
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// What the machine mostly does over SSH; overrules the policy.
    #[arg(long, global = true, value_enum)]
    pub(crate) profile: Option<ProfileName>,
    /// What the recommendation may rest on.
    #[arg(long, global = true, value_enum, default_value_t = EvidenceName::Auto)]
    pub(crate) evidence: EvidenceName,
    /// Time for everything, like 10s, 500ms or 1m.
    #[arg(long, global = true, value_name = "TIME", default_value = "10s", value_parser = parse_budget)]
    pub(crate) time_budget: Duration,
    /// Use a saved report in place of measuring; - reads standard input.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) measurements: Option<PathBuf>,
    /// Also write the JSON document to this file, for --measurements.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// The ssh to ask and to measure for.
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) ssh: Option<PathBuf>,
    /// The sshd to ask.
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) sshd: Option<PathBuf>,
    /// One JSON document.
    #[arg(long, global = true, group = "format")]
    pub(crate) json: bool,
    /// The measurements as CSV.
    #[arg(long, global = true, group = "format")]
    pub(crate) csv: bool,
    /// Markdown, to paste into a ticket.
    #[arg(long, global = true, group = "format")]
    pub(crate) markdown: bool,
    /// Text without colour and without characters beyond ASCII.
    #[arg(long, global = true, group = "format")]
    pub(crate) plain: bool,
    /// Write the result to this file in place of standard output.
    #[arg(short, long, global = true, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// When to colour.
    #[arg(long, global = true, value_enum, default_value_t = ColorName::Auto, value_name = "WHEN")]
    pub(crate) color: ColorName,
    /// Report progress also where standard error is no terminal.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print nothing but errors, and what --json, --csv, --markdown or -o ask for.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Instruction sets not to use, like avx512f,vaes.
    #[arg(long, global = true, hide = true, value_name = "LIST", env = "ADVISOR_CPU_DISABLE", hide_env = true, default_value = "", value_parser = Features::parse)]
    pub(crate) cpu_disable: Features,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sides {
    /// `ssh`
    Client,
    /// `sshd`
    Server,
    /// Both, together or not at all
    Both,
}

impl Sides {
    pub(crate) const fn list(self) -> &'static [Side] {
        match self {
            Self::Client => &[Side::Client],
            Self::Server => &[Side::Server],
            Self::Both => &[Side::Client, Side::Server],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// Copies and backups: 32 KiB packets
    Bulk,
    /// A bit of everything: 1 KiB packets
    Mixed,
    /// Typing: 64-byte packets
    Interactive,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Bulk => Self::Bulk,
            ProfileName::Mixed => Self::Mixed,
            ProfileName::Interactive => Self::Interactive,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvidenceName {
    /// Real transfers between the installed ssh and sshd
    Transfer,
    /// Packets as the installed OpenSSH protects them
    Packet,
    /// This program's own kernels
    Native,
    /// The strongest there is
    Auto,
}

impl EvidenceName {
    pub(crate) const fn choice(self) -> Choice {
        match self {
            Self::Transfer => Some(Evidence::Transfer),
            Self::Packet => Some(Evidence::Packet),
            Self::Native => Some(Evidence::Native),
            Self::Auto => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImplementationName {
    /// `ssh` and a private `sshd`
    Openssh,
    /// `dbclient` and a private `dropbear`
    Dropbear,
    /// `dbclient` and a private `sshd`
    DropbearToOpenssh,
}

impl From<ImplementationName> for Implementation {
    fn from(name: ImplementationName) -> Self {
        match name {
            ImplementationName::Openssh => Self::OpenSsh,
            ImplementationName::Dropbear => Self::Dropbear,
            ImplementationName::DropbearToOpenssh => Self::DropbearToOpenSsh,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorName {
    /// On a terminal that can, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

fn which(text: &str) -> Result<Which, String> {
    match text {
        "last" => Ok(Which::Last),
        "list" => Ok(Which::List),
        number => match number.parse() {
            Ok(number) => Ok(Which::Number(number)),
            Err(_) => Err("give the number of a change, or list".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_consistent() {
        Arguments::command().debug_assert();
    }
}
