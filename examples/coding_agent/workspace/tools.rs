//! What a model can ask for. Reading and planning change nothing in the folder: [requests](Request)
//! become an [`EditSet`], which a person approves.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt, iter,
};

use machine::contract::Tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    edits::Workspace,
    folder::Contents,
    patch::patch,
    place::Place,
    refusal::{self, Refusal},
    set::{Change, Digest, EditSet, Image},
};

/// The permissions of a new file.
const NEW_FILE: u32 = 0o644;

/// The most lines that a search finds.
const MOST_HITS: usize = 200;

/// The most characters of such a line.
const MOST_CHARACTERS: usize = 300;

/// What a planner can ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "tool", rename_all = "snake_case")]
pub enum Lookup {
    Read(Read),
    Search(Search),
}

/// Reads lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Tool)]
#[tool(workspace.read, idempotent, receipt = String, refusal = Refusal)]
#[serde(deny_unknown_fields)]
pub struct Read {
    pub path: Place,
    /// The number of the first line, from 1.
    pub from: Option<usize>,
    /// The most lines.
    pub lines: Option<usize>,
}

/// Finds the lines that contain a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Tool)]
#[tool(workspace.search, idempotent, receipt = String, refusal = Refusal)]
#[serde(deny_unknown_fields)]
pub struct Search {
    pub text: String,
    /// The folder to search; by default all.
    pub under: Option<Place>,
}

/// A tool that edits.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "tool", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Changes parts of a file, which are found by their text.
    Patch {
        path: Place,
        /// Hunks, as in a unified diff without its header.
        diff: String,
    },
    /// Writes a whole file.
    Write {
        path: Place,
        text: String,
        /// The digest of the file as it was read, if it exists.
        read: Option<Digest>,
    },
    /// Deletes a file.
    Delete {
        path: Place,
        /// The digest of the file as it was read.
        read: Digest,
    },
    /// Moves a file to a path where nothing is.
    Move { path: Place, to: Place },
}

impl Workspace {
    /// Reads lines of a file, without numbers or marks. Before them is a line that says which they
    /// are, with the digest of the whole file, which a tool that overwrites it asks for.
    pub fn read(&self, tool: &Read) -> Result<String, Refusal> {
        let text = self.text(&tool.path)?;
        let (digest, of) = (Digest::of(text.as_bytes()), text.split_inclusive('\n').count());
        let from = tool.from.unwrap_or(1).max(1);
        let lines = text.split_inclusive('\n').skip(from - 1);
        let text: String = lines.take(tool.lines.unwrap_or(usize::MAX)).collect();
        Ok(format!("from line {from} of {of}, digest {digest}:\n{text}"))
    }

    fn text(&self, path: &Place) -> Result<String, Refusal> {
        let file = self.folder.read(path)?;
        let file = file.ok_or_else(|| Refusal::new(path, refusal::MISSING))?;
        String::from_utf8(file.bytes).map_err(|_| Refusal::new(path, refusal::NOT_TEXT))
    }

    /// Searches the files of a folder, without what is generated. No other program is started, so
    /// that the same paths are refused as when they are read. What is not searched is named: links,
    /// files that are large or not text, errors.
    pub fn search(&self, tool: &Search) -> Result<String, Refusal> {
        let (files, unread) = self.folder.files(tool.under.as_ref())?;
        let mut skipped: Vec<Refusal> = unread.into_iter().map(|(.., why)| why).collect();
        let (mut found, mut more) = (Vec::new(), "");
        for path in files {
            let text = self.text(&path).map_err(|refusal| skipped.push(refusal));
            for (line, text) in (1..).zip(text.unwrap_or_default().lines()) {
                if text.contains(&tool.text) {
                    let text: String = text.chars().take(MOST_CHARACTERS).collect();
                    found.push(format!("{path}:{line}: {text}\n"));
                }
            }
            if found.len() > MOST_HITS {
                found.truncate(MOST_HITS);
                more = ", and there are more";
                break;
            }
        }
        let head = format!("lines found: {}{more}\n", found.len());
        let skipped = skipped.iter().map(|refusal| format!("not searched: {refusal}\n"));
        Ok(iter::once(head).chain(found).chain(skipped).collect())
    }

    /// Makes one edit set of several tools, in turn; nothing in the folder changes.
    pub fn plan(&self, requests: &[Request]) -> Result<EditSet, Refusal> {
        Draft { workspace: self, files: BTreeMap::new() }.set(requests)
    }

    /// Makes the edit set of each call, as if those before it were made, until one is refused.
    pub fn plan_each(&self, calls: &[Vec<Request>]) -> (Vec<EditSet>, Option<Refusal>) {
        let (mut draft, mut refused) = (Draft { workspace: self, files: BTreeMap::new() }, None);
        let sets = calls.iter().map_while(|requests| {
            let set = draft.set(requests);
            set.map_err(|refusal| refused = Some(refusal)).ok()
        });
        (sets.collect(), refused)
    }
}

impl fmt::Display for Lookup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(Read { path, .. }) => write!(formatter, "{path}"),
            Self::Search(Search { text, .. }) => write!(formatter, "the search for {text:?}"),
        }
    }
}

/// Files as they are, and as they will be.
struct Draft<'a> {
    workspace: &'a Workspace,
    files: BTreeMap<Place, (Option<Contents>, Option<Contents>)>,
}

impl Draft<'_> {
    fn set(&mut self, requests: &[Request]) -> Result<EditSet, Refusal> {
        requests.iter().try_for_each(|request| self.add(request))?;
        let image = |file: Option<&Contents>| -> Result<Option<Image>, Refusal> {
            let Some(Contents { bytes, mode, .. }) = file else { return Ok(None) };
            Ok(Some(Image { digest: self.workspace.store.put(bytes)?, mode: *mode }))
        };
        let mut changes = Vec::new();
        for (path, (old, new)) in &mut self.files {
            let (before, after) = (image(old.as_ref())?, image(new.as_ref())?);
            if before != after {
                let from = new.as_ref().map(|file| file.path.clone()).filter(|it| it != path);
                changes.push(Change { path: path.clone(), from, before, after });
            }
            if let Some(file) = new {
                file.path.clone_from(path);
            }
            old.clone_from(new);
        }
        // A file that is moved is at one of its paths at any time.
        changes.sort_by_key(|change| change.after.is_none());
        if changes.is_empty() {
            return Err(Refusal::new("the edits", refusal::NO_EFFECT));
        }
        Ok(EditSet { changes })
    }

    fn add(&mut self, request: &Request) -> Result<(), Refusal> {
        match request {
            Request::Patch { path, diff } => {
                let old = self.take(path, None)?;
                let bytes = patch(path, &old.bytes, diff)?;
                *self.file(path)? = Some(Contents { bytes, ..old });
            }
            Request::Write { path, text, read } => {
                let bytes = text.clone().into_bytes();
                let new = match (read, self.file(path)?.is_some()) {
                    (Some(read), _) => Contents { bytes, ..self.take(path, Some(*read))? },
                    (None, false) => {
                        let mode = self.files[path].0.as_ref().map_or(NEW_FILE, |old| old.mode);
                        Contents { path: path.clone(), bytes, mode, names: 1 }
                    }
                    (None, true) => return Err(Refusal::new(path, refusal::EXISTS)),
                };
                *self.file(path)? = Some(new);
            }
            Request::Delete { path, read } => _ = self.take(path, Some(*read))?,
            Request::Move { path, to } => {
                let old = self.take(path, None)?;
                if self.file(to)?.replace(old).is_some() {
                    return Err(Refusal::new(to, refusal::EXISTS));
                }
            }
        }
        Ok(())
    }

    /// Takes a file away, if it is the one that was read.
    fn take(&mut self, path: &Place, read: Option<Digest>) -> Result<Contents, Refusal> {
        let old = self.file(path)?.take();
        let old = old.ok_or_else(|| Refusal::new(path, refusal::MISSING))?;
        if read.is_some_and(|read| read != Digest::of(&old.bytes)) {
            return Err(Refusal::new(path, refusal::STALE));
        }
        Ok(old)
    }

    /// A file as it will be. One that has other names would stay as it is under these.
    fn file(&mut self, path: &Place) -> Result<&mut Option<Contents>, Refusal> {
        let (_, after) = match self.files.entry(path.clone()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let file = self.workspace.folder.read(path)?;
                if file.as_ref().is_some_and(|file| file.names > 1) {
                    return Err(Refusal::new(path, refusal::HARD_LINK));
                }
                entry.insert((file.clone(), file))
            }
        };
        Ok(after)
    }
}
