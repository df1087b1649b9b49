//! The program as a person uses it, who may kill a worker.

#![allow(clippy::unwrap_used, reason = "a failing test should panic")]
#![allow(unreachable_pub, reason = "the helpers of all examples say `pub`")]

#[path = "../testing.rs"]
mod testing;

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use snapbox::{assert_data_eq, str};

use crate::testing::Process;

/// Runs it to its end, and checks the table. `sees` gets each line, with those before it. Returns
/// what it has printed.
fn run(mut sees: impl FnMut(&str, &str)) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent_turns"));
    command.args(["--turns", "2"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = Process::start(&mut command);
    let (mut told, out) = (String::new(), BufReader::new(process.stdout.take().unwrap()));
    for line in out.lines().map(Result::unwrap) {
        sees(&line, &told);
        told.push_str(&line);
        told.push('\n');
    }
    let output = process.ended();
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    let (_, table) = told.split_once("\n\n").unwrap();
    assert_data_eq!(
        table,
        str![[r"
turn  agent    events  deliverables  outcome
   1  planner       1             1  done: scout: no answer in time; clerk: failed; counter: done
   1  scout         1             1  stopped: its limit of time is used up
   1  clerk         1             1  failed: there is no file `lost.txt`
   1  counter       1             1  done: 4 words
   2  planner       1             1  done: scout: no answer in time; clerk: failed; counter: done
   2  scout         1             1  stopped: its limit of time is used up
   2  clerk         1             1  failed: there is no file `lost.txt`
   2  counter       1             1  done: 4 words
8 turns, each with one event and one deliverable

"]]
    );
    told
}

#[test]
fn each_turn_ends_once() {
    run(|_, _| {});
}

/// By the command that the program prints, while the worker waits for its child process.
#[test]
fn a_worker_is_killed_in_a_call() {
    let mut killed = None;
    let told = run(|line, told| {
        let worker = line.strip_prefix("worker ").and_then(|it| it.strip_suffix(": shell.count"));
        let Some(worker) = worker.filter(|_| killed.is_none()) else { return };
        let kill = format!("kill -KILL {worker}");
        assert!(told.contains(&kill), "{told}");
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        killed = Some(worker.to_owned());
    });
    let ended = format!("worker {} has ended", killed.expect("a worker has counted"));
    assert!(told.contains(&ended), "{told}");
}
