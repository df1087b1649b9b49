use rusqlite::ToSql;

use crate::store::{
    backend::SAMPLE,
    sqlite::{attempts, call, call_line, child, format::tests::plan, journal, records, sessions},
};

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
        (records::LISTED, 4, "record USING INDEX record_list (kind=? AND list=?)"),
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
