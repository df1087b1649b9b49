//! WF-2, every cell: the conditions that can arise in a state do, with everything that a person
//! needs to know; the others are refused.

use std::time::Duration;

use machine::{
    actor::{Actors, Human},
    observe::Observer,
    store::Query,
    view,
};
use serde_json::{Value, json};

use crate::{
    condition::{Case, Condition},
    scenarios::{
        Act, COURIER, DELETE, DRAFT, FINAL, Line, MAIL, PAY, READ, Ran, STEAL, Says, Scenario,
        TO_ALL,
    },
    work::Work,
    workflow::{AnyWorkflow, Workflow, workflow::Event},
};

/// The table: whether it can arise while planning, and while executing.
const TABLE: [(Condition, bool, bool); 5] = [
    (Condition::SensitiveAction, true, true),
    (Condition::HighConfidenceFailure, false, true),
    (Condition::Ambiguity, true, false),
    (Condition::UserRequest, true, true),
    (Condition::SecurityViolation, true, true),
];

struct Cell {
    condition: Condition,
    state: &'static str,
    plan: &'static [Line],
    /// The failure of the mail server.
    down: &'static str,
    /// A person asks, before the engine begins or later.
    asks: Option<fn(&'static str, Value) -> Act>,
    proposed: &'static str,
    history: &'static [&'static str],
}

const CELL: Cell = Cell {
    condition: Condition::UserRequest,
    state: "planning",
    plan: &[MAIL],
    down: "",
    asks: None,
    proposed: "",
    history: &[],
};

const MAILED: &str = "do it: mail.send(text: hello, to: bob)";
const FOUND: &[&str] = &["files.read → note.txt: 500"];

fn cells() -> [Cell; 9] {
    use Condition::{
        Ambiguity, HighConfidenceFailure, SecurityViolation, SensitiveAction, UserRequest,
    };
    let planning = |condition, plan, proposed| Cell { condition, plan, proposed, ..CELL };
    let executing = |condition, plan, proposed, history| Cell {
        condition,
        state: "executing",
        plan,
        proposed,
        history,
        ..CELL
    };
    let failed =
        |down, history| Cell { down, ..executing(HighConfidenceFailure, &[MAIL], MAILED, history) };
    [
        planning(SensitiveAction, &[TO_ALL], "do it: mail.send(text: hello, to: everyone)"),
        planning(Ambiguity, &[DRAFT, FINAL], "do it: site.publish(page: news, text: draft)"),
        planning(SecurityViolation, &[STEAL], "do it: files.delete(path: ../secrets)"),
        Cell { asks: Some(Act::First), proposed: "make a plan", ..CELL },
        executing(SensitiveAction, &[READ, PAY], "do it: bank.pay(amount: 500, to: bob)", FOUND),
        executing(SecurityViolation, &[READ, DELETE], "do it: files.delete(path: 500)", FOUND),
        failed(
            "retry\nretry\nretry\n",
            &[
                "mail.send → bob: failed: the service is down",
                "mail.send → bob: failed: the service is down",
                "mail.send → bob: failed: the service is down",
            ],
        ),
        failed("0x80004005\n", &["mail.send → bob: failed: 0x80004005"]),
        Cell {
            asks: Some(Act::Send),
            ..executing(UserRequest, &[COURIER], "do it: courier.send()", &[])
        },
    ]
}

#[tokio::test(start_paused = true)]
async fn each_condition_pauses_at_once_and_says_everything() {
    let mut seen = Vec::new();
    for cell in cells() {
        let note = json!({ "note": "let me see" });
        let scenario = Scenario {
            goal: "the goal",
            says: (Says::Plan(cell.plan), Says::Cannot),
            down: cell.down,
            acts: cell.asks.map(|act| act("request_intervention", note)).into_iter().collect(),
        };
        let Ran { world, task, .. } = scenario.run().await;
        let paused = world.asks(task).await;
        let (condition, state) = (cell.condition, cell.state);
        assert_eq!((paused.state().reason, &*paused.state().paused_in), (condition, state));
        seen.push((condition, state));

        // Everything that a person needs is in the views for people.
        let observer = Observer::new(&world.store);
        let shown = observer.snapshot::<view::Human>(task.engine).await.unwrap();
        let text = |name: &str| shown.state.get(name).unwrap_or_else(|| panic!("{name}")).clone();
        assert_eq!(text("reason"), serde_json::to_value(condition).unwrap());
        assert_ne!(text("explanation"), "");
        assert_eq!(text("goal"), "the goal");
        assert_eq!(text("proposed_action"), cell.proposed);
        assert_eq!(text("history"), json!(cell.history));
        let reasoning = if cell.proposed == "make a plan" { "" } else { "it seems right" };
        assert_eq!(text("reasoning"), reasoning);
        assert!(shown.state.get("work").is_none(), "what is internal is not shown");
        let moves: Vec<_> = shown.moves.iter().map(|it| it.trigger.as_str()).collect();
        assert_eq!(moves, ["user_resume", "user_modify", "user_terminate", "system_timeout"]);
        let attention = observer.attention::<view::Human>(&Query::new()).await.unwrap();
        assert!(attention.concerns.iter().any(|concern| concern.id == Some(task.engine)));

        // Nothing took effect.
        for file in ["mails.txt", "bank.txt", "site.txt", "deleted.txt"] {
            assert_eq!(world.file(file), "", "{condition:?} while {state}");
        }
    }
    for (condition, planning, executing) in TABLE {
        assert_eq!(seen.contains(&(condition, "planning")), planning, "{condition:?}");
        assert_eq!(seen.contains(&(condition, "executing")), executing, "{condition:?}");
    }
}

fn work() -> Work {
    Work::new(Workflow::new().id(), Duration::from_secs(1))
}

fn raise(condition: Condition) -> Event {
    let case = Case {
        condition,
        explanation: "it is said".to_owned(),
        proposed_action: "nothing".to_owned(),
        history: vec![],
    };
    Event::NeedIntervention { case, next: work() }
}

#[test]
fn a_condition_that_comes_as_data_is_refused_where_it_cannot_arise() {
    let actors = Actors::issue("engine").unwrap();
    let runner = &actors.graph_runner;
    let planning = || {
        let engine = Workflow::new().start_task("goal".to_owned(), work(), runner);
        engine.initialization_complete(runner)
    };
    for (condition, while_planning, while_executing) in TABLE {
        let by_engine = condition != Condition::UserRequest;
        let executing = planning().plan_ready(work(), &actors.reasoning_node);
        let states = [
            (AnyWorkflow::from(planning()), while_planning, "planning"),
            (AnyWorkflow::from(executing), while_executing, "executing"),
        ];
        for (engine, may, state) in states {
            let before = engine.status();
            match engine.apply(raise(condition), runner) {
                Ok(paused) => {
                    assert!(may && by_engine, "{condition:?} while {state}");
                    assert_eq!(paused.status().to_string(), "manual_intervention");
                }
                Err(refused) => {
                    assert!(!may || !by_engine, "{condition:?} while {state}");
                    let text = refused.reason.to_string();
                    let expected =
                        format!("{condition:?} cannot be raised by the engine while it is {state}");
                    assert!(text.contains(&expected), "{text}");
                    assert_eq!(refused.machine.status(), before);
                }
            }
        }
        // Nor can a person claim to be the engine.
        let human = Human::new("eve").unwrap();
        let engine = AnyWorkflow::from(planning());
        assert!(engine.apply(raise(condition), &human).is_err());
    }
}
