//! A service that did the thing and then ended badly is called once, and leaves a doubt that ends.

use crate::effects::{
    bank::Dedup,
    office::Office,
    prelude::*,
    tool::{Pay, Step, Teller, pay},
    worker::Report,
};

const TIMEOUT: Duration = Duration::from_millis(50);

async fn planned(contract: Contract) -> (Office, Id) {
    let office = Office::open(Dedup::Nothing).await;
    let id = office.planned(contract).await;
    (office, id)
}

impl Office {
    /// One payment was made, its outcome is unknown: nothing calls again, in this or another
    /// process.
    async fn is_in_doubt(&self, id: Id) {
        assert_eq!(self.bank.count(), 1);
        assert_eq!(self.label(id).await, Label::InDoubt);
        assert_err!(self.store.resume::<Waiting>(id).await, StateError::InDoubt { .. });
        let found = self.store.recover().await.unwrap();
        assert!(found.in_doubt.iter().any(|doubt| doubt.id() == id), "{found:?}");
        assert_eq!(self.pays(id), Report::NotPending);
        self.refuses_to_pay(pay("bob"), "KeyHeld").await;
        assert_eq!(self.bank.count(), 1);
    }

    /// It has come out that the payment was made: nothing calls again.
    async fn has_paid(&self, id: Id) {
        assert_eq!(self.label(id).await, Label::Success);
        self.is_done(pay("bob"), id).await;
        assert_eq!(self.bank.count(), 1);
        self.assert_intact().await;
    }

    /// It is in doubt, and the bank knows what was paid under the key.
    async fn asks_the_bank(&self, id: Id) {
        self.is_in_doubt(id).await;
        let doubt = self.store.in_doubt(id).await.unwrap();
        let teller = Teller::pays(&self.bank);
        match self.store.ask_service::<Pay>(doubt, &teller, tool_node()).await.unwrap() {
            Settled::Completed(done) => assert_eq!(done.state().result, "receipt 1"),
            other => panic!("{other:?}"),
        }
        self.has_paid(id).await;
    }

    /// It is in doubt, and a person finds the payment.
    async fn asks_a_person(&self, id: Id) {
        self.is_in_doubt(id).await;
        self.confirm(self.store.in_doubt(id).await.unwrap()).await;
        self.has_paid(id).await;
    }

    /// Its receipt comes late, and settles it.
    async fn takes_the_receipt(&self, id: Id) {
        self.is_completed_late(id, "receipt 1").await;
        self.has_paid(id).await;
    }
}

/// Pays in another process, which then reports that it does not know: it failed, it panicked, or it
/// timed out and ended.
#[tokio::test]
async fn it_ended_badly() {
    for (last, contract) in [
        (Step::Fail, pay("bob")),
        (Step::Panic, pay("bob")),
        (Step::Hang, pay("bob").timeout_after(TIMEOUT)),
    ] {
        let (office, id) = planned(contract).await;
        let mut teller = office.teller(&[Step::Pay, last]);
        teller.leaves_at_timeout = true;
        let mut worker = office.start("pays", id, teller);
        assert_eq!(worker.hear::<Report>(), Report::InDoubt);
        worker.join();
        office.asks_the_bank(id).await;
    }
}

/// The receipt is late, and it is taken.
#[tokio::test]
async fn it_timed_out_and_answered_later() {
    let (office, id) = planned(pay("bob").timeout_after(TIMEOUT)).await;
    let worker = office.waits_for_reply(id);
    let doubt = office.overdue(id).await;
    assert_is!(office.refuses_denial(doubt).await.1, EffectError::WorkerAlive { .. });
    office.is_in_doubt(id).await;
    office.bank.release();
    office.hears_late(worker, id, &Office::receipt(1)).await;
    office.takes_the_receipt(id).await;
}

/// It does not know even then, and has paid.
#[tokio::test]
async fn it_timed_out_and_failed_later() {
    let (office, id) = planned(pay("bob").timeout_after(TIMEOUT)).await;
    office.bank.hold_replies();
    let mut worker = office.follows(id, &[Step::Pay, Step::Fail]);
    office.bank.wait_for_payments(1);
    let _ = office.overdue(id).await;
    office.bank.release();
    assert_is!(worker.hear(), Report::Late(Evidence::Unknown(_)));
    worker.join();
    office.asks_the_bank(id).await;
}

/// It does not know even then, and has not paid. What it said proves that it has ended, so a person
/// can free the key without an override, also after its process has ended in order and left no
/// trace.
#[tokio::test]
async fn it_timed_out_and_failed_later_without_paying() {
    let (office, id) = planned(pay("bob").timeout_after(TIMEOUT)).await;
    let mut worker = office.follows(id, &[Step::Wait, Step::Fail]);
    let doubt = office.overdue(id).await;
    assert_is!(office.refuses_denial(doubt).await.1, EffectError::WorkerAlive { .. });
    worker.go();
    assert_is!(worker.hear(), Report::Late(Evidence::Unknown(_)));
    worker.join();
    let failed = office.deny(office.store.in_doubt(id).await.unwrap()).await;
    office.retry_pays_once(&failed).await;
}

/// Its future was dropped while it waited for the bank.
#[tokio::test]
async fn it_was_cancelled() {
    let (office, id) = planned(pay("bob")).await;
    let teller = office.teller(&[Step::Pay, Step::Say, Step::Hang]);
    let mut worker = office.start("cancels", id, teller);
    assert_eq!(worker.hear::<String>(), "in the call");
    worker.go();
    assert_eq!(worker.hear::<String>(), "dropped");
    // Other processes see a worker that is alive, and leave it alone.
    assert_eq!(office.recovered().await.len(), 0);
    assert_eq!(office.label(id).await, Label::InProgress);
    // Its own knows better.
    worker.go();
    assert_eq!(worker.hear::<Vec<Id>>(), [id]);
    worker.join();
    office.asks_a_person(id).await;
}

#[tokio::test]
async fn it_was_killed() {
    let (office, id) = planned(pay("bob")).await;
    office.follows(id, &[Step::Pay, Step::Die]).wait_until_dead();
    let _ = office.doubt().await;
    office.asks_the_bank(id).await;
}

/// Killed from outside, while the bank has the request and has not replied yet.
#[tokio::test]
async fn it_was_killed_while_it_waited() {
    let (office, id) = planned(pay("bob")).await;
    office.waits_for_reply(id).kill();
    office.bank.release();
    let _ = office.doubt().await;
    office.asks_a_person(id).await;
}

/// Killed while its request was on its way, which a slow network may deliver for an hour. Without
/// the settling time, the bank's "not found" would have freed the key, and the retry would have
/// paid a second time.
#[tokio::test]
async fn it_was_killed_before_its_request_arrived() {
    let office = Office::open(Dedup::Nothing).await;
    let spec = ToolSpec::irreversible("bank", "wire").unwrap();
    let spec = spec.settling_time(Duration::from_hours(1)).timeout(None);
    let wire = Contract::tool_call(&spec, r#"{"to": "bob", "amount": 10}"#, reasoning_node());
    let wire = wire.unwrap();
    let id = office.stored(wire.clone()).await.id();
    let teller = Teller::pays(&office.bank);
    let asks = async |doubt| office.store.ask_service::<Action>(doubt, &teller, tool_node()).await;
    office.bank.hold_requests();
    let worker = office.start("acts", id, teller.clone());
    office.bank.wait_for_requests(1);
    worker.kill();
    // Neither a person nor the bank can say yet that it did not take effect.
    let (doubt, refused) = office.refuses_denial(office.doubt().await).await;
    assert_is!(refused, EffectError::NotSettled { left_ms: 1..=3_600_000, .. });
    let refused = asks(doubt).await.unwrap_err();
    assert_is!(refused.reason, EffectError::NotSettled { .. });
    office.is_held(wire, id).await;
    assert_eq!(office.bank.count(), 0);

    office.bank.release();
    office.bank.wait_for_payments(1);
    assert_is!(asks(refused.machine).await, Ok(Settled::Completed(_)));
    assert_eq!(office.label(id).await, Label::Success);
    assert_eq!(office.bank.count(), 1);
}

/// The endings above, with a service that did nothing: that is unknown, too, and a person frees the
/// key after the worker has ended.
#[tokio::test]
async fn it_did_nothing_and_ended_badly() {
    for last in [Step::Fail, Step::Panic, Step::Die] {
        let (office, id) = planned(pay("bob")).await;
        let mut worker = office.follows(id, &[last]);
        if last == Step::Die {
            worker.wait_until_dead();
        } else {
            assert_eq!(worker.hear::<Report>(), Report::InDoubt);
            worker.join();
        }
        let failed = office.deny(office.doubt().await).await;
        office.retry_pays_once(&failed).await;
    }
}
