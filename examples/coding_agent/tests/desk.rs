use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use tempfile::TempDir;

use crate::workspace::{
    edits::{Step, Watch, Workspace},
    place::{Place, TEMPORARY},
    refusal::Refusal,
    set::Digest,
    tools::Request,
};

pub const FILES: [(&str, &str); 4] =
    [("a", "one\n"), ("b", "two\n"), ("c", "three\n"), ("sub/d", "four\n")];

/// What a process is killed with: nothing of the program runs after it, but that its locks end.
pub struct Killed;

/// A folder and its store.
pub struct Desk(TempDir);

impl Desk {
    /// In memory if possible: an edit waits for the disk many times.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
        Self::at(root.unwrap(), files)
    }

    /// Where programs can be started, which some systems forbid in memory.
    pub fn on_disk(files: &[(&str, &str)]) -> Self {
        Self::at(TempDir::new().unwrap(), files)
    }

    fn at(root: TempDir, files: &[(&str, &str)]) -> Self {
        let desk = Self(root);
        fs::create_dir_all(desk.path(".git/hooks")).unwrap();
        for (name, text) in files {
            fs::create_dir_all(desk.path(name).parent().unwrap()).unwrap();
            fs::write(desk.path(name), text).unwrap();
        }
        desk
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn folder(&self) -> PathBuf {
        self.root().join("folder")
    }

    pub fn store(&self) -> PathBuf {
        self.root().join("store")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    pub fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    pub fn watched(&self, watch: Watch) -> Result<Workspace, Refusal> {
        Workspace::open(&self.folder(), &self.store(), watch)
    }

    pub fn open(&self) -> Workspace {
        self.watched(Box::new(|_, _| Ok(()))).unwrap()
    }

    /// Opens it, and does something at each step, of which it gets the number.
    pub fn stepped(
        &self,
        act: impl Fn(usize, Step, &Place) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Workspace {
        let count = AtomicUsize::new(0);
        let watch = move |step, place: &Place| act(count.fetch_add(1, Relaxed), step, place);
        self.watched(Box::new(watch)).unwrap()
    }

    /// The paths of all files.
    pub fn files(&self) -> Vec<String> {
        let (mut open, mut files) = (vec![self.folder()], Vec::new());
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let name = path.strip_prefix(self.folder()).unwrap();
                    files.push(name.to_str().unwrap().to_owned());
                }
            }
        }
        files.sort();
        files
    }

    pub fn temporary_files(&self) -> Vec<String> {
        let mut files = self.files();
        files.retain(|file| file.contains(TEMPORARY));
        files
    }
}

/// Kills the process.
pub fn kill() -> ! {
    resume_unwind(Box::new(Killed))
}

pub fn disk_is_full() -> Refusal {
    Refusal::system("disk", "no space left on device")
}

/// Runs a process, which may be killed.
pub fn process<T>(run: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => Some(result),
        Err(panic) if panic.is::<Killed>() => None,
        Err(panic) => resume_unwind(panic),
    }
}

pub fn place(path: &str) -> Place {
    path.parse().unwrap()
}

pub fn patch(path: &str, diff: &str) -> Request {
    Request::Patch { path: place(path), diff: diff.to_owned() }
}

pub fn write(path: &str, text: &str, read: Option<&str>) -> Request {
    let read = read.map(|text| Digest::of(text.as_bytes()));
    Request::Write { path: place(path), text: text.to_owned(), read }
}

pub fn delete(path: &str, read: &str) -> Request {
    Request::Delete { path: place(path), read: Digest::of(read.as_bytes()) }
}

pub fn rename(path: &str, to: &str) -> Request {
    Request::Move { path: place(path), to: place(to) }
}
