use crate::{
    actor::GraphRunner,
    actor::who::Who,
    contract::{
        Answer, Answered, AnyExecution, CallFact, Callable, CallbackToken, Evidence, Execution,
        InDoubt, InvalidContract, Progress, Refusal, Report, Reporter, append, execution::Waiting,
    },
    effects::{error::EffectError, recover::UnansweredCall, retry::Retry},
    id::Id,
    store::{error::LoadError, handle::Store},
};

/// The most evidence about one execution that reports add to. The first report of either kind is
/// kept in any case, so that a holder of the token cannot fill the file.
const MAX_EVIDENCE: usize = 16;

impl Store {
    /// Accepts the report of a service about a call that it has accepted
    /// ([`Call::accepted`](crate::contract::Call::accepted)), and settles the execution by it:
    /// COMPLETED, or FAILED with the reason, and its key is free.
    ///
    /// A report is evidence at any time. Before the store has recorded that the service accepted
    /// the call, a receipt settles the execution, and "not applied" is kept until the call has
    /// ended. After the limit, a report settles the doubt. After the end of the execution, it
    /// changes no state, and a receipt contradicts an end as not done. The first report wins; a
    /// repeated report is [known](Reported::Known).
    ///
    /// `by` is the token in the request of the service, or the [`ToolNode`](crate::actor::ToolNode)
    /// of a program that knows in another way that the report is genuine.
    ///
    /// # Errors
    ///
    /// [`ReportError`]. If the report is not on disk, report again.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use machine::actor::Actors;
    /// use machine::contract::{
    ///     Answer, AnyExecution, Call, CallbackToken, Contract, Perform, Planned, Report, Settled,
    ///     Tool,
    /// };
    /// use machine::effects::Reported;
    /// use machine::store::Store;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Debug, Serialize, Deserialize, Tool)]
    /// #[tool(cluster.deploy, answers_later)]
    /// struct Deploy {
    ///     version: u32,
    /// }
    ///
    /// struct Cluster;
    ///
    /// impl Perform<Deploy> for Cluster {
    ///     async fn perform(&self, call: &Call<Deploy>) -> Answer {
    ///         // A real one sends the path and the token with the request, and gets the reference.
    ///         # TOKEN.set(call.callback_token().as_str().to_owned()).unwrap();
    ///         let (_path, _token) = (call.report_path(), call.callback_token());
    ///         call.accepted("rollout 12", Duration::from_mins(30))
    ///     }
    /// }
    /// # static TOKEN: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    /// # let sent = || TOKEN.get().unwrap().clone();
    ///
    /// # pollster::block_on(async {
    /// let actors = Actors::issue("release")?;
    /// let store = Store::memory();
    /// let contract = Contract::of(&Deploy { version: 17 }, &actors.reasoning_node)?;
    /// let mut deploy: Planned<Deploy> = Planned::new(contract)?;
    /// store.plan(&mut deploy).await?;
    /// let settled = store.perform(deploy, Cluster, &actors.tool_node).await?;
    /// let Settled::Accepted(waiting) = settled else { panic!("{settled:?}") };
    ///
    /// // Later, in any process, with the token of the request:
    /// let token = CallbackToken::new(sent());
    /// let report = Report::Applied("version 17 is live".to_owned());
    /// let reported = store.report::<Deploy>(waiting.id(), report, &token).await?;
    /// let Reported::Settled(AnyExecution::Completed(done)) = reported else { panic!("{reported:?}") };
    /// assert_eq!(done.state().result, "version 17 is live");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn report<T: Callable>(
        &self,
        id: Id,
        report: Report<T::Receipt, T::Refusal>,
        by: &impl Reporter,
    ) -> Result<Reported, ReportError> {
        let execution = match by.__token() {
            Some(token) => self.call_of(id, token).await?,
            None => self.load(id).await?,
        };
        T::__read(execution.context().action(), execution.context().effect())
            .map_err(|source| ReportError::Contract { id, source: Box::new(source) })?;
        let evidence = Answered::of(Ok(Answer::from(report))).evidence;
        self.take_report(id, evidence, by).await
    }

    /// The execution of the call that this token is for. The error gives no reason: a caller
    /// without a token learns nothing.
    pub(super) async fn call_of(
        &self,
        id: Id,
        token: &CallbackToken,
    ) -> Result<AnyExecution, ReportError> {
        let execution = self.readable(id).await.map_err(LoadError::from)?;
        let expected = execution.as_ref().and_then(|execution| Progress::of(execution).callback());
        match execution {
            Some(execution) if token.is(expected) => Ok(execution),
            _ => {
                // Does the same work without an execution, so that timing reveals nothing.
                token.is(None);
                Err(ReportError::NoSuchCall { id })
            }
        }
    }

    /// Records a report, and settles the executions that it settles.
    pub(super) async fn take_report(
        &self,
        id: Id,
        evidence: Evidence,
        by: &impl Reporter,
    ) -> Result<Reported, ReportError> {
        let mut retry = Retry::patient();
        loop {
            let current: AnyExecution = self.load(id).await?;
            let progress = Progress::of(&current);
            let (Some((_, epoch)), Some(_)) = (progress.permit(), progress.callback()) else {
                return Err(ReportError::NoCallback { id });
            };
            let known = self.evidence_of(id).await.map_err(LoadError::from)?;
            if known.iter().any(|(_, known)| *known == evidence) {
                return Ok(Reported::Known(current));
            }
            let is_first = match &evidence {
                Evidence::Applied(_) => !progress.applied,
                _ => progress.refused.is_none(),
            };
            if known.len() >= MAX_EVIDENCE && !is_first {
                return Err(ReportError::TooMany { id });
            }
            let (mut next, settles) = reported(current, &evidence, epoch, by.__who());
            match self.batch().commit(&mut next).write().await {
                Ok(()) if settles => return Ok(Reported::Settled(next)),
                Ok(()) => return Ok(self.settled_by_report(next).await),
                // The first one wins: reload.
                Err(error) if error.is_conflict() => {}
                Err(error) => {
                    if let Some(error) = retry.after(error) {
                        return Err(error.into());
                    }
                }
            }
        }
    }

    /// An execution with a report that does not settle it, but may settle a doubt.
    async fn settled_by_report(&self, kept: AnyExecution) -> Reported {
        if !Progress::of(&kept).is_in_doubt() {
            return Reported::Kept(kept);
        }
        match self.take_over(kept.id()).await {
            Ok(Ok(UnansweredCall::Settled(settled))) => Reported::Settled(settled),
            Ok(Ok(UnansweredCall::InDoubt(doubt))) => Reported::Kept(doubt.into_execution().into()),
            // It is on disk, and `recover` settles by it.
            _ => Reported::Kept(kept),
        }
    }

    /// Puts an execution in doubt whose service has accepted the call and has not reported.
    pub(super) fn unreported(
        &self,
        waiting: Execution<Waiting>,
        reason: &str,
        by: &GraphRunner,
    ) -> InDoubt {
        let epoch = Progress::of(&waiting).permit().map_or(0, |(_, epoch)| epoch);
        InDoubt::unreported(waiting, epoch, reason, self.now(), by)
    }
}

/// The execution with a report, not committed, and whether the report settles it.
fn reported(
    current: AnyExecution,
    evidence: &Evidence,
    epoch: u64,
    by: Who<'_>,
) -> (AnyExecution, bool) {
    let library = &GraphRunner::STORE;
    let fact = |late| CallFact::Evidence { epoch, evidence: evidence.clone(), late };
    match (current, evidence) {
        (AnyExecution::Running(mut running), Evidence::Applied(receipt)) => {
            append(&mut running, by, fact(false));
            (running.succeed(receipt.clone(), library).into(), true)
        }
        (AnyExecution::Waiting(mut waiting), evidence)
            if Progress::of(&waiting).awaits_report() =>
        {
            append(&mut waiting, by, fact(false));
            let running = waiting.resume(library);
            let ended = match evidence {
                Evidence::Applied(receipt) => running.succeed(receipt.clone(), library).into(),
                Evidence::NotApplied(Refusal { message, data }) => {
                    running.fail(message.clone(), data.clone(), library).into()
                }
                Evidence::Unknown(reason) => running.fail(reason.clone(), None, library).into(),
            };
            (ended, true)
        }
        (mut other, _) => {
            append(&mut other, by, fact(true));
            (other, false)
        }
    }
}

/// The result of a report.
#[derive(Debug)]
#[must_use = "a report that contradicts what is known changes no state"]
pub enum Reported {
    /// The report settled the execution, which is COMPLETED or FAILED.
    Settled(AnyExecution),
    /// The report was known before. Nothing was changed.
    Known(AnyExecution),
    /// The report is kept as late evidence, and changes no state: the execution has ended, or its
    /// call is still running.
    Kept(AnyExecution),
}

/// Why a report was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "most names of fields say enough")]
pub enum ReportError {
    /// No call has this id and this token.
    #[error("no call with the id {id} has this token; send the id and the token of the call")]
    NoSuchCall { id: Id },
    /// The service of the execution does not report.
    #[error(
        "{id} has no call to report about; reports need a tool whose effect is `AnswersLater` and a \
         call that has begun"
    )]
    NoCallback { id: Id },
    /// The execution calls another tool.
    #[error("{id}: {source}")]
    Contract { id: Id, source: Box<InvalidContract> },
    /// Too many different reports.
    #[error("{id} already has {MAX_EVIDENCE} different pieces of evidence; this one was not kept")]
    TooMany { id: Id },
    /// The execution cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The report is not on disk.
    #[error(transparent)]
    Commit(#[from] EffectError),
}

impl ReportError {
    /// The reason, if the storage is unavailable.
    #[must_use]
    pub fn unavailable(&self) -> Option<&crate::store::Unavailable> {
        match self {
            Self::Load(LoadError::Unavailable(error))
            | Self::Commit(EffectError::Unavailable(error)) => Some(error),
            _ => None,
        }
    }
}
