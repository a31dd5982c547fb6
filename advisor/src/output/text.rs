//! The document for people at a terminal: one sentence, the numbers that prove it, what to do.
#![forbid(unsafe_code)]

use std::path::Path;

use super::carried;
use super::entropy;
use super::page::{Page, Role, Style, columns};
use super::table::{self, Block, Content};
use super::words;
use super::{AdviceRecord, Document, RecommendationRecord, SideConfiguration, View};
use crate::resolver::{Severity, Side};

/// The parts of the document that a command is about.
#[must_use]
pub fn text(document: &Document, view: View, style: Style) -> String {
    let mut page = Page::new(style);
    match view {
        View::Whole => {
            verdict(&mut page, document);
            processor(&mut page, document);
            programs(&mut page, document);
            transfers(&mut page, document);
            speeds(&mut page, document);
            warnings(&mut page, document);
            configuration(&mut page, document);
            recommendation(&mut page, document);
            findings(&mut page, document, view);
            changes(&mut page, document, view);
        }
        View::Measure => {
            origin(&mut page, document);
            processor(&mut page, document);
            programs(&mut page, document);
            transfers(&mut page, document);
            speeds(&mut page, document);
            warnings(&mut page, document);
        }
        View::Transfer => {
            origin(&mut page, document);
            transfers(&mut page, document);
            warnings(&mut page, document);
        }
        View::Explain => {
            origin(&mut page, document);
            configuration(&mut page, document);
            capabilities(&mut page, document);
            considered(&mut page, document);
            findings(&mut page, document, view);
        }
        View::Check => {
            verdict(&mut page, document);
            recommendation(&mut page, document);
            changes(&mut page, document, view);
        }
        View::Entropy => random_bytes(&mut page, document),
        View::Rollback => changes(&mut page, document, view),
        View::History => history(&mut page, document),
        View::Doctor => {
            origin(&mut page, document);
            processor(&mut page, document);
            programs(&mut page, document);
            named(&mut page, "transfers", words::possible(document));
            configuration(&mut page, document);
            findings(&mut page, document, view);
        }
    }
    page.finish()
}

fn history(page: &mut Page, document: &Document) {
    page.heading("Changes, oldest first");
    for record in &document.history {
        page.line(&record.line(), Role::Plain);
    }
    page.wrapped("  ", "  ", words::put_back_by(document), Role::Dim);
}

fn verdict(page: &mut Page, document: &Document) {
    page.wrapped("", "", &words::verdict(document), Role::Heading);
    origin(page, document);
}

fn origin(page: &mut Page, document: &Document) {
    if let Some(origin) = words::origin(document) {
        page.line(&origin, Role::Plain);
    }
}

/// Columns of the names at the left edge of most parts.
const NAME: usize = 14;

fn named(page: &mut Page, name: &str, text: &str) {
    let first = format!("  {name:<NAME$}");
    page.wrapped(&first, &" ".repeat(NAME + 2), text, Role::Plain);
}

fn processor(page: &mut Page, document: &Document) {
    let (host, cpu) = (&document.report.host, &document.report.cpu);
    page.heading("Processor");
    page.wrapped("  ", "  ", &words::processor(host, cpu), Role::Plain);
    page.wrapped("  ", "  ", &words::details(host, cpu), Role::Dim);
    for (name, &state) in &cpu.features {
        let text = format!("{:<10}{}", words::state(state), words::used_for(name));
        page.line(&format!("  {name:<NAME$}{text}"), Role::Plain);
    }
}

fn random_bytes(page: &mut Page, document: &Document) {
    origin(page, document);
    let report = &document.report;
    for (title, rows) in [
        (
            "Random bytes, ns a request, ± half the 95 % interval in percent",
            entropy::table(report, entropy::nanoseconds),
        ),
        ("The same in MB/s", entropy::table(report, entropy::speed)),
    ] {
        page.heading(title);
        for row in rows {
            let (name, cells) = row.split_first().expect("a name first");
            let cells: String = cells.iter().map(|cell| format!("{cell:>CELL$}")).collect();
            page.line(&format!("  {name:<18}{cells}"), Role::Plain);
        }
    }
    page.wrapped("  ", "  ", "Processor time, the system's work included. Nothing is kept between requests: what is left of a key stream's block is dropped.", Role::Dim);
}

fn programs(page: &mut Page, document: &Document) {
    let found = &document.report.openssh;
    page.heading("Programs");
    let client = words::program(found.client.as_ref(), "openssh-client");
    let server = words::program(found.server.as_ref(), "openssh-server");
    let library = found.libcrypto.as_ref();
    let library = library.map_or("not found".to_owned(), |it| {
        format!("{} ({})", it.version, it.name)
    });
    named(page, "ssh", &client);
    named(page, "sshd", &server);
    named(page, "libcrypto", &library);
}

fn speeds(page: &mut Page, document: &Document) {
    let report = &document.report;
    let blocks = table::blocks(report);
    if !blocks.is_empty() {
        page.heading("SSH packets, GB/s, ± half the 95 % interval in percent");
        table_head(page, &table::sizes(report));
        let mut workers = Workers::default();
        for block in &blocks {
            table_block(page, block, &mut workers);
        }
        workers.legend(page);
        page.wrapped("  ", "  ", "openssh: what the installed ssh runs; native: this program's kernels; rustcrypto: the RustCrypto crates.", Role::Dim);
        let few = report
            .measurements
            .iter()
            .any(|cell| cell.rounds < engine::measure::ENOUGH_ROUNDS);
        if few {
            page.line("  * fewer than 3 rounds: no evidence", Role::Plain);
        }
    }
}

fn transfers(page: &mut Page, document: &Document) {
    let groups = carried::groups(&document.report);
    for group in &groups {
        page.heading(&format!(
            "{}, ± half the 95 % interval in percent",
            group.title
        ));
        let head = format!("{:17}{:>10}", "", "MB/s");
        page.line(
            &format!("{head}   client CPU    server CPU    runs    GB/s"),
            Role::Dim,
        );
        for cipher in &group.ciphers {
            page.line(&cipher.title, Role::Heading);
            for (index, row) in cipher.rows.iter().enumerate() {
                let first = format!("  {:<15}{:>10}", row.way, row.mb_per_s);
                let ends = format!("{:>13} {:>13}", row.client, row.server);
                let speed = cipher.speed.as_deref().filter(|_| index == 0);
                let speed = speed.unwrap_or_default();
                let line = format!("{first} {ends} {:>6} {speed:>9}", row.rounds);
                page.line(line.trim_end(), Role::Plain);
            }
        }
        for note in &group.notes {
            page.wrapped("  ", "  ", note, Role::Plain);
        }
    }
    let missing = &document.report.unavailable_transfers;
    if groups.is_empty() && !missing.is_empty() {
        page.heading("Transfers");
    }
    for missing in missing {
        page.wrapped("  ", "  ", &words::not_carried(missing), Role::Plain);
    }
    if !groups.is_empty() {
        page.wrapped("  ", "  ", carried::LEGEND, Role::Dim);
    }
}

fn warnings(page: &mut Page, document: &Document) {
    let report = &document.report;
    for warning in &report.warnings {
        page.wrapped("  ! ", "    ", warning, Role::Bad);
    }
}

/// Width from which a line has room to spell out what did the work.
const WIDE: usize = 110;
/// Columns of one number with its interval and mark.
const CELL: usize = 10;

fn table_head(page: &mut Page, sizes: &[usize]) {
    let sizes = sizes
        .iter()
        .map(|&size| format!("{:>1$}", words::size(size), 2 * CELL));
    let above: String = sizes.clone().collect();
    let below: String = sizes
        .map(|_| format!("{:>CELL$}{:>CELL$}", "seal", "open"))
        .collect();
    page.line(&format!("{:15}{above}", ""), Role::Dim);
    page.line(&format!("{:15}{below}", ""), Role::Dim);
}

fn table_block(page: &mut Page, block: &Block, workers: &mut Workers) {
    page.line(&block.title, Role::Heading);
    for row in &block.rows {
        let provider = row.provider.name();
        match &row.content {
            Content::Speeds(worker, speeds) => {
                let cells: String = speeds
                    .iter()
                    .flatten()
                    .map(|it| format!("{it:>CELL$}"))
                    .collect();
                if page.width() >= WIDE {
                    page.line(&format!("  {provider:<13}{cells}  {worker}"), Role::Plain);
                } else {
                    let mark = workers.mark(worker);
                    page.line(&format!("  {provider:<11}{mark:<2}{cells}"), Role::Plain);
                }
            }
            Content::Reason(reason) => {
                let first = format!("  {provider:<13}");
                page.wrapped(&first, &" ".repeat(15), reason, Role::Dim);
            }
        }
    }
}

/// What did the work, by a letter where a line has no room for it.
#[derive(Default)]
struct Workers(Vec<String>);

impl Workers {
    fn mark(&mut self, worker: &str) -> String {
        let index = match self.0.iter().position(|it| it == worker) {
            Some(index) => index,
            None => {
                self.0.push(worker.to_owned());
                self.0.len() - 1
            }
        };
        letters(index)
    }

    fn legend(&self, page: &mut Page) {
        for (index, worker) in self.0.iter().enumerate() {
            let first = format!("  {:<3}", letters(index));
            page.wrapped(&first, "     ", worker, Role::Dim);
        }
    }
}

/// a, b, …, z, aa, ab, …
fn letters(index: usize) -> String {
    let last = char::from(b'a' + (index % 26) as u8);
    match index / 26 {
        0 => last.to_string(),
        more => letters(more - 1) + &last.to_string(),
    }
}

fn configuration(page: &mut Page, document: &Document) {
    page.heading(&words::in_force(document));
    for side in [Side::Client, Side::Server] {
        match document.configuration.side(side) {
            Some(configuration) => effective(page, side, configuration),
            None => named(
                page,
                words::side(side),
                "could not be read; see the findings",
            ),
        }
    }
}

fn effective(page: &mut Page, side: Side, configuration: &SideConfiguration) {
    named(page, words::side(side), &words::source(configuration));
    let list = configuration.effective.join(" ");
    let list = if list.is_empty() {
        "(none: nothing can connect)"
    } else {
        &list
    };
    named(page, "", list);
}

/// Three things often taken for one another: what a binary could do, what its files enable, what it offers.
fn capabilities(page: &mut Page, document: &Document) {
    let programs = &document.report.openssh;
    for (side, program) in [
        (Side::Client, &programs.client),
        (Side::Server, &programs.server),
    ] {
        let Some(configuration) = document.configuration.side(side) else {
            continue;
        };
        page.heading(&format!(
            "{}: supported, enabled, offered",
            words::side(side)
        ));
        let supported = program.as_ref().map(|it| it.ciphers.join(" "));
        let supported = supported.filter(|list| !list.is_empty());
        let unknown = "not known: the program cannot be asked";
        named(page, "supported", supported.as_deref().unwrap_or(unknown));
        named(page, "enabled", &configuration.effective.join(" "));
        for alternative in &configuration.alternatives {
            named(page, "or else", &alternative.join(" "));
        }
        let Some(offered) = &configuration.offered else {
            named(page, "offered", "not asked; --live asks the program itself");
            continue;
        };
        named(page, "offered", &offered.ciphers.join(" "));
        let strict = match offered.strict_key_exchange {
            true => "yes, the cure for CVE-2023-48795",
            false => "no: chacha20-poly1305 and CBC with -etm are open to CVE-2023-48795",
        };
        named(page, "strict kex", strict);
    }
}

fn considered(page: &mut Page, document: &Document) {
    for side in [Side::Client, Side::Server] {
        let Some(configuration) = document.configuration.side(side) else {
            continue;
        };
        page.heading(&format!(
            "{}: files and Ciphers lines in the order they are read",
            words::side(side)
        ));
        for file in &configuration.files {
            page.line(&format!("  {}", file.display()), Role::Dim);
        }
        if configuration.considered.is_empty() {
            page.line("  No Ciphers line was found.", Role::Plain);
        }
        for line in &configuration.considered {
            let mark = if line.wins { "> " } else { "  " };
            let place = line.place();
            page.wrapped(
                mark,
                "    ",
                &format!("{place}: Ciphers {}", line.value),
                Role::Plain,
            );
            page.wrapped("    ", "    ", &line.outcome, Role::Plain);
        }
    }
}

fn recommendation(page: &mut Page, document: &Document) {
    let Some(recommendation) = &document.recommendation else {
        return;
    };
    for side in [Side::Client, Side::Server] {
        let Some(advice) = document.advice(side) else {
            continue;
        };
        let today = document.configuration.side(side);
        if today.is_some_and(|it| it.refused().is_some()) {
            continue;
        }
        if side == document.lead() || document.sides.contains(&side) {
            order(page, recommendation, advice, today, side);
        } else if side == Side::Server {
            server(page, advice);
        }
    }
}

fn order(
    page: &mut Page,
    recommendation: &RecommendationRecord,
    advice: &AdviceRecord,
    today: Option<&SideConfiguration>,
    side: Side,
) {
    let same = if advice.differs {
        ""
    } else {
        ": today's order"
    };
    page.heading(&format!("Recommended for the {side}{same}"));
    page.line(
        "    today  cipher                GB/s   MB/s  why",
        Role::Dim,
    );
    let today = today.map(|it| it.effective.as_slice()).unwrap_or_default();
    for (place, name) in advice.order.iter().enumerate() {
        let was = today.iter().position(|it| it == name);
        let was = was.map_or("-".to_owned(), |it| (it + 1).to_string());
        let speed = advice.speeds.get(place).and_then(Option::as_ref);
        let (gb, mb) = speed.map_or(("-".to_owned(), "-".to_owned()), |it| {
            (words::speed(it.gb_per_s), format!("{:.0}", it.mb_per_s()))
        });
        let name = words::short(name);
        let first = format!("{:>3} {was:>5}  {name:<19} {gb:>6} {mb:>6}  ", place + 1);
        let reason = advice.reasons.get(place).map_or("", String::as_str);
        page.wrapped(&first, &" ".repeat(columns(&first)), reason, Role::Plain);
    }
    page.wrapped("  ", "  ", words::columns(recommendation), Role::Dim);
    page.wrapped("  ", "  ", &words::basis(recommendation), Role::Plain);
    let gain = words::gain(recommendation, advice).filter(|_| side == Side::Client);
    let sentences = gain.into_iter();
    let ties = advice.ties.iter().map(|group| words::tied(group));
    for sentence in sentences.chain(ties).chain(advice.limits.iter().cloned()) {
        page.wrapped("  - ", "    ", &sentence, Role::Plain);
    }
}

fn server(page: &mut Page, advice: &AdviceRecord) {
    page.heading("The server's order");
    for limit in &advice.limits {
        page.wrapped("  - ", "    ", limit, Role::Plain);
    }
    if advice.differs {
        let names: Vec<&str> = advice.order.iter().map(|name| words::short(name)).collect();
        let text = format!(
            "By speed it would read {}; --side server writes it.",
            names.join(", ")
        );
        page.wrapped("  - ", "    ", &text, Role::Plain);
    }
}

fn findings(page: &mut Page, document: &Document, view: View) {
    let findings = words::findings(document, view);
    if findings.is_empty() {
        return;
    }
    page.heading("Findings");
    for finding in findings {
        let (word, role) = match finding.severity {
            Severity::Error => ("error", Role::Bad),
            Severity::Warning => ("warning", Role::Bad),
            Severity::Info => ("info", Role::Plain),
        };
        let place = place(finding.file.as_deref(), finding.line);
        let what = if place.is_empty() || finding.evidence.starts_with(&place) {
            finding.what.clone()
        } else {
            format!("{place}: {}", finding.what)
        };
        let rest = " ".repeat(11);
        page.wrapped(&format!("  {word:<9}"), &rest, &what, role);
        page.wrapped(&rest, &rest, &finding.evidence, Role::Plain);
        page.wrapped(
            &rest,
            &rest,
            &format!("Cure: {}", finding.cure),
            Role::Plain,
        );
    }
}

fn place(file: Option<&Path>, line: Option<usize>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!("{}:{line}", file.display()),
        (Some(file), None) => file.display().to_string(),
        _ => String::new(),
    }
}

fn changes(page: &mut Page, document: &Document, view: View) {
    page.heading("Change");
    for change in &document.changes {
        page.wrapped("  ", "  ", &change.strategy, Role::Plain);
        for line in change.diff.lines() {
            let role = match line.as_bytes().first() {
                Some(b'+') => Role::Good,
                Some(b'-') => Role::Bad,
                _ => Role::Plain,
            };
            page.line(line, role);
        }
        if let Some(backup) = &change.backup {
            page.wrapped("  ", "  ", &words::kept(view, backup), Role::Plain);
        }
    }
    if let Some(sentence) = &document.reloaded {
        page.wrapped("  ", "  ", sentence, Role::Good);
    }
    for why in words::will_not_write(document) {
        page.wrapped("  ", "  ", &why, Role::Bad);
    }
    // Not wrapped: the command in it is there to be copied.
    page.line(
        &format!("  {}", words::outcome(document, view)),
        Role::Plain,
    );
}
