use super::*;
use crate::store::backend::Broken;

#[test]
fn a_broken_row_stops_only_its_machine() {
    let (place, store) = Place::opened();
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
            let FoundRow::Broken(Broken { id, reason, .. }) = found else {
                panic!("{change}: {found:?}")
            };
            let known = !change.starts_with("id");
            assert_eq!(*id, known.then_some(machine.row.id), "{reason}");
        }
        assert!(matches!(&page[changes.len()].1, FoundRow::Row(row, _) if row.id == good.row.id));
    }
    // Writing to a broken one fails, and to a good one does not.
    let mut broken = machines[0].clone();
    assert!(apply(&store, vec![broken.write(1)]).is_err());
    apply(&store, vec![good.write(1)]).unwrap();
}

#[test]
fn many_reads_at_once() {
    let (_place, store) = Place::opened();
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
