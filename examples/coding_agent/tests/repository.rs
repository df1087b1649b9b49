//! What git runs when it is asked about a folder in which somebody else has written.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    terminal::{TASK, Told, git, repository, usual, written},
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
