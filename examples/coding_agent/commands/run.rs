use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::{
    place::Place,
    refusal::{self, Refusal, Why},
};

/// A part of a path that leads out of a folder.
const UP: &str = "..";

/// The variables that a command gets. No other is known to be free of secrets.
const ENVIRONMENT: &str = "CARGO_HOME HOME LANG LC_ALL LOGNAME PATH RUSTUP_HOME RUSTUP_TOOLCHAIN \
                           TERM TMPDIR TZ USER VIRTUAL_ENV";

const SHELLS: [&str; 10] =
    ["ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "sh", "tcsh", "zsh"];

/// What can throw away work that is not committed, if it is an argument of git or a part of one.
const DESTROYERS: [&str; 7] = ["checkout", "clean", "reset", "restore", "rm", "stash", "switch"];
const GIT: &str = "git";

/// The commands that only check. They run the code of the folder. Words can follow a star.
const CHECKS: &str = "cargo build *, cargo check *, cargo clippy *, cargo fmt --check, cargo test *, \
                      go test *, go vet *, make test, npm test, pytest *, python3 -B -m unittest *, \
                      python3 -m pytest *, python3 -m unittest *";
const STAR: &str = " *";

/// What can follow, besides the names of tests, files and folders.
const OPTIONS: &str = "./... --all-features --all-targets --lib --locked --offline --quiet --release \
                       --tests --verbose --workspace -q -v";

/// Runs a program in the folder, without input. The call has no other time limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The program and its arguments. No shell reads them.
    pub argv: Vec<String>,
    /// The time after which it is killed, in milliseconds.
    pub timeout: u64,
}

/// How a command ended, as evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub number: usize,
    pub ending: Ending,
    pub stdout: Text,
    pub stderr: Text,
    /// A process that has left the group still holds the output. The others were killed.
    pub is_held: bool,
    /// The paths that changed during the command.
    pub seen: Vec<Place>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It ended with this code: 126 or 127 also if it could not be started.
    Exited(i32),
    /// A signal with this number killed it.
    Killed(i32),
    TimedOut,
    /// The agent died meanwhile. The command was killed, unless it had ended.
    Interrupted,
    /// The agent died before the program was started.
    NotStarted,
}

/// The end of what a command printed, after so many bytes that are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    pub left_out: usize,
    pub end: String,
}

impl Run {
    /// Finds the program. A name with `-` could be an option of the shell that starts it.
    pub fn program(&self, folder: &Path) -> Result<PathBuf, Refusal> {
        let name = self.argv.first().map_or("", String::as_str);
        let path = env::var_os("PATH").filter(|_| !name.contains('/')).unwrap_or_default();
        let mut files = env::split_paths(&path).map(|place| folder.join(place).join(name));
        let file = files.find(|file| file.is_file() && !name.starts_with('-'));
        file.ok_or_else(|| Refusal::new(name, refusal::NO_PROGRAM))
    }

    /// Returns `true` if it only checks: it is in the list, or is a program of the folder, without
    /// arguments, that the plan does not edit.
    pub fn is_check(&self, is_kept: impl FnOnce(&Place) -> bool) -> bool {
        if let [program] = &self.argv[..]
            && let Some(path) = program.strip_prefix("./")
        {
            return path.parse::<Place>().is_ok_and(|path| is_kept(&path));
        }
        CHECKS.split(", ").any(|check| {
            let (fixed, mut words) = (check.trim_end_matches(STAR), self.argv.iter());
            let is_it = fixed.split(' ').all(|word| words.next().is_some_and(|it| it == word));
            is_it && words.all(|word| fixed != check && is_harmless(word))
        })
    }

    /// Why a person must confirm it: it is a shell, or a word of it is the name of one; or it is
    /// git, and throws work away. A shell that another program starts is not seen.
    pub fn danger(&self, program: &Path) -> Option<Why> {
        let is_between = |letter: char| !letter.is_alphanumeric() && !"/-_.".contains(letter);
        let words = self.argv.iter().flat_map(|it| it.split(is_between));
        let words: BTreeSet<&str> = words.filter_map(name).collect();
        let real = program.canonicalize().unwrap_or_default();
        let real = real.to_str().and_then(name);
        if SHELLS.iter().any(|&shell| words.contains(shell) || real == Some(shell)) {
            return Some(refusal::SHELL);
        }
        // As in `git-reset`, `--reset` and `checkout-index`.
        let parts: BTreeSet<&str> = words.iter().flat_map(|word| word.split('-')).collect();
        let destroys = parts.contains(GIT) && DESTROYERS.iter().any(|it| parts.contains(it));
        destroys.then_some(refusal::DESTROYS)
    }
}

/// An option of a check that does nothing else, or the name of something in the folder.
fn is_harmless(word: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/-_.:".contains(letter);
    let is_name = !word.starts_with(['-', '/']) && !word.contains(UP);
    OPTIONS.split(' ').any(|option| option == word) || is_name && word.chars().all(is_plain)
}

/// The last part of a path.
fn name(path: &str) -> Option<&str> {
    Path::new(path).file_name()?.to_str()
}

pub fn environment() -> impl Iterator<Item = (&'static str, OsString)> {
    ENVIRONMENT.split(' ').filter_map(|name| Some((name, env::var_os(name)?)))
}
