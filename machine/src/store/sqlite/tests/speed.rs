//! Prints figures; run with `--release -- --ignored --nocapture`.
#![allow(clippy::print_stdout, reason = "its purpose")]

use std::time::{Duration, Instant};

use rusqlite::params;

use super::*;

/// A creation and four commits with 256 bytes of payload each.
fn five() -> Vec<Write> {
    let body = "x".repeat(256);
    let mut machine = Machine::new();
    machine.row.state.clone_from(&body);
    let write = |_| {
        let mut write = machine.write(1);
        write.lines[0].body = Some(body.clone());
        write
    };
    (0..5).map(write).collect()
}

/// The same tables and about the same statements, without anything around them.
fn raw(file: &Connection, group: &[Write]) {
    let execute = |sql: &str| file.prepare_cached(sql).unwrap().execute([]).map(drop).unwrap();
    execute("BEGIN IMMEDIATE");
    for write in group {
        let (row, line) = (&write.row, &write.lines[0]);
        let no: i64 = if write.expected.is_none() {
            file.prepare_cached(
                "INSERT INTO instance (id, definition, status, version, epoch, created_at,
                 updated_at, newest, commit_id, seal, summary, state)
                 VALUES (?1, 1, ?2, 1, 0, 1, 1, 1, 1, ?3, ?4, ?5)",
            )
            .unwrap()
            .execute(params![row.id.bytes(), row.status, row.seal.bytes(), row.summary, row.state])
            .unwrap();
            let no = file.last_insert_rowid();
            file.prepare_cached("INSERT INTO context (instance, body) VALUES (?1, ?2)")
                .unwrap()
                .execute(params![no, row.context])
                .unwrap();
            no
        } else {
            let no = file
                .prepare_cached("SELECT no FROM instance WHERE id = ?1 AND version = ?2")
                .unwrap()
                .query_row(params![row.id.bytes(), line.number.cast_signed()], |row| row.get(0))
                .unwrap();
            let (version, seal) = (row.version.cast_signed(), row.seal.bytes());
            file.prepare_cached(
                "UPDATE instance SET status = ?2, version = ?3, seal = ?4, state = ?5 WHERE no = ?1",
            )
            .unwrap()
            .execute(params![no, row.status, version, seal, row.state])
            .unwrap();
            no
        };
        let (number, digest) = (line.number.cast_signed(), line.digest.bytes());
        file.prepare_cached(
            "INSERT INTO journal (instance, number, at, definition, actor, kind, edge, body, digest)
             VALUES (?1, ?2, 1, 1, ?3, 1, 1, ?4, ?5)",
        )
        .unwrap()
        .execute(params![no, number, line.actor, line.body, digest])
        .unwrap();
    }
    execute("COMMIT");
}

fn raw_file(place: &Place) -> Connection {
    drop(place.open());
    place.wait_for_one_file();
    let file = place.raw();
    file.execute_batch("PRAGMA synchronous = FULL").unwrap();
    file.set_prepared_statement_cache_capacity(64);
    file
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Prints the sums of the times and their ratio, and the ratio of the middle pair, which no checkpoint
/// falls into.
fn print(what: &str, commits: u32, times: &[(Duration, Duration)]) {
    let ratio = |(raw, store): &(Duration, Duration)| store.as_secs_f64() / raw.as_secs_f64();
    let per_second = |time: Duration| {
        f64::from(commits) * f64::from(u32::try_from(times.len()).unwrap()) / time.as_secs_f64()
    };
    let sums = (times.iter().map(|time| time.0).sum(), times.iter().map(|time| time.1).sum());
    let mut ratios: Vec<f64> = times.iter().map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    println!(
        "{what}: raw {:.0}/s, store {:.0}/s, time {:.2}, middle {:.2}",
        per_second(sums.0),
        per_second(sums.1),
        ratio(&sums),
        ratios[ratios.len() / 2],
    );
}

#[test]
#[ignore = "prints figures"]
fn commits_of_one_client() {
    let (place, raw_place) = (Place::new(), Place::new());
    let (store, file) = (place.open(), raw_file(&raw_place));
    let mut times = Vec::new();
    for _ in 0..50 {
        let machines: Vec<Vec<Write>> = (0..10).map(|_| five()).collect();
        let batches: Vec<Batch> =
            machines.iter().flatten().map(|write| batch(vec![write.clone()])).collect();
        let raw = time(|| {
            for write in machines.iter().flatten() {
                raw(&file, std::slice::from_ref(write));
            }
        });
        let store = time(|| {
            for batch in batches {
                wait(store.apply(batch)).unwrap().unwrap();
            }
        });
        times.push((raw, store));
    }
    print("1 client", 50, &times);
}

#[test]
#[ignore = "prints figures"]
fn commits_of_sixteen_clients() {
    let (place, raw_place) = (Place::new(), Place::new());
    let (store, file) = (place.open(), raw_file(&raw_place));
    let mut times = Vec::new();
    for _ in 0..20 {
        let machines: Vec<Vec<Write>> = (0..16 * 20).map(|_| five()).collect();
        let raw = time(|| {
            for group in machines.chunks(16) {
                for step in 0..5 {
                    let group: Vec<Write> = group.iter().map(|of| of[step].clone()).collect();
                    raw(&file, &group);
                }
            }
        });
        // As in an async runtime: one thread polls all clients.
        let clients: Vec<_> = machines
            .chunks(20)
            .map(|of| {
                let writes: Vec<Batch> =
                    of.iter().flatten().map(|write| batch(vec![write.clone()])).collect();
                let store = &store;
                async move {
                    for batch in writes {
                        store.apply(batch).await.unwrap().unwrap();
                    }
                }
            })
            .collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let all = futures_util::future::join_all(clients);
        times.push((raw, time(|| drop(runtime.block_on(all)))));
    }
    print("16 clients", 16 * 100, &times);
}

#[test]
#[ignore = "prints figures"]
fn rows_per_second() {
    let place = Place::new();
    let store = place.open();
    for _ in 0..40 {
        let writes = (0..250).map(|_| {
            let mut machine = Machine::new();
            machine.row.state = "x".repeat(256);
            machine.write(4)
        });
        apply(&store, writes.collect()).unwrap();
    }
    let raw = place.raw();
    let mut times = Vec::new();
    for _ in 0..20 {
        let bare = time(|| {
            let mut select = raw
                .prepare_cached(
                    "SELECT i.state, c.body FROM instance i JOIN context c ON c.instance = i.no
                     ORDER BY i.no",
                )
                .unwrap();
            let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            let rows: Vec<(String, String)> = rows.map(Result::unwrap).collect();
            assert_eq!(rows.len(), 10_000);
        });
        let whole = time(|| {
            let filter = Filter { whole: true, limit: 10_000, ..Filter::default() };
            assert_eq!(wait(store.select(filter)).unwrap().len(), 10_000);
        });
        times.push((bare, whole));
    }
    print("10,000 rows", 10_000, &times);
}
