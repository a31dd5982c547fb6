//! Programs that hang, flood, or leave something behind.
#![forbid(unsafe_code)]
#![cfg(unix)]

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use engine::host::{CommandFailure, CommandOutput, CommandRequest, Commands, SystemCommands};

/// Longer than any of these programs may take, and shorter than what they would leave behind.
const LONG: Duration = Duration::from_secs(60);

fn shell(script: &str, timeout: Duration) -> CommandRequest {
    let mut request = CommandRequest::new("/bin/sh").args(["-c", script]);
    request.timeout = timeout;
    request
}

fn run(script: &str, timeout: Duration) -> Result<CommandOutput, CommandFailure> {
    SystemCommands.run(&shell(script, timeout))
}

/// A named pipe that processes hold open for writing; its end is the death of the last of them.
struct Witness {
    directory: tempfile::TempDir,
    reader: File,
    /// Keeps the pipe from ending before the processes have opened it.
    writer: File,
}

impl Witness {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("pipe");
        let mut mkfifo = CommandRequest::new("mkfifo").arg(&path);
        mkfifo.timeout = LONG;
        assert!(SystemCommands.run(&mkfifo).expect("mkfifo").succeeded());
        // Opening for both does not wait for another end.
        let writer = File::options().read(true).write(true).open(&path);
        Self {
            writer: writer.expect("a pipe"),
            reader: File::open(&path).expect("a pipe"),
            directory,
        }
    }

    /// The shell's words that hold the pipe open as descriptor 8.
    fn hold(&self) -> String {
        format!("exec 8>'{}/pipe'", self.directory.path().display())
    }

    /// Waits for the last holder, who must not have lived long enough to say something.
    fn all_are_gone(mut self) {
        drop(self.writer);
        let mut said = String::new();
        self.reader.read_to_string(&mut said).expect("a pipe");
        assert_eq!(said, "", "somebody was left alive");
    }
}

#[test]
fn both_streams_and_the_code_of_a_program_come_back_whole() {
    let mut request = shell("cat; head -c 1000000 /dev/zero >&2; exit 7", LONG);
    request.stdin = (0..3_000_000_u32).map(|i| i as u8).collect();
    let output = SystemCommands.run(&request).expect("it ends");
    assert_eq!(output.code, Some(7));
    assert!(output.stdout == request.stdin);
    assert!(output.stderr == vec![0; 1_000_000]);
}

#[test]
fn input_that_is_not_read_holds_nobody_up() {
    let mut request = shell("exit 3", LONG);
    request.stdin = vec![0; 1_000_000];
    let output = SystemCommands.run(&request).expect("it ends");
    assert_eq!(output.code, Some(3));
}

#[test]
fn a_program_that_a_signal_ended_has_no_code() {
    let output = run("kill -9 $$", LONG).expect("it ends");
    assert_eq!(output.code, None);
}

#[test]
fn endless_output_is_cut_and_the_writer_stopped() {
    for script in [
        "exec yes",
        "exec yes >&2",
        "yes & yes & wait",
        "yes & exit 0",
    ] {
        let failure = run(script, LONG).expect_err(script);
        let said = failure.to_string();
        assert_eq!(
            said, "/bin/sh wrote more than 4 MiB and was stopped",
            "{script}"
        );
    }
}

#[test]
fn as_much_output_as_is_allowed_comes_back() {
    let most = 4 * 1024 * 1024;
    let output = run(&format!("head -c {most} /dev/zero"), LONG).expect("it ends");
    assert_eq!(output.stdout.len(), most);
    let failure = run(&format!("head -c {} /dev/zero", most + 1), LONG);
    assert!(matches!(failure, Err(CommandFailure::TooMuchOutput { .. })));
}

#[test]
fn out_of_time_the_program_and_what_it_started_are_stopped() {
    let witness = Witness::new();
    let alive = "(sleep 120; echo alive >&8)";
    let script = format!("{}; {alive} & {alive}", witness.hold());
    let failure = run(&script, Duration::from_millis(500));
    assert!(matches!(failure, Err(CommandFailure::TimedOut { .. })));
    witness.all_are_gone();
}

#[test]
fn a_program_that_closed_its_pipes_is_still_waited_for_no_longer_than_agreed() {
    let failure = run("exec >&- 2>&-; sleep 120", Duration::from_millis(300));
    assert!(matches!(failure, Err(CommandFailure::TimedOut { .. })));
    let output = run("exec >&- 2>&-; exit 5", LONG).expect("it ends");
    assert_eq!(output.code, Some(5));
}

#[test]
fn what_a_program_leaves_behind_with_its_pipes_is_stopped_and_its_output_kept() {
    let witness = Witness::new();
    let alive = "(sleep 120; echo alive >&8)";
    let script = format!("{}; echo done; {alive} & exit 4", witness.hold());
    let output = run(&script, LONG).expect("it ended");
    assert_eq!(output.code, Some(4));
    assert_eq!(output.stdout, b"done\n");
    witness.all_are_gone();
}
