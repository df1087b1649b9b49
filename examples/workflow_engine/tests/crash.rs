//! Engines are killed (SIGKILL) at random moments, and people decide in between.

mod checks;

use std::{
    collections::HashSet,
    env, fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use machine::{
    Id,
    actor::{Actors, Human},
    store::{Message, Query, blocking::Store},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    condition::Condition, office::WRITERS, process::Process, submit::submit, workflow::AnyWorkflow,
};

const GOALS: [&str; 8] = [
    "greet bob",
    "pay the invoice",
    "invite the team",
    "publish the report",
    "clean up",
    "delete the target",
    "unknown",
    "greet bob",
];

/// The answer to an intervention that is over.
const TOO_LATE: &str = "too late";

/// The maximum time of a round.
const PATIENCE: Duration = Duration::from_mins(1);

/// `CRASH_ROUNDS` (default 8) rounds from `CRASH_SEED`: eight tasks at once, engines that are killed at
/// random moments, sometimes two at a time, and a person who decides at random.
///
/// After the last kill no person decides for a while: then each task has ended, or waits where a person can
/// resume it. In the end all have ended, no irreversible call took effect twice, and all histories verify.
#[test]
#[allow(clippy::print_stdout, reason = "the seed must be known when it fails")]
fn killed_at_random_moments() {
    let rounds = number("CRASH_ROUNDS", 8);
    let seed = number("CRASH_SEED", 0x2545_f491_4f6c_dd1d);
    println!("{rounds} rounds from seed {seed}");
    let mut figures = Figures::default();
    for round in 0..rounds {
        let mut random = Random::new(seed, round);
        Round::new().run(round, &mut random, &mut figures);
    }
    println!("{figures:#?}");
    assert!(figures.in_a_call > 0 || rounds < 8, "no kill came in the middle of a call");
}

#[derive(Debug, Default)]
struct Figures {
    kills: u32,
    /// Kills after which a call was under way.
    in_a_call: u32,
    interventions: u32,
    /// Calls in doubt of which a person said that they did not take effect, and when that counted.
    denied: u32,
    completed: u32,
    failed: u32,
    terminated: u32,
    /// Irreversible calls that took effect.
    effects: usize,
}

struct Round {
    folder: TempDir,
    store: Store,
    /// The engines that a person has decided about, and after how many moves.
    decided: HashSet<(Id, u64)>,
}

impl Round {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let office = folder.path().join("engine.office");
        fs::create_dir(&office).unwrap();
        fs::write(office.join("invoice.txt"), "500").unwrap();
        fs::write(office.join("target.txt"), "secrets").unwrap();
        fs::write(office.join("site.down"), "retry\nretry\nretry\n").unwrap();
        fs::write(office.join("mail.down"), "0x80004005\nretry\n").unwrap();
        let store = Store::sqlite(folder.path().join("engine.db")).unwrap();
        let runner = Actors::issue("engine").unwrap().graph_runner;
        for goal in GOALS {
            store.wait(submit(store.get(), goal, Duration::from_hours(1), &runner)).unwrap();
        }
        Self { folder, store, decided: HashSet::new() }
    }

    fn start(&self) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workflow_engine"));
        command.arg("run").arg("--db").arg(self.folder.path().join("engine.db"));
        Process::start(command.stdout(Stdio::null()))
    }

    fn run(mut self, round: u64, random: &mut Random, figures: &mut Figures) {
        for _ in 0..3 + random.below(4) {
            let mut engines = vec![self.start()];
            if random.below(3) == 0 {
                engines.push(self.start());
            }
            let end = Instant::now() + Duration::from_millis(random.below(250));
            while Instant::now() < end {
                self.decide(random, figures);
                thread::sleep(Duration::from_millis(5));
            }
            for mut engine in engines {
                engine.kill().unwrap();
                engine.wait().unwrap();
                figures.kills += 1;
            }
            figures.in_a_call += u32::from(self.count("execution", "running") > 0);
            let report = self.store.wait(self.store.get().verify_all(|_| {})).unwrap();
            assert!(report.is_clean(), "round {round}: {report:?}");
        }
        let engine = self.start();
        // No person decides.
        self.until(round, "each open task waits for a person", |round| {
            round.count("workflow", "manual_intervention") == round.count("task_record", "open")
        });
        let start = Instant::now();
        while self.count("task_record", "open") > 0 {
            assert!(start.elapsed() < PATIENCE, "round {round}: {:?}", self.describe());
            self.decide(random, figures);
            thread::sleep(Duration::from_millis(5));
        }
        self.until(round, "each engine is idle", |round| {
            round.count("workflow", "idle") == round.all("workflow")
        });
        drop(engine);
        self.check(round, figures);
    }

    /// A person says "not applied" of each call in doubt of which the services have nothing.
    fn deny(&self, figures: &mut Figures) {
        let waiting = Query::new().machine("execution").status("waiting");
        let ann = Human::new("ann").unwrap();
        for execution in self.store.list(&waiting).unwrap().items.into_iter().flatten() {
            let Ok(doubt) = self.store.wait(self.store.get().in_doubt(execution.id)) else {
                continue;
            };
            let key = doubt.execution().context().idempotency_key().unwrap().to_string();
            let office = self.folder.path().join("engine.office");
            let took_place = WRITERS.iter().any(|(_, _, file)| {
                fs::read_to_string(office.join(file)).unwrap_or_default().contains(&key)
            });
            if !took_place {
                let denied = self.store.get().confirm_not_applied(doubt, "nothing there", &ann);
                figures.denied += u32::from(self.store.wait(denied).is_ok());
            }
        }
    }

    /// A person decides about each engine that asks, once for each time that it asks.
    fn decide(&mut self, random: &mut Random, figures: &mut Figures) {
        self.deny(figures);
        let query = Query::new().machine("workflow").status("manual_intervention");
        let asking = self.store.wait(self.store.get().load_all::<AnyWorkflow>(&query)).unwrap();
        for engine in asking.items {
            let AnyWorkflow::ManualIntervention(engine) = engine.unwrap() else { continue };
            let moves = engine.journal().summary().transitions;
            if !self.decided.insert((engine.id(), moves)) {
                continue;
            }
            figures.interventions += 1;
            let said = match (engine.state().reason, random.below(4)) {
                (_, 0) => json!({ "trigger": "user_terminate", "why": "enough" }),
                (Condition::Ambiguity, _) => {
                    json!({ "trigger": "user_modify", "instruction": "the final one" })
                }
                (Condition::SensitiveAction, 1) => {
                    json!({ "trigger": "user_modify", "instruction": "only the team" })
                }
                _ => json!({ "trigger": "user_resume" }),
            };
            self.send(engine.id(), &said, moves);
            // Mostly with a double click, another person who answers as well, and one who answers an earlier
            // question. It is open whose answer counts when a worker is killed that has taken one.
            if random.below(4) > 0 {
                self.send(engine.id(), &said, moves);
                let other = json!({ "trigger": "user_terminate", "why": "the other one" });
                self.send(engine.id(), &other, moves);
                let late = json!({ "trigger": "user_terminate", "why": TOO_LATE });
                self.send(engine.id(), &late, moves.saturating_sub(1 + random.below(3)));
            }
        }
    }

    /// Ann sends an answer for the state after this number of moves.
    fn send(&self, engine: Id, said: &Value, seen: u64) {
        let ann = Human::new("ann").unwrap();
        let message = Message::new(said, &ann).unwrap().unless_moved(seen);
        self.store.wait(self.store.get().send(engine, &message)).unwrap();
    }

    fn until(&self, round: u64, what: &str, condition: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !condition(self) {
            assert!(start.elapsed() < PATIENCE, "round {round}: {what}: {:?}", self.describe());
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn count(&self, machine: &str, status: &str) -> usize {
        self.store.list(&Query::new().machine(machine).status(status)).unwrap().items.len()
    }

    fn all(&self, machine: &str) -> usize {
        self.store.list(&Query::new().machine(machine)).unwrap().items.len()
    }

    fn describe(&self) -> Vec<String> {
        let all = self.store.list(&Query::new()).unwrap().items.into_iter().flatten();
        all.map(|line| format!("{} {} {}", line.id, line.machine, line.status)).collect()
    }
}

/// xorshift64: reproducible for a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64, round: u64) -> Self {
        Self((seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end.max(1)
    }
}

pub(crate) fn number(variable: &str, usual: u64) -> u64 {
    match env::var(variable) {
        Ok(text) => {
            text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`, which is not a number"))
        }
        Err(_) => usual,
    }
}
