//! A batch of any mix of writes happens together, or not at all.

use std::collections::HashMap;

use machine::{
    Id,
    actor::{GraphRunner, ReasoningNode, ToolNode},
    clock,
    contract::{
        AnyExecution, Contract, Execution, Settled, defer,
        execution::{Pending, Running, Status},
    },
    store::{Batch, Begin, CommitError, OpenOptions, Query, Settle},
    stored::Durable,
    typed::Refused,
};
use machine_tests::{
    assert_err, forge,
    samples::{AnyTicket, Ticket, ask, asked, mail, pending_mail, read},
};

use crate::{
    own_key::{Booking, claim_of},
    support::{Place, applied, begin, not_applied, on_both, without_digests},
    unwritable::Vote,
};

on_both! {
    any_mix_is_written_together,
    an_empty_batch_writes_nothing,
    what_has_nothing_to_write_is_left_out,
    nothing_is_written_if_one_is_refused,
    a_key_that_was_held_is_taken_by_the_same_batch_later,
    a_gate_may_open_in_the_batch_of_what_waits_behind_it,
    a_gate_that_does_not_open_in_the_batch_keeps_it_back,
    a_gate_that_another_closed_opens_nothing,
    an_idempotent_action_may_start_in_the_batch_of_its_gate,
    the_same_machine_twice_is_refused,
    a_machine_is_written_by_the_batch_after_one_that_was_refused,
    ten_thousand_machines_are_one_batch,
}

/// One item of each kind, for machines of several kinds.
struct Mix {
    created: AnyTicket,
    moved: AnyExecution,
    begin: Option<Begin>,
    settle: Option<Settle>,
    begun: Id,
    settled: Id,
}

impl Mix {
    async fn new(place: &Place) -> Self {
        let mut moved = asked("Deploy?");
        place.store.create(&mut moved).await.unwrap();
        let moved = moved.resume(&GraphRunner).succeed("yes".to_owned(), &GraphRunner);
        let pending = place.stored(mail("mix")).await;
        let (running, permit) = place.begun(mail("settled")).await;
        let (begun, settled) = (pending.id(), running.id());
        let outcome = applied(permit, "250 queued").await;
        Self {
            created: Ticket::new().park().into(),
            moved: moved.into(),
            begin: Some(Begin::new(pending, &ToolNode)),
            settle: Some(Settle::new(running, outcome, &ToolNode)),
            begun,
            settled,
        }
    }

    fn add<'a>(&'a mut self, batch: Batch<'a>) -> Batch<'a> {
        let batch = batch.create(&mut self.created).commit(&mut self.moved);
        batch.begin(self.begin.as_mut().unwrap()).settle(self.settle.as_mut().unwrap())
    }

    /// Everything is as it was before a batch that was not written.
    fn assert_back(&mut self) {
        assert_eq!(self.created.journal().version(), 0);
        assert_eq!(self.created.journal().uncommitted().len(), 2);
        assert_eq!(self.moved.journal().version(), 3);
        assert_eq!(self.moved.journal().uncommitted().len(), 2);
        let pending: Execution<Pending> = self.begin.take().unwrap().into_pending().unwrap();
        assert_eq!((pending.id(), pending.journal().version()), (self.begun, 1));
        assert!(pending.journal().uncommitted().is_empty());
        self.begin = Some(Begin::new(pending, &ToolNode));
        let (running, outcome): (Execution<Running>, _) =
            self.settle.take().unwrap().into_running().unwrap();
        assert_eq!((running.id(), running.journal().version()), (self.settled, 4));
        assert!(running.journal().uncommitted().is_empty());
        self.settle = Some(Settle::new(running, outcome, &ToolNode));
    }

    async fn assert_written(self, place: &Place) {
        let (running, permit) = self.begin.unwrap().begun().unwrap();
        assert_eq!(permit.execution_id(), running.id());
        let Settled::Completed(done) = self.settle.unwrap().settled().unwrap() else { panic!() };
        for (machine, version) in
            [(&self.created as &dyn Durable, 2), (&self.moved, 5), (&running, 4), (&done, 6)]
        {
            let journal = machine.journal();
            assert_eq!((journal.version(), journal.uncommitted().len()), (version, 0));
            assert_eq!(place.entries(journal.id()).await.len() as u64, version);
        }
        let created: AnyTicket = place.store.load(self.created.id()).await.unwrap();
        assert!(matches!(created, AnyTicket::Waiting(_)));
        assert_eq!(place.status(self.moved.id()).await, Status::Completed);
        assert_eq!(place.status(self.begun).await, Status::Running);
        assert_eq!(place.status(self.settled).await, Status::Completed);
        assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
    }
}

async fn any_mix_is_written_together(place: Place) {
    let mut mix = Mix::new(&place).await;
    mix.add(place.store.batch()).write().await.unwrap();
    mix.assert_written(&place).await;
}

async fn an_empty_batch_writes_nothing(place: Place) {
    let before = place.dump().await;
    place.store.batch().write().await.unwrap();
    assert_eq!(place.dump().await, before);
}

/// A commit without anything new writes nothing, also next to others.
async fn what_has_nothing_to_write_is_left_out(place: Place) {
    let (mut idle, mut ticket) = (place.stored(read("a.txt")).await, Ticket::new());
    let before = place.lines(&Query::new()).await;
    place.store.batch().commit(&mut idle).create(&mut ticket).write().await.unwrap();
    assert_eq!(place.lines(&Query::new()).await[..1], before);
    assert_eq!((idle.journal().version(), ticket.journal().version()), (1, 1));
    // The same machine may be there twice then.
    let mut again = place.pending(idle.id()).await.start(&ToolNode);
    place.store.batch().commit(&mut idle).commit(&mut again).write().await.unwrap();
}

/// What a batch is refused for.
enum Bad {
    Create(Box<dyn Durable>),
    Commit(Box<dyn Durable>),
    Begin(Box<Begin>),
    Settle(Box<Settle>),
}

impl Bad {
    fn begin(pending: Execution<Pending>) -> Self {
        Self::Begin(Box::new(Begin::new(pending, &ToolNode)))
    }

    fn add<'a>(&'a mut self, batch: Batch<'a>) -> Batch<'a> {
        match self {
            Self::Create(machine) => batch.create(&mut **machine),
            Self::Commit(machine) => batch.commit(&mut **machine),
            Self::Begin(begin) => batch.begin(begin),
            Self::Settle(settle) => batch.settle(settle),
        }
    }
}

/// Everything that a batch can be refused for on any store, by the name of the error.
const ERRORS: [&str; 19] = [
    "Conflict",
    "AlreadyStored",
    "a twin",
    "NeverStored",
    "begin NeverStored",
    "OtherStore",
    "create OtherStore",
    "Refused",
    "Unwritable",
    "AlreadyDone",
    "KeyHeld",
    "KeyReused",
    "Deferred",
    "started Deferred",
    "NeverRuns",
    "Gate",
    "NeedsNoPermit",
    "OtherOutcome",
    "fenced",
];

async fn bad(place: &Place, error: &str) -> Bad {
    let store = &place.store;
    match error {
        "Conflict" => {
            let id = place.stored(read("a.txt")).await.id();
            let theirs = place.pending(id).await.start(&ToolNode);
            store.commit(&mut place.pending(id).await.start(&ToolNode)).await.unwrap();
            Bad::Commit(Box::new(theirs))
        }
        "AlreadyStored" => Bad::Create(Box::new(place.stored(read("a.txt")).await)),
        "a twin" => {
            let mut pending = Execution::new(read("a.txt"));
            let twin: AnyExecution = forge::claim(&pending).verify().unwrap();
            store.create(&mut pending).await.unwrap();
            Bad::Create(Box::new(twin))
        }
        "NeverStored" => Bad::Commit(Box::new(Ticket::new().park())),
        "begin NeverStored" => Bad::begin(pending_mail("never stored")),
        "OtherStore" | "create OtherStore" => {
            let elsewhere = place.another().await;
            let machine = elsewhere.stored(read("a.txt")).await.start(&ToolNode);
            match error {
                "OtherStore" => Bad::Commit(Box::new(machine)),
                _ => Bad::Create(Box::new(machine)),
            }
        }
        "Refused" => Bad::Create(Box::new(pending_mail("refused").start(&ToolNode))),
        "Unwritable" => Bad::Create(Box::new(Vote::new().count(HashMap::from([((1, 2), 3)])))),
        "AlreadyDone" => {
            let _ = place.done(mail("done")).await;
            Bad::Create(Box::new(pending_mail("done")))
        }
        "KeyHeld" => {
            let (_running, _permit) = place.begun(mail("held")).await;
            Bad::begin(place.stored(mail("held")).await)
        }
        "KeyReused" => {
            let (_running, _permit) = place.begun(mail("held")).await;
            Bad::Create(Box::new(Booking::new(claim_of(&mail("held"))).book()))
        }
        "Deferred" | "started Deferred" | "NeverRuns" | "Gate" => {
            let action = if error == "started Deferred" { read("a.txt") } else { mail("deferred") };
            let (gate, mut action) = defer(action, "Really?", &ReasoningNode).unwrap();
            store.create(&mut action).await.unwrap();
            let mut gate = AnyExecution::from(ask(gate));
            if error == "NeverRuns" {
                let no = machine::contract::execution::Event::Cancel { reason: "no".to_owned() };
                gate.apply_mut(no, &GraphRunner).unwrap();
            }
            if error != "Gate" {
                store.create(&mut gate).await.unwrap();
            }
            match error {
                "started Deferred" => Bad::Commit(Box::new(action.start(&ToolNode))),
                _ => Bad::begin(action),
            }
        }
        "NeedsNoPermit" => Bad::begin(place.stored(read("a.txt")).await),
        "OtherOutcome" => {
            let (_theirs, permit) = place.begun(mail("theirs")).await;
            let (mine, _permit) = place.begun(mail("mine")).await;
            let outcome = applied(permit, "sent").await;
            Bad::Settle(Box::new(Settle::new(mine, outcome, &ToolNode)))
        }
        "fenced" => {
            let (running, permit) = place.begun(mail("fenced").timeout_seconds(0)).await;
            let now = clock::now();
            while clock::now() <= now {
                std::thread::yield_now();
            }
            assert_eq!(place.recovered().await.len(), 1);
            let outcome = applied(permit, "sent").await;
            Bad::Settle(Box::new(Settle::new(running, outcome, &ToolNode)))
        }
        other => panic!("{other}"),
    }
}

fn is(error: &CommitError, name: &str) -> bool {
    match error {
        CommitError::Conflict { .. } => name == "Conflict" || name == "fenced",
        CommitError::AlreadyStored { .. } => name == "AlreadyStored" || name == "a twin",
        CommitError::NeverStored { .. } => name.ends_with("NeverStored"),
        CommitError::OtherStore { .. } => name.ends_with("OtherStore"),
        CommitError::Refused { .. } => name == "Refused",
        CommitError::Unwritable { .. } => name == "Unwritable",
        CommitError::AlreadyDone { .. } => name == "AlreadyDone",
        CommitError::KeyHeld { .. } => name == "KeyHeld",
        CommitError::KeyReused { .. } => name == "KeyReused",
        CommitError::Deferred { .. } => name.ends_with("Deferred"),
        CommitError::NeverRuns { .. } => name == "NeverRuns",
        CommitError::Gate { .. } => name == "Gate",
        CommitError::NeedsNoPermit { .. } => name == "NeedsNoPermit",
        CommitError::OtherOutcome { .. } => name == "OtherOutcome",
        _ => false,
    }
}

/// For each error, wherever it is in the batch: nothing is written, everything comes back, and the
/// same batch without what was refused succeeds.
async fn nothing_is_written_if_one_is_refused(place: Place) {
    for name in ERRORS {
        for is_first in [true, false] {
            let place = place.another().await;
            let mut bad = bad(&place, name).await;
            let mut mix = Mix::new(&place).await;
            let before = place.dump().await;
            for _ in 0..2 {
                let batch = place.store.batch();
                let batch =
                    if is_first { mix.add(bad.add(batch)) } else { bad.add(mix.add(batch)) };
                let refused = batch.write().await;
                let Err(error) = refused else { panic!("{name} was written") };
                assert!(is(&error, name), "{name}: {error:?}");
                assert_eq!(place.dump().await, before, "{name}");
                mix.assert_back();
            }
            mix.add(place.store.batch()).write().await.unwrap();
            mix.assert_written(&place).await;
        }
    }
}

/// What only a file has: another process that keeps it busy, rows that somebody deleted, attempts
/// that somebody edited. The same batch succeeds once that is over.
#[tokio::test]
async fn nothing_is_written_to_a_file_in_trouble() {
    for (error, repair) in [
        ("busy", ""),
        ("NotFound", "INSERT INTO instance SELECT * FROM kept_instance WHERE no = 1"),
        ("BrokenAttempt", "UPDATE attempt SET seal = (SELECT seal FROM kept_attempt)"),
    ] {
        let place =
            Place::with(OpenOptions::new().busy_timeout(std::time::Duration::from_millis(10)))
                .await;
        let (running, permit) = place.begun(mail("trouble")).await;
        let raw = place.unprotected();
        for table in ["instance", "attempt"] {
            let sql = format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}");
            raw.execute(&sql, []).unwrap();
        }
        let outcome = not_applied(permit, "connection refused").await;
        let mut bad = Settle::new(running, outcome, &ToolNode);
        let mut mix = Mix::new(&place).await;
        match error {
            "busy" => raw.execute_batch("BEGIN IMMEDIATE").unwrap(),
            "NotFound" => drop(raw.execute("DELETE FROM instance WHERE no = 1", []).unwrap()),
            _ => drop(
                raw.execute("UPDATE attempt SET seal = zeroblob(32) WHERE no = 1", []).unwrap(),
            ),
        }
        let before = place.dump().await;
        for _ in 0..2 {
            let refused = mix.add(place.store.batch().settle(&mut bad)).write().await.unwrap_err();
            let expected = match &refused {
                CommitError::Unavailable(unavailable) => error == "busy" && unavailable.is_busy(),
                CommitError::NotFound { .. } => error == "NotFound",
                CommitError::BrokenAttempt { .. } => error == "BrokenAttempt",
                _ => false,
            };
            assert!(expected, "{error}: {refused:?}");
            assert_eq!(place.dump().await, before, "{error}");
            mix.assert_back();
        }
        match error {
            "busy" => raw.execute_batch("ROLLBACK").unwrap(),
            "NotFound" => drop(raw.execute(repair, []).unwrap()),
            _ => drop(raw.execute(&format!("{repair} WHERE no = 1"), []).unwrap()),
        }
        mix.add(place.store.batch().settle(&mut bad)).write().await.unwrap();
        mix.assert_written(&place).await;
        assert!(matches!(bad.settled(), Some(Settled::Failed(_))), "{error}");
    }
}

/// The very same batch is tried again after its cause is gone.
async fn a_key_that_was_held_is_taken_by_the_same_batch_later(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let mut begin = Begin::new(place.stored(mail("bob")).await, &ToolNode);
    let mut ticket = Ticket::new();
    for _ in 0..2 {
        let refused = place.store.batch().create(&mut ticket).begin(&mut begin).write().await;
        assert_err!(refused, CommitError::KeyHeld { by, .. } if *by == running.id());
        assert_eq!(ticket.journal().version(), 0);
    }
    let outcome = not_applied(permit, "connection refused").await;
    let _ = place.store.settle(running, outcome, &ToolNode).await.unwrap();
    place.store.batch().create(&mut ticket).begin(&mut begin).write().await.unwrap();
    let (running, _permit) = begin.begun().unwrap();
    assert_eq!(place.status(running.id()).await, Status::Running);
    assert_eq!(ticket.journal().version(), 1);
}

async fn deferred(place: &Place, contract: Contract) -> (AnyExecution, Execution<Pending>) {
    let (gate, mut action) = defer(contract, "Send it?", &ReasoningNode).unwrap();
    let mut gate = ask(gate);
    place.store.batch().create(&mut gate).create(&mut action).write().await.unwrap();
    (gate.into(), action)
}

fn answered(gate: AnyExecution) -> AnyExecution {
    let AnyExecution::Waiting(waiting) = gate else { panic!("{gate:?}") };
    waiting.resume(&GraphRunner).succeed("yes".to_owned(), &GraphRunner).into()
}

/// The answer and the begin behind it are one batch, in either order.
async fn a_gate_may_open_in_the_batch_of_what_waits_behind_it(place: Place) {
    for gate_is_first in [true, false] {
        let place = place.another().await;
        let (gate, mail) = deferred(&place, mail("bob")).await;
        let mut gate = answered(gate);
        let mut begin = Begin::new(mail, &ToolNode);
        let batch = place.store.batch();
        let batch = if gate_is_first {
            batch.commit(&mut gate).begin(&mut begin)
        } else {
            batch.begin(&mut begin).commit(&mut gate)
        };
        batch.write().await.unwrap();
        let (running, permit) = begin.begun().unwrap();
        assert_eq!(permit.execution_id(), running.id());
        assert_eq!(place.status(gate.journal().id()).await, Status::Completed);
    }
}

async fn a_gate_that_does_not_open_in_the_batch_keeps_it_back(place: Place) {
    // Refused in the batch.
    let (gate, mail_to_bob) = deferred(&place, mail("bob")).await;
    let AnyExecution::Waiting(waiting) = gate else { panic!("{gate:?}") };
    let mut gate = waiting.cancel("no".to_owned(), &GraphRunner);
    let mut begin = Begin::new(mail_to_bob, &ToolNode);
    let before = place.dump().await;
    let refused = place.store.batch().commit(&mut gate).begin(&mut begin).write().await;
    assert_err!(refused, CommitError::NeverRuns { gate: by, status: Status::Cancelled, .. }
        if *by == gate.id());
    assert_eq!(place.dump().await, before);

    // Only resumed in the batch.
    let (gate, mail_to_ann) = deferred(&place, mail("ann")).await;
    let AnyExecution::Waiting(waiting) = gate else { panic!("{gate:?}") };
    let mut gate = waiting.resume(&GraphRunner);
    let mut begin = Begin::new(mail_to_ann, &ToolNode);
    let refused = place.store.batch().commit(&mut gate).begin(&mut begin).write().await;
    assert_err!(refused, CommitError::Deferred { status: Status::Running, .. });

    // Another gate is answered in the batch.
    let (_gate, mail_to_carl) = deferred(&place, mail("carl")).await;
    let (other, _mail) = deferred(&place, mail("dora")).await;
    let mut other = answered(other);
    let mut begin = Begin::new(mail_to_carl, &ToolNode);
    let refused = place.store.batch().commit(&mut other).begin(&mut begin).write().await;
    assert_err!(refused, CommitError::Deferred { status: Status::Waiting, .. });
}

/// The batch has a stale answer: another process cancelled the gate in the meantime.
async fn a_gate_that_another_closed_opens_nothing(place: Place) {
    let (gate, mail) = deferred(&place, mail("bob")).await;
    let id = mail.id();
    let mut theirs: AnyExecution = place.store.load(gate.journal().id()).await.unwrap();
    let no = machine::contract::execution::Event::Cancel { reason: "no".to_owned() };
    theirs.apply_mut(no, &GraphRunner).unwrap();
    place.store.commit(&mut theirs).await.unwrap();
    let mut gate = answered(gate);
    let mut begin = Begin::new(mail, &ToolNode);
    let before = place.dump().await;
    let refused = place.store.batch().commit(&mut gate).begin(&mut begin).write().await;
    assert_err!(refused, CommitError::Conflict { id } if *id == gate.journal().id());
    assert_eq!(place.dump().await, before);
    assert_eq!(place.status(id).await, Status::Pending);
}

async fn an_idempotent_action_may_start_in_the_batch_of_its_gate(place: Place) {
    let (gate, action) = deferred(&place, read("secret.txt")).await;
    let (mut gate, mut running) = (answered(gate), action.start(&ToolNode));
    assert_err!(place.store.commit(&mut running).await, CommitError::Deferred { .. });
    place.store.batch().commit(&mut running).commit(&mut gate).write().await.unwrap();
    assert_eq!(place.status(running.id()).await, Status::Running);
}

/// A machine is in a batch once, whatever is to happen to it.
async fn the_same_machine_twice_is_refused(place: Place) {
    let id = place.stored(read("a.txt")).await.id();
    let mut one = place.pending(id).await.start(&ToolNode);
    let mut other = place.pending(id).await.start(&ToolNode);
    let before = place.dump().await;
    let refused = place.store.batch().commit(&mut one).commit(&mut other).write().await;
    assert_err!(refused, CommitError::Twice { id: of } if *of == id);

    let mut new = Ticket::new();
    let mut twin: AnyTicket = forge::claim(&new).verify().unwrap();
    let refused = place.store.batch().create(&mut new).create(&mut twin).write().await;
    assert_err!(refused, CommitError::Twice { id } if *id == new.id());
    assert_eq!(place.dump().await, before);

    let id = place.stored(mail("bob")).await.id();
    let mut begin = Begin::new(place.pending(id).await, &ToolNode);
    let mut cancelled = AnyExecution::from(place.pending(id).await.start(&ToolNode));
    let before = place.dump().await;
    let refused = place.store.batch().begin(&mut begin).commit(&mut cancelled).write().await;
    assert!(refused.is_err(), "it began, and its copy was written too");
    let mut again = Begin::new(place.pending(id).await, &ToolNode);
    let refused = place.store.batch().begin(&mut begin).begin(&mut again).write().await;
    assert_err!(refused, CommitError::Twice { id: of } if *of == id);
    assert_eq!(place.dump().await, before);
    place.store.batch().begin(&mut begin).write().await.unwrap();
}

/// A refused batch leaves no trace in its machines: what is written later is what happened.
async fn a_machine_is_written_by_the_batch_after_one_that_was_refused(place: Place) {
    let mut ticket = Ticket::new();
    let mut bad = pending_mail("bob").start(&ToolNode);
    let refused = place.store.batch().create(&mut ticket).create(&mut bad).write().await;
    assert_err!(refused, CommitError::Refused { .. });
    let mut parked = ticket.park();
    let written = parked.journal().uncommitted().to_vec();
    place.store.create(&mut parked).await.unwrap();
    assert_eq!(without_digests(place.entries(parked.id()).await), written);
    assert_eq!(parked.journal().version(), 2);
}

/// What a fenced worker has to report is an error of the batch, and late evidence for `settle`.
#[tokio::test]
async fn the_outcome_of_a_batch_that_was_refused_can_be_settled_alone() {
    for place in [Place::new().await, Place::memory()] {
        let Bad::Settle(mut settle) = bad(&place, "fenced").await else { unreachable!() };
        let refused = place.store.batch().settle(&mut settle).write().await;
        assert_err!(refused, CommitError::Conflict { .. });
        let (running, outcome) = settle.into_running().unwrap();
        let settled = place.store.settle(running, outcome, &ToolNode).await;
        assert_err!(settled, Refused { reason: CommitError::Fenced { .. }, .. });
    }
}

/// All of them, in one transaction; with `MACHINE_LARGE_TESTS` ten times as many.
async fn ten_thousand_machines_are_one_batch(place: Place) {
    let is_large = std::env::var_os("MACHINE_LARGE_TESTS").is_some();
    let count = if is_large { 100_000 } else { 10_000 };
    let mut tickets: Vec<_> = (0..count).map(|_| Ticket::new().park()).collect();
    let batch = tickets.iter_mut().fold(place.store.batch(), |batch, one| batch.create(one));
    batch.write().await.unwrap();
    assert!(tickets.iter().all(|ticket| ticket.journal().version() == 2));
    let position = place.store.position().await.unwrap().to_string();
    assert_eq!(position.split_once('.').unwrap().1, (2 * count).to_string());

    // One that is refused keeps all of them back.
    let mut closed: Vec<AnyTicket> =
        tickets.into_iter().map(|one| one.close("done".to_owned(), 1.0).into()).collect();
    let last = closed.last_mut().unwrap();
    let mut overtaking: AnyTicket = place.store.load(last.id()).await.unwrap();
    let close = || machine_tests::samples::ticket::Event::Close {
        verdict: "first".to_owned(),
        answer: 2.0,
    };
    overtaking.apply_mut(close(), &machine::actor::Anyone).unwrap();
    place.store.commit(&mut overtaking).await.unwrap();
    let conflicting = last.id();
    let batch = closed.iter_mut().fold(place.store.batch(), |batch, one| batch.commit(one));
    let refused = batch.write().await;
    assert_err!(refused, CommitError::Conflict { id } if *id == conflicting);
    let closed_ones = Query::new().status("closed");
    assert_eq!(place.lines(&closed_ones).await.len(), 1);

    closed.pop();
    let batch = closed.iter_mut().fold(place.store.batch(), |batch, one| batch.commit(one));
    batch.write().await.unwrap();
    assert_eq!(place.lines(&closed_ones.limit(usize::MAX)).await.len(), count);
    let _ = begin(&place.store, place.stored(mail("bob")).await).await.unwrap();
}
