//! What the program asks git about a folder, in which somebody else may have written.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    terminal::{TASK, Told, checked, git, repository, usual, written},
    testing::Process,
};

/// Copies what is in a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = entry.map(|it| (it.path(), to.join(it.file_name()))).unwrap();
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

/// A folder in a repository gets all that a bare repository has, with a configuration whose filter
/// git would run; or the filter is in a variable.
#[test]
fn git_runs_nothing_that_a_folder_names() {
    let files = [("sub/a", "old\n"), ("sub/.gitattributes", "* filter=x\n")];
    let config = "[core]\nrepositoryformatversion = 0\nworktree = .\n[filter \"x\"]\nclean = ";
    for is_bare in [true, false] {
        let (desk, evil) = (repository(&files), repository(&[("a", "old\n")]));
        written(&desk, &usual());
        let ran = desk.root().join("ran");
        let clean = format!("touch {}; cat", ran.display());
        let sub = desk.path("sub");
        if is_bare {
            fs::remove_file(sub.join(".gitattributes")).unwrap();
            git(&desk, &["rm", "--quiet", "--cached", "sub/.gitattributes"]);
            git(&desk, &["commit", "--quiet", "--message", "less"]);
            copy(&evil.path(".git"), &sub);
            fs::write(sub.join("config"), format!("{config}\"{clean}\"\n")).unwrap();
            fs::write(sub.join(".gitattributes"), "* filter=x\n").unwrap();
        }
        // Of the same length, so that git reads it.
        fs::write(sub.join("a"), "new\n").unwrap();
        let mut agent = Command::new(env!("CARGO_BIN_EXE_coding_agent"));
        agent.args(["do", TASK, "--script"]).arg(desk.root().join("script.json"));
        agent.arg("--folder").arg(&sub).arg("--store").arg(desk.store());
        if !is_bare {
            agent.env("GIT_CONFIG_COUNT", "1");
            agent.env("GIT_CONFIG_KEY_0", "filter.x.clean").env("GIT_CONFIG_VALUE_0", clean);
        }
        agent.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let refused = Told::of(Process::start(&mut agent));
        assert_eq!(refused.code, 1, "{is_bare}: {}", refused.errors);
        // A path of the repository around the folder.
        let is_outer = refused.errors.contains("sub/") && refused.errors.contains("--dirty");
        assert!(is_outer, "{is_bare}: {}", refused.errors);
        assert!(!ran.exists(), "{is_bare}");
    }
}

/// Two branches that change the same line, as a person makes them.
const BRANCHES: &str = "\
git config user.name ann && git config user.email ann@localhost && git config commit.gpgsign false
git checkout --quiet -b other && echo theirs > a && git commit --quiet --all --message theirs
touch b && git add b && git commit --quiet --message more
git checkout --quiet - && echo ours > a && git commit --quiet --all --message ours
echo newer > a && git commit --quiet --all --message newer
";

/// Real commands leave a repository, or a worktree whose `.git` is a file, in the middle of
/// something, or not.
#[test]
fn the_middle_of_anything_is_refused() {
    let table = [
        ("git merge other", "a merge: "),
        ("git rebase --merge other", "a rebase: "),
        (
            "GIT_SEQUENCE_EDITOR='echo merge -C other other >' git rebase --interactive HEAD~1",
            "a rebase: ",
        ),
        ("git rebase --apply other", "a rebase, or `git am`: "),
        ("git format-patch -1 --stdout other~1 | git am", "a rebase, or `git am`: "),
        ("git cherry-pick other~1", "a cherry-pick: "),
        (
            "git cherry-pick other~1 other; git commit --quiet --all --message picked",
            "a cherry-pick or a revert of several commits: ",
        ),
        ("git revert --no-edit HEAD~1", "a revert: "),
        ("git bisect start", "a bisect: "),
        ("true", ""),
    ];
    let rows = table.into_iter().flat_map(|row| [(row, false), (row, true)]);
    for ((command, what), is_worktree) in rows {
        let desk = checked();
        written(&desk, &usual());
        let mut folder = desk.folder();
        if is_worktree {
            git(&desk, &["worktree", "add", "--quiet", "../tree"]);
            folder = desk.root().join("tree");
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{BRANCHES}{command}")]).current_dir(&folder);
        let output = shell.stdin(Stdio::null()).output().unwrap();
        let mut agent = Command::new(env!("CARGO_BIN_EXE_coding_agent"));
        agent.args(["do", TASK, "--dirty", "--script"]).arg(desk.root().join("script.json"));
        agent.arg("--folder").arg(&folder).arg("--store").arg(desk.store());
        agent.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let told = Told::of(Process::start(&mut agent));
        let code = if what.is_empty() { 3 } else { 1 };
        assert_eq!(told.code, code, "{command} {is_worktree}: {} {output:?}", told.errors);
        assert!(told.errors.contains(what), "{command} {is_worktree}: {}", told.errors);
    }
}
