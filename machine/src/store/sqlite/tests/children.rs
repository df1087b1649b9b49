use super::*;
use crate::store::backend::Messages;

/// A machine and its call, at place 0.
fn called(store: &Sqlite) -> (Machine, Machine) {
    let (mut parent, mut call) = (Machine::job(), Machine::execution());
    let children = vec![call.call_of(parent.id(), 0)];
    let writes = [parent.write(1), call.write(1)];
    wait(store.apply(WriteBatch { children, ..batch(writes) })).unwrap().unwrap();
    (parent, call)
}

#[test]
fn a_place_that_was_edited_is_noticed_and_sends_no_outcome() {
    for edit in ["position = 1", "position = -1", "position = NULL", "since = 9", "seal = x'00'"] {
        let (place, store) = Place::opened();
        let (parent, mut call) = called(&store);
        let raw = place.raw();
        assert_eq!(raw.execute(&format!("UPDATE child SET {edit}"), []).unwrap(), 1, "{edit}");
        let children = wait(store.children(parent.id())).unwrap();
        assert!(matches!(children[..], [Err(_)]), "{edit}: {children:?}");
        assert!(wait(store.parent(call.id())).unwrap().is_err(), "{edit}");
        for calls in [store.calls(parent.id(), 7), store.calls(parent.id(), 9)] {
            assert!(wait(calls).unwrap().iter().all(Result::is_err), "{edit}");
        }
        apply(&store, vec![call.end()]).unwrap();
        assert!(wait(store.messages(Messages::All)).unwrap().is_empty(), "{edit}");
    }
}

#[test]
fn a_child_keeps_its_parent() {
    let (place, store) = Place::opened();
    called(&store);
    for edit in ["UPDATE child SET parent = 2", "UPDATE child SET child = 1", "DELETE FROM child"] {
        assert!(place.raw().execute(edit, []).is_err(), "{edit}");
    }
}
