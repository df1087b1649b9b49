//! Programs of different versions on one file, in turns.

mod programs;

use machine::{
    actor::Anyone,
    effects::EffectError,
    machine,
    store::{CommitError, LoadError, OpenError, OpenOptions, Store},
    stored::VerifyError,
};
use machine_tests::{assert_err, samples::mail, stores::begun, version};
use serde::{Deserialize, Serialize};

use self::programs::{claims, elsewhere, hundredths, roomy, whole};
use crate::store::support::{Place, on_file};

on_file! {
    data_of_a_higher_version_are_refused,
    an_older_program_does_not_lose_what_it_does_not_know_of_the_context,
    an_old_name_may_be_dropped_once_nothing_has_it,
}

/// An upgrade runs once: the older program does not take the newer data for its own.
async fn data_of_a_higher_version_are_refused(place: Place) {
    let mut old = whole::AnyAccount::from(whole::Account::new(whole::Terms { limit: 5 }, 7));
    place.store.create(&mut old).await.unwrap();
    let mut new: hundredths::AnyAccount = place.store.load(old.id()).await.unwrap();
    assert_eq!(new.context().limit, 500);
    let hundredths::AnyAccount::Open(open) = &new else { panic!("{new:?}") };
    assert_eq!(open.state().amount, 700);
    new.apply_mut(hundredths::account::Event::Tick, &Anyone).unwrap();
    place.store.commit(&mut new).await.unwrap();

    let refused = place.store.load::<whole::AnyAccount>(old.id()).await;
    assert_err!(&refused, LoadError::Unreadable(VerifyError::Incompatible { .. }));
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("the data has version 2, but this program has version 1"), "{text}");
    let again: hundredths::AnyAccount = place.store.load(old.id()).await.unwrap();
    assert_eq!(again.context().limit, 500, "upgraded once");
    // Also what the old program still had in its hands is not written over it.
    old.apply_mut(whole::account::Event::Tick, &Anyone).unwrap();
    let refused = place.store.commit(&mut old).await;
    assert_err!(refused, EffectError::Commit(CommitError::Conflict { .. }));
}

/// The context is fixed at creation: a program that does not know all of it writes it back whole.
async fn an_older_program_does_not_lose_what_it_does_not_know_of_the_context(place: Place) {
    let terms = roomy::Terms { limit: 5, owner: "ann".to_owned() };
    let mut new = roomy::AnyAccount::from(roomy::Account::new(terms, 7));
    place.store.create(&mut new).await.unwrap();
    for _ in 0..2 {
        let mut old: whole::AnyAccount = place.store.load(new.id()).await.unwrap();
        assert_eq!(old.context().limit, 5);
        old.apply_mut(whole::account::Event::Tick, &Anyone).unwrap();
        place.store.commit(&mut old).await.unwrap();
        let mut new: roomy::AnyAccount = place.store.load(old.id()).await.unwrap();
        assert_eq!(new.context().owner, "ann");
        new.apply_mut(roomy::account::Event::Freeze, &Anyone).unwrap();
        place.store.commit(&mut new).await.unwrap();
    }
}

/// The name that a state had is part of what the file keeps of a definition: a program that no
/// longer says it does not break it for others.
async fn an_old_name_may_be_dropped_once_nothing_has_it(place: Place) {
    use claims::{first, renamed, settled};

    let claim = place.created(first::Claim::new().accept()).await;
    let refused = place.store.load::<settled::AnyClaim>(claim.id()).await;
    assert_err!(refused, LoadError::Unreadable(VerifyError::Incompatible { .. }));

    let mut claim: renamed::AnyClaim = place.store.load(claim.id()).await.unwrap();
    claim.apply_mut(renamed::claim::Event::Note, &Anyone).unwrap();
    place.store.commit(&mut claim).await.unwrap();
    let mut claim: settled::AnyClaim = place.store.load(claim.id()).await.unwrap();
    claim.apply_mut(settled::claim::Event::Note, &Anyone).unwrap();
    place.store.commit(&mut claim).await.unwrap();
    // In another process, which knows only what is in the file.
    let store = place.open_again().await;
    let claim: settled::AnyClaim = store.load(claim.id()).await.unwrap();
    assert_eq!(claim.journal().version(), 4);
    store.verify::<settled::AnyClaim>(claim.id()).await.unwrap();
    store.load::<renamed::AnyClaim>(claim.id()).await.unwrap();
}

/// A rehearsal sees what the write-ahead log has, also through a symbolic link and under a name
/// that means something in a URI.
#[cfg(unix)]
#[tokio::test]
async fn a_rehearsal_follows_links_and_reads_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a?b#c%20 d.db");
    let link = folder.path().join("link.db");
    let store = Store::sqlite(&file).await.unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for amount in 0..3 {
        let mut one = whole::Account::new(whole::Terms { limit: 5 }, amount);
        store.create(&mut one).await.unwrap();
    }
    for path in [&file, &link] {
        let check =
            OpenOptions::new().machine::<hundredths::AnyAccount>().check(path).await.unwrap();
        assert_eq!(check.machines[0].checked, 3, "{}", path.display());
        assert!(check.is_clean(), "{check}");
        let check =
            OpenOptions::new().machine::<elsewhere::AnyAccount>().check(path).await.unwrap();
        assert_eq!(check.machines[0].blocked.len(), 3);
    }
    let missing = OpenOptions::new().check(folder.path().join("missing.db")).await;
    assert_err!(missing, OpenError::CannotOpen { .. });
}

/// A name that was given up and is used again for another state does not turn a machine of before
/// into that other state: a definition in the file knows better.
#[tokio::test]
async fn a_name_that_is_used_again_does_not_change_what_a_machine_is() {
    use claims::{again, first, renamed};

    let place = Place::new().await;
    let accepted = place.created(first::Claim::new().accept()).await;
    let other = place.created(renamed::Claim::new()).await;
    let refused = place.store.load::<again::AnyClaim>(accepted.id()).await;
    assert_err!(&refused, LoadError::Unreadable(VerifyError::Incompatible { .. }));
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("`accepted` was renamed to `approved`"), "{text}");
    // Where nothing contradicts, the state is taken over.
    place.store.load::<again::AnyClaim>(other.id()).await.unwrap();
    let check = OpenOptions::new().machine::<again::AnyClaim>().check(place.file()).await.unwrap();
    assert_eq!(check.machines[0].blocked.len(), 1);
}

/// An upgrade that panics concerns its machine only: a rehearsal continues and names it.
#[tokio::test]
async fn a_rehearsal_survives_an_upgrade_that_panics() {
    version!(mod before [] enum Lamp {
        #[initial]
        #[on(tick => Self)]
        On { watts: u32 },
    });
    mod after {
        use super::{Deserialize, Serialize, machine};

        #[derive(Deserialize)]
        pub(super) struct On1 {
            watts: u32,
        }

        #[allow(clippy::unnecessary_wraps, clippy::needless_pass_by_value, reason = "an upgrade")]
        pub(super) fn per_second(old: On1) -> Result<lamp::On, std::convert::Infallible> {
            assert!(old.watts > 0, "a lamp without power");
            Ok(lamp::On { joules: old.watts })
        }

        #[machine(durable, version = 2)]
        #[derive(Debug, Serialize, Deserialize)]
        pub(super) enum Lamp {
            #[initial]
            #[upgrade(1 => per_second)]
            #[on(tick => Self)]
            On { joules: u32 },
        }
    }

    let place = Place::new().await;
    let (mut dark, mut bright) = (before::Lamp::new(0), before::Lamp::new(60));
    place.store.batch().create(&mut dark).create(&mut bright).write().await.unwrap();
    let check = OpenOptions::new().machine::<after::AnyLamp>().check(place.file()).await.unwrap();
    assert_eq!(check.machines[0].checked, 2);
    let blocked: Vec<_> = check.machines[0].blocked.iter().map(|blocked| blocked.id).collect();
    assert_eq!(blocked, [dark.id()], "{check}");
    assert!(check.to_string().contains("panicked"), "{check}");
}

/// A rehearsal finds what `load` would find.
#[tokio::test]
async fn a_rehearsal_agrees_with_load() {
    let mut missed = Vec::new();
    for edit in [
        "UPDATE instance SET session = 'another'",
        "UPDATE instance SET due_at = 1",
        "UPDATE instance SET version = version - 1",
        "UPDATE instance SET seal = x'00'",
        "UPDATE instance SET id = x'00'",
        "UPDATE instance SET definition = 99",
        "DELETE FROM context",
        "DELETE FROM journal",
        "DELETE FROM definition",
        "UPDATE definition SET no = no + 1",
        "UPDATE definition SET machine = 'another'",
        "UPDATE definition SET fingerprint = fingerprint + 1",
    ] {
        let place = Place::new().await;
        let one = place.created(whole::Account::new(whole::Terms { limit: 5 }, 7)).await;
        assert_eq!(place.edit(edit, one.id()), 1, "{edit}");
        assert!(place.store.load::<whole::AnyAccount>(one.id()).await.is_err(), "{edit}");
        let options = OpenOptions::new().machine::<whole::AnyAccount>();
        let check = options.check(place.file()).await.unwrap();
        if check.is_clean() {
            missed.push(edit);
        }
    }
    assert!(missed.is_empty(), "`load` notices these edits, and a rehearsal does not: {missed:#?}");
}

/// A program does not open a file with machines whose definition is missing.
#[tokio::test]
async fn a_missing_definition_keeps_a_program_from_opening() {
    for (edit, what) in [
        ("DELETE FROM definition", "is missing from the file"),
        ("UPDATE definition SET body = 'no json'", "cannot be read"),
        (
            "UPDATE definition SET body = replace(body, '\"label\":\"OPEN\"', '\"label\":\"DONE\"')",
            "the seal does not match",
        ),
    ] {
        let place = Place::new().await;
        let one = place.created(whole::Account::new(whole::Terms { limit: 5 }, 7)).await;
        assert_eq!(place.edit(edit, one.id()), 1, "{edit}");
        let options = OpenOptions::new().machine::<hundredths::AnyAccount>();
        let refused = options.sqlite(place.file()).await;
        assert_err!(&refused, OpenError::Incompatible { .. });
        let text = refused.unwrap_err().to_string();
        assert!(text.contains(what), "{text}");
    }
}

/// Two names of one file are one store: a worker is found through either.
#[cfg(unix)]
#[tokio::test]
async fn a_symbolic_link_is_the_same_store() {
    let place = Place::new().await;
    let link = place.folder().join("link.db");
    std::os::unix::fs::symlink(place.file(), &link).unwrap();
    let linked = Store::sqlite(&link).await.unwrap();
    let (_running, _permit) = begun(&linked, mail("bob")).await;
    assert_eq!(place.recovered().await.len(), 0, "its worker is alive");
}
