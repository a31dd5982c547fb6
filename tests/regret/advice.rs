//! What the advisor and the usual rules of thumb say in an environment.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use advisor::recommendation::order_of_dropbear;
use advisor::saved;
use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::environments::Environment;
use crate::truth::Pairs;

/// One answer of the advisor.
#[derive(Clone, Debug)]
pub(crate) struct Advice {
    /// The recommended order.
    pub(crate) order: Vec<String>,
    /// What it rests on.
    pub(crate) evidence: String,
    /// What the usual rules put first, each with its name.
    pub(crate) rules: Vec<(&'static str, String)>,
    /// Each cipher of the list with its MAC.
    pub(crate) pairs: Pairs,
}

/// The client's compiled default order begins with this.
const DEFAULT_FIRST: &str = "chacha20-poly1305@openssh.com";

impl Advice {
    /// The first cipher of the order that is among those that can be used.
    pub(crate) fn first<'a>(&'a self, usable: &[&str]) -> Option<&'a str> {
        let mut order = self.order.iter().map(String::as_str);
        order.find(|cipher| usable.contains(cipher))
    }
}

/// Asks for the order of Dropbear's client, with the default budget.
pub(crate) fn ask_for_dropbear(environment: &Environment) -> Result<Advice> {
    let implementation = environment.implementation.name();
    let output = environment
        .command(env!("CARGO_BIN_EXE_advisor"))
        .args(["transfer", "--json", "--implementation", implementation])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "advisor: {said}");
    let report = saved::parse(&output.stdout).map_err(anyhow::Error::msg)?;
    let order = order_of_dropbear(&report).context("two ciphers that were carried")?;
    let of = |cipher: &String| {
        let mut transfers = report.transfers.iter();
        let carried = transfers.find(|it| it.cipher == *cipher);
        (cipher.clone(), carried.and_then(|it| it.mac.clone()))
    };
    let own = report.openssh.dropbear.context("Dropbear")?.ciphers;
    Ok(Advice {
        pairs: own.iter().map(of).collect(),
        rules: vec![(
            "Dropbear's own order",
            own.first().context("a cipher")?.clone(),
        )],
        evidence: "transfer".to_owned(),
        order,
    })
}

/// Asks the advisor, with its default budget and a client file that says nothing but the MACs.
pub(crate) fn ask(environment: &Environment, folder: &Path, evidence: &str) -> Result<Advice> {
    let file = folder.join("ssh_config");
    let macs = environment.macs.map(|macs| format!("MACs {macs}\n"));
    fs::write(&file, macs.unwrap_or_default())?;
    let output = environment
        .command(env!("CARGO_BIN_EXE_advisor"))
        .args(["--json", "--evidence", evidence, "--ssh-config"])
        .arg(&file)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "advisor: {said}");
    read(&serde_json::from_slice(&output.stdout)?)
}

fn read(document: &Value) -> Result<Advice> {
    let recommendation = &document["recommendation"];
    let order = recommendation["client"]["order"]
        .as_array()
        .context("an order")?;
    let order: Vec<String> = order
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let macs = document["configuration"]["client"]["macs"]
        .as_array()
        .context("the MACs")?;
    let mac = macs.first().and_then(Value::as_str);
    let with_mac = |cipher: &String| {
        let aead = cipher.contains('@');
        (cipher.clone(), mac.filter(|_| !aead).map(str::to_owned))
    };
    // "AES in the processor, so aes128-gcm first."
    let by_the_flag = match document["cpu"]["features"]["aes"] == "present" {
        true => "aes128-gcm@openssh.com",
        false => DEFAULT_FIRST,
    };
    Ok(Advice {
        evidence: recommendation["evidence"]
            .as_str()
            .unwrap_or("none")
            .to_owned(),
        rules: vec![
            ("OpenSSH's default order", DEFAULT_FIRST.to_owned()),
            ("by the AES flag", by_the_flag.to_owned()),
        ],
        pairs: order.iter().map(with_mac).collect(),
        order,
    })
}
