use std::{
    fs,
    io::{self, Write},
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
};

use rustix::{
    buffer::spare_capacity,
    fs::{XattrFlags, getxattr, setxattr},
};

use crate::{
    desk::{Desk, FILES, delete, disk_is_full, kill, patch, place, process, rename, write},
    workspace::{
        edits::{Step, Workspace},
        refusal::{self, Code},
        set::{Digest, EditSet, Ending},
        store::Phase,
        tools::Request,
    },
};

pub fn requests() -> [Request; 4] {
    [
        patch("a", "@@\n-one\n+ONE\n"),
        delete("b", "two\n"),
        rename("c", "new/deep/c"),
        write("sub/e", "five\n", None),
    ]
}

const AFTER: [(&str, &str); 4] =
    [("a", "ONE\n"), ("new/deep/c", "three\n"), ("sub/d", "four\n"), ("sub/e", "five\n")];

/// The files are these, and no folder is left without files.
fn is(desk: &Desk, expected: &[(&str, &str)]) {
    let files = desk.files();
    let texts = files.iter().map(|name| (name.as_str(), desk.file(name).unwrap()));
    let expected: Vec<_> =
        expected.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    assert_eq!(texts.collect::<Vec<_>>(), expected);
    let is_there = |name: &str| desk.path(name).exists();
    assert_eq!(is_there("new"), is_there("new/deep/c"));
}

fn killed_at(desk: &Desk, step: usize) -> Workspace {
    desk.stepped(move |now, _, _| if now == step { kill() } else { Ok(()) })
}

/// Every step of the edits and of their undoing is killed, and the recovery as well.
#[test]
fn a_killed_set_is_made_or_not() {
    let mut endings = Vec::new();
    for step in 0.. {
        let desk = Desk::new(&FILES);
        let run = process(|| {
            let workspace = killed_at(&desk, step);
            let set = workspace.plan(&requests()).unwrap();
            workspace.apply(&set, None).unwrap();
        });
        for again in 0..3 {
            let _ = process(|| killed_at(&desk, step % (3 + again)));
        }
        let record = desk.open().store.record(1).unwrap();
        match record.phase {
            Phase::Ended(Ending::Applied) => is(&desk, &AFTER),
            Phase::Ended(Ending::NotApplied) => is(&desk, &FILES),
            _ => panic!("step {step}: {record:?}"),
        }
        endings.push(record.phase);
        if record.phase == Phase::Ended(Ending::Applied) {
            process(|| killed_at(&desk, step).undo().unwrap());
            // It is undone, or is undone now.
            let refused = desk.open().undo().err().map(|refusal| refusal.why);
            assert!(refused.is_none_or(|why| why == refusal::NOTHING_TO_UNDO.1));
            is(&desk, &FILES);
        }
        if run.is_some() {
            break;
        }
    }
    assert!(endings.contains(&Phase::Ended(Ending::NotApplied)) && endings.len() > 20);
}

/// A full disk, at every step: made as a whole or not at all, and the next one works.
#[test]
fn a_full_disk_leaves_nothing() {
    for full in 0..20 {
        let desk = Desk::new(&FILES);
        let workspace =
            desk.stepped(move |step, _, _| if step == full { Err(disk_is_full()) } else { Ok(()) });
        let set = workspace.plan(&requests()).unwrap();
        match workspace.apply(&set, None) {
            Ok(report) => assert_eq!(report.ending, Ending::Applied),
            Err(refusal) => {
                assert_eq!(refusal.code, Code::E_IO);
                is(&desk, &FILES);
                workspace.apply(&set, None).unwrap();
            }
        }
        is(&desk, &AFTER);
    }
}

fn applied(desk: &Desk, requests: &[Request]) -> EditSet {
    let workspace = desk.open();
    let set = workspace.plan(requests).unwrap();
    assert_eq!(workspace.apply(&set, None).unwrap().ending, Ending::Applied);
    set
}

/// The newest first; what a person has changed since stays, and is a conflict.
#[test]
fn undo_takes_back_its_own_writes() {
    let desk = Desk::new(&FILES);
    applied(&desk, &[patch("a", "@@\n-one\n+ONE\n"), patch("b", "@@\n-two\n+TWO\n")]);
    applied(&desk, &[patch("a", "@@\n-ONE\n+1\n")]);
    fs::write(desk.path("b"), "a person's\n").unwrap();
    fs::write(desk.path("other"), "untracked\n").unwrap();
    let workspace = desk.open();
    assert!(workspace.undo().unwrap().conflicts.is_empty());
    assert_eq!(desk.file("a").unwrap(), "ONE\n");
    let report = workspace.undo().unwrap();
    assert_eq!((report.ending, report.conflicts.len()), (Ending::Applied, 1));
    assert_eq!(report.conflicts[0].path, place("b"));
    is(&desk, &[FILES[0], ("b", "a person's\n"), FILES[2], ("other", "untracked\n"), FILES[3]]);
    assert_eq!(workspace.undo().unwrap_err().why, refusal::NOTHING_TO_UNDO.1);
}

/// A file that a person changes between the last check and the exchange comes back, and the other
/// files of the set, too.
#[test]
fn a_person_who_is_faster_wins() {
    let desk = Desk::new(&FILES);
    let b = desk.path("b");
    let workspace = desk.stepped(move |_, step, path| {
        if step == Step::Compared && *path == place("b") {
            fs::write(&b, "a person's\n").unwrap();
        }
        Ok(())
    });
    let requests = [patch("a", "@@\n-one\n+ONE\n"), patch("b", "@@\n-two\n+TWO\n")];
    let report = workspace.apply(&workspace.plan(&requests).unwrap(), None).unwrap();
    assert_eq!(report.ending, Ending::NotApplied);
    assert_eq!(report.conflicts[0].path, place("b"));
    is(&desk, &[FILES[0], ("b", "a person's\n"), FILES[2], FILES[3]]);
}

/// A path that was written, and is something third after a crash.
#[test]
fn a_third_digest_is_in_doubt() {
    let desk = Desk::new(&FILES);
    process(|| {
        let workspace = desk.stepped(|_, step, _| if step == Step::Kept { kill() } else { Ok(()) });
        workspace.apply(&workspace.plan(&[patch("a", "@@\n-one\n+ONE\n")]).unwrap(), None)
    });
    fs::write(desk.path("a"), "a person's\n").unwrap();
    let record = desk.open().store.record(1).unwrap();
    assert_eq!(record.phase, Phase::Ended(Ending::InDoubt));
    assert_eq!(record.conflicts[0].path, place("a"));
    assert_eq!(desk.file("a").unwrap(), "a person's\n");
}

#[test]
fn stale_and_dangerous_writes_are_refused() {
    let long = (0..100).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
    let desk = Desk::new(&[("a", "one\n"), ("long", &long)]);
    let workspace = desk.open();
    for request in [
        write("a", "two\n", None),
        write("a", "two\n", Some("old\n")),
        write("none", "two\n", Some("old\n")),
        delete("a", "old\n"),
        rename("a", "long"),
    ] {
        let refusal = workspace.plan(std::slice::from_ref(&request)).unwrap_err();
        assert_eq!(refusal.code, Code::E_CONFLICT, "{request:?}");
    }
    let set = workspace.plan(&[write("long", "line 1\n", Some(&long))]).unwrap();
    for confirmed in [None, Some(Digest::of(b"another"))] {
        let refusal = workspace.apply(&set, confirmed).unwrap_err();
        assert_eq!((&*refusal.at, &*refusal.why), ("long", refusal::REMOVES_MOST.1));
    }
    assert_eq!(desk.file("long").unwrap(), long);
    let digest = Some(Digest::of_call(&set).unwrap());
    workspace.apply(&set, digest).unwrap();
    assert_eq!(desk.file("long").unwrap(), "line 1\n");
    // Once more: the file is not as before.
    assert_eq!(workspace.apply(&set, digest).unwrap_err().code, Code::E_CONFLICT);
}

/// Permissions stay, and nobody else reads what is stored.
#[test]
fn permissions_are_kept() {
    let desk = Desk::new(&FILES);
    fs::set_permissions(desk.path("a"), fs::Permissions::from_mode(0o754)).unwrap();
    let set = applied(&desk, &[patch("a", "@@\n-one\n+ONE\n")]);
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(desk.path("a")), 0o754);
    assert_eq!(mode(desk.store()), 0o700);
    let before = set.changes[0].before.unwrap();
    assert_eq!(mode(desk.store().join("blobs").join(before.digest.to_string())), 0o600);
    // Also those of a file that is deleted and written anew in one set.
    applied(&desk, &[delete("a", &desk.file("a").unwrap()), write("a", "new\n", None)]);
    assert_eq!(mode(desk.path("a")), 0o754);
}

/// An access control list by which a user may read.
fn list() -> Vec<u8> {
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 4, 1), (4, 4, u32::MAX), (16, 4, u32::MAX), (32, 4, u32::MAX)];
    let bytes = entries.into_iter().flat_map(|(kind, rights, user)| {
        [&kind.to_le_bytes()[..], &rights.to_le_bytes()[..], &user.to_le_bytes()[..]].concat()
    });
    2_u32.to_le_bytes().into_iter().chain(bytes).collect()
}

/// Also those of a file that is moved, or comes back. A file gets no list that its folder gives to
/// new ones.
#[test]
fn owners_and_attributes_are_kept() {
    let table = [("user.note", b"a note".to_vec()), ("system.posix_acl_access", list())];
    for (name, value) in table {
        let desk = Desk::on_disk(&FILES);
        let set =
            |path: &str, name: &str| setxattr(desk.path(path), name, &value, XattrFlags::empty());
        if let Err(error) = ["a", "b", "c"].into_iter().try_for_each(|path| set(path, name)) {
            let _ = writeln!(io::stderr(), "skipped: needs extended attributes ({error})");
            continue;
        }
        let _ = set("sub", "system.posix_acl_default");
        // Others than those of a new file, for those who may.
        let _ = chown(desk.path("a"), Some(1), Some(2));
        let kept = |path: &str| {
            let (about, mut value) = (fs::metadata(desk.path(path)).unwrap(), Vec::new());
            value.reserve(1 << 10);
            let is_there = getxattr(desk.path(path), name, spare_capacity(&mut value)).is_ok();
            (about.uid(), about.gid(), is_there, value)
        };
        let before = ["a", "b", "c", "sub/d"].map(kept);
        assert_eq!(before.each_ref().map(|it| it.2), [true, true, true, false], "{name}");
        applied(
            &desk,
            &[
                patch("a", "@@\n-one\n+ONE\n"),
                delete("b", "two\n"),
                rename("c", "moved"),
                patch("moved", "@@\n-three\n+THREE\n"),
                patch("sub/d", "@@\n-four\n+FOUR\n"),
            ],
        );
        let expected = [0, 2, 3].map(|index| before[index].clone());
        assert_eq!(["a", "moved", "sub/d"].map(kept), expected, "{name}");
        desk.open().undo().unwrap();
        assert_eq!(["a", "b", "c", "sub/d"].map(kept), before, "{name}");
    }
}
