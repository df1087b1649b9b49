use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use coding_agent::workspace::refusal::{At, Code::E_CONFLICT, Refusal, Why};

const DIRTY: Why = (E_CONFLICT, "git shows changes: commit them, or pass `--dirty`");
const IGNORED: Why = (E_CONFLICT, "git ignores it, and shows no changes: pass `--dirty`");
const UNFINISHED: Why = (E_CONFLICT, "git is in the middle of it: finish or abort it");
const UNMERGED: Why = (E_CONFLICT, "they are in the index: resolve and add them");

/// What git has in its folder while something is unfinished, and what that is. A rebase can have
/// the files of the others, too. Where references are in tables, some of these are references.
const MARKS: [(&str, &str); 7] = [
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase, or `git am`"),
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a cherry-pick or a revert of several commits"),
    ("BISECT_LOG", "a bisect"),
];

/// Those that are references, which git can keep elsewhere.
const REFERENCES: [&str; 3] = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];

/// Without what the files of a folder could make git run: a folder with the files of a bare
/// repository is none. Filters in the configuration of the person, or of `.git`, run.
const OPTIONS: [&str; 8] = [
    "--no-optional-locks",
    "--literal-pathspecs",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "safe.bareRepository=explicit",
];

/// Runs git in a folder, without its variables: they can lead it to another repository, and have
/// configuration.
pub fn git(folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Result<String, Refusal> {
    let mut git = Command::new("git");
    git.args(OPTIONS).args(arguments).current_dir(folder).stdin(Stdio::null());
    for (variable, _) in env::vars_os() {
        if variable.as_encoded_bytes().starts_with(b"GIT_") {
            git.env_remove(variable);
        }
    }
    let output = git.output().at("git")?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(Refusal::system(folder.display(), error.trim_end()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Refuses a folder in which a person could not tell the edits of the agent from others: one that
/// is in no repository, or has changes, unless these are allowed; and one in the middle of a merge,
/// or with unmerged files.
pub fn check(folder: &Path, allows_changes: bool) -> Result<(), Refusal> {
    // Where git looks for `.git` before anything else.
    let top = folder.ancestors().find(|it| it.join(".git").exists()).unwrap_or(folder);
    let found = match git(top, &["rev-parse", "--absolute-git-dir"]) {
        Err(_) if allows_changes => return Ok(()),
        found => PathBuf::from(found?.trim_end()),
    };
    let is_there = |mark: &str| {
        let is_reference = || git(top, &["rev-parse", "--quiet", "--verify", mark]).is_ok();
        found.join(mark).exists() || REFERENCES.contains(&mark) && is_reference()
    };
    if let Some((_, what)) = MARKS.into_iter().find(|(mark, _)| is_there(mark)) {
        return Err(Refusal::new(what, UNFINISHED));
    }
    if !git(top, &["ls-files", "--unmerged"])?.is_empty() {
        return Err(Refusal::new("unmerged files", UNMERGED));
    }
    // Configuration, also that of the repository, can leave these out.
    let all = ["--untracked-files=normal", "--ignore-submodules=none"];
    let status = ["status", "--porcelain", all[0], all[1], "--"].map(OsStr::new);
    let changes = git(top, &[&status[..], &[folder.as_os_str()]].concat())?;
    // This command takes all paths literally, and does not know the option.
    let ignored = ["--no-literal-pathspecs", "check-ignore", "--quiet", "--no-index", "--"];
    let ignored = [&ignored.map(OsStr::new)[..], &[folder.as_os_str()]].concat();
    match changes.lines().next() {
        _ if allows_changes => Ok(()),
        Some(first) => Err(Refusal::new(first, DIRTY)),
        None if git(top, &ignored).is_ok() => Err(Refusal::new(folder.display(), IGNORED)),
        None => Ok(()),
    }
}
