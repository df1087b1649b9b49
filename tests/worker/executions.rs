//! Executions that a worker runs: tools, gates, keys, and calls with an unknown end.

use machine::contract::{Action, CallError, Gate, ToolSpec, outcome};

use crate::worker::prelude::*;

async fn runs(store: &Store, service: &Service) {
    let worker = worker(store).tool::<Charge>(service.clone()).tool::<Weigh>(service.clone());
    settle(worker).await;
}

/// It has ended like this, with this text.
async fn ended(store: &Store, id: Id, status: &str, text: &str) {
    let execution = store.load(id).await.unwrap();
    let said = match &execution {
        AnyExecution::Completed(it) => &it.state().result,
        AnyExecution::Failed(it) => &it.state().error,
        AnyExecution::Rejected(it) => &it.state().reason,
        AnyExecution::Cancelled(it) => &it.state().reason,
        other => panic!("it is {}", other.status()),
    };
    assert_eq!((&*execution.status().to_string(), &**said), (status, text));
}

/// A call that waits for an answer: its gate, and its id.
async fn asked(store: &Store, limit: Option<Duration>) -> (Gate, Id) {
    let (mut gate, mut action) = charge(3).ask::<Charge>(limit, ecs_node()).unwrap();
    store.ask(&mut gate, &mut action).await.unwrap();
    (gate, action.id())
}

/// An answer in time decides: an irreversible tool is called once, an idempotent one until it
/// answers, after a separate backoff.
#[test]
fn an_answer_ends_an_execution() {
    type Row = (Contract, fn(usize) -> Answer, usize, &'static str, &'static str);
    let table: [Row; 3] = [
        (charge(3), |_| Ok(Applied::new("paid")), 1, "completed", "paid"),
        (charge(3), |_| Err(NoReceipt::not_applied("no credit")), 1, "failed", "no credit"),
        (
            weigh("salt"),
            |call| match call {
                0 => Err(NoReceipt::unknown("no answer")),
                _ => Ok(Applied::new("3 g")),
            },
            2,
            "completed",
            "3 g",
        ),
    ];
    for (contract, answer, calls, end, text) in table {
        each(async |store| {
            let service = Service::new(answer);
            let id = create(&store, Execution::new(contract.clone())).await;
            runs(&store, &service).await;
            runs(&store, &service).await;
            ended(&store, id, end, text).await;
            assert_eq!(service.calls(), calls, "{text}");
        });
    }
}

/// In doubt: parked, not called again; the service settles it later.
#[test]
fn unknown_answer_is_settled_by_the_service() {
    for panics in [false, true] {
        timed(async |store, hand| {
            let id = plan::<Charge>(&store, charge(3)).await;
            let bank = Service::new(move |_| {
                assert!(!panics, "out of coins");
                Err(NoReceipt::unknown("no answer"))
            });
            runs(&store, &bank).await;
            is(&store, id, "waiting").await;
            assert_eq!(store.in_doubt(id).await.unwrap().id(), id);
            hand.pass(Duration::from_hours(1));
            runs(&store, &bank).await;
            // Still unknown.
            is(&store, id, "waiting").await;
            set_aside(&store, &[]).await;
            bank.finds(Ok(Applied::new("paid after all")));
            runs(&store, &bank).await;
            // It was asked just now.
            is(&store, id, "waiting").await;
            hand.pass(Duration::from_mins(1));
            runs(&store, &bank).await;
            ended(&store, id, "completed", "paid after all").await;
            assert_eq!(bank.calls(), 1);
        });
    }
}

/// "Applied" counts at any time, so the service is asked before the settling time, too; "not
/// applied" counts only after it.
#[test]
fn a_service_that_knows_is_asked_at_once() {
    for (found, early, late, text) in [
        (Ok(Applied::new("paid")), "completed", "completed", "paid"),
        (Err(NoReceipt::not_applied("no such payment")), "waiting", "failed", "no such payment"),
    ] {
        timed(async |store, hand| {
            let (id, bank) = (plan::<Charge>(&store, charge(3)).await, Service::unknown());
            bank.finds(found.clone());
            runs(&store, &bank).await;
            is(&store, id, early).await;
            hand.pass(Charge::SETTLING_TIME);
            runs(&store, &bank).await;
            ended(&store, id, late, text).await;
            assert_eq!(bank.calls(), 1);
        });
    }
}

/// The call continues after its timeout, and the stop waits for it; the late answer settles it.
#[test]
fn tool_answers_late() {
    each(async |store| {
        let limit = Duration::from_millis(20);
        let (id, bank) =
            (plan::<Charge>(&store, charge(3).timeout_after(limit)).await, Service::held());
        let answers = async {
            bank.called().await;
            tokio::time::sleep(2 * limit).await;
            bank.release();
        };
        tokio::join!(runs(&store, &bank), answers);
        runs(&store, &bank).await;
        ended(&store, id, "completed", "done").await;
        assert_eq!(bank.calls(), 1);
    });
}

#[derive(Clone, Copy)]
enum Ends {
    Declined,
    Withdrawn,
    Unanswered,
    /// It was approved, and the approval was not used in time.
    Unused,
}

/// After a gate that did not open, the action ends with the reason, and is never called; nor is one
/// that is planned again after a person declined it.
#[test]
fn gate_that_does_not_open() {
    for (ends, text) in [
        (Ends::Declined, "not approved: too dear"),
        (Ends::Withdrawn, "not approved: not needed"),
        (Ends::Unanswered, "not approved: not answered in time"),
        (Ends::Unused, "the approval by GATE has expired"),
    ] {
        timed(async |store, hand| {
            let limit = Duration::from_secs(10);
            let ((gate, id), bank) = (asked(&store, Some(limit)).await, Service::default());
            let asked = gate.id();
            runs(&store, &bank).await;
            is(&store, id, "pending").await;
            match ends {
                Ends::Declined => drop(store.decline(gate, "too dear", ann()).await.unwrap()),
                Ends::Withdrawn => {
                    drop(store.withdraw(gate, "not needed", graph_runner()).await.unwrap());
                }
                Ends::Unused => {
                    machine_tests::approve(&store, gate, ann()).await.unwrap();
                    hand.pass(limit);
                }
                // The worker fires the deadline.
                Ends::Unanswered => hand.pass(limit),
            }
            runs(&store, &bank).await;
            ended(&store, id, "cancelled", &text.replace("GATE", &asked.to_string())).await;
            let error = outcome::<Charge>(&store.load(id).await.unwrap()).unwrap().unwrap();
            let reason = text.to_owned();
            let expected = match ends {
                Ends::Declined => {
                    CallError::Declined { by: "ann".into(), reason: "too dear".into() }
                }
                Ends::Withdrawn => CallError::Cancelled { by: None, reason },
                Ends::Unanswered | Ends::Unused => CallError::Expired,
            };
            assert_eq!(error.unwrap_err(), expected.clone());
            if let Ends::Declined = ends {
                let again = plan::<Charge>(&store, charge(3)).await;
                runs(&store, &bank).await;
                ended(&store, again, "cancelled", &format!("ann declined it at {asked}")).await;
                let error = outcome::<Charge>(&store.load(again).await.unwrap()).unwrap().unwrap();
                assert_eq!(error.unwrap_err(), expected);
            }
            assert_eq!(bank.calls(), 0);
        });
    }
}

/// While the first is in doubt, the second waits; it continues when the key is free.
#[test]
fn key_is_held() {
    timed(async |store, hand| {
        let first = plan::<Charge>(&store, charge(3)).await;
        let bank = Service::new(|call| match call {
            0 => Err(NoReceipt::unknown("no answer")),
            _ => Ok(Applied::new("paid")),
        });
        runs(&store, &bank).await;
        let second = plan::<Charge>(&store, charge(3)).await;
        hand.pass(Duration::from_secs(5));
        runs(&store, &bank).await;
        is(&store, second, "pending").await;
        set_aside(&store, &[]).await;
        bank.finds(Err(NoReceipt::not_applied("no such payment")));
        hand.pass(Duration::from_hours(1));
        runs(&store, &bank).await;
        is(&store, first, "failed").await;
        hand.pass(Duration::from_secs(2));
        runs(&store, &bank).await;
        ended(&store, second, "completed", "paid").await;
        assert_eq!(bank.calls(), 2);
    });
}

/// It is left alone, without an attempt, for a worker that has the tool. A question is no call: a
/// worker with tools leaves it to those who answer.
#[test]
fn calls_without_the_tool_and_questions_are_left_alone() {
    each(async |store| {
        let id = plan::<Charge>(&store, charge(3)).await;
        let question = Contract::ecs_request("Which port?", reasoning_node()).unwrap();
        let question = create(&store, Execution::new(question)).await;
        let bank = Service::default();
        for _ in 0..10 {
            settle(worker(&store).tool::<Weigh>(bank.clone())).await;
        }
        is(&store, id, "pending").await;
        set_aside(&store, &[]).await;
        runs(&store, &bank).await;
        ended(&store, id, "completed", "done").await;
        is(&store, question, "pending").await;
        set_aside(&store, &[]).await;
        assert_eq!(bank.calls(), 1);
    });
}

/// Tools registered at run time, in addition to those that the program knows.
#[test]
fn other_tools() {
    each(async |store| {
        let mut other = Vec::new();
        for spec in [ToolSpec::irreversible("mcp", "print"), ToolSpec::idempotent("mcp", "look")] {
            let call = Contract::tool_call(&spec.unwrap(), r#"{"page": 1}"#, reasoning_node());
            let call = Planned::<Action>::new(call.unwrap()).unwrap();
            other.push(create(&store, call.into_execution()).await);
        }
        let known = plan::<Charge>(&store, charge(3)).await;
        let bank = Service::default();
        let others = Service::new(|_| Ok(Applied::new("printed")));
        settle(worker(&store).tool::<Charge>(bank.clone()).other_tools(others.clone())).await;
        for id in other {
            ended(&store, id, "completed", "printed").await;
        }
        ended(&store, known, "completed", "done").await;
        assert_eq!((bank.calls(), others.calls()), (1, 2));
    });
}
