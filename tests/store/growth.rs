//! The costs of a machine do not grow with its history. Sizes are counted, not times.

use machine::{
    Id,
    contract::{AnyExecution, execution::Event},
    machine,
};
use machine_tests::actors::{graph_runner, tool_node};
use machine_tests::samples::read;
use serde::{Deserialize, Serialize};

use crate::store::support::{Place, on_file};

on_file! {
    a_machine_forgets_what_is_stored,
    an_execution_forgets_what_is_stored,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Counter {
    #[initial]
    #[on(step => Self)]
    Counting,
}

/// The size of what is stored of a machine besides its journal.
fn size(place: &Place, id: Id) -> u64 {
    let sql = "SELECT length(i.id) + length(i.status) + length(i.seal) + length(i.summary)
                      + length(i.state) + length(c.body)
               FROM instance i JOIN context c ON c.instance = i.no WHERE i.id = ?1";
    let size: i64 =
        place.raw().query_row(sql, [crate::store::support::blob(id)], |row| row.get(0)).unwrap();
    size.unsigned_abs()
}

/// After 10,000 transitions, nothing is kept in memory, and the row has the size that it had after
/// 100: it only counts higher.
async fn a_machine_forgets_what_is_stored(place: Place) {
    let mut counter = AnyCounter::from(Counter::new());
    place.store.create(&mut counter).await.unwrap();
    let id = counter.id();
    let mut sizes = Vec::new();
    for round in 1..=100_u64 {
        for _ in 0..100 {
            counter.apply_mut(counter::Event::Step, &machine::actor::Anyone).unwrap();
        }
        assert_eq!(counter.journal().uncommitted().len(), 100);
        place.store.commit(&mut counter).await.unwrap();
        assert!(counter.journal().uncommitted().is_empty());
        if round == 1 || round == 100 {
            // The summary counts transitions.
            sizes.push(size(&place, id) - (100 * round).to_string().len() as u64);
        }
    }
    assert_eq!(sizes[0], sizes[1]);
    assert_eq!(counter.journal().version(), 10_001);
    assert_eq!(counter.journal().summary().transitions, 10_000);

    let loaded: AnyCounter = place.store.load(id).await.unwrap();
    assert!(loaded.journal().uncommitted().is_empty());
    assert_eq!(loaded.journal().summary(), counter.journal().summary());
    assert_eq!(place.entries(id).await.len(), 10_001);
    place.store.verify::<AnyCounter>(id).await.unwrap();
}

/// An execution, whose summary knows its calls, drops its stored entries, too.
async fn an_execution_forgets_what_is_stored(place: Place) {
    let mut execution = AnyExecution::from(place.stored(read("a.txt")).await.start(tool_node()));
    let id = execution.id();
    let mut sizes = Vec::new();
    for round in 0..200_u64 {
        let prompt = "which encoding?".to_owned();
        execution.apply_mut(Event::Suspend { prompt }, tool_node()).unwrap();
        execution.apply_mut(Event::Resume, graph_runner()).unwrap();
        place.store.commit(&mut execution).await.unwrap();
        assert!(execution.journal().uncommitted().is_empty());
        if round == 5 || round == 40 {
            sizes.push(size(&place, id));
        }
    }
    // Both rounds count with two digits.
    assert_eq!(sizes[0], sizes[1]);
    assert_eq!(execution.journal().version(), 402);
}

/// `load` reads the row, its context and its newest entry: it does not matter to it how many others
/// there are, nor whether they are there at all.
#[tokio::test]
async fn load_does_not_read_the_history() {
    let place = Place::new().await;
    let mut counter = AnyCounter::from(Counter::new());
    for _ in 0..100 {
        counter.apply_mut(counter::Event::Step, &machine::actor::Anyone).unwrap();
    }
    place.store.create(&mut counter).await.unwrap();
    let id = counter.id();
    assert_eq!(place.edit("DELETE FROM journal WHERE instance = ?2 AND number < 100", id), 100);
    let mut loaded: AnyCounter = place.store.load(id).await.unwrap();
    loaded.apply_mut(counter::Event::Step, &machine::actor::Anyone).unwrap();
    place.store.commit(&mut loaded).await.unwrap();
    assert!(place.store.verify::<AnyCounter>(id).await.is_err());
}
