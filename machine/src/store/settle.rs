use super::{CommitError, LoadError, Store, retry::Retry};
use crate::{
    actor::{Actor, ToolNode},
    contract::{
        AnyExecution, CallFact, Evidence, Execution, InDoubt, Outcome, Settled, execution::Running,
        record,
    },
    id::Id,
    journal::Pass,
    stored::{Durable, Snapshot},
    typed::{Refused, State},
};

impl Store {
    /// Records the outcome of a permit: COMPLETED on a receipt, FAILED if nothing happened, in doubt
    /// if it is unknown. Waits longer than other operations for a file that another process uses.
    ///
    /// # Errors
    ///
    /// Why it is not on disk, with the unchanged execution and outcome, so that no receipt is lost:
    /// settle again. [`CommitError::Fenced`] if the worker was fenced; the evidence was kept as late.
    /// [`CommitError::OtherOutcome`] if the outcome belongs to another execution.
    pub async fn settle(
        &self,
        running: Execution<Running>,
        outcome: Outcome,
        by: &ToolNode,
    ) -> Result<Settled, Refused<(Execution<Running>, Outcome), CommitError>> {
        let mut settle = Settle::new(running, outcome, by);
        let mut retry = Retry::patient();
        let error = loop {
            match self.batch().settle(&mut settle).write().await {
                Ok(()) => match settle.0 {
                    Step::Settled(settled) => return Ok(settled),
                    _ => unreachable!("a batch that was written has settled the execution"),
                },
                Err(error) => {
                    if let Some(error) = retry.after(error) {
                        break error;
                    }
                }
            }
        };
        settle.undo();
        let Step::Running(running, outcome) = settle.0 else {
            unreachable!("the execution was put back")
        };
        let id = running.id();
        let reason = match error {
            CommitError::Conflict { .. } => match self.overtaken(id, &outcome).await {
                Ok(Some(settled)) => return Ok(settled),
                Ok(None) => CommitError::Fenced { id },
                Err(error) => unsettled(id, &outcome, error),
            },
            error @ CommitError::Unavailable(_) => unsettled(id, &outcome, error),
            error => error,
        };
        Err(Refused::new((running, outcome), reason))
    }

    /// Something was committed since the permit was issued: this very outcome, by a commit whose
    /// answer was lost, or a fence. Then the evidence is kept as late.
    async fn overtaken(&self, id: Id, outcome: &Outcome) -> Result<Option<Settled>, CommitError> {
        let (epoch, evidence) = (outcome.epoch, outcome.evidence());
        let unreadable = |error| match error {
            LoadError::Unavailable(error) => CommitError::Unavailable(error),
            error => CommitError::Gate { id, source: Box::new(error) },
        };
        let current: AnyExecution = self.load(id).await.map_err(unreadable)?;
        if current.journal().epoch() > epoch {
            return self.keep_late(id, epoch, evidence.clone()).await.map(|()| None);
        }
        let history = self.history(id).await.map_err(unreadable)?;
        let is_this = |fact: CallFact| match fact {
            CallFact::Evidence { epoch: of, evidence: recorded, late: false } => {
                of == epoch && recorded == *evidence
            }
            _ => false,
        };
        let settled = history.entries.iter().filter_map(CallFact::of).any(is_this);
        match current {
            AnyExecution::Completed(done) if settled => Ok(Some(Settled::Completed(done))),
            AnyExecution::Failed(failed) if settled => Ok(Some(Settled::Failed(failed))),
            other if settled => match InDoubt::narrow(other) {
                Ok(doubt) => Ok(Some(Settled::InDoubt(doubt))),
                Err(_) => Err(CommitError::Conflict { id }),
            },
            _ => Err(CommitError::Conflict { id }),
        }
    }

    /// Records the evidence of a fenced worker as late. It changes no state.
    async fn keep_late(&self, id: Id, epoch: u64, evidence: Evidence) -> Result<(), CommitError> {
        loop {
            let mut current: AnyExecution = match self.load(id).await {
                Ok(current) => current,
                Err(LoadError::Unavailable(error)) => return Err(error.into()),
                Err(error) => return Err(CommitError::Gate { id, source: Box::new(error) }),
            };
            if current.journal().epoch() <= epoch {
                return Err(CommitError::Conflict { id });
            }
            let fact = CallFact::Evidence { epoch, evidence: evidence.clone(), late: true };
            let fact = fact.into_fact();
            current.__journal_mut(Pass::new()).append(Some(ToolNode::KIND.into()), fact);
            match self.commit(&mut current).await {
                // Another commit succeeded for each lost round, so this terminates.
                Err(CommitError::Conflict { .. }) => {}
                other => return other,
            }
        }
    }
}

fn unsettled(id: Id, outcome: &Outcome, source: CommitError) -> CommitError {
    let at_stake = match outcome.evidence() {
        Evidence::Applied(receipt) => format!("it took place, with the receipt {receipt:?}"),
        Evidence::NotApplied(reason) => format!("it did not take place: {reason}"),
        Evidence::Unknown(reason) => format!("it may have taken place: {reason}"),
    };
    CommitError::Unsettled { id, at_stake, source: Box::new(source) }
}

/// The outcome of an irreversible call, as a part of a [`Batch`](super::Batch). See
/// [`Store::settle`].
///
/// ```
/// # use machine::{actor::ToolNode, contract::{Execution, Outcome, Settled, execution::Running}};
/// # use machine::{store::{CommitError, Settle, Store}, stored::Durable};
/// # async fn example(store: &Store, order: &mut dyn Durable, running: Execution<Running>, outcome: Outcome) -> Result<(), CommitError> {
/// let mut settle = Settle::new(running, outcome, &ToolNode);
/// store.batch().commit(order).settle(&mut settle).write().await?;
/// if let Some(Settled::Completed(sent)) = settle.settled() {
///     println!("{}", sent.state().result);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Settle(Step);

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
enum Step {
    Running(Execution<Running>, Outcome),
    /// In the batch, with what is needed to put the execution back.
    Recorded(Settled, Outcome, Box<Snapshot>),
    Settled(Settled),
    /// Only while one step becomes the next.
    Taken,
}

impl Settle {
    /// Will record this outcome.
    #[must_use]
    pub fn new(running: Execution<Running>, outcome: Outcome, _by: &ToolNode) -> Self {
        Self(Step::Running(running, outcome))
    }

    /// The settled execution, after the batch was written.
    #[must_use]
    pub fn settled(self) -> Option<Settled> {
        match self.0 {
            Step::Settled(settled) => Some(settled),
            _ => None,
        }
    }

    /// The execution and the outcome, if the batch was not written.
    #[must_use]
    pub fn into_running(self) -> Option<(Execution<Running>, Outcome)> {
        match self.0 {
            Step::Running(running, outcome) => Some((running, outcome)),
            _ => None,
        }
    }

    pub(super) fn record(&mut self) -> Result<(), CommitError> {
        let Step::Running(running, outcome) = &self.0 else { return Ok(()) };
        let id = running.id();
        if outcome.execution_id != id {
            return Err(CommitError::OtherOutcome { id, of: outcome.execution_id });
        }
        let snapshot = Snapshot::of(running);
        let snapshot =
            snapshot.map_err(|error| CommitError::Unwritable { id, reason: error.to_string() })?;
        let Step::Running(running, outcome) = std::mem::replace(&mut self.0, Step::Taken) else {
            unreachable!("it was running above")
        };
        let settled = settled(running, &outcome);
        self.0 = Step::Recorded(settled, outcome, Box::new(snapshot));
        Ok(())
    }

    pub(super) fn machine(&mut self) -> &mut dyn Durable {
        match &mut self.0 {
            Step::Running(machine, _) => machine,
            Step::Recorded(settled, ..) | Step::Settled(settled) => match settled {
                Settled::Completed(machine) => machine,
                Settled::Failed(machine) => machine,
                Settled::InDoubt(doubt) => doubt.machine_mut(),
            },
            Step::Taken => unreachable!("no step is left unfinished"),
        }
    }

    pub(super) fn finish(&mut self) {
        self.0 = match std::mem::replace(&mut self.0, Step::Taken) {
            Step::Recorded(settled, ..) => Step::Settled(settled),
            other => other,
        };
    }

    pub(super) fn undo(&mut self) {
        self.0 = match std::mem::replace(&mut self.0, Step::Taken) {
            Step::Recorded(_, outcome, snapshot) => {
                match snapshot.restore::<AnyExecution>().map(Running::narrow) {
                    Ok(Ok(running)) => Step::Running(running, outcome),
                    _ => unreachable!("the snapshot was taken from a running execution"),
                }
            }
            other => other,
        };
    }
}

/// Applies the outcome to the execution.
fn settled(mut running: Execution<Running>, outcome: &Outcome) -> Settled {
    let Outcome { epoch, evidence, .. } = outcome;
    match evidence {
        Evidence::Unknown(reason) => {
            Settled::InDoubt(InDoubt::park(running, *epoch, reason, &ToolNode))
        }
        Evidence::Applied(receipt) => {
            record(&mut running, *epoch, evidence.clone(), &ToolNode);
            Settled::Completed(running.succeed(receipt.clone(), &ToolNode))
        }
        Evidence::NotApplied(reason) => {
            record(&mut running, *epoch, evidence.clone(), &ToolNode);
            Settled::Failed(running.fail(reason.clone(), &ToolNode))
        }
    }
}
