use super::{AnyExecution, Contract, Decides, Execution, Progress};
use crate::{
    id::Id,
    stored::Durable,
    typed::{State, Terminal},
};

impl Contract {
    /// A new attempt at the action of an execution that ended: same key, new execution. A
    /// person decides it, or a [`Policy`](super::Policy) that says so, and that is recorded as its
    /// approval. It is for one execution: another one with a copy of this contract has the same id,
    /// and a store refuses it. A policy can repeat what a person approved and what then failed, until
    /// that approval [ends](Self::approval_end), but not what was declined, or took effect. A store
    /// refuses to retry an irreversible action that took effect. A new attempt at the action of a child has to be a
    /// child of the same machine, which would not see it otherwise.
    ///
    /// ```
    /// use machine::actor::Human;
    /// use machine::contract::{Contract, Execution, execution::Failed};
    ///
    /// fn once_more(failed: &Execution<Failed>, ann: &Human) -> Contract {
    ///     Contract::retry(failed, ann)
    /// }
    /// ```
    #[must_use]
    pub fn retry<S>(ended: &Execution<S>, decided_by: &impl Decides) -> Self
    where
        S: Terminal + State<Any = AnyExecution>,
        Execution<S>: Durable,
    {
        let (mut contract, decider) = (ended.context().clone(), decided_by.__decider());
        // An action that a person had to approve is for a policy only if it was approved, and did not take
        // effect: otherwise it stays behind its gate, which is for another execution.
        let progress = Progress::read(ended);
        if decider.is_human() {
            (contract.0.behind, contract.0.approval_end) = (None, None);
        } else if progress.approved_by().is_some() && !progress.is_applied() {
            contract.0.behind = None;
            contract.0.approval_end = progress.approval_end.or(contract.0.approval_end);
        }
        contract.0.retry_of = Some(ended.id());
        contract.0.decided_by = Some(decider);
        contract.0.decided_for = Some(Id::fresh());
        contract
    }
}
