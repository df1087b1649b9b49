use super::*;
use crate::store::backend::Broken;

fn ids(found: &[(u64, Found)]) -> Vec<Id> {
    let id = |found: &(u64, Found)| match &found.1 {
        Found::Row(row, _) => row.id,
        other => panic!("{other:?}"),
    };
    found.iter().map(id).collect()
}

#[test]
fn rows_are_selected_by_column_and_page() {
    let place = Place::new();
    let store = place.open();
    let machines: Vec<Machine> = (0..10i64)
        .map(|number| {
            let mut machine = Machine::new();
            machine.row.due_at = (number % 2 == 0).then_some(100 - number / 4);
            machine.row.session = (number < 5).then(|| "s".to_owned());
            machine.row.key = (number == 3).then(|| "k".to_owned());
            machine.row.behind = (number == 4).then_some(machine.row.id);
            machine.row.status = if number < 2 { "waiting" } else { "planned" }.to_owned();
            machine.row.updated_at = number;
            apply(&store, vec![machine.write(1)]).unwrap();
            machine
        })
        .collect();
    let id = |number: usize| machines[number].row.id;
    let name = execution::DEFINITION.name.to_string();
    let select = |filter| ids(&all(&store, filter));

    let everything: Vec<Id> = machines.iter().map(|machine| machine.row.id).collect();
    assert_eq!(select(Filter::default()), everything);
    assert_eq!(select(Filter { machine: Some(name), ..Filter::default() }), everything);
    assert_eq!(select(Filter { machine: Some("x".to_owned()), ..Filter::default() }), []);
    let session = Some("s".to_owned());
    let statuses = vec!["waiting".to_owned()];
    assert_eq!(select(Filter { session: session.clone(), ..Filter::default() }), everything[..5]);
    let both = Filter { statuses, session, ..Filter::default() };
    assert_eq!(select(both), everything[..2]);
    assert_eq!(select(Filter { key: Some("k".to_owned()), ..Filter::default() }), [id(3)]);
    assert_eq!(select(Filter { behind: Some(id(4)), ..Filter::default() }), [id(4)]);
    assert_eq!(select(Filter { unchanged_since: Some(1), ..Filter::default() }), everything[..2]);

    let due = Filter { due_by: Some(99), ..Filter::default() };
    assert_eq!(select(due.clone()), [id(8), id(4), id(6)]);
    // Page by page, with several rows of one time.
    let due = Filter { due_by: Some(i64::MAX), limit: 1, whole: true, ..Filter::default() };
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let page = wait(store.select(Filter { after, ..due.clone() })).unwrap();
        let Some((no, Found::Row(row, digest))) = page.first() else { break };
        assert!(digest.is_some() && row.context.is_some());
        after = row.due_at.map(|due_at| (due_at, *no));
        seen.push(row.id);
    }
    assert_eq!(seen, [id(8), id(4), id(6), id(0), id(2)]);
    let first = all(&store, Filter::default())[3].0;
    let rest = Filter { after: Some((0, first)), ..Filter::default() };
    assert_eq!(select(rest), everything[4..]);

    // A list leaves out what is large.
    let Found::Row(row, digest) = &all(&store, Filter::default())[0].1 else { panic!("no row") };
    assert!(digest.is_none() && row.context.is_none() && row.state.is_empty());
    for extreme in [i64::MIN, -1, 0, i64::MAX] {
        let cursor = Some((extreme, extreme.cast_unsigned()));
        for limit in [0, 1, usize::MAX] {
            let due_by = Some(extreme);
            let filter = Filter { due_by, after: cursor, limit, ..Filter::default() };
            assert!(wait(store.select(filter)).unwrap().len() <= limit);
        }
    }
    assert_eq!(wait(store.history(id(0), u64::MAX, usize::MAX)).unwrap().unwrap(), []);
    assert_eq!(wait(store.history(Id::fresh(), 0, 9)).unwrap().unwrap(), []);
    assert!(wait(store.entries(u64::MAX, usize::MAX)).unwrap().is_empty());
    let found = wait(store.rows(vec![id(7), Id::fresh(), id(2)])).unwrap();
    assert!(matches!(&found[0], Found::Row(row, _) if row.id == id(7)));
    assert!(matches!(&found[1], Found::Missing(_)));
    assert!(matches!(&found[2], Found::Row(row, _) if row.id == id(2)));
}

#[test]
fn a_broken_row_stops_only_its_machine() {
    let place = Place::new();
    let store = place.open();
    let changes = [
        "version = -1",
        "epoch = -9223372036854775807 - 1",
        "seal = x'0102'",
        "behind = x'00'",
        "id = x'00'",
        "definition = 99",
        "version = -9223372036854775807 - 1",
        "status = CAST(x'ff' AS TEXT)",
    ];
    let machines: Vec<Machine> = changes.iter().map(|_| stored(&store, 1)).collect();
    let mut good = stored(&store, 1);
    let raw = place.raw();
    raw.execute_batch("DROP TRIGGER instance_keeps_its_identity").unwrap();
    for (change, machine) in changes.iter().zip(&machines) {
        let sql = format!("UPDATE instance SET {change} WHERE id = ?1");
        raw.execute(&sql, [machine.row.id.bytes()]).unwrap();
    }
    for whole in [false, true] {
        let page = all(&store, Filter { whole, ..Filter::default() });
        for ((_, found), (change, machine)) in page.iter().zip(changes.iter().zip(&machines)) {
            let Found::Broken(Broken { id, reason, .. }) = found else {
                panic!("{change}: {found:?}")
            };
            let known = !change.starts_with("id");
            assert_eq!(*id, known.then_some(machine.row.id), "{reason}");
        }
        assert!(matches!(&page[changes.len()].1, Found::Row(row, _) if row.id == good.row.id));
    }
    // Writing to a broken one fails, and to a good one does not.
    let mut broken = machines[0].clone();
    assert!(apply(&store, vec![broken.write(1)]).is_err());
    apply(&store, vec![good.write(1)]).unwrap();
}

#[test]
fn a_broken_line_is_an_error_of_its_machine() {
    let place = Place::new();
    let store = place.open();
    let (bad, good, gone) = (stored(&store, 3), stored(&store, 1), stored(&store, 2));
    let raw = place.raw();
    raw.execute_batch(
        "DROP TRIGGER journal_is_append_only; DROP TRIGGER journal_is_kept;
         UPDATE journal SET kind = 9 WHERE seq = 2; UPDATE journal SET digest = x'' WHERE seq = 3;
         UPDATE journal SET instance = 77 WHERE seq = 4; DELETE FROM journal WHERE seq = 6;",
    )
    .unwrap();
    let broken = wait(store.history(bad.row.id, 0, 10)).unwrap().unwrap_err();
    assert_eq!(broken.id, Some(bad.row.id));
    assert_eq!(wait(store.history(bad.row.id, 0, 1)).unwrap().unwrap().len(), 1);
    let entries = wait(store.entries(0, 10)).unwrap();
    let errors: Vec<bool> = entries.iter().map(|entry| entry.line.is_err()).collect();
    assert_eq!(errors, [false, true, true, true, false]);
    assert_eq!(entries[3].id, None);
    for (id, broken) in [(bad.row.id, true), (good.row.id, false), (gone.row.id, false)] {
        match row(&store, id) {
            Found::Broken(_) if broken => {}
            // The newest line is missing.
            Found::Row(_, None) if !broken => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn two_stores_on_one_file_see_each_other() {
    let place = Place::new();
    let (one, two) = (place.open(), place.open());
    let mut machine = stored(&one, 1);
    assert!(matches!(row(&two, machine.row.id), Found::Row(row, _) if row.version == 1));
    apply(&two, vec![machine.write(1)]).unwrap();
    assert!(matches!(row(&one, machine.row.id), Found::Row(row, _) if row.version == 2));
    assert_eq!(verify(&one), 2);
    assert_eq!(one.identity(), two.identity());
}

#[test]
fn many_reads_at_once() {
    let place = Place::new();
    let store = place.open();
    stored(&store, 1);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(all(&store, Filter { whole: true, ..Filter::default() }).len(), 1);
                }
            });
        }
    });
}
