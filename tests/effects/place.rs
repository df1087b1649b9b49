//! The acts and the checks of the tests in this folder.

use machine::{contract::Decision, stored::Durable};

use crate::effects::prelude::*;

/// Plans and answers.
impl Place {
    /// Like [`Place::asked`], with a time limit for the answer.
    pub(crate) async fn asked_for(
        &self,
        contract: Contract,
        limit: Duration,
    ) -> (Gate, Planned<Action>) {
        let (mut gate, mut planned) = contract.ask(Some(limit), ecs_node()).unwrap();
        self.store.ask(&mut gate, &mut planned).await.unwrap();
        (gate, planned)
    }

    /// Another copy of a gate.
    pub(crate) async fn gate(&self, id: Id) -> Gate {
        self.store.gate(id).await.unwrap()
    }

    /// Ann approves.
    pub(crate) async fn approve(&self, gate: Gate) -> Decision {
        machine_tests::approve(&self.store, gate, ann()).await.unwrap()
    }

    /// Ann says no.
    pub(crate) async fn decline(&self, gate: Gate) -> Decision {
        self.store.decline(gate, "no", ann()).await.unwrap()
    }

    /// An action that Ann has approved.
    pub(crate) async fn approved(&self, contract: Contract) -> Planned<Action> {
        let (gate, planned) = self.asked(contract).await;
        self.approve(gate).await;
        planned
    }

    /// The refusal of an approval, which writes nothing and gives the gate back.
    pub(crate) async fn refuses_approval(&self, gate: Gate) -> (Gate, EffectError) {
        let before = (self.dump(), gate.journal().uncommitted().to_vec());
        let refused = machine_tests::approve(&self.store, gate, ann()).await.unwrap_err();
        let uncommitted = refused.machine.journal().uncommitted().to_vec();
        assert_eq!((self.dump(), uncommitted), before);
        (refused.machine, refused.reason)
    }
}

/// Calls.
impl Place {
    /// Begins an action, which fails: the service refuses it.
    pub(crate) async fn fails(&self, planned: impl Into<Planned<Action>>) -> Execution<Failed> {
        let (running, permit) = begin(&self.store, planned).await.unwrap();
        let outcome = not_applied(permit, "connection refused").await;
        match self.settled(running, outcome).await {
            Settled::Failed(failed) => failed,
            other => panic!("expected FAILED, found {other:?}"),
        }
    }

    /// Stores an action, which fails.
    pub(crate) async fn failed(&self, contract: Contract) -> Execution<Failed> {
        self.fails(self.stored(contract).await).await
    }

    /// Stores an action and performs it.
    pub(crate) async fn performed(
        &self,
        contract: Contract,
        service: impl Perform<Action> + 'static,
    ) -> Settled {
        let pending = self.stored(contract).await;
        self.store.perform(pending, service, tool_node()).await.unwrap()
    }

    /// The refusal to begin, which writes nothing.
    pub(crate) async fn refuses<T: Callable>(&self, planned: impl Into<Planned<T>>) -> EffectError {
        let before = self.dump();
        let refused = begin(&self.store, planned).await.map(drop).unwrap_err();
        assert_eq!(self.dump(), before);
        refused
    }

    /// The refusal to store an action.
    pub(crate) async fn refuses_new(&self, contract: Contract) -> EffectError {
        let mut new = Execution::new(contract);
        let refused = self.refuses_machine(&mut new).await;
        assert_eq!(new.journal().version(), 0);
        refused
    }

    /// The refusal to store a machine, or what happened to it. Nothing is written, and it is as it
    /// was.
    pub(crate) async fn refuses_machine(&self, machine: &mut impl Durable) -> EffectError {
        let before = (self.dump(), machine.journal().uncommitted().to_vec());
        let batch = self.store.batch();
        let is_new = self.store.history(machine.journal().id()).await.is_err();
        let batch = if is_new { batch.create(machine) } else { batch.commit(machine) };
        let refused = batch.write().await.unwrap_err();
        assert_eq!((self.dump(), machine.journal().uncommitted().to_vec()), before);
        refused
    }
}

/// Doubts.
impl Place {
    /// An execution that has ended, with another end in its journal and its record.
    pub(crate) async fn forged_end(
        &self,
        id: Id,
        trigger: &str,
        end: &str,
        payload: &serde_json::Value,
    ) -> Result<AnyExecution, VerifyError> {
        let mut claim = self.store.export(id).await.unwrap();
        let last = claim.journal.last_mut().unwrap();
        let moved = serde_json::json!({
            "from": "running", "to": end, "trigger": trigger, "payload": payload,
        });
        let fact = serde_json::json!({ "moved": moved });
        *last = forge::entry(last.number, last.at, last.actor.as_deref(), last.definition, &fact);
        end.clone_into(&mut claim.record.status);
        claim.record.state = payload.to_string();
        forge::cross_execution(claim)
    }

    /// Fences the worker of an execution.
    pub(crate) async fn fenced(&self, id: Id) -> InDoubt {
        self.store.fence(id, "no answer", graph_runner()).await.unwrap()
    }

    /// A call that continues although its worker was fenced.
    pub(crate) async fn fenced_in_call(
        &self,
        contract: Contract,
    ) -> (Execution<Running>, InFlight, InDoubt) {
        let (running, permit) = self.begun(contract).await;
        let call = in_flight(permit).await;
        let doubt = self.fenced(running.id()).await;
        (running, call, doubt)
    }

    /// The only execution in doubt.
    pub(crate) async fn doubt(&self) -> InDoubt {
        let mut found = self.recovered().await;
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    /// Ann says that it did not take effect.
    pub(crate) async fn deny(&self, doubt: InDoubt) -> Execution<Failed> {
        self.store.confirm_not_applied(doubt, "not there", ann()).await.unwrap()
    }

    /// Ann says that it took effect.
    pub(crate) async fn confirm(&self, doubt: InDoubt) {
        let done = self.store.confirm_applied(doubt, "bob has it", ann()).await.unwrap();
        assert_eq!(done.state().result, "bob has it");
    }

    /// Ann takes the risk that it takes effect.
    pub(crate) async fn overrule(&self, doubt: InDoubt) -> Execution<Failed> {
        self.store.override_not_applied(doubt, "nothing there", ann()).await.unwrap()
    }

    /// The refusal of the claim that it did not take effect, which writes nothing.
    pub(crate) async fn refuses_denial(&self, doubt: InDoubt) -> (InDoubt, EffectError) {
        let before = self.dump();
        let refused = self.store.confirm_not_applied(doubt, "not there", ann()).await.unwrap_err();
        assert_eq!(self.dump(), before);
        assert!(refused.machine.journal().uncommitted().is_empty());
        (refused.machine, refused.reason)
    }

    /// The worker answers, and learns that it was fenced. Its answer is kept.
    pub(crate) async fn settles_late(
        &self,
        running: Execution<Running>,
        call: InFlight,
        answer: Answer,
    ) {
        let id = running.id();
        let outcome = call.answer(answer).await;
        let settled = self.store.settle(running, outcome, tool_node()).await;
        assert_err!(settled, Refused { reason: EffectError::Fenced { id: of }, .. } if *of == id);
    }

    /// The only execution that `recover` settles. An answer through a guard, or of a dropped
    /// outcome, is written in the background.
    pub(crate) async fn settled_late(&self) -> AnyExecution {
        loop {
            if let Some(settled) = self.store.recover().await.unwrap().settled.pop() {
                return settled;
            }
            tokio::task::yield_now().await;
        }
    }

    /// It is settled late by this receipt.
    pub(crate) async fn is_completed_late(&self, id: Id, result: &str) {
        match self.settled_late().await {
            AnyExecution::Completed(done) => {
                assert_eq!((done.id(), done.state().result.as_str()), (id, result));
            }
            other => panic!("expected COMPLETED, found {other:?}"),
        }
    }
}

/// Checks.
impl Place {
    pub(crate) async fn label(&self, id: Id) -> Label {
        self.view(id).await.consequence_label
    }

    /// The key of the contract is held: another execution of the action is not begun.
    pub(crate) async fn is_held(&self, contract: Contract, holder: Id) {
        let other = self.stored(contract).await;
        assert_is!(self.refuses(other).await,
            EffectError::Commit(CommitError::KeyHeld { by, .. }) if *by == holder);
    }

    /// The action has taken effect: it is neither stored again, nor retried by a person.
    pub(crate) async fn is_done(&self, contract: Contract, holder: Id) {
        assert_is!(self.refuses_new(contract).await,
            EffectError::Commit(CommitError::AlreadyDone { by, .. }) if *by == holder);
    }

    /// The way in which an execution was parked.
    pub(crate) async fn parked(&self, id: Id) -> Liveness {
        let facts = self.facts(id).await;
        let parked = facts.iter().find_map(|fact| match fact {
            CallFact::Parked { worker, .. } => Some(*worker),
            _ => None,
        });
        parked.unwrap_or_else(|| panic!("it was not parked: {facts:?}"))
    }
}
