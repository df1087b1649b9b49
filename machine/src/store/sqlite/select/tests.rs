use rusqlite::ToSql;

use super::*;
use crate::{id::Id, store::sqlite::tests::plans::plan};

/// A page reads only the machines that an index selects, in its order, however many exist.
#[test]
fn no_page_is_sorted() {
    let text = || Some("a".to_owned());
    let states = || vec!["a".to_owned(), "b".to_owned()];
    let (any, of_kind) = (|| Range::Any(Vec::new()), || Range::Any(vec![1, 2]));
    let (live, ended) = (|| Range::Live(1), || Range::Ended(1, "a".to_owned()));
    let all = Filter { limit: 50, ..Filter::default() };
    let with_gate = Some(vec![("a".to_owned(), String::new())]);
    let calls = || {
        let status = "a".to_owned();
        Some(vec![CallState { status, gate: None, in_doubt: true }])
    };
    let filters = [
        (all.clone(), any(), "PRIMARY KEY"),
        (Filter { ended: true, ..all.clone() }, any(), "PRIMARY KEY"),
        (Filter { gated: true, ..all.clone() }, any(), "PRIMARY KEY"),
        (all.clone(), live(), "INDEX instance_live"),
        (all.clone(), ended(), "INDEX instance_ended"),
        (Filter { statuses: states(), ..all.clone() }, live(), "INDEX instance_live"),
        (Filter { statuses: states(), ..all.clone() }, ended(), "INDEX instance_ended"),
        (Filter { with_gate, ..all.clone() }, live(), "INDEX instance_live"),
        (Filter { tail: Some([1; 4]), ..all.clone() }, any(), "INDEX instance_tail"),
        (Filter { tail: Some([1; 4]), ..all.clone() }, of_kind(), "INDEX instance_tail"),
        (Filter { contradicted: true, ..all.clone() }, any(), "INDEX instance_contradicted"),
        (
            Filter { contradicted: true, live: true, ..all.clone() },
            of_kind(),
            "INDEX instance_contradicted",
        ),
        (Filter { session: text(), ..all.clone() }, any(), "INDEX instance_session"),
        (
            Filter { session: text(), live: true, ..all.clone() },
            of_kind(),
            "INDEX instance_session",
        ),
        (Filter { key: text(), ended: true, ..all.clone() }, of_kind(), "INDEX instance_key"),
        (Filter { behind: Some(Id::fresh()), ..all.clone() }, any(), "INDEX instance_behind"),
        (Filter { calls: calls(), live: true, ..all.clone() }, live(), "INDEX instance_live"),
        (Filter { due_by: Some(9), ..all }, of_kind(), "INDEX instance_due"),
    ];
    for (filter, range, index) in filters {
        for (newest_first, whole) in [(false, false), (true, false), (true, true)] {
            for after in [None, Some((5, 500))] {
                let filter = Filter { newest_first, after, whole, ..filter.clone() };
                let (sql, values) = statement(&filter, &range);
                let values: Vec<&dyn ToSql> = values.iter().map(|it| it as _).collect();
                let steps = plan(&sql, &values);
                // In the order of its primary key, the table needs no index.
                let reads_all = steps[0] == "SCAN i" && index == "PRIMARY KEY";
                assert!(steps[0].contains(index) || reads_all, "{filter:?}: {steps:#?}");
                let sorts = steps.iter().any(|step| step.contains("TEMP B-TREE"));
                assert!(!sorts, "{filter:?}: {steps:#?}");
            }
        }
    }
}

/// However many children a machine has.
#[test]
fn the_calls_of_a_machine_are_found_by_an_index() {
    let state = CallState { status: "a".to_owned(), gate: None, in_doubt: true };
    let filter = Filter { calls: Some(vec![state]), live: true, ..Filter::default() };
    let (sql, values) = statement(&filter, &Range::Live(1));
    let values: Vec<&dyn ToSql> = values.iter().map(|it| it as _).collect();
    let steps = plan(&sql, &values);
    let by_index = |step: &String| {
        step.starts_with("SEARCH k USING COVERING INDEX child_call (parent=? AND since=?")
    };
    assert!(steps.iter().any(by_index), "{steps:#?}");
    assert!(!steps.iter().any(|step| step.starts_with("SCAN x")), "{steps:#?}");
}

/// However many machines have ended.
#[test]
fn the_states_of_ended_machines_are_found_by_an_index() {
    let steps = plan(ENDS, &[&1]);
    let reads = steps.iter().filter(|step| step.contains(" instance"));
    let by_index = reads.filter(|step| step.contains("COVERING INDEX instance_ended"));
    assert_eq!(by_index.count(), 2, "{steps:#?}");
    assert!(!steps.iter().any(|step| step.contains("SCAN instance")), "{steps:#?}");
}
