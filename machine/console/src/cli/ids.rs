//! Short forms of ids: the last 8 digits, or as many as no other id ends with.

use std::collections::{BTreeMap, BTreeSet};

use super::Error;
use machine::{
    Id,
    observe::Observer,
    operate::{self, Selection, Wanted},
    store::{LoadError, Query, Store},
    text::shortened,
};

const DIGITS: usize = 32;

/// The fewest digits of a short id: the index of a store has them.
const FEWEST: usize = 8;

const NAMED: usize = 10;

/// The machine that a person means.
pub(super) async fn find(store: &Store, text: &str) -> Result<Id, Error> {
    let shown = shortened(text);
    if let Ok(id) = text.parse::<Id>() {
        return Ok(id);
    }
    let end: String = text.chars().filter(|it| *it != '-').collect::<String>().to_lowercase();
    if end.is_empty() || !end.chars().all(|it| it.is_ascii_hexdigit()) {
        return Err(Error::id(format!(
            "`{shown}` is neither an id nor the end of one; `list` shows the ids"
        )));
    }
    if end.len() < FEWEST {
        return Err(Error::id(format!(
            "`{shown}` is too short; give the last {FEWEST} digits of the id, which `list` shows"
        )));
    }
    let found = Observer::new(store).ids_ending(&end).await?;
    match &*found {
        [id] => Ok(*id),
        [] => Err(Error::id(format!(
            "no machine in this file has an id that ends with `{shown}`; `list` shows the ids"
        ))),
        several => {
            let named: Vec<_> = several.iter().take(NAMED).map(ToString::to_string).collect();
            let more = several.len() - named.len();
            let more = if more > 0 { format!("\nand {more} more") } else { String::new() };
            Err(Error::id(format!(
                "`{shown}` matches {} ids; give more digits:\n{}{more}",
                several.len(),
                named.join("\n")
            )))
        }
    }
}

/// The session that a person means, by its name. If that is an id, as of the calls of a machine
/// without a session, the end of it will do.
pub(super) async fn session(store: &Store, text: &str) -> Result<String, Error> {
    let observer = Observer::new(store);
    let Err(unknown) = select(&observer, text).await else { return Ok(text.to_owned()) };
    if let Ok(id) = find(store, text).await {
        let id = id.to_string();
        if select(&observer, &id).await.is_ok() {
            return Ok(id);
        }
    }
    Err(unknown.into())
}

async fn select(observer: &Observer, session: &str) -> Result<Selection, operate::Error> {
    let wanted = Wanted { session: Some(session), ..Wanted::default() };
    wanted.select(observer, Query::new()).await
}

pub(super) async fn find_all(store: &Store, texts: &[String]) -> Result<Vec<Id>, Error> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for text in texts {
        let id = find(store, text).await?;
        if seen.insert(id) {
            found.push(id);
        }
    }
    Ok(found)
}

/// The shortest end of each of these ids that no other id has, of at least 8 digits.
pub(super) async fn short(
    store: &Store,
    ids: impl IntoIterator<Item = Id>,
) -> Result<Short, LoadError> {
    let observer = Observer::new(store);
    let mut short = BTreeMap::new();
    for id in ids.into_iter().collect::<BTreeSet<Id>>() {
        let own = digits(id);
        let others = observer.ids_ending(&own[DIGITS - FEWEST..]).await?;
        let others: Vec<_> = others.into_iter().filter(|other| *other != id).map(digits).collect();
        let is_alone =
            |length: &usize| !others.iter().any(|other| other.ends_with(&own[DIGITS - length..]));
        if let Some(length) = (FEWEST..DIGITS).find(is_alone) {
            short.insert(id, own[DIGITS - length..].to_owned());
        }
    }
    Ok(Short(short))
}

#[derive(Debug)]
pub(super) struct Short(BTreeMap<Id, String>);

impl Short {
    pub(super) fn of(&self, id: Id) -> String {
        self.0.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    pub(super) fn command(&self, id: Id, command: &str) -> String {
        command.replace(&id.to_string(), &self.of(id))
    }
}

fn digits(id: Id) -> String {
    id.to_string().replace('-', "")
}
