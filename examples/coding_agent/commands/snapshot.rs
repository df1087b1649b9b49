use std::collections::{BTreeMap, BTreeSet};

use crate::workspace::{
    folder::Folder,
    place::Place,
    refusal::Refusal,
    set::Found::{self, Nothing, Other},
};

/// All files of a folder, also those whose names cannot be shown, and the folders that cannot be
/// read, without what is generated.
pub type Snapshot = BTreeMap<Place, Found>;

pub fn take(folder: &Folder) -> Result<Snapshot, Refusal> {
    let (files, unread) = folder.files(None)?;
    let mut snapshot = Snapshot::new();
    for path in files {
        snapshot.insert(path.clone(), folder.look(&path).unwrap_or(Other));
    }
    for it in unread {
        snapshot.insert(it.shown, folder.look_at(&it.real).unwrap_or(Other));
    }
    Ok(snapshot)
}

/// The paths that changed from one to another. What is in a folder that could not be read is not
/// known.
pub fn changed(maps: [&Snapshot; 2]) -> Vec<Place> {
    let is_known = |path: &Place| {
        !path.ancestors().any(|folder| maps.iter().any(|map| map.contains_key(&folder)))
    };
    let paths: BTreeSet<&Place> = maps.into_iter().flat_map(BTreeMap::keys).collect();
    let differs = |path: &Place| {
        let [before, after] = maps.map(|map| map.get(path).copied().unwrap_or(Nothing));
        before != after
    };
    paths.into_iter().filter(|path| differs(path) && is_known(path)).cloned().collect()
}
