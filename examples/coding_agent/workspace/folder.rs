use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ffi::OsStr,
    fs::{File, TryLockError},
    io::Read,
    os::{
        fd::AsRawFd,
        unix::{ffi::OsStrExt, fs::MetadataExt},
    },
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, mkdirat, openat2, unlinkat},
    io::Errno,
    path::Arg,
};

use super::{
    place::Place,
    refusal::{self, At, Code, Refusal},
    set::{Digest, Found, Image},
};

/// The most bytes of a file that the tools read.
const MOST_BYTES: u64 = 4 << 20;

/// Folders of these names have what programs generate. `.gitignore` is not read.
const GENERATED: [&str; 2] = ["node_modules", "target"];

/// The permissions that an [`Image`] has.
const PERMISSIONS: u32 = 0o7777;

/// The folder of the agent, opened once: whatever happens to its path later, paths are resolved
/// beneath what was opened. It is locked while this lives.
#[derive(Debug)]
pub struct Folder {
    pub(super) root: File,
    pub path: PathBuf,
}

/// A file as it was read.
#[derive(Debug, Clone)]
pub struct Contents {
    /// Where it was.
    pub path: Place,
    pub bytes: Vec<u8>,
    pub mode: u32,
    /// The number of its hard links.
    pub names: u64,
}

/// What no tool reads: a folder that cannot be listed, or a file whose name cannot be shown. Its
/// path, escaped and as it is, and why.
pub type Unread = (Place, PathBuf, Refusal);

/// All files of a folder, also those whose names cannot be shown, and the folders that cannot be
/// read, without what is generated.
pub type Snapshot = BTreeMap<Place, Found>;

impl Folder {
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        let path = path.canonicalize().at(path.display())?;
        if !path.is_dir() {
            return Err(Refusal::new(path.display(), refusal::NO_FOLDER));
        }
        if path.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
            return Err(Refusal::new(path.display(), refusal::OF_GIT));
        }
        let root = File::open(&path).at(path.display())?;
        lock(&root, &path)?;
        Ok(Self { root, path })
    }

    /// Its path for a process that this one starts: what was opened, also if it was renamed.
    pub fn here(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.root.as_raw_fd()).into()
    }

    /// Opens the folder that a path is in; `None` if it is gone, or a link is on the way.
    pub fn parent(&self, place: &Place) -> Result<Option<File>, Refusal> {
        match open(&self.root, place.split().0, OFlags::DIRECTORY) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) => unopened(error).map(|_| None).at(place),
        }
    }

    pub fn look(&self, place: &Place) -> Result<Found, Refusal> {
        look(&self.root, place.as_str())
    }

    /// Reads a regular file; `None` if nothing is there.
    pub fn read(&self, place: &Place) -> Result<Option<Contents>, Refusal> {
        let Some(file) = find(&self.root, place.as_str())? else { return Ok(None) };
        let about = file.metadata().at(place)?;
        if !about.is_file() {
            return Err(Refusal::new(place, refusal::NO_FILE));
        }
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).at(place)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(Refusal::new(place, (Code::E_INVALID_ARGS, "it is larger than 4 MiB")));
        }
        let (path, mode) = (place.clone(), about.mode() & PERMISSIONS);
        Ok(Some(Contents { path, bytes, mode, names: about.nlink() }))
    }

    /// Lists a folder: the path of each entry as shown, its real path, and whether it is a folder.
    fn list(&self, folder: &Path) -> Result<Vec<(Place, PathBuf, bool)>, Refusal> {
        let at = shown(folder);
        let entries = open(&self.root, folder, OFlags::DIRECTORY).and_then(Dir::new);
        let mut list = Vec::new();
        for entry in entries.map_err(|error| refused(&at, error))? {
            let entry = entry.at(&at)?;
            let path = folder.join(OsStr::from_bytes(entry.file_name().to_bytes()));
            let path = path.strip_prefix(".").unwrap_or(&path);
            // Others, such as `.git`, are not for the agent.
            if let Ok(shown) = shown(path).parse::<Place>() {
                list.push((shown, path.to_owned(), entry.file_type() == FileType::Directory));
            }
        }
        list.sort();
        Ok(list)
    }

    /// All files beneath a folder, those near the top first, and what no tool reads; without what
    /// is generated.
    pub fn files(&self, under: Option<&Place>) -> Result<(Vec<Place>, Vec<Unread>), Refusal> {
        let (mut files, mut unread) = (Vec::new(), Vec::new());
        let top = Path::new(under.map_or(".", Place::as_str));
        let mut open = VecDeque::from(self.list(top)?);
        while let Some((shown, real, is_folder)) = open.pop_front() {
            if is_folder && GENERATED.contains(&shown.split().1) {
                continue;
            }
            let read = if is_folder {
                self.list(&real).map(|list| open.extend(list))
            } else if real.to_str() == Some(shown.as_str()) {
                files.push(shown.clone());
                Ok(())
            } else {
                Err(Refusal::new(&shown, refusal::NOT_SHOWN))
            };
            if let Err(why) = read {
                unread.push((shown, real, why));
            }
        }
        Ok((files, unread))
    }

    pub fn snapshot(&self) -> Result<Snapshot, Refusal> {
        let (files, unread) = self.files(None)?;
        let mut snapshot = Snapshot::new();
        for path in files {
            snapshot.insert(path.clone(), self.look(&path).unwrap_or(Found::Other));
        }
        for (shown, real, _) in unread {
            snapshot.insert(shown, look(&self.root, &real).unwrap_or(Found::Other));
        }
        Ok(snapshot)
    }

    /// Makes a folder, unless it is there.
    pub fn make(&self, place: &Place) -> Result<(), Refusal> {
        let parent = self.parent(place)?;
        let parent = parent.ok_or_else(|| Refusal::new(place, refusal::FOLDER_GONE))?;
        match mkdirat(&parent, place.split().1, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => parent.sync_all().at(place),
            failed => failed.at(place),
        }
    }

    /// Removes those of these folders that are empty. Others stay, whatever the reason.
    pub fn remove(&self, places: &[Place]) {
        for place in places.iter().rev() {
            if let Ok(Some(parent)) = self.parent(place) {
                let _ = unlinkat(&parent, place.split().1, AtFlags::REMOVEDIR);
            }
        }
    }
}

/// The paths that changed from one snapshot to another. What is in a folder that could not be read
/// is not known.
pub fn changed(maps: [&Snapshot; 2]) -> Vec<Place> {
    let is_known = |path: &Place| {
        !path.ancestors().any(|folder| maps.iter().any(|map| map.contains_key(&folder)))
    };
    let differs = |path: &Place| {
        let [before, after] = maps.map(|map| map.get(path).copied().unwrap_or(Found::Nothing));
        before != after
    };
    let paths: BTreeSet<&Place> = maps.into_iter().flat_map(BTreeMap::keys).collect();
    paths.into_iter().filter(|path| differs(path) && is_known(path)).cloned().collect()
}

/// Locks what an agent works on; the lock ends with its process. A child process shares it until it
/// begins its program, so this tries for a second.
pub fn lock(file: &File, path: &Path) -> Result<(), Refusal> {
    for _ in 0..100 {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::Error(error)) => return Err(Refusal::system(path.display(), error)),
        }
    }
    Err(Refusal::new(path.display(), refusal::BUSY))
}

/// A path, escaped if it cannot be shown.
fn shown(path: &Path) -> String {
    match path.to_str() {
        Some(path) if !path.contains(char::is_control) => path.to_owned(),
        _ => path.as_os_str().as_bytes().escape_ascii().to_string(),
    }
}

/// Tells what is at a path in a folder.
pub fn look(folder: &File, path: &(impl AsRef<Path> + ?Sized)) -> Result<Found, Refusal> {
    let path = path.as_ref();
    let file = match open(folder, path, OFlags::NONBLOCK) {
        Ok(file) => file,
        Err(error) => return unopened(error).at(path.display()),
    };
    let about = file.metadata().at(path.display())?;
    if !about.is_file() {
        return Ok(Found::Other);
    }
    let digest = Digest::of_reader(&file).at(path.display())?;
    Ok(Found::File(Image { digest, mode: about.mode() & PERMISSIONS }))
}

/// Opens what is at a path in a folder; `None` if nothing is there.
pub fn find(folder: &File, path: &str) -> Result<Option<File>, Refusal> {
    match open(folder, path, OFlags::NONBLOCK) {
        Ok(file) => Ok(Some(file)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(refused(path, error)),
    }
}

/// Follows no link, in no part of the path.
fn open(folder: &File, path: impl Arg, flags: OFlags) -> Result<File, Errno> {
    let flags = flags | OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    openat2(folder, path, flags, Mode::empty(), resolve).map(File::from)
}

/// What is at a path that cannot be opened.
fn unopened(error: Errno) -> Result<Found, Errno> {
    match error {
        Errno::NOENT => Ok(Found::Nothing),
        Errno::LOOP | Errno::XDEV | Errno::NXIO | Errno::ACCESS | Errno::NOTDIR => Ok(Found::Other),
        error => Err(error),
    }
}

fn refused(at: &str, error: Errno) -> Refusal {
    match error {
        Errno::LOOP => Refusal::new(at, (Code::E_POLICY_DENIED, "a symbolic link is on the way")),
        Errno::XDEV => Refusal::new(at, (Code::E_POLICY_DENIED, "it is outside of the folder")),
        Errno::NOTDIR => Refusal::new(at, refusal::NO_FOLDER),
        Errno::NXIO => Refusal::new(at, refusal::NO_FILE),
        error => Refusal::system(at, error),
    }
}
