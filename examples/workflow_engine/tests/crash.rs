//! Engines are killed (SIGKILL) at random moments, and people decide in between.

mod checks;

use std::{
    collections::HashSet,
    thread,
    time::{Duration, Instant},
};

use machine::{
    Id,
    actor::Human,
    store::{Query, Store},
};
use pollster::block_on;
use serde_json::json;

use crate::{
    condition::Condition,
    office::WRITERS,
    site::{Site, list, say, until},
    testing::{Random, STUCK, number, seed},
    workflow::AnyWorkflow,
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

/// `CRASH_ROUNDS` (default 8) rounds from `CRASH_SEED`: eight tasks at once, engines that are
/// killed at random moments, sometimes two at a time, and a person who decides at random.
///
/// The first kill of each round comes in an irreversible call, whose effect is there and whose
/// answer is not. After the last kill no person decides for a while: then each task has ended, or
/// waits where a person can resume it. In the end all have ended, no irreversible call took effect
/// twice, and all histories verify.
#[test]
#[allow(clippy::print_stdout, reason = "the seed must be known when it fails")]
fn killed_at_random_moments() {
    let rounds = number("CRASH_ROUNDS", 8);
    let seed = seed();
    println!("{rounds} rounds from seed {seed}");
    let mut figures = Figures::default();
    for round in 0..rounds {
        let mut random = Random::new(seed, round);
        Round::new().run(round, &mut random, &mut figures);
    }
    println!("{figures:#?}");
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
    site: Site,
    store: Store,
    /// The engines that a person has decided about, and after how many moves.
    decided: HashSet<(Id, u64)>,
}

impl Round {
    fn new() -> Self {
        let site = Site::new(&[
            ("invoice.txt", "500"),
            ("target.txt", "secrets"),
            ("site.down", "retry\nretry\nretry\n"),
            ("mail.down", "0x80004005\nretry\n"),
        ]);
        let (store, _) = site.store(&GOALS);
        Self { site, store, decided: HashSet::new() }
    }

    fn run(mut self, round: u64, random: &mut Random, figures: &mut Figures) {
        self.site.hold_answers("mail");
        for kill in 0..3 + random.below(4) {
            let mut engines = vec![self.site.start()];
            if kill > 0 && random.below(3) == 0 {
                engines.push(self.site.start());
            }
            let (start, time) = (Instant::now(), Duration::from_millis(random.below(250)));
            // Whatever the person answers, one of the two mails to Bob is sent.
            let is_time = |round: &Self| match kill {
                0 => !round.site.file("mails.txt").is_empty() || start.elapsed() > STUCK,
                _ => start.elapsed() >= time,
            };
            while !is_time(&self) {
                self.decide(random, figures);
                thread::sleep(Duration::from_millis(5));
            }
            for engine in engines {
                engine.dies();
                figures.kills += 1;
            }
            let in_a_call = self.count("execution", "running") > 0;
            figures.in_a_call += u32::from(in_a_call);
            if kill == 0 {
                let is_sent = !self.site.file("mails.txt").is_empty();
                assert!(in_a_call && is_sent, "round {round}: {}", self.describe());
                self.site.release_answers("mail");
            }
            let report = block_on(self.store.verify_all(|_| {})).unwrap();
            assert!(report.is_clean(), "round {round}: {report:?}");
        }
        let (engine, start) = (self.site.start(), Instant::now());
        // No person decides.
        until(
            || format!("round {round}: each open task waits for a person: {}", self.describe()),
            || {
                let waiting = self.count("workflow", "manual_intervention");
                waiting == self.count("task_record", "open")
            },
        );
        while self.count("task_record", "open") > 0 {
            assert!(start.elapsed() < 3 * STUCK, "round {round}: {}", self.describe());
            self.decide(random, figures);
            thread::sleep(Duration::from_millis(5));
        }
        until(
            || format!("round {round}: each engine is idle: {}", self.describe()),
            || self.count("workflow", "idle") == list(&self.store, "workflow", None).len(),
        );
        drop(engine);
        self.check(round, figures);
    }

    /// A person says "not applied" of each call in doubt of which the services have nothing.
    fn deny(&self, figures: &mut Figures) {
        let ann = Human::new("ann").unwrap();
        for execution in list(&self.store, "execution", Some("waiting")) {
            let Ok(doubt) = block_on(self.store.in_doubt(execution.id)) else {
                continue;
            };
            let key = doubt.context().idempotency_key().unwrap().to_string();
            let took_place = WRITERS.iter().any(|(_, _, file)| self.site.file(file).contains(&key));
            if !took_place {
                let denied = self.store.confirm_not_applied(doubt, "nothing there", &ann);
                figures.denied += u32::from(block_on(denied).is_ok());
            }
        }
    }

    /// A person decides about each engine that asks, once for each time that it asks.
    fn decide(&mut self, random: &mut Random, figures: &mut Figures) {
        self.deny(figures);
        let query = Query::new().machine("workflow").status("manual_intervention");
        let asking = block_on(self.store.load_all::<AnyWorkflow>(&query)).unwrap();
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
            say(&self.store, engine.id(), &said, Some(moves));
            // Mostly with a double click, another person who answers as well, and one who answers
            // an earlier question. It is open whose answer counts when a worker is killed that has
            // taken one.
            if random.below(4) > 0 {
                say(&self.store, engine.id(), &said, Some(moves));
                let other = json!({ "trigger": "user_terminate", "why": "the other one" });
                say(&self.store, engine.id(), &other, Some(moves));
                let late = json!({ "trigger": "user_terminate", "why": TOO_LATE });
                let seen = moves.saturating_sub(1 + random.below(3));
                say(&self.store, engine.id(), &late, Some(seen));
            }
        }
    }

    fn count(&self, machine: &str, status: &str) -> usize {
        list(&self.store, machine, Some(status)).len()
    }

    fn describe(&self) -> String {
        let all = block_on(self.store.list(&Query::new())).unwrap().items.into_iter().flatten();
        let all: Vec<_> = all.map(|line| (line.id, line.machine, line.status)).collect();
        format!("{all:?}")
    }
}
