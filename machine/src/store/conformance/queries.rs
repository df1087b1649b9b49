//! Every filter selects what it says, in order, at every page size.

use std::{cmp::Ordering, collections::HashMap};

use super::prelude::*;
use crate::{contract::Release, definition::Fingerprint};

const SEED: u64 = 20_261_122;
const MACHINES: usize = 200;
const FILTERS: usize = 40;

/// The values that rows and filters choose from, so that they often match.
const TEXTS: [&str; 5] = ["", "a", "A", "a'%_", "\u{e9}\u{1f980}"];
const STATES: [&str; 5] = ["pending", "running", "waiting", "completed", "cancelled"];
const RELEASES: [Release; 3] = [Release::Deferred, Release::Released, Release::Refused];
const TIMES: [Millis; 8] = [Millis::MIN, -5, 0, 1, 1000, 1001, Millis::MAX - 1, Millis::MAX];

/// The expected row, with its number once that is known.
struct Expected {
    no: u64,
    row: Row,
    newest: Digest,
}

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut random = Random::new(SEED);
    let ids: Vec<_> = (0..3).map(|_| Id::fresh()).collect();
    let mut model = fill(&store, &mut random, &ids).await?;
    learn_numbers(&store, &mut model).await?;
    learn_gates(&mut model);
    let fingerprints: Vec<_> = model.iter().map(|expected| expected.row.definition).collect();
    for _ in 0..FILTERS {
        let filter = random_filter(&mut random, &ids, &fingerprints);
        for limit in [1, 2, 7, MACHINES, usize::MAX] {
            pages(&store, &model, &Filter { limit, ..filter.clone() }).await?;
        }
        made_up_cursors(&store, &model, &mut random, &filter).await?;
    }
    Ok(())
}

/// Creates machines in batches of various sizes, and then changes some of them.
async fn fill(store: &Subject, random: &mut Random, ids: &[Id]) -> Kept<Vec<Expected>> {
    store.drives(&["job"]).await?;
    let mut machines: Vec<Machine> = Vec::new();
    while machines.len() < MACHINES {
        let mut writes = Vec::new();
        for _ in 0..=random.below(20) {
            let mut machine = if random.chance(3) { Machine::job() } else { Machine::execution() };
            machine.row.session = maybe_text(random);
            machine.row.key = maybe_text(random);
            // Some are behind machines that are there.
            let there = machines.iter().take(6).map(Machine::id);
            let gates: Vec<_> = ids.iter().copied().chain(there).collect();
            machine.row.behind = random.chance(2).then(|| random.one_of(&gates));
            writes.push(vary(random, &mut machine, Machine::create));
            machines.push(machine);
        }
        store.accepts(writes).await?;
    }
    for _ in 0..MACHINES / 2 {
        let place = random.place(machines.len());
        let machine = &mut machines[place];
        let write = vary(random, machine, |machine| machine.update(1));
        store.accepts(write).await?;
    }
    let expected = |it: Machine| Expected { no: 0, newest: it.newest(), row: it.row };
    Ok(machines.into_iter().map(expected).collect())
}

/// A write whose indexed columns are chosen at random.
fn vary(random: &mut Random, machine: &mut Machine, step: fn(&mut Machine) -> Write) -> Write {
    machine.row.updated_at = 0;
    let mut write = step(machine);
    let status = random.one_of(&STATES);
    let due_at = random.chance(2).then(|| random.one_of(&TIMES));
    let updated_at = random.one_of(&TIMES);
    // A machine that has ended stays so.
    let ended = machine.row.ended || random.chance(2);
    let contradicted = random.chance(4);
    for row in [&mut machine.row, &mut write.row] {
        let status = status.to_owned();
        *row = Row { status, updated_at, ended, contradicted, due_at, ..row.clone() };
    }
    write
}

/// The last bytes of an id.
fn tail(id: Id) -> [u8; 4] {
    let [.., a, b, c, d] = *id.bytes();
    [a, b, c, d]
}

fn maybe_text(random: &mut Random) -> Option<String> {
    (!random.chance(3)).then(|| random.one_of(&TEXTS).to_owned())
}

fn random_filter(random: &mut Random, ids: &[Id], fingerprints: &[Fingerprint]) -> Filter {
    let text = |random: &mut Random| random.chance(4).then(|| random.one_of(&TEXTS).to_owned());
    let time = |random: &mut Random, one_in| random.chance(one_in).then(|| random.one_of(&TIMES));
    Filter {
        machine: random.chance(4).then(|| random.one_of(&["job", "execution", "x"]).to_owned()),
        definition: random.chance(6).then(|| random.one_of(fingerprints)),
        statuses: match (random.chance(4), random.chance(4)) {
            (false, _) => Vec::new(),
            (true, false) => vec![random.one_of(&STATES).to_owned()],
            (true, true) => owned(&STATES[..2]),
        },
        session: text(random),
        key: text(random),
        behind: random.chance(6).then(|| random.one_of(ids)),
        gated: random.chance(6),
        with_gate: random.chance(4).then(|| random.one_of(&RELEASES).statuses()),
        calls: None,
        calling: Vec::new(),
        contradicted: random.chance(6),
        tail: random.chance(6).then(|| tail(random.one_of(ids))),
        ended: random.chance(6),
        live: random.chance(3),
        due_by: time(random, 2),
        unchanged_since: time(random, 4),
        newest_first: random.chance(2),
        after: None,
        limit: 0,
        whole: random.chance(2),
    }
}

/// Rows are numbered in the order in which they were created.
async fn learn_numbers(store: &Subject, model: &mut [Expected]) -> Kept {
    let all = store.select(Filter { limit: usize::MAX, ..Filter::default() }).await?;
    ensure!(all.len() == model.len(), "{} rows of {}", all.len(), model.len());
    let mut previous = None;
    for ((no, found), expected) in all.into_iter().zip(model) {
        ensure!(previous < Some(no), "row {no} follows row {previous:?}");
        previous = Some(no);
        let FoundRow::Row(row, _) = found else { return Err(format!("row {no} is {found:?}")) };
        ensure!(row.id == expected.row.id, "row {no} was not created in this order");
        expected.no = no;
        expected.row.commit_id = row.commit_id;
    }
    Ok(())
}

/// A row is read with the status of the machine that it is behind.
fn learn_gates(model: &mut [Expected]) {
    let status = |it: &Expected| (it.row.id, it.row.status.clone());
    let statuses: HashMap<_, _> = model.iter().map(status).collect();
    for Expected { row, .. } in model {
        row.gate = row.behind.and_then(|gate| statuses.get(&gate).cloned());
    }
}

/// Reads all pages of a filter.
async fn pages(store: &Subject, model: &[Expected], filter: &Filter) -> Kept {
    let mut filter = filter.clone();
    for _ in 0..=model.len() {
        let Some(last) = page(store, model, &filter).await? else { return Ok(()) };
        filter.after = Some(last);
    }
    Err(format!("the pages do not end: {filter:?}"))
}

/// Cursors that no page ends with give a page too: what comes after that place.
async fn made_up_cursors(
    store: &Subject,
    model: &[Expected],
    random: &mut Random,
    filter: &Filter,
) -> Kept {
    for no in [0, 1, random.number() % 300, i64::MAX.cast_unsigned(), 1 << 63, u64::MAX] {
        let after = Some((random.one_of(&TIMES), no));
        for limit in [0, 3, usize::MAX] {
            page(store, model, &Filter { after, limit, ..filter.clone() }).await?;
        }
    }
    Ok(())
}

/// Compares a page to the model; returns the place of its last row.
async fn page(store: &Subject, model: &[Expected], filter: &Filter) -> Kept<Option<(Millis, u64)>> {
    let mut expected: Vec<_> = model.iter().filter(|it| is_selected(it, filter)).collect();
    expected.sort_by(|a, b| order(filter, place(a), place(b)));
    expected.truncate(filter.limit);
    let found = store.select(filter.clone()).await?;

    let numbers: Vec<_> = found.iter().map(|(no, _)| *no).collect();
    let wanted: Vec<_> = expected.iter().map(|it| it.no).collect();
    same!(numbers, wanted, "{filter:?}");
    for ((no, found), expected) in found.into_iter().zip(&expected) {
        let FoundRow::Row(row, newest) = found else {
            return Err(format!("row {no} is {found:?}"));
        };
        let mut wanted = expected.row.clone();
        if !filter.whole {
            (wanted.state, wanted.summary, wanted.context) = (String::new(), String::new(), None);
        }
        same!(row, wanted, "{filter:?}");
        same!(newest, filter.whole.then_some(expected.newest), "{filter:?}");
    }
    Ok(expected.last().map(|it| place(it)))
}

fn place(expected: &Expected) -> (Millis, u64) {
    (expected.row.due_at.unwrap_or(0), expected.no)
}

fn order(filter: &Filter, a: (Millis, u64), b: (Millis, u64)) -> Ordering {
    match filter.due_by {
        Some(_) => a.cmp(&b),
        None if filter.newest_first => b.1.cmp(&a.1),
        None => a.1.cmp(&b.1),
    }
}

fn is_selected(expected: &Expected, filter: &Filter) -> bool {
    let row = &expected.row;
    let is = |wanted: &Option<String>, text: Option<&String>| {
        wanted.as_ref().is_none_or(|wanted| text == Some(wanted))
    };
    is(&filter.machine, Some(&row.machine))
        && is(&filter.session, row.session.as_ref())
        && is(&filter.key, row.key.as_ref())
        && filter.definition.is_none_or(|definition| definition == row.definition)
        && (filter.statuses.is_empty() || filter.statuses.contains(&row.status))
        && (filter.behind.is_none() || filter.behind == row.behind)
        && (!filter.gated || row.behind.is_some())
        && (filter.with_gate.is_none() || filter.with_gate == release(row).map(Release::statuses))
        && (!filter.contradicted || row.contradicted)
        && filter.tail.is_none_or(|wanted| wanted == tail(row.id))
        && (!filter.ended || row.ended)
        && !(filter.live && row.ended)
        && filter.unchanged_since.is_none_or(|since| row.updated_at <= since)
        && filter.due_by.is_none_or(|by| row.due_at.is_some_and(|due_at| due_at <= by))
        && filter.after.is_none_or(|after| order(filter, place(expected), after).is_gt())
}

fn release(row: &Row) -> Option<Release> {
    row.behind?;
    let gate = row.gate.as_ref().and_then(|gate| gate.parse().ok());
    Release::between(row.status.parse().ok()?, gate)
}
