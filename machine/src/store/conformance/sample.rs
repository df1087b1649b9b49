//! Machines, as the part above a backend writes them.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::random::Random;

pub(super) use crate::store::write::attempt::CONTRACTS;
use crate::{
    clock::Millis,
    contract::execution,
    definition::Definition,
    id::Id,
    journal::{Digest, DigestKey, Kind, Line},
    store::backend::{AttemptChange, Batch, Claim, Row, Wants, Write},
    stored::{Hold, ToolUse},
};

/// The space of the machines of [`Machine::job`].
pub(super) const JOBS: &str = "machine:job";

/// A machine whose writes all succeed. A write that must fail is made from a clone.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) definition: Arc<Definition>,
    pub(super) row: Row,
    /// All lines so far.
    pub(super) lines: Vec<Line>,
    pub(super) key: DigestKey,
}

impl Machine {
    pub(super) fn execution() -> Self {
        Self::of(Arc::new(execution::DEFINITION.clone()))
    }

    /// A machine of a user.
    pub(super) fn job() -> Self {
        Self::of(Arc::new(job()))
    }

    fn of(definition: Arc<Definition>) -> Self {
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
    pub(super) fn with_key(mut self, key: &str) -> Self {
        self.row.key = Some(key.to_owned());
        self
    }

    pub(super) fn id(&self) -> Id {
        self.row.id
    }

    /// The write that creates it, with one line.
    pub(super) fn create(&mut self) -> Write {
        let context = self.row.context.clone();
        let mut write = self.update(1);
        write.expected = None;
        write.row.context = context;
        write
    }

    /// A write of this many more lines, with new texts and without the context.
    pub(super) fn update(&mut self, lines: u64) -> Write {
        let expected = self.row.version;
        for _ in 0..lines {
            let line = self.next_line();
            self.lines.push(line);
        }
        let version = expected + lines;
        self.row.version = version;
        self.row.updated_at += 10;
        self.row.state = format!("{{\"at\":{version}}}");
        self.row.summary = format!("{{\"lines\":{version}}}");
        self.row.seal = Digest::of(&[self.row.id.to_string().as_bytes(), &version.to_le_bytes()]);
        let new = usize::try_from(lines).unwrap_or(usize::MAX);
        Write {
            expected: Some(expected),
            row: Row { context: None, ..self.row.clone() },
            lines: self.lines[self.lines.len() - new..].to_vec(),
            claim: None,
            attempt: None,
            tool: None,
        }
    }

    /// A write of one more line, with which it is in a terminal state.
    pub(super) fn end(&mut self) -> Write {
        self.row.ended = true;
        self.update(1)
    }

    pub(super) fn newest(&self) -> Digest {
        self.lines.last().map_or(Digest::ZERO, |line| line.digest)
    }

    fn next_line(&self) -> Line {
        let number = self.lines.len() as u64;
        let at = self.row.updated_at + Millis::try_from(number % 7).unwrap_or(0);
        let (kind, actor, edge, body) = match number % 4 {
            _ if number == 0 => (Kind::Created, Some("tool_node"), None, None),
            1 => (
                Kind::Moved,
                Some("graph_runner"),
                Some(1),
                Some("{\"why\":\"na\u{ef}ve \u{1f980}\"}"),
            ),
            2 => (Kind::Recorded, Some("somebody"), None, Some("[1, 2.50,\"\\u0000\"]")),
            3 => (Kind::Fenced, None, None, Some("\"\"")),
            _ => (Kind::Moved, None, Some(0), None),
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

/// A definition that is not the library's.
fn job() -> Definition {
    let mut definition = execution::DEFINITION.clone();
    definition.name = Cow::Borrowed("job");
    // Reading computes the fingerprint.
    let text = serde_json::to_string(&definition).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(definition)
}

/// A batch with a new commit id.
pub(super) fn batch<const N: usize>(writes: [(&Machine, Write); N]) -> Batch {
    let definitions = writes.iter().map(|(machine, _)| machine.definition.clone()).collect();
    let writes = writes.into_iter().map(|(_, write)| write).collect();
    commit(definitions, writes)
}

/// A batch of any number of writes, with a new commit id.
pub(super) fn commit(definitions: Vec<Arc<Definition>>, writes: Vec<Write>) -> Batch {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let seed = NEXT.fetch_add(1, Ordering::Relaxed);
    with_commit_id(
        Random::new(seed).number().cast_signed(),
        Batch { definitions, writes, ..Batch::new(0, 1_700_000_000_000) },
    )
}

pub(super) fn with_commit_id(commit_id: i64, mut batch: Batch) -> Batch {
    batch.commit_id = commit_id;
    for write in &mut batch.writes {
        write.row.commit_id = commit_id;
    }
    batch
}

impl Write {
    /// Requires something of the key.
    pub(super) fn claims(mut self, space: &str, key: &str, wants: Wants) -> Self {
        let (key, space) = (key.to_owned(), space.to_owned());
        self.claim = Some(Claim { action: Some(action(&key)), key, space, wants });
        self
    }

    /// Takes the key and opens an attempt.
    pub(super) fn takes(self, space: &str, key: &str) -> Self {
        let mut write = self.claims(space, key, Wants::Free);
        write.attempt = Some(change(space, key, Hold::Held, true));
        write
    }

    /// Names the tool that the machine calls.
    pub(super) fn calls(mut self, tool: &str, irreversible: bool) -> Self {
        let (name, identity, begins) = (tool.to_owned(), false, false);
        self.tool = Some(ToolUse { name, irreversible, identity, begins });
        self
    }

    /// Names the irreversible tool that the machine calls, and how it makes its key.
    pub(super) fn uses(mut self, tool: &str, identity: bool, begins: bool) -> Self {
        let name = tool.to_owned();
        self.tool = Some(ToolUse { name, irreversible: true, identity, begins });
        self
    }

    /// Changes the newest attempt.
    pub(super) fn turns(mut self, space: &str, key: &str, hold: Hold) -> Self {
        self.attempt = Some(change(space, key, hold, false));
        self
    }
}

/// The action that a key stands for.
pub(super) fn action(key: &str) -> Digest {
    Digest::of(&[key.as_bytes()])
}

fn change(space: &str, key: &str, hold: Hold, opens: bool) -> AttemptChange {
    AttemptChange {
        opens,
        key: key.to_owned(),
        space: space.to_owned(),
        action: Some(action(key)),
        hold,
        worker: opens.then(|| String::from("worker")),
        expires_at: opens.then_some(1_700_000_060_000),
    }
}
