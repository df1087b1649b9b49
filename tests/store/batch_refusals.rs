//! The reasons for which a batch is refused: then nothing is written, and everything comes back.

use std::collections::HashMap;

use machine::{
    contract::{
        AnyExecution, Contract, Effect, Execution, Settled, ToolSpec,
        execution::{Pending, Status},
    },
    effects::{Batch, Change, EffectError},
    store::{CommitError, OpenOptions},
    stored::Durable,
    typed::Refused,
};
use machine_tests::{
    Begin, Decide, Settle,
    actors::{ann, graph_runner, reasoning_node, tool_node},
    assert_err, class, forge,
    samples::{Ticket, mail, pending_mail, read},
};

use crate::store::{
    batch::Mix,
    own_key::{Booking, claim_of},
    service::{in_flight, receipt},
    support::{Place, applied, begin_of, gated, not_applied, on_file},
    unwritable::Vote,
};

on_file! {
    nothing_is_written_if_one_is_refused,
    a_key_that_was_held_is_taken_by_the_same_batch_later,
    the_outcome_of_a_batch_that_was_refused_can_be_settled_alone,
}

/// An item for which a batch is refused.
enum Bad {
    Create(Box<dyn Durable>),
    Commit(Box<dyn Durable>),
    Begin(Begin),
    Settle(Settle),
    Decide(Decide),
}

impl Bad {
    fn begin(pending: Execution<Pending>) -> Self {
        Self::Begin(begin_of(pending))
    }

    fn add<'a>(&'a mut self, batch: Batch<'a>) -> Batch<'a> {
        match self {
            Self::Create(machine) => batch.create(&mut **machine),
            Self::Commit(machine) => batch.commit(&mut **machine),
            Self::Begin(begin) => batch.change(begin),
            Self::Settle(settle) => batch.change(settle),
            Self::Decide(decide) => batch.change(decide),
        }
    }
}

/// Everything that a batch can be refused for on any store, by the name of the error. What comes
/// before a space says how.
const ERRORS: [&str; 27] = [
    "Conflict",
    "decided AlreadyDecided",
    "fenced Conflict",
    "AlreadyStored",
    "twin AlreadyStored",
    "NeverStored",
    "begun NeverStored",
    "decided NeverStored",
    "OtherStore",
    "created OtherStore",
    "Refused",
    "Unwritable",
    "AlreadyDone",
    "KeyHeld",
    "KeyReused",
    "Deferred",
    "started Deferred",
    "NeverRuns",
    "gate NotFound",
    "OtherAction",
    "GateChanged",
    "OtherOutcome",
    "tool EffectLowered",
    "key EffectLowered",
    "pending Imported",
    "gate Imported",
    "closed Conflict",
];

async fn bad(place: &Place, name: &str) -> Bad {
    let store = &place.store;
    match name {
        "Conflict" => {
            let id = place.stored(read("a.txt")).await.id();
            let theirs = place.pending(id).await.start(tool_node());
            store.commit(&mut place.pending(id).await.start(tool_node())).await.unwrap();
            Bad::Commit(Box::new(theirs))
        }
        "closed Conflict" => {
            let id = place.stored(mail("closed")).await.id();
            let stale = place.pending(id).await;
            let _ = store.cancel(place.pending(id).await, "no", tool_node()).await.unwrap();
            Bad::begin(stale)
        }
        "fenced Conflict" => fenced(place).await,
        "AlreadyStored" => Bad::Create(Box::new(place.stored(read("a.txt")).await)),
        "twin AlreadyStored" => {
            let mut pending = Execution::new(read("a.txt"));
            let twin: AnyExecution = forge::claim(&pending).verify().unwrap();
            store.create(&mut pending).await.unwrap();
            Bad::Create(Box::new(twin))
        }
        "NeverStored" => Bad::Commit(Box::new(Ticket::new().park())),
        "begun NeverStored" => Bad::begin(pending_mail("never stored")),
        "OtherStore" | "created OtherStore" => {
            let elsewhere = place.another().await;
            let machine = elsewhere.stored(read("a.txt")).await.start(tool_node());
            match name {
                "OtherStore" => Bad::Commit(Box::new(machine)),
                _ => Bad::Create(Box::new(machine)),
            }
        }
        "Refused" => Bad::Create(Box::new(pending_mail("refused").start(tool_node()))),
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
        "OtherOutcome" => {
            let (_theirs, permit) = place.begun(mail("theirs")).await;
            let (mine, _permit) = place.begun(mail("mine")).await;
            let outcome = applied(permit, "sent").await;
            Bad::Settle(Change::settle(mine, outcome, tool_node()))
        }
        "tool EffectLowered" => {
            let _ = place.stored(tool_call(Effect::Irreversible)).await;
            Bad::Create(Box::new(Execution::new(tool_call(Effect::Idempotent))))
        }
        "key EffectLowered" => {
            let pending = place.stored(read("a.txt")).await;
            let _ = place.done(read("a.txt").irreversible()).await;
            Bad::begin(pending)
        }
        "pending Imported" => {
            let pending: AnyExecution = forge::claim(&pending_mail("bob")).verify().unwrap();
            Bad::Create(Box::new(pending))
        }
        "gate Imported" => {
            let elsewhere = place.another().await;
            let (gate, _mail) = elsewhere.asked(mail("bob")).await;
            let id = gate.id();
            let _ = machine_tests::approve(&elsewhere.store, gate, ann()).await.unwrap();
            let claim = elsewhere.store.export(id).await.unwrap();
            Bad::Create(Box::new(claim.verify::<AnyExecution>().unwrap()))
        }
        gated => behind_a_gate(place, gated).await,
    }
}

async fn behind_a_gate(place: &Place, name: &str) -> Bad {
    let store = &place.store;
    match name {
        "Deferred" => Bad::begin(place.asked(mail("bob")).await.1.into_execution()),
        "started Deferred" => {
            let action = place.asked(read("a.txt")).await.1.into_execution();
            Bad::Commit(Box::new(action.start(tool_node())))
        }
        "NeverRuns" => {
            let (gate, mail) = place.asked(mail("bob")).await;
            let _ = store.withdraw(gate, "no", graph_runner()).await.unwrap();
            Bad::begin(mail.into_execution())
        }
        "gate NotFound" => {
            let (_gate, mut mail) = gated(mail("bob"));
            store.batch().create(mail.machine()).write().await.unwrap();
            Bad::begin(mail.into_execution())
        }
        "OtherAction" => {
            let (gate, mail) = place.asked(mail("bob")).await;
            let _ = machine_tests::approve(store, gate, ann()).await.unwrap();
            Bad::begin(place.stored(mail.context().clone()).await)
        }
        "GateChanged" => {
            let (mut gate, _never_stored) = gated(mail("bob"));
            store.batch().create(gate.machine()).write().await.unwrap();
            Bad::Decide(machine_tests::approval(gate, ann()))
        }
        "decided NeverStored" => {
            let (gate, _mail) = gated(mail("bob"));
            Bad::Decide(machine_tests::approval(gate, ann()))
        }
        "decided AlreadyDecided" => {
            let (gate, _mail) = place.asked(mail("bob")).await;
            let theirs = store.gate(gate.id()).await.unwrap();
            let _ = store.decline(theirs, "no", ann()).await.unwrap();
            Bad::Decide(machine_tests::approval(gate, ann()))
        }
        other => panic!("{other}"),
    }
}

/// A call of one tool, registered with this effect.
fn tool_call(effect: Effect) -> Contract {
    let tool = ToolSpec::idempotent("files", "delete").unwrap().raise(effect);
    Contract::tool_call(&tool, "{}", reasoning_node()).unwrap()
}

/// The outcome of a worker that was fenced during its call.
async fn fenced(place: &Place) -> Bad {
    let (running, permit) = place.begun(mail("fenced")).await;
    let call = in_flight(permit).await;
    let _ = place.store.fence(running.id(), "no answer", graph_runner()).await.unwrap();
    let outcome = call.answer(receipt("sent")).await;
    Bad::Settle(Change::settle(running, outcome, tool_node()))
}

/// For each error, wherever it is in the batch: nothing is written, everything comes back, and the
/// same batch without what was refused succeeds.
async fn nothing_is_written_if_one_is_refused(place: Place) {
    for name in ERRORS {
        for is_first in [true, false] {
            let place = place.another().await;
            let mut bad = bad(&place, name).await;
            let mut mix = Mix::new(&place).await;
            let before = place.dump();
            for _ in 0..2 {
                let batch = place.store.batch();
                let batch =
                    if is_first { mix.add(bad.add(batch)) } else { bad.add(mix.add(batch)) };
                let refused = batch.write().await;
                let Err(error) = refused else { panic!("{name} was written") };
                assert_eq!(name.split(' ').next_back(), Some(&*class(&error)), "{name}: {error}");
                assert_eq!(place.dump(), before, "{name}");
                mix.assert_back();
            }
            mix.add(place.store.batch()).write().await.unwrap();
            mix.assert_written(&place).await;
        }
    }
}

/// Refusals that only a file has: another process keeps it busy, rows were deleted by hand,
/// attempts were edited by hand. The same batch succeeds once that is over.
#[tokio::test]
async fn no_batch_is_written_to_a_broken_file() {
    let kept = "SELECT seal FROM kept_attempt WHERE no = 1";
    for (error, damage, repair) in [
        ("Busy", "BEGIN IMMEDIATE", "ROLLBACK"),
        (
            "NotFound",
            "DELETE FROM instance WHERE no = 1",
            "INSERT INTO instance SELECT * FROM kept_instance WHERE no = 1",
        ),
        (
            "BrokenAttempt",
            "UPDATE attempt SET seal = zeroblob(32) WHERE no = 1",
            &format!("UPDATE attempt SET seal = ({kept}) WHERE no = 1"),
        ),
    ] {
        let options = OpenOptions::new().busy_timeout(std::time::Duration::from_millis(10));
        let place = Place::with(options).await;
        let (running, permit) = place.begun(mail("trouble")).await;
        let raw = place.unprotected();
        for table in ["instance", "attempt"] {
            let sql = format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}");
            raw.execute(&sql, []).unwrap();
        }
        let outcome = not_applied(permit, "connection refused").await;
        let mut bad = Change::settle(running, outcome, tool_node());
        let mut mix = Mix::new(&place).await;
        raw.execute_batch(damage).unwrap();
        let before = place.dump();
        for _ in 0..2 {
            let refused = mix.add(place.store.batch().change(&mut bad)).write().await.unwrap_err();
            assert_eq!(class(&refused), error);
            assert_eq!(place.dump(), before, "{error}");
            mix.assert_back();
        }
        raw.execute_batch(repair).unwrap();
        mix.add(place.store.batch().change(&mut bad)).write().await.unwrap();
        mix.assert_written(&place).await;
        assert!(matches!(bad.finish(), Ok(Settled::Failed(_))), "{error}");
    }
}

/// The very same batch is tried again after its cause is gone.
async fn a_key_that_was_held_is_taken_by_the_same_batch_later(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let mut begin = begin_of(place.stored(mail("bob")).await);
    let mut ticket = Ticket::new();
    for _ in 0..2 {
        let refused = place.store.batch().create(&mut ticket).change(&mut begin).write().await;
        assert_err!(refused, EffectError::Commit(CommitError::KeyHeld { by, .. }) if *by == running.id());
        assert_eq!(ticket.journal().version(), 0);
    }
    let outcome = not_applied(permit, "connection refused").await;
    let _ = place.settled(running, outcome).await;
    place.store.batch().create(&mut ticket).change(&mut begin).write().await.unwrap();
    let (running, _permit) = begin.finish().unwrap();
    assert_eq!(place.status(running.id()).await, Status::Running);
    assert_eq!(ticket.journal().version(), 1);
}

/// The report of a fenced worker is an error of the batch, and late evidence for `settle`.
async fn the_outcome_of_a_batch_that_was_refused_can_be_settled_alone(place: Place) {
    let Bad::Settle(mut settle) = fenced(&place).await else { unreachable!() };
    let refused = place.store.batch().change(&mut settle).write().await;
    assert_err!(refused, EffectError::Commit(CommitError::Conflict { .. }));
    let (running, outcome) = settle.finish().unwrap_err();
    let settled = place.store.settle(running, outcome, tool_node()).await;
    assert_err!(settled, Refused { reason: EffectError::Fenced { .. }, .. });
}
