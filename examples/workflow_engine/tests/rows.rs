//! Every row of WF-1 is taken by a run of the engine.

use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    scenarios::{
        Act, COURIER, DELETE, DRAFT, FINAL, MAIL, PAY, READ, Ran, STEAL, Says, Scenario, TO_ALL,
    },
    table::rows,
};

const I: &str = "initializing";
const P: &str = "planning";
const E: &str = "executing";
const M: &str = "manual_intervention";
const C: &str = "completed";
const F: &str = "failed";
const T: &str = "terminated";

/// A goal, what the agent says at first, how the mail server fails, what people do, and the states
/// that the engine comes into. The last one is that of the record; then the engine is idle.
type Row = (&'static str, Says, &'static str, Vec<Act>, &'static [&'static str]);

fn scenarios() -> Vec<Row> {
    use Says::{Cannot, IsDown, Plan};
    let resume = || Act::Send("user_resume", json!({}));
    let modify = || Act::Send("user_modify", json!({ "instruction": "only bob" }));
    let terminate = || Act::Send("user_terminate", json!({ "why": "not needed" }));
    let early = || Act::First("request_intervention", json!({ "note": "let me see" }));
    let late = || Act::Send("request_intervention", json!({ "note": "let me see" }));
    let wait = || Act::Wait;
    vec![
        ("one step", Plan(&[MAIL]), "", vec![], &[I, P, E, C]),
        ("two steps", Plan(&[READ, MAIL]), "", vec![], &[I, P, E, P, E, C]),
        ("impossible", Cannot, "", vec![], &[I, F]),
        ("no plan", Cannot, "", vec![], &[I, P, F]),
        ("an empty plan", Plan(&[]), "", vec![], &[I, P, F]),
        ("a result that is missing", Plan(&[PAY]), "", vec![], &[I, P, E, F]),
        ("an unknown tool", Plan(&[("fax.send", &[], None)]), "", vec![], &[I, P, E, F]),
        ("a fatal error", Plan(&[MAIL]), "fatal\n", vec![], &[I, P, E, F]),
        ("sensitive while planning", Plan(&[TO_ALL]), "", vec![resume()], &[I, P, M, E, C]),
        (
            "sensitive while executing",
            Plan(&[READ, PAY]),
            "",
            vec![resume()],
            &[I, P, E, P, E, M, E, C],
        ),
        ("ambiguous, modified", Plan(&[DRAFT, FINAL]), "", vec![modify()], &[I, P, M, P, E, C]),
        ("ambiguous, resumed", Plan(&[DRAFT, FINAL]), "", vec![resume()], &[I, P, M, E, P, E, C]),
        ("forbidden while planning", Plan(&[STEAL]), "", vec![terminate()], &[I, P, M, T]),
        (
            "forbidden while executing",
            Plan(&[READ, DELETE]),
            "",
            vec![terminate()],
            &[I, P, E, P, E, M, T],
        ),
        (
            "three failures",
            Plan(&[MAIL]),
            "retry\nretry\nretry\n",
            vec![resume()],
            &[I, P, E, E, E, M, E, C],
        ),
        ("two failures", Plan(&[MAIL]), "retry\nretry\n", vec![], &[I, P, E, E, E, C]),
        (
            "an error that says nothing",
            Plan(&[MAIL]),
            "0x80004005\n",
            vec![modify()],
            &[I, P, E, M, P, E, C],
        ),
        // Nothing was planned yet, so the engine plans after all.
        (
            "a person asks while planning",
            Plan(&[MAIL]),
            "",
            vec![early(), resume()],
            &[I, P, M, E, P, E, C],
        ),
        (
            "a person asks while executing",
            Plan(&[COURIER]),
            "",
            vec![late(), resume(), late(), terminate()],
            &[I, P, E, M, E, M, T],
        ),
        ("unreachable", IsDown, "", vec![wait()], &[I, T]),
        ("late while planning", IsDown, "", vec![wait()], &[I, P, T]),
        ("late while executing", Plan(&[COURIER]), "", vec![wait()], &[I, P, E, T]),
        ("late while a person thinks", Plan(&[TO_ALL]), "", vec![wait()], &[I, P, M, T]),
    ]
}

#[tokio::test(start_paused = true)]
async fn every_row_is_taken() {
    let mut taken = BTreeSet::new();
    for (goal, says, down, acts, path) in scenarios() {
        let says = (says, Says::Plan(&[MAIL]));
        let Ran { world, task, moves } = Scenario { goal, says, down, acts }.run().await;
        let states: Vec<&str> = moves.iter().map(|(_, _, to)| to.as_str()).collect();
        assert_eq!(states, [path, &["idle"]].concat(), "{goal}");
        let record = world.record(task).await.status().to_string();
        assert_eq!(record, *path.last().unwrap(), "{goal}");
        let set_aside = world.store.set_aside().await.unwrap();
        assert!(set_aside.machines.is_empty(), "{goal}: {set_aside:?}");
        assert!(set_aside.messages.is_empty(), "{goal}: {set_aside:?}");
        taken.extend(moves);
    }
    assert_eq!(taken, rows(), "each row, and nothing else");
}
