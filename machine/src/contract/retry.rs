use super::{Contract, Execution};
use crate::{
    actor::{Actor, Human},
    id::Id,
    typed::Terminal,
};

impl Contract {
    /// Creates a new attempt at the action of an execution that ended: same key, new execution. A
    /// person decides this, and the decision is recorded as the approval. The contract is for one
    /// execution: another execution with a copy of it has the same id, and a store refuses it. A
    /// store also refuses to retry an irreversible action that took effect, and a call of a
    /// machine, which would not see the new attempt: a new entry into its state makes the call
    /// again. Without a person, a program plans the action anew.
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
    pub fn retry<S: Terminal>(ended: &Execution<S>, decided_by: &Human) -> Self {
        let mut contract = ended.context().clone();
        contract.0.behind = None;
        contract.0.retry_of = Some(ended.id());
        contract.0.decided_by = decided_by.name().map(str::to_owned);
        contract.0.decided_for = Some(Id::fresh());
        contract
    }
}
