//! The transitions in the journals of many machines, for views: no more of a line is kept than they
//! show.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use futures_util::{
    future::join,
    stream::{self, StreamExt, TryStreamExt},
};
use serde::Deserialize;

use crate::{
    clock::Millis,
    definition::{Definition, Fingerprint},
    id::Id,
    journal::{Digest, DigestKey, EntryKind, Line},
    store::{
        backend::FoundRow,
        error::LoadError,
        handle::Store,
        read::query::{Page, Query},
    },
    stored::{Restore, normal_session},
};

#[derive(Debug, Clone)]
pub(crate) struct Selected {
    pub(crate) session: String,
    pub(crate) machine: &'static str,
    /// Their places in the order of creation, from the first to the last.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Also read the names of the actors.
    pub(crate) with_names: bool,
}

/// A transition, as its line says it.
#[derive(Debug)]
pub(crate) struct Step {
    /// The position of its line in the journal.
    pub(crate) number: u64,
    pub(crate) at: Millis,
    pub(crate) definition: Fingerprint,
    pub(crate) edge: Option<u32>,
    pub(crate) stays: bool,
    pub(crate) actor: Option<Arc<str>>,
    pub(crate) name: Option<Arc<str>>,
}

#[derive(Debug, Default)]
pub(crate) struct Transitions {
    steps: Vec<Step>,
    /// The transitions of each machine, or the error in its journal.
    machines: BTreeMap<Id, Result<Range<usize>, String>>,
}

/// Machines, with the journals that they had then or later.
#[derive(Debug)]
pub(crate) struct WithTransitions<T> {
    pub(crate) machines: Vec<Result<T, LoadError>>,
    transitions: Vec<Transitions>,
    /// The definitions that these were written under.
    pub(crate) definitions: Arc<Vec<Arc<Definition>>>,
}

/// The number of lines per read, and of concurrent reads, which leave threads for other reads.
const LINES: u64 = 4096;
const READS: usize = 2;

impl Store {
    /// The machines of a session on a page of a query, each projected on a thread of the store,
    /// with their transitions.
    pub(crate) async fn with_transitions<M: Restore + 'static, T: Send + 'static>(
        &self,
        session: &str,
        query: &Query,
        with_names: bool,
        project: impl Fn(M) -> T + Copy + Send + 'static,
    ) -> Result<Page<WithTransitions<T>>, LoadError> {
        let machine = M::DEFINITION.name();
        let selected = |(first, last)| {
            let session = normal_session(session.to_owned());
            self.inner.backend.transitions(Selected { session, machine, first, last, with_names })
        };
        let query = query.clone().session(session).machine(machine);
        self.in_parts(&query, |rows| async move {
            // A journal is read after its row, so it has all that the row has.
            let journals: Vec<_> = parts(&rows).into_iter().map(selected).collect();
            let journals = stream::iter(journals).buffered(READS).try_collect::<Vec<_>>();
            let (machines, transitions) = join(self.restore_all(rows, project), journals).await;
            let (machines, transitions) = (machines?, transitions?);
            let wanted: Vec<_> = transitions.iter().flat_map(Transitions::definitions).collect();
            let definitions = self.definitions_with(&wanted).await?;
            Ok(vec![WithTransitions { machines, transitions, definitions }])
        })
        .await
    }
}

/// The places of rows, in parts whose journals are about equally long.
fn parts(rows: &[(u64, FoundRow)]) -> Vec<(u64, u64)> {
    let mut parts = Vec::new();
    let (mut first, mut lines) = (None, 0);
    for (at, (no, found)) in rows.iter().enumerate() {
        let start = *first.get_or_insert(*no);
        if let FoundRow::Row(row, _) = found {
            lines += row.version;
        }
        if lines >= LINES || at + 1 == rows.len() {
            parts.push((start, *no));
            (first, lines) = (None, 0);
        }
    }
    parts
}

impl<T> WithTransitions<T> {
    /// The transitions of a machine, oldest first, or the error in its journal; `None` without a
    /// journal.
    pub(crate) fn of(&self, id: Id) -> Option<Result<&[Step], &str>> {
        let found = self.transitions.iter().find_map(|part| Some((part, part.machines.get(&id)?)));
        found.map(|(part, place)| match place {
            Ok(place) => Ok(&part.steps[place.clone()]),
            Err(reason) => Err(reason.as_str()),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.transitions.iter().map(|part| part.steps.len()).sum()
    }
}

impl Transitions {
    fn definitions(&self) -> Vec<Fingerprint> {
        let mut definitions: Vec<_> = self.steps.iter().map(|step| step.definition).collect();
        definitions.dedup();
        definitions
    }
}

/// Reads journals line by line, and checks that no line is missing or was changed.
#[derive(Debug)]
pub(crate) struct Reading {
    key: DigestKey,
    with_names: bool,
    /// There are few different texts, so that each is kept once.
    texts: BTreeSet<Arc<str>>,
    steps: Vec<Step>,
    done: Vec<(Id, Result<Range<usize>, String>)>,
    /// The number that the next line of the machine must have.
    number: u64,
    head: Digest,
}

impl Reading {
    pub(crate) fn new(key: DigestKey, with_names: bool) -> Self {
        let (texts, steps, done) = (BTreeSet::new(), Vec::new(), Vec::new());
        Self { key, with_names, texts, steps, done, number: 0, head: Digest::ZERO }
    }

    /// The lines that follow are of this machine.
    pub(crate) fn begin(&mut self, id: Id) {
        let start = self.steps.len();
        self.done.push((id, Ok(start..start)));
        (self.number, self.head) = (0, Digest::ZERO);
    }

    /// Adds the next line. After one that is wrong, the machine has no transitions.
    pub(crate) fn add(&mut self, line: Result<Line<impl AsRef<str>, impl AsRef<str>>, String>) {
        let Some((_, Ok(place))) = self.done.last() else { return };
        let start = place.start;
        let added = line.and_then(|line| self.check(&line).map(|()| line)).map(|line| {
            if line.kind == EntryKind::Moved {
                let step = self.step(&line);
                self.steps.push(step);
            }
        });
        if added.is_err() {
            self.steps.truncate(start);
        }
        if let Some((_, place)) = self.done.last_mut() {
            *place = added.map(|()| start..self.steps.len());
        }
    }

    pub(crate) fn finish(self) -> Transitions {
        Transitions { steps: self.steps, machines: self.done.into_iter().collect() }
    }

    fn check(&mut self, line: &Line<impl AsRef<str>, impl AsRef<str>>) -> Result<(), String> {
        let number = self.number;
        if line.number != number {
            return Err(format!("entry {number} of its journal is missing"));
        }
        if line.digest != line.expected_digest(&self.key, &self.head) {
            return Err(format!("entry {number} of its journal was changed"));
        }
        (self.number, self.head) = (number + 1, line.digest);
        Ok(())
    }

    fn step(&mut self, line: &Line<impl AsRef<str>, impl AsRef<str>>) -> Step {
        let body: Option<&str> = line.body.as_ref().map(AsRef::as_ref);
        Step {
            number: line.number,
            at: line.at,
            definition: line.definition,
            edge: line.edge,
            stays: body.is_some_and(stays),
            actor: line.actor.as_ref().map(|actor| self.text(actor.as_ref())),
            name: body.filter(|_| self.with_names).and_then(name).map(|name| self.text(&name.0)),
        }
    }

    fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&new));
        new
    }
}

/// Returns whether the body of a line has the mark. The digest has shown that it is as it was
/// written: its members are sorted, so that this one is the last.
fn stays(body: &str) -> bool {
    body.ends_with("\"stays\":true}")
}

/// A name, copied only if it has an escape.
#[derive(Deserialize)]
struct BorrowedName<'a>(#[serde(borrow)] Cow<'a, str>);

/// The name of the actor in the body of a line. The digest has shown that it is as it was written:
/// its members are sorted, so that this one is the first.
fn name(body: &str) -> Option<BorrowedName<'_>> {
    let value = body.strip_prefix("{\"by\":")?;
    // The rest is not read.
    BorrowedName::deserialize(&mut serde_json::Deserializer::from_str(value)).ok()
}

#[cfg(test)]
mod tests {
    use super::stays;

    #[test]
    fn only_the_mark_of_the_line_itself_counts() {
        for body in [r#"{"stays":true}"#, r#"{"by":"ann","payload":{"stays":1},"stays":true}"#] {
            assert!(stays(body), "{body}");
        }
        for body in [
            r#"{"payload":{"stays":true}}"#,
            r#"{"payload":{"note":"\"stays\":true}"}}"#,
            r#"{"deadlines":[{"after_ms":1,"trigger":"stays"}]}"#,
        ] {
            assert!(!stays(body), "{body}");
        }
    }
}
