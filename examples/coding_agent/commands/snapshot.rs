use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::run::Seen;
use crate::workspace::{
    folder::Folder,
    place::Place,
    refusal::Refusal,
    set::Found::{self, Nothing, Other},
};

/// Nothing in these folders is looked at, and nothing in `.git`. `.gitignore` is not read.
const GENERATED: [&str; 2] = ["node_modules", "target"];

/// All files of a folder, and the folders that cannot be read.
#[derive(Debug, Serialize, Deserialize)]
pub struct Snapshot(BTreeMap<Place, Found>);

impl Snapshot {
    pub fn of(folder: &Folder) -> Result<Self, Refusal> {
        let (mut found, mut open) = (BTreeMap::new(), folder.list(None)?);
        while let Some((path, is_folder)) = open.pop() {
            if !is_folder {
                let now = folder.look(&path).unwrap_or(Other);
                found.insert(path, now);
            } else if !GENERATED.contains(&path.split().1) {
                match folder.list(Some(&path)) {
                    Ok(list) => open.extend(list),
                    Err(_) => _ = found.insert(path, Other),
                }
            }
        }
        Ok(Self(found))
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
