//! The invariants at the end of a schedule.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    machines::{BY_HANDLER, LEGS, POST, leg, trip},
    shared::{Shared, WENT_BACK},
    tours::tour,
    world::BY_HAND,
};
use crate::{
    Id,
    clock::Millis,
    contract::CallFact,
    definition::Fit,
    journal::{Due, Entry, Fact},
    store::{Cause, Delivery, LoadError, Received, Store},
};

/// A move in a history.
pub(super) struct Move {
    /// The number of its entry.
    pub(super) number: u64,
    from: String,
    to: String,
    pub(super) trigger: String,
    item: u64,
    /// The name of its actor.
    pub(super) by: String,
    /// The call that had done before what a call was for.
    pub(super) done_by: Option<String>,
    /// When the deadline was due that it fired.
    due_at: Option<Millis>,
}

/// The machines of a schedule, as they are stored.
pub(super) struct End<'a> {
    pub(super) shared: &'a Shared,
    pub(super) store: Store,
    pub(super) machines: Vec<(Id, String, Vec<Move>)>,
    /// The places of the lines of each machine in the journal of the store.
    pub(super) places: BTreeMap<Id, Vec<usize>>,
    /// What the journals of calls and questions record about them, with the numbers of the entries.
    pub(super) facts: BTreeMap<Id, Vec<(u64, CallFact)>>,
    pub(super) found: Vec<String>,
}

pub(super) async fn at_the_end(shared: &Shared) {
    let store = shared.plain();
    let known: Vec<_> = {
        let ledger = shared.ledger();
        ledger.machines.iter().map(|it| (it.id, it.kind.clone(), it.ended)).collect()
    };
    let mut end = End {
        shared,
        store,
        machines: Vec::new(),
        places: BTreeMap::new(),
        facts: BTreeMap::new(),
        found: Vec::new(),
    };
    for (number, (_, kind, ended)) in known.iter().enumerate() {
        if !ended {
            end.found.push(format!("m{number}, a {kind}, is not at its end"));
        }
    }
    if let Err(error) = end.read(known).await {
        end.found.push(format!("the store cannot be read: {error}"));
    }
    for number in 0..end.machines.len() {
        end.moves(number);
        if let Err(error) = end.messages(number).await {
            end.found.push(format!("the messages to m{number} cannot be read: {error}"));
        }
        if let Err(error) = end.legs(number).await {
            end.found.push(format!("the legs of m{number} cannot be read: {error}"));
        }
        if let Err(error) = end.calls(number).await {
            end.found.push(format!("the calls of m{number} cannot be read: {error}"));
        }
    }
    shared.ledger().violations.append(&mut end.found);
}

impl End<'_> {
    async fn read(&mut self, known: Vec<(Id, String, bool)>) -> Result<(), LoadError> {
        for (id, kind, _) in known {
            // This checks the digests, and that the definition has each move.
            let history = self.store.history(id).await?;
            let entries = history.entries.iter();
            let facts = entries.filter_map(|entry| Some((entry.number, CallFact::of(entry)?)));
            self.facts.insert(id, facts.collect());
            self.machines.push((id, kind, moves_of(&history.entries)));
        }
        let entries = self.shared.memory.entries(0, usize::MAX).await?;
        for (place, entry) in entries.iter().enumerate() {
            if let Some(id) = entry.id {
                self.places.entry(id).or_default().push(place);
            }
        }
        for problem in self.store.verify_all(|_| ()).await?.problems {
            self.found.push(format!("verification: {}", problem.reason));
        }
        Ok(())
    }

    /// The history is one chain, and a handler was called for each move that only handlers make.
    fn moves(&mut self, number: usize) {
        let (_, kind, moves) = &self.machines[number];
        for pair in moves.windows(2) {
            if pair[0].to != pair[1].from {
                self.found
                    .push(format!("m{number} moved from {} without being there", pair[1].from));
            }
        }
        for one in moves {
            let state = BY_HANDLER.iter().find(|(trigger, _)| *trigger == one.trigger);
            let Some((_, state)) = state else { continue };
            let calls = self.shared.ledger().calls.get(&(number, *state)).copied();
            if one.from != *state || calls.unwrap_or(0) == 0 {
                self.found
                    .push(format!("a {kind}, m{number}, made `{}` without a handler", one.trigger));
            }
        }
    }

    /// Each message caused one move or none, and none is lost.
    async fn messages(&mut self, number: usize) -> Result<(), LoadError> {
        let (id, _, moves) = &self.machines[number];
        let inbox = self.store.inbox(*id).await?;
        let inbox: Vec<Received> = inbox.into_iter().collect::<Result<_, _>>()?;
        let mut correlations = BTreeSet::new();
        let mut handled = Vec::new();
        for message in &inbox {
            let Received { correlation, status, error, .. } = message;
            if !correlations.insert((number, correlation.clone())) {
                self.found.push(format!("m{number} has `{correlation}` twice"));
            }
            match status {
                Delivery::Handled => handled.extend(item_of(message)),
                Delivery::Replaced => {}
                Delivery::SetAside if error.is_some() => {}
                Delivery::SetAside => {
                    self.found
                        .push(format!("`{correlation}` to m{number} is set aside, no reason"));
                }
                Delivery::Queued => {
                    self.found.push(format!("`{correlation}` to m{number} is still queued"));
                }
            }
        }
        let mut taken: Vec<_> = moves.iter().map(|it| it.item).collect();
        taken.retain(|item| *item != 0 && *item != BY_HAND);
        handled.sort_unstable();
        taken.sort_unstable();
        if handled != taken {
            self.found
                .push(format!("m{number} handled {handled:?}, and its history has {taken:?}"));
        }
        if taken.windows(2).any(|pair| pair[0] == pair[1]) {
            self.found.push(format!("m{number} took one of {taken:?} twice"));
        }
        let confirmed = self.shared.ledger().confirmed.clone();
        let of_machine = confirmed.iter().filter(|(to, _)| *to == number);
        for (_, lost) in of_machine.filter(|it| !correlations.contains(it)) {
            self.found.push(format!("`{lost}` to m{number} was confirmed, and is lost"));
        }
        if number == 0 {
            self.posts(&inbox);
        }
        self.in_time(number, &inbox);
        Ok(())
    }

    /// No deadline fired while a message waited that was sent before it was due, and that the state
    /// took.
    fn in_time(&mut self, number: usize, inbox: &[Received]) {
        let ledger = self.shared.ledger();
        let (_, kind, moves) = &self.machines[number];
        let definition = [&trip::DEFINITION, &leg::DEFINITION, &tour::DEFINITION]
            .into_iter()
            .find(|it| *kind == it.name);
        // Where the clock went back, times do not say what came first.
        let Some(definition) = definition.filter(|_| !ledger.counts.contains_key(WENT_BACK)) else {
            return;
        };
        // What was tried too often was set aside before.
        let waited = inbox.iter().filter(|message| {
            let known = (number, message.correlation.clone());
            message.cause == Some(Cause::Ended) && !ledger.requeued.contains(&known)
        });
        for message in waited {
            let takes = |state: &str| {
                let (state, trigger) = (definition.state(state), message.trigger());
                trigger.is_some_and(|it| definition.fit(state, &it, &message.actor) == Fit::Now)
            };
            let is_left =
                |it: &&Move| it.due_at.is_some_and(|at| message.sent_at < at) && takes(&it.from);
            if let Some(fired) = moves.iter().find(is_left) {
                let (correlation, trigger) = (&message.correlation, &fired.trigger);
                self.found
                    .push(format!("`{correlation}` to m{number} was in time before `{trigger}`"));
            }
        }
    }

    /// Each other trip that is done has sent one message to the first one, in the batch of its
    /// move.
    fn posts(&mut self, inbox: &[Received]) {
        for (number, (_, _, moves)) in self.machines.iter().enumerate().skip(1) {
            let item = POST + number as u64;
            let sent = inbox.iter().filter(|it| item_of(it) == Some(item)).count();
            let done = moves.iter().filter(|it| it.trigger == "finish").count();
            if sent != done {
                self.found
                    .push(format!("m{number} finished {done} times and sent {sent} messages"));
            }
        }
    }

    /// A trip has its legs once, joins them after they have ended, and cancels them otherwise.
    async fn legs(&mut self, number: usize) -> Result<(), LoadError> {
        let (id, kind, moves) = &self.machines[number];
        let legs = self.store.children(*id).await?;
        let joined = moves.iter().any(|it| it.trigger == "join");
        let count = legs.len();
        if kind == "trip" && (count > LEGS || joined && count != LEGS || count == 1) {
            self.found.push(format!("m{number} has {count} legs"));
        }
        // The last move of a trip that joins is not the join, so its end is later than that.
        let ended_at = |id: &Id| self.places.get(id)?.last();
        if joined && legs.iter().any(|leg| ended_at(&leg.id) > ended_at(id)) {
            self.found.push(format!("m{number} ended before its legs"));
        }
        let early = legs.iter().any(|leg| leg.status == "cancelled") && joined;
        if early {
            self.found.push(format!("m{number} joined a leg that was cancelled"));
        }
        Ok(())
    }
}

fn moves_of(entries: &[Entry]) -> Vec<Move> {
    let (mut moves, mut running): (_, &[Due]) = (Vec::new(), &[]);
    for entry in entries {
        moves.extend(move_of(entry, running));
        if let Fact::Created { deadlines, .. } | Fact::Moved { deadlines, .. } = &entry.fact {
            running = deadlines;
        }
    }
    moves
}

fn move_of(entry: &Entry, running: &[Due]) -> Option<Move> {
    let Fact::Moved { from, to, trigger, payload, .. } = &entry.fact else { return None };
    let item = payload.get("item").and_then(serde_json::Value::as_u64).unwrap_or(0);
    let due_at = running.iter().find(|due| due.trigger == *trigger).and_then(|due| due.due_at);
    let (from, to, trigger) = (from.to_string(), to.to_string(), trigger.to_string());
    let by = entry.by.as_deref().unwrap_or_default().to_owned();
    let done_by = payload.get("why").and_then(|why| why["already_done"]["by"].as_str());
    let (number, done_by) = (entry.number, done_by.map(str::to_owned));
    Some(Move { number, from, to, trigger, item, by, done_by, due_at })
}

fn item_of(message: &Received) -> Option<u64> {
    let body: serde_json::Value = serde_json::from_str(&message.body).ok()?;
    body.get("item")?.as_u64()
}
