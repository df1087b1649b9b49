use super::Error;
use crate::{
    id::shortened,
    store::{Query, Store},
};

/// Refuses the name of a session that no machine has: a misspelt one would look as if nothing had happened
/// in it.
pub(super) async fn must_exist(store: &Store, session: &str) -> Result<(), Error> {
    let page = store.list(&Query::new().session(session).limit(1)).await?;
    if !page.items.is_empty() {
        return Ok(());
    }
    let shown = shortened(session);
    Err(Error::id(format!(
        "no machine in this file belongs to the session `{shown}`; `list` shows the sessions"
    )))
}
