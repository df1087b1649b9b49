//! Calls and the worker that has begun them: they outlive it, and it waits for them.

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

/// Within the time of grace.
#[test]
fn a_worker_that_is_stopped_waits_for_its_calls() {
    each(async |store| {
        let id = create(&store, Execution::new(weigh("salt"))).await;
        let scales = Service::held();
        let waits = worker(&store).tool::<Weigh>(scales.clone()).grace(Duration::from_mins(1));
        let running = waits.start();
        scales.called().await;
        let ends = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            scales.release();
        };
        let (stopped, ()) = tokio::join!(running.stop(), ends);
        stopped.unwrap();
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
