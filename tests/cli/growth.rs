//! Commands read what they show, however many executions have ended. Steps and rows are counted,
//! not times.

use machine::{
    Id,
    actor::Actors,
    contract::Execution,
    machine,
    observe::Observer,
    store::{Store, cost},
    view::Internal,
};
use machine_console::cli::{Context, Exit};
use machine_tests::{
    actors::tool_node,
    samples::{mail, read},
};
use serde::{Deserialize, Serialize};

use crate::surfaces::{Place, end, parsed};

/// The open work of both files, the oldest in them.
struct Open {
    gate: Id,
    doubt: Id,
    failed: Id,
}

/// A file with open work and with this many executions that have ended.
async fn filled(ended: usize) -> (Place, Open) {
    let place = Place::new().await;
    let (gate, _) = place.gate("ann@example.com").await;
    let open = Open {
        gate: gate.id(),
        doubt: place.doubt("bob@example.com").await,
        failed: place.failed("carl@example.com").await,
    };
    place.order().await;
    for number in 0..ended / 100 {
        // Attempts stay for good.
        place.sent(mail(&format!("{number}@example.com"))).await;
    }
    for first in (0..ended).step_by(1000) {
        let mut done: Vec<_> = (first..first + 1000)
            .map(|number| {
                let running = Execution::new(read(&format!("{number}.txt"))).start(tool_node());
                running.succeed("12 lines".to_owned(), tool_node())
            })
            .collect();
        let mut batch = place.store.batch();
        for machine in &mut done {
            batch = batch.create(machine);
        }
        batch.write().await.unwrap();
    }
    (place, open)
}

/// The cost of commands on a file.
async fn costs((place, open): &(Place, Open)) -> Vec<(String, i64, i64)> {
    let context = Context::new(place.file(), Actors::issue("machine").unwrap());
    let [gate, doubt, failed] = [open.gate, open.doubt, open.failed].map(end);
    let mut costs = Vec::new();
    for arguments in [
        &["list", "--attention-only"][..],
        &["list"],
        &["list", "--status", "failed"],
        &["list", "--status", "waiting"],
        &["list", "--release", "deferred"],
        &["show", &gate],
        &["show", &doubt],
        &["show", &failed],
        &["timeline", &failed],
        &["operations"],
        &["approve", &gate, "--as", "ann", "--yes"],
    ] {
        let _ = cost::take(&place.file());
        let done = machine_console::cli::execute(parsed(arguments), &context).await;
        assert_eq!(done.unwrap(), Exit::Done, "{arguments:?}");
        let cost = cost::take(&place.file());
        costs.push((arguments.join(" "), cost.steps, cost.rows));
    }
    costs
}

#[tokio::test]
async fn commands_read_what_they_show() {
    let (few, many) = (filled(1_000).await, filled(20_000).await);
    let (few, many) = (costs(&few).await, costs(&many).await);
    for ((_, steps, rows), (command, more_steps, more_rows)) in few.iter().zip(&many) {
        let what =
            format!("{command}: {steps} and {more_steps} steps, {rows} and {more_rows} rows");
        assert!(*steps > 0, "{what}");
        // One may open another connection for its reads than the other.
        let (steps, rows) = (steps + 100, rows + 10);
        assert!(more_steps * 4 <= steps * 5 && more_rows * 4 <= rows * 5, "{what}");
    }
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Counter {
    #[initial]
    #[on(step => Self)]
    Counting,
}

/// A stored machine with a history of this length.
async fn counted(place: &Place, length: u64) -> Id {
    let mut counter = AnyCounter::from(Counter::new());
    for _ in 0..length {
        counter.apply_mut(counter::Event::Step, &machine::actor::Anyone).unwrap();
    }
    place.store.create(&mut counter).await.unwrap();
    counter.id()
}

/// A page is as the whole timeline has it, and costs the same wherever it is and however long the
/// history is.
#[tokio::test]
async fn a_page_of_a_timeline_reads_about_its_own_size() {
    let place = Place::new().await;
    let mut pages = Vec::new();
    for length in [1_000, 20_000_u64] {
        let id = counted(&place, length).await;
        let observer = Observer::new(&place.store);
        let whole = observer.timeline::<Internal>(id).await.unwrap();
        assert_eq!(whole.events.len() as u64, length + 1);
        for from in [500, length - 99] {
            let _ = cost::take(&place.file());
            let page = observer.timeline_part::<Internal>(id, from, 100).await.unwrap();
            pages.push(cost::take(&place.file()));
            let first = usize::try_from(from).unwrap();
            assert_eq!(page.events, whole.events[first..first + 100]);
            assert_eq!(page.total, length + 1);
        }
    }
    let (first, others) = pages.split_first().unwrap();
    assert!(first.rows < 250, "{first:?}");
    for other in others {
        assert!(other.steps * 4 <= first.steps * 5, "{pages:?}");
        assert!(other.rows * 4 <= first.rows * 5, "{pages:?}");
    }
}

/// A changed or removed entry is found by the page that has it, and by one with the newest entry.
#[tokio::test]
async fn a_page_of_a_timeline_is_verified() {
    for (edit, wrong_from) in [
        ("UPDATE journal SET body = '{\"by\":\"eve\"}' WHERE instance = 1 AND number = 300", 250),
        ("DELETE FROM journal WHERE instance = 1 AND number = 300", 250),
        ("UPDATE journal SET at = at + 1 WHERE instance = 1 AND number = 1000", 950),
    ] {
        let place = Place::new().await;
        let id = counted(&place, 1000).await;
        place.edit(edit);
        let store = Store::sqlite(place.file()).await.unwrap();
        let observer = Observer::new(&store);
        let wrong = observer.timeline_part::<Internal>(id, wrong_from, 100).await;
        assert!(wrong.is_err(), "{edit}");
        let sound = observer.timeline_part::<Internal>(id, 500, 100).await.unwrap();
        assert_eq!(sound.events.len(), 100, "{edit}");
        assert!(observer.timeline::<Internal>(id).await.is_err(), "{edit}");
    }
}
