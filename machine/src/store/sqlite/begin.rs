use super::SqliteStore;
use crate::{
    actor::{Actor, ToolNode},
    contract::{
        AnyExecution, Execution, InDoubt, Outcome, Permit, Settled,
        execution::{Pending, Running},
        record,
    },
    erased::{Context, Durable, Unverified},
    journal::{Evidence, Fact, Pass},
    store::StoreError,
    typed::{Refused, State},
};

impl SqliteStore {
    /// Starts an irreversible execution: takes its key, moves it to RUNNING, and hands out the
    /// one permit, in this order and in one transaction. When it returns, that is on disk.
    ///
    /// # Errors
    ///
    /// [`StoreError::Deferred`], [`StoreError::NeverRuns`] and [`StoreError::OtherAction`] when
    /// its confirmation stands in the way (EX-9); [`StoreError::AlreadyDone`] and
    /// [`StoreError::KeyHeld`] when another execution has or had the key (EX-5);
    /// [`StoreError::Conflict`] when somebody else began it first; [`StoreError::NeedsNoPermit`]
    /// when the action is not irreversible. The execution stays PENDING on
    /// disk, as it was.
    pub async fn begin(
        &self,
        mut pending: Execution<Pending>,
        by: &ToolNode,
    ) -> Result<(Execution<Running>, Permit), StoreError> {
        let id = pending.id();
        let epoch = pending.journal().epoch();
        let contract = pending.context();
        let (key, action) = (contract.idempotency_key().cloned(), contract.action().digest());
        let timeout_seconds = contract.timeout();
        if !contract.is_irreversible() {
            return Err(StoreError::NeedsNoPermit { id });
        }
        if pending.journal().version() == 0 {
            return Err(StoreError::NeverStored { id });
        }

        // An irreversible contract always has a key: its constructors see to that.
        if let Some(key) = &key {
            let fact = Fact::Held { key: key.to_string() };
            pending.__journal_mut(Pass::new()).append(Some(ToolNode::KIND.into()), fact);
        }
        let mut running = pending.start(by);
        let limit_ms = timeout_seconds.map_or(i64::MAX, |seconds| {
            i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000)
        });
        let fact = Fact::Permitted {
            worker: self.shared.worker.name().to_owned(),
            epoch,
            action,
            expires_at: self.shared.clock.now().saturating_add(limit_ms),
        };
        running.__journal_mut(Pass::new()).append(Some(ToolNode::KIND.into()), fact);

        // Before the permit is on disk, so that nobody finds it there without its worker.
        let at_work = self.shared.worker.begin(id).map_err(StoreError::Lock)?;
        let write = self.write_of(&mut running).await?;
        self.transact(move |transaction| {
            write.may_take_key(transaction)?;
            write.update(transaction)
        })
        .await?;
        running.__journal_mut(Pass::new()).mark_committed();
        let permit = Permit { execution_id: id, key, epoch, action, timeout_seconds, at_work };
        Ok((running, permit))
    }

    /// Records what came of a permit: COMPLETED on a receipt, FAILED when nothing happened, in
    /// doubt when nobody can say.
    ///
    /// # Errors
    ///
    /// Why it is not on disk, with the execution and the outcome as they were: settle again after
    /// [`StoreError::Busy`], and the receipt is not lost. After [`StoreError::Fenced`] somebody
    /// else had taken over, and the evidence was kept as late. [`StoreError::OtherOutcome`] when
    /// the outcome is of another execution.
    pub async fn settle(
        &self,
        running: Execution<Running>,
        outcome: Outcome,
        by: &ToolNode,
    ) -> Result<Settled, Refused<(Execution<Running>, Outcome), StoreError>> {
        let id = running.id();
        if outcome.execution_id != id {
            let reason = StoreError::OtherOutcome { id, of: outcome.execution_id };
            return Err(Refused::new((running, outcome), reason));
        }
        // One that was started beside `begin` has no permit that this could be the outcome of.
        if let Err(breach) = running.context().admit(running.journal().entries()) {
            return Err(Refused::new((running, outcome), StoreError::Refused { id, breach }));
        }
        // A transition takes the machine; this is what makes it again when the commit fails.
        let before = match Unverified::of(&running) {
            Ok(before) => before,
            Err(source) => {
                let reason = StoreError::Unwritable { id, source };
                return Err(Refused::new((running, outcome), reason));
            }
        };
        let mut settled = settled(running, &outcome, by);
        let committed = match &mut settled {
            Settled::Completed(machine) => self.commit(machine).await,
            Settled::Failed(machine) => self.commit(machine).await,
            Settled::InDoubt(doubt) => self.commit(doubt.machine_mut()).await,
        };
        let reason = match committed {
            Ok(()) => return Ok(settled),
            Err(StoreError::Conflict { .. }) => {
                match self.keep_late(id, outcome.epoch, outcome.evidence.clone()).await {
                    Ok(()) => StoreError::Fenced { id },
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        let running = before.verify::<AnyExecution>().map(Running::narrow);
        let Ok(Ok(running)) = running else {
            // Its history was admitted above, and what was written can be read back: `encode`
            // made sure of that.
            unreachable!("the record of a running execution makes one again")
        };
        Err(Refused::new((running, outcome), reason))
    }

    /// Keeps what a worker found out after it had been shut out. It changes no state.
    async fn keep_late(
        &self,
        id: crate::Id,
        epoch: u64,
        evidence: Evidence,
    ) -> Result<(), StoreError> {
        loop {
            let mut current: AnyExecution = self.load(id).await?;
            if current.journal().epoch() <= epoch {
                return Err(StoreError::Conflict { id });
            }
            let fact = Fact::Evidence { epoch, evidence: evidence.clone(), late: true };
            current.__journal_mut(Pass::new()).append(Some(ToolNode::KIND.into()), fact);
            match self.commit(&mut current).await {
                // Each round that is lost is one that somebody else won, so this ends.
                Err(StoreError::Conflict { .. }) => {}
                other => return other,
            }
        }
    }
}

/// The execution as the outcome leaves it.
fn settled(mut running: Execution<Running>, outcome: &Outcome, by: &ToolNode) -> Settled {
    let Outcome { epoch, evidence, .. } = outcome;
    match evidence {
        Evidence::Unknown(reason) => Settled::InDoubt(InDoubt::park(running, *epoch, reason, by)),
        Evidence::Applied(receipt) => {
            record(&mut running, *epoch, evidence.clone(), by);
            Settled::Completed(running.succeed(receipt.clone(), by))
        }
        Evidence::NotApplied(reason) => {
            record(&mut running, *epoch, evidence.clone(), by);
            Settled::Failed(running.fail(reason.clone(), by))
        }
    }
}
