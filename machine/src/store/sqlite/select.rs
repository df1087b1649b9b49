use rusqlite::{params_from_iter, types::Value};

use super::{
    readers::Reader,
    row::{LIST, WHOLE, found},
    value::Columns,
};
use crate::{
    contract::{Release, execution},
    store::backend::{Filter, Found},
};

/// A page of rows. There is a statement for each combination of conditions, so that SQLite can choose
/// an index for it.
pub(super) fn select(reader: &mut Reader, filter: &Filter) -> rusqlite::Result<Vec<(u64, Found)>> {
    reader.names.refresh(&reader.connection)?;
    if filter.machine.is_none() && filter.definition.is_none() {
        return select_of(reader, filter, From::Machines, None);
    }
    let numbers = reader.names.numbers(filter.machine.as_deref(), filter.definition);
    let from = from(reader, filter)?;
    if let [only] = numbers[..] {
        return select_of(reader, filter, from, Some(only));
    }
    // With several definitions in one statement, SQLite would sort all rows for each page.
    let mut all = Vec::new();
    for number in numbers {
        all.extend(select_of(reader, filter, from, Some(number))?);
    }
    all.sort_by_key(|(no, found)| match (filter.due_by, found) {
        (Some(_), Found::Row(row, _)) => (row.due_at, *no),
        (Some(_), Found::Broken(broken)) => (broken.due_at, *no),
        _ => (None, *no),
    });
    if filter.newest_first && filter.due_by.is_none() {
        all.reverse();
    }
    all.truncate(filter.limit);
    Ok(all)
}

/// The table that leads to the machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Machines,
    /// It has no machine that has ended, and every other one of a kind that is driven.
    Work,
}

fn from(reader: &Reader, filter: &Filter) -> rusqlite::Result<From> {
    let kind = filter.machine.as_ref().filter(|_| filter.live && filter.due_by.is_none());
    let Some(kind) = kind else { return Ok(From::Machines) };
    let mut driven = reader.connection.prepare_cached("SELECT 1 FROM driven WHERE machine = ?1")?;
    Ok(if driven.exists([kind])? { From::Work } else { From::Machines })
}

fn select_of(
    reader: &Reader,
    filter: &Filter,
    from: From,
    definition: Option<i64>,
) -> rusqlite::Result<Vec<(u64, Found)>> {
    let (sql, values) = statement(filter, from, definition);
    let mut select = reader.connection.prepare_cached(&sql)?;
    let mut rows = select.query(params_from_iter(values))?;
    let mut page = Vec::with_capacity(filter.limit.min(256));
    while let Some(row) = rows.next()? {
        page.push(found(Columns(row), &reader.names, filter.whole));
    }
    Ok(page)
}

fn statement(filter: &Filter, from: From, definition: Option<i64>) -> (String, Vec<Value>) {
    let mut sql = if filter.whole { WHOLE } else { LIST }.to_owned();
    // SQLite keeps the order of tables in a CROSS JOIN.
    let no = match from {
        From::Machines => "i.no",
        From::Work => {
            let work = "FROM work w CROSS JOIN instance i ON i.no = w.instance";
            sql = sql.replacen("FROM instance i", work, 1);
            "w.instance"
        }
    };
    let mut values: Vec<Value> = Vec::new();
    let mut and = |condition: &str, of: Vec<Value>| {
        sql.push_str(if values.is_empty() { " WHERE " } else { " AND " });
        sql.push_str(condition);
        values.extend(of);
    };
    let text = |text: &String| Value::Text(text.clone());
    if let Some(definition) = definition {
        // The plus sign keeps SQLite from this index where another one selects less.
        let selects_less = filter.session.is_some()
            || filter.key.is_some()
            || filter.behind.is_some()
            || filter.due_by.is_some()
            || from == From::Work;
        let condition = if selects_less { "+i.definition = ?" } else { "i.definition = ?" };
        and(condition, vec![Value::Integer(definition)]);
    }
    if !filter.statuses.is_empty() {
        let places = vec!["?"; filter.statuses.len()].join(", ");
        and(&format!("i.status IN ({places})"), filter.statuses.iter().map(text).collect());
    }
    if let Some(session) = &filter.session {
        and("i.session = ?", vec![text(session)]);
    }
    if let Some(key) = &filter.key {
        and("i.key = ?", vec![text(key)]);
    }
    if let Some(behind) = &filter.behind {
        and("i.behind = ?", vec![Value::Blob(behind.bytes().to_vec())]);
    }
    if filter.gated {
        // The plus sign keeps SQLite from the index of gates: it is for one of them.
        and("+i.behind > ?", vec![Value::Blob(Vec::new())]);
    }
    if let Some(wanted) = filter.release {
        let mut pairs = Vec::new();
        for (status, gate) in states(wanted) {
            pairs.extend([Value::Text(status), Value::Text(gate)]);
        }
        let places = vec!["(?, ?)"; pairs.len() / 2].join(", ");
        let gate = "COALESCE((SELECT g.status FROM instance g WHERE g.id = i.behind), '')";
        and(&format!("+i.behind IS NOT NULL AND (i.status, {gate}) IN (VALUES {places})"), pairs);
    }
    if filter.ended {
        and("i.ended = ?", vec![Value::Integer(1)]);
    }
    if filter.live {
        and("i.ended = ?", vec![Value::Integer(0)]);
    }
    if let Some(at) = filter.unchanged_since {
        and("i.updated_at <= ?", vec![Value::Integer(at)]);
    }
    if let Some(at) = filter.due_by {
        and("i.due_at <= ?", vec![Value::Integer(at)]);
    }
    let number = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let order = match (filter.due_by, filter.after) {
        (Some(_), Some((due_at, no))) => {
            and("i.due_at >= ?", vec![Value::Integer(due_at)]);
            and("(i.due_at > ? OR i.no > ?)", vec![Value::Integer(due_at), number(no)]);
            " ORDER BY i.due_at, i.no LIMIT ?".to_owned()
        }
        (Some(_), None) => " ORDER BY i.due_at, i.no LIMIT ?".to_owned(),
        (None, after) if filter.newest_first => {
            if let Some((_, place)) = after {
                and(&format!("{no} < ?"), vec![number(place)]);
            }
            format!(" ORDER BY {no} DESC LIMIT ?")
        }
        (None, after) => {
            if let Some((_, place)) = after {
                and(&format!("{no} > ?"), vec![number(place)]);
            }
            format!(" ORDER BY {no} LIMIT ?")
        }
    };
    sql.push_str(&order);
    values.push(number(filter.limit as u64));
    (sql, values)
}

/// The statuses of an execution and of its gate that make this release. A gate that is not there has none.
fn states(wanted: Release) -> Vec<(String, String)> {
    let all = || execution::DEFINITION.states.iter().map(|state| state.name.to_string());
    let mut found = Vec::new();
    for (status, gate) in all().flat_map(|it| all().map(move |gate| (it.clone(), gate))) {
        let of = |gate: Option<&str>| {
            Release::between(status.parse().ok()?, gate.and_then(|gate| gate.parse().ok()))
        };
        if of(None) == Some(wanted) && !found.contains(&(status.clone(), String::new())) {
            found.push((status.clone(), String::new()));
        }
        if of(Some(&gate)) == Some(wanted) {
            found.push((status, gate));
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use rusqlite::ToSql;

    use super::*;
    use crate::{id::Id, store::sqlite::format::tests::plan};

    /// However many machines there are, a page reads those that an index selects, in its order.
    #[test]
    fn no_page_is_sorted() {
        let text = || Some("a".to_owned());
        let states = || vec!["a".to_owned(), "b".to_owned()];
        let all = Filter { limit: 50, ..Filter::default() };
        let live = Filter { live: true, ..all.clone() };
        let filters = [
            (live, Some(2), " w"),
            (all.clone(), None, "PRIMARY KEY"),
            (Filter { statuses: states(), ..all.clone() }, None, "PRIMARY KEY"),
            (all.clone(), Some(1), "INDEX instance_definition"),
            (Filter { statuses: states(), ..all.clone() }, Some(1), "INDEX instance_definition"),
            (Filter { session: text(), ..all.clone() }, None, "INDEX instance_session"),
            (Filter { session: text(), ..all.clone() }, Some(1), "INDEX instance_session"),
            (Filter { key: text(), ..all.clone() }, Some(1), "INDEX instance_key"),
            (Filter { behind: Some(Id::fresh()), ..all.clone() }, None, "INDEX instance_behind"),
            (
                Filter { release: Some(Release::Refused), ..all.clone() },
                Some(1),
                "INDEX instance_definition",
            ),
            (Filter { due_by: Some(9), ..all }, Some(1), "INDEX instance_due"),
        ];
        for (filter, definition, index) in filters {
            for (newest_first, whole) in [(false, false), (true, false), (true, true)] {
                for after in [None, Some((5, 500))] {
                    let filter = Filter { newest_first, after, whole, ..filter.clone() };
                    let from = if filter.live { From::Work } else { From::Machines };
                    let (sql, values) = statement(&filter, from, definition);
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
}
