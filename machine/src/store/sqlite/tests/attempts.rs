use super::*;
use crate::{
    store::{
        backend::{AttemptChange, Attempts, Claim, Wants},
        write::attempt::CONTRACTS,
    },
    stored::{Hold, ToolUse},
};

#[allow(clippy::unnecessary_wraps, reason = "fields of a write")]
fn change(opens: bool, hold: Hold, worker: Option<&str>) -> Option<AttemptChange> {
    Some(AttemptChange {
        opens,
        key: "k".to_owned(),
        space: CONTRACTS.to_owned(),
        action: Some(Digest::of(&[b"action"])),
        hold,
        worker: worker.map(str::to_owned),
        expires_at: worker.map(|_| 77),
    })
}

#[allow(clippy::unnecessary_wraps, reason = "fields of a write")]
fn claim(wants: Wants, action: &[u8]) -> Option<Claim> {
    let (key, space) = ("k".to_owned(), CONTRACTS.to_owned());
    Some(Claim { key, space, action: Some(Digest::of(&[action])), wants })
}

/// Begins the action of the key.
fn begin(machine: &mut Machine) -> Write {
    let (claim, attempt) = (claim(Wants::Free, b"action"), change(true, Hold::Held, Some("w")));
    Write { claim, attempt, ..machine.write(1) }
}

#[test]
fn a_key_is_held_by_one_until_it_is_free() {
    let place = Place::new();
    let store = place.open();
    let (mut a, mut b) = (stored(&store, 1), stored(&store, 1));
    let (id, by) = (b.row.id, a.row.id);
    apply(&store, vec![begin(&mut a)]).unwrap();
    let before = b.clone();
    assert_eq!(apply(&store, vec![begin(&mut b)]), Err(Rejected::KeyHeld { id, by }));
    let found = wait(store.attempts(Attempts::Unanswered)).unwrap();
    let attempt = found[0].clone().unwrap();
    assert_eq!((attempt.by, attempt.token, attempt.expires_at), (by, 3, Some(77)));

    // A machine that does not take the key may be written while it is held.
    let mut c = Machine::new();
    let other = |wants, action| Write { claim: claim(wants, action), ..Machine::new().write(1) };
    apply(&store, vec![Write { claim: claim(Wants::NotApplied, b"action"), ..c.write(1) }])
        .unwrap();
    let reused = apply(&store, vec![other(Wants::NotApplied, b"another action")]);
    assert!(matches!(reused, Err(Rejected::KeyReused { by: found, .. }) if found == by));

    let free = Write { attempt: change(false, Hold::Free, None), ..a.write(1) };
    apply(&store, vec![free]).unwrap();
    assert!(wait(store.attempts(Attempts::Unanswered)).unwrap().is_empty());
    let mut b = before;
    apply(&store, vec![begin(&mut b)]).unwrap();
    let applied = Write { attempt: change(false, Hold::Applied, None), ..b.write(1) };
    apply(&store, vec![applied]).unwrap();
    let done = apply(&store, vec![other(Wants::Free, b"action")]);
    assert!(matches!(done, Err(Rejected::AlreadyDone { by, .. }) if by == id));
    let done = apply(&store, vec![other(Wants::NotApplied, b"action")]);
    assert!(matches!(done, Err(Rejected::AlreadyDone { by, .. }) if by == id));
    let all = wait(store.attempts(Attempts::OfKey("k".to_owned()))).unwrap();
    let holds: Vec<Hold> = all.into_iter().map(|attempt| attempt.unwrap().hold).collect();
    assert_eq!(holds, [Hold::Free, Hold::Applied]);
}

#[test]
fn two_machines_of_one_batch_do_not_both_get_a_key() {
    let place = Place::new();
    let store = place.open();
    let (mut a, mut b) = (stored(&store, 1), stored(&store, 1));
    let (id, by) = (b.row.id, a.row.id);
    let before = a.clone();
    let refused = apply(&store, vec![begin(&mut a), begin(&mut b)]);
    assert_eq!(refused, Err(Rejected::KeyHeld { id, by }));
    // One that gives it back and one that takes it may share a batch.
    a = before;
    apply(&store, vec![begin(&mut a)]).unwrap();
    let free = Write { attempt: change(false, Hold::Free, None), ..a.write(1) };
    let mut b = b.clone();
    b.row.version -= 1;
    apply(&store, vec![free, begin(&mut b)]).unwrap();
}

#[test]
fn an_attempt_that_was_edited_frees_nothing() {
    let place = Place::new();
    let store = place.open();
    let mut a = stored(&store, 1);
    apply(&store, vec![begin(&mut a)]).unwrap();
    let raw = place.raw();
    raw.execute("UPDATE attempt SET hold = 0", []).unwrap();
    let mut b = Machine::new();
    let id = b.row.id;
    let refused = apply(&store, vec![begin(&mut b)]);
    assert!(matches!(refused, Err(Rejected::BrokenAttempt { id: found, .. }) if found == id));
    let settle = Write { attempt: change(false, Hold::Applied, None), ..a.write(1) };
    let refused = apply(&store, vec![settle]);
    assert!(matches!(refused, Err(Rejected::BrokenAttempt { .. })));
    let broken = wait(store.attempts(Attempts::OfKey("k".to_owned()))).unwrap().remove(0);
    assert_eq!(broken.unwrap_err().id, Some(a.row.id));

    for sql in
        ["DELETE FROM attempt", "UPDATE attempt SET token = 9", "UPDATE attempt SET key = 'x'"]
    {
        assert!(raw.execute(sql, []).is_err(), "{sql}");
    }
    // A change without an attempt is refused too.
    let mut c = Machine::new();
    let change = change(false, Hold::Free, None)
        .map(|change| AttemptChange { key: "other".to_owned(), ..change });
    let refused = apply(&store, vec![Write { attempt: change, ..c.write(1) }]);
    assert!(matches!(refused, Err(Rejected::BrokenAttempt { .. })));
}

/// The effect of a tool is kept in the file, for other processes and later ones.
#[test]
fn an_irreversible_tool_stays_so_in_the_file() {
    let calls = |irreversible| {
        let name = "email.send".to_owned();
        let tool = ToolUse { name, irreversible, identity: false, begins: false };
        Write { tool: Some(tool), ..Machine::new().write(1) }
    };
    let place = Place::new();
    let (store, second) = (place.open(), place.open());
    apply(&store, vec![calls(false)]).unwrap();
    apply(&second, vec![calls(true)]).unwrap();
    for store in [store, second, place.open()] {
        let lowered = apply(&store, vec![calls(false)]);
        assert!(matches!(lowered, Err(Rejected::EffectLowered { .. })), "{lowered:?}");
        drop(wait(store.close()));
    }
    let raw = place.raw();
    let sql = "UPDATE tool SET identity = 1";
    assert_eq!(raw.execute(sql, []).unwrap(), 1, "nothing has shown it");
    for sql in [
        "DELETE FROM tool",
        "UPDATE tool SET name = 'x'",
        "UPDATE tool SET identity = 0",
        "UPDATE tool SET identity = NULL",
        "REPLACE INTO tool VALUES ('email.send', 0)",
    ] {
        assert!(raw.execute(sql, []).is_err(), "{sql}");
    }
}
