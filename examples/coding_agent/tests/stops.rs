//! A command whose agent is killed, or asked to end, while it runs.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use machine::operate::Finding;
use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};

use crate::{
    desk::Desk,
    doubt::confirm,
    runs::lives,
    terminal::{RIGHT, TASK, agent, repository, script, told, work, written},
    testing::{Process, STUCK},
};

/// Blocks when it runs for the first time. It counts its runs outside of the folder.
const BLOCKS: &str = "#!/bin/sh\necho run >> ../log\nif mkdir ../once; then\n    echo $$ > ../pid\n    \
                      read line < ../pipe\nfi\ngrep -q right a\n";

pub const CHECK: &str = "run [\"./check\"]";

/// A plan without repairs, whose check blocks.
pub fn checks() -> (Desk, Value) {
    let desk = repository(&[("a", "old\n"), ("check", BLOCKS)]);
    mkfifoat(CWD, desk.root().join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    let mut script = script("a", &[&["./check"]], RIGHT, RIGHT);
    script["repairs"] = json!([]);
    (desk, script)
}

/// Starts an agent, and waits until the command runs. Returns the number of its process.
pub fn begun(desk: &Desk, plan: &Value, more: &[&str]) -> (Process, u32) {
    let script = written(desk, plan);
    let words = ["do", "--script", script.to_str().unwrap(), TASK, "--yes"];
    let process = Process::start(&mut agent(desk, &[&words[..], more].concat()));
    let start = Instant::now();
    loop {
        let text = fs::read_to_string(desk.root().join("pid")).unwrap_or_default();
        if text.ends_with('\n') {
            return (process, text.trim().parse().unwrap());
        }
        assert!(start.elapsed() < STUCK);
        thread::sleep(Duration::from_millis(2));
    }
}

fn count_runs(desk: &Desk) -> usize {
    fs::read_to_string(desk.root().join("log")).unwrap().lines().count()
}

/// It has neither passed nor failed: no repair is spent.
#[test]
fn a_check_that_was_interrupted_runs_again() {
    let (desk, script) = checks();
    let (process, command) = begun(&desk, &script, &[]);
    process.dies();
    let done = work(&desk, &[]);
    assert_eq!(done.code, 0, "{:?} {}", done.events, done.errors);
    assert!(!lives(command));
    assert_eq!(done.acts(), [(CHECK, false), (CHECK, true)]);
    assert_eq!(done.all("act")[0]["seen"]["is_interrupted"], true);
    let summary = done.one("summary");
    assert_eq!(summary["verified"], json!([[CHECK, true]]));
    assert_eq!(summary["seen"][0]["is_interrupted"], true);
    assert_eq!(count_runs(&desk), 2);
}

/// A command of a step may have had effects: it runs again only if a person says so.
#[tokio::test]
async fn a_person_is_asked_about_a_step_that_was_interrupted() {
    for (finding, count) in [(Finding::Applied(None), 1), (Finding::NotApplied(None), 2)] {
        let (desk, mut script) = checks();
        let plan = &mut script["plan"];
        let run = json!({"tool": "run", "argv": ["./check"], "timeout": 60_000});
        plan["steps"][0]["tool_calls"].as_array_mut().unwrap().push(run);
        plan["verification"] = json!({});
        let (process, command) = begun(&desk, &script, &[]);
        process.dies();
        let asked = work(&desk, &[]);
        assert_eq!(asked.code, 3, "{:?} {}", asked.events, asked.errors);
        assert!(!lives(command));
        let question = asked.one("asks")["questions"][0].as_str().unwrap();
        assert!(question.contains(CHECK) && question.contains("interrupted"), "{question}");
        confirm(&desk, &asked, finding).await;
        let done = work(&desk, &[]);
        assert_eq!(done.code, 0, "{:?} {}", done.events, done.errors);
        assert_eq!(done.acts(), [(CHECK, true)]);
        assert_eq!(count_runs(&desk), count);
    }
}

/// By Ctrl-C, or as a service: the task goes on later.
#[test]
fn a_signal_ends_the_command_as_well() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let (desk, script) = checks();
        let (process, command) = begun(&desk, &script, &[]);
        process.signal(signal);
        let output = process.ended();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(!lives(command), "{signal}");
        let done = work(&desk, &[]);
        assert_eq!(done.code, 0, "{:?} {}", done.events, done.errors);
        assert_eq!(done.acts(), [(CHECK, false), (CHECK, true)]);
    }
}

/// It would edit while a command of an agent that died runs.
#[test]
fn an_undo_ends_the_command_first() {
    let (desk, script) = checks();
    let (process, command) = begun(&desk, &script, &[]);
    process.dies();
    assert!(lives(command));
    assert_eq!(told(&desk, &["undo"]).code, 0);
    assert!(!lives(command));
    assert_eq!(desk.file("a").unwrap(), "old\n");
}
