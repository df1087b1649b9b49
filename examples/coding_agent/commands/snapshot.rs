use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::run::Seen;
use crate::workspace::{
    folder::Folder,
    place::Place,
    refusal::Refusal,
    set::Found::{self, Nothing, Other},
};

/// All files of a folder, also those whose names cannot be shown, and the folders that cannot be
/// read, without what is generated.
#[derive(Debug, Serialize, Deserialize)]
pub struct Snapshot(BTreeMap<Place, Found>);

impl Snapshot {
    pub fn of(folder: &Folder) -> Result<Self, Refusal> {
        let (files, unread) = folder.files(None)?;
        let found = files.into_iter().map(|path| {
            let now = folder.look(&path).unwrap_or(Other);
            (path, now)
        });
        let others = unread.into_iter().map(|(entry, _)| {
            let now = folder.look_at(&entry).unwrap_or(Other);
            (entry.shown, now)
        });
        Ok(Self(found.chain(others).collect()))
    }

    /// The changes from this one to a later one. What is in a folder that could not be read is not
    /// known.
    pub fn changes(&self, later: &Self) -> Vec<Seen> {
        let maps = [&self.0, &later.0];
        let is_known = |path: &Place| {
            !path.ancestors().any(|folder| maps.iter().any(|map| map.contains_key(&folder)))
        };
        let paths: BTreeSet<&Place> = maps.into_iter().flat_map(BTreeMap::keys).collect();
        let seen = paths.into_iter().filter(|path| is_known(path)).map(|path| {
            let [before, after] = maps.map(|map| map.get(path).copied().unwrap_or(Nothing));
            Seen { path: path.clone(), before, after }
        });
        seen.filter(|seen| seen.before != seen.after).collect()
    }
}
