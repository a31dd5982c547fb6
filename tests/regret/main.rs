//! Regret: the share of real transfer speed that is lost by following the advice.
//!
//! `cargo bench -p advisor --bench regret` takes the truth by ten transfers of 1 GiB a cipher and way in every
//! environment, and asks for advice ten times: hours on a slow machine. Behind `--`, `--short` takes two
//! environments, three rounds of half a second and one answer, and fails when the advice costs more than half
//! of the speed; names of environments take these alone, in either form.
//!
//! Dropbear's advice is what its client is to be given by `-c`: no packets speak of it, and of the rules only its
//! own compiled order is one.
#![forbid(unsafe_code)]

mod advice;
mod environments;
mod score;
mod truth;

use std::process::{Child, Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use engine::host::SystemCommands;
use engine::installed::{DiscoverRequest, discover};
use engine::measure::statistics::median;
use engine::transfer::{
    Carrier, FdPassHelper, Implementation, dropbear, dropbear_to_openssh, openssh,
};

use advice::{Advice, ask, ask_for_dropbear};
use environments::Environment;
use score::{Regret, Truth, regret};
use truth::Effort;

fn main() -> ExitCode {
    if let Some(code) = engine::transfer::be_helper() {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((word, rest)) if word == truth::CHILD => truth::child(rest, &carrier),
        _ => Form::of(&arguments).run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("regret: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The carrier of an implementation that is installed here.
fn carrier(implementation: Implementation) -> Result<Box<dyn Carrier>> {
    let installed = discover(&SystemCommands, &DiscoverRequest::default());
    let cancel = Arc::new(AtomicBool::new(false));
    let make = match implementation {
        Implementation::OpenSsh => openssh,
        Implementation::Dropbear => dropbear,
        Implementation::DropbearToOpenSsh => dropbear_to_openssh,
    };
    Ok(make(&installed, FdPassHelper::this_program()?, cancel)?)
}

/// How much is done.
struct Form {
    short: bool,
    only: Vec<String>,
    effort: Effort,
    answers: usize,
}

/// In the short form, which runs wherever the tests do, advice may not be worse than this.
const NONSENSE: f64 = 0.5;

impl Form {
    fn of(arguments: &[String]) -> Self {
        let short = arguments.iter().any(|it| it == "--short");
        let names = arguments.iter().filter(|it| !it.starts_with("--"));
        let (rounds, slice, answers) = if short {
            (3, Duration::from_millis(500), 1)
        } else {
            (10, Duration::from_secs(120), 10)
        };
        Self {
            short,
            only: names.cloned().collect(),
            effort: Effort {
                rounds,
                bytes: 1 << 30,
                slice,
            },
            answers,
        }
    }

    fn run(&self) -> Result<()> {
        let folder = tempfile::tempdir()?;
        let mut rows = Vec::new();
        for environment in environments::all(self.short && self.only.is_empty()) {
            if !self.only.is_empty() && !self.only.iter().any(|it| it == environment.name) {
                continue;
            }
            eprintln!("{}", environment.name);
            let _load = Load::start(environment.load)?;
            let row = self.row(&environment, folder.path());
            rows.push(row.with_context(|| environment.name.to_owned())?);
        }
        report(&rows);
        if self.short {
            let worst = rows.iter().flat_map(Row::followed).map(|it| it.counted);
            let worst = worst.fold(0.0, f64::max);
            ensure!(worst < NONSENSE, "advice that loses {:.0} %", worst * 100.0);
        }
        Ok(())
    }

    fn row(&self, environment: &Environment, folder: &std::path::Path) -> Result<Row> {
        let answers = |ask: &dyn Fn() -> Result<Advice>| -> Result<Vec<Advice>> {
            (0..self.answers).map(|_| ask()).collect()
        };
        let (strongest, packet) = match environment.implementation {
            Implementation::OpenSsh => (
                answers(&|| ask(environment, folder, "auto"))?,
                answers(&|| ask(environment, folder, "packet"))?,
            ),
            Implementation::Dropbear | Implementation::DropbearToOpenSsh => {
                (answers(&|| ask_for_dropbear(environment))?, Vec::new())
            }
        };
        let runs = truth::observe(environment, &strongest[0].pairs, self.effort)?;
        Ok(Row {
            name: environment.name,
            truths: runs.truths(environment.one_core),
            answers: [strongest, packet],
        })
    }
}

/// One environment, with what is true and what was said.
struct Row {
    name: &'static str,
    truths: Vec<Truth>,
    /// With the strongest evidence, and with that of packets.
    answers: [Vec<Advice>; 2],
}

impl Row {
    /// The regret of each answer.
    fn regrets(&self, answers: &[Advice]) -> Vec<Regret> {
        let usable: Vec<&str> = self.truths.iter().map(|it| it.cipher.as_str()).collect();
        let firsts = answers.iter().filter_map(|it| it.first(&usable));
        firsts.filter_map(|it| regret(&self.truths, it)).collect()
    }

    fn followed(&self) -> Vec<Regret> {
        self.regrets(&self.answers[0])
    }

    fn print(&self) {
        println!("\n{}", self.name);
        for truth in &self.truths {
            let [low, high] = truth.interval.map(|speed| speed / 1e6);
            println!(
                "  {:32} {:5.0} MB/s ({low:.0} to {high:.0}), wall {:.0}",
                truth.cipher,
                truth.speed / 1e6,
                truth.wall / 1e6
            );
        }
        for answers in self.answers.iter().filter(|it| !it.is_empty()) {
            let evidence = answers.first().map_or("none", |it| it.evidence.as_str());
            let firsts: Vec<&str> = answers
                .iter()
                .filter_map(|it| it.order.first())
                .map(String::as_str)
                .collect();
            let mut kinds = firsts.clone();
            kinds.sort_unstable();
            kinds.dedup();
            let same = |kind: &&str| firsts.iter().filter(|it| *it == kind).count();
            let told: Vec<String> = kinds
                .iter()
                .map(|it| format!("{it} ({} of {})", same(it), firsts.len()))
                .collect();
            println!(
                "  advised on {evidence}: {}: {}",
                told.join(", "),
                shares(&self.regrets(answers))
            );
        }
        let rules = self.answers[0].first().map(|it| it.rules.as_slice());
        for (rule, cipher) in rules.unwrap_or_default() {
            let regret: Vec<Regret> = regret(&self.truths, cipher).into_iter().collect();
            println!("  {rule}: {cipher}: {}", shares(&regret));
        }
    }
}

/// Median regret, as counted and raw.
fn shares(regrets: &[Regret]) -> String {
    let middle = |part: fn(&Regret) -> f64| {
        let parts: Vec<f64> = regrets.iter().map(part).collect();
        median(&parts).map_or_else(|| "unknown".to_owned(), |it| format!("{:.1} %", it * 100.0))
    };
    format!(
        "regret {}, raw {}",
        middle(|it| it.counted),
        middle(|it| it.raw)
    )
}

fn report(rows: &[Row]) {
    rows.iter().for_each(Row::print);
    for (index, title) in ["the strongest evidence", "packet evidence"]
        .iter()
        .enumerate()
    {
        let all: Vec<f64> = rows
            .iter()
            .flat_map(|row| row.regrets(&row.answers[index]))
            .map(|it| it.counted)
            .collect();
        let worst = all.iter().copied().fold(0.0, f64::max);
        let median = median(&all).unwrap_or(f64::NAN);
        println!(
            "\nwith {title}: median {:.1} %, worst {:.1} %",
            median * 100.0,
            worst * 100.0
        );
    }
}

/// Processes that keep the processors busy; they end with this value.
struct Load(Vec<Child>);

impl Load {
    fn start(processes: usize) -> Result<Self> {
        let busy = || {
            Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .spawn()
        };
        let children: Result<Vec<Child>, _> = (0..processes).map(|_| busy()).collect();
        Ok(Self(children?))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // A process that is gone already is what is wanted.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
