//! Machines that entered a state before it made calls, in an older program.

use crate::{
    definition::Definition,
    store::{LoadError, Query, Store, Unavailable, inbox::protocol::Event},
};

const PAGE: usize = 500;

/// Wakes the machines in states whose calls they adopt, so that the worker that claims them makes
/// the calls. It also wakes those that have them already, until they move.
pub(super) async fn wake(store: &Store, own: &Definition) -> Result<(), Unavailable> {
    let adopts = |state: usize| own.states[state].invocation.as_ref().is_some_and(|it| it.adopt);
    if !(0..own.states.len()).any(adopts) {
        return Ok(());
    }
    let known = store.inner.backend.definitions().await?.intact;
    for older in known.iter().filter(|it| it.name == own.name && it.fingerprint != own.fingerprint)
    {
        let states = older.states.iter().enumerate().filter(|(index, state)| {
            state.invocation.is_none() && older.successor(*index, own).is_some_and(adopts)
        });
        let states: Vec<String> = states.map(|(_, state)| state.name.to_string()).collect();
        if states.is_empty() {
            continue;
        }
        let query = Query::new().machine(own.name.as_ref()).statuses(states);
        let mut next = Some(query.definition(older.fingerprint).live().limit(PAGE));
        // The check of the definitions has reported other errors.
        while let Some(rows) =
            LoadError::readable(store.next_rows(&mut next, false).await)?.flatten()
        {
            for id in rows.iter().filter_map(|(_, found)| found.id()) {
                let now = store.now();
                store.under_lease(id, Event::Notify { moved: false, now }).await?;
            }
        }
    }
    Ok(())
}
