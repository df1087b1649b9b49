use std::collections::BTreeSet;

use super::Error;
use crate::{
    contract::{CallStage, IdempotencyKey, Release, execution},
    id::shortened,
    line::OneLine,
    observe::{Attention, Observer, Overview},
    store::{LoadError, Page, Query},
    view::{self, Label, View},
};

/// A choice of machines, by the names that people see.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The kind.
    pub machine: Option<&'a str>,
    /// The state, by its label or by its name, in any case.
    pub state: Option<&'a str>,
    /// The session.
    pub session: Option<&'a str>,
    /// The idempotency key.
    pub key: Option<&'a str>,
    /// The state of the gates of executions.
    pub release: Option<Release>,
    /// The stage of a call that a machine made by entering its state.
    pub calls: Option<CallStage>,
}

/// A query for the chosen machines.
#[derive(Debug, Clone)]
pub struct Selection {
    query: Query,
    /// A label can say more than the name of the state.
    state: Option<String>,
    calls: Option<CallStage>,
}

const NAMED: usize = 20;

impl Wanted<'_> {
    /// The selection, as a part of this query.
    ///
    /// # Errors
    ///
    /// Names that nothing in the store has: a typo would look as if there were no machines; and a
    /// key that is none.
    pub async fn select(&self, observer: &Observer, mut query: Query) -> Result<Selection, Error> {
        let known = States::of(observer).await?;
        if let Some(machine) = self.machine {
            known.has_kind(machine)?;
            query = query.machine(machine);
        }
        if let Some(state) = self.state {
            query = query.statuses(known.named(self.machine, state, false)?);
        }
        if let Some(session) = self.session {
            has_session(observer, session).await?;
            query = query.session(session);
        }
        if let Some(key) = self.key {
            if !IdempotencyKey::is_form_of(key) {
                return Err(Error::invalid(format!(
                    "`{}` is not an idempotency key, which ends with a colon and 64 hexadecimal digits; \
                     `show ID --audience diagnostic` shows the key of an execution",
                    shortened(key)
                )));
            }
            query = query.key(key);
        }
        if let Some(release) = self.release {
            if self.machine.is_some_and(|kind| kind != execution::DEFINITION.name) {
                return Err(Error::refused(
                    "only executions of the library have gates; omit `machine` or `release`",
                ));
            }
            query = query.release(release);
        }
        if let Some(stage) = self.calls {
            query = query.calls(stage);
        }
        Ok(Selection { query, state: self.state.map(str::to_owned), calls: self.calls })
    }
}

impl Selection {
    /// A page of the machines. One that cannot be read is listed as an error.
    ///
    /// # Errors
    ///
    /// See [`Observer::list`].
    pub async fn list<A: view::Audience>(
        &self,
        observer: &Observer,
    ) -> Result<Page<Result<View<Overview<A>>, LoadError>>, LoadError> {
        let limit = self.query.page_limit();
        let (mut query, mut items) = (self.query.clone(), Vec::new());
        loop {
            // Never more than there is room for, so that the place of the last one is known.
            let page = observer.list::<A>(&query.clone().limit(limit - items.len())).await?;
            let selected = page.items.into_iter().filter(|item| match item {
                Ok(one) => self.has(&one.status, &one.label),
                Err(_) => true,
            });
            items.extend(selected);
            match page.next {
                Some(next) if items.len() < limit => query = query.after(next),
                next => return Ok(Page { items, next }),
            }
        }
    }

    /// The concerns of the machines.
    ///
    /// # Errors
    ///
    /// See [`Observer::attention`].
    pub async fn attention<A: view::Audience>(
        &self,
        observer: &Observer,
    ) -> Result<View<Attention<A>>, LoadError> {
        let mut attention = observer.attention::<A>(&self.query).await?.into_inner();
        attention.concerns.retain(|one| match (&one.status, &one.label) {
            (Some(status), Some(label)) => {
                let has_call = |stage| one.calls.as_ref().is_some_and(|calls| calls.has(stage));
                self.has(status, label) && self.calls.is_none_or(has_call)
            }
            // The state of what cannot be read is unknown.
            _ => true,
        });
        Ok(View::new(attention))
    }

    fn has(&self, status: &str, label: &str) -> bool {
        self.state.as_ref().is_none_or(|wanted| is_same(wanted, status) || is_same(wanted, label))
    }
}

/// The names of the terminal states that a name means.
///
/// # Errors
///
/// Names that nothing has: a typo would look as if there were no such machines.
pub async fn ended_in(
    observer: &Observer,
    machine: Option<&str>,
    wanted: &str,
) -> Result<BTreeSet<String>, Error> {
    States::of(observer).await?.named(machine, wanted, true)
}

/// Refuses the name of a session that no machine has.
async fn has_session(observer: &Observer, session: &str) -> Result<(), Error> {
    let store = &observer.store;
    let page = store.list(&Query::new().session(session).limit(1)).await?;
    if !page.items.is_empty() {
        return Ok(());
    }
    let newest = store.sessions(NAMED, None).await?;
    let names = newest.items.into_iter().map(|line| line.session);
    Err(none(&format!("no machine belongs to the session `{}`", shortened(session)), names))
}

struct States {
    /// Kind, name and label of each, and whether it is terminal.
    all: BTreeSet<(String, String, String, bool)>,
    /// A definition cannot be read, so there may be others.
    is_whole: bool,
}

impl States {
    async fn of(observer: &Observer) -> Result<Self, Error> {
        let stored = observer.store.definitions().await?;
        let own = observer.own.iter().copied();
        let mut all = BTreeSet::new();
        // The library's own kind is there before its first machine is.
        for definition in stored.iter().map(|it| &**it).chain(own).chain([execution::DEFINITION]) {
            for state in &*definition.states {
                let is_execution = definition.name == execution::DEFINITION.name;
                let mut labels = vec![state.label.to_string()];
                if let (true, Ok(status)) = (is_execution, state.name.parse()) {
                    labels = Label::of_state(status).map(|it| it.to_string()).collect();
                }
                let (kind, name) = (&definition.name, &state.name);
                let rows = labels.into_iter();
                all.extend(
                    rows.map(|label| (kind.to_string(), name.to_string(), label, state.terminal)),
                );
            }
        }
        let is_whole = observer.store.broken_definitions().await?.is_empty();
        Ok(Self { all, is_whole })
    }

    fn has_kind(&self, machine: &str) -> Result<(), Error> {
        if !self.is_whole || self.all.iter().any(|(kind, ..)| kind == machine) {
            return Ok(());
        }
        let kinds = self.all.iter().map(|(kind, ..)| kind.clone());
        Err(none(&format!("unknown kind `{}`", shortened(machine)), kinds))
    }

    /// The names of the states that a name means: of any by its name or its label, or of those that
    /// end a machine by its name.
    fn named(
        &self,
        machine: Option<&str>,
        wanted: &str,
        ends: bool,
    ) -> Result<BTreeSet<String>, Error> {
        let is_of = |kind: &str| machine.is_none_or(|it| it == kind);
        let known = || self.all.iter().filter(|it| is_of(&it.0) && (it.3 || !ends));
        let found: BTreeSet<String> = known()
            .filter(|(_, name, label, _)| is_same(wanted, name) || !ends && is_same(wanted, label))
            .map(|(_, name, ..)| name.clone())
            .collect();
        if !found.is_empty() {
            return Ok(found);
        }
        if !self.is_whole {
            return Ok(BTreeSet::from([wanted.to_owned()]));
        }
        let wanted = shortened(wanted);
        if ends {
            let what = format!("no machine has a terminal state `{wanted}`");
            return Err(none(&what, known().map(|(_, name, ..)| name.clone())));
        }
        let of = machine.map(|kind| format!(" of `{}`", OneLine(kind))).unwrap_or_default();
        let labels = known().map(|(_, _, label, _)| label.clone());
        Err(none(&format!("unknown state `{wanted}`{of}"), labels))
    }
}

fn is_same(wanted: &str, name: &str) -> bool {
    wanted.to_lowercase() == name.to_lowercase()
}

fn none(what: &str, names: impl Iterator<Item = String>) -> Error {
    let mut names: Vec<_> = names.map(|name| format!("`{}`", OneLine(&name))).collect();
    names.sort();
    names.dedup();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    Error::unknown(match &*names {
        [] => format!("{what}; none exist"),
        names => format!("{what}; known: {}{more}", names.join(", ")),
    })
}
