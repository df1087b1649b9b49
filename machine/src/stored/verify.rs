use std::sync::Arc;

use serde_json::Error;

use super::{Core, Durable, Unread, Unverified, VerifyError};
use crate::{
    definition::{Definition, Fingerprint},
    id::Id,
    journal::{Digest, DigestKey, Entry, Fact, Journal},
};

/// Stored data that passed verification, from which generated code makes a machine.
#[derive(Debug)]
pub struct Verified {
    pub(crate) journal: Journal,
    /// The state, as an index into the program's definition.
    pub(crate) state: usize,
    pub(crate) version: u32,
    pub(crate) state_text: String,
    pub(crate) context_text: Arc<str>,
}

impl Verified {
    /// The parts from which generated code restores the machine.
    #[doc(hidden)]
    pub fn __into_parts<C>(
        self,
        definition: &'static Definition,
        context: impl FnOnce(u32, &str) -> Result<C, Error>,
    ) -> Result<Parts<C>, Unread> {
        let Self { journal, state, version, state_text, context_text } = self;
        let context = context(version, &context_text).map_err(Unread::of_context)?;
        // Data of an older version may have been upgraded.
        let text = (version == definition.version).then_some(context_text);
        let core = Box::new(Core::restored(journal, context, text));
        Ok(Parts { state, version, text: state_text, core })
    }
}

/// Checks that a machine whose id was chosen with its context has that id.
pub(crate) fn check_id(id: Id, machine: &dyn Durable) -> Result<(), VerifyError> {
    match machine.__rules().__id() {
        Some(chosen) if chosen != id => {
            let reason = format!("its context is that of {chosen}");
            Err(VerifyError::History { id, reason })
        }
        _ => Ok(()),
    }
}

/// The parts of a verified machine.
#[doc(hidden)]
#[derive(Debug)]
pub struct Parts<C> {
    /// The state, as an index into the program's definition.
    pub state: usize,
    /// The version of the data.
    pub version: u32,
    /// The data of the state, as JSON text.
    pub text: String,
    /// The journal and the context.
    pub core: Box<Core<C>>,
}

/// Replays the journal under the definitions that its entries were written under. Checks that it
/// starts in the initial state, that every step is legal and its actor allowed, that the digest
/// chain has no gap, and that it ends in the state of the record. Then finds the corresponding
/// state of the program's definition. Returns the digest of the newest entry too.
pub(crate) fn replay(
    own: &'static Definition,
    claim: &Unverified,
) -> Result<(Verified, Digest), VerifyError> {
    let record = &claim.record;
    let id = record.id;
    check_machine(own, id, &record.machine)?;
    let known = KnownDefinitions { own, older: &claim.definitions };
    let entries = claim.journal.iter().map(|entry| entry.definition);
    for found in entries.chain([record.fingerprint]) {
        if known.get(found).is_none() {
            return Err(VerifyError::UnknownDefinition { id, machine: own.name(), found });
        }
    }
    let mut walk = Walk::new(&record.machine);
    let key = DigestKey::default();
    let walked = claim.journal.iter().try_for_each(|entry| walk.step(&known, entry, &key));
    let (state, head) = walked
        .and_then(|()| walk.finish(&known, record.fingerprint, &record.status, record.epoch))
        .map_err(|reason| VerifyError::History { id, reason })?;
    let (state, version) = successor(own, &known, id, record.fingerprint, state)?;
    let mut older = claim.definitions.clone();
    older.retain(|older| {
        let mut entries = claim.journal.iter();
        older.fingerprint != own.fingerprint
            && entries.any(|entry| entry.definition == older.fingerprint)
    });
    let entries = claim.journal.clone();
    let journal = Journal::of_entries(id, own.fingerprint, record.epoch, entries, older);
    let (state_text, context_text) = (record.state.clone(), record.context.as_str().into());
    Ok((Verified { journal, state, version, state_text, context_text }, head))
}

pub(crate) fn check_machine(
    own: &'static Definition,
    id: Id,
    found: &str,
) -> Result<(), VerifyError> {
    if found == own.name {
        return Ok(());
    }
    Err(VerifyError::OtherMachine { id, expected: own.name(), found: found.to_owned() })
}

/// The state of the program's definition that data written under another one are in, and the
/// version of these data.
pub(crate) fn successor(
    own: &'static Definition,
    known: &KnownDefinitions<'_>,
    id: Id,
    fingerprint: Fingerprint,
    state: usize,
) -> Result<(usize, u32), VerifyError> {
    let machine = own.name();
    let Some(written) = known.get(fingerprint) else {
        return Err(VerifyError::UnknownDefinition { id, machine, found: fingerprint });
    };
    let version = written.version;
    if written.fingerprint == own.fingerprint {
        return Ok((state, version));
    }
    let comparison = written.compare(own);
    let name = &written.states[state].name;
    let reasons: Vec<String> = comparison.blocking(name).map(ToString::to_string).collect();
    let successor = written.successor(state, own);
    let reasons = match contradiction(known.older, written, state, own) {
        Some(reason) if reasons.is_empty() => vec![reason],
        _ => reasons,
    };
    match successor {
        Some(state) if reasons.is_empty() => Ok((state, version)),
        _ => Err(VerifyError::Incompatible { id, machine, state: name.to_string(), reasons }),
    }
}

/// A definition in between may have renamed the state, while the program's own uses the name for
/// another one: then the machine must not become that other one.
fn contradiction(
    definitions: &[Arc<Definition>],
    written: &Definition,
    state: usize,
    own: &Definition,
) -> Option<String> {
    let direct = written.successor(state, own)?;
    definitions.iter().filter(|between| between.name == own.name).find_map(|between| {
        let renamed = written.successor(state, between)?;
        let (old, new) = (&written.states[state].name, &between.states[renamed].name);
        let indirect = between.successor(renamed, own)?;
        (old != new && indirect != direct).then(|| {
            format!(
                "`{old}` was renamed to `{new}` by definition {}, and this program uses `{old}` for \
                 another state: load and commit the machine with a program in between",
                between.fingerprint
            )
        })
    })
}

/// The definitions with which a journal can be read.
pub(crate) struct KnownDefinitions<'a> {
    pub(crate) own: &'a Definition,
    pub(crate) older: &'a [Arc<Definition>],
}

impl KnownDefinitions<'_> {
    pub(crate) fn get(&self, fingerprint: Fingerprint) -> Option<&Definition> {
        if fingerprint == self.own.fingerprint {
            return Some(self.own);
        }
        let mut older = self.older.iter().filter(|older| older.name == self.own.name);
        older.find(|older| older.fingerprint == fingerprint).map(|older| &**older)
    }
}

/// The position of a replay: a state of a definition.
#[derive(Clone, Copy)]
struct ReplayPosition<'a> {
    definition: &'a Definition,
    state: usize,
}

impl<'a> ReplayPosition<'a> {
    /// The equivalent position under another definition.
    fn under(self, definition: &'a Definition) -> Result<Self, String> {
        if definition.fingerprint == self.definition.fingerprint {
            return Ok(self);
        }
        let state = self.definition.successor(self.state, definition).ok_or_else(|| {
            let name = &self.definition.states[self.state].name;
            format!("it continued from `{name}` under a definition without that state")
        })?;
        Ok(Self { definition, state })
    }
}

/// A replay of a journal, entry by entry.
#[derive(Debug)]
pub(crate) struct Walk {
    /// The kind of machine, as its record says.
    machine: String,
    /// The definition of the newest entry, and the state in it.
    position: Option<(Fingerprint, usize)>,
    epoch: u64,
    pub(crate) number: u64,
    /// The digest of the newest of them.
    head: Digest,
}

impl Walk {
    pub(crate) fn new(machine: &str) -> Self {
        let machine = machine.to_owned();
        Self { machine, position: None, epoch: 0, number: 0, head: Digest::ZERO }
    }

    fn position<'a>(&self, known: &'a KnownDefinitions<'_>) -> Option<ReplayPosition<'a>> {
        let (fingerprint, state) = self.position?;
        known.get(fingerprint).map(|definition| ReplayPosition { definition, state })
    }

    pub(crate) fn step(
        &mut self,
        known: &KnownDefinitions<'_>,
        entry: &Entry,
        key: &DigestKey,
    ) -> Result<(), String> {
        let number = self.number;
        if entry.number != number {
            return Err(format!("entry {number} of its journal is missing"));
        }
        let Some(definition) = known.get(entry.definition) else {
            return Err(format!("entry {number} was written under an unknown definition"));
        };
        let here = self.position(known).map(|position| position.under(definition)).transpose()?;
        let there = follow(entry, definition, here, &self.machine, &mut self.epoch)?;
        let line = entry.to_line(definition, key, &self.head)?;
        if entry.digest != Some(line.digest) {
            return Err(format!("entry {number} of its journal was changed"));
        }
        self.position = Some((there.definition.fingerprint, there.state));
        (self.head, self.number) = (line.digest, number + 1);
        Ok(())
    }

    /// The final state of the journal, in the definition of its record, and the digest of its
    /// newest entry; if the record is what the journal leads to.
    pub(crate) fn finish(
        &self,
        known: &KnownDefinitions<'_>,
        fingerprint: Fingerprint,
        status: &str,
        epoch: u64,
    ) -> Result<(usize, Digest), String> {
        let position = self.position(known).ok_or("it has no journal")?;
        let definition = known.get(fingerprint);
        let definition = definition.ok_or("it was written under an unknown definition")?;
        let ReplayPosition { state, .. } = position.under(definition)?;
        let reached = &definition.states[state].name;
        if status != *reached {
            return Err(format!("it claims `{status}`, but its journal ends in `{reached}`"));
        }
        if epoch != self.epoch {
            return Err(format!("it claims epoch {epoch}, but its journal has {}", self.epoch));
        }
        Ok((state, self.head))
    }
}

/// The position after one entry, if the entry is legal.
fn follow<'a>(
    entry: &Entry,
    definition: &'a Definition,
    here: Option<ReplayPosition<'a>>,
    of: &str,
    epoch: &mut u64,
) -> Result<ReplayPosition<'a>, String> {
    match (&entry.fact, here) {
        (Fact::Created { state: initial, machine, .. }, None) => {
            if machine != of {
                return Err(format!("it was created as another machine, a `{machine}`"));
            }
            if *initial != definition.states[definition.initial].name {
                return Err(format!("it was created as `{initial}`, which is not initial"));
            }
            Ok(ReplayPosition { definition, state: definition.initial })
        }
        (Fact::Created { .. }, Some(_)) => Err("it was created twice".to_owned()),
        (_, None) => Err("its journal does not start with its creation".to_owned()),
        (Fact::Moved { from, to, trigger, stays, .. }, Some(ReplayPosition { state, .. })) => {
            let step = || format!("`{from}` -{trigger}-> `{to}`");
            let target = definition.state(to);
            let edge = target
                .and_then(|target| definition.edge(state, trigger, target))
                .filter(|_| definition.states[state].name == *from)
                .ok_or_else(|| {
                    format!("{} is not a legal move; {}", step(), definition.legal_moves(state))
                })?;
            let actor = entry.actor.as_deref().unwrap_or_default();
            if !edge.is_for_kind(actor) {
                return Err(format!("`{actor}` may not take {}", step()));
            }
            if *stays && from != to {
                return Err(format!("{} does not stay in its state", step()));
            }
            Ok(ReplayPosition { definition, state: edge.to })
        }
        (Fact::Fenced { epoch: raised, .. }, Some(here)) => {
            if *raised != *epoch + 1 {
                return Err(format!("its epoch jumps from {epoch} to {raised}"));
            }
            *epoch = *raised;
            Ok(here)
        }
        (Fact::Recorded { .. }, Some(here)) => Ok(here),
    }
}
