//! Ended while it writes: the files are the old ones or the new ones, and the journal says which.
#![forbid(unsafe_code)]

use advisor::apply::{Entry, Progress, history};
use advisor::files::SystemFiles;
use rustix::process::{Signal, kill_process};

use crate::seat::{Seat, Tree, deadline};

/// How far writing is when the signal comes.
const MOMENTS: [&str; 5] = [
    "typed",
    "lock",
    "ask the installed",
    "keep the old",
    "read the files",
];

fn entries(tree: &Tree) -> Vec<Entry> {
    let files = SystemFiles::new(&tree.0).unwrap();
    history(&files, "/var/lib/cipher-advisor".as_ref()).unwrap()
}

/// Confirms the change, and signals once that step is shown, or writing is over already.
fn killed_while_writing(tree: &Tree, moment: &str, signal: Signal) -> Seat {
    let saved = tree.report();
    let mut seat = Seat::with(&["--root", tree.path(), "--measurements", &saved], &[]);
    seat.see_text("aes128-gcm would move");
    seat.press("5");
    seat.see_text("The installed ssh accepts it");
    seat.press("\ryes\r");
    let now = format!("now   {moment}");
    if moment != MOMENTS[0] {
        seat.see(moment, |screen| {
            let text = screen.contents();
            text.contains(&now) || text.contains("Written:")
        });
    }
    kill_process(seat.id(), signal).unwrap();
    seat
}

/// Old or new, and the journal agrees; whether it is new.
fn old_or_new(tree: &Tree, what: &str) -> bool {
    let written = std::fs::read_to_string(tree.drop_in()).ok();
    if let Some(text) = &written {
        assert!(
            text.contains("\nCiphers ") && text.ends_with('\n'),
            "{what}: {text:?}"
        );
    }
    let progress = entries(tree).last().map(|it| it.progress);
    match progress {
        Some(Progress::Done) => assert!(written.is_some(), "{what}: done"),
        None | Some(Progress::Undone) => assert!(written.is_none(), "{what}: {progress:?}"),
        // Only a program that cannot tidy up leaves this; the next change takes it back.
        Some(Progress::Begun) => assert!(what.contains("Kill"), "{what}: begun"),
    }
    written.is_some()
}

#[test]
fn asked_to_end_in_the_middle_of_a_change_it_finishes_or_takes_it_back() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        for moment in MOMENTS {
            let what = format!("{signal:?} at {moment}");
            let tree = Tree::new("asked");
            let mut seat = killed_while_writing(&tree, moment, signal);
            assert_eq!(seat.end(), code, "{what}");
            assert!(seat.is_restored(), "{what}");
            old_or_new(&tree, &what);
        }
    }
}

#[test]
fn killed_in_the_middle_of_a_change_it_leaves_old_or_new_and_the_next_start_says_which() {
    for moment in MOMENTS {
        let what = format!("{:?} at {moment}", Signal::KILL);
        let tree = Tree::new("killed");
        let mut seat = killed_while_writing(&tree, moment, Signal::KILL);
        seat.end();
        let is_new = old_or_new(&tree, &what);
        let words = match entries(&tree).last().map(|it| it.progress) {
            None => continue,
            Some(Progress::Done) => "written",
            Some(Progress::Begun) => "interrupted",
            Some(Progress::Undone) => "taken back",
        };
        let saved = tree.report();
        let mut seat = Seat::with(&["--root", tree.path(), "--measurements", &saved], &[]);
        seat.see_text("[1 Overview]");
        seat.press("5");
        seat.see(words, |screen| {
            let text = screen.contents();
            text.contains("Changes so far (1)") && text.contains(words)
        });
        assert_eq!(
            tree.drop_in().exists(),
            is_new,
            "{what}: looking changes nothing"
        );
        seat.press("q");
        assert_eq!(seat.end(), 0);
    }
}

#[test]
fn a_terminal_that_goes_away_ends_the_program() {
    let tree = Tree::new("gone");
    let saved = tree.report();
    let mut seat = Seat::with(&["--measurements", &saved], &[]);
    seat.see_text("aes128-gcm would move");
    let mut program = seat.hang_up();
    let until = std::time::Instant::now() + deadline();
    while !program.is_over() {
        assert!(std::time::Instant::now() < until, "it lives on");
        std::thread::yield_now();
    }
}
