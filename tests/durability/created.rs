//! A process is killed or frozen at any moment while it creates a file, or recovers its log. The
//! file opens in every other process.

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use machine::store::{OpenError, OpenOptions, Query, Store};
use machine_tests::{
    STUCK,
    random::{Random, setting},
};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::{
    machines::Meter,
    process::{Act, Process, orders, say},
    support::{block_on, closes_intact, lines, new_file, options},
};

/// The busy timeout of the others while a process is frozen.
const BUSY: Duration = Duration::from_millis(200);

/// The number of rounds of each test.
fn rounds() -> usize {
    setting("MACHINE_CREATE_ROUNDS").unwrap_or(20)
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Said {
    Ready,
    Opened,
    Written,
}

/// Creates the file, and writes one machine.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn creates() {
    let (file, point): (PathBuf, Option<(String, Act)>) = orders();
    if let Some((point, act)) = point {
        // Frozen once: opening tries again.
        act.at(&point, 0);
    }
    say(&Said::Ready);
    // Its timeout runs while it is frozen, and the others may be slow.
    let patient = options().busy_timeout(Duration::from_mins(1));
    let store = patient.sqlite(&file).await.unwrap();
    say(&Said::Opened);
    store.create(&mut Meter::new()).await.unwrap();
    say(&Said::Written);
    std::thread::park();
}

/// The number of machines in the log that a killed process left.
const LOGGED: usize = 40;

/// Writes a log, and does not close it.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn logs() {
    let store = options().sqlite(orders::<PathBuf>()).await.unwrap();
    for _ in 0..LOGGED {
        store.create(&mut Meter::new()).await.unwrap();
    }
    say(&Said::Written);
    std::thread::park();
}

/// The state of the file before it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Before {
    Missing,
    /// The name is reserved.
    Empty,
    /// A killed process has left its log.
    Log,
}

impl Before {
    /// Where a child may end itself.
    fn points(self) -> &'static [&'static str] {
        match self {
            Self::Missing => &["create-begun", "create-written", "create-renamed"],
            Self::Empty => &["create-claimed", "create-logged"],
            Self::Log => &[],
        }
    }

    /// The number of machines in the file.
    fn machines(self) -> usize {
        if self == Self::Log { LOGGED } else { 0 }
    }
}

/// Where children are started, and how long they take.
struct Scene {
    random: Random,
    /// A folder with a log.
    logged: TempDir,
    /// The upper limits of the time until a signal.
    most: BTreeMap<Before, Duration>,
}

impl Scene {
    fn new(test: &str) -> Self {
        let (logged, file) = new_file();
        let mut child = Process::start("created::logs", &file);
        child.hear::<Said>();
        child.kill();
        let mut scene = Self { random: Random::of(test), logged, most: BTreeMap::new() };
        for before in [Before::Missing, Before::Empty, Before::Log] {
            let (_folder, file) = scene.file(before);
            let mut child = start(&file, None);
            let start = Instant::now();
            child.hear::<Said>();
            scene.most.insert(before, start.elapsed() * 5 / 4);
        }
        scene
    }

    fn before(&mut self) -> Before {
        *self.random.pick(&[Before::Missing, Before::Missing, Before::Empty, Before::Log])
    }

    /// A file in a new folder.
    fn file(&self, before: Before) -> (TempDir, PathBuf) {
        let (folder, file) = new_file();
        match before {
            Before::Missing => {}
            Before::Empty => fs::write(&file, "").unwrap(),
            // Without the shared memory, as after a restart of the system.
            Before::Log => {
                for name in ["agent.db", "agent.db-wal"] {
                    fs::copy(self.logged.path().join(name), folder.path().join(name)).unwrap();
                }
            }
        }
        (folder, file)
    }

    /// Runs a child until some moment; then it gets a signal, or has given itself one.
    fn ends(&mut self, before: Before, file: &Path, act: Act) -> (Process, Option<&'static str>) {
        let points = before.points();
        if !points.is_empty() && self.random.percent(25) {
            let point = *self.random.pick(points);
            let mut child = start(file, Some((point, act)));
            match act {
                Act::Kill => {
                    let said = child.hear_until_end::<Said>();
                    assert!(said.is_none(), "{point} was not reached: {said:?}");
                }
                Act::Freeze => child.freeze(),
            }
            return (child, Some(point));
        }
        (self.ends_at_random(before, file, act), None)
    }

    fn ends_at_random(&mut self, before: Before, file: &Path, act: Act) -> Process {
        let mut child = start(file, None);
        let most = usize::try_from(self.most[&before].as_micros()).unwrap();
        let until = Instant::now() + Duration::from_micros(self.random.below(most.max(1)) as u64);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        match act {
            Act::Kill => child.cut_short(),
            Act::Freeze => child.stop(),
        }
        child
    }
}

/// A child that is about to create the file.
fn start(file: &Path, point: Option<(&str, Act)>) -> Process {
    let mut child = Process::start("created::creates", &(file, point));
    child.hear::<Said>();
    child
}

/// The number of times that each result of opening was seen.
#[derive(Debug, Default)]
struct Figures {
    rounds: usize,
    read: usize,
    not_there: usize,
    no_store: usize,
    busy: usize,
    written: usize,
}

fn impatient() -> OpenOptions {
    options().busy_timeout(BUSY)
}

/// Opens the file in some way, in time.
fn opened(
    open: impl Future<Output = Result<Store, OpenError>>,
    round: &dyn fmt::Debug,
) -> Result<Store, OpenError> {
    let start = Instant::now();
    let opened = block_on(open);
    assert!(start.elapsed() < STUCK, "{round:?}: {:?}: {opened:?}", start.elapsed());
    opened
}

/// Reads the file; it may not be there yet, or busy.
fn reads(
    file: &Path,
    before: Before,
    figures: &mut Figures,
    may_be_busy: bool,
    round: &dyn fmt::Debug,
) {
    let busy = if may_be_busy { BUSY } else { STUCK };
    match opened(options().busy_timeout(busy).read_only(file), round) {
        Ok(store) => {
            figures.read += 1;
            let machines = block_on(lines(&store, &Query::new())).len();
            assert!([0, 1].contains(&(machines - before.machines())), "{round:?}");
            block_on(store.close()).unwrap();
        }
        Err(OpenError::CannotOpen { reason, .. }) if before == Before::Log => {
            panic!("{round:?}: {reason}");
        }
        Err(OpenError::CannotOpen { reason, .. }) if reason.contains("check the path") => {
            figures.not_there += 1;
        }
        Err(OpenError::CannotOpen { reason, .. }) if reason.contains("contains no store yet") => {
            figures.no_store += 1;
        }
        Err(OpenError::Unavailable(error)) if may_be_busy && error.is_busy() => figures.busy += 1,
        Err(error) => panic!("{round:?}: {error}: {:?}", files(file)),
    }
}

/// The files in the folder, and their sizes.
fn files(file: &Path) -> Vec<(String, u64)> {
    let files = fs::read_dir(file.parent().unwrap()).unwrap().map(|file| file.unwrap());
    let mut files: Vec<_> = files
        .map(|file| (file.file_name().into_string().unwrap(), file.metadata().unwrap().len()))
        .collect();
    files.sort();
    files
}

/// Everything works, and no trace of the interrupted operation is left.
fn works(file: &Path, least: usize, act: Act, round: &dyn fmt::Debug) {
    let store = match opened(options().must_exist().sqlite(file), round) {
        Ok(store) => store,
        // There was no store yet.
        Err(OpenError::CannotOpen { .. }) if least == 0 => {
            opened(options().sqlite(file), round).unwrap()
        }
        Err(error) => panic!("{round:?}: {error}: {:?}", files(file)),
    };
    block_on(async {
        let before = lines(&store, &Query::new()).await.len();
        assert!(before >= least, "{round:?}: a commit is lost");
        store.create(&mut Meter::new()).await.unwrap();
        let observer = options().read_only(file).await.unwrap();
        assert_eq!(lines(&observer, &Query::new()).await.len(), before + 1, "{round:?}");
        observer.close().await.unwrap();
        closes_intact(&store, file).await;
    });
    let mut left = files(file);
    // Opening that gave up on a frozen process may still read the log, which is then left empty.
    if act == Act::Freeze {
        left.retain(|(name, len)| !name.ends_with("-shm") && (!name.ends_with("-wal") || *len > 0));
    }
    assert!(left.len() == 1, "{round:?}: {left:?}");
}

#[test]
fn a_process_is_killed_while_it_creates_a_file() {
    let mut scene = Scene::new("killed while it creates");
    let mut figures = Figures::default();
    for number in 0..rounds() {
        let before = scene.before();
        let (_folder, file) = scene.file(before);
        let (mut child, point) = scene.ends(before, &file, Act::Kill);
        let mut written = 0;
        while let Some(said) = child.hear_until_end::<Said>() {
            written += usize::from(matches!(said, Said::Written));
        }
        child.ended();
        let round = (number, before, point, files(&file));
        reads(&file, before, &mut figures, false, &round);
        works(&file, before.machines() + written, Act::Kill, &round);
        figures.written += written;
        figures.rounds += 1;
    }
    eprintln!("within {:?}: {figures:?}", scene.most);
}

#[test]
fn a_process_is_frozen_while_it_creates_a_file() {
    let mut scene = Scene::new("frozen while it creates");
    let mut figures = Figures::default();
    for number in 0..rounds() {
        let before = scene.before();
        let (_folder, file) = scene.file(before);
        let (mut child, point) = scene.ends(before, &file, Act::Freeze);
        let round = (number, before, point, files(&file));
        reads(&file, before, &mut figures, true, &round);
        match opened(impatient().sqlite(&file), &round) {
            Ok(store) => {
                let written = block_on(store.create(&mut Meter::new()));
                figures.written += usize::from(written.is_ok());
                // It may be frozen in a transaction.
                if let Err(error) = written {
                    assert!(error.to_string().contains("locked"), "{round:?}: {error}");
                }
                let _ = block_on(store.close());
            }
            Err(OpenError::Unavailable(error)) if error.is_busy() => figures.busy += 1,
            Err(error) => panic!("{round:?}: {error}: {:?}", files(&file)),
        }
        child.thaw();
        // Its next steps succeed.
        while !matches!(child.hear::<Said>(), Said::Written) {}
        child.kill();
        works(&file, before.machines() + 1, Act::Freeze, &round);
        figures.rounds += 1;
    }
    eprintln!("within {:?}: {figures:?}", scene.most);
}

/// Several processes create one file at once, and some of them are killed. The others are not
/// disturbed.
#[test]
fn several_processes_create_one_file() {
    let mut scene = Scene::new("several create one file");
    for number in 0..rounds() {
        let before = *scene.random.pick(&[Before::Missing, Before::Empty]);
        let (_folder, file) = scene.file(before);
        let nowhere = None::<(String, Act)>;
        let start = || Process::start("created::creates", &(&file, &nowhere));
        let mut others = [start(), start()];
        let mut killed = scene.ends_at_random(before, &file, Act::Kill);
        for other in &mut others {
            while !matches!(other.hear::<Said>(), Said::Written) {}
        }
        drop(others);
        killed.ended();
        let store = block_on(options().sqlite(&file)).unwrap();
        let machines = block_on(lines(&store, &Query::new())).len();
        assert!([2, 3].contains(&machines), "{number}, {before:?}: {machines}");
        block_on(closes_intact(&store, &file));
    }
}
