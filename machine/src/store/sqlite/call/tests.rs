use super::*;
use crate::store::sqlite::format::tests::plan;

/// A machine that lives long has many children, and many machines can have one key.
#[test]
fn calls_are_found_by_indexes() {
    for (sql, by) in [
        (OF_ENTRY, "SEARCH c USING INDEX child_call (parent=? AND since=?"),
        (OF_KEY, "SEARCH i USING INDEX instance_key (key=?)"),
        (LIVE, "SEARCH c USING COVERING INDEX child_call (parent=?"),
        (UNTAKEN[0], "SEARCH m USING INDEX message_queued (instance=?)"),
        (UNTAKEN[1], "SEARCH m USING INDEX message_set_aside (instance=?)"),
    ] {
        let parameters: [&dyn ToSql; 2] = [&"id", &"by"];
        let steps = plan(sql, &parameters);
        assert!(steps.iter().any(|step| step.starts_with(by)), "{sql}: {steps:#?}");
        // Only definitions, which are few, are read one after the other; and nothing is sorted.
        let is_read_whole = |step: &&String| step.starts_with("SCAN") || step.contains("TEMP");
        let whole: Vec<_> = steps.iter().filter(is_read_whole).collect();
        let expected: &[&str] = if sql == LIVE { &["SCAN d"] } else { &[] };
        assert_eq!(whole, expected, "{sql}: {steps:#?}");
    }
}

#[test]
fn the_entry_of_a_parent_is_found_by_its_id() {
    let steps = plan(&entered_of(), &[&"parent", &"call", &"kind"]);
    assert!(steps.iter().all(|step| step.starts_with("SEARCH")), "{steps:#?}");
}
