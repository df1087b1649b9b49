use crate::store::{
    backend::{FoundRow, Messages},
    error::LoadError,
    handle::Store,
    inbox::message::{Delivery, Received},
    integrity::verify::VerifyReport,
};

impl Store {
    /// Verifies a message that brings the outcome of a call: the call is a child of the machine,
    /// and has ended.
    pub(super) async fn verify_outcome(
        &self,
        message: &Received,
        report: &mut VerifyReport,
    ) -> Result<(), LoadError> {
        let to = message.to;
        let Some(call) = message.call() else { return Ok(()) };
        if !matches!(message.status, Delivery::Queued | Delivery::Handled) {
            return Ok(());
        }
        // What is read last decides: pruning deletes a call, its relation to its parent, and its
        // outcome together.
        let (parent, call_row) = (self.inner.backend.parent(call).await?, self.found(call).await?);
        let again = Messages::One(to, message.correlation.clone());
        if self.inner.backend.messages(again).await?.is_empty() {
            return Ok(());
        }
        // Once the machine has ended, it can be pruned, too.
        let lives = match self.found(to).await? {
            FoundRow::Row(row, _) => !row.ended,
            FoundRow::Missing(_) => return Ok(()),
            FoundRow::Broken(_) => true,
        };
        let wrong = match (call_row, parent) {
            (FoundRow::Missing(_), _) if lives => "is missing",
            (FoundRow::Row(row, _), _) if !row.ended => "has not ended",
            (FoundRow::Row(..), Ok(parent)) if parent != Some(to) => "is not its child",
            // What is broken is reported with the machine.
            _ => return Ok(()),
        };
        report.add(Some(to), format!("its inbox has the outcome of {call}, which {wrong}"));
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
