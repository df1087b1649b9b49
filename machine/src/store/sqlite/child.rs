//! The rows of children.

use std::{ops::RangeInclusive, sync::LazyLock};

use rusqlite::{params, types::ValueRef};

use super::{
    cached::{Cached, Keyed},
    precondition,
    select::ENTERED,
    value::{Cell, Column, Columns, integer},
    work::Recipient,
};
use crate::{
    id::Id,
    journal::DigestKey,
    store::{
        backend::{Broken, Child, Kinship, WriteBatch},
        inbox::message::seal_of_child,
    },
};

pub(super) fn write(db: Keyed<'_>, batch: &WriteBatch) -> rusqlite::Result<()> {
    for new in &batch.children {
        let kinship = new.kinship(match new.since {
            Some(since) => since,
            None => precondition::version(&db, new.parent)?.unwrap_or(0),
        });
        let Kinship { parent, since, position } = kinship;
        let seal = seal_of_child(db.key, new.child, &kinship);
        db.run(
            "INSERT INTO child (child, parent, since, position, seal)
                 SELECT c.no, p.no, ?3, ?4, ?5 FROM instance c, instance p
                 WHERE c.id = ?1 AND p.id = ?2
                 ON CONFLICT DO NOTHING",
            params![new.child.bytes(), parent.bytes(), integer(since)?, position, seal.bytes()],
        )?;
    }
    for (child, kinship) in &batch.moved_children {
        let seal = seal_of_child(db.key, *child, kinship);
        db.run(
            "UPDATE child SET since = ?2, position = ?3, seal = ?4
                 WHERE child = (SELECT no FROM instance WHERE id = ?1)",
            params![child.bytes(), integer(kinship.since)?, kinship.position, seal.bytes()],
        )?;
    }
    Ok(())
}

pub(super) fn children(db: Keyed<'_>, parent: Id) -> rusqlite::Result<Vec<Result<Child, Broken>>> {
    let broken = |reason| Broken { id: Some(parent), reason, due_at: None };
    db.all(
        "SELECT c.since, c.position, c.seal, i.id, d.machine, i.status, i.ended
         FROM child c JOIN instance p ON p.no = c.parent LEFT JOIN instance i ON i.no = c.child
         LEFT JOIN definition d ON d.no = i.definition
         WHERE p.id = ?1 ORDER BY c.child",
        [parent.bytes()],
        |row| Ok(child(Columns(row), db.key, parent).map_err(broken)),
    )
}

/// The children of a machine, newest first.
pub(super) const NEWEST: &str = "
    SELECT c.since, c.position, c.seal, i.id, d.machine, i.status, i.ended, i.no
    FROM child c CROSS JOIN instance i ON i.no = c.child
    CROSS JOIN definition d ON d.no = i.definition
    WHERE c.parent = (SELECT no FROM instance WHERE id = ?1) ORDER BY c.child DESC";

/// The children that were added while a machine was in one of these versions, with their numbers.
/// Children are numbered in the order of the versions of their parent, so those of earlier visits
/// are not read.
pub(super) fn of_visit(
    db: Keyed<'_>,
    parent: Id,
    visit: &RangeInclusive<u64>,
) -> rusqlite::Result<Vec<(i64, Child)>> {
    let mut select = db.prepare_cached(NEWEST)?;
    let mut rows = select.query([parent.bytes()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        // An edit of the file ends nothing.
        let Ok(child) = child(Columns(row), db.key, parent) else { continue };
        if child.since < *visit.start() {
            break;
        }
        if visit.contains(&child.since) {
            found.push((row.get(7)?, child));
        }
    }
    Ok(found)
}

/// A child, if it was made one by this library.
fn child(row: Columns<'_, '_>, key: &DigestKey, parent: Id) -> Column<Child> {
    let (id, Kinship { since, position, .. }) = related(row, key, parent, ["child", "children"])?;
    Ok(Child {
        id,
        machine: row.at(4, "machine").text()?.to_owned(),
        status: row.at(5, "status").text()?.to_owned(),
        has_ended: row.at(6, "ended").flag()?,
        position,
        since,
    })
}

/// A machine and its relation to its parent, from the first four columns, if it was made what it is
/// by this library.
pub(super) fn related(
    row: Columns<'_, '_>,
    key: &DigestKey,
    parent: Id,
    [one, several]: [&str; 2],
) -> Column<(Id, Kinship)> {
    let id = row.at(3, "id").id().map_err(|_| format!("one of its {several} is missing"))?;
    let kinship = kinship(row, key, (id, parent))?
        .ok_or_else(|| format!("{id} was made its {one} by an edit: the seal does not match"))?;
    Ok((id, kinship))
}

/// The relation of a child to its parent, from the first three columns; `None` if the seal does not
/// match.
fn kinship(
    row: Columns<'_, '_>,
    key: &DigestKey,
    (child, parent): (Id, Id),
) -> Column<Option<Kinship>> {
    let position = row.at(1, "position").optional(Cell::count)?.map(u32::try_from).transpose();
    let position = position.map_err(|_| "its column `position` is out of range".to_owned())?;
    let kinship = Kinship { parent, since: row.at(0, "since").count()?, position };
    let is_sealed = row.at(2, "seal").digest()? == seal_of_child(key, child, &kinship);
    Ok(is_sealed.then_some(kinship))
}

/// The parent of a machine that is written.
#[derive(Debug)]
pub(super) struct Parent {
    pub(super) recipient: Recipient,
    /// The place of the machine in an invocation of the parent.
    pub(super) call: Option<Kinship>,
    /// The machine was added in the visit in which the parent is.
    pub(super) is_of_visit: bool,
}

static PARENT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT c.since, c.position, c.seal, c.parent, c.since > {ENTERED}
         FROM child c CROSS JOIN instance i ON i.no = c.parent WHERE c.child = ?1"
    )
});

/// The parent of a machine. Without one, this costs one search.
pub(super) fn parent_of(db: Keyed<'_>, (no, id): (i64, Id)) -> rusqlite::Result<Option<Parent>> {
    let mut select = db.prepare_cached(&PARENT)?;
    let mut rows = select.query([no])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let is_call = row.get_ref(1)? != ValueRef::Null;
    let mut recipient = Recipient { no: row.get(3)?, id, ended: false };
    let (mut call, is_of_visit) = (None, row.get(4)?);
    if is_call {
        let parent =
            db.find("SELECT id, ended FROM instance WHERE no = ?1", [recipient.no], |row| {
                Ok((Id::from_bytes(row.get(0)?), row.get(1)?))
            })?;
        let Some(parent) = parent else { return Ok(None) };
        (recipient.id, recipient.ended) = parent;
        // An edit of the file sends no outcome.
        call = kinship(Columns(row), db.key, (id, recipient.id)).unwrap_or_default();
    }
    Ok(Some(Parent { recipient, call, is_of_visit }))
}

/// The relation of a machine to its parent, if that was made one by this library.
pub(super) fn find(db: Keyed<'_>, child: Id) -> rusqlite::Result<Result<Option<Kinship>, Broken>> {
    let sql = "SELECT c.since, c.position, c.seal, p.id
         FROM instance i JOIN child c ON c.child = i.no JOIN instance p ON p.no = c.parent
         WHERE i.id = ?1";
    let found = db.find(sql, [child.bytes()], |row| {
        let row = Columns(row);
        Ok(row.at(3, "id").id().and_then(|parent| {
            kinship(row, db.key, (child, parent))?.ok_or_else(|| {
                format!("it was made a child of {parent} by an edit: the seal does not match")
            })
        }))
    })?;
    Ok(found.transpose().map_err(|reason| Broken { id: Some(child), reason, due_at: None }))
}
