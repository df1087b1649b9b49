use rusqlite::{Connection, ToSql};

use crate::store::{
    backend::SAMPLE,
    inbox::limits::MANY_QUEUED,
    sqlite::{
        attempts, call, call_line, child, format::FORMAT_16, journal, prune::NEEDS, ready, records,
        sessions, work::WORK,
    },
};

/// Returns SQLite's query plan for a statement on a file of this format.
pub(in crate::store::sqlite) fn plan(sql: &str, parameters: &[&dyn ToSql]) -> Vec<String> {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(FORMAT_16).unwrap();
    let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let steps = explain.query_map(parameters, |row| row.get(3)).unwrap();
    steps.collect::<rusqlite::Result<_>>().unwrap()
}

/// A machine that lives long has many children and entries, and a file has many machines, attempts
/// and sessions: none of these statements reads all of them, or sorts what it finds.
#[test]
fn rows_are_found_by_indexes() {
    let (of_entry, entered_of) = (call_line::of_entry(), call::entered_of());
    let cases = [
        (attempts::OF_TOOL, 2, "attempt USING INDEX attempt_tool (<expr>=? AND token>?)"),
        (call::OF_ENTRY, 2, "c USING INDEX child_call (parent=? AND since=?"),
        (call::OF_KEY, 2, "i USING INDEX instance_key (key=?)"),
        (call::LIVE, 2, "c USING COVERING INDEX child_call (parent=?"),
        (call::UNTAKEN[0], 2, "m USING INDEX message_queued (instance=?)"),
        (call::UNTAKEN[1], 2, "m USING INDEX message_set_aside (instance=?)"),
        (entered_of.as_str(), 3, "i USING INDEX sqlite_autoindex_instance_1 (id=?)"),
        (of_entry.as_str(), 2, "c USING INDEX child_call (parent=? AND since=?"),
        (child::NEWEST, 1, "c USING INDEX child_parent (parent=?"),
        (
            journal::OTHERS,
            2,
            "journal USING COVERING INDEX journal_others (instance=? AND number<?)",
        ),
        (records::LISTED, 4, "record USING INDEX record_list (kind=? AND list=? AND rowid>?)"),
        (
            sessions::NEWEST,
            3,
            "n USING COVERING INDEX instance_session (session=? AND rowid>? AND rowid<?)",
        ),
        (sessions::OF_SESSION, 1, "instance USING INDEX instance_session (session=?)"),
    ];
    let values: [&dyn ToSql; 4] = [&"a", &"b", &"c", &"d"];
    for (sql, count, index) in cases {
        let steps = plan(sql, &values[..count]);
        let by = format!("SEARCH {index}");
        assert!(steps.iter().any(|step| step.starts_with(&by)), "{sql}: {steps:#?}");
        // Only definitions, which are few, are read one after the other.
        let is_read_whole = |step: &&String| step.starts_with("SCAN") || step.contains("TEMP");
        let whole: Vec<_> = steps.iter().filter(is_read_whole).collect();
        let expected: &[&str] = if sql == call::LIVE { &["SCAN d"] } else { &[] };
        assert_eq!(whole, expected, "{sql}: {steps:#?}");
    }
    assert!(attempts::OF_TOOL.ends_with(&format!("LIMIT {SAMPLE}")));
}

/// A query reads only the machines that it concerns, however many exist.
#[test]
fn no_need_reads_all_machines() {
    for need in NEEDS {
        let parameters: [&dyn ToSql; 3] = [&None::<i64>; 3];
        let used = (1..=3).rfind(|number| need.contains(&format!("?{number}")));
        for step in plan(need, &parameters[..used.unwrap_or(0)]) {
            // The newest line is the first one of a scan that begins at the end.
            let is_bounded = ["SCAN family", "SCAN CONSTANT ROW", "SCAN journal"];
            assert!(!step.starts_with("SCAN") || is_bounded.contains(&step.as_str()), "{step}");
        }
    }
}

#[test]
fn machines_that_need_attention_are_found_by_an_index() {
    let cases: [(_, _, &[&dyn ToSql]); 3] = [
        (ready::FAILING, "work_failed", &[]),
        (ready::CROWDED, "work_queued", &[&9]),
        (ready::STUCK, "work_stuck", &[&9, &9]),
    ];
    for (which, index, values) in cases {
        let steps = plan(&format!("SELECT {WORK}, i.id FROM work w {which}"), values);
        assert!(steps[0].contains(&format!(" w USING INDEX {index}")), "{steps:?}");
        assert_eq!(steps[1..], ["SEARCH i USING INTEGER PRIMARY KEY (rowid=?)"]);
    }
    assert!(ready::CROWDED.contains(&format!("w.queued > {MANY_QUEUED} ")));
}
