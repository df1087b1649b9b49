//! A person pauses an engine whose processes are killed (SIGKILL) at random moments: no call begins
//! between the commit of the pause and the person's answer.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use machine::{
    Id,
    actor::Actors,
    journal::Fact,
    store::{Committed, Store},
    worker::Worker,
};
use pollster::block_on;
use serde_json::json;

use crate::{
    agent::Reply,
    engine::Engine,
    office,
    record::AnyTaskRecord,
    scenarios::{MAIL, plan},
    site::{Site, list, say, until},
    testing::{Random, STUCK, number, seed},
    workflow::workflow::Driver,
    world::Thinks,
};

#[derive(Debug, Default)]
struct Figures {
    /// Pauses that cancelled a call.
    cancelled: u32,
    /// Pauses while a call was under way.
    under_way: u32,
    /// Tasks that had ended before the pause.
    too_late: u32,
}

/// A pause before a call and one in a call, and `PAUSE_ROUNDS` (default 10) rounds from
/// `CRASH_SEED`.
#[test]
#[allow(clippy::print_stdout, reason = "the seed must be known when it fails")]
fn no_call_begins_while_an_engine_is_paused() {
    let rounds = number("PAUSE_ROUNDS", 10);
    let seed = seed();
    println!("{rounds} rounds from seed {seed}");
    let mut figures = Figures::default();
    let mut random = Random::new(seed, rounds);
    Paused::before_its_call().goes_on("before its call", &mut random, &mut figures);
    Paused::in_its_call().goes_on("in its call", &mut random, &mut figures);
    for round in 0..rounds {
        let mut random = Random::new(seed, round);
        Paused::new().run(&format!("round {round}"), &mut random, &mut figures);
    }
    println!("{figures:?}");
}

fn asks(committed: &Committed) -> bool {
    matches!(&committed.entry.fact, Fact::Moved { to, .. } if to == "manual_intervention")
}

struct Paused {
    site: Site,
    store: Store,
    engine: Id,
}

impl Paused {
    fn new() -> Self {
        let site = Site::new(&[]);
        let (store, tasks) = site.store(&["greet bob"]);
        Self { site, store, engine: tasks[0].engine }
    }

    /// A person pauses it when its call is there, and no process has the tool.
    fn before_its_call() -> Self {
        let paused = Self::new();
        paused.work_without_tools();
        assert_eq!(list(&paused.store, "execution", Some("pending")).len(), 1);
        paused.pause();
        paused.work_without_tools();
        assert_eq!(paused.status(), "manual_intervention");
        assert_eq!(list(&paused.store, "execution", Some("cancelled")).len(), 1);
        paused
    }

    /// A person pauses it, and its process is killed, while the answer to its call is kept back.
    fn in_its_call() -> Self {
        let paused = Self::new();
        paused.site.hold_answers("mail");
        let engine = paused.site.start();
        until(|| paused.describe(), || !paused.site.file("mails.txt").is_empty());
        paused.pause();
        until(|| paused.describe(), || paused.status() == "manual_intervention");
        engine.dies();
        assert_eq!(list(&paused.store, "execution", Some("running")).len(), 1);
        paused.site.release_answers("mail");
        paused
    }

    fn pause(&self) {
        let pause = json!({ "trigger": "request_intervention", "note": "wait" });
        say(&self.store, self.engine, &pause, None);
    }

    /// Works in this process until nothing is ready. It plans calls, and makes none.
    fn work_without_tools(&self) {
        let tools = Arc::new(office::tools(&self.site.office()).unwrap());
        let agent = Thinks(Arc::new(|_| Ok(Reply::Can(plan(&[MAIL])))));
        let worker = Worker::new(&self.store, Actors::issue("engine").unwrap())
            .handler(Driver(Engine { agent, tools, policy: office::POLICY }))
            .machine::<AnyTaskRecord>();
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(worker.run_until_idle()).unwrap();
    }

    /// Kills an engine some time after its start, or after the call is there.
    fn kill_after(&self, time: Duration, is_called: bool) {
        let (engine, start) = (self.site.start(), Instant::now());
        let is_waiting = || list(&self.store, "execution", None).is_empty();
        while is_called && is_waiting() && start.elapsed() < STUCK {
            thread::yield_now();
        }
        thread::sleep(time);
        engine.dies();
    }

    /// What was committed, and the messages of the engine.
    fn describe(&self) -> String {
        let entries = self.committed();
        let facts = entries.iter().map(|it| format!("{} {:?}", it.id, it.entry.fact));
        let inbox = block_on(self.store.inbox(self.engine)).unwrap();
        format!("{}\n{:#?}\n{inbox:#?}", self.status(), facts.collect::<Vec<_>>())
    }

    fn status(&self) -> String {
        list(&self.store, "workflow", None).remove(0).status
    }

    fn run(self, round: &str, random: &mut Random, figures: &mut Figures) {
        // A moment before, in, or after the call.
        let is_called = random.below(4) > 0;
        let longest = if is_called { 2_000 } else { 300_000 };
        self.kill_after(Duration::from_micros(random.below(longest)), is_called);
        if self.status() == "idle" {
            figures.too_late += 1;
            return;
        }
        self.pause();
        for _ in 0..random.below(3) {
            self.kill_after(Duration::from_millis(random.below(80)), false);
        }
        self.goes_on(round, random, figures);
    }

    /// Engines are killed while a person thinks, and continue after the answer.
    fn goes_on(self, round: &str, random: &mut Random, figures: &mut Figures) {
        let engine = self.site.start();
        let is = || format!("{round}: {}", self.describe());
        until(is, || ["manual_intervention", "idle"].contains(&&*self.status()));
        if self.status() == "idle" {
            figures.too_late += 1;
            return;
        }
        // It has time for what it must not do.
        thread::sleep(Duration::from_millis(random.below(60)));
        engine.dies();
        let _engine = self.site.start();
        thread::sleep(Duration::from_millis(random.below(60)));
        // A call that turns out to have had no effect just when it is joined is a failure, about
        // which the engine asks.
        let mut resumed = 0;
        until(is, || {
            let asked = self.committed().iter().filter(|it| asks(it)).count();
            if asked > resumed {
                say(&self.store, self.engine, &json!({ "trigger": "user_resume" }), None);
                resumed += 1;
            }
            self.status() == "idle"
        });
        self.check(round, figures);
    }

    fn check(&self, round: &str, figures: &mut Figures) {
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
            assert!(!begins, "{round}: a call began at {:?}", it.position);
            figures.under_way += u32::from(it.position < paused && !is_cancelled);
        }
        assert_eq!(self.site.file("mails.txt").lines().count(), 1, "{round}");
        let report = block_on(self.store.verify_all(|_| {})).unwrap();
        assert!(report.is_clean(), "{round}: {report:?}");
    }

    /// Everything that was committed, in order.
    fn committed(&self) -> Vec<Committed> {
        block_on(async {
            let store = &self.store;
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
