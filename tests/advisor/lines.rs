//! How lines are cut into words: each form, for both programs, by release. Values of 8.4 and 10.5 were taken
//! from builds of those releases; 9.2 is asked here.
#![forbid(unsafe_code)]

use crate::oracle::{Oracle, ours};
use crate::question::{BEFORE, DEFAULT, LATER, NOW, REFUSED, Tree, both, by_release, errors};
use crate::question::{client, said, server};
use engine::installed::releases::Release;

const A: &str = "aes128-ctr";
const AB: &str = "aes128-ctr,aes256-ctr";

#[test]
fn keywords_have_no_case() {
    both("cIPHERS aes128-ctr\n", A, A);
}

#[test]
fn names_have_case() {
    both("Ciphers AES128-CTR\n", REFUSED, REFUSED);
}

#[test]
fn one_equals_sign_or_blanks_separate() {
    for text in [
        "Ciphers=aes128-ctr,aes256-ctr\n",
        "Ciphers = aes128-ctr,aes256-ctr\n",
        "Ciphers\taes128-ctr,aes256-ctr\n",
        " \tCiphers  aes128-ctr,aes256-ctr \t\x0c\n",
    ] {
        both(text, AB, AB);
    }
}

#[test]
fn double_quotes_may_surround_value_and_keyword() {
    for text in [
        "Ciphers=\"aes128-ctr\"\n",
        "Ciphers \"aes128-ctr\"\n",
        "\"Ciphers\" aes128-ctr\n",
    ] {
        both(text, A, A);
        by_release(BEFORE, text, A, A);
    }
}

#[test]
fn single_quotes_came_with_8_7() {
    both("Ciphers 'aes128-ctr'\n", A, A);
    by_release(BEFORE, "Ciphers 'aes128-ctr'\n", REFUSED, REFUSED);
    by_release(Release::new(8, 7), "Ciphers 'aes128-ctr'\n", A, A);
}

#[test]
fn a_quote_may_begin_inside_a_value() {
    both("Ciphers aes128-ctr,\"aes256-ctr\"\n", AB, AB);
}

#[test]
fn an_open_quote_is_refused() {
    both("Ciphers \"aes128-ctr\n", REFUSED, REFUSED);
    by_release(BEFORE, "Ciphers \"aes128-ctr\n", REFUSED, REFUSED);
}

#[test]
fn an_open_quote_in_the_keyword_hides_the_line() {
    both("\"Ciphers aes128-ctr\n", DEFAULT, DEFAULT);
    both("Ci\"phers aes128-ctr\n", DEFAULT, DEFAULT);
}

#[test]
fn a_second_equals_sign_belongs_to_the_value() {
    both("Ciphers==aes128-ctr\n", REFUSED, REFUSED);
    both("Ciphers = = aes128-ctr\n", REFUSED, REFUSED);
    by_release(BEFORE, "Ciphers==aes128-ctr\n", REFUSED, REFUSED);
}

#[test]
fn an_equals_sign_before_the_keyword_is_passed_over() {
    both("=Ciphers aes128-ctr\n", A, A);
    both(" = Ciphers aes128-ctr\n", A, A);
}

#[test]
fn an_equals_sign_behind_the_value_was_passed_over_before_8_7() {
    both("Ciphers aes128-ctr=\n", REFUSED, REFUSED);
    by_release(BEFORE, "Ciphers aes128-ctr=\n", A, A);
}

#[test]
fn a_value_is_needed() {
    for text in ["Ciphers\n", "Ciphers=\n", "Ciphers \"\"\n", "Ciphers # c\n"] {
        both(text, REFUSED, REFUSED);
        by_release(BEFORE, text, REFUSED, REFUSED);
    }
}

#[test]
fn a_comment_may_follow_since_8_7_in_ssh_and_always_in_sshd() {
    both("Ciphers aes128-ctr # c\n", A, A);
    by_release(BEFORE, "Ciphers aes128-ctr # c\n", REFUSED, A);
    by_release(BEFORE, "Ciphers aes128-ctr # c\r\n", REFUSED, A);
}

#[test]
fn before_8_7_no_line_of_ssh_could_end_in_a_comment() {
    for (line, ssh) in [
        ("Port 22", REFUSED),
        ("Compression yes", REFUSED),
        ("RekeyLimit 1G", REFUSED),
        ("SendEnv LANG", DEFAULT),
        ("ProxyCommand x", DEFAULT),
        ("UserKnownHostsFile x", DEFAULT),
        ("Protocol 2", DEFAULT),
    ] {
        let tree = Tree::new();
        tree.put("main", format!("{line} # c\n"));
        assert_eq!(said(&tree.client(BEFORE, "web1")), ssh, "{line}");
        assert_eq!(said(&tree.client(NOW, "web1")), DEFAULT, "{line}");
    }
    by_release(BEFORE, "PrintMotd no # c\n", REFUSED, DEFAULT);
}

#[test]
fn a_hash_without_a_blank_belongs_to_the_value() {
    both("Ciphers aes128-ctr#c\n", REFUSED, REFUSED);
    both("Ciphers aes128-ctr,#c\n", REFUSED, REFUSED);
    by_release(BEFORE, "Ciphers aes128-ctr#c\n", REFUSED, A);
    by_release(BEFORE, "Ciphers aes128-ctr,#c\n", REFUSED, A);
}

#[test]
fn a_hash_in_quotes_belongs_to_the_value() {
    both("Ciphers \"aes128-ctr # x\"\n", REFUSED, REFUSED);
    by_release(BEFORE, "Ciphers \"aes128-ctr # x\"\n", REFUSED, REFUSED);
}

#[test]
fn other_blanks_are_none() {
    for start in ["\x0c", "\x0b", "\u{a0}"] {
        both(format!("{start}Ciphers aes128-ctr\n"), REFUSED, REFUSED);
        both(format!("Ciphers{start}aes128-ctr\n"), REFUSED, REFUSED);
    }
}

#[test]
fn crlf_ends_lines() {
    for text in [
        "Ciphers aes128-ctr\r\n",
        "\r\n# c\r\nCiphers aes128-ctr\r\n",
        "Ciphers \"aes128-ctr\"\r\n",
        "Ciphers aes128-ctr \r\n",
    ] {
        both(text, A, A);
        by_release(BEFORE, text, A, A);
    }
}

#[test]
fn a_carriage_return_inside_is_no_line_end() {
    both("Ciphers aes128-ctr\r,aes256-ctr\n", REFUSED, REFUSED);
    both("Ciphers aes128-ctr\rCompression yes\r", REFUSED, REFUSED);
    by_release(
        BEFORE,
        "Ciphers aes128-ctr\r,aes256-ctr\n",
        REFUSED,
        REFUSED,
    );
}

#[test]
fn the_last_line_needs_no_ending() {
    both("Ciphers aes128-ctr", A, A);
}

#[test]
fn a_byte_order_mark_spoils_the_first_line() {
    both("\u{feff}Ciphers aes128-ctr\n", REFUSED, REFUSED);
    both("\u{feff}# c\n", REFUSED, REFUSED);
    by_release(BEFORE, "\u{feff}# c\n", REFUSED, REFUSED);
}

#[test]
fn utf_16_is_refused() {
    let wide: Vec<u8> = "Ciphers aes128-ctr\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    both([b"\xff\xfe", &*wide].concat(), REFUSED, REFUSED);
}

#[test]
fn comments_hold_any_bytes() {
    both(b"# \xff\xfe\nCiphers aes128-ctr # \xe9\n", A, A);
}

#[test]
fn after_a_nul_ssh_ignores_the_line_and_sshd_glues_the_next_to_it() {
    both("# a\0b\nCiphers aes128-ctr\n", A, DEFAULT);
    both("Ciphers aes128-ctr,\0x\naes256-ctr\n", REFUSED, AB);
    by_release(BEFORE, "# a\0b\nCiphers aes128-ctr\n", A, A);
}

#[test]
fn problems_of_glued_lines_have_the_place_where_they_stand() {
    let tree = Tree::new();
    tree.put("main", "Ciphers aes128-ctr\0x\n  none\n");
    let answer = tree.server(Release::new(9, 2));
    assert_eq!(answer.considered[0].location.to_string(), "/main:1:9");
    assert!(
        errors(&answer).contains("Bad SSH2 cipher spec 'aes128-ctrnone'"),
        "{}",
        errors(&answer)
    );
}

#[test]
fn lines_may_be_very_long() {
    let long = "x".repeat(1 << 20);
    both(format!("# {long}\nCiphers aes128-ctr\n"), A, A);
    let value = "aes128-ctr,".repeat(110_000) + "aes256-ctr";
    both(format!("Ciphers {value}\n"), AB, AB);
    both(format!("Ciphers {long}\n"), REFUSED, REFUSED);
}

#[test]
fn a_backslash_continues_no_line() {
    both("Ciphers aes128-ctr,\\\naes256-ctr\n", REFUSED, REFUSED);
}

#[test]
fn lists_have_no_blanks() {
    for value in [
        "aes128-ctr, aes256-ctr",
        "aes128-ctr ,aes256-ctr",
        "aes128-ctr aes256-ctr",
        "\"aes128-ctr, aes256-ctr\"",
    ] {
        both(format!("Ciphers {value}\n"), REFUSED, REFUSED);
        by_release(BEFORE, format!("Ciphers {value}\n"), REFUSED, REFUSED);
    }
}

#[test]
fn empty_names_are_dropped_but_not_in_front_since_10_4() {
    both("Ciphers aes128-ctr,\n", A, A);
    both("Ciphers aes128-ctr,,aes256-ctr\n", AB, AB);
    both("Ciphers ,aes128-ctr\n", A, A);
    by_release(LATER, "Ciphers ,aes128-ctr\n", REFUSED, REFUSED);
    by_release(LATER, "Ciphers aes128-ctr,,aes256-ctr\n", AB, AB);
}

#[test]
fn names_behind_an_empty_one_are_not_checked() {
    both("Ciphers aes128-ctr,,nonsense\n", A, A);
    both(
        "Ciphers aes128-ctr,,aes256-c*\n",
        "aes128-ctr,aes256-cbc,aes256-ctr",
        "aes128-ctr,aes256-cbc,aes256-ctr",
    );
}

#[test]
fn repetitions_are_dropped() {
    both("Ciphers aes128-ctr,aes256-ctr,aes128-ctr\n", AB, AB);
}

#[test]
fn unknown_names_are_refused() {
    for name in [
        "nonsense",
        "none",
        "default",
        "any",
        "aes128-gcm",
        "AEAD_AES_128_GCM",
        "arcfour",
    ] {
        both(format!("Ciphers aes128-ctr,{name}\n"), REFUSED, REFUSED);
    }
}

#[test]
fn names_are_known_until_their_release_drops_them() {
    let text = "Ciphers rijndael-cbc@lysator.liu.se\n";
    both(text, REFUSED, REFUSED);
    let name = "rijndael-cbc@lysator.liu.se";
    by_release(BEFORE, text, name, name);
}

#[test]
fn the_keyword_of_ssh1_is_ignored_by_ssh_only() {
    both("Cipher 3des\n", DEFAULT, REFUSED);
}

#[test]
fn a_keyword_alone_is_refused_since_8_7() {
    both("Host\n", REFUSED, REFUSED);
    both("Nonsense\n", REFUSED, REFUSED);
    client("IgnoreUnknown *\nNonsense\n", "web1", REFUSED);
    server("Include\n", REFUSED);
}

#[test]
fn a_named_file_must_be_there_and_a_directory_reads_as_empty() {
    let tree = Tree::new();
    assert!(tree.client(NOW, "web1").is_refused());
    assert!(tree.server(NOW).is_refused());
    tree.put("main/inside", "");
    for answer in [tree.client(NOW, "web1"), tree.server(NOW)] {
        assert!(!answer.is_refused());
        assert!(errors(&answer).contains("/main: this is a directory"));
    }
    let Some(oracle) = Oracle::new() else { return };
    for file in ["missing", ".ssh"].map(|name| oracle.home().join(name)) {
        let (ssh, sshd) = (oracle.our_ssh_of_any(&file), oracle.our_sshd(&file));
        assert_eq!(oracle.ssh(&file, "web1"), ours(&ssh), "{file:?}");
        assert_eq!(oracle.sshd(&file), ours(&sshd), "{file:?}");
    }
}
