//! The truth about an environment: long transfers, interleaved, in a process that lives in it.
#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use engine::transfer::{Carrier, CpuTime, Implementation, Run, TransferRequest, Way};

use crate::environments::Environment;
use crate::score::{Runs, Sample};

/// How long to look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    /// A run ends after this many bytes …
    pub(crate) bytes: u64,
    /// … or after this long.
    pub(crate) slice: Duration,
}

/// Ciphers, each with the MAC that is negotiated beside it.
pub(crate) type Pairs = Vec<(String, Option<String>)>;

/// Runs the transfers in a process of its own, which the environment can be put around.
pub(crate) fn observe(environment: &Environment, pairs: &Pairs, effort: Effort) -> Result<Runs> {
    let this = std::env::current_exe()?;
    let mut command = environment.command(this.to_str().context("a path in UTF-8")?);
    command.arg(CHILD).arg(environment.implementation.name());
    command.args([
        effort.rounds.to_string(),
        effort.bytes.to_string(),
        effort.slice.as_millis().to_string(),
    ]);
    let word = |(cipher, mac): &(String, Option<String>)| {
        format!("{cipher}={}", mac.as_deref().unwrap_or_default())
    };
    command.args(pairs.iter().map(word));
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
    let mut runs = Runs::default();
    for line in lines {
        let line = line?;
        let (cipher, way, sample) = read(&line).with_context(|| line.clone())?;
        eprintln!(
            "  {cipher:32} {way:4} {:6.0} MB/s",
            sample.bytes / sample.seconds / 1e6
        );
        runs.add(&cipher, way, sample);
    }
    ensure!(child.wait()?.success(), "the transfers failed");
    Ok(runs)
}

/// The word that makes this program the child.
pub(crate) const CHILD: &str = "__truth";

/// The child: one line a run, the handshake subtracted.
pub(crate) fn child(
    arguments: &[String],
    carrier: &dyn Fn(Implementation) -> Result<Box<dyn Carrier>>,
) -> Result<()> {
    let [implementation, rounds, bytes, slice, pairs @ ..] = arguments else {
        bail!("wrong arguments for {CHILD}");
    };
    let known = [
        Implementation::OpenSsh,
        Implementation::Dropbear,
        Implementation::DropbearToOpenSsh,
    ];
    let mut known = known.into_iter();
    let implementation = known
        .find(|it| it.name() == implementation)
        .context("an implementation")?;
    let mut carrier = carrier(implementation)?;
    let effort = Effort {
        rounds: rounds.parse()?,
        bytes: bytes.parse()?,
        slice: Duration::from_millis(slice.parse()?),
    };
    let handshake = handshake(carrier.as_mut(), pairs)?;
    for _ in 0..effort.rounds {
        for pair in pairs {
            for way in Way::BOTH {
                let run = carrier.run(&request(pair, way, effort.bytes, effort.slice))?;
                print(pair, way, &run, handshake)?;
            }
        }
    }
    Ok(())
}

/// The median cost of a connection without bytes.
fn handshake(carrier: &mut dyn Carrier, pairs: &[String]) -> Result<[CpuTime; 2]> {
    let pair = pairs.first().context("a cipher")?;
    let mut ends = [Vec::new(), Vec::new()];
    for _ in 0..5 {
        let run = carrier.run(&request(pair, Way::Up, 0, Duration::ZERO))?;
        ends[0].push(run.client);
        ends[1].push(run.server.context("a server of our own")?);
    }
    let middle = |times: &Vec<CpuTime>, part: fn(&CpuTime) -> f64| {
        let parts: Vec<f64> = times.iter().map(part).collect();
        engine::measure::statistics::median(&parts).unwrap_or_default()
    };
    Ok(ends.map(|times| CpuTime {
        user: middle(&times, |time| time.user),
        system: middle(&times, |time| time.system),
    }))
}

fn request(pair: &str, way: Way, most_bytes: u64, slice: Duration) -> TransferRequest {
    let (cipher, mac) = pair.split_once('=').unwrap_or((pair, ""));
    TransferRequest {
        cipher: cipher.to_owned(),
        mac: (!mac.is_empty()).then(|| mac.to_owned()),
        way,
        slice,
        most_bytes,
    }
}

fn print(pair: &str, way: Way, run: &Run, handshake: [CpuTime; 2]) -> Result<()> {
    let cipher = pair.split('=').next().unwrap_or_default();
    let server = run.server.context("a server of our own")?;
    let net = |time: CpuTime, start: CpuTime| {
        let part = |whole: f64, start: f64| (whole - start).max(0.0);
        (part(time.user, start.user), part(time.system, start.system))
    };
    let (client_user, client_system) = net(run.client, handshake[0]);
    let (server_user, server_system) = net(server, handshake[1]);
    println!(
        "{cipher} {way} {} {} {client_user} {client_system} {server_user} {server_system}",
        run.bytes, run.seconds
    );
    Ok(())
}

fn read(line: &str) -> Result<(String, Way, Sample)> {
    let words: Vec<&str> = line.split(' ').collect();
    let [cipher, way, numbers @ ..] = words.as_slice() else {
        bail!("no run");
    };
    let numbers: Vec<f64> = numbers
        .iter()
        .map(|it| it.parse())
        .collect::<Result<_, _>>()?;
    let [bytes, seconds, cu, cs, su, ss] = numbers[..] else {
        bail!("six numbers are wanted");
    };
    let cpu = |user, system| CpuTime { user, system };
    let way = if *way == "up" { Way::Up } else { Way::Down };
    let sample = Sample {
        bytes,
        seconds,
        client: cpu(cu, cs),
        server: cpu(su, ss),
    };
    Ok(((*cipher).to_owned(), way, sample))
}
