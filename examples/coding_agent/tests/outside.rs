use std::{fs, os::unix::fs::symlink, path::Path};

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::{
    desk::{Desk, write},
    workspace::{
        edits::Workspace,
        place::{Place, TEMPORARY},
        refusal::{self, Code, Refusal},
        set::EditSet,
        tools::{Read, Search},
    },
};

const SECRET: &str = "secret\n";

/// A folder with every way out of it that a file can be.
fn desk() -> Desk {
    let desk = Desk::new(&[("a", "one\n"), ("sub/b", "two\n"), (".git/config", SECRET)]);
    let outside = desk.root().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), SECRET).unwrap();
    for (link, target) in [
        ("link", outside.join("secret")),
        ("relative", "../outside/secret".into()),
        ("folder-link", outside.clone()),
        ("sub/deep-link", outside.clone()),
        ("dangling", outside.join("new")),
        ("loop", "loop".into()),
        ("inside-link", "sub".into()),
        ("git-link", ".git".into()),
        ("magic", "/proc/self/cwd".into()),
    ] {
        symlink(target, desk.path(link)).unwrap();
    }
    fs::hard_link(outside.join("secret"), desk.path("hard")).unwrap();
    mkfifoat(CWD, desk.path("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    desk
}

const WAYS: [&str; 29] = [
    "/etc/hostname",
    "../outside/secret",
    "sub/../../outside/secret",
    "sub/../a",
    "./a",
    "..",
    "",
    "sub//b",
    "sub/",
    "link",
    "relative",
    "folder-link/secret",
    "folder-link/new/file",
    "sub/deep-link/secret",
    "dangling",
    "loop",
    "inside-link/b",
    "magic/secret",
    "hard",
    "pipe",
    "sub",
    ".git/config",
    ".GIT/hooks/post-commit",
    "sub/.git/hooks/post-commit",
    "git-link/hooks/post-commit",
    ".agent-edit-1",
    "a\nb",
    "a\0b",
    "\u{1b}[2J",
];

fn open(folder: &Path, store: &Path) -> Result<Workspace, Refusal> {
    Workspace::open(folder, store, Box::new(|_, _| Ok(())))
}

/// Tries to read and to write `path`. A hard link is read like any file.
fn attempt(workspace: &Workspace, path: &str) -> Result<(), Refusal> {
    let place: Place = path.parse()?;
    let read = workspace.read(&Read { path: place, from: None, lines: None });
    assert!(read.is_err() || path == "hard", "{path:?}");
    workspace.plan(&[write(path, "changed\n", None)]).map(|_| ())
}

fn is_untouched(desk: &Desk) {
    let outside = desk.root().join("outside");
    let names: Vec<_> = fs::read_dir(&outside).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["secret"]);
    assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), SECRET);
    assert_eq!(desk.file(".git/config").unwrap(), SECRET);
    assert_eq!(fs::read_dir(desk.path(".git/hooks")).unwrap().count(), 0);
}

#[test]
fn every_way_out_is_refused() {
    let desk = desk();
    let workspace = desk.open();
    for path in WAYS {
        let refusal = attempt(&workspace, path).unwrap_err();
        assert_eq!(refusal.code, Code::E_POLICY_DENIED, "{path:?}: {refusal}");
    }
    is_untouched(&desk);
}

/// The list that a person approves is data: a forged one gets no further.
#[test]
fn a_list_cannot_name_what_is_outside() {
    let list = |path: &str| {
        let after = format!(r#"{{"digest":"{}","mode":420}}"#, "0".repeat(64));
        let list = format!(r#"{{"changes":[{{"path":"{path}","after":{after}}}]}}"#);
        serde_json::from_str::<EditSet>(&list)
    };
    for path in ["../outside/new", "/tmp/new", ".git/hooks/post-commit"] {
        assert!(list(path).is_err(), "{path}");
    }
    let refusal = desk().open().apply(&list("new").unwrap(), None).unwrap_err();
    assert_eq!(refusal.why, refusal::NOT_STORED.1);
}

/// A link takes the place of a folder after the check: before the edit, or in the middle of it.
#[test]
fn a_folder_that_becomes_a_link_is_not_followed() {
    for at in 0..6 {
        let desk = desk();
        let (sub, outside) = (desk.path("sub"), desk.root().join("outside"));
        let workspace = desk.stepped(move |step, _, _| {
            if step == at {
                fs::rename(&sub, sub.with_file_name("moved")).unwrap();
                symlink(&outside, &sub).unwrap();
            }
            Ok(())
        });
        let set = workspace.plan(&[write("sub/secret", "changed\n", None)]).unwrap();
        // Written to the folder itself, or not at all.
        let _ = workspace.apply(&set, None);
        is_untouched(&desk);
        assert!(
            !fs::read_dir(desk.path("moved")).unwrap().any(|entry| {
                entry.unwrap().file_name().to_str().unwrap().starts_with(TEMPORARY)
            })
        );
    }
}

#[test]
fn the_store_is_outside_and_of_one_folder() {
    let desk = desk();
    let opened =
        |folder: &Path, store: &Path| open(folder, store).map(drop).map_err(|refusal| refusal.code);
    let (folder, store) = (desk.folder(), desk.store());
    let denied = Err(Code::E_POLICY_DENIED);
    assert_eq!(opened(&folder, &folder.join("store")), denied);
    assert_eq!(opened(&folder.join("sub"), &folder), denied);
    assert_eq!(opened(&folder, &store), Ok(()));
    assert_eq!(opened(&desk.root().join("outside"), &store), denied);
    fs::rename(&folder, desk.root().join("moved")).unwrap();
    let why = open(&desk.root().join("moved"), &store).map(drop).unwrap_err().why;
    assert!(why.contains(folder.to_str().unwrap()), "{why}");
}

/// Fills the second folder, with what it may take from the first.
type Fill = fn(&Path, &Path);

/// What is in a store is trusted, also the consents of people, so a repository cannot bring one.
#[test]
fn a_store_that_was_not_made_here_is_refused() {
    let desk = desk();
    drop(desk.open());
    fs::rename(desk.store(), desk.root().join("shipped")).unwrap();
    let link = desk.root().join("outside/secret");
    let before = fs::read(&link).unwrap();
    let table: [(&str, Fill); 4] = [
        ("a copy with its claim", |shipped, store| {
            fs::copy(shipped.join("folder"), store.join("folder")).map(drop).unwrap();
        }),
        ("without a claim", |_, store| fs::create_dir(store.join("sets")).unwrap()),
        ("a file of a person", |_, store| fs::write(store.join("new"), "mine").unwrap()),
        ("a claim of nobody", |_, store| fs::write(store.join("folder"), "").unwrap()),
    ];
    for (what, fill) in table {
        fs::create_dir(desk.store()).unwrap();
        fill(&desk.root().join("shipped"), &desk.store());
        let names = || fs::read_dir(desk.store()).unwrap().count();
        let opened = open(&desk.folder(), &desk.store());
        assert_eq!(opened.map(drop).unwrap_err().code, Code::E_POLICY_DENIED, "{what}");
        assert_eq!(names(), 1, "{what}");
        fs::remove_dir_all(desk.store()).unwrap();
    }
    // What a crash has left; a link is not followed.
    fs::create_dir(desk.store()).unwrap();
    symlink(&link, desk.store().join(".coding-agent-new")).unwrap();
    drop(desk.open());
    assert_eq!(fs::read(&link).unwrap(), before);
}

#[test]
fn the_files_of_git_are_no_folder_of_an_agent() {
    let desk = desk();
    for folder in [".git", ".git/hooks"] {
        let opened = open(&desk.path(folder), &desk.store());
        assert_eq!(opened.map(drop).unwrap_err().why, refusal::OF_GIT.1);
    }
}

/// One agent works on a folder, whatever its store is.
#[test]
fn a_folder_has_one_agent() {
    let desk = desk();
    let open = || open(&desk.folder(), &desk.root().join("other")).map(drop);
    let first = desk.open();
    assert_eq!(open().unwrap_err().why, refusal::BUSY.1);
    drop(first);
    open().unwrap();
}

/// Links and errors are named, and are not an empty answer. What git ignores is searched, and what
/// is generated is not.
#[test]
fn a_search_names_what_it_skips() {
    let desk = desk();
    for name in [".gitignore", "ignored/c", "sub/node_modules/d", "target/e"] {
        fs::create_dir_all(desk.path(name).parent().unwrap()).unwrap();
        fs::write(desk.path(name), "ignored\ntwo\n").unwrap();
    }
    let found = desk.open().search(&Search { text: "two".to_owned(), under: None }).unwrap();
    let lines = "lines found: 3\n.gitignore:2: two\nignored/c:2: two\nsub/b:1: two\n";
    assert!(found.starts_with(lines), "{found}");
    for link in ["link", "dangling", "folder-link", "pipe"] {
        assert!(found.contains(&format!("\nnot searched: {link}: ")), "{link}: {found}");
    }
}
