//! Every row of WF-1 is taken by a run of the engine.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::json;

use crate::{
    scenarios::{
        Act, COURIER, DELETE, DRAFT, FINAL, MAIL, PAY, READ, Ran, STEAL, Says, Scenario, TO_ALL,
        modify, resume, terminate,
    },
    table::rows,
};

const I: &str = "initializing";
const P: &str = "planning";
const E: &str = "executing";
const M: &str = "manual_intervention";

/// A scenario in which the agent says one thing.
fn scenario(
    name: &'static str,
    says: Says,
    acts: Vec<Act>,
    path: &'static [&'static str],
    record: &'static str,
) -> Scenario {
    let says = (says, Says::Plan(&[MAIL]));
    Scenario { name, goal: name, says, files: &[("note.txt", "500")], acts, path, record }
}

#[allow(clippy::too_many_lines, reason = "it is a table")]
pub fn scenarios() -> Vec<Scenario> {
    use Says::{Cannot, IsDown, Plan};
    let request = || ("request_intervention", json!({ "note": "let me see" }));
    let early = || Act::First(request().0, request().1);
    let late = || Act::Send(request().0, request().1);
    vec![
        scenario("one step", Plan(&[MAIL]), vec![], &[I, P, E, "completed", "idle"], "completed"),
        scenario(
            "two steps",
            Plan(&[READ, MAIL]),
            vec![],
            &[I, P, E, P, E, "completed", "idle"],
            "completed",
        ),
        scenario("impossible", Cannot, vec![], &[I, "failed", "idle"], "failed"),
        scenario("no plan", Cannot, vec![], &[I, P, "failed", "idle"], "failed"),
        scenario("an empty plan", Plan(&[]), vec![], &[I, P, "failed", "idle"], "failed"),
        scenario(
            "a result that is missing",
            Plan(&[PAY]),
            vec![],
            &[I, P, E, "failed", "idle"],
            "failed",
        ),
        scenario(
            "an unknown tool",
            Plan(&[("fax.send", &[], None)]),
            vec![],
            &[I, P, E, "failed", "idle"],
            "failed",
        ),
        Scenario {
            files: &[("mail.down", "fatal: the address does not exist\n")],
            ..scenario(
                "a fatal error",
                Plan(&[MAIL]),
                vec![],
                &[I, P, E, "failed", "idle"],
                "failed",
            )
        },
        scenario(
            "sensitive while planning, resumed",
            Plan(&[TO_ALL]),
            vec![resume()],
            &[I, P, M, E, "completed", "idle"],
            "completed",
        ),
        scenario(
            "sensitive while executing, resumed",
            Plan(&[READ, PAY]),
            vec![resume()],
            &[I, P, E, P, E, M, E, "completed", "idle"],
            "completed",
        ),
        scenario(
            "ambiguous, modified",
            Plan(&[DRAFT, FINAL]),
            vec![modify()],
            &[I, P, M, P, E, "completed", "idle"],
            "completed",
        ),
        scenario(
            "ambiguous, resumed",
            Plan(&[DRAFT, FINAL]),
            vec![resume()],
            &[I, P, M, E, P, E, "completed", "idle"],
            "completed",
        ),
        scenario(
            "forbidden while planning, terminated",
            Plan(&[STEAL]),
            vec![terminate()],
            &[I, P, M, "terminated", "idle"],
            "terminated",
        ),
        scenario(
            "forbidden while executing, terminated",
            Plan(&[READ, DELETE]),
            vec![terminate()],
            &[I, P, E, P, E, M, "terminated", "idle"],
            "terminated",
        ),
        Scenario {
            files: &[("mail.down", "retry\nretry\nretry\n")],
            ..scenario(
                "three failures, resumed",
                Plan(&[MAIL]),
                vec![resume()],
                &[I, P, E, M, E, "completed", "idle"],
                "completed",
            )
        },
        Scenario {
            files: &[("mail.down", "retry\nretry\n")],
            ..scenario(
                "two failures",
                Plan(&[MAIL]),
                vec![],
                &[I, P, E, "completed", "idle"],
                "completed",
            )
        },
        Scenario {
            files: &[("mail.down", "0x80004005\n")],
            ..scenario(
                "an error that says nothing, modified",
                Plan(&[MAIL]),
                vec![modify()],
                &[I, P, E, M, P, E, "completed", "idle"],
                "completed",
            )
        },
        scenario(
            "a person asks while planning",
            Plan(&[MAIL]),
            vec![early(), resume()],
            // Nothing was planned yet, so the engine plans after all.
            &[I, P, M, E, P, E, "completed", "idle"],
            "completed",
        ),
        scenario(
            "a person asks while executing",
            Plan(&[COURIER]),
            vec![late(), resume(), late(), terminate()],
            &[I, P, E, M, E, M, "terminated", "idle"],
            "terminated",
        ),
        scenario("unreachable", IsDown, vec![Act::Wait], &[I, "terminated", "idle"], "terminated"),
        scenario(
            "late while planning",
            IsDown,
            vec![Act::Wait],
            &[I, P, "terminated", "idle"],
            "terminated",
        ),
        scenario(
            "late while executing",
            Plan(&[COURIER]),
            vec![Act::Wait],
            &[I, P, E, "terminated", "idle"],
            "terminated",
        ),
        scenario(
            "late while a person thinks",
            Plan(&[TO_ALL]),
            vec![Act::Wait],
            &[I, P, M, "terminated", "idle"],
            "terminated",
        ),
    ]
}

#[tokio::test]
async fn every_row_is_taken() {
    let mut taken = BTreeSet::new();
    for scenario in scenarios() {
        let scenario = Arc::new(scenario);
        let name = scenario.name;
        let Ran { world, task, moves } = Arc::clone(&scenario).run().await;
        let path: Vec<&str> = moves.iter().map(|(_, _, to)| to.as_str()).collect();
        assert_eq!(path, scenario.path, "{name}");
        let record = world.record(task).await;
        assert_eq!(record.status().to_string(), scenario.record, "{name}");
        let set_aside = world.store.set_aside().await.unwrap();
        assert!(set_aside.machines.is_empty(), "{name}: {set_aside:?}");
        assert!(set_aside.messages.is_empty(), "{name}: {set_aside:?}");
        taken.extend(moves);
    }
    assert_eq!(taken, rows(), "each row, and nothing else");
}
