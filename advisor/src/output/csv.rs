//! The measurements, or the transfers, as CSV (RFC 4180, LF line ends), one line a cell.
#![forbid(unsafe_code)]

use engine::report::{Direction, Entropy, Measurement, Transfer};

use super::{Document, View};

const HEADER: &str = "cipher,mac,provider,direction,bytes,kernel,gb_per_s,ci95_low,ci95_high,cycles_per_byte,rounds,batched";

const TRANSFER_HEADER: &str = "implementation,host,cipher,mac,direction,mb_per_s,ci95_low,ci95_high,client_user_s_per_gib,client_system_s_per_gib,server_user_s_per_gib,server_system_s_per_gib,user_s_per_gib,user_ci95_low,user_ci95_high,rounds";

const ENTROPY_HEADER: &str = "source,bytes,ns_per_request,ci95_low,ci95_high,mb_per_s,rounds";

/// All transfers where the command is about these, or all random bytes, else all measurements. The columns are those of the JSON
/// document's `transfers`, `entropy` and `measurements`.
#[must_use]
pub fn csv(document: &Document, view: View) -> String {
    let report = &document.report;
    let (header, lines): (_, Vec<String>) = match view {
        View::Transfer => (
            TRANSFER_HEADER,
            report.transfers.iter().map(transfer).collect(),
        ),
        View::Entropy => (ENTROPY_HEADER, report.entropy.iter().map(random).collect()),
        _ => (HEADER, report.measurements.iter().map(line).collect()),
    };
    header.to_owned() + "\n" + &lines.concat()
}

fn random(cell: &Entropy) -> String {
    let fields = [
        quoted(&cell.source),
        cell.bytes.to_string(),
        cell.ns_per_request.to_string(),
        cell.ci95[0].to_string(),
        cell.ci95[1].to_string(),
        cell.mb_per_s.to_string(),
        cell.rounds.to_string(),
    ];
    fields.join(",") + "\n"
}

fn transfer(transfer: &Transfer) -> String {
    let server = transfer.server_cpu_s_per_gib;
    let of_server = |part: usize| server.map_or(String::new(), |it| it[part].to_string());
    let fields = [
        transfer.implementation.name().to_owned(),
        quoted(transfer.host.as_deref().unwrap_or_default()),
        quoted(&transfer.cipher),
        quoted(transfer.mac.as_deref().unwrap_or_default()),
        transfer.direction.name().to_owned(),
        transfer.mb_per_s.to_string(),
        transfer.ci95[0].to_string(),
        transfer.ci95[1].to_string(),
        transfer.client_cpu_s_per_gib[0].to_string(),
        transfer.client_cpu_s_per_gib[1].to_string(),
        of_server(0),
        of_server(1),
        transfer.user_s_per_gib.to_string(),
        transfer.user_ci95[0].to_string(),
        transfer.user_ci95[1].to_string(),
        transfer.rounds.to_string(),
    ];
    fields.join(",") + "\n"
}

fn line(cell: &Measurement) -> String {
    let direction = match cell.direction {
        Direction::Seal => "seal",
        Direction::Open => "open",
    };
    let cycles = cell.cycles_per_byte.map(|it| it.to_string());
    let fields = [
        quoted(&cell.cipher),
        quoted(cell.mac.as_deref().unwrap_or_default()),
        cell.provider.name().to_owned(),
        direction.to_owned(),
        cell.bytes.to_string(),
        quoted(&cell.kernel),
        cell.gb_per_s.to_string(),
        cell.ci95[0].to_string(),
        cell.ci95[1].to_string(),
        cycles.unwrap_or_default(),
        cell.rounds.to_string(),
        cell.batched.to_string(),
    ];
    fields.join(",") + "\n"
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_separators_are_quoted() {
        assert_eq!(quoted("chacha20 avx2"), "chacha20 avx2");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
