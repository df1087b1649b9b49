use super::*;

#[test]
fn a_machine_is_created_and_updated() {
    let place = Place::new();
    let store = place.open();
    let mut machine = Machine::new();
    machine.row.session = Some("s".to_owned());
    machine.row.key = Some("k".to_owned());
    machine.row.behind = Some(Id::fresh());
    machine.row.due_at = Some(-5);
    let (first, second) = (batch(vec![machine.write(2)]), Machine::clone(&machine));
    let commit_id = first.commit_id;
    assert_eq!(wait(store.apply(first)).unwrap().unwrap().last, [2]);
    let Found::Row(row, digest) = row(&store, machine.row.id) else { panic!("no row") };
    assert_eq!(row, Row { commit_id, ..second.row });
    assert_eq!(digest, Some(second.newest));

    machine.row.status = "running".to_owned();
    machine.row.due_at = None;
    let write = machine.write(1);
    assert!(write.row.context.is_none());
    let update = batch(vec![write]);
    let commit_id = update.commit_id;
    assert_eq!(wait(store.apply(update)).unwrap().unwrap().last, [3]);
    let Found::Row(row, digest) = super::row(&store, machine.row.id) else { panic!("no row") };
    // A write that leaves out the context keeps it.
    let context = Some("{\"context\":1}".into());
    assert_eq!(row, Row { commit_id, context, ..machine.row.clone() });
    assert_eq!(digest, Some(machine.newest));

    let lines = wait(store.history(machine.row.id, 0, 10)).unwrap().unwrap();
    assert_eq!(lines.iter().map(|line| line.number).collect::<Vec<_>>(), [0, 1, 2]);
    let mut previous = Digest::ZERO;
    for line in lines {
        assert_eq!(line.digest, line.expected_digest(&settings().key, &previous));
        previous = line.digest;
    }
    assert_eq!(verify(&store), 3);
    assert_eq!(wait(store.newest()).unwrap(), 3);
    let definitions = wait(store.definitions()).unwrap().intact;
    assert_eq!(*definitions[0], *execution::DEFINITION);
    assert_eq!(definitions.len(), 1);
}

#[test]
fn a_context_can_be_replaced() {
    let place = Place::new();
    let store = place.open();
    let mut machine = stored(&store, 1);
    let mut write = machine.write(1);
    write.row.context = Some("{\"context\":2}".into());
    apply(&store, vec![write]).unwrap();
    let Found::Row(row, _) = row(&store, machine.row.id) else { panic!("no row") };
    assert_eq!(row.context.as_deref(), Some("{\"context\":2}"));
}

#[test]
fn a_failed_precondition_writes_nothing() {
    let place = Place::new();
    let store = place.open();
    let mut machine = stored(&store, 2);
    let id = machine.row.id;

    let mut stale = machine.clone();
    apply(&store, vec![machine.write(1)]).unwrap();
    let mut other = Machine::new();
    let refused = apply(&store, vec![other.write(1), stale.write(1)]);
    assert_eq!(refused, Err(Rejected::Conflict(id)));
    assert!(matches!(row(&store, other.row.id), Found::Missing(_)));

    let again = Write { expected: None, ..stale.write(1) };
    assert_eq!(apply(&store, vec![again]), Err(Rejected::AlreadyStored(id)));

    let mut unknown = Machine::new();
    unknown.line();
    let unknown_id = unknown.row.id;
    assert_eq!(apply(&store, vec![unknown.write(1)]), Err(Rejected::NotFound(unknown_id)));

    let twice = vec![machine.clone().write(1), machine.write(1)];
    assert_eq!(apply(&store, twice), Err(Rejected::Conflict(id)));
    assert_eq!(verify(&store), 3);
}

#[test]
fn a_batch_that_was_committed_is_recognized() {
    let place = Place::new();
    let store = place.open();
    let (mut a, mut b) = (stored(&store, 1), Machine::new());
    let both = batch(vec![a.write(2), b.write(1)]);
    let first = wait(store.apply(both.clone())).unwrap().unwrap();
    assert_eq!(first.last, [3, 4]);
    assert_eq!(wait(store.apply(both.clone())).unwrap().unwrap(), first);
    // One machine has moved on since.
    apply(&store, vec![b.write(1)]).unwrap();
    assert_eq!(wait(store.apply(both.clone())).unwrap().unwrap(), first);
    // Another batch with the same content is not the same batch.
    let other = Batch { commit_id: both.commit_id ^ 1, ..both };
    assert_eq!(wait(store.apply(other)).unwrap(), Err(Rejected::Conflict(a.row.id)));
    assert_eq!(verify(&store), 5);
}

#[test]
fn threads_commit_in_groups() {
    let place = Place::new();
    let store = place.open();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut machine = Machine::new();
                for _ in 0..20 {
                    let last = apply(&store, vec![machine.write(2)]).unwrap().last[0];
                    // Nothing is answered before it can be read.
                    assert!(wait(store.newest()).unwrap() >= last);
                }
                let stale = Write { expected: Some(3), ..machine.write(1) };
                let refused = apply(&store, vec![stale]);
                assert_eq!(refused, Err(Rejected::Conflict(machine.row.id)));
            });
        }
    });
    assert_eq!(verify(&store), 16 * 20 * 2);
    let chains = "SELECT count(chain) FROM journal";
    let transactions: i64 = place.raw().query_row(chains, [], |row| row.get(0)).unwrap();
    assert!(transactions < 320, "{transactions} transactions");
}

#[test]
fn one_of_several_writers_of_a_machine_wins() {
    let place = Place::new();
    let (one, two) = (place.open(), place.open());
    let machine = stored(&one, 1);
    let wins = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (store, mut machine) = (if thread % 2 == 0 { &one } else { &two }, machine.clone());
            let wins = &wins;
            scope.spawn(move || match apply(store, vec![machine.write(1)]) {
                Ok(_) => {
                    wins.fetch_add(1, Ordering::SeqCst);
                }
                Err(rejected) => assert_eq!(rejected, Rejected::Conflict(machine.row.id)),
            });
        }
    });
    assert_eq!(wins.into_inner(), 1);
    assert_eq!(verify(&two), 2);
}
