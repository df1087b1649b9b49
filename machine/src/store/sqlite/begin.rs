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
    /// Starts an irreversible execution: takes its key, moves it to RUNNING, and issues the only
    /// permit, in this order and in one transaction. When it returns, all of this is on disk.
    ///
    /// # Errors
    ///
    /// [`StoreError::Deferred`], [`StoreError::NeverRuns`] and [`StoreError::OtherAction`] if its
    /// confirmation does not allow it (EX-9); [`StoreError::AlreadyDone`] and
    /// [`StoreError::KeyHeld`] if another execution completed the action or holds the key (EX-5);
    /// [`StoreError::Conflict`] if another caller began it first; [`StoreError::NeedsNoPermit`] if
    /// the action is not irreversible. The execution on disk is unchanged and still PENDING.
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

        // The constructors ensure that an irreversible contract has a key.
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

        // Register the worker before the permit is on disk, so that no one finds the permit without
        // a live worker.
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

    /// Records the outcome of a permit: COMPLETED on a receipt, FAILED if nothing happened, in doubt
    /// if it is unknown.
    ///
    /// # Errors
    ///
    /// Why it is not on disk, with the unchanged execution and outcome, so that no receipt is lost:
    /// settle again after [`StoreError::Busy`]. [`StoreError::Fenced`] if the worker was fenced; the
    /// evidence was kept as late. [`StoreError::OtherOutcome`] if the outcome belongs to another
    /// execution.
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
        // An execution that was started without `begin` has no permit for this outcome.
        if let Err(breach) = running.context().admit(running.journal().entries()) {
            return Err(Refused::new((running, outcome), StoreError::Refused { id, breach }));
        }
        // A transition consumes the machine; if the commit fails, it is restored from this.
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
            // Its history was admitted above, and `encode` ensures that the data can be read back.
            unreachable!("the record of a running execution can be restored")
        };
        Err(Refused::new((running, outcome), reason))
    }

    /// Records the evidence of a fenced worker as late. It changes no state.
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
                // Another commit succeeded for each lost round, so this terminates.
                Err(StoreError::Conflict { .. }) => {}
                other => return other,
            }
        }
    }
}

/// Applies the outcome to the execution.
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
