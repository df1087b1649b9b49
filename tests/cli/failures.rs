//! Failures in a worker, as people see them.

use std::time::UNIX_EPOCH;

use machine::{
    actor::Actors,
    clock::{Clock, Millis},
    store::Cause,
};

use crate::{
    surfaces::{AnyOrder, Place, end},
    worker::prelude::{
        AnyLamp, Arc, Count, Duration, Lamp, Mutex, OpenOptions, STUCK, Worker, create, fails,
        rests,
    },
};

/// What the handler says.
const ON_FIRE: &str = "the printer is on fire";

fn worker(place: &Place) -> Worker {
    let fails = fails::<AnyOrder>(&Count::default());
    Worker::new(&place.store, Actors::issue("shop").unwrap()).handler(fails)
}

#[tokio::test]
async fn failures_are_shown_before_work_is_set_aside() {
    let place = Place::new().await;
    let id = place.order().await;
    // The second attempt is not due before people have read of the first.
    worker(&place).backoff(STUCK, STUCK).run_until_idle().await.unwrap();
    for command in [&["list"][..], &["show", &end(id)]] {
        let people = place.run(command);
        assert!(people.done().contains("the program returned an error; 1 attempt"), "{people:?}");
        assert!(people.out.contains("retries"), "{people:?}");
        assert!(people.out.contains("--audience internal"), "{people:?}");
        assert!(!people.out.contains(ON_FIRE), "{people:?}");
        let diagnosis = place.run(&[command, &["--audience", "diagnostic"]].concat());
        assert!(!diagnosis.done().contains(ON_FIRE), "{diagnosis:?}");
        let program = place.run(&[command, &["--audience", "internal"]].concat());
        assert!(program.done().contains(ON_FIRE), "{program:?}");
        assert!(!program.out.contains("--audience"), "{program:?}");
    }
    let document = place.json(&["list"]);
    let concern = &document["attention"]["concerns"][0];
    assert_eq!(concern["reason"], "failing");
    assert_eq!(concern["trouble"]["attempts"], 1);
    assert_eq!(concern["trouble"]["cause"], "failed");
    assert!(concern["trouble"]["at"].is_i64() && concern["trouble"]["retry_at"].is_i64());

    // A person makes it try again at once.
    place.store.requeue(id, &[]).await.unwrap();
    let tried = worker(&place).attempts(2).backoff(Duration::ZERO, Duration::ZERO);
    tried.run_until_idle().await.unwrap();
    let document = place.json(&["list"]);
    let concern = &document["attention"]["concerns"][0];
    assert_eq!(concern["reason"], "set_aside");
    assert_eq!(concern["trouble"]["attempts"], 2);
    let shown = place.run(&["show", &end(id)]);
    assert!(shown.done().contains("the program returned an error; 2 attempts"), "{shown:?}");
    assert!(shown.out.contains("set aside"), "{shown:?}");
}

#[tokio::test]
async fn a_program_hears_of_each_failed_attempt() {
    let place = Place::new().await;
    let id = place.order().await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&heard);
    let worker = worker(&place).attempts(2).backoff(Duration::ZERO, Duration::ZERO);
    let worker = worker.on_error(move |failed| {
        assert_eq!(failed.error, ON_FIRE);
        let which = (failed.id, failed.kind, failed.state, failed.step, failed.cause);
        told.lock().unwrap().push((which, failed.attempt, failed.set_aside));
    });
    worker.run_until_idle().await.unwrap();
    let which = (id, "order", Some("asking"), "state", Cause::Failed);
    assert_eq!(*heard.lock().unwrap(), [(which, 1, false), (which, 2, true)]);
}

/// Two minutes ago.
#[derive(Debug)]
struct Past;

impl Clock for Past {
    fn now(&self) -> Millis {
        let now = UNIX_EPOCH.elapsed().unwrap().saturating_sub(Duration::from_mins(2));
        Millis::try_from(now.as_millis()).unwrap()
    }
}

/// The command that is offered works as it is. For everybody but the program, the machine has been
/// stuck for two minutes.
#[tokio::test]
async fn a_stuck_machine_is_requeued() {
    let place = Place::with(&OpenOptions::new().clock(Past)).await;
    let id = create(&place.store, Lamp::new()).await;
    let worker = Worker::new(&place.store, Actors::issue("post").unwrap());
    worker.handler(rests::<AnyLamp>()).run_until_idle().await.unwrap();
    let command = format!("requeue {id} --as NAME");
    let report = "report this to its developers, and requeue it when they have changed its program";
    place.run(&["list"]).shows(&["stuck", report, &format!("requeue {}", &end(id)[4..])]);
    place.run(&["show", &end(id)]).shows(&[report, &command]);
    let offered: Vec<_> = command.split(' ').collect();
    place.run(&offered).done();
    place.run(&offered).failed(1, "it is not stuck, so there is nothing to requeue");
    let shown = place.run(&["show", &end(id)]);
    assert!(!shown.done().contains("requeue"), "{shown:?}");
}

/// The clock of the program is two minutes late, so that the next attempt is due for everybody
/// else.
#[tokio::test]
async fn due_attempts_are_shown_and_set_aside_work_needs_no_worker() {
    let place = Place::with(&OpenOptions::new().clock(Past)).await;
    let id = create(&place.store, Lamp::new()).await;
    let shown = || place.run(&["show", &end(id)]);
    let worker = || {
        let fails = fails::<AnyLamp>(&Count::default());
        Worker::new(&place.store, Actors::issue("post").unwrap()).handler(fails)
    };
    worker().run_until_idle().await.unwrap();
    let failing = shown();
    assert!(failing.done().contains("; next attempt due since 20"), "{failing:?}");
    assert!(!failing.out.contains("retries"), "{failing:?}");
    assert!(failing.out.contains("no live worker drives `lamp`"), "{failing:?}");
    place.store.requeue(id, &[]).await.unwrap();
    worker().attempts(1).run_until_idle().await.unwrap();
    let aside = shown();
    assert!(aside.done().contains("; set aside"), "{aside:?}");
    assert!(!aside.out.contains("no live worker"), "{aside:?}");
}
