//! Machines, as the part above a backend writes them.

use std::{
    borrow::Cow,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use super::random::Random;

pub(in crate::store) use crate::store::write::attempt::CONTRACTS;
use crate::{
    clock::Millis,
    contract::execution,
    definition::Definition,
    id::Id,
    journal::{Digest, DigestKey, EntryKind, Line},
    store::backend::{AttemptChange, KeyClaim, Kinship, NewChild, Row, Wants, Write, WriteBatch},
    stored::{Hold, ToolUse},
};

/// A machine whose writes all succeed. A write that must fail is made from a clone.
#[derive(Debug, Clone)]
pub(in crate::store) struct Machine {
    pub(in crate::store) definition: Arc<Definition>,
    pub(in crate::store) row: Row,
    /// All lines so far.
    pub(in crate::store) lines: Vec<Line>,
    pub(in crate::store) key: DigestKey,
}

/// The number of entries of a parent when its child was created.
pub(in crate::store) const SINCE: u64 = 7;

impl Machine {
    /// This machine, to be a child.
    pub(in crate::store) fn child_of(&self, parent: Id) -> NewChild {
        NewChild { child: self.id(), parent, since: Some(SINCE), position: None }
    }

    /// This machine, to be a call of the entry that [`SINCE`] names, at this place.
    pub(in crate::store) fn call_of(&self, parent: Id, position: u32) -> NewChild {
        NewChild { position: Some(position), ..self.child_of(parent) }
    }

    /// This child of a machine, moved to another entry and place.
    pub(in crate::store) fn moved_to(
        &self,
        parent: Id,
        since: u64,
        position: Option<u32>,
    ) -> (Id, Kinship) {
        (self.id(), Kinship { parent, since, position })
    }

    pub(in crate::store) fn execution() -> Self {
        Self::of(&EXECUTION)
    }

    /// A machine of a user.
    pub(in crate::store) fn job() -> Self {
        Self::of(&JOB)
    }

    fn of(definition: &Arc<Definition>) -> Self {
        let definition = Arc::clone(definition);
        let row = Row {
            id: Id::fresh(),
            machine: definition.name.to_string(),
            definition: definition.fingerprint,
            status: definition.states[definition.initial].name.to_string(),
            version: 0,
            epoch: 0,
            created_at: 1_700_000_000_000,
            updated_at: 1_700_000_000_000,
            ended: false,
            contradicted: false,
            due_at: None,
            session: None,
            key: None,
            behind: None,
            gate: None,
            commit_id: 0,
            seal: Digest::ZERO,
            state: String::from("{}"),
            summary: String::from("{}"),
            context: Some(Arc::from("{\"of\":\"sample\"}")),
        };
        Self { definition, row, lines: Vec::new(), key: super::settings().key }
    }

    /// With this key in its row.
    pub(in crate::store) fn with_key(mut self, key: &str) -> Self {
        self.row.key = Some(key.to_owned());
        self
    }

    pub(in crate::store) fn id(&self) -> Id {
        self.row.id
    }

    /// The write that creates it, with one line.
    pub(in crate::store) fn create(&mut self) -> Write {
        self.creates(1)
    }

    fn creates(&mut self, lines: u64) -> Write {
        let context = self.row.context.clone();
        let mut write = self.update(lines);
        (write.expected, write.row.context) = (None, context);
        write
    }

    /// The next write, of this many lines: a machine that was not written yet is created.
    pub(in crate::store) fn write(&mut self, lines: u64) -> Write {
        if self.row.version == 0 { self.creates(lines) } else { self.update(lines) }
    }

    /// A write of this many more lines, with new texts and without the context.
    pub(in crate::store) fn update(&mut self, lines: u64) -> Write {
        let expected = self.row.version;
        for _ in 0..lines {
            let line = self.next_line();
            self.lines.push(line);
        }
        let version = expected + lines;
        self.row.version = version;
        self.row.updated_at += 10;
        self.row.state = format!("{{\"at\":{version}}}");
        self.row.summary = format!("{{\"lines\":{version},\"entered_at\":{}}}", self.entered_at());
        self.row.seal = Digest::of(&[self.row.id.to_string().as_bytes(), &version.to_le_bytes()]);
        let new = usize::try_from(lines).unwrap_or(usize::MAX);
        Write {
            expected: Some(expected),
            row: Row { context: None, ..self.row.clone() },
            lines: self.lines[self.lines.len() - new..].to_vec(),
            claim: None,
            attempt: None,
            tool: None,
            left: None,
        }
    }

    /// A write that follows a version that the store does not have.
    pub(in crate::store) fn stale(&self) -> Write {
        let mut other = self.clone();
        other.row.version += 5;
        other.update(1)
    }

    /// A write of one more line, with which it is in a terminal state.
    pub(in crate::store) fn end(&mut self) -> Write {
        self.row.ended = true;
        self.update(1)
    }

    /// When it came into its state, by its summary: before its newest line.
    pub(in crate::store) fn entered_at(&self) -> Millis {
        self.row.updated_at - 5
    }

    pub(in crate::store) fn newest(&self) -> Digest {
        self.lines.last().map_or(Digest::ZERO, |line| line.digest)
    }

    fn next_line(&self) -> Line {
        let number = self.lines.len() as u64;
        let at = self.row.updated_at + Millis::try_from(number % 7).unwrap_or(0);
        let (kind, actor, edge, body) = match number % 4 {
            _ if number == 0 => (EntryKind::Created, Some("tool_node"), None, None),
            1 => (
                EntryKind::Moved,
                Some("graph_runner"),
                Some(1),
                Some("{\"why\":\"na\u{ef}ve \u{1f980}\"}"),
            ),
            2 => (EntryKind::Recorded, Some("someone"), None, Some("[1, 2.50,\"\\u0000\"]")),
            3 => (EntryKind::Fenced, None, None, Some("\"\"")),
            _ => (EntryKind::Moved, None, Some(0), None),
        };
        let mut line = Line {
            number,
            at,
            actor: actor.map(Cow::Borrowed),
            definition: self.definition.fingerprint,
            kind,
            edge,
            body: body.map(String::from),
            digest: Digest::ZERO,
        };
        line.digest = line.expected_digest(&self.key, &self.newest());
        line
    }
}

static EXECUTION: LazyLock<Arc<Definition>> =
    LazyLock::new(|| Arc::new(execution::DEFINITION.clone()));

/// A definition that is not the library's.
static JOB: LazyLock<Arc<Definition>> = LazyLock::new(|| {
    let mut definition = execution::DEFINITION.clone();
    definition.name = Cow::Borrowed("job");
    // Reading computes the fingerprint.
    let text = serde_json::to_string(&definition).unwrap_or_default();
    Arc::new(serde_json::from_str(&text).unwrap_or(definition))
});

/// A batch with a new commit id, and with the definitions of its rows.
pub(in crate::store) fn batch(writes: impl IntoIterator<Item = Write>) -> WriteBatch {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let seed = NEXT.fetch_add(1, Ordering::Relaxed);
    let writes: Vec<Write> = writes.into_iter().collect();
    let is_used = |definition: &&Arc<Definition>| {
        writes.iter().any(|write| write.row.definition == definition.fingerprint)
    };
    let definitions = [&*EXECUTION, &*JOB].into_iter().filter(is_used).cloned().collect();
    with_commit_id(
        Random::new(seed).number().cast_signed(),
        WriteBatch { definitions, writes, ..WriteBatch::new(0, 1_700_000_000_000) },
    )
}

impl From<Write> for WriteBatch {
    fn from(write: Write) -> Self {
        batch([write])
    }
}

impl<const N: usize> From<[Write; N]> for WriteBatch {
    fn from(writes: [Write; N]) -> Self {
        batch(writes)
    }
}

impl From<Vec<Write>> for WriteBatch {
    fn from(writes: Vec<Write>) -> Self {
        batch(writes)
    }
}

pub(in crate::store) fn with_commit_id(commit_id: i64, mut batch: WriteBatch) -> WriteBatch {
    batch.commit_id = commit_id;
    for write in &mut batch.writes {
        write.row.commit_id = commit_id;
    }
    batch
}

impl Write {
    /// Requires something of the key.
    pub(in crate::store) fn claims(mut self, key: &str, wants: Wants) -> Self {
        let (key, space) = (key.to_owned(), self.space());
        self.claim = Some(KeyClaim { action: Some(action(&key)), key, space, wants });
        self
    }

    /// Takes the key and opens an attempt.
    pub(in crate::store) fn takes(self, key: &str) -> Self {
        let mut write = self.claims(key, Wants::Free);
        write.attempt = Some(change(write.space(), key, Hold::Held, true));
        write
    }

    /// Names the tool that the machine calls.
    pub(in crate::store) fn calls(mut self, tool: &str, irreversible: bool) -> Self {
        let (name, identity, begins) = (tool.to_owned(), false, false);
        self.tool = Some(ToolUse { name, irreversible, identity, begins });
        self
    }

    /// Names the irreversible tool that the machine calls, and how it makes its key.
    pub(in crate::store) fn uses(mut self, tool: &str, identity: bool, begins: bool) -> Self {
        let name = tool.to_owned();
        self.tool = Some(ToolUse { name, irreversible: true, identity, begins });
        self
    }

    /// The machine has entered its state with the entry of this number.
    pub(in crate::store) fn enters(mut self, number: u64) -> Self {
        self.row.summary = format!("{{\"entered\":{number}}}");
        self
    }

    /// Changes the newest attempt.
    pub(in crate::store) fn turns(mut self, key: &str, hold: Hold) -> Self {
        self.attempt = Some(change(self.space(), key, hold, false));
        self
    }

    /// The space of the keys of its machine.
    fn space(&self) -> String {
        let is_job = self.row.definition == JOB.fingerprint;
        if is_job { "machine:job".to_owned() } else { CONTRACTS.to_owned() }
    }
}

/// The action that a key stands for.
pub(in crate::store) fn action(key: &str) -> Digest {
    Digest::of(&[key.as_bytes()])
}

fn change(space: String, key: &str, hold: Hold, opens: bool) -> AttemptChange {
    AttemptChange {
        opens,
        key: key.to_owned(),
        space,
        action: Some(action(key)),
        hold,
        worker: opens.then(|| String::from("worker")),
        expires_at: opens.then_some(1_700_000_060_000),
    }
}
