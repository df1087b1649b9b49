use std::{cmp::Reverse, collections::BTreeSet};

use rusqlite::{Rows, params_from_iter, types::Value};

use super::{
    cached::Cached,
    call_line::in_doubt,
    definitions::Names,
    readers::ReadConnection,
    row::{LIST, WHOLE, found},
    value::Columns,
};
use crate::{
    store::backend::{Filter, FoundRow},
    stored::CallState,
};

/// The states that ended machines of a definition are in. Jumps from one to the next in the index.
const ENDS: &str = "
    WITH RECURSIVE ended (status) AS (
        SELECT min(status) FROM instance WHERE ended = 1 AND definition = ?1 UNION ALL
        SELECT (SELECT min(status) FROM instance
                WHERE ended = 1 AND definition = ?1 AND status > ended.status)
        FROM ended WHERE ended.status IS NOT NULL)
    SELECT status FROM ended WHERE status IS NOT NULL";

/// The number of the entry that came into the state of the machine `i`.
pub(super) const ENTERED: &str = "
    COALESCE(CASE WHEN json_valid(i.summary) THEN json_extract(i.summary, '$.entered') END, 0)";

/// Rows that one index has in the order of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Range {
    /// Machines that the other conditions select; of these definitions, if any.
    Any(Vec<i64>),
    /// The machines of a definition that have not ended.
    Live(i64),
    /// The machines of a definition that have ended in a state.
    Ended(i64, String),
}

/// A page of rows. There is a statement for each combination of conditions, so that SQLite can
/// choose an index for it.
pub(super) fn select(
    reader: &mut ReadConnection,
    filter: &Filter,
) -> rusqlite::Result<Vec<(u64, FoundRow)>> {
    reader.names.refresh(&reader.connection)?;
    let (mut statements, names) = (Vec::new(), &reader.names);
    for range in ranges(reader, filter)? {
        let (sql, values) = statement(filter, &range);
        statements.push((reader.connection.prepare_cached(&sql)?, values));
    }
    let mut heads = Vec::with_capacity(statements.len());
    for (statement, values) in &mut statements {
        let mut rows = statement.query(params_from_iter(&*values))?;
        let first = next(&mut rows, names, filter)?;
        heads.push((first, rows));
    }
    // Merges the ranges, and reads no more of each than the page shows.
    let mut page = Vec::with_capacity(filter.limit.min(256));
    while page.len() < filter.limit {
        let with_rows = heads.iter_mut().filter(|(next, _)| next.is_some());
        let place = |(next, _): &&mut (Option<(u64, FoundRow)>, Rows<'_>)| {
            let no = next.as_ref().map(|(no, _)| *no);
            if filter.newest_first { (Some(Reverse(no)), None) } else { (None, Some(no)) }
        };
        let Some((head, rows)) = with_rows.min_by_key(place) else { break };
        page.extend(head.take());
        if page.len() < filter.limit {
            *head = next(rows, names, filter)?;
        }
    }
    Ok(page)
}

fn next(
    rows: &mut Rows<'_>,
    names: &Names,
    filter: &Filter,
) -> rusqlite::Result<Option<(u64, FoundRow)>> {
    Ok(rows.next()?.map(|row| found(Columns(row), names, filter.whole)))
}

fn ranges(reader: &ReadConnection, filter: &Filter) -> rusqlite::Result<Vec<Range>> {
    let is_of_kind = filter.machine.is_some() || filter.definition.is_some();
    let is_any = filter.calls.is_none() && !is_of_kind;
    if is_any && (selects_few(filter) || !filter.live && filter.statuses.is_empty()) {
        return Ok(vec![Range::Any(Vec::new())]);
    }
    let mut numbers = reader.names.numbers(filter.machine.as_deref(), filter.definition);
    if let Some(wanted) = &filter.calls {
        // No state, no machine.
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        numbers.retain(|number| {
            let name = reader.names.get(*number);
            name.is_ok_and(|name| filter.calling.contains(&name.fingerprint))
        });
    }
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    if selects_few(filter) {
        return Ok(vec![Range::Any(numbers)]);
    }
    let of_gates = filter.with_gate.iter().flatten().map(|(status, _)| status);
    let wanted: BTreeSet<&String> = match &filter.statuses[..] {
        [] => of_gates.collect(),
        statuses => statuses.iter().collect(),
    };
    let mut ranges = Vec::new();
    for number in numbers {
        if !filter.ended {
            ranges.push(Range::Live(number));
        }
        if filter.live {
            continue;
        }
        let statuses: Vec<String> = if wanted.is_empty() {
            reader.connection.all(ENDS, [number], |row| row.get(0))?
        } else {
            wanted.iter().copied().cloned().collect()
        };
        ranges.extend(statuses.into_iter().map(|status| Range::Ended(number, status)));
    }
    Ok(ranges)
}

/// Another index than those of definitions selects less.
fn selects_few(filter: &Filter) -> bool {
    filter.session.is_some()
        || filter.key.is_some()
        || filter.behind.is_some()
        || filter.due_by.is_some()
        || filter.tail.is_some()
        || filter.contradicted
}

fn statement(filter: &Filter, range: &Range) -> (String, Vec<Value>) {
    let mut sql = if filter.whole { WHOLE } else { LIST }.to_owned();
    let (mut values, mut is_first): (Vec<Value>, _) = (Vec::new(), true);
    let mut and = |condition: &str, of: Vec<Value>| {
        sql.push_str(if is_first { " WHERE " } else { " AND " });
        is_first = false;
        sql.push_str(condition);
        values.extend(of);
    };
    let text = |text: &String| Value::Text(text.clone());
    let mut statuses = &filter.statuses[..];
    // The condition of a partial index must be in the text of the statement.
    match range {
        Range::Any(definitions) => {
            if !definitions.is_empty() {
                let places = vec!["?"; definitions.len()].join(", ");
                // The plus sign keeps SQLite from the indexes of definitions: another one selects
                // less.
                let numbers = definitions.iter().copied().map(Value::Integer).collect();
                and(&format!("+i.definition IN ({places})"), numbers);
            }
            if filter.live {
                and("+i.ended = 0", Vec::new());
            }
            if filter.ended {
                and("+i.ended = 1", Vec::new());
            }
        }
        Range::Live(definition) => {
            and("i.definition = ?", vec![Value::Integer(*definition)]);
            and("i.ended = 0", Vec::new());
        }
        Range::Ended(definition, status) => {
            and("i.definition = ?", vec![Value::Integer(*definition)]);
            and("i.status = ?", vec![text(status)]);
            and("i.ended = 1", Vec::new());
            statuses = &[];
        }
    }
    if filter.contradicted {
        and("i.contradicted = 1", Vec::new());
    }
    let blob = |bytes: &[u8]| Value::Blob(bytes.to_vec());
    for (condition, value) in [
        ("substr(i.id, 13) = ?", filter.tail.map(|tail| blob(&tail))),
        ("i.session = ?", filter.session.as_ref().map(text)),
        ("i.key = ?", filter.key.as_ref().map(text)),
        ("i.behind = ?", filter.behind.map(|behind| blob(behind.bytes()))),
        ("i.updated_at <= ?", filter.unchanged_since.map(Value::Integer)),
        ("i.due_at <= ?", filter.due_by.map(Value::Integer)),
    ] {
        if let Some(value) = value {
            and(condition, vec![value]);
        }
    }
    if !statuses.is_empty() {
        let places = vec!["?"; statuses.len()].join(", ");
        and(&format!("i.status IN ({places})"), statuses.iter().map(text).collect());
    }
    if filter.gated {
        // The plus sign keeps SQLite from the index of gates: it is for one of them.
        and("+i.behind > ?", vec![Value::Blob(Vec::new())]);
    }
    if let Some(wanted) = &filter.with_gate {
        let pairs: Vec<_> =
            wanted.iter().flat_map(|(status, gate)| [text(status), text(gate)]).collect();
        let places = vec!["(?, ?)"; pairs.len() / 2].join(", ");
        let gate = "COALESCE((SELECT g.status FROM instance g WHERE g.id = i.behind), '')";
        and(&format!("+i.behind IS NOT NULL AND (i.status, {gate}) IN (VALUES {places})"), pairs);
    }
    if let Some(wanted) = &filter.calls {
        let (condition, values) = calls(wanted);
        and(&condition, values);
    }
    let number = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let order = match (filter.due_by, filter.after) {
        (Some(_), Some((due_at, no))) => {
            and("i.due_at >= ?", vec![Value::Integer(due_at)]);
            and("(i.due_at > ? OR i.no > ?)", vec![Value::Integer(due_at), number(no)]);
            " ORDER BY i.due_at, i.no LIMIT ?"
        }
        (Some(_), None) => " ORDER BY i.due_at, i.no LIMIT ?",
        (None, after) if filter.newest_first => {
            if let Some((_, place)) = after {
                and("i.no < ?", vec![number(place)]);
            }
            " ORDER BY i.no DESC LIMIT ?"
        }
        (None, after) => {
            if let Some((_, place)) = after {
                and("i.no > ?", vec![number(place)]);
            }
            " ORDER BY i.no LIMIT ?"
        }
    };
    sql.push_str(order);
    values.push(number(filter.limit as u64));
    (sql, values)
}

/// The condition that a call of the current entry of a machine is in one of these states.
fn calls(wanted: &[CallState]) -> (String, Vec<Value>) {
    let values = wanted.iter().flat_map(|state| {
        let gate = match &state.gate {
            Some(gate) => Value::Text(gate.clone()),
            None => Value::Integer(0),
        };
        [Value::Text(state.status.clone()), gate, Value::Integer(state.in_doubt.into())]
    });
    let places = vec!["(?, ?, ?)"; wanted.len()].join(", ");
    let condition = format!(
        "EXISTS (
            SELECT 1 FROM child k INDEXED BY child_call CROSS JOIN instance x ON x.no = k.child
            WHERE k.parent = i.no AND k.position IS NOT NULL AND x.ended = 0
            AND k.since = 1 + {ENTERED}
            AND (x.status, CASE WHEN x.behind IS NULL THEN 0 ELSE COALESCE(
                     (SELECT g.status FROM instance g WHERE g.id = x.behind), '') END, {})
                IN (VALUES {places}))",
        in_doubt()
    );
    (condition, values.collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
