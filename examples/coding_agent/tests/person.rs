//! A person who edits the files of the agent at any moment.

use std::{
    collections::{BTreeSet, HashSet},
    fs::{self, File},
    io::Write,
    os::unix::fs::{FileExt, MetadataExt},
    path::PathBuf,
    sync::{Arc, Mutex},
};

use crate::{
    desk::{disk_is_full, kill},
    testing::Random,
    workspace::edits::Watch,
};

pub const PATHS: [&str; 5] = ["a", "b", "c", "sub/d", "new/e"];

/// What happened in a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    pub kills: u64,
    pub full_disks: u64,
    pub undone: u64,
    pub applied: u64,
    pub displaced: u64,
}

/// A line that the person wrote.
struct Line {
    path: &'static str,
    text: String,
}

pub struct Person {
    pub folder: PathBuf,
    pub random: Random,
    pub figures: Figures,
    /// What files may contain.
    pub known: BTreeSet<Vec<u8>>,
    /// What must not be lost.
    lines: Vec<Line>,
    count: u64,
    /// Descriptors that were opened before, for later.
    open: Vec<(&'static str, File)>,
    /// The files that the person has replaced or deleted.
    gone: HashSet<u64>,
}

impl Person {
    pub fn new(folder: PathBuf, random: Random, figures: Figures) -> Self {
        Self {
            folder,
            random,
            figures,
            known: BTreeSet::new(),
            lines: Vec::new(),
            count: 0,
            open: Vec::new(),
            gone: HashSet::new(),
        }
    }

    /// Between two steps of the agent: the person edits, or the process is killed, or the disk is
    /// full.
    pub fn watch(person: &Arc<Mutex<Self>>) -> Watch {
        let person = Arc::clone(person);
        Box::new(move |_, _| {
            let mut it = person.lock().unwrap();
            if it.random.one_in(8) {
                it.act();
            }
            if it.random.one_in(40) {
                it.figures.kills += 1;
                drop(it);
                kill();
            }
            if it.random.one_in(60) {
                it.figures.full_disks += 1;
                return Err(disk_is_full());
            }
            Ok(())
        })
    }

    pub fn any_path(&mut self) -> &'static str {
        let count = u64::try_from(PATHS.len()).unwrap();
        PATHS[usize::try_from(self.random.below(count)).unwrap()]
    }

    /// The agent has read a file, and will drop these lines.
    pub fn forget(&mut self, path: &str) {
        let text = fs::read_to_string(self.folder.join(path)).unwrap_or_default();
        self.lines.retain(|line| line.path != path || !text.contains(&line.text));
    }

    pub fn act(&mut self) {
        let path = self.any_path();
        let file = self.folder.join(path);
        let old = fs::read(&file);
        match (self.random.below(6), old) {
            (0, Ok(_)) => {
                self.forget(path);
                self.gone.insert(fs::metadata(&file).unwrap().ino());
                fs::remove_file(&file).unwrap();
            }
            (1, Ok(_)) => {
                let opened = File::options().read(true).append(true).open(&file).unwrap();
                self.open.push((path, opened));
            }
            (2 | 3, _) => self.write_through_descriptor(),
            (4, Ok(old)) => {
                // As editors do: a new file takes the place of the old one.
                let new = self.with_line(path, old);
                self.gone.insert(fs::metadata(&file).unwrap().ino());
                let other = self.folder.join("person.tmp");
                fs::write(&other, new).unwrap();
                fs::rename(&other, &file).unwrap();
            }
            (_, old) => {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                let new = self.with_line(path, old.unwrap_or_default());
                fs::write(&file, new).unwrap();
            }
        }
    }

    fn with_line(&mut self, path: &'static str, mut text: Vec<u8>) -> Vec<u8> {
        self.count += 1;
        let line = format!("person {}.\n", self.count);
        text.extend(line.as_bytes());
        self.lines.push(Line { path, text: line });
        self.known.insert(text.clone());
        text
    }

    fn write_through_descriptor(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let (path, mut file) = self.open.swap_remove(0);
        let about = file.metadata().unwrap();
        if !self.gone.contains(&about.ino()) {
            let mut text = vec![0; usize::try_from(about.len()).unwrap()];
            file.read_exact_at(&mut text, 0).unwrap();
            let length = text.len();
            let text = self.with_line(path, text);
            file.write_all(&text[length..]).unwrap();
        }
    }

    /// A line that is neither at its path nor in a file of a conflict of that path.
    pub fn lost(&self, conflicts: &[(String, String)]) -> Option<String> {
        let is_there = |line: &Line| {
            let text = fs::read_to_string(self.folder.join(line.path)).unwrap_or_default();
            let mut named = conflicts.iter().filter(|(path, _)| path == line.path);
            text.contains(&line.text) || named.any(|(_, text)| text.contains(&line.text))
        };
        let lost = self.lines.iter().find(|line| !is_there(line))?;
        Some(format!("{}: {}", lost.path, lost.text))
    }
}
