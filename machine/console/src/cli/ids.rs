use std::collections::{BTreeMap, BTreeSet};

use super::Error;
use machine::{
    Id,
    store::{LoadError, Store},
    text::shortened,
    view::Observer,
};

/// The ids of all machines in a file. People shorten them: any part that only one id has will do.
#[derive(Debug)]
pub(super) struct Ids(Vec<Id>);

/// The number of digits of an id.
const DIGITS: usize = 32;

/// The fewest digits of a short id.
const FEWEST: usize = 8;

/// The number of ids that an error names.
const NAMED: usize = 10;

impl Ids {
    pub(super) async fn read(store: &Store) -> Result<Self, LoadError> {
        Observer::new(store).ids().await.map(Self)
    }

    /// The machine that a person means.
    pub(super) fn find(&self, text: &str) -> Result<Id, Error> {
        let shown = shortened(text);
        if let Ok(id) = text.parse::<Id>() {
            return Ok(id);
        }
        let part: String = text.chars().filter(|it| *it != '-').collect::<String>().to_lowercase();
        if part.is_empty() || !part.chars().all(|it| it.is_ascii_hexdigit()) {
            return Err(Error::id(format!(
                "`{shown}` is not an id, nor a part of one; `list` shows the ids"
            )));
        }
        let found: Vec<Id> =
            self.0.iter().copied().filter(|id| digits(*id).contains(&part)).collect();
        match &*found {
            [id] => Ok(*id),
            [] => Err(Error::id(format!(
                "no machine in this file has `{shown}` in its id; `list` shows the ids"
            ))),
            several => {
                let named: Vec<_> = several.iter().take(NAMED).map(ToString::to_string).collect();
                let more = several.len() - named.len();
                let more = if more > 0 { format!("\nand {more} more") } else { String::new() };
                Err(Error::id(format!(
                    "`{shown}` is a part of {} ids; give more of it:\n{}{more}",
                    several.len(),
                    named.join("\n")
                )))
            }
        }
    }

    /// The machines that a person means, each once.
    pub(super) fn find_all(&self, texts: &[String]) -> Result<Vec<Id>, Error> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for text in texts {
            let id = self.find(text)?;
            if seen.insert(id) {
                found.push(id);
            }
        }
        Ok(found)
    }

    /// The shortest end of each of these ids that no other id has in it, of at least 8 digits.
    pub(super) fn short(&self, ids: impl IntoIterator<Item = Id>) -> Short {
        let mut left: BTreeSet<Id> = ids.into_iter().collect();
        let mut short = BTreeMap::new();
        for length in FEWEST..DIGITS {
            if left.is_empty() {
                break;
            }
            let ends: BTreeMap<u128, Id> = left.iter().map(|id| (end(*id, length), *id)).collect();
            let mut shared: BTreeSet<Id> = left.clone();
            // Two of them with the same end: only one is in the map.
            shared.retain(|id| !ends.values().any(|named| named == id));
            for other in &self.0 {
                for skipped in 0..=DIGITS - length {
                    let Some(id) = ends.get(&part(*other, skipped, length)) else { continue };
                    if id != other {
                        shared.insert(*id);
                    }
                }
            }
            for id in left.difference(&shared) {
                short.insert(*id, digits(*id)[DIGITS - length..].to_owned());
            }
            left = shared;
        }
        Short(short)
    }
}

/// Short forms of ids.
#[derive(Debug)]
pub(super) struct Short(BTreeMap<Id, String>);

impl Short {
    pub(super) fn of(&self, id: Id) -> String {
        self.0.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// A command with the short form of its id.
    pub(super) fn command(&self, id: Id, command: &str) -> String {
        command.replace(&id.to_string(), &self.of(id))
    }
}

fn digits(id: Id) -> String {
    id.to_string().replace('-', "")
}

fn end(id: Id, length: usize) -> u128 {
    part(id, 0, length)
}

/// So many digits, before those that are skipped at the end.
fn part(id: Id, skipped: usize, length: usize) -> u128 {
    let number = id.as_u128() >> (4 * skipped);
    number & (u128::MAX >> (4 * (DIGITS - length)))
}
