//! Which commands ask a person, each time.

use std::path::Path;

use crate::{
    commands::run::Run,
    workspace::refusal::{DESTROYS, SHELL, Why},
};

/// A shell is seen by its name, and git by what it is told. What another program starts, or
/// deletes itself, is not seen: a person who does not read the commands needs a container.
#[test]
fn dangers_are_seen_by_their_names() {
    let (shell, destroys) = (Some(SHELL), Some(DESTROYS));
    let table: [(&[&str], Option<Why>); 35] = [
        (&["bash", "-c", "true"], shell),
        (&["/usr/bin/dash", "-c", "true"], shell),
        (&["../../bin/sh", "file"], shell),
        (&["busybox", "sh", "-c", "true"], shell),
        (&["env", "-i", "A=b", "sh"], shell),
        (&["env", "-S", "sh\t-c true"], shell),
        (&["nice", "-n", "5", "/bin/zsh"], shell),
        (&["timeout", "9", "fish"], shell),
        (&["find", ".", "-exec", "sh", "-c", "true", ";"], shell),
        (&["xargs", "-I{}", "ksh"], shell),
        (&["make", "SHELL=/bin/bash"], shell),
        (&["git", "rebase", "--exec=sh -c true"], shell),
        (&["git", "-c", "core.editor=sh", "commit"], shell),
        (&["git", "-C", ".", "reset"], destroys),
        (&["git", "--git-dir=.git", "checkout", "--", "."], destroys),
        (&["git", "-c", "alias.x=reset --hard", "x"], destroys),
        (&["git", "checkout-index", "--all", "--force"], destroys),
        (&["git", "read-tree", "-u", "--reset", "HEAD"], destroys),
        (&["git", "switch", "--discard-changes", "main"], destroys),
        (&["git", "restore", "."], destroys),
        (&["git", "rm", "-rf", "."], destroys),
        (&["git", "stash"], destroys),
        (&["/usr/lib/git-core/git-reset", "--hard"], destroys),
        (&["/usr/bin/git", "clean", "-fdx"], destroys),
        (&["timeout", "9", "git", "reset"], destroys),
        (&["git", "status"], None),
        (&["git", "diff", "--stat"], None),
        (&["git", "log", "--oneline", "reset.rs"], None),
        (&["cargo", "test", "--", "push_sh", "shell"], None),
        (&["python3", "-m", "unittest"], None),
        // Each of these can do anything.
        (&["cargo", "x"], None),
        (&["make"], None),
        (&["python3", "-c", "import os; os.remove('a')"], None),
        (&["./check"], None),
        (&["rm", "-rf", "."], None),
    ];
    for (argv, danger) in table {
        let run = Run { argv: argv.iter().map(|&word| word.to_owned()).collect(), timeout: 1 };
        assert_eq!(run.danger(Path::new("")), danger, "{argv:?}");
    }
}
