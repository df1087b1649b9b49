//! Calls and the worker that has begun them: they outlive it, and it says that it waits for them.

use crate::worker::prelude::*;

/// Its receipt counts, without a doubt in between, whether the worker was stopped or dropped.
#[test]
fn a_call_outlives_its_worker() {
    for is_stopped in [true, false] {
        each(async |store| {
            let (id, bank) = (plan::<Charge>(&store, charge(3)).await, Service::held());
            let first = worker(&store).tool::<Charge>(bank.clone()).grace(Duration::ZERO);
            if is_stopped {
                let running = first.start();
                bank.called().await;
                running.stop().await.unwrap();
            } else {
                tokio::select! {
                    ended = first.run_until(std::future::pending()) => panic!("{ended:?}"),
                    () = bank.called() => {}
                }
            }
            // Another worker of the process leaves the call alone.
            settle(worker(&store).tool::<Charge>(bank.clone())).await;
            is(&store, id, "running").await;
            bank.release();
            until("it ends", async || state(&store, id).await == "completed").await;
            assert_eq!(bank.calls(), 1);
        });
    }
}

/// The call ends only after the worker has said that it waits for it.
#[test]
fn a_worker_says_how_many_calls_it_waits_for_and_for_how_long() {
    each(async |store| {
        let id = create(&store, Execution::new(weigh("salt"))).await;
        let (scales, heard) = (Service::held(), Arc::new(Mutex::new(Vec::new())));
        let (go, told) = (scales.clone(), Arc::clone(&heard));
        let running = worker(&store)
            .tool::<Weigh>(scales.clone())
            .grace(Duration::from_mins(1))
            .on_stop(move |stopping| {
                told.lock().unwrap().push((*stopping, stopping.to_string()));
                go.release();
            })
            .start();
        scales.called().await;
        running.stop().await.unwrap();
        let heard = heard.lock().unwrap().clone();
        let [(stopping, text)] = &*heard else { panic!("{heard:?}") };
        assert_eq!((stopping.machines, stopping.calls), (1, 1));
        assert_eq!(stopping.grace, Duration::from_mins(1));
        assert_eq!(text, "stopping: waiting up to 60s for 1 call to finish");
        is(&store, id, "completed").await;
    });
}

/// It had taken the machine of the call by then, and leaves it to another one.
#[test]
fn a_worker_that_was_asked_to_stop_begins_no_call() {
    each(async |store| {
        let (id, bank) = (plan::<Charge>(&store, charge(3)).await, Service::default());
        let stopped = worker(&store).tool::<Charge>(bank.clone());
        stopped.run_until(std::future::ready(())).await.unwrap();
        assert_eq!(bank.calls(), 0);
        settle(worker(&store).tool::<Charge>(bank.clone())).await;
        is(&store, id, "completed").await;
    });
}

#[test]
fn a_worker_that_waits_for_nothing_says_nothing() {
    each(async |store| {
        let silent = worker(&store).on_stop(|stopping| panic!("{stopping}"));
        silent.run_until(std::future::ready(())).await.unwrap();
    });
}
