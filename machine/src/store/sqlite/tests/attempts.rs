use super::*;
use crate::{store::backend::Attempts, stored::Hold};

#[test]
fn an_attempt_that_was_edited_frees_nothing() {
    let (place, store) = Place::opened();
    let mut a = stored(&store, 1);
    apply(&store, vec![a.write(1).takes("k")]).unwrap();
    place.raw().execute("UPDATE attempt SET hold = 0", []).unwrap();
    let mut b = Machine::execution();
    let id = b.row.id;
    let refused = apply(&store, vec![b.write(1).takes("k")]);
    assert!(
        matches!(refused, Err(Rejected::Commit(CommitError::BrokenAttempt { id: found, .. })) if found == id)
    );
    let refused = apply(&store, vec![a.write(1).turns("k", Hold::Applied)]);
    assert!(matches!(refused, Err(Rejected::Commit(CommitError::BrokenAttempt { .. }))));
    let broken = wait(store.attempts(Attempts::OfKey("k".to_owned()))).unwrap().remove(0);
    assert_eq!(broken.unwrap_err().id, Some(a.row.id));
    // A change without an attempt is refused too.
    let mut c = Machine::execution();
    let refused = apply(&store, vec![c.write(1).turns("other", Hold::Free)]);
    assert!(matches!(refused, Err(Rejected::Commit(CommitError::BrokenAttempt { .. }))));
}
