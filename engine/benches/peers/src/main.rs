//! The engine's kernels beside other libraries': same messages, same run, in turn. See README.md.

mod clock;
mod contest;
mod peers;
mod table;
mod work;

use std::fs;

use contest::Effort;
use table::{CSV_HEAD, Table};
use work::Work;

const SIZES: [usize; 8] = [16, 64, 256, 1024, 4096, 16384, 32768, 65536];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1).cloned()
    };
    let number = |flag, usual| {
        value(flag).map_or(usual, |text| {
            text.parse().expect("a whole number after the flag")
        })
    };
    let chosen = value("--work");
    let effort = Effort {
        samples: number("--samples", 21),
        sample: number("--sample-us", 2000) as f64 * 1e3,
    };
    let sizes = match value("--sizes") {
        Some(list) => list
            .split(',')
            .map(|size| size.parse().expect("sizes in bytes"))
            .collect(),
        None => SIZES.to_vec(),
    };
    let rows = arguments.iter().any(|argument| argument == "--rows");
    let key = std::array::from_fn(|at| (at * 37 + 11) as u8);
    let (mut csv, mut markdown) = (CSV_HEAD.to_owned(), String::new());
    for (work, name) in Work::ALL {
        if chosen
            .as_ref()
            .is_some_and(|list| !list.split(',').any(|wanted| name.starts_with(wanted)))
        {
            continue;
        }
        let cells = sizes
            .iter()
            .map(|&size| (size, contest::measure(work, size, &key, rows, effort)))
            .collect();
        let table = Table { work: name, cells };
        print!("{}", table.markdown());
        csv += &table.csv();
        markdown += &table.markdown();
    }
    for (flag, text) in [("--csv", csv), ("--markdown", markdown)] {
        if let Some(path) = value(flag) {
            fs::write(&path, text).unwrap_or_else(|error| panic!("{path}: {error}"));
        }
    }
}
