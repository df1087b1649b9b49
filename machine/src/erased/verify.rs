use serde::de::DeserializeOwned;

use super::{Breach, Core, Record, Unverified};
use crate::{
    definition::Definition,
    id::Id,
    journal::{Digest, Fact, Journal},
};

/// A record that its journal bears out. Only [`Unverified::verify`] makes one.
#[derive(Debug)]
pub struct Verified(Unverified);

impl Verified {
    pub(super) fn new(checked: Unverified) -> Self {
        Self(checked)
    }

    /// The parts of the machine, for the generated code that puts them together.
    #[doc(hidden)]
    pub fn __into_parts<C: DeserializeOwned>(
        self,
    ) -> Result<(Record, Box<Core<C>>), serde_json::Error> {
        let Unverified { record, journal } = self.0;
        // `replay` made sure that the version is no larger than the journal.
        let committed = usize::try_from(record.version).unwrap_or(journal.len());
        let journal = Journal::restored(record.id, record.epoch, committed, journal);
        let context = serde_json::from_str(&record.context)?;
        Ok((record, Box::new(Core { journal, context })))
    }
}

/// Why a stored machine is not believed. Nothing was changed; the record stays where it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The id belongs to another kind of machine.
    #[error("{id} is a `{found}`, not a `{expected}`; load it as `{found}`")]
    OtherMachine {
        /// The machine's id.
        id: Id,
        /// What was asked for.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// The definition has changed since.
    #[error(
        "{id} was written by another version of `{machine}` (fingerprint {found}, this program \
         has {expected}); run the program that wrote it"
    )]
    OtherDefinition {
        /// The machine's id.
        id: Id,
        /// The machine's name.
        machine: &'static str,
        /// This program's fingerprint.
        expected: String,
        /// The record's fingerprint.
        found: String,
    },
    /// The journal does not lead to what the record says.
    #[error("{id} is not believed: {reason}; look at its journal, and restore it from a backup")]
    History {
        /// The machine's id.
        id: Id,
        /// The first thing that is wrong.
        reason: String,
    },
    /// The state's or the context's data do not fit their types.
    #[error("the data of {id} do not fit this program: {source}; run the program that wrote them")]
    Data {
        /// The machine's id.
        id: Id,
        /// Where reading stopped.
        source: serde_json::Error,
    },
    /// The history breaks a rule of the context.
    #[error("{id} is not believed: {breach}")]
    Rules {
        /// The machine's id.
        id: Id,
        /// The rule.
        breach: Breach,
    },
}

/// Walks the journal along the definition: starts at the initial state, every step legal and
/// allowed, no gap, the digest chain whole, and the end where the record says.
pub(super) fn replay(
    definition: &'static Definition,
    claim: &Unverified,
) -> Result<(), VerifyError> {
    let record = &claim.record;
    let id = record.id;
    if record.machine != definition.name {
        return Err(VerifyError::OtherMachine {
            id,
            expected: definition.name,
            found: record.machine.clone(),
        });
    }
    let expected = definition.fingerprint.to_string();
    if record.fingerprint != expected {
        return Err(VerifyError::OtherDefinition {
            id,
            machine: definition.name,
            expected,
            found: record.fingerprint.clone(),
        });
    }
    walk(definition, claim).map_err(|reason| VerifyError::History { id, reason })
}

fn walk(definition: &'static Definition, claim: &Unverified) -> Result<(), String> {
    let Unverified { record, journal } = claim;
    let mut head = Digest::ZERO;
    let mut state = None;
    let mut epoch = 0;
    let mut at = i64::MIN;

    for (position, entry) in journal.iter().enumerate() {
        if entry.number != position as u64 {
            return Err(format!("entry {position} of its journal is missing"));
        }
        let body = entry.body().map_err(|error| error.to_string())?;
        if entry.digest != entry.expected_digest(&head, &body) {
            return Err(format!("entry {position} of its journal was changed"));
        }
        if entry.at < at {
            return Err(format!("entry {position} of its journal goes back in time"));
        }
        (head, at) = (entry.digest, entry.at);
        match (&entry.fact, state) {
            (Fact::Created { state: initial, machine, fingerprint }, None) => {
                if *machine != record.machine || *fingerprint != record.fingerprint {
                    return Err(format!("it was created as another machine, a `{machine}`"));
                }
                if *initial != definition.states[definition.initial].name {
                    return Err(format!("it was created as `{initial}`, which is not initial"));
                }
                state = Some(definition.initial);
            }
            (Fact::Created { .. }, Some(_)) => return Err("it was created twice".to_owned()),
            (_, None) => return Err("its journal does not start with its creation".to_owned()),
            (Fact::Moved { from, to, trigger, .. }, Some(current)) => {
                let step = format!("`{from}` -{trigger}-> `{to}`");
                let edge = definition
                    .edge(current, trigger)
                    .filter(|edge| definition.states[edge.to].name == to)
                    .filter(|_| definition.states[current].name == from)
                    .ok_or_else(|| {
                        format!("{step} is no legal move; {}", definition.legal_moves(current))
                    })?;
                let actor = entry.actor.as_deref().unwrap_or_default();
                if !edge.actors.is_empty() && !edge.actors.contains(&actor) {
                    return Err(format!("`{actor}` may not take {step}"));
                }
                state = Some(edge.to);
            }
            (Fact::Fenced { epoch: raised, .. }, Some(_)) => {
                if *raised != epoch + 1 {
                    return Err(format!("its epoch jumps from {epoch} to {raised}"));
                }
                epoch = *raised;
            }
            (Fact::Held { .. } | Fact::Permitted { .. } | Fact::Evidence { .. }, Some(_)) => {}
        }
    }

    let Some(state) = state else { return Err("it has no journal".to_owned()) };
    let reached = definition.states[state].name;
    if record.status != reached {
        return Err(format!("it claims `{}`, but its journal ends in `{reached}`", record.status));
    }
    if record.epoch != epoch {
        return Err(format!("it claims epoch {}, but its journal has {epoch}", record.epoch));
    }
    if record.version > journal.len() as u64 {
        return Err("it claims more journal entries than there are".to_owned());
    }
    if record.seal != record.expected_seal(&head) {
        return Err("its row was changed by hand: the seal does not fit".to_owned());
    }
    Ok(())
}
