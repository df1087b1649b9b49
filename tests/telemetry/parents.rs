//! Spans and events are in the right spans, across tasks and threads.

use std::time::Duration;

use machine::{
    contract::{Action, Applied, Settled},
    effects::PerformError,
};
use tracing::Instrument;

use crate::{
    capture::{Report, captured, until},
    errand::{Does, Hold},
    storage,
    world::{Service, World},
};

/// The names from the report up to the root.
fn path(reports: &[Report], report: &Report) -> Vec<&'static str> {
    let mut path = vec![report.name];
    let mut parent = report.parent;
    while let Some(index) = parent {
        path.push(reports[index].name);
        parent = reports[index].parent;
    }
    path
}

fn paths(reports: &[Report], name: &str) -> Vec<Vec<&'static str>> {
    let named =
        reports.iter().filter(|report| report.get("message") == name || report.name == name);
    named.map(|report| path(reports, report)).collect()
}

#[test]
fn a_call_by_a_worker() {
    let ((), reports) = captured(async {
        let world = World::new("x").await;
        let _ = world.stored(world.mail(1)).await;
        let service = world.service(Ok(Applied::new("sent")));
        let worker = world.worker(Does::Opens).other_tools(service).start();
        until(|report| report.name == "machine.call.answered").await;
        // The worker runs in separate tasks, so that its spans are not in this one.
        worker.stop().instrument(tracing::info_span!("main")).await.unwrap();
    });
    let call = ["execute_tool", "machine.process"];
    assert_eq!(paths(&reports, "execute_tool"), [call]);
    for (name, place) in [
        ("the service answers", None),
        ("machine.call.begun", Some("machine.commit")),
        ("machine.call.answered", Some("machine.commit")),
    ] {
        let found = paths(&reports, name);
        let expected: Vec<_> = place.into_iter().chain(call).collect();
        assert_eq!(found.iter().map(|path| &path[1..]).collect::<Vec<_>>(), [expected], "{name}");
    }
    let claimed = paths(&reports, "machine.worker.claimed");
    assert!(claimed.iter().all(|path| path[1..] == ["machine.process"]), "{claimed:?}");
}

/// The tool's own spans are children of the call, also after its timeout, on any task.
#[test]
fn a_call_that_is_late() {
    let ((), reports) = captured(async {
        let world = World::new("x").await;
        let mail = world.mail(1).timeout_after(Duration::from_millis(20));
        let mail = world.stored(mail).await;
        let service = world.service(Ok(Applied::new("sent")));
        let hold = Hold::default();
        let service = Service { hold: Some(hold.clone()), ..service };
        let settled = world.store.perform::<Action>(mail, service, &world.actors.tool_node);
        let settled = settled.instrument(tracing::info_span!("caller")).await.unwrap();
        let Settled::TimedOut(_, late) = settled else { panic!("{settled:?}") };
        hold.let_go();
        let other = tracing::info_span!("another span");
        tokio::spawn(late.instrument(other)).await.unwrap().unwrap();
    });
    let answers = paths(&reports, "the service answers");
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0][1..], ["execute_tool", "caller"]);
    let late = paths(&reports, "machine.call.late");
    assert_eq!(
        late.iter().map(|path| &path[1..3]).collect::<Vec<_>>(),
        [["machine.commit", "execute_tool"]]
    );
    let call = reports.iter().find(|report| report.name == "execute_tool").unwrap();
    assert_eq!(call.get("machine.call.outcome"), "timed_out");
    assert_eq!(call.get("error.type"), "timeout");
    assert_eq!(paths(&reports, "machine.call.timed_out")[0][1], "execute_tool");
}

/// Also if its outcome could not be written at first.
#[test]
fn a_late_call_that_is_settled_again() {
    let ((), reports) = captured(async {
        let world = World::new("x").await;
        let (store, by) = (&world.store, &world.actors.tool_node);
        let mail = world.mail(1).timeout_after(Duration::from_millis(20));
        let mail = world.stored(mail).await;
        let hold = Hold::default();
        let service = world.service(Ok(Applied::new("sent")));
        let service = Service { hold: Some(hold.clone()), ..service };
        let fills = async {
            hold.is_held().await;
            storage::next_commit_is_full();
        };
        let (settled, ()) = tokio::join!(store.perform::<Action>(mail, service, by), fills);
        let Err(PerformError::NotSettled { at_stake, .. }) = settled else { panic!("{settled:?}") };
        let (running, outcome) = *at_stake;
        let settled = store.settle(running, outcome, by).await.unwrap();
        let Settled::TimedOut(_, late) = settled else { panic!("{settled:?}") };
        hold.let_go();
        let _ = late.await.unwrap();
    });
    let answers = paths(&reports, "the service answers");
    assert_eq!(answers.iter().map(|path| path[1]).collect::<Vec<_>>(), ["execute_tool"]);
}

/// A commit is in the span of the caller, although threads of the store write it.
#[test]
fn a_commit() {
    let ((), reports) = captured(async {
        let world = World::new("x").await;
        world.errand().instrument(tracing::info_span!("caller")).await;
    });
    assert_eq!(
        paths(&reports, "machine.created"),
        [["machine.created", "machine.commit", "caller"]]
    );
}

/// Each drive is a separate trace.
#[test]
fn drives_are_roots() {
    let ((), reports) = captured(async {
        let world = World::new("x").await;
        world.errand().await;
        let idle = world.worker(Does::Opens).run_until_idle();
        idle.instrument(tracing::info_span!("main")).await.unwrap();
    });
    let drives = paths(&reports, "machine.process");
    assert!(!drives.is_empty());
    assert!(drives.iter().all(|path| path.len() == 1), "{drives:?}");
    let process = reports.iter().find(|report| report.name == "machine.process").unwrap();
    assert_eq!(process.get("otel.name"), "process errand");
}
