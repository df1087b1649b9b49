use serde_json::Value;

use crate::{
    contract::{CallbackToken, Evidence, MAX_RECEIPT, Refusal, Report, text_of},
    effects::report::{ReportError, Reported},
    id::Id,
    store::handle::Store,
};

/// A call that its service has accepted and not reported yet, opened with the token of the call. A
/// server uses this to take reports without knowing the types of the tools; a program that has
/// these types calls [`Store::report`].
#[derive(Debug)]
pub struct AcceptedCall {
    store: Store,
    id: Id,
    token: CallbackToken,
    /// The name of the tool, such as `deploy.start`.
    pub tool: Option<String>,
}

impl AcceptedCall {
    /// The size of the largest receipt or refusal as JSON, in bytes. Longer ones would be cut.
    pub const LARGEST: usize = MAX_RECEIPT;

    /// Records a report, and settles the executions that it settles.
    ///
    /// # Errors
    ///
    /// [`ReportError`]
    pub async fn report(&self, report: Report<Value, Refusal>) -> Result<Reported, ReportError> {
        let evidence = match report {
            Report::Applied(receipt) => Evidence::Applied(text_of(&receipt)),
            Report::NotApplied(refusal) => Evidence::NotApplied(refusal),
        };
        self.store.take_report(self.id, evidence, &self.token).await
    }
}

impl Store {
    /// The call that this token is for.
    ///
    /// # Errors
    ///
    /// [`ReportError::NoSuchCall`] both for a wrong token and for a wrong id, so that a caller
    /// without a token learns nothing. Otherwise an error whose
    /// [`unavailable`](ReportError::unavailable) is set.
    pub async fn accepted_call(
        &self,
        id: Id,
        token: CallbackToken,
    ) -> Result<AcceptedCall, ReportError> {
        let execution = self.call_of(id, &token).await?;
        let tool = execution.context().action().tool_name();
        Ok(AcceptedCall { store: self.clone(), id, token, tool })
    }
}
