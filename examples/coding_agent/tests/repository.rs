//! What the program asks git about a folder, in which somebody else may have written.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    time::UNIX_EPOCH,
};

use crate::{
    desk::Desk,
    terminal::{TASK, Told, agent_in, checked, git, repository, told, usual, work, written},
    testing::Process,
};

/// `do`, in a folder that is not that of the desk.
fn agent(desk: &Desk, folder: &Path) -> Command {
    let script = written(desk, &usual());
    agent_in(desk, folder, &["do", TASK, "--script", script.to_str().unwrap()])
}

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

/// The folder gets all that a bare repository has, with a configuration whose filter git would run.
fn become_bare(desk: &Desk, evil: &Desk, command: &str) {
    copy(&evil.path(".git"), &desk.path("sub"));
    let config = "[core]\nrepositoryformatversion = 0\nworktree = .\n[filter \"x\"]\nclean = ";
    fs::write(desk.path("sub/config"), format!("{config}\"{command}\"\n")).unwrap();
}

/// Each row would hide the change in the folder from git, or make it run a command: a variable, the
/// configuration of the repository, and a folder that looks like a bare repository.
#[test]
fn git_is_not_led_astray() {
    type Lead = fn(&mut Command, &Desk, &Desk, &str);
    const DIRTY: &str = "sub/a: git shows changes";
    let table: [(&str, Lead, &str); 7] = [
        ("GIT_DIR", |agent, _, evil, _| _ = agent.env("GIT_DIR", evil.path(".git")), DIRTY),
        ("GIT_WORK_TREE", |agent, _, evil, _| _ = agent.env("GIT_WORK_TREE", evil.folder()), DIRTY),
        (
            "GIT_INDEX_FILE",
            |agent, desk, _, _| {
                let index = desk.root().join("index");
                git(desk, &["update-index", "--assume-unchanged", "sub/a"]);
                fs::copy(desk.path(".git/index"), &index).unwrap();
                git(desk, &["update-index", "--no-assume-unchanged", "sub/a"]);
                agent.env("GIT_INDEX_FILE", index);
            },
            DIRTY,
        ),
        (
            "GIT_CONFIG_COUNT",
            |agent, _, _, command| {
                agent.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "filter.x.clean");
                agent.env("GIT_CONFIG_VALUE_0", command);
            },
            DIRTY,
        ),
        (
            "core.fsmonitor",
            |_, desk, _, command| git(desk, &["config", "core.fsmonitor", command]),
            DIRTY,
        ),
        ("a bare repository", |_, desk, evil, command| become_bare(desk, evil, command), DIRTY),
        (
            "a bare repository, and a `.git` that is none",
            |_, desk, evil, command| {
                become_bare(desk, evil, command);
                fs::create_dir(desk.path("sub/.git")).unwrap();
            },
            "safe.bareRepository",
        ),
    ];
    let attributes = ("sub/.gitattributes", "* filter=x\n");
    for (name, lead, error) in table {
        let desk = repository(&[("sub/a", "old\n"), ("sub/b", "old\n"), attributes]);
        let evil =
            repository(&[("a", "old\n"), ("sub/a", "new\n"), ("sub/b", "old\n"), attributes]);
        let (ran, mut agent) = (desk.root().join("ran"), agent(&desk, &desk.path("sub")));
        lead(&mut agent, &desk, &evil, &format!(": > {}; cat", ran.display()));
        // Of the same length, so that git reads it.
        fs::write(desk.path("sub/a"), "new\n").unwrap();
        // Git would write this time to its index.
        File::open(desk.path("sub/b")).unwrap().set_modified(UNIX_EPOCH).unwrap();
        let index = fs::read(desk.path(".git/index")).unwrap();
        let refused = Told::of(Process::start(&mut agent));
        assert_eq!(refused.code, 1, "{name}: {}", refused.errors);
        assert!(refused.errors.contains(error), "{name}: {}", refused.errors);
        assert!(!ran.exists(), "{name}");
        assert!(fs::read(desk.path(".git/index")).unwrap() == index, "{name}");
    }
}

/// The edits of an agent would be among those of the merge.
#[test]
fn a_task_and_an_undo_wait_for_the_end_of_a_merge() {
    let desk = checked();
    written(&desk, &usual());
    let asked = work(&desk, &[TASK]);
    let plan = asked.one("plan")["plan"]["plan_id"].as_str().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{BRANCHES}git merge other")]).current_dir(desk.folder());
    let merged = shell.stdin(Stdio::null()).output().unwrap();
    let left = desk.file("a");
    for refused in [work(&desk, &["--confirm", plan]), told(&desk, &["undo"])] {
        assert_eq!(refused.code, 1, "{} {merged:?}", refused.errors);
        assert!(refused.errors.contains("a merge: "), "{}", refused.errors);
        assert_eq!(desk.file("a"), left);
    }
}

/// What makes a repository whose references are in tables.
const TABLES: &str = "--ref-format=reftable";

/// Two branches that change the same line, as a person makes them.
const BRANCHES: &str = "\
git config user.name ann && git config user.email ann@localhost && git config commit.gpgsign false
git checkout --quiet -b other && echo theirs > a && git commit --quiet --all --message theirs
: > b && git add b && git commit --quiet --message more
git checkout --quiet - && echo ours > a && git commit --quiet --all --message ours
echo newer > a && git commit --quiet --all --message newer
";

/// Real commands leave a repository, a worktree whose `.git` is a file, or a repository whose
/// references are in tables, in the middle of something, or not.
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
        ("git merge --squash other", "unmerged files: "),
        ("true", ""),
    ];
    let rows = table.into_iter().flat_map(|row| ["a", "worktree", TABLES].map(|kind| (row, kind)));
    for ((command, what), kind) in rows {
        let desk = checked();
        let mut folder = desk.folder();
        if kind == "worktree" {
            git(&desk, &["worktree", "add", "--quiet", "../tree"]);
            folder = desk.root().join("tree");
        }
        if kind == TABLES {
            fs::remove_dir_all(desk.path(".git")).unwrap();
            let made = Command::new("git").args(["init", "--quiet", TABLES]).arg(&folder).output();
            if !made.unwrap().status.success() {
                // An older git has no tables.
                continue;
            }
            git(&desk, &["add", "."]);
            git(&desk, &["commit", "--quiet", "--message", "all"]);
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{BRANCHES}{command}")]).current_dir(&folder);
        let output = shell.stdin(Stdio::null()).output().unwrap();
        let told = Told::of(Process::start(agent(&desk, &folder).arg("--dirty")));
        let code = if what.is_empty() { 3 } else { 1 };
        assert_eq!(told.code, code, "{command} {kind}: {} {output:?}", told.errors);
        assert!(told.errors.contains(what), "{command} {kind}: {}", told.errors);
    }
}

/// Git would show no change in it.
#[test]
fn a_folder_that_git_ignores_is_refused() {
    for (ignored, code) in [("sub/\n", 1), ("*\n", 1), ("*\n!sub\n", 3), ("sub/x\n", 3)] {
        let desk = repository(&[("sub/a", "old\n")]);
        fs::write(desk.path(".gitignore"), ignored).unwrap();
        let told = Told::of(Process::start(&mut agent(&desk, &desk.path("sub"))));
        assert_eq!(told.code, code, "{ignored:?}: {}", told.errors);
        assert_eq!(told.errors.contains("git ignores it"), code == 1, "{}", told.errors);
        let told = Told::of(Process::start(agent(&desk, &desk.path("sub")).arg("--dirty")));
        assert_eq!(told.code, 3, "{ignored:?}: {}", told.errors);
    }
}
