//! A person pauses an engine whose processes are killed (SIGKILL) at random moments: no call begins between the
//! commit of the pause and the person's answer.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use machine::{
    Id,
    actor::{Actors, Human},
    journal::Fact,
    store::{Committed, Message, Query, blocking::Store},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    crash::{Random, number},
    process::Process,
    submit::submit,
};

/// The maximum time of a step.
const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Debug, Default)]
struct Figures {
    /// Pauses that cancelled a call.
    cancelled: u32,
    /// Pauses while a call was under way.
    under_way: u32,
    /// Tasks that had ended before the pause.
    too_late: u32,
}

/// `PAUSE_ROUNDS` (default 10) rounds from `CRASH_SEED`.
#[test]
#[allow(clippy::print_stdout, reason = "the seed must be known when it fails")]
fn no_call_begins_while_an_engine_is_paused() {
    let rounds = number("PAUSE_ROUNDS", 10);
    let seed = number("CRASH_SEED", 0x2545_f491_4f6c_dd1d);
    println!("{rounds} rounds from seed {seed}");
    let mut figures = Figures::default();
    for round in 0..rounds {
        let mut random = Random::new(seed, round);
        Paused::new().run(round, &mut random, &mut figures);
    }
    println!("{figures:?}");
    assert!(figures.cancelled > 0 || rounds < 10, "no pause found a call that had not begun");
}

struct Paused {
    folder: TempDir,
    store: Store,
    engine: Id,
}

impl Paused {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("engine.office")).unwrap();
        let store = Store::sqlite(folder.path().join("engine.db")).unwrap();
        let runner = Actors::issue("engine").unwrap().graph_runner;
        let limit = Duration::from_hours(1);
        let task = store.wait(submit(store.get(), "greet bob", limit, &runner)).unwrap();
        Self { folder, store, engine: task.engine }
    }

    fn start(&self) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workflow_engine"));
        command.arg("run").arg("--db").arg(self.folder.path().join("engine.db"));
        Process::start(command.stdout(Stdio::null()))
    }

    /// Kills an engine some time after its start, or after the call is there.
    fn kill_after(&self, time: Duration, is_called: bool) {
        let mut engine = self.start();
        let start = Instant::now();
        while is_called && self.calls() == 0 && start.elapsed() < PATIENCE {
            thread::yield_now();
        }
        thread::sleep(time);
        engine.kill().unwrap();
        engine.wait().unwrap();
    }

    fn say(&self, body: &Value) {
        let message = Message::new(body, &Human::new("ann").unwrap()).unwrap();
        self.store.wait(self.store.get().send(self.engine, &message)).unwrap();
    }

    fn calls(&self) -> usize {
        self.store.list(&Query::new().machine("execution")).unwrap().items.len()
    }

    fn status(&self) -> String {
        let page = self.store.list(&Query::new().machine("workflow")).unwrap();
        page.items.into_iter().flatten().next().unwrap().status
    }

    /// Waits until the engine reaches one of these states, and returns it.
    fn until(&self, round: u64, states: &[&str]) -> String {
        let start = Instant::now();
        loop {
            let status = self.status();
            if states.contains(&&*status) {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "round {round}: it is {status}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn run(self, round: u64, random: &mut Random, figures: &mut Figures) {
        // A moment before, in, or after the call.
        let is_called = random.below(4) > 0;
        let longest = if is_called { 2_000 } else { 300_000 };
        self.kill_after(Duration::from_micros(random.below(longest)), is_called);
        if self.status() == "idle" {
            figures.too_late += 1;
            return;
        }
        self.say(&json!({ "trigger": "request_intervention", "note": "wait" }));
        for _ in 0..random.below(3) {
            self.kill_after(Duration::from_millis(random.below(80)), false);
        }
        let mut engine = self.start();
        if self.until(round, &["manual_intervention", "idle"]) == "idle" {
            figures.too_late += 1;
            engine.kill().unwrap();
            engine.wait().unwrap();
            return;
        }
        // It has time for what it must not do.
        thread::sleep(Duration::from_millis(random.below(60)));
        engine.kill().unwrap();
        engine.wait().unwrap();
        let engine = self.start();
        thread::sleep(Duration::from_millis(random.below(60)));
        self.say(&json!({ "trigger": "user_resume" }));
        self.until(round, &["idle"]);
        drop(engine);
        self.check(round, figures);
    }

    fn check(&self, round: u64, figures: &mut Figures) {
        let all = self.committed();
        let is_move = |it: &Committed, from_to: (&str, &str)| {
            let Fact::Moved { from, to, .. } = &it.entry.fact else { return false };
            let fits = |want: &str, is: &str| want.is_empty() || want == is;
            fits(from_to.0, from) && fits(from_to.1, to)
        };
        let of_engine = |it: &&Committed| it.id == self.engine;
        let engine = all.iter().filter(of_engine);
        let paused = engine.clone().find(|it| is_move(it, ("", "manual_intervention"))).unwrap();
        let answered = engine.clone().find(|it| is_move(it, ("manual_intervention", ""))).unwrap();
        let (paused, answered) = (paused.position, answered.position);
        for (index, it) in all.iter().enumerate() {
            if it.id == self.engine || !is_move(it, ("pending", "running")) {
                continue;
            }
            // A call that is cancelled passes through RUNNING in one commit, without a permit.
            let next = all[index + 1..].iter().find(|next| next.id == it.id);
            let is_cancelled = next.is_some_and(|next| is_move(next, ("running", "cancelled")));
            figures.cancelled += u32::from(is_cancelled);
            let begins = it.position > paused && it.position < answered && !is_cancelled;
            assert!(!begins, "round {round}: a call began at {:?}", it.position);
            figures.under_way += u32::from(it.position < paused && !is_cancelled);
        }
        let mails = fs::read_to_string(self.folder.path().join("engine.office/mails.txt"));
        assert_eq!(mails.unwrap().lines().count(), 1, "round {round}");
        let report = self.store.wait(self.store.get().verify_all(|_| {})).unwrap();
        assert!(report.is_clean(), "round {round}: {report:?}");
    }

    /// Everything that was committed, in order.
    fn committed(&self) -> Vec<Committed> {
        self.store.wait(async {
            let store = self.store.get();
            let end = store.position().await.unwrap();
            let mut entries = store.subscribe(None).await.unwrap();
            let mut all: Vec<Committed> = Vec::new();
            while all.last().is_none_or(|last| last.position < end) {
                all.push(entries.next().await.unwrap());
            }
            all
        })
    }
}
