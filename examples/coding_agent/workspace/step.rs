//! One change of a set, step by step. Each step reads where it is from three places, so that it can
//! be repeated after a crash: the path; the temporary file beside it, which has the other side of
//! an exchange; and the files that are kept in the store, where what was displaced ends.

use std::{
    fs::File,
    io::{
        ErrorKind::{InvalidInput, PermissionDenied},
        Write,
    },
    time::{SystemTime, UNIX_EPOCH},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, RenameFlags, openat, renameat_with, unlinkat},
    io::Errno,
};

use super::{
    attributes::keep,
    edits::{Step, Workspace},
    folder::{find, look},
    refusal::{self, At, Refusal},
    set::{
        Change, Conflict,
        Found::{self, Nothing},
        Side,
    },
    store::Record,
};

/// A change, with the folder that its path is in. The folder stays the same when somebody renames
/// it, or puts a link in its place.
pub struct Edit<'a> {
    workspace: &'a Workspace,
    pub change: Change,
    /// `None` if there is none, or a link is in its place.
    folder: Option<File>,
    /// The name of the temporary file.
    temporary: String,
    /// What the names of its kept files begin with.
    kept: String,
}

impl<'a> Edit<'a> {
    /// Opens the changes of a set.
    pub fn all(workspace: &'a Workspace, record: &Record) -> Result<Vec<Self>, Refusal> {
        let edit = |(index, change): (usize, &Change)| -> Result<Self, Refusal> {
            let (change, folder) = (change.clone(), workspace.folder.parent(&change.path)?);
            let temporary = format!("{}-{index}", record.temporary);
            let kept = format!("{}-{index}", record.number);
            Ok(Self { workspace, change, folder, temporary, kept })
        };
        record.set.changes.iter().enumerate().map(edit).collect()
    }

    fn folder(&self) -> Result<&File, Refusal> {
        let gone = || Refusal::new(&self.change.path, refusal::FOLDER_GONE);
        self.folder.as_ref().ok_or_else(gone)
    }

    /// Writes the new file beside the path.
    pub fn stage(&self, record: &Record) -> Result<(), Refusal> {
        let Some(after) = self.change.after else { return Ok(()) };
        let (path, bytes) = (&self.change.path, self.workspace.store.get(after.digest)?);
        let old = self.old(record)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let new = openat(self.folder()?, self.temporary.as_str(), flags, mode);
        let mut new = new.map(File::from).at(path)?;
        new.write_all(&bytes).at(path)?;
        match keep(old.as_ref(), &new, after.mode) {
            // Of a user that this namespace does not know, the input is invalid.
            Err(error) if [PermissionDenied, InvalidInput].contains(&error.kind()) => {
                return Err(Refusal::new(path, refusal::NOT_KEPT));
            }
            kept => kept.at(path)?,
        }
        new.sync_all().at(path)?;
        // The system drops a bit of the mode, without an error, if the user is not in the group.
        if self.look(&self.temporary)? != self.change.image(Side::After) {
            return Err(Refusal::new(path, refusal::NOT_KEPT));
        }
        self.sync(self.folder()?)?;
        self.watch(Step::Staged)
    }

    /// The file whose owner and attributes a new one keeps: the one that the undone set has
    /// displaced, the one that is moved, or the one at the path.
    fn old(&self, record: &Record) -> Result<Option<File>, Refusal> {
        let (Change { path, from, before, .. }, store) = (&self.change, &self.workspace.store);
        if let Some(undone) = record.undoes {
            let changes = store.record(undone)?.set.changes;
            let is_it = |it: &Change| it.path == *path && (before.is_none() || it.from.is_some());
            if let Some(index) = changes.iter().position(is_it) {
                return find(&store.kept, &format!("{undone}-{index}-{:?}", Side::Before));
            }
        }
        match from {
            Some(from) => find(&self.workspace.folder.root, from.as_str()),
            None => find(self.folder()?, self.name()),
        }
    }

    /// Removes the temporary file of a set of which no path was touched.
    pub fn discard(&self) -> Result<(), Refusal> {
        let Some(folder) = &self.folder else { return Ok(()) };
        match unlinkat(folder, self.temporary.as_str(), AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            removed => removed.at(&self.change.path),
        }
    }

    /// Returns `true` unless the temporary file waits for the first rename.
    pub fn is_begun(&self) -> Result<bool, Refusal> {
        Ok(self.folder.is_none()
            || self.look(&self.temporary)? != self.change.image(Side::After)
            || self.is_kept(Side::Before)?)
    }

    /// Brings the path to a side, from wherever the change is. After a conflict the path has what a
    /// person wrote.
    pub fn bring(&self, to: Side) -> Result<Option<Conflict>, Refusal> {
        let from = if to == Side::After { Side::Before } else { Side::After };
        let (old, new) = (self.change.image(from), self.change.image(to));
        if self.folder.is_none() {
            let conflict = Conflict { path: self.change.path.clone(), found: Nothing, kept: None };
            return Ok(Some(conflict).filter(|_| new != Nothing));
        }
        let mut displaced = self.look(&self.temporary)?;
        if displaced == Nothing {
            if self.is_kept(from)? {
                return Ok(None);
            }
            if new != Nothing {
                if !self.fetch(to)? {
                    // It is at its path, or the path was never touched.
                    let is_old = old != Nothing && self.look(self.name())? == old;
                    return if is_old { self.conflict() } else { Ok(None) };
                }
                displaced = self.look(&self.temporary)?;
            }
        }
        if displaced == new {
            if self.look(self.name())? != old {
                return self.conflict();
            }
            self.watch(Step::Compared)?;
            if !self.exchange(new, old)? {
                return self.conflict();
            }
            self.watch(Step::Exchanged)?;
            displaced = self.look(&self.temporary)?;
        }
        self.watch(Step::Displaced)?;
        if displaced != old {
            return self.give_back(displaced, new);
        }
        if old == Nothing {
            self.sync(self.folder()?)?;
        } else {
            self.keep(from)?;
        }
        self.watch(Step::Kept)?;
        Ok(None)
    }

    /// Gives a path what was displaced from it. What a person made there in the meantime is newer,
    /// and stays.
    fn give_back(&self, displaced: Found, new: Found) -> Result<Option<Conflict>, Refusal> {
        let is_there = displaced != Nothing;
        if is_there && (self.exchange(displaced, new)? || self.exchange(displaced, Nothing)?) {
            self.watch(Step::GivenBack)?;
            let newer = self.look(&self.temporary)?;
            if self.side(newer) == Some(Side::Person) {
                self.exchange(newer, displaced)?;
            }
        }
        self.conflict()
    }

    /// A conflict at the path. What the temporary file has goes to the store.
    fn conflict(&self) -> Result<Option<Conflict>, Refusal> {
        self.sync(self.folder()?)?;
        let side = self.side(self.look(&self.temporary)?);
        let kept = side.map(|side| self.keep(side)).transpose()?;
        let kept = kept.filter(|_| side == Some(Side::Person));
        let (path, found) = (self.change.path.clone(), self.look(self.name())?);
        Ok(Some(Conflict { path, found, kept }))
    }

    /// Exchanges the temporary file, which is `new`, with what is at the path; one of them may be
    /// nothing. Returns `false` if it is nothing there, or something is in the way.
    fn exchange(&self, new: Found, old: Found) -> Result<bool, Refusal> {
        let folder = self.folder()?;
        let (temporary, path) = ((folder, self.temporary.as_str()), (folder, self.name()));
        match (new, old) {
            (Nothing, _) => self.rename(path, temporary, RenameFlags::NOREPLACE),
            (_, Nothing) => self.rename(temporary, path, RenameFlags::NOREPLACE),
            _ => self.rename(temporary, path, RenameFlags::EXCHANGE),
        }
    }

    fn rename(
        &self,
        from: (&File, &str),
        to: (&File, &str),
        flags: RenameFlags,
    ) -> Result<bool, Refusal> {
        match renameat_with(from.0, from.1, to.0, to.1, flags) {
            Err(Errno::NOENT | Errno::EXIST) => Ok(false),
            renamed => renamed.map(|()| true).at(&self.change.path),
        }
    }

    /// Moves the temporary file to the store, and returns its name there.
    fn keep(&self, side: Side) -> Result<String, Refusal> {
        let (folder, kept) = (self.folder()?, &self.workspace.store.kept);
        // On disk in this order.
        self.sync(folder)?;
        let name = self.kept_name(side);
        let to = (kept, name.as_str());
        if !self.rename((folder, &self.temporary), to, RenameFlags::NOREPLACE)? {
            return Err(Refusal::system(&self.change.path, "its temporary file is gone"));
        }
        self.sync(kept)?;
        self.sync(folder).map(|()| name)
    }

    /// Fetches a file from the store; `false` if it is not there.
    fn fetch(&self, side: Side) -> Result<bool, Refusal> {
        let (from, to) = (self.kept_name(side), (self.folder()?, self.temporary.as_str()));
        self.rename((&self.workspace.store.kept, &from), to, RenameFlags::NOREPLACE)
    }

    fn is_kept(&self, side: Side) -> Result<bool, Refusal> {
        let found = look(&self.workspace.store.kept, &self.kept_name(side))?;
        Ok(found != Nothing)
    }

    /// A person can make more than one.
    fn kept_name(&self, side: Side) -> String {
        match side {
            Side::Person => format!("{}-{:x}", self.kept, nanoseconds()),
            side => format!("{}-{side:?}", self.kept),
        }
    }

    /// The side that a file is of; nothing is of none.
    fn side(&self, found: Found) -> Option<Side> {
        let is_of = |side: &Side| self.change.image(*side) == found;
        let side = [Side::Before, Side::After].into_iter().find(is_of);
        (found != Nothing).then_some(side.unwrap_or(Side::Person))
    }

    fn name(&self) -> &str {
        self.change.path.split().1
    }

    fn look(&self, name: &str) -> Result<Found, Refusal> {
        look(self.folder()?, name)
    }

    fn sync(&self, folder: &File) -> Result<(), Refusal> {
        folder.sync_all().at(&self.change.path)
    }

    fn watch(&self, step: Step) -> Result<(), Refusal> {
        (self.workspace.watch)(step, &self.change.path)
    }
}

/// A number that no other call returns.
pub fn nanoseconds() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}
