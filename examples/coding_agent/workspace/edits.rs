use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    slice,
};

use super::{
    folder::Folder,
    place::{Place, TEMPORARY},
    refusal::{self, Refusal},
    set::{Change, Conflict, Digest, EditSet, Ending, Found, Image, Report, Side},
    step::{Edit, nanoseconds},
    store::{Phase, Record, Store},
};

/// A person is asked about a file with more lines than this.
const FEW_LINES: usize = 20;

/// What has just been done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Planned,
    /// The temporary file is complete.
    Staged,
    Intended,
    /// The path has what it must have.
    Compared,
    /// The path was written.
    Exchanged,
    /// What was displaced was read.
    Displaced,
    Kept,
    GivenBack,
}

/// Called after each step. An error is treated like one of the system.
pub type Watch = Box<dyn Fn(Step, &Place) -> Result<(), Refusal> + Send + Sync>;

/// The folder of an agent, with the store of what it did there. One at a time.
pub struct Workspace {
    pub folder: Folder,
    pub store: Store,
    pub(super) watch: Watch,
}

impl Workspace {
    /// Opens a folder. A set whose process died is finished: forward if a path was written and the
    /// system lets it go on, and otherwise back.
    pub fn open(folder: &Path, store: &Path, watch: Watch) -> Result<Self, Refusal> {
        let folder = Folder::open(folder)?;
        let store = Store::open(store, &folder)?;
        let workspace = Self { folder, store, watch };
        workspace.recover()?;
        Ok(workspace)
    }

    /// Makes all changes of a set, or none. One that removes most of a file needs the digest of the
    /// set from a person.
    pub fn apply(&self, set: &EditSet, confirmed: Option<Digest>) -> Result<Report, Refusal> {
        if confirmed != Some(Digest::of_call(set)?) {
            self.keeps_most(slice::from_ref(set))?;
        }
        self.run(set.clone(), None)
    }

    /// Refuses sets that remove most of a file, or all of it: by all sets together, as each may
    /// remove a little. A file that is moved is compared with what is at its new path.
    pub fn keeps_most(&self, sets: &[EditSet]) -> Result<(), Refusal> {
        // The files as they were, each with its path now, and what is at each path now.
        let mut files: Vec<(&Place, Image)> = Vec::new();
        let mut now: BTreeMap<&Place, Option<Image>> = BTreeMap::new();
        for EditSet { changes } in sets {
            let new = changes.iter().filter(|it| !now.contains_key(&it.path));
            files.extend(new.filter_map(|it| Some((&it.path, it.before?))));
            for (path, _) in &mut files {
                let moved = changes.iter().find(|it| it.from.as_ref() == Some(*path));
                *path = moved.map_or(*path, |it| &it.path);
            }
            now.extend(changes.iter().map(|it| (&it.path, it.after)));
        }
        for (path, old) in files {
            let new = now.get(path).copied().flatten();
            let new = new.map_or_else(|| Ok(Vec::new()), |new| self.store.get(new.digest))?;
            if removes_most(&self.store.get(old.digest)?, &new) {
                return Err(Refusal::new(path, refusal::REMOVES_MOST));
            }
        }
        Ok(())
    }

    /// Undoes the newest set that is not undone: those of its paths that are as it wrote them. The
    /// others are conflicts of the report.
    pub fn undo(&self) -> Result<Report, Refusal> {
        self.recover()?;
        let newest = self.undoable()?;
        let (number, set) = newest.ok_or_else(|| Refusal::new("undo", refusal::NOTHING_TO_UNDO))?;
        let (mut changes, mut conflicts) = (Vec::new(), Vec::new());
        for Change { path, before, after, .. } in set.changes.into_iter().rev() {
            let found = self.folder.look(&path)?;
            if found == Found::from(after) {
                changes.push(Change { path, from: None, before: after, after: before });
            } else {
                conflicts.push(Conflict { path, found, kept: None });
            }
        }
        if let (true, Some(first)) = (changes.is_empty(), conflicts.first()) {
            return Err(Refusal::new(&first.path, refusal::CHANGED));
        }
        let mut report = self.run(EditSet { changes }, Some(number))?;
        report.conflicts.extend(conflicts);
        Ok(report)
    }

    /// The newest set that is not undone.
    pub fn undoable(&self) -> Result<Option<(usize, EditSet)>, Refusal> {
        let undone = self.undone()?;
        for number in self.store.numbers()?.into_iter().filter(|number| !undone.contains(number)) {
            let Record { phase, undoes, set, .. } = self.store.record(number)?;
            if phase == Phase::Ended(Ending::Applied) && undoes.is_none() {
                return Ok(Some((number, set)));
            }
        }
        Ok(None)
    }

    /// The sets that are undone.
    pub fn undone(&self) -> Result<BTreeSet<usize>, Refusal> {
        let mut undone = BTreeSet::new();
        for number in self.store.numbers()? {
            let Record { phase, undoes, .. } = self.store.record(number)?;
            undone.extend(undoes.filter(|_| phase == Phase::Ended(Ending::Applied)));
        }
        Ok(undone)
    }

    fn run(&self, set: EditSet, undoes: Option<usize>) -> Result<Report, Refusal> {
        // One that an error of the system has left.
        self.recover()?;
        let mut folders = BTreeSet::new();
        for Change { path, before, .. } in &set.changes {
            if self.folder.look(path)? != Found::from(*before) {
                return Err(Refusal::new(path, refusal::STALE));
            }
            for folder in path.ancestors() {
                if self.folder.look(&folder)? == Found::Nothing {
                    folders.insert(folder);
                }
            }
        }
        let number = self.store.numbers()?.first().map_or(1, |newest| newest + 1);
        let (phase, folders) = (Phase::Planned, folders.into_iter().collect());
        let (temporary, conflicts) = (format!("{TEMPORARY}{:x}", nanoseconds()), Vec::new());
        let record = Record { number, set, undoes, folders, temporary, phase, conflicts };
        self.store.save(&record)?;
        self.begin(record).or_else(|refusal| match self.recover()? {
            Some(report) if report.ending != Ending::NotApplied => Ok(report),
            _ => Err(refusal),
        })
    }

    /// Writes the temporary files, and makes the set.
    fn begin(&self, mut record: Record) -> Result<Report, Refusal> {
        self.watch_all(Step::Planned, &record)?;
        record.folders.iter().try_for_each(|folder| self.folder.make(folder))?;
        let edits = Edit::all(self, &record)?;
        edits.iter().try_for_each(|edit| edit.stage(&record))?;
        record.phase = Phase::Intended;
        self.store.save(&record)?;
        self.go_on(&mut record, &edits)?;
        self.finish(record, &edits)
    }

    /// Finishes the newest set, from wherever it is.
    pub fn recover(&self) -> Result<Option<Report>, Refusal> {
        let Some(newest) = self.store.numbers()?.first().copied() else { return Ok(None) };
        let mut record = self.store.record(newest)?;
        if matches!(record.phase, Phase::Ended(_)) {
            return Ok(None);
        }
        let edits = Edit::all(self, &record)?;
        if record.phase == Phase::Intended {
            let is_begun = edits.iter().map(Edit::is_begun).collect::<Result<Vec<_>, _>>()?;
            if !is_begun.contains(&true) || self.go_on(&mut record, &edits).is_err() {
                record.phase = Phase::Reverting;
            }
        }
        self.finish(record, &edits).map(Some)
    }

    /// Brings all paths to their new side, until there is a conflict.
    fn go_on(&self, record: &mut Record, edits: &[Edit<'_>]) -> Result<(), Refusal> {
        self.watch_all(Step::Intended, record)?;
        let mut steps = edits.iter().map(|edit| edit.bring(Side::After));
        if let Some(conflict) = steps.find_map(Result::transpose).transpose()? {
            record.conflicts.push(conflict);
            record.phase = Phase::Reverting;
            self.store.save(record)?;
        }
        Ok(())
    }

    /// Ends a set: one that is made, of which it reads whether all is there, and otherwise one that
    /// goes back from wherever it is.
    fn finish(&self, mut record: Record, edits: &[Edit<'_>]) -> Result<Report, Refusal> {
        let (phase, known) = (record.phase, record.conflicts.len());
        if phase == Phase::Planned {
            edits.iter().try_for_each(Edit::discard)?;
        }
        if let (Phase::Intended, Some(undone)) = (phase, record.undoes) {
            self.folder.remove(&self.store.record(undone)?.folders);
        }
        for edit in edits.iter().rev() {
            let side = if phase == Phase::Intended { Side::After } else { Side::Before };
            let (path, image) = (&edit.change.path, edit.change.image(side));
            let conflict = match phase {
                Phase::Reverting => edit.bring(side)?,
                Phase::Intended => {
                    let found = self.folder.look(path)?;
                    Some(Conflict { path: path.clone(), found, kept: None })
                }
                Phase::Planned | Phase::Ended(_) => None,
            };
            let is_doubt = |it: &Conflict| it.found != image || it.kept.is_some();
            record.conflicts.extend(conflict.filter(is_doubt));
        }
        let ending = match phase {
            _ if record.conflicts.len() > known => Ending::InDoubt,
            Phase::Intended => Ending::Applied,
            _ => Ending::NotApplied,
        };
        self.folder.remove(&record.folders);
        record.phase = Phase::Ended(ending);
        self.store.save(&record)?;
        Ok(Report { number: record.number, ending, conflicts: record.conflicts })
    }

    fn watch_all(&self, step: Step, record: &Record) -> Result<(), Refusal> {
        record.set.changes.iter().try_for_each(|change| (self.watch)(step, &change.path))
    }
}

/// Returns `true` if a file loses most of its lines, or of its bytes.
fn removes_most(before: &[u8], after: &[u8]) -> bool {
    let is_end = |byte: &u8| *byte == b'\n';
    let left: BTreeSet<&[u8]> = after.split(is_end).collect();
    let lines = before.split(is_end).count();
    let gone = before.split(is_end).filter(|line| !left.contains(line)).count();
    lines > FEW_LINES && (gone * 2 > lines || after.len() * 2 < before.len())
}
