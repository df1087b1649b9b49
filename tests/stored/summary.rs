//! A machine's summary of its past is the same, however often it was stored and loaded in between.

use machine::{
    contract::{AnyExecution, Execution, execution::Event},
    journal::Fact,
    store::Store,
    stored::{History, Unverified},
    view::{ConsequenceView, Diagnostic, transitions},
};
use machine_tests::{samples::read, stores::block_on};
use proptest::prelude::*;

use crate::stored::model::{Who, actors, apply, events};

/// The pause after a step.
#[derive(Debug, Clone, Copy)]
enum Pause {
    None,
    Commit,
    /// The machine is committed, dropped, and loaded again.
    Load,
}

fn pauses() -> impl Strategy<Value = Pause> {
    prop_oneof![2 => Just(Pause::None), 1 => Just(Pause::Commit), 1 => Just(Pause::Load)]
}

/// Compares the summary with a fold over the whole history, written by hand.
fn compare(machine: &AnyExecution, history: &History) -> Result<(), TestCaseError> {
    let summary = machine.journal().summary();
    let entries = &history.entries;
    let entered = entries
        .iter()
        .rfind(|entry| matches!(entry.fact, Fact::Created { .. } | Fact::Moved { .. }));
    prop_assert_eq!(summary.created_at, entries[0].at);
    prop_assert_eq!(summary.updated_at, entries.last().unwrap().at);
    prop_assert_eq!(summary.entered_at, entered.unwrap().at);
    let records = transitions::<Diagnostic>(history);
    let last = records.last();
    prop_assert_eq!(summary.transitions, records.len() as u64);
    prop_assert_eq!(summary.last_trigger.as_deref(), last.map(|last| &*last.trigger));
    let actor = last.and_then(|last| last.actor.as_deref());
    prop_assert_eq!(summary.last_actor.as_deref(), actor);
    Ok(())
}

async fn walk(steps: Vec<(Event, Who, Pause)>) -> Result<(), TestCaseError> {
    let store = Store::memory();
    let mut machine = AnyExecution::from(Execution::new(read("a.txt")));
    let id = machine.id();
    store.create(&mut machine).await.unwrap();
    for (event, who, pause) in steps {
        machine = match apply(machine, event, who) {
            Ok(machine) => machine,
            Err(refused) => refused.machine,
        };
        if !matches!(pause, Pause::None) {
            store.commit(&mut machine).await.unwrap();
            prop_assert!(machine.journal().uncommitted().is_empty());
            compare(&machine, &store.history(id).await.unwrap())?;
        }
        if matches!(pause, Pause::Load) {
            let loaded: AnyExecution = store.load(id).await.unwrap();
            prop_assert_eq!(loaded.journal().summary(), machine.journal().summary());
            prop_assert_eq!(loaded.journal().version(), machine.journal().version());
            prop_assert_eq!(ConsequenceView::of(&loaded), ConsequenceView::of(&machine));
            machine = loaded;
        }
    }
    store.commit(&mut machine).await.unwrap();
    let history = store.history(id).await.unwrap();
    prop_assert_eq!(machine.journal().version(), history.entries.len() as u64);
    compare(&machine, &history)?;
    store.verify::<AnyExecution>(id).await.unwrap();

    // Exported and read again, it has its whole history with it, and the same view.
    let json = serde_json::to_string(&store.export(id).await.unwrap()).unwrap();
    let claim: Unverified = serde_json::from_str(&json).unwrap();
    let same: AnyExecution = claim.verify().unwrap();
    compare(&same, &History::of(&same).unwrap())?;
    prop_assert_eq!(ConsequenceView::of(&same), ConsequenceView::of(&machine));
    prop_assert_eq!(
        transitions::<Diagnostic>(&History::of(&same).unwrap()),
        transitions::<Diagnostic>(&history)
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Load and commit anywhere: the summary, the views and the history agree.
    #[test]
    fn a_summary_is_a_fold_of_the_history(
        steps in prop::collection::vec((events(), actors(), pauses()), 0..14)
    ) {
        let start = (Event::Start, Who::Tool, Pause::None);
        let steps = std::iter::once(start).chain(steps).collect();
        block_on(walk(steps))?;
    }
}
