//! A is frozen in an irreversible call. B does not call again, and what A brings is evidence only.

use machine::{
    contract::{CallFact, Evidence},
    view::{ConsequenceView, Label},
};

use crate::{
    effects::{
        bank::{Bank, Dedup},
        tool::{Step, Teller, pay},
    },
    worker::{
        prelude::*,
        process::{Member, Office, Orders},
    },
};

/// A payment in a call in which A is frozen.
struct Payment {
    office: Office,
    bank: Bank,
    id: Id,
    a: Member,
}

impl Payment {
    async fn frozen(script: &[Step]) -> Self {
        let (office, bank) = (Office::open().await, Bank::open(Dedup::Nothing));
        let payment = pay("bob").timeout_after(Duration::from_millis(100));
        let id = create(&office.store, Execution::new(payment)).await;
        let teller = Teller::new(&bank, script);
        let mut a = office.pays("A", teller).start();
        a.process.freeze_between_commits(&office.file);
        Self { office, bank, id, a }
    }

    /// Starts another worker, which can pay, when the lease of A has ended.
    fn other(&self, name: &str) -> Member {
        Orders { is_later: true, ..self.office.pays(name, Teller::pays(&self.bank)) }.start()
    }

    /// A thaws, ends what it has begun, and does nothing else.
    fn thaw(&mut self) {
        self.a.terminate();
        self.a.process.thaw();
        self.a.stopped();
    }

    async fn has_ended(&self) -> bool {
        state(&self.office.store, self.id).await == "completed"
    }

    /// Without a change: `Store::in_doubt` checks its worker.
    async fn is_in_doubt(&self) -> bool {
        let execution = self.office.store.load(self.id).await.unwrap();
        ConsequenceView::of(&execution).consequence_label == Label::InDoubt
    }

    /// The facts of the call, in order; an entry of another kind is `None`.
    async fn facts(&self) -> Vec<Option<CallFact>> {
        let history = self.office.store.history(self.id).await.unwrap();
        history.entries.iter().map(CallFact::of).collect()
    }
}

#[tokio::test]
async fn frozen_before_it_pays() {
    let mut payment = Payment::frozen(&[Step::Freeze, Step::Pay]).await;
    assert_eq!(payment.bank.count(), 0);

    // B finds the call overdue, once the lease has ended. It does not know how it ended, and does
    // not try.
    let b = payment.other("B");
    until("it is in doubt", async || payment.is_in_doubt().await).await;
    until("B has nothing to do", async || {
        let raw = rusqlite::Connection::open(&payment.office.file).unwrap();
        let idle = "SELECT worker IS NULL AND wake_at > ?1 FROM work
                    JOIN instance ON no = instance WHERE status = 'waiting'";
        raw.query_row(idle, [machine::clock::now()], |row| row.get(0)).unwrap()
    })
    .await;
    b.stop();
    assert!(payment.is_in_doubt().await);
    assert_eq!(payment.bank.count(), 0);
    let before = payment.facts().await;

    payment.thaw();
    assert_eq!(payment.bank.count(), 1);
    // The state is as it was, and the evidence is there: its receipt, and that its call is over; no
    // transition.
    is(&payment.office.store, payment.id, "waiting").await;
    let after = payment.facts().await;
    assert_eq!(after[..before.len()], before);
    match &after[before.len()..] {
        [
            Some(CallFact::Evidence { evidence: Evidence::Applied(receipt), late: true, .. }),
            Some(CallFact::WorkerEnded { .. }),
        ] => assert_eq!(receipt, "receipt 1"),
        other => panic!("{other:?}"),
    }

    // A worker settles it by that evidence; no query is needed.
    let c = payment.other("C");
    until("it is settled", async || payment.has_ended().await).await;
    c.stop();
    let done = payment.office.store.load(payment.id).await.unwrap();
    let AnyExecution::Completed(done) = done else { panic!("{done:?}") };
    assert_eq!(done.state().result, "receipt 1");
    let facts: Vec<_> = payment.facts().await.into_iter().flatten().collect();
    let permits = facts.iter().filter(|fact| matches!(fact, CallFact::Permitted { .. })).count();
    assert_eq!(permits, 1, "{facts:?}");
    let confirmed = facts.iter().any(|fact| matches!(fact, CallFact::Confirmed { .. }));
    assert!(!confirmed, "{facts:?}");
    assert_eq!(payment.bank.count(), 1);
    payment.office.assert_intact().await;
}

/// B asks the bank, and that it was paid counts at any time. What A brings later is kept.
#[tokio::test]
async fn frozen_after_it_has_paid() {
    let mut payment = Payment::frozen(&[Step::Pay, Step::Freeze]).await;
    assert_eq!(payment.bank.count(), 1);
    let b = payment.other("B");
    until("it is settled", async || payment.has_ended().await).await;
    b.stop();

    payment.thaw();
    let facts: Vec<_> = payment.facts().await.into_iter().flatten().collect();
    let confirmed = |fact: &CallFact| matches!(fact, CallFact::Confirmed { applied: true, .. });
    assert!(facts.iter().any(confirmed), "{facts:?}");
    let late = Evidence::Applied("receipt 1".to_owned());
    let is_late = |fact: &CallFact| matches!(fact, CallFact::Evidence { evidence, late: true, .. } if *evidence == late);
    assert!(facts.iter().any(is_late), "{facts:?}");
    assert!(payment.bank.count() == 1 && payment.has_ended().await);
    payment.office.assert_intact().await;
}
