//! A handler reads the calls of its machine: those since it came into its state, typed, with their outcomes.

use std::sync::{Arc, Mutex};

use machine::{
    contract::{Action, CallError, execution::Status},
    worker::{OwnCall, Task},
};

use crate::worker::prelude::*;

/// Three calls in two states.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Errand {
    #[initial]
    #[on(begin => First, by = GraphRunner)]
    Idle,
    #[on(go_on => Second, by = GraphRunner)]
    First,
    #[on(finish => Done, by = GraphRunner)]
    Second,
    #[terminal]
    Done,
}

/// So a helper of a handler can hold `&Task` across an `.await`.
#[test]
fn a_task_can_be_shared_between_threads() {
    fn is_shared<T: Sync>() {}
    is_shared::<Task>();
}

/// The cents of calls, and their outcomes as text.
fn lines(calls: &[OwnCall<Charge>]) -> Vec<String> {
    let line = |call: &OwnCall<Charge>| {
        let cents = call.arguments().cents;
        match call.outcome() {
            None if call.is_in_doubt() => format!("{cents} in doubt"),
            None if call.is_pending() => format!("{cents} pending"),
            None => format!("{cents} under way"),
            Some(Ok(receipt)) => format!("{cents} {receipt}"),
            Some(Err(CallError::Refused(why))) => format!("{cents} refused: {why}"),
            Some(Err(error)) => format!("{cents} {error}"),
        }
    };
    calls.iter().map(line).collect()
}

/// A state, the lines of the calls since it was entered, and those of all calls.
type Seen = (String, Vec<String>, Vec<String>);

#[test]
fn a_handler_sees_the_calls_of_its_state() {
    each(async |store| {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (sees, by) = (Arc::clone(&seen), graph_runner());
        let handler = does(move |errand: AnyErrand, task| {
            let sees = Arc::clone(&sees);
            Box::pin(async move {
                let own = task.calls::<Charge>().await?;
                let all = task.calls::<Charge>().all().await?;
                let state = errand.status().to_string();
                assert_eq!(task.calls::<Action>().all().await?.len(), all.len());
                assert!(task.calls::<Weigh>().all().await?.is_empty());
                assert!(all.iter().all(|it| it.ended_at().is_some() == it.outcome().is_some()));
                assert!(all.iter().filter_map(OwnCall::ended_at).is_sorted());
                sees.lock().unwrap().push((state, lines(&own), lines(&all)));
                let plan = |cents| Planned::<Charge>::new(charge(cents));
                Ok(match errand {
                    AnyErrand::Idle(errand) => {
                        // In the commit that enters the state.
                        task.call(plan(1)?);
                        Next::to(errand.begin(by))
                    }
                    AnyErrand::First(errand) => match own.as_slice() {
                        [first] if first.outcome().is_some() => {
                            // Later in the state.
                            task.call(plan(2)?);
                            Next::Wait
                        }
                        [_, second] if second.outcome().is_some() => {
                            task.call(plan(3)?);
                            Next::to(errand.go_on(by))
                        }
                        _ => Next::Wait,
                    },
                    AnyErrand::Second(errand) => match own.as_slice() {
                        [third] if third.outcome().is_some() => Next::to(errand.finish(by)),
                        _ => Next::Wait,
                    },
                    AnyErrand::Done(_) => Next::Wait,
                })
            })
        });
        let bank = Service::new(|number| match number {
            1 => Err(NoReceipt::not_applied("no funds")),
            _ => Ok(Applied::new("paid")),
        });
        let id = create(&store, Errand::new()).await;
        settle(worker(&store).handler(handler).tool::<Charge>(bank)).await;
        is(&store, id, "done").await;
        let seen = seen.lock().unwrap();
        let text = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
        let last = |state: &str| seen.iter().rfind(|it| it.0 == state).unwrap().clone();
        assert_eq!(last("idle"), ("idle".to_owned(), vec![], vec![]));
        let first = text(&["1 paid", "2 refused: no funds"]);
        assert_eq!(last("first"), ("first".to_owned(), first.clone(), first));
        let all = text(&["1 paid", "2 refused: no funds", "3 paid"]);
        assert_eq!(last("second"), ("second".to_owned(), text(&["3 paid"]), all));
    });
}

/// The same tool in the next program, whose receipts are numbers.
#[derive(Debug, Serialize, Deserialize)]
struct Renewed {
    cents: u32,
}

impl Tool for Renewed {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "charge";
    type Effect = Irreversible;
    type Receipt = u64;
    type Refusal = u64;
}

/// A handler that reads a receipt of another type is set aside with the error; after the deployment of a program that can
/// read it, `requeue` continues.
#[test]
fn an_outcome_of_an_old_type_sets_the_machine_aside() {
    for answer in [Ok(Applied::new("paid")), Err(NoReceipt::not_applied("no funds"))] {
        each(async |store| {
            let handler = |reads_old: bool| {
                let by = graph_runner();
                does(move |errand: AnyErrand, task| {
                    Box::pin(async move {
                        Ok(match errand {
                            AnyErrand::Idle(errand) => {
                                task.call(Planned::<Charge>::new(charge(1))?);
                                Next::to(errand.begin(by))
                            }
                            AnyErrand::First(errand) => {
                                let has_ended = if reads_old {
                                    task.calls::<Charge>().await?[0].outcome().is_some()
                                } else {
                                    task.calls::<Renewed>().await?[0].outcome().is_some()
                                };
                                if has_ended { Next::to(errand.go_on(by)) } else { Next::Wait }
                            }
                            AnyErrand::Second(_) | AnyErrand::Done(_) => Next::Wait,
                        })
                    })
                })
            };
            let id = create(&store, Errand::new()).await;
            let answer = answer.clone();
            let bank = Service::new(move |_| answer.clone());
            settle(worker(&store).handler(handler(false)).tool::<Charge>(bank)).await;
            let [(aside, error)] = &store.set_aside().await.unwrap().machines[..] else { panic!() };
            let error = error.as_deref().unwrap();
            assert!(*aside == id && error.contains("cannot be read"), "{error}");
            store.requeue(id, &[]).await.unwrap();
            settle(worker(&store).handler(handler(true))).await;
            is(&store, id, "second").await;
        });
    }
}

/// A receipt that was cut took effect, and is never read: `requeue` does not help.
#[test]
fn a_receipt_that_was_cut_sets_the_machine_aside_for_good() {
    each(async |store| {
        let by = graph_runner();
        let handler = || {
            does(move |errand: AnyErrand, task| {
                Box::pin(async move {
                    Ok(match errand {
                        AnyErrand::Idle(errand) => {
                            task.call(Planned::<Charge>::new(charge(1))?);
                            Next::to(errand.begin(by))
                        }
                        AnyErrand::First(errand) => match task.calls::<Charge>().await?.pop() {
                            Some(call) if call.outcome().is_some() => Next::to(errand.go_on(by)),
                            _ => Next::Wait,
                        },
                        AnyErrand::Second(_) | AnyErrand::Done(_) => Next::Wait,
                    })
                })
            })
        };
        let id = create(&store, Errand::new()).await;
        let bank = Service::new(|_| Ok(Applied::new("x".repeat(1024 * 1024 + 1))));
        settle(worker(&store).handler(handler()).tool::<Charge>(bank.clone())).await;
        for _ in 0..2 {
            let [(aside, error)] = &store.set_aside().await.unwrap().machines[..] else { panic!() };
            assert!(*aside == id && error.as_deref().unwrap().contains("was cut"), "{error:?}");
            store.requeue(id, &[]).await.unwrap();
            settle(worker(&store).handler(handler()).tool::<Charge>(bank.clone())).await;
        }
        is(&store, id, "first").await;
        let child = store.children(id).await.unwrap().remove(0);
        let execution: AnyExecution = store.load(child.id).await.unwrap();
        assert_eq!((execution.status(), bank.calls()), (Status::Completed, 1));
    });
}
