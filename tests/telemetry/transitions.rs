//! One event for each entry that is on disk, and none for what was refused.

use machine::{
    Id,
    effects::EffectError,
    journal::Fact,
    store::{CommitError, Store},
};
use machine_tests::actors::graph_runner;
use proptest::prelude::*;

use crate::{
    capture::{Report, captured},
    errand::{AnyErrand, Errand, errand},
};

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Moves in memory.
    Note,
    /// Commits the moves made in memory.
    Commit,
    /// Commits a move of another copy of the machine.
    Elsewhere,
    /// Discards the moves made in memory.
    Reload,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Note),
        2 => Just(Step::Commit),
        1 => Just(Step::Elsewhere),
        1 => Just(Step::Reload),
    ];
    prop::collection::vec(step, 0..12)
}

async fn load(store: &Store, id: Id) -> AnyErrand {
    store.load(id).await.unwrap()
}

fn noted(errand: AnyErrand) -> AnyErrand {
    let event = errand::Event::Note { note: "more".to_owned() };
    errand.apply(event, graph_runner()).unwrap()
}

/// Runs the steps; returns the history of the machine as lines.
async fn run(store: Store, steps: &[Step]) -> (Id, Vec<String>) {
    let mut errand = Errand::new("note".to_owned());
    let id = errand.id();
    store.create(&mut errand).await.unwrap();
    let mut errand: AnyErrand = errand.open(graph_runner()).into();
    for step in steps {
        match step {
            Step::Note if matches!(errand, AnyErrand::Open(_)) => errand = noted(errand),
            Step::Note => {}
            Step::Commit => match store.commit(&mut errand).await {
                Ok(()) => {}
                Err(EffectError::Commit(CommitError::Conflict { .. })) => {
                    errand = load(&store, id).await;
                }
                Err(error) => panic!("{error}"),
            },
            Step::Elsewhere => {
                let other = load(&store, id).await;
                if matches!(other, AnyErrand::Open(_)) {
                    store.commit(&mut noted(other)).await.unwrap();
                }
            }
            Step::Reload => errand = load(&store, id).await,
        }
    }
    let history = store.history(id).await.unwrap();
    let lines = history.entries.iter().map(|entry| match &entry.fact {
        Fact::Moved { from, to, trigger, .. } => {
            format!("{} {from} -{trigger}-> {to} by system", entry.number + 1)
        }
        Fact::Created { state, .. } => format!("{} {state}", entry.number + 1),
        other => panic!("{other:?}"),
    });
    (id, lines.collect())
}

/// The reports about a machine, in the same form.
fn reported(reports: &[Report], id: Id) -> Vec<String> {
    let id = id.to_string();
    let of_machine = reports.iter().filter(|report| report.get("machine.id") == id);
    of_machine
        .filter_map(|report| match report.name {
            "machine.created" => {
                let (version, state) = (report.get("machine.version"), report.get("machine.state"));
                Some(format!("{version} {state}"))
            }
            "machine.transition" => {
                let [version, from, trigger, to, actor] = [
                    "machine.version",
                    "machine.state.from",
                    "machine.trigger",
                    "machine.state.to",
                    "machine.actor.category",
                ]
                .map(|field| report.get(field));
                Some(format!("{version} {from} -{trigger}-> {to} by {actor}"))
            }
            _ => None,
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is committed, refused, thrown away or only moved in memory.
    #[test]
    fn events_are_the_journal(steps in steps()) {
        let ((id, journal), reports) = captured(run(Store::memory(), &steps));
        prop_assert_eq!(reported(&reports, id), journal);
    }
}

/// A batch that is refused reports nothing of any of its machines, and the class of its error.
#[test]
fn a_refused_batch_has_no_events() {
    let (id, reports) = captured(async {
        let store = Store::memory();
        let mut first = Errand::new("note".to_owned());
        store.create(&mut first).await.unwrap();
        let mut stale = load(&store, first.id()).await;
        let mut first = first.open(graph_runner());
        store.commit(&mut first).await.unwrap();
        stale = stale.apply(errand::Event::Open {}, graph_runner()).unwrap();
        let mut second = Errand::new("note".to_owned());
        let refused = store.batch().create(&mut second).commit(&mut stale).write().await;
        assert!(
            matches!(refused, Err(EffectError::Commit(CommitError::Conflict { .. }))),
            "{refused:?}"
        );
        second.id()
    });
    assert_eq!(reported(&reports, id), [""; 0]);
    let commits: Vec<_> = reports.iter().filter(|report| report.name == "machine.commit").collect();
    let errors: Vec<_> = commits.iter().map(|commit| commit.get("error.type")).collect();
    assert_eq!(errors, ["", "", "conflict"]);
    assert_eq!(commits[2].get("otel.status_code"), "ERROR");
    assert_eq!(commits[2].get("machine.batch.size"), "2");
}

/// A commit whose answer was lost, and that the next try finds on disk.
#[test]
fn a_commit_that_is_found_later_is_reported_once() {
    let ((), reports) = captured(async {
        let world = crate::world::World::new("note").await;
        crate::storage::indeterminate(&world).await;
    });
    let created = reports.iter().filter(|report| report.name == "machine.created").count();
    assert_eq!(created, 1);
}
