//! Files edited by hand: what notices an edit, and what a forger needs the key for (DESIGN 3).

mod cases;
mod sample;
mod seen;

use machine::{contract::AnyExecution, store::OpenOptions};
use machine_tests::samples::{asked, mail};

use self::{
    cases::{Case, cases},
    sample::Sample,
    seen::Seen,
};
use crate::store::{
    forger::{Derived, agrees, forge},
    support::Place,
};

const KEY: [u8; 32] = [7; 32];

/// The treatment of the digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digests {
    /// They stay as they are.
    Kept,
    /// A forger without the key recomputes them.
    Recomputed,
}

/// Edits a copy of the sample and reports what its store says; `None` if no digest of the edited
/// file can be recomputed.
async fn tried(sample: &Sample, case: &Case, digests: Digests) -> Option<Seen> {
    let copy = sample.copy();
    let raw = copy.raw();
    case.edit(&raw);
    if digests == Digests::Recomputed && !forge(&sample.derived, &raw).is_ok_and(|any| any) {
        return None;
    }
    drop(raw);
    Some(copy.seen(case.subject).await)
}

/// What the store says of each edit is right.
async fn edits_are(
    key: Option<[u8; 32]>,
    digests: Digests,
    is_right: impl Fn(&Case, Option<&Seen>) -> bool,
) {
    let sample = Sample::new(key).await;
    let mut wrong = Vec::new();
    for case in cases() {
        let seen = tried(&sample, &case, digests).await;
        if !is_right(&case, seen.as_ref()) {
            wrong.push((case, seen));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Each edit is noticed by exactly the operations of the table.
async fn edits_are_noticed(key: Option<[u8; 32]>) {
    edits_are(key, Digests::Kept, |case, seen| case.plain.is(seen.unwrap())).await;
}

#[tokio::test]
async fn edits_of_a_file_without_a_key_are_noticed() {
    edits_are_noticed(None).await;
}

#[tokio::test]
async fn edits_of_a_file_with_a_key_are_noticed() {
    edits_are_noticed(Some(KEY)).await;
}

/// Without a key, write access to the file is enough to forge a history; what contradicts
/// itself is noticed all the same.
#[tokio::test]
async fn a_forger_must_not_contradict_himself() {
    edits_are(None, Digests::Recomputed, |case, seen| match (&case.forged, seen) {
        (Some(expected), Some(seen)) => expected.is(seen),
        (expected, seen) => expected.is_none() && seen.is_none(),
    })
    .await;
}

/// With a key, a forger who does not have it is always noticed, and no action runs again.
#[tokio::test]
async fn a_forger_without_the_key_is_always_noticed() {
    edits_are(Some(KEY), Digests::Recomputed, |_, seen| {
        seen.is_none_or(|seen| {
            let is_noticed = seen.contains_key("open") || seen.contains_key("all");
            is_noticed && seen.get("again").is_none_or(|again| again != "it runs")
        })
    })
    .await;
}

/// The forger of these tests computes every digest like the library.
#[tokio::test]
async fn the_forger_knows_the_format() {
    for key in [None, Some(KEY)] {
        let sample = Sample::new(key).await;
        let copy = sample.copy();
        assert!(agrees(&copy.raw(), key.as_ref()).unwrap());
        assert_eq!(copy.seen(sample::Who::Ann).await, Seen::new());
    }
}

/// A machine that cannot be parked, here because its row was forged, does not prevent the recovery
/// of others.
#[tokio::test]
async fn one_that_cannot_be_parked_does_not_keep_the_others() {
    let place = Place::new().await;
    let mut ids = Vec::new();
    for to in ["ann", "bob", "carl"] {
        let (running, permit) = place.begun(mail(to)).await;
        drop(permit);
        ids.push(running.id());
    }
    let raw = place.unprotected();
    raw.execute("UPDATE instance SET epoch = 1 WHERE no = 2", []).unwrap();
    assert!(forge(&Derived::new(), &raw).unwrap());
    let recovered = place.store.recover().await.unwrap();
    let doubts: Vec<_> = recovered.in_doubt.iter().map(|doubt| doubt.id()).collect();
    assert_eq!(doubts, [ids[0], ids[2]]);
    let [(Some(id), _)] = &recovered.failed[..] else { panic!("{recovered:?}") };
    assert_eq!(*id, ids[1]);
}

/// The error names the machine and the reason, and nothing changes.
#[tokio::test]
async fn the_refusal_says_why() {
    let place = Place::new().await;
    let id = place.created(asked("Deploy?")).await.id();
    place.edit("UPDATE instance SET status = 'completed' WHERE id = ?1", id);
    let before = place.dump();
    let text = place.store.load::<AnyExecution>(id).await.unwrap_err().to_string();
    assert!(text.contains(&id.to_string()), "{text}");
    assert!(text.contains("was changed") && text.contains("backup"), "{text}");
    assert_eq!(place.dump(), before);
}

/// A key shows nowhere, neither in the file nor in what is printed of a store.
#[tokio::test]
async fn the_key_stays_secret() {
    let key = *b"a key of thirty-two printed bytes";
    let key: [u8; 32] = key[..32].try_into().unwrap();
    let options = OpenOptions::new().key(key);
    let place = Place::with(options.clone()).await;
    let _ = place.done(mail("bob")).await;
    let printed = format!("{options:?} {:?}", place.store);
    assert!(!printed.contains("thirty-two") && !printed.contains("97, 32, 107"), "{printed}");
    place.store.close().await.unwrap();
    let bytes = std::fs::read(place.file()).unwrap();
    assert!(!bytes.windows(16).any(|window| window == &key[..16]));
}
