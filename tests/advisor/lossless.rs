//! Nothing is lost: any bytes come back, an edit changes its place only, and no input is too much.
#![forbid(unsafe_code)]

use advisor::resolver::{
    ClientFiles, ClientRequest, ServerRequest, resolve_client, resolve_server,
};
use advisor::syntax::{Dialect, Tree, insert_line, parse, remove_line, replace_arguments};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::question::{NOW, Tree as Host};

fn dialects() -> impl Strategy<Value = Dialect> {
    any::<[bool; 4]>().prop_map(|[server, modern, splits_match, strips_bom]| Dialect {
        server,
        modern,
        splits_match,
        strips_bom,
    })
}

const MARKS: &[&str] = &[
    "\n", "\r\n", " ", "\t", "=", "\"", "'", "#", "\\", "\0", "\x0c", "\u{feff}",
];
const WORDS: &[&str] = &["Ciphers", "Host", "Match all", "aes128-ctr", ","];

/// Bytes that make lines, words and quotes more often than chance would.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let some = |of| select(of).prop_map(|text: &str| text.as_bytes().to_vec());
    let piece = prop_oneof![
        3 => some(MARKS),
        2 => some(WORDS),
        1 => vec(any::<u8>(), 0..4),
    ];
    vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Files that were hard to read for some program at some time.
fn seeds() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/configurations");
    let files = std::fs::read_dir(folder).unwrap();
    let seeds: Vec<_> = files
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect();
    assert!(!seeds.is_empty());
    seeds
}

/// A seed, or two cut and put together.
fn grown() -> impl Strategy<Value = Vec<u8>> {
    let cut = (select(seeds()), any::<prop::sample::Index>());
    let cut = cut.prop_map(|(seed, at)| seed[..at.index(seed.len() + 1)].to_vec());
    (select(seeds()), cut, bytes()).prop_map(|(seed, cut, noise)| [cut, noise, seed].concat())
}

fn values(tree: &Tree) -> Vec<(Vec<u8>, Vec<Vec<u8>>)> {
    let statements = tree.lines().iter().filter_map(|line| line.statement());
    statements
        .map(|statement| {
            let values = statement.arguments.iter().map(|token| token.value.clone());
            (statement.keyword.value.clone(), values.collect())
        })
        .collect()
}

/// How many statements come before a line.
fn before(tree: &Tree, index: usize) -> usize {
    let lines = tree.lines()[..index].iter();
    lines.filter(|line| line.statement().is_some()).count()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_come_back(bytes in prop_oneof![bytes(), select(seeds()), grown()], dialect in dialects()) {
        let tree = parse(bytes.clone(), dialect);
        prop_assert_eq!(tree.print(), bytes);
    }

    #[test]
    fn spans_lie_in_their_line_and_in_order(bytes in bytes(), dialect in dialects()) {
        let tree = parse(bytes, dialect);
        let mut end = 0;
        for line in tree.lines() {
            prop_assert_eq!(line.span.start, end);
            end = line.span.end;
            let Some(statement) = line.statement() else { continue };
            let mut at = line.span.start;
            let arguments = statement.arguments.iter().map(|token| &token.span);
            for span in [&statement.keyword.span, &statement.separator].into_iter().chain(arguments).chain(&statement.comment) {
                prop_assert!(at <= span.start && span.start <= span.end && span.end <= end, "{:?}", line);
                at = span.end;
            }
        }
        prop_assert_eq!(end, tree.bytes().len());
    }

    #[test]
    fn a_replaced_value_is_read_back_and_all_else_stays(bytes in bytes(), dialect in dialects()) {
        let tree = parse(bytes.clone(), dialect);
        for (index, line) in tree.lines().iter().enumerate() {
            let Some(statement) = line.statement() else { continue };
            let (Some(first), Some(last)) = (statement.arguments.first(), statement.arguments.last()) else {
                continue;
            };
            // Before 8.7 rubbish could follow the arguments without a blank, and then spoils any value.
            if !dialect.modern && tree.slice(&line.span).contains(&b'"') {
                continue;
            }
            let (start, end) = (first.span.start, last.span.end);
            let after = replace_arguments(&tree, index, b"aes256-ctr").unwrap();
            prop_assert_eq!(&after[..start], &bytes[..start]);
            prop_assert_eq!(&after[start + 10..], &bytes[end..]);
            let (_, arguments) = values(&parse(after, dialect)).swap_remove(before(&tree, index));
            prop_assert_eq!(arguments, [b"aes256-ctr".to_vec()], "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn an_inserted_line_is_read_and_all_else_stays(bytes in bytes(), dialect in dialects(), chosen in any::<prop::sample::Index>()) {
        let tree = parse(bytes.clone(), dialect);
        let index = chosen.index(tree.lines().len() + 1);
        let after = parse(insert_line(&tree, index, b"Ciphers aes256-ctr"), dialect);
        let inserted = (b"Ciphers".to_vec(), vec![b"aes256-ctr".to_vec()]);
        let at = before(&tree, index);
        let mut found = values(&after);
        // A last line that ends in a NUL swallows what follows; sshd would do the same.
        prop_assume!(index < tree.lines().len() || !(dialect.server && bytes.contains(&0)));
        prop_assert_eq!(found.remove(at), inserted);
        prop_assert_eq!(found, values(&tree));
        if index < tree.lines().len() {
            prop_assert_eq!(remove_line(&after, index).unwrap(), bytes);
        }
    }

    #[test]
    fn no_file_makes_the_resolver_panic(bytes in prop_oneof![bytes(), select(seeds()), grown()]) {
        let host = Host::new();
        host.put("main", &bytes);
        let client = host.client(NOW, "web1");
        let server = host.server(NOW);
        for problem in client.problems.iter().chain(&server.problems) {
            prop_assert!(!problem.what.is_empty() && !problem.cure.is_empty());
            prop_assert!(problem.location.line <= bytes.split(|&byte| byte == b'\n').count());
        }
    }
}

#[test]
fn a_hundred_thousand_lines_and_a_thousand_files_are_resolved() {
    let host = Host::new();
    let block = "Host other\n  Ciphers aes256-ctr\n  User x\nNonsense y\n";
    host.put("long", block.repeat(25_000));
    host.put("main", "Include /long\nInclude /d/*\nCiphers aes128-ctr\n");
    for number in 0..1000 {
        host.put(
            &format!("d/{number}"),
            "Match host other\nCiphers 3des-cbc\n",
        );
    }
    let request = ClientRequest {
        files: ClientFiles::Only("/main".into()),
        ..ClientRequest::new(NOW).destination("web1")
    };
    let answer = resolve_client(&host.files(), &request);
    assert_eq!(answer.ciphers, ["aes128-ctr"]);
    assert_eq!(answer.considered.len(), 25_000 + 1000 + 1);
    assert_eq!(answer.problems.len(), 25_000);
    assert_eq!(answer.files.len(), 1002);
    let request = ServerRequest {
        file: "/main".into(),
        ..ServerRequest::new(NOW)
    };
    assert!(resolve_server(&host.files(), &request).is_refused());
}

#[test]
fn neither_many_words_nor_many_conditions_take_long() {
    let host = Host::new();
    let conditions = "Match exec a\nCiphers aes256-ctr\nUser x\nMatch user y\nCiphers 3des-cbc\n";
    host.put(
        "main",
        format!(
            "Host {}\n{}",
            "a ".repeat(500_000),
            conditions.repeat(20_000)
        ),
    );
    let answer = host.client(NOW, "web1");
    assert_eq!(answer.alternatives, [["aes256-ctr"]]);
    host.put(
        "main",
        format!("Ciphers aes128-ctr\0{}", "\nMatch \0".repeat(100_000)),
    );
    assert!(host.server(NOW).is_refused());
    host.put("main", format!("Include {}", "/x \0\n".repeat(50_000)));
    assert!(!host.server(NOW).is_refused());
    host.put("main", "Include /x ".to_owned() + &"/x ".repeat(50_000));
    assert!(!host.client(NOW, "web1").is_refused());
}
