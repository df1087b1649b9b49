use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    folder::{Folder, lock, look},
    place::Place,
    refusal::{
        self, At,
        Code::{E_IO, E_POLICY_DENIED},
        Refusal,
    },
    set::{Change, Conflict, Digest, EditSet, Ending, Found},
};

/// The folder of the records of the sets.
const SETS: &str = "sets";

/// The folder of the answers of a model.
pub const ANSWERS: &str = "model";

/// The name of a file that is being written.
const NEW: &str = ".coding-agent-new";

const FOREIGN: &str = "it has files that were not made here by this program, as those that come \
                       with a repository: move it away, or pass another `--store`";

const DAMAGED: &str = "this record is damaged: put a copy of it here; or move the store away, with \
                       its jobs and all that `undo` takes back";

/// What has to survive a crash, in a folder beside that of the agent: the contents by digest, the
/// records of the sets and of the commands, and the files that were at a path. It is on the same
/// filesystem, so that a file is moved here as it is: what is written to it later, through a
/// descriptor that was opened before, is here as well.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    /// The folder of what was at a path. It is locked while this lives.
    pub kept: File,
}

/// The progress of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Temporary files may be there, also incomplete ones. No path was touched.
    Planned,
    /// All temporary files were complete when this was written. Paths may have been touched.
    Intended,
    /// There was a conflict, or the system refused a path: what was written is taken back.
    Reverting,
    Ended(Ending),
}

/// A set, on disk before the first file is touched.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    pub number: usize,
    pub set: EditSet,
    /// The number of the set that this one undoes.
    pub undoes: Option<usize>,
    /// The folders that it makes, from the top.
    pub folders: Vec<Place>,
    /// What the names of its temporary files begin with.
    pub temporary: String,
    pub phase: Phase,
    pub conflicts: Vec<Conflict>,
}

impl Store {
    /// Opens the store of a folder; makes it if it is not there.
    pub fn open(path: &Path, folder: &Folder) -> Result<Self, Refusal> {
        let path = absolute(path).at(path.display())?;
        let at = path.display();
        if path.starts_with(&folder.path) || folder.path.starts_with(&path) {
            let why = "it is not apart from the folder: pass another `--store`";
            return Err(Refusal::new(at, (E_POLICY_DENIED, why)));
        }
        let make = |path: &Path| DirBuilder::new().recursive(true).mode(0o700).create(path);
        make(&path).at(&at)?;
        // Files are not moved from one mount to another, even of the same filesystem.
        let mount = |path: &Path| {
            let about = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID)?;
            io::Result::Ok((about.stx_dev_major, about.stx_dev_minor, about.stx_mnt_id))
        };
        if mount(&path).at(&at)? != mount(&folder.path).at(&at)? {
            let why = "the store is on another mount: pass a `--store` on the mount of the folder";
            return Err(Refusal::new(at, (E_POLICY_DENIED, why)));
        }
        claim(&path, &folder.path)?;
        for part in ["blobs", "commands", "kept", ANSWERS, SETS] {
            make(&path.join(part)).at(&at)?;
        }
        let kept = File::open(path.join("kept")).at(&at)?;
        lock(&kept, &path)?;
        let store = Self { path, kept };
        // It can be in the repository of another folder.
        if !store.path.join(".gitignore").exists() {
            store.write(".gitignore", b"*\n")?;
        }
        Ok(store)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
        write_file(&self.path.join(name), &self.path.join(NEW), bytes)
    }

    fn blob(&self, digest: Digest) -> PathBuf {
        self.path.join(format!("blobs/{digest}"))
    }

    pub fn put(&self, bytes: &[u8]) -> Result<Digest, Refusal> {
        let digest = Digest::of(bytes);
        if !self.blob(digest).exists() {
            self.write(&format!("blobs/{digest}"), bytes)?;
        }
        Ok(digest)
    }

    pub fn get(&self, digest: Digest) -> Result<Vec<u8>, Refusal> {
        let bytes = fs::read(self.blob(digest)).ok().filter(|bytes| Digest::of(bytes) == digest);
        bytes.ok_or_else(|| Refusal::new(digest, refusal::NOT_STORED))
    }

    pub fn save(&self, record: &Record) -> Result<(), Refusal> {
        self.save_in(SETS, record.number, record)
    }

    pub fn record(&self, number: usize) -> Result<Record, Refusal> {
        self.load_from(SETS, number)
    }

    /// The numbers of all sets, the newest first.
    pub fn numbers(&self) -> Result<Vec<usize>, Refusal> {
        self.numbers_in(SETS)
    }

    pub fn save_in(
        &self,
        part: &str,
        number: usize,
        record: &impl Serialize,
    ) -> Result<(), Refusal> {
        let json = serde_json::to_vec_pretty(record).at("the record")?;
        self.write(&format!("{part}/{number}"), &json)
    }

    pub fn load_from<T: DeserializeOwned>(&self, part: &str, number: usize) -> Result<T, Refusal> {
        let path = self.path.join(format!("{part}/{number}"));
        let json = fs::read(&path).at(path.display())?;
        serde_json::from_slice(&json)
            .map_err(|error| Refusal::new(path.display(), (E_IO, format!("{error}; {DAMAGED}"))))
    }

    /// The numbers of the records in a folder of the store, the newest first.
    pub fn numbers_in(&self, part: &str) -> Result<Vec<usize>, Refusal> {
        let names = self.names(part)?;
        let mut numbers: Vec<usize> = names.iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        numbers.reverse();
        Ok(numbers)
    }

    fn names(&self, part: &str) -> Result<Vec<String>, Refusal> {
        let entries = fs::read_dir(self.path.join(part)).at(part)?;
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        entries.map(|entry| entry.map(name)).collect::<io::Result<Vec<_>>>().at(part)
    }

    /// The kept files that have a person's bytes: what was displaced and could not be put back, and
    /// what was written later through a descriptor that was opened before.
    pub fn displaced(&self) -> Result<Vec<Conflict>, Refusal> {
        let mut conflicts = Vec::new();
        for name in self.names("kept")? {
            let parts: Vec<usize> = name.split('-').map_while(|part| part.parse().ok()).collect();
            let [number, index, ..] = parts[..] else { continue };
            let (record, found) = (self.record(number)?, look(&self.kept, &name)?);
            let Some(Change { path, before, after, .. }) = record.set.changes.get(index) else {
                continue;
            };
            let ours = [before, after].map(|image| image.map(|image| image.digest));
            if !matches!(found, Found::File(image) if ours.contains(&Some(image.digest))) {
                conflicts.push(Conflict { path: path.clone(), found, kept: Some(name) });
            }
        }
        Ok(conflicts)
    }
}

/// Makes an empty folder the store of a folder of an agent, or checks that it is. What is in a
/// store is trusted, also the consents of people: the number that the system gave to the folder of
/// the store tells it from one that somebody else has made and sent along.
fn claim(store: &Path, folder: &Path) -> Result<(), Refusal> {
    let (at, name) = (store.display(), store.join("folder"));
    // Escaped, so that no other path has this text.
    let folder = folder.as_os_str().as_encoded_bytes().escape_ascii().to_string();
    let owner = format!("{folder}\n{}", fs::metadata(store).at(&at)?.ino());
    if !name.exists() {
        let mut entries = fs::read_dir(store).at(&at)?;
        if entries.any(|entry| entry.map_or(true, |entry| entry.file_name() != NEW)) {
            return Err(Refusal::new(at, (E_POLICY_DENIED, FOREIGN)));
        }
        write_file(&name, &store.join(NEW), owner.as_bytes())?;
    }
    let stored = fs::read_to_string(name).at(&at)?;
    if stored == owner {
        return Ok(());
    }
    let why = match stored.rsplit_once('\n') {
        Some((other, _)) if other != folder => {
            format!("it is the store of {other}: use that path, or another `--store`")
        }
        _ => FOREIGN.to_owned(),
    };
    Err(Refusal::new(at, (E_POLICY_DENIED, why)))
}

/// Writes a file, by way of a new one, so that a crash leaves the old one or the new one.
pub fn write_file(path: &Path, new: &Path, bytes: &[u8]) -> Result<(), Refusal> {
    let write = || -> io::Result<()> {
        // One that a crash has left, or a link.
        let _ = fs::remove_file(new);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(new, path)?;
        File::open(path.parent().unwrap_or(path))?.sync_all()
    };
    write().at(path.display())
}

/// The path of a file that may not be there yet.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().or_else(|_| {
        let path = std::path::absolute(path)?;
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => Ok(parent.canonicalize()?.join(name)),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    })
}
