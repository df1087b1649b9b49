use crate::{
    contract::{CallStage, Release, execution},
    store::read::query::Query,
};

impl Query {
    /// Executions that are deferred by their gates, released, or refused.
    ///
    /// ```
    /// use machine::contract::Release;
    /// use machine::store::Query;
    ///
    /// let mails_that_wait = Query::new().release(Release::Deferred).session("trip");
    /// ```
    pub fn release(mut self, release: Release) -> Self {
        self.filter.with_gate = Some(release.statuses());
        self.machine(&*execution::DEFINITION.name)
    }

    /// Machines in a state with a call in this stage. Ended calls are not found: the machine takes
    /// their outcome.
    ///
    /// ```
    /// use machine::contract::CallStage;
    /// use machine::store::Query;
    ///
    /// let orders_that_ask = Query::new().machine("order").calls(CallStage::Asked);
    /// ```
    pub fn calls(mut self, stage: CallStage) -> Self {
        self.filter.calls = Some(stage.states());
        self.live()
    }
}
