//! The type of a receipt, as the machine that made the call declares it.

use super::Observer;
use crate::{
    contract::Contract,
    store::{LoadError, Unavailable, read::observe::Observed},
};

impl Observer {
    /// The type of the receipt that the machine behind a call reads. `None` if that is a text, or
    /// is not in a definition: no machine made the call, or it takes the outcomes of a set, or its
    /// handler takes them.
    pub(crate) async fn receipt_type(
        &self,
        contract: &Contract,
    ) -> Result<Option<String>, Unavailable> {
        let Some(origin) = contract.invoked() else { return Ok(None) };
        let parent = LoadError::readable(self.store.observed_one(origin.id).await)?;
        // If it was pruned, or cannot be read, the receipt is kept all the same.
        let Some(Observed { definition, .. }) = parent else { return Ok(None) };
        let mut invocations = definition.states.iter().filter_map(|it| it.invocation.as_ref());
        let invocation = invocations.find(|it| it.name == *origin.invocation && !it.set);
        let edge = invocation
            .and_then(|it| it.done.as_ref())
            .and_then(|done| definition.edges_of(done).next());
        let ty = edge.and_then(|edge| edge.payload.first()).map(|item| item.ty.to_string());
        Ok(ty.filter(|ty| ty != "String"))
    }
}
