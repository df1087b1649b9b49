use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use crate::{
    desk::{Desk, FILES, delete, patch, process, rename, write},
    person::{Figures, Person},
    testing::{Random, number, seed},
    workspace::{
        edits::{Step, Watch, Workspace},
        place::TEMPORARY,
        refusal::{self, Code},
        set::Ending,
        tools::Request,
    },
};

/// A mistake that the property must notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Twin {
    /// Whatever is at a path is replaced.
    PlainRename,
    /// What was displaced is not looked at.
    NoSecondDigest,
    UndoByPath,
    /// At the start, temporary files are removed.
    CleanUp,
}

/// `CRASH_ROUNDS` (default 8) times 25 kills at random steps, with a person who edits in place, by
/// rename, and through descriptors that were opened before, and with full disks and undos. Every
/// line of the person is at its path or in a file that a conflict names; every file is as before,
/// as after or a person's; and no temporary file stays.
#[test]
#[allow(clippy::print_stdout, reason = "the seed must be known when it fails")]
fn no_byte_of_a_person_is_lost() {
    let (seed, kills) = (seed(), 25 * number("CRASH_ROUNDS", 8));
    println!("{kills} kills from seed {seed}");
    let mut all = Figures::default();
    for round in 0.. {
        let figures = scenario(seed, round, None, all);
        all = figures.unwrap_or_else(|error| panic!("round {round}: {error}"));
        if all.kills >= kills {
            break;
        }
    }
    println!("{all:?}");
    let rare = [all.undone, all.applied, all.displaced];
    let is_enough = all.full_disks >= kills / 10 && rare.iter().all(|count| *count >= kills / 25);
    assert!(is_enough, "{all:?}");
}

#[test]
fn the_property_sees_mistakes() {
    for twin in [Twin::PlainRename, Twin::NoSecondDigest, Twin::UndoByPath, Twin::CleanUp] {
        let mut runs =
            (0..2000).map(|round| scenario(seed(), round, Some(twin), Figures::default()));
        assert!(runs.any(|run| run.is_err()), "{twin:?}");
    }
}

/// Several processes in turn, each of which edits and undoes until it is killed.
fn scenario(
    seed: u64,
    round: u64,
    twin: Option<Twin>,
    figures: Figures,
) -> Result<Figures, String> {
    let desk = Desk::new(&FILES);
    let mut person = Person::new(desk.folder(), Random::new(seed, round), figures);
    person.known.extend(FILES.map(|(_, text)| text.as_bytes().to_vec()));
    let person = Arc::new(Mutex::new(person));
    let clean_up = || {
        let files = desk.temporary_files().into_iter().filter(|_| twin == Some(Twin::CleanUp));
        files.for_each(|file| fs::remove_file(desk.path(&file)).unwrap());
    };
    for _ in 0..3 {
        clean_up();
        process(|| {
            let watch = mistaken(twin, desk.folder(), Person::watch(&person));
            let Ok(workspace) = desk.watched(watch) else { return };
            for _ in 0..4 {
                act(&workspace, &person, twin);
            }
        });
    }
    clean_up();
    let mut person = person.lock().unwrap();
    let workspace = desk.open();
    // Also after the last edit, when the files that were replaced are in the store.
    (0..3).for_each(|_| person.act());
    let displaced = workspace.store.displaced().map_err(|error| error.to_string())?;
    let displaced: Vec<(String, String)> = displaced
        .into_iter()
        .filter_map(|it| {
            let text = fs::read_to_string(desk.store().join("kept").join(it.kept?)).unwrap();
            Some((it.path.to_string(), text))
        })
        .collect();
    person.figures.displaced += u64::try_from(displaced.len()).unwrap();
    if let Some(lost) = person.lost(&displaced) {
        return Err(format!("lost: {lost}"));
    }
    for name in desk.files() {
        let text = fs::read(desk.path(&name)).unwrap();
        if !person.known.contains(&text) {
            return Err(format!("{name} is torn: {}", String::from_utf8_lossy(&text)));
        }
    }
    match desk.temporary_files()[..] {
        [] => Ok(person.figures),
        ref left => Err(format!("temporary files: {left:?}")),
    }
}

/// Makes the mistake of a twin in the steps of an edit, after what the person does there.
fn mistaken(twin: Option<Twin>, folder: PathBuf, person: Watch) -> Watch {
    Box::new(move |step, place| {
        person(step, place)?;
        let path = folder.join(place.as_str());
        match (twin, step, temporary(&path)) {
            (Some(Twin::PlainRename), Step::Compared, Some(new)) => fs::rename(new, path).unwrap(),
            (Some(Twin::NoSecondDigest), Step::Exchanged, Some(old)) => {
                fs::remove_file(old).unwrap();
            }
            _ => {}
        }
        Ok(())
    })
}

/// A temporary file beside a path.
fn temporary(path: &Path) -> Option<PathBuf> {
    let mut files = fs::read_dir(path.parent()?).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    files.find(|file| file.to_string_lossy().contains(TEMPORARY))
}

/// The agent edits some files, or undoes.
fn act(workspace: &Workspace, person: &Mutex<Person>, twin: Option<Twin>) {
    let (is_undo, requests) = {
        let mut person = person.lock().unwrap();
        if person.random.one_in(2) {
            person.act();
        }
        (person.random.one_in(4), requests(&mut person))
    };
    if is_undo && twin == Some(Twin::UndoByPath) {
        return undo_by_path(workspace);
    }
    if is_undo {
        if workspace.undo().is_ok_and(|report| report.ending == Ending::Applied) {
            person.lock().unwrap().figures.undone += 1;
        }
        return;
    }
    let Ok(set) = workspace.plan(&requests) else { return };
    {
        let mut person = person.lock().unwrap();
        for request in &requests {
            match request {
                Request::Patch { .. } => {}
                Request::Write { path, .. }
                | Request::Delete { path, .. }
                | Request::Move { path, .. } => person.forget(path.as_str()),
            }
        }
        let after = set.changes.iter().filter_map(|change| change.after);
        person.known.extend(after.map(|it| workspace.store.get(it.digest).unwrap()));
    }
    match workspace.apply(&set, None) {
        Ok(report) if report.ending == Ending::Applied => {
            person.lock().unwrap().figures.applied += 1;
        }
        Ok(_) => {}
        // More lines than are removed without a person.
        Err(refusal) if refusal.why == refusal::REMOVES_MOST.1 => {}
        Err(refusal) => {
            assert!([Code::E_CONFLICT, Code::E_IO].contains(&refusal.code), "{refusal}");
        }
    }
}

/// The mistake: whatever is at a path is replaced.
fn undo_by_path(workspace: &Workspace) {
    let Some(newest) = workspace.store.numbers().unwrap().first().copied() else { return };
    for change in workspace.store.record(newest).unwrap().set.changes {
        let path = workspace.folder.path.join(change.path.as_str());
        let _ = match change.before {
            Some(image) => fs::write(path, workspace.store.get(image.digest).unwrap()),
            None => fs::remove_file(path),
        };
    }
}

/// Tools for up to three files.
fn requests(person: &mut Person) -> Vec<Request> {
    let mut requests = Vec::new();
    let mut paths: Vec<&str> = (0..3).map(|_| person.any_path()).collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        let number = person.random.below(1 << 40);
        let text = format!("agent {number}.\n");
        let Ok(old) = fs::read_to_string(person.folder.join(path)) else {
            requests.push(write(path, &text, None));
            continue;
        };
        requests.push(match (person.random.below(6), old.lines().next()) {
            (0, _) | (_, None) => write(path, &text, Some(&old)),
            (1, _) => delete(path, &old),
            (2, _) => rename(path, &format!("moved/{number}")),
            // What a person wrote stays.
            (_, Some(first)) => patch(path, &format!("@@\n {first}\n+{text}")),
        });
    }
    requests
}
