use rusqlite::{Connection, params};

use super::{
    attempts,
    cached::{Cached, Keyed},
    child, crew,
    definitions::Numbers,
    fail::fail_point,
    failure::RollbackCause,
    lines::Lines,
    operations,
    places::Places,
    precondition::Current,
    prune, records, tools,
    value::integer,
    work,
};
use crate::{
    id::Id,
    store::{
        backend::{AppliedBatch, Row, Write, WriteBatch},
        error::Unavailable,
        inbox::protocol::EventOutcome,
        write::{admission::Admitted, attempt::AttemptRow, tool::ToolRecord},
    },
};

/// Writes a batch that only moves one machine on, whose place is known: the update checks the
/// version by itself. `None`, with nothing written, if the batch is of another kind or the version
/// differs.
pub(super) fn apply_alone<'a>(
    db: Keyed<'_>,
    places: &Places,
    numbers: &mut Numbers,
    lines: &mut Lines<'a>,
    (batch, consequences): (&'a WriteBatch, bool),
) -> Result<Option<AppliedBatch>, RollbackCause> {
    let [
        write @ Write {
            expected: Some(expected), claim: None, attempt: None, tool: None, row, ..
        },
    ] = &batch.writes[..]
    else {
        return Ok(None);
    };
    if !batch.is_plain() || write.lines.is_empty() || row.context.is_some() {
        return Ok(None);
    }
    let Some(no) = places.get(row.id) else { return Ok(None) };
    if let Some(visit) = write.visit().filter(|_| consequences)
        && !child::of_visit(db, row.id, &visit)?.is_empty()
    {
        return Ok(None);
    }
    for definition in &batch.definitions {
        numbers.get(db, definition.fingerprint, &batch.definitions)?;
    }
    let definition = numbers.get(db, row.definition, &batch.definitions)?;
    let newest = lines.number_after(&write.lines)?;
    let place = Place { definition, newest, commit_id: batch.commit_id };
    if !update(&db, no, *expected, &place, row)? {
        return Ok(None);
    }
    for line in &write.lines {
        let definition = numbers.get(db, line.definition, &batch.definitions)?;
        lines.add(no, definition, line);
    }
    let sent = if consequences {
        work::after(db, (no, write), &[], (false, false, false), batch.time())?
    } else {
        Vec::new()
    };
    let last = vec![u64::try_from(newest).unwrap_or(0)];
    Ok(Some(AppliedBatch { last, sent, ..AppliedBatch::default() }))
}

/// Writes a batch whose preconditions hold, apart from its lines.
pub(super) fn apply<'a>(
    db: Keyed<'_>,
    (numbers, places): (&mut Numbers, &mut Places),
    lines: &mut Lines<'a>,
    (batch, consequences): (&'a WriteBatch, bool),
    (rows, admitted): (&[Option<Current>], Admitted<i64>),
) -> Result<AppliedBatch, RollbackCause> {
    // Also those that only evidence refers to.
    for definition in &batch.definitions {
        numbers.get(db, definition.fingerprint, &batch.definitions)?;
    }
    let mut last = Vec::with_capacity(batch.writes.len());
    let mut written = Vec::with_capacity(batch.writes.len());
    for ((write, machine), admitted) in batch.writes.iter().zip(rows).zip(admitted.writes) {
        fail_point!("store-write");
        let definition = numbers.get(db, write.row.definition, &batch.definitions)?;
        // A write without lines leaves the newest one as it is.
        let newest = if write.lines.is_empty() {
            machine.map_or(0, |machine| machine.newest)
        } else {
            lines.number_after(&write.lines)?
        };
        let place = Place { definition, newest, commit_id: batch.commit_id };
        let no = match (machine, write.expected) {
            (Some(Current { no, .. }), Some(expected)) => {
                // It was there when the preconditions were checked, in this transaction.
                if !update(&db, *no, expected, &place, &write.row)? {
                    let moved = Unavailable::other("a machine moved during a transaction");
                    return Err(RollbackCause(moved));
                }
                *no
            }
            _ => create(&db, &place, &write.row)?,
        };
        places.insert(write.row.id, no);
        written.push((no, write, admitted.leaves_children));
        if let (Some(used), Some(tool)) = (&write.tool, admitted.tool) {
            tools::write(&db, &used.name, tool)?;
        }
        if let Some(context) = &write.row.context {
            db.run(
                "INSERT INTO context (instance, body) VALUES (?1, ?2)
                     ON CONFLICT (instance) DO UPDATE SET body = excluded.body",
                params![no, context],
            )?;
        }
        for line in &write.lines {
            let definition = numbers.get(db, line.definition, &batch.definitions)?;
            lines.add(no, definition, line);
        }
        let seq = u64::try_from(newest).unwrap_or(0);
        change_attempt(db, write, admitted.attempt.as_ref(), seq)?;
        last.push(seq);
    }
    for record in &batch.records {
        records::write(db, record)?;
    }
    if let Some(crew) = &batch.crew {
        crew::write(&db, crew)?;
    }
    for name in &batch.tools {
        tools::write(&db, name, ToolRecord::default())?;
    }
    let outcomes = work::write(db, batch, admitted.events)?;
    let mut sent = Vec::new();
    if consequences {
        let left = written.iter().filter(|(_, write, _)| write.left.is_some());
        let left: Vec<i64> = left.map(|(no, ..)| *no).collect();
        for (no, write, leaves_children) in written {
            let id = write.row.id;
            let how = (batch.is_by_holder(id), leaves_children, batch.lets_go(id));
            sent.extend(work::after(db, (no, write), &left, how, batch.time())?);
        }
    }
    let pruned = prune::run(db, &batch.prune)?;
    for operation in &batch.log {
        operations::log(db, operation, batch.now)?;
    }
    Ok(AppliedBatch { last, outcomes, sent, pruned })
}

/// The columns of a row that are not in [`Row`].
struct Place {
    definition: i64,
    newest: i64,
    commit_id: i64,
}

fn create(connection: &Connection, place: &Place, row: &Row) -> rusqlite::Result<i64> {
    connection.run("INSERT INTO instance
             (id, definition, status, version, epoch, created_at, updated_at, due_at, session, key,
              behind, newest, commit_id, seal, summary, state, ended, contradicted)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)", params![
            row.id.bytes(),
            place.definition,
            row.status,
            integer(row.version)?,
            integer(row.epoch)?,
            row.created_at,
            row.updated_at,
            row.due_at,
            row.session,
            row.key,
            row.behind.as_ref().map(Id::bytes),
            place.newest,
            place.commit_id,
            row.seal.bytes(),
            row.summary,
            row.state,
            row.ended,
            row.contradicted,
        ])?;
    Ok(connection.last_insert_rowid())
}

/// For a commit that changes no indexed column. SQLite writes to the index of every column that a
/// statement sets, also if its value stays: that would be a page of the log for each commit.
const UPDATE_DATA: &str = "
    UPDATE instance SET status = ?3, version = ?4, epoch = ?5, updated_at = ?6, newest = ?8,
        commit_id = ?9, seal = ?10, summary = ?11, state = ?12
    WHERE no = ?1 AND version = ?13 AND id = ?14
        AND definition = ?2 AND due_at IS ?7 AND ended = ?15 AND contradicted = ?16";

const UPDATE_ALL: &str = "
    UPDATE instance SET definition = ?2, status = ?3, version = ?4, epoch = ?5, updated_at = ?6,
        due_at = ?7, newest = ?8, commit_id = ?9, seal = ?10, summary = ?11, state = ?12,
        ended = ?15, contradicted = ?16
    WHERE no = ?1 AND version = ?13 AND id = ?14";

/// Updates a machine, if it is at this place and in this version. What identifies it is not among
/// the columns: it never changes.
fn update(
    connection: &Connection,
    no: i64,
    expected: u64,
    place: &Place,
    row: &Row,
) -> rusqlite::Result<bool> {
    let (version, epoch, expected) =
        (integer(row.version)?, integer(row.epoch)?, integer(expected)?);
    let values = params![
        no,
        place.definition,
        row.status,
        version,
        epoch,
        row.updated_at,
        row.due_at,
        place.newest,
        place.commit_id,
        row.seal.bytes(),
        row.summary,
        row.state,
        expected,
        row.id.bytes(),
        row.ended,
        row.contradicted,
    ];
    let update = |sql| connection.change(sql, values);
    Ok(update(UPDATE_DATA)? == 1 || update(UPDATE_ALL)? == 1)
}

fn change_attempt(
    db: Keyed<'_>,
    write: &Write,
    changed: Option<&AttemptRow>,
    token: u64,
) -> rusqlite::Result<()> {
    match (&write.attempt, changed) {
        (None, _) => Ok(()),
        (Some(_), Some(attempt)) => attempts::update(db, attempt),
        (Some(change), None) => attempts::insert(db, &change.opened(write.row.id, token)),
    }
}

/// The sequence numbers of the last lines of a batch that was written before.
pub(super) fn applied_before(
    connection: &Connection,
    batch: &WriteBatch,
    machines: &[Current],
    lines: &Lines<'_>,
) -> rusqlite::Result<AppliedBatch> {
    let mut last = Vec::with_capacity(machines.len());
    for (write, machine) in batch.writes.iter().zip(machines) {
        let seq = match write.lines.last() {
            Some(line) => lines.seq_of(connection, machine.no, line)?,
            None => u64::try_from(machine.newest).unwrap_or(0),
        };
        last.push(seq);
    }
    // Its events took effect with it.
    let outcomes = vec![EventOutcome::Done; batch.events.len()];
    Ok(AppliedBatch { last, outcomes, ..AppliedBatch::default() })
}

/// Checks whether a batch whose COMMIT failed is in the file.
pub(super) fn is_there(
    connection: &Connection,
    batch: &WriteBatch,
    applied: &AppliedBatch,
) -> rusqlite::Result<bool> {
    // By the journal, because another process may have committed the machine since.
    let sql = "SELECT EXISTS (SELECT 1 FROM instance WHERE id = ?1 AND commit_id = ?2)
                   OR EXISTS (SELECT 1 FROM journal WHERE seq = ?3 AND digest = ?4)";
    for (write, seq) in batch.writes.iter().zip(&applied.last) {
        let digest = write.lines.last().map(|line| line.digest.bytes());
        let values = params![write.row.id.bytes(), batch.commit_id, integer(*seq)?, digest];
        if connection.get(sql, values, |row| row.get(0))? {
            return Ok(true);
        }
    }
    Ok(false)
}
