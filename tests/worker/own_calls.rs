//! A handler reads the calls of its machine: those since it came into its state, typed, with their
//! outcomes.

use machine::{
    contract::{Action, CallError, execution::Status},
    worker::{OwnCall, Task},
};

use crate::worker::prelude::*;

/// Three calls in two states, of which the first one is entered twice.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Errand {
    #[initial]
    #[on(begin(cents = 1) => First, by = GraphRunner)]
    Idle,
    #[invoke(charge: Charge = Charge { cents }, unattended)]
    #[on(again(cents = cents + 1) => First, by = GraphRunner)]
    #[on(go_on(cents = cents + 1) => Second, by = GraphRunner)]
    First { cents: u32 },
    #[invoke(charge: Charge = Charge { cents }, unattended)]
    #[on(finish => Done, by = GraphRunner)]
    Second { cents: u32 },
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
        let cents = call.arguments.cents;
        match &call.outcome {
            None if call.is_in_doubt => format!("{cents} in doubt"),
            None if call.execution.status() == Status::Pending => format!("{cents} pending"),
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
                let of_session = task.calls::<Charge>().of_session(task.id().to_string()).await?;
                assert_eq!(lines(&of_session), lines(&all));
                assert!(task.calls::<Charge>().of_session("another").await?.is_empty());
                assert!(all.iter().all(|it| it.ended_at.is_some() == it.outcome.is_some()));
                assert!(all.iter().filter_map(|it| it.ended_at).is_sorted());
                sees.lock().unwrap().push((state, lines(&own), lines(&all)));
                let has_ended = task.outcome::<Charge>()?.is_some();
                Ok(match errand {
                    AnyErrand::Idle(errand) => Next::to(errand.begin(by)),
                    AnyErrand::First(errand) if has_ended && errand.state().cents == 1 => {
                        Next::to(errand.again(by))
                    }
                    AnyErrand::First(errand) if has_ended => Next::to(errand.go_on(by)),
                    AnyErrand::Second(errand) if has_ended => Next::to(errand.finish(by)),
                    _ => Next::Wait,
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
        // It is entered twice.
        let own = text(&["2 refused: no funds"]);
        let all = text(&["1 paid", "2 refused: no funds"]);
        assert_eq!(last("first"), ("first".to_owned(), own, all));
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

/// Reads the calls of T, and goes on when the call of the state has ended.
fn reads<T: Tool>() -> Does<AnyErrand> {
    does(|errand: AnyErrand, task| {
        Box::pin(async move {
            task.calls::<T>().await?;
            let by = graph_runner();
            Ok(match errand {
                AnyErrand::Idle(errand) => Next::to(errand.begin(by)),
                AnyErrand::First(errand) => match task.outcome::<Charge>()? {
                    Some(_) => Next::to(errand.go_on(by)),
                    None => Next::Wait,
                },
                AnyErrand::Second(_) | AnyErrand::Done(_) => Next::Wait,
            })
        })
    })
}

/// The outcome of the errand's call, which is set aside with this text.
async fn outcome_set_aside(store: &Store, id: Id, text: &str) -> String {
    let messages = store.set_aside().await.unwrap().messages;
    let [outcome] = &messages[..] else { panic!("{messages:?}") };
    let error = outcome.error.as_deref().unwrap();
    assert!(outcome.to == id && error.contains(text), "{error}");
    outcome.correlation.clone()
}

/// A handler that reads a receipt of another type fails, and the outcome is set aside with the
/// error; after the deployment of a program that can read it, `requeue` continues.
#[test]
fn an_outcome_of_an_old_type_is_set_aside() {
    for answer in [Ok(Applied::new("paid")), Err(NoReceipt::not_applied("no funds"))] {
        each(async |store| {
            let id = create(&store, Errand::new()).await;
            let answer = answer.clone();
            let bank = Service::new(move |_| answer.clone());
            settle(worker(&store).handler(reads::<Renewed>()).tool::<Charge>(bank)).await;
            let outcome = outcome_set_aside(&store, id, "cannot be read").await;
            store.requeue(id, &[&outcome]).await.unwrap();
            settle(worker(&store).handler(reads::<Charge>())).await;
            is(&store, id, "second").await;
        });
    }
}

/// A receipt that was cut took effect, and is never read: `requeue` does not help.
#[test]
fn a_receipt_that_was_cut_is_set_aside_for_good() {
    each(async |store| {
        let id = create(&store, Errand::new()).await;
        let bank = Service::new(|_| Ok(Applied::new("x".repeat(1024 * 1024 + 1))));
        let drives = || worker(&store).handler(reads::<Charge>()).tool::<Charge>(bank.clone());
        settle(drives()).await;
        for _ in 0..2 {
            let outcome = outcome_set_aside(&store, id, "was cut").await;
            store.requeue(id, &[&outcome]).await.unwrap();
            settle(drives()).await;
        }
        is(&store, id, "first").await;
        let child = store.children(id).await.unwrap().remove(0);
        let execution: AnyExecution = store.load(child.id).await.unwrap();
        assert_eq!((execution.status(), bank.calls()), (Status::Completed, 1));
    });
}
