use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use coding_agent::workspace::refusal::{At, Code::E_CONFLICT, Refusal, Why};

const DIRTY: Why = (E_CONFLICT, "git shows changes: commit them, or pass `--dirty`");
const UNFINISHED: Why = (E_CONFLICT, "git is in the middle of this: finish or abort it");

/// What git has in its folder while something is unfinished.
const MARKS: [&str; 6] =
    ["BISECT_LOG", "CHERRY_PICK_HEAD", "MERGE_HEAD", "REVERT_HEAD", "rebase-apply", "rebase-merge"];

/// Variables that would lead git to another repository.
const VARIABLES: [&str; 3] = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"];

const OPTIONS: [&str; 5] =
    ["--no-optional-locks", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];

/// Runs git in a folder, without hooks.
pub fn git(folder: &Path, arguments: &[&str]) -> Result<String, Refusal> {
    let mut git = Command::new("git");
    git.args(OPTIONS).args(arguments).current_dir(folder).stdin(Stdio::null());
    for variable in VARIABLES {
        git.env_remove(variable);
    }
    let output = git.output().at("git")?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(Refusal::system(folder.display(), error.trim_end()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Refuses a folder in which a person could not tell the edits of the agent from others: one that
/// is in no repository, or has changes, unless these are allowed; and one in the middle of a merge.
pub fn check(folder: &Path, allows_changes: bool) -> Result<(), Refusal> {
    let found = match git(folder, &["rev-parse", "--absolute-git-dir"]) {
        Err(_) if allows_changes => return Ok(()),
        found => PathBuf::from(found?.trim_end()),
    };
    if let Some(mark) = MARKS.into_iter().find(|mark| found.join(mark).exists()) {
        return Err(Refusal::new(mark, UNFINISHED));
    }
    let changes = git(folder, &["status", "--porcelain", "--", "."])?;
    match changes.lines().next() {
        Some(first) if !allows_changes => Err(Refusal::new(first, DIRTY)),
        _ => Ok(()),
    }
}
