use std::sync::PoisonError;

use crate::{
    actor::ToolNode,
    actor::who::{Who, who},
    contract::{
        AnyExecution, CallFact, CallRecord, Evidence, Execution, InDoubt, LateCall, Progress,
        Refusal, Settled, Unsettled, accept, append, execution::Running, fork, record,
    },
    effects::{
        change::{Change, Finish, Fork, ForkChange},
        error::EffectError,
        retry::Retry,
        superseded::Superseded,
    },
    future::BoxFuture,
    id::Id,
    process::Liveness,
    store::{
        error::{LoadError, Unavailable},
        handle::Store,
    },
    stored::Durable,
    typed::Refused,
};

impl Store {
    /// Records the outcome of a permit: COMPLETED on a receipt, FAILED if nothing happened, WAITING
    /// if its service reports later, in doubt if the outcome is unknown. An idempotent action
    /// without a receipt is FAILED. Waits longer than other operations for a file that another
    /// process uses.
    ///
    /// # Errors
    ///
    /// The reason why the outcome is not on disk, with the unchanged execution and outcome, so that
    /// no receipt is lost: settle again. [`EffectError::Fenced`] if the worker was fenced; the
    /// evidence was kept as late, and [`recover`](Self::recover) settles the execution by it.
    /// [`EffectError::OtherOutcome`] if the outcome belongs to another execution.
    pub async fn settle(
        &self,
        running: Execution<Running>,
        outcome: Unsettled,
        by: &ToolNode,
    ) -> Result<Settled, Refused<(Execution<Running>, Unsettled), EffectError>> {
        let (mut running, mut outcome) = (running, outcome);
        // Another commit succeeded for each lost round, so this terminates.
        loop {
            let settle = Change::settle(running, outcome, by);
            let error = match self.change(settle, Retry::patient()).await {
                Ok(settled) => return Ok(settled),
                Err(refused) => {
                    (running, outcome) = refused.machine;
                    refused.reason
                }
            };
            let id = running.id();
            let reason = match error {
                error if error.is_conflict() => match self.overtaken(id, &outcome).await {
                    Ok(Superseded::Settled(settled)) => return Ok(settled),
                    Ok(Superseded::Reported(current)) => {
                        running = current;
                        continue;
                    }
                    Ok(Superseded::Late(current)) => match self.late(&mut outcome, by) {
                        Some(late) => return Ok(Settled::Fenced(current, late)),
                        None => return self.came_late(*current, running, outcome, by).await,
                    },
                    Err(error) => receipt_at_risk(id, outcome.evidence(), error),
                },
                error @ EffectError::Unavailable(_) => {
                    receipt_at_risk(id, outcome.evidence(), error)
                }
                error => error,
            };
            return Err(Refused::new((running, outcome), reason));
        }
    }

    /// Records evidence that arrived after the execution moved on without it. It changes no state.
    pub(super) async fn keep_late(
        &self,
        id: Id,
        epoch: u64,
        evidence: &Evidence,
        call: &CallRecord,
        by: Who<'_>,
    ) -> Result<(), EffectError> {
        loop {
            let current = self.load::<AnyExecution>(id).await;
            let mut current = current.map_err(|error| EffectError::unread(id, error))?;
            let known = self.evidence_of(id).await?;
            if !known.iter().any(|(of, known)| *of == epoch && known == evidence) {
                let evidence = evidence.clone();
                let fact = CallFact::Evidence { epoch, evidence, late: true };
                append(&mut current, by, fact);
            }
            let liveness = call.liveness_after_answer();
            if let Some(found) = Progress::of(&current).found(liveness, self.now()) {
                append(&mut current, by, found);
            }
            if current.journal().uncommitted().is_empty() {
                // Settled again after an answer that was lost.
                return Ok(());
            }
            match self.batch().commit(&mut current).write().await {
                // Another commit succeeded for each lost round, so this terminates.
                Err(error) if error.is_conflict() => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    self.evidence_written(id, call, evidence, liveness);
                    return Ok(());
                }
            }
        }
    }

    /// Like [`keep_late`](Self::keep_late), with retries for as long as the file may be busy.
    pub(super) async fn keep_evidence(
        &self,
        id: Id,
        epoch: u64,
        evidence: &Evidence,
        call: &CallRecord,
        by: Who<'_>,
    ) -> Result<(), EffectError> {
        let mut retry = Retry::patient();
        loop {
            let Err(error) = self.keep_late(id, epoch, evidence, call, by).await else {
                return Ok(());
            };
            if let Some(error) = retry.after(error) {
                return Err(receipt_at_risk(id, evidence, error));
            }
        }
    }

    /// This evidence is on disk, with this liveness of its call.
    pub(super) fn evidence_written(
        &self,
        id: Id,
        call: &CallRecord,
        evidence: &Evidence,
        liveness: Liveness,
    ) {
        call.mark_written(evidence, liveness);
        if !call.needs_proof() {
            self.effects().calls.forget(id);
        }
    }

    /// The evidence about an execution, each with the epoch of its permit, oldest first.
    pub(super) async fn evidence_of(&self, id: Id) -> Result<Vec<(u64, Evidence)>, Unavailable> {
        let history = LoadError::readable(self.history(id).await)?;
        // A journal that cannot be read must not keep evidence away.
        let Some(history) = history else { return Ok(Vec::new()) };
        let evidence = history.entries.iter().filter_map(|entry| match CallFact::of(entry)? {
            CallFact::Evidence { epoch, evidence, .. } => Some((epoch, evidence)),
            _ => None,
        });
        Ok(evidence.collect())
    }

    /// Takes over a call that is still running after its timeout, if it is.
    fn late(&self, outcome: &mut Unsettled, by: &ToolNode) -> Option<LateCall> {
        let running = outcome.late.get_mut().unwrap_or_else(PoisonError::into_inner).take()?;
        let handle = outcome.handle.clone();
        handle.is_late();
        let (store, by) = (self.clone(), by.again());
        Some(LateCall(Box::pin(async move {
            let evidence = running.await;
            let (id, epoch, call) = (handle.execution_id, handle.epoch, &handle.record);
            store.keep_evidence(id, epoch, &evidence, call, who(&by)).await?;
            Ok(evidence)
        })))
    }
}

pub(crate) fn receipt_at_risk(id: Id, evidence: &Evidence, source: EffectError) -> EffectError {
    let at_stake = match evidence {
        Evidence::Applied(receipt) => format!("it took effect, with the receipt {receipt:?}"),
        Evidence::NotApplied(reason) => format!("it did not take effect: {reason}"),
        Evidence::Unknown(reason) => format!("it may have taken effect: {reason}"),
    };
    EffectError::Unsettled { id, at_stake, source: Box::new(source) }
}

impl<'a> Change<'a, (Execution<Running>, Unsettled), Settled> {
    /// Will record this outcome. See [`Store::settle`].
    #[must_use]
    pub fn settle(running: Execution<Running>, outcome: Unsettled, by: &'a ToolNode) -> Self {
        Self(Box::new(Settle { fork: Fork::new((running, outcome)), late: None, by }))
    }
}

struct Settle<'a> {
    fork: Fork<(Execution<Running>, Unsettled), Settled>,
    /// The call, if it is still running after its timeout.
    late: Option<LateCall>,
    by: &'a ToolNode,
}

impl ForkChange for Settle<'_> {
    fn prepare<'a>(
        &'a mut self,
        store: &'a Store,
        _: &'a [(Id, String)],
    ) -> BoxFuture<'a, Result<(), EffectError>> {
        Box::pin(async move {
            let (running, outcome) = &self.fork.before;
            let (id, of) = (running.id(), outcome.handle.execution_id);
            if of != id {
                return Err(EffectError::OtherOutcome { id, of });
            }
            if self.fork.next.is_none() {
                let refused = match outcome.accepted {
                    Some(_) => store.late_refusal(id, &Progress::of(running)).await,
                    None => None,
                };
                self.fork.next = Some(settled(store, fork(running), outcome, refused, self.by));
            }
            Ok(())
        })
    }

    fn machine(&mut self) -> &mut dyn Durable {
        match &mut self.fork.next {
            None => &mut self.fork.before.0,
            Some(Settled::Completed(machine)) => machine,
            Some(Settled::Failed(machine)) => machine,
            Some(Settled::Accepted(machine)) => machine,
            Some(Settled::InDoubt(doubt) | Settled::TimedOut(doubt, _)) => doubt.machine_mut(),
            Some(Settled::Fenced(machine, _)) => &mut **machine,
        }
    }

    fn committed(&mut self, store: &Store, _: u64) {
        let Some(settled) = self.fork.committed() else { return };
        let worker = match settled {
            Settled::InDoubt(doubt) => doubt.progress().worker(),
            _ => Liveness::Ended,
        };
        let (_, outcome) = &mut self.fork.before;
        self.late = store.late(outcome, self.by);
        if self.late.is_none() {
            let handle = &outcome.handle;
            store.evidence_written(handle.execution_id, &handle.record, &outcome.evidence, worker);
        }
    }

    fn discard(&mut self) {
        self.fork.next = None;
    }
}

impl Finish<(Execution<Running>, Unsettled), Settled> for Settle<'_> {
    fn finish(self: Box<Self>) -> Result<Settled, (Execution<Running>, Unsettled)> {
        let Self { fork, late, .. } = *self;
        fork.finish().map(|settled| match (settled, late) {
            (Settled::InDoubt(doubt), Some(late)) => Settled::TimedOut(doubt, late),
            (settled, _) => settled,
        })
    }
}

fn settled(
    store: &Store,
    mut running: Execution<Running>,
    outcome: &Unsettled,
    refused: Option<Refusal>,
    by: &ToolNode,
) -> Settled {
    let (epoch, call) = (outcome.handle.epoch, &outcome.handle.record);
    let evidence = match (&outcome.accepted, refused) {
        (Some(accepted), None) => {
            return Settled::Accepted(accept(running, epoch, accepted, store.now(), by));
        }
        // The service may have reported before this.
        (Some(_), Some(refusal)) => &Evidence::NotApplied(refusal),
        (None, _) => &outcome.evidence,
    };
    if let Evidence::Unknown(reason) = evidence
        && running.context().is_irreversible()
    {
        let worker = call.liveness_after_answer();
        return Settled::InDoubt(InDoubt::park(running, epoch, reason, (worker, store.now()), by));
    }
    record(&mut running, epoch, evidence.clone(), by);
    match evidence {
        Evidence::Applied(receipt) => Settled::Completed(running.succeed(receipt.clone(), by)),
        Evidence::NotApplied(Refusal { message, data }) => {
            Settled::Failed(running.fail(message.clone(), data.clone(), by))
        }
        Evidence::Unknown(reason) => Settled::Failed(running.fail(reason.clone(), None, by)),
    }
}
