//! A batch of any mix of writes happens together, or not at all.

use machine::{
    Id,
    contract::{
        AnyExecution, Execution, Settled,
        execution::{Running, Status},
    },
    effects::{Batch, Change, EffectError},
    store::{CommitError, Query},
    stored::Durable,
};
use machine_tests::{
    Begin, Settle,
    actors::{graph_runner, tool_node},
    assert_err, forge,
    samples::{AnyTicket, Ticket, asked, mail, read},
};

use crate::store::support::{Place, applied, begin, begin_of, on_file};

on_file! {
    the_same_machine_twice_is_refused,
    ten_thousand_machines_are_one_batch,
}

/// One item of each kind, for machines of several kinds.
pub(crate) struct Mix {
    created: AnyTicket,
    moved: AnyExecution,
    begin: Option<Begin>,
    settle: Option<Settle>,
    begun: Id,
    settled: Id,
}

impl Mix {
    pub(crate) async fn new(place: &Place) -> Self {
        let moved = place.created(asked("Deploy?")).await;
        let moved = moved.resume(graph_runner()).succeed("yes".to_owned(), graph_runner());
        let pending = place.stored(mail("mix")).await;
        let (running, permit) = place.begun(mail("settled")).await;
        let (begun, settled) = (pending.id(), running.id());
        let outcome = applied(permit, "250 queued").await;
        Self {
            created: Ticket::new().park().into(),
            moved: moved.into(),
            begin: Some(begin_of(pending)),
            settle: Some(Change::settle(running, outcome, tool_node())),
            begun,
            settled,
        }
    }

    pub(crate) fn add<'a>(&'a mut self, batch: Batch<'a>) -> Batch<'a> {
        let batch = batch.create(&mut self.created).commit(&mut self.moved);
        batch.change(self.begin.as_mut().unwrap()).change(self.settle.as_mut().unwrap())
    }

    /// Everything is as it was before a batch that was not written.
    pub(crate) fn assert_back(&mut self) {
        assert_eq!(self.created.journal().version(), 0);
        assert_eq!(self.created.journal().uncommitted().len(), 2);
        assert_eq!(self.moved.journal().version(), 3);
        assert_eq!(self.moved.journal().uncommitted().len(), 2);
        let planned = self.begin.take().unwrap().finish().unwrap_err();
        let journal = planned.journal();
        assert_eq!((planned.id(), journal.version()), (self.begun, 1));
        assert!(journal.uncommitted().is_empty());
        self.begin = Some(Change::begin(planned, tool_node()));
        let (running, outcome): (Execution<Running>, _) =
            self.settle.take().unwrap().finish().unwrap_err();
        assert_eq!((running.id(), running.journal().version()), (self.settled, 4));
        assert!(running.journal().uncommitted().is_empty());
        self.settle = Some(Change::settle(running, outcome, tool_node()));
    }

    pub(crate) async fn assert_written(self, place: &Place) {
        let (running, permit) = self.begin.unwrap().finish().unwrap();
        assert_eq!(permit.attempt().execution_id, running.id());
        let Settled::Completed(done) = self.settle.unwrap().finish().unwrap() else { panic!() };
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
        place.assert_intact().await;
    }
}

/// A machine is in a batch at most once.
async fn the_same_machine_twice_is_refused(place: Place) {
    let id = place.stored(read("a.txt")).await.id();
    let mut one = place.pending(id).await.start(tool_node());
    let mut other = place.pending(id).await.start(tool_node());
    let before = place.dump();
    let refused = place.store.batch().commit(&mut one).commit(&mut other).write().await;
    assert_err!(refused, EffectError::Twice { id: of } if *of == id);

    let mut new = Ticket::new();
    let mut twin: AnyTicket = forge::claim(&new).verify().unwrap();
    let refused = place.store.batch().create(&mut new).create(&mut twin).write().await;
    assert_err!(refused, EffectError::Twice { id } if *id == new.id());
    assert_eq!(place.dump(), before);

    let id = place.stored(mail("bob")).await.id();
    let mut begin = begin_of(place.pending(id).await);
    let mut cancelled = AnyExecution::from(place.pending(id).await.start(tool_node()));
    let before = place.dump();
    let refused = place.store.batch().change(&mut begin).commit(&mut cancelled).write().await;
    assert!(refused.is_err(), "it began, and its copy was written too");
    let mut again = begin_of(place.pending(id).await);
    let refused = place.store.batch().change(&mut begin).change(&mut again).write().await;
    assert_err!(refused, EffectError::Twice { id: of } if *of == id);
    assert_eq!(place.dump(), before);
    place.store.batch().change(&mut begin).write().await.unwrap();
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
    assert_err!(refused, EffectError::Commit(CommitError::Conflict { id }) if *id == conflicting);
    let closed_ones = Query::new().status("closed");
    assert_eq!(place.lines(&closed_ones).await.len(), 1);

    closed.pop();
    let batch = closed.iter_mut().fold(place.store.batch(), |batch, one| batch.commit(one));
    batch.write().await.unwrap();
    assert_eq!(place.lines(&closed_ones.limit(usize::MAX)).await.len(), count);
    let _ = begin(&place.store, place.stored(mail("bob")).await).await.unwrap();
}
