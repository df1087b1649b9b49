//! The outcomes that machines have taken, compared with the calls that they are of.

use serde_json::Value;

use crate::{
    actor::{Actor, Call},
    definition::Text,
    id::Id,
    journal::{Entry, Fact, canonical},
    store::{
        backend::{CallRow, FoundRow, Messages},
        error::LoadError,
        handle::Store,
        inbox::outcome::{OutcomePlace, outcome_of},
        integrity::check::DeclaredKind,
        read::load::summary_of,
        write::under_way::COMPLETED,
    },
    stored::{KnownDefinitions, OutcomeReader},
};

pub(crate) struct Taken<'a> {
    pub(crate) machine: Id,
    pub(crate) entry: &'a Entry,
    /// The number of the entry that came into the state.
    pub(crate) entered: u64,
    /// The kind of the machine, if the program knows it.
    pub(crate) kind: Option<&'a DeclaredKind>,
    /// The kinds that the program knows; the one of calls is among them.
    pub(crate) kinds: &'a [DeclaredKind],
}

/// An outcome as an entry has it.
struct Claim<'a> {
    place: u32,
    outcome: Result<&'a Value, &'a Value>,
}

struct Claims<'a> {
    all: Vec<Claim<'a>>,
    /// They are all outcomes of the state.
    is_whole: bool,
    reader: Option<OutcomeReader>,
}

type Difference = Option<String>;

impl Store {
    /// The first difference between an entry that takes outcomes and the calls that they are of.
    pub(in crate::store) async fn differing_outcome(
        &self,
        taken: &Taken<'_>,
        known: &KnownDefinitions<'_>,
    ) -> Result<Difference, LoadError> {
        if taken.entry.actor.as_deref() != Some(Call::KIND) {
            return Ok(None);
        }
        let number = taken.entry.number;
        let wrong = match taken.claims(known) {
            Ok(claims) => self.differing_claim(taken, &claims).await?,
            Err(wrong) => Some(wrong),
        };
        Ok(wrong.map(|wrong| format!("entry {number} takes the outcome of a call, but {wrong}")))
    }

    async fn differing_claim(
        &self,
        taken: &Taken<'_>,
        claims: &Claims<'_>,
    ) -> Result<Difference, LoadError> {
        let Some(by) = taken.entry.by.as_deref().and_then(|by| by.parse::<Id>().ok()) else {
            return Ok(Some("it names no call".to_owned()));
        };
        let calls = self.inner.backend.calls(taken.machine, taken.entered + 1).await?;
        // One that cannot be read is reported with the machine.
        let calls: Vec<CallRow> = calls.into_iter().flatten().collect();
        if by != taken.machine
            && let Some(wrong) = self.wrong_call(taken, by).await?
        {
            return Ok(Some(wrong));
        }
        for claim in &claims.all {
            let is_claimed = |call: &&CallRow| {
                if claims.is_whole { call.position == claim.place } else { call.id == by }
            };
            let call = calls.iter().find(is_claimed);
            let wrong = match call {
                Some(call) if call.position != claim.place => {
                    Some(format!("the index of {} is {}", call.id, call.position))
                }
                Some(call) if call.ended_at.is_some() && !claim.is_overdue() => {
                    self.differs(taken, claims.reader, claim, call.id).await?
                }
                None if !claims.is_whole && by != taken.machine => match self.found(by).await? {
                    // It was pruned, unless another call has its place.
                    FoundRow::Missing(_) => {
                        let is_other = calls.iter().any(|it| it.position == claim.place);
                        is_other.then(|| format!("its inbox has no outcome of {by}"))
                    }
                    _ => Some(format!("{by} is a call of another entry")),
                },
                _ => self.differs_from_answer(taken, claims, claim).await?,
            };
            if wrong.is_some() {
                return Ok(wrong);
            }
        }
        let count = claims.all.len();
        let missing = calls.iter().find(|call| claims.is_whole && call.position as usize >= count);
        Ok(missing.map(|call| format!("the outcome of {} is missing", call.id)))
    }

    /// Why an execution is not a call of the machine that has ended.
    async fn wrong_call(&self, taken: &Taken<'_>, call: Id) -> Result<Difference, LoadError> {
        let (machine, backend) = (taken.machine, &self.inner.backend);
        let message = Messages::One(machine, outcome_of(call));
        let (message, parent) =
            (backend.messages(message).await?.pop(), backend.parent(call).await?);
        // The call is read last: pruning deletes all three together.
        let found = self.found(call).await?;
        Ok(match (found, parent) {
            (FoundRow::Missing(_), _) => {
                self.keeps_calls(taken).await?.then(|| format!("{call} is missing"))
            }
            (FoundRow::Row(_, _), Ok(parent)) if parent != Some(machine) => {
                Some(format!("{call} is not a call of this machine"))
            }
            (FoundRow::Row(row, _), _) if !row.ended => Some(format!("{call} has not ended")),
            _ if message.is_none() => Some(format!("its inbox has no outcome of {call}")),
            // What is broken is reported with the machine.
            _ => None,
        })
    }

    /// Returns whether a machine is still in the state in which it took an outcome: then the calls
    /// are not pruned.
    async fn keeps_calls(&self, taken: &Taken<'_>) -> Result<bool, LoadError> {
        Ok(match self.found(taken.machine).await? {
            FoundRow::Row(row, _) => {
                let has_moved = summary_of(&row).is_ok_and(|it| it.entered != taken.entered);
                !row.ended && !has_moved
            }
            FoundRow::Missing(_) => false,
            FoundRow::Broken(_) => true,
        })
    }

    async fn differs(
        &self,
        taken: &Taken<'_>,
        reader: Option<OutcomeReader>,
        claim: &Claim<'_>,
        call: Id,
    ) -> Result<Difference, LoadError> {
        let found = self.found(call).await?;
        let FoundRow::Row(row, _) = &found else { return Ok(None) };
        let has_receipt = row.status == COMPLETED;
        if has_receipt != claim.outcome.is_ok() {
            let (is, says) = (&row.status, if has_receipt { "no" } else { "a" });
            return Ok(Some(format!("{call} is `{is}`, and the entry has {says} receipt")));
        }
        let kind = taken.kinds.iter().find(|kind| kind.definition.name == *row.machine);
        let (Some(kind), Some(reader)) = (kind, reader) else { return Ok(None) };
        let known = self.definition_of(&found).await?;
        // What cannot be read any more is not compared.
        let is_same = (kind.has_outcome)(self, found, &known, reader, claim.outcome);
        let what = if has_receipt { "receipt" } else { "error" };
        let differs = is_same == Some(false);
        Ok(differs.then(|| format!("{call} has another {what} than the entry")))
    }

    /// Compares an outcome with the message that brought it: no call has it.
    async fn differs_from_answer(
        &self,
        taken: &Taken<'_>,
        claims: &Claims<'_>,
        claim: &Claim<'_>,
    ) -> Result<Difference, LoadError> {
        let (entry, position) = (taken.entered, claim.place);
        let place = if claim.is_overdue() {
            OutcomePlace::Overdue { entry, position }
        } else {
            OutcomePlace::Entry { entry, position: Some(position) }
        };
        let place = Messages::One(taken.machine, place.to_string());
        let Some(message) = self.inner.backend.messages(place).await?.pop() else {
            // It may have been the outcome of a call that was pruned.
            let is_pruned =
                claims.is_whole && !claim.is_overdue() && !self.keeps_calls(taken).await?;
            return Ok((!is_pruned).then(|| format!("call {position} of the state has no outcome")));
        };
        let Ok(message) = message else { return Ok(None) };
        let body: Value = serde_json::from_str(&message.body).unwrap_or_default();
        let is_same =
            claim.outcome.is_err_and(|error| canonical(error) == canonical(&body["error"]));
        Ok((!is_same).then(|| format!("call {position} of the state has another outcome")))
    }
}

impl<'a> Taken<'a> {
    fn claims(&self, known: &KnownDefinitions<'_>) -> Result<Claims<'a>, String> {
        let Fact::Moved { from, to, trigger, payload, .. } = &self.entry.fact else {
            return Err("it is not a transition".to_owned());
        };
        // The entry was followed along this definition before.
        let definition = known.get(self.entry.definition);
        let state = definition.and_then(|it| Some((it, it.state(from)?, it.state(to)?)));
        let Some((definition, state, target)) = state else {
            return Ok(Claims { all: Vec::new(), is_whole: false, reader: None });
        };
        let Some(invocation) = &definition.states[state].invocation else {
            return Err(format!("`{from}` makes none"));
        };
        let reader = self.kind.and_then(|kind| {
            let own = definition.successor(state, kind.definition)?;
            (kind.outcomes)(own)
        });
        let edge = definition.edge(state, trigger, target);
        let item = |place: usize| {
            let item = edge.and_then(|edge| edge.payload.get(place));
            // One that is null is left out.
            item.and_then(|item| payload.get(&*item.name)).unwrap_or(&Value::Null)
        };
        let takes = |role: &Option<Text>| role.as_ref() == Some(trigger);
        let is_whole = invocation.set && takes(&invocation.done);
        let all = if is_whole {
            let Value::Array(all) = item(0) else { return Err("it has no outcomes".to_owned()) };
            let claims = (0..).zip(all).map(|(place, one)| Claim::of(place, one));
            claims.collect::<Result<_, _>>()?
        } else if takes(&invocation.done) {
            vec![Claim { place: 0, outcome: Ok(item(0)) }]
        } else if takes(&invocation.failed) {
            vec![Claim { place: 0, outcome: Err(item(0)) }]
        } else if takes(&invocation.each) {
            let place = item(1).as_u64().and_then(|place| u32::try_from(place).ok());
            vec![Claim::of(place.ok_or("it has no index")?, item(0))?]
        } else {
            return Err(format!("`{trigger}` takes none"));
        };
        Ok(Claims { all, is_whole, reader })
    }
}

impl<'a> Claim<'a> {
    /// One of a set, which serde has written as a `Result`.
    fn of(place: u32, one: &'a Value) -> Result<Self, String> {
        let receipt = one.get("Ok").map(Ok);
        let outcome = receipt.or_else(|| one.get("Err").map(Err));
        let outcome = outcome.ok_or_else(|| format!("it has no outcome {place}"))?;
        Ok(Self { place, outcome })
    }

    fn is_overdue(&self) -> bool {
        self.outcome.is_err_and(|error| error.get("overdue").is_some())
    }
}
