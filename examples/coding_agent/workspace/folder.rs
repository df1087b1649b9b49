use std::{
    collections::VecDeque,
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

/// What is in a folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its path, with a name that cannot be shown escaped.
    pub shown: Place,
    real: PathBuf,
    is_folder: bool,
}

/// The files that were found, and what no tool reads: folders that cannot be listed, and files
/// whose names cannot be shown.
pub type Walk = (Vec<Place>, Vec<(Entry, Refusal)>);

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

    /// Tells what is at a path.
    pub fn look(&self, place: &Place) -> Result<Found, Refusal> {
        look(&self.root, place.as_str())
    }

    pub fn look_at(&self, entry: &Entry) -> Result<Found, Refusal> {
        look(&self.root, &entry.real)
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

    /// Lists what is in a folder.
    fn list(&self, folder: Option<&Entry>) -> Result<Vec<Entry>, Refusal> {
        let at = folder.map_or(".", |folder| folder.shown.as_str());
        let real = folder.map_or(Path::new("."), |folder| folder.real.as_path());
        let entries = open(&self.root, real, OFlags::DIRECTORY).and_then(Dir::new);
        let mut list = Vec::new();
        for entry in entries.map_err(|error| refused(at, error))? {
            let entry = entry.at(at)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let real = folder.map_or_else(|| PathBuf::from(name), |folder| folder.real.join(name));
            let name = match name.to_str() {
                Some(name) if !name.contains(char::is_control) => name.to_owned(),
                _ => name.as_bytes().escape_ascii().to_string(),
            };
            let path = if folder.is_some() { format!("{at}/{name}") } else { name };
            // Others, such as `.git`, are not for the agent.
            if let Ok(shown) = path.parse::<Place>() {
                let is_folder = entry.file_type() == FileType::Directory;
                list.push(Entry { shown, real, is_folder });
            }
        }
        list.sort();
        Ok(list)
    }

    /// All files beneath a folder, those near the top first, and what no tool reads; without what
    /// is generated.
    pub fn files(&self, under: Option<&Place>) -> Result<Walk, Refusal> {
        let (mut files, mut unread) = (Vec::new(), Vec::new());
        let entry = |place: &Place| {
            let (shown, real) = (place.clone(), place.as_str().into());
            Entry { shown, real, is_folder: true }
        };
        let mut open = VecDeque::from(self.list(under.map(entry).as_ref())?);
        while let Some(entry) = open.pop_front() {
            if entry.is_folder {
                if !GENERATED.contains(&entry.shown.split().1) {
                    match self.list(Some(&entry)) {
                        Ok(list) => open.extend(list),
                        Err(refusal) => unread.push((entry, refusal)),
                    }
                }
            } else if entry.real.to_str() == Some(entry.shown.as_str()) {
                files.push(entry.shown);
            } else {
                let refusal = Refusal::new(&entry.shown, refusal::NOT_SHOWN);
                unread.push((entry, refusal));
            }
        }
        Ok((files, unread))
    }

    /// Makes a folder, unless it is there.
    pub fn make(&self, place: &Place) -> Result<(), Refusal> {
        let parent = self.parent(place)?;
        let parent = parent.ok_or_else(|| Refusal::new(place, refusal::FOLDER_GONE))?;
        match mkdirat(&parent, place.split().1, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => parent.sync_all().at(place),
            Err(error) => Err(error).at(place),
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
