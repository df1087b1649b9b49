//! Shared fields are only a way of writing: the machine is the one whose states declare them.

use machine::{
    Id, machine,
    store::Store,
    stored::{Durable, Unverified},
};
use serde::{Deserialize, Serialize};

/// Declares the same machine in a module, with these options and states.
macro_rules! flow {
    ($module:ident [$($option:tt)*] { $($body:tt)* }) => {
        mod $module {
            use super::*;

            #[machine(durable, on(stop => Stopped, from = Working), $($option)*)]
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            pub(super) enum Flow { $($body)* }
        }
    };
}

flow!(shared [
    fields(
        /// What is wanted.
        #[audience(human)]
        goal: String,
        #[was = "attempts"]
        #[serde(default)]
        tries: u32,
        in = Working | Finished,
    ),
    fields(epoch: u64),
] {
    #[initial]
    #[on(start(goal, tries = 0, epoch = epoch + 1) => Planning)]
    Idle,
    #[group(Working)]
    #[on(execute(step) => Executing)]
    Planning,
    #[group(Working)]
    #[on(again(tries = tries + 1) => Self)]
    #[on(finish => Finished)]
    Executing { step: String },
    #[terminal]
    Finished,
    #[terminal]
    Stopped,
});

flow!(written [] {
    #[initial]
    #[on(start(goal, tries = 0, epoch = epoch + 1) => Planning)]
    Idle { epoch: u64 },
    #[group(Working)]
    #[on(execute(step) => Executing)]
    Planning {
        #[audience(human)]
        goal: String,
        #[was = "attempts"]
        #[serde(default)]
        tries: u32,
        epoch: u64,
    },
    #[group(Working)]
    #[on(again(tries = tries + 1) => Self)]
    #[on(finish => Finished)]
    Executing {
        #[audience(human)]
        goal: String,
        #[was = "attempts"]
        #[serde(default)]
        tries: u32,
        epoch: u64,
        step: String,
    },
    #[terminal]
    Finished {
        #[audience(human)]
        goal: String,
        #[was = "attempts"]
        #[serde(default)]
        tries: u32,
        epoch: u64,
    },
    #[terminal]
    Stopped { epoch: u64 },
});

#[test]
fn the_definition_and_the_fingerprint_are_the_same() {
    let (shared, written) = (shared::flow::DEFINITION, written::flow::DEFINITION);
    assert_eq!(shared, written);
    assert_eq!(shared.fingerprint, written.fingerprint);
    let text = |definition| serde_json::to_string(definition).unwrap();
    assert_eq!(text(shared), text(written));
}

/// The state, and the facts of the journal, as they are stored.
fn stored(machine: &dyn Durable) -> (String, String) {
    let claim = Unverified::of(machine).unwrap();
    let facts: Vec<_> = claim.journal.iter().map(|entry| &entry.fact).collect();
    (claim.record.state, serde_json::to_string(&facts).unwrap())
}

#[tokio::test]
async fn the_stored_bytes_are_the_same_and_either_program_reads_them() {
    let moved = shared::Flow::new(1).start("shed".into()).execute("saw".into()).again();
    let other = written::Flow::new(1).start("shed".into()).execute("saw".into()).again();
    let (state, facts) = stored(&moved);
    assert!(state.contains("shed") && facts.contains("saw"), "{state} {facts}");
    assert_eq!((state, facts), stored(&other));

    let store = Store::memory();
    let mut any = shared::AnyFlow::from(moved);
    store.create(&mut any).await.unwrap();
    let id: Id = any.id();
    let read: written::AnyFlow = store.load(id).await.unwrap();
    let written::AnyFlow::Executing(executing) = read else { panic!("{read:?}") };
    assert_eq!(executing.state(), other.state());
    let read: shared::AnyFlow = store.load(id).await.unwrap();
    assert_eq!(
        (read.goal().map(String::as_str), read.tries(), read.epoch()),
        (Some("shed"), Some(&1), &2)
    );
}
