//! The service receives what the approver has seen, whichever version of the program makes the
//! call: for random pairs of an older program, which asks, and a newer one, which reads the same
//! arguments from the file or others. Workers of both are killed while they pay.
//!
//! `MACHINE_VERSION_PAIRS=1000` sets the number of pairs, and `TEST_SEED` repeats their choices.

mod bank;
mod programs;

use std::path::PathBuf;

use machine::{
    clock::Clock,
    contract::{Action, Gate},
    operate::Operator,
    worker::WorkerError,
};
use machine_tests::{
    oracle::Differences,
    random::{Random, setting},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use self::{
    bank::{Bank, Line, POINTS, lines},
    programs::{Meaning, Program, programs},
};
use crate::{
    process::Act,
    worker::{
        approved::needs_attention,
        prelude::*,
        process::{Process, close, orders},
    },
};

/// The kills of one pair, which set nothing aside.
const KILLS: usize = 2;

/// The rounds in which a call comes to its end once nothing disturbs it.
const ROUNDS: usize = 100;

const WORDS: [&str; 4] = ["ann", "bob", "oslo", "ROME"];

/// What a worker in another process is to do.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    file: PathBuf,
    now: i64,
    is_irreversible: bool,
    program: String,
    /// The fail point at which it dies.
    point: String,
}

struct Pair<'a> {
    random: &'a mut Random,
    folder: TempDir,
    hand: Hand,
    is_irreversible: bool,
    old: Program,
    new: Program,
    id: Id,
    /// The arguments in the file.
    stored: Value,
    /// The arguments in the question that Ann approves.
    seen: Value,
    kills: usize,
    /// The workers that did not start.
    refusals: usize,
}

/// Arguments as the first program writes them.
fn arguments(random: &mut Random) -> Value {
    let lines = 0..random.below(3);
    let lines: Vec<Value> =
        lines.map(|_| json!({ "item": random.pick(&WORDS), "count": random.below(3) })).collect();
    let tags = 0..random.below(4);
    let tags: Vec<&str> = tags.map(|_| *random.pick(&WORDS)).collect();
    json!({
        "payee": random.pick(&WORDS),
        "cents": random.pick(&[0, 1, 500, 4_000_000]),
        "lines": lines,
        "tags": tags,
        "note": random.pick(&[None, Some("thanks")]),
        "place": { "city": random.pick(&WORDS), "floor": random.pick(&[None, Some(3)]) },
    })
}

/// The arguments in a question: its lines between the first one and that of the digest.
fn seen(question: &str) -> Value {
    let lines: Vec<&str> = question.lines().collect();
    let arguments = lines[1..lines.len() - 1].iter().map(|line| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_owned(), serde_json::from_str::<Value>(value).unwrap())
    });
    arguments.collect()
}

/// What a call does that has these arguments in the file.
fn meaning(arguments: &Value) -> Meaning {
    let payee = arguments.get("payee").or(arguments.get("recipient")).unwrap();
    Meaning {
        payee: payee.as_str().unwrap().to_owned(),
        cents: arguments["cents"].as_f64().unwrap(),
    }
}

/// Runs until nothing is ready. Returns whether the worker has started.
async fn runs(worker: Worker) -> bool {
    let idle = tokio::time::timeout(STUCK, worker.run_until_idle());
    match idle.await.expect("the worker rests") {
        Ok(()) => true,
        Err(WorkerError::Incompatible { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

impl<'a> Pair<'a> {
    async fn new(random: &'a mut Random) -> Self {
        let is_irreversible = random.percent(50);
        let programs = programs(is_irreversible);
        let (old, gate, call) = loop {
            let old = *random.pick(&programs);
            if let Some((gate, call)) = (old.ask)(&arguments(random)) {
                break (old, gate, call);
            }
        };
        let new = *random.pick(&programs);
        let mut pair = Self {
            random,
            folder: tempfile::tempdir().unwrap(),
            hand: Hand::default(),
            is_irreversible,
            old,
            new,
            id: call.id(),
            stored: Value::Null,
            seen: Value::Null,
            kills: 0,
            refusals: 0,
        };
        pair.asks_and_approves(gate, call).await;
        pair
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("agent.db")
    }

    async fn open(&self) -> Store {
        OpenOptions::new().clock(self.hand.clone()).sqlite(self.file()).await.unwrap()
    }

    fn worker(&self, store: &Store, program: &Program) -> Worker {
        (program.work)(store, Bank { file: self.file() })
    }

    /// The beginning of the text of why this program does not run the call.
    fn refusal(&self, program: &Program) -> Option<String> {
        match (program.read)(&self.stored) {
            Ok(read) => Differences::between(&self.stored, &read)
                .refusal(self.is_irreversible, program.added),
            Err(error) => Some(error),
        }
    }

    /// The old program asks, and Ann approves. A worker of the new one may run already.
    async fn asks_and_approves(&mut self, mut gate: Gate, mut call: Planned<Action>) {
        let (store, new) = (self.open().await, self.new);
        let runs_already = self.random.percent(20);
        let running = runs_already.then(|| self.worker(&store, &new).attempts(1).start());
        if running.is_some() {
            until("it is listed", async || !store.workers().await.unwrap().is_empty()).await;
        }
        store.ask(&mut gate, &mut call).await.unwrap();
        let stored: AnyExecution = store.load(self.id).await.unwrap();
        self.stored = stored.context().action().arguments().unwrap().clone().into();
        assert_eq!(self.refusal(&self.old), None, "{} does not run it", self.old.name);
        let gate = store.gate(gate.id()).await.unwrap();
        let whole = gate.whole_question().unwrap();
        self.seen = seen(&whole.text);
        for (one, other) in [(&self.stored, &self.seen), (&self.seen, &self.stored)] {
            assert_eq!(Differences::between(one, other), Differences::default());
        }
        drop(store.approve(gate, whole.digest, ann()).await.unwrap());
        if let Some(running) = running {
            let refusal = self.refusal(&new);
            if let Some(reason) = &refusal {
                needs_attention(&store, self.id, reason).await;
            } else {
                let is_paid = async || state(&store, self.id).await == "completed";
                until("it is paid", is_paid).await;
            }
            running.stop().await.unwrap();
            if refusal.is_some() {
                is(&store, self.id, "pending").await;
                store.requeue(self.id, &[]).await.unwrap();
            }
            let received = lines(&self.file());
            assert_eq!(received.len(), usize::from(refusal.is_none()));
            self.are_as_seen(&received, &new);
        }
        close(store).await;
    }

    /// One of the programs runs, on the file as it is.
    async fn step(&mut self) {
        let program = if self.random.percent(70) { self.new } else { self.old };
        let is_killed = self.kills < KILLS && self.random.percent(25);
        let dies = is_killed.then(|| *self.random.pick(&POINTS));
        self.works(&program, dies).await;
    }

    /// A worker runs, here or in a process that dies when it pays. Checks what became of the call.
    async fn works(&mut self, program: &Program, dies: Option<&str>) {
        let (before, count) = (self.state().await, lines(&self.file()).len());
        let is_asked = self.is_irreversible && before != "pending";
        let refusal = match &*before {
            "running" | "waiting" if is_asked => (program.read)(&self.stored).err(),
            "pending" | "running" => self.refusal(program),
            _ => None,
        };
        match dies {
            Some(point) => self.may_die(program, point).await,
            None => self.rests(program, refusal.is_none()).await,
        }
        let (after, received) = (self.state().await, lines(&self.file()));
        let found = (&*after, received.len());
        let pair = format!("{} and {}: {}", self.old.name, program.name, self.stored);
        self.are_as_seen(&received[count..], program);
        if let Some(reason) = &refusal {
            assert_eq!(found, (&*before, count), "{pair}");
            self.is_refused(program, reason).await;
            self.refusals += 1;
            return;
        }
        let expected = match (&*before, dies) {
            ("completed" | "failed" | "cancelled", _) => (&*before, count),
            ("pending", Some(point)) => ("running", count + usize::from(point == POINTS[1])),
            (_, None) if is_asked && count == 0 => ("failed", 0),
            (_, None) if is_asked => ("completed", count),
            (_, None) => ("completed", count + 1),
            // It asks, or dies, or leaves the call for a while to the process that began it.
            (_, Some(_)) => (&*after, if is_asked { count } else { received.len().min(count + 1) }),
        };
        assert_eq!(found, expected, "{pair}");
    }

    /// A worker in this process runs until the call has ended, or does not start.
    async fn rests(&self, program: &Program, starts: bool) {
        for _ in 0..ROUNDS {
            let store = self.open().await;
            let check = self.worker(&store, program).check().await.unwrap();
            assert_eq!(check.is_clean(), starts, "{}: {check}", program.name);
            assert_eq!(runs(self.worker(&store, program)).await, starts);
            close(store).await;
            if !starts || ["completed", "failed", "cancelled"].contains(&&*self.state().await) {
                return;
            }
            self.hand.pass(Duration::from_secs(3));
        }
        panic!("{} does not end the call: {}", program.name, self.stored);
    }

    async fn may_die(&mut self, program: &Program, point: &str) {
        let (program, is_irreversible) = (program.name.to_owned(), self.is_irreversible);
        let (file, now, point) = (self.file(), self.hand.now(), point.to_owned());
        let orders = Orders { file, now, is_irreversible, program, point };
        let process = Process::start("worker::versions::pays_or_dies", &orders);
        let has_ended = tokio::task::spawn_blocking(|| process.ended_well()).await.unwrap();
        self.kills += usize::from(!has_ended);
    }

    async fn state(&self) -> String {
        let store = self.open().await;
        let state = state(&store, self.id).await;
        close(store).await;
        state
    }

    /// The service of this program has received what Ann has seen, and no more than the program may
    /// add.
    fn are_as_seen(&self, received: &[Line], program: &Program) {
        for line in received {
            let found = Differences::between(&self.seen, &line.arguments);
            let refusal = found.refusal(self.is_irreversible, program.added);
            assert_eq!(refusal, None, "{} was seen, and {line:?} received", self.seen);
            assert_eq!(line.meaning, meaning(&self.seen), "{}", program.name);
            assert_eq!(line.execution, self.id);
        }
    }

    /// A worker of this program does not start, for this reason.
    async fn is_refused(&self, program: &Program, reason: &str) {
        let store = self.open().await;
        let check = self.worker(&store, program).check().await.unwrap().to_string();
        assert!(check.contains(reason), "{reason}: {check}");
        close(store).await;
    }

    /// The old program is back. It makes the call unless a person has cancelled it.
    async fn ends(&mut self) {
        let is_cancelled = self.state().await == "pending" && self.random.percent(25);
        if is_cancelled {
            let (store, actors) = (self.open().await, actors());
            let operator = Operator::new(&store, &actors, ann(), "office");
            operator.cancel(&[self.id], None).await.unwrap();
            close(store).await;
        }
        let old = self.old;
        self.works(&old, None).await;
        let (state, received) = (self.state().await, lines(&self.file()).len());
        match &*state {
            "cancelled" => assert!(is_cancelled && received == 0),
            "failed" => assert!(self.is_irreversible && self.kills > 0 && received == 0),
            "completed" if self.is_irreversible => assert_eq!(received, 1),
            // A process that died may have paid before.
            "completed" => assert!((1..=1 + self.kills).contains(&received), "{received}"),
            other => panic!("{other}"),
        }
        let store = self.open().await;
        machine_tests::stores::assert_intact(&store).await;
        close(store).await;
    }
}

/// Pays or dies, or does not start.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn pays_or_dies() {
    let Orders { file, now, is_irreversible, program, point } = orders();
    Act::Kill.at(&point, 0);
    let options = OpenOptions::new().clock(Hand::at(now));
    let store = options.sqlite(&file).await.unwrap();
    let mut programs = programs(is_irreversible).into_iter();
    let program = programs.find(|it| it.name == program).unwrap();
    runs((program.work)(&store, Bank { file })).await;
}

#[tokio::test]
async fn the_service_receives_what_the_approver_has_seen() {
    let mut random = Random::of("versions");
    let pairs: usize = setting("MACHINE_VERSION_PAIRS").unwrap_or(60);
    let (mut refusals, mut kills) = (0, 0);
    for _ in 0..pairs {
        let mut pair = Pair::new(&mut random).await;
        for _ in 0..=pair.random.below(3) {
            pair.step().await;
        }
        pair.ends().await;
        refusals += pair.refusals;
        kills += pair.kills;
    }
    eprintln!("{pairs} pairs, {refusals} refusals, {kills} kills");
    assert!(refusals > 0 && kills > 0, "{refusals} refusals, {kills} kills");
}
