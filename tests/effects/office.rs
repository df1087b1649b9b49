//! A place with a bank, whose payments are made by workers in other processes.

use std::ops::Deref;

use machine_tests::{STUCK, process::Process, stores};

use crate::effects::{
    bank::{Bank, Dedup},
    prelude::*,
    support,
    tool::{Pay, Step, Teller},
    worker::{self, Report},
};

pub(crate) struct Office {
    place: Place,
    pub(crate) bank: Bank,
}

impl Deref for Office {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

impl Office {
    pub(crate) async fn open(dedup: Dedup) -> Self {
        Self { place: Place::new().await, bank: Bank::open(dedup) }
    }

    /// Stores a planned payment.
    pub(crate) async fn planned(&self, contract: Contract) -> Id {
        support::stored::<Pay>(&self.store, contract).await.id()
    }

    /// Stores a payment behind a gate that waits for its answer.
    pub(crate) async fn asked_to_pay(&self, contract: Contract) -> (Gate, Planned<Pay>) {
        let (mut gate, mut planned) = contract.ask(None, ecs_node()).unwrap();
        self.store.ask(&mut gate, &mut planned).await.unwrap();
        (gate, planned)
    }

    /// Stores a retry that a person decided.
    pub(crate) async fn retried(&self, failed: &Execution<Failed>) -> Result<Id, EffectError> {
        let retry = stores::planned::<Pay>(&self.store, Contract::retry(failed, ann())).await;
        retry.map(|retry| retry.id())
    }

    pub(crate) fn teller(&self, script: &[Step]) -> Teller {
        Teller::new(&self.bank, script)
    }

    /// Starts the worker `kind`.
    pub(crate) fn start(&self, kind: &str, id: Id, teller: Teller) -> Process {
        worker::start(kind, &self.file(), id, teller)
    }

    /// Starts a worker whose service follows a script.
    pub(crate) fn follows(&self, id: Id, script: &[Step]) -> Process {
        self.start("pays", id, self.teller(script))
    }

    /// Starts a worker that pays, and waits until it waits for the reply of the bank.
    pub(crate) fn waits_for_reply(&self, id: Id) -> Process {
        self.bank.hold_replies();
        let worker = self.follows(id, &[Step::Pay]);
        self.bank.wait_for_payments(1);
        worker
    }

    /// Runs a worker that pays, and is not disturbed.
    pub(crate) fn pays(&self, id: Id) -> Report {
        worker::run("pays", &self.file(), id, Teller::pays(&self.bank))
    }

    /// A worker of another execution of the same action is refused.
    pub(crate) async fn refuses_to_pay(&self, contract: Contract, error: &str) {
        let other = self.planned(contract).await;
        assert_eq!(self.pays(other), Report::NotBegun(error.to_owned()));
    }

    /// Another attempt pays, and is the only one that did.
    pub(crate) async fn retry_pays_once(&self, failed: &Execution<Failed>) {
        let retry = self.retried(failed).await.unwrap();
        assert_eq!(self.pays(retry), Report::Completed("receipt 1".to_owned()));
        assert_eq!(self.bank.count(), 1);
    }

    /// Waits until `recover` finds this execution in doubt, because it is overdue.
    pub(crate) async fn overdue(&self, id: Id) -> InDoubt {
        let started = std::time::Instant::now();
        loop {
            assert!(started.elapsed() < STUCK, "it is never overdue");
            let mut found = self.recovered().await.into_iter();
            if let Some(doubt) = found.find(|doubt| doubt.id() == id) {
                return doubt;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The evidence that arrived late.
    pub(crate) async fn late(&self, id: Id) -> Vec<Evidence> {
        support::late(&self.store, id).await
    }

    /// The answer of a worker comes late, and is kept.
    pub(crate) async fn hears_late(&self, mut worker: Process, id: Id, evidence: &Evidence) {
        assert_eq!(worker.hear::<Report>(), Report::Late(evidence.clone()));
        worker.join();
        assert!(self.late(id).await.contains(evidence));
    }

    /// The receipt of a payment.
    pub(crate) fn receipt(number: usize) -> Evidence {
        Evidence::Applied(format!("receipt {number}"))
    }
}
