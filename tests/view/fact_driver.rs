//! Facts reach a sink at most once, whatever the sink and the processes do.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    fs::{self, OpenOptions as Files},
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use machine::{
    Id,
    contract::Execution,
    store::{LoadError, OpenOptions, Store},
    view::{ExecutionFact, FactSink, Remember, Remembered},
};
use machine_tests::{
    actors::{ann, tool_node},
    assert_err,
    samples::{Ticket, asked, read},
};
use tokio::sync::oneshot;

/// Keeps what it gets, after doing what the test says.
#[derive(Default)]
struct Kept {
    facts: Mutex<Vec<ExecutionFact>>,
    behaves: Option<fn(usize) -> Behaviour>,
}

enum Behaviour {
    Takes,
    Fails,
    Panics,
    Hangs,
}

#[derive(Debug)]
struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the memory is full")
    }
}

impl FactSink for Kept {
    type Error = Refused;

    async fn remember(&self, fact: ExecutionFact) -> Result<(), Refused> {
        let number = {
            let mut facts = self.facts.lock().unwrap();
            facts.push(fact);
            facts.len()
        };
        match self.behaves.map_or(Behaviour::Takes, |behaves| behaves(number)) {
            Behaviour::Takes => Ok(()),
            Behaviour::Fails => Err(Refused),
            Behaviour::Panics => panic!("a sink of a test"),
            Behaviour::Hangs => std::future::pending().await,
        }
    }
}

impl Kept {
    fn behaves(behaves: fn(usize) -> Behaviour) -> Arc<Self> {
        Arc::new(Self { behaves: Some(behaves), ..Self::default() })
    }

    fn ids(&self) -> Vec<Id> {
        self.facts.lock().unwrap().iter().map(|fact| fact.execution_id).collect()
    }

    async fn wait_for(&self, count: usize) {
        let start = Instant::now();
        while self.ids().len() < count {
            assert!(start.elapsed() < Duration::from_secs(30), "{} of {count}", self.ids().len());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// An execution that has ended.
async fn ended(store: &Store, number: usize) -> Id {
    let mut running = Execution::new(read(&format!("{number}.txt"))).start(tool_node());
    store.create(&mut running).await.unwrap();
    let mut done = running.succeed(format!("{number} bytes"), tool_node());
    store.commit(&mut done).await.unwrap();
    done.id()
}

/// A backup does not deliver facts that the original had delivered when the backup was made.
#[tokio::test]
async fn a_backup_goes_on_where_it_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::sqlite(folder.path().join("agent.db")).await.unwrap();
    let sink = Arc::new(Kept::default());
    let _ = ended(&store, 0).await;
    let driver = Driver::start(&store, &sink);
    sink.wait_for(1).await;
    driver.stop().await;
    let copy = folder.path().join("copy.db");
    store.backup(&copy, |_| {}).await.unwrap();

    let restored = Store::sqlite(&copy).await.unwrap();
    let later = ended(&restored, 1).await;
    let driver = Driver::start(&restored, &sink);
    sink.wait_for(2).await;
    driver.stop().await;
    assert_eq!(sink.ids()[1..], [later]);
}

/// A driver that runs until it is stopped.
struct Driver {
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<Result<Remembered, LoadError>>,
}

impl Driver {
    fn start(store: &Store, sink: &Arc<Kept>) -> Self {
        Self::with(Remember::new(store, "memory", Arc::clone(sink)))
    }

    fn with(remember: Remember<Arc<Kept>>) -> Self {
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            remember
                .run_until(async {
                    let _ = stopped.await;
                })
                .await
        });
        Self { stop, task }
    }

    async fn stop(self) -> Remembered {
        let _ = self.stop.send(());
        self.task.await.unwrap().unwrap()
    }
}

/// One fact for each execution that ends, in order, and none for anything else.
#[tokio::test]
async fn each_end_is_a_fact() {
    for place in [None, Some(tempfile::tempdir().unwrap())] {
        let store = match &place {
            Some(folder) => Store::sqlite(folder.path().join("agent.db")).await.unwrap(),
            None => Store::memory(),
        };
        let mut expected = vec![ended(&store, 0).await];
        store.create(&mut asked("Deploy?")).await.unwrap();
        let sink = Arc::new(Kept::default());
        let driver = Driver::start(&store, &sink);
        sink.wait_for(1).await;
        let mut ticket = Ticket::new().close("fixed".to_owned(), 1.0);
        store.create(&mut ticket).await.unwrap();
        for number in 1..20 {
            expected.push(ended(&store, number).await);
        }
        sink.wait_for(20).await;
        let done = driver.stop().await;
        assert_eq!((done.delivered, done.failed, done.unreadable), (20, 0, 0));
        assert_eq!(sink.ids(), expected);

        // Another start continues, under another name it begins again.
        expected = vec![ended(&store, 20).await];
        let sink = Arc::new(Kept::default());
        let driver = Driver::start(&store, &sink);
        sink.wait_for(1).await;
        assert_eq!(driver.stop().await.delivered, 1);
        assert_eq!(sink.ids(), expected);
        let other = Arc::new(Kept::default());
        let driver = Driver::with(Remember::new(&store, "another", Arc::clone(&other)));
        other.wait_for(21).await;
        driver.stop().await;
        store.close().await.unwrap();
    }
}

/// Errors, panics and sinks that hang cost their own fact, and nothing else.
#[tokio::test]
async fn a_failing_sink_stops_nothing() {
    let store = Store::memory();
    let sink = Kept::behaves(|number| match number % 4 {
        1 => Behaviour::Fails,
        2 => Behaviour::Panics,
        3 => Behaviour::Hangs,
        _ => Behaviour::Takes,
    });
    let remember = Remember::new(&store, "memory", Arc::clone(&sink));
    let driver = Driver::with(remember.timeout(Duration::from_millis(20)));
    let mut expected = Vec::new();
    for number in 0..12 {
        expected.push(ended(&store, number).await);
    }
    sink.wait_for(12).await;
    let done = driver.stop().await;
    assert_eq!((done.delivered, done.failed), (3, 9));
    assert_eq!(sink.ids(), expected);
}

/// The driver ends when it is told to, also while nothing happens, and when the store cannot be used.
#[tokio::test]
async fn a_driver_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let store = Store::sqlite(&file).await.unwrap();
    let sink = Arc::new(Kept::default());
    let driver = Driver::start(&store, &sink);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(driver.stop().await, Remembered::default());

    ended(&store, 0).await;
    let observer = OpenOptions::new().read_only(&file).await.unwrap();
    let refused = Driver::start(&observer, &sink).task.await.unwrap();
    assert_err!(refused, LoadError::Unavailable(error) if error.is_read_only());
    assert!(sink.ids().is_empty());

    let driver = Driver::start(&store, &sink);
    sink.wait_for(1).await;
    store.close().await.unwrap();
    let ended = driver.task.await.unwrap();
    assert_err!(ended, LoadError::Unavailable(error) if error.is_stopped());
}

/// An execution that was pruned before its delivery is no fact any more, and does not end the driver.
#[tokio::test]
async fn what_was_pruned_is_no_fact() {
    let store = Store::memory();
    ended(&store, 0).await;
    let kept = ended(&store, 1).await;
    let all = machine::store::Prune::ended_for(Duration::ZERO);
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(store.prune(&all, ann(), |_| {}).await.unwrap().machines, 1);
    let sink = Arc::new(Kept::default());
    let driver = Driver::start(&store, &sink);
    sink.wait_for(1).await;
    assert_eq!(driver.stop().await.delivered, 1);
    assert_eq!(sink.ids(), [kept]);
}

/// Several drivers with one name, in this process and in others, share the facts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_drivers_share_the_facts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let store = Store::sqlite(&file).await.unwrap();
    let mut others: Vec<_> = (0..2).map(|number| spawn(&file, folder.path(), number)).collect();
    let sink = Arc::new(Kept::default());
    let mut drivers = Vec::new();
    for _ in 0..3 {
        drivers.push(Driver::start(&Store::sqlite(&file).await.unwrap(), &sink));
    }
    let mut expected = BTreeSet::new();
    for number in 0..150 {
        expected.insert(ended(&store, number).await);
    }
    let found = || {
        let mut found = delivered(folder.path());
        found.extend(sink.ids());
        found
    };
    let start = Instant::now();
    while found().len() < expected.len() {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "{} of {}",
            found().len(),
            expected.len()
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Whatever would come twice would come now.
    tokio::time::sleep(Duration::from_millis(200)).await;
    for driver in drivers {
        driver.stop().await;
    }
    for other in &mut others {
        other.kill().unwrap();
        other.wait().unwrap();
    }
    let found = found();
    assert_eq!(found.len(), expected.len(), "some came twice");
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
}

/// Processes are killed with SIGKILL at any moment: no fact comes twice, and each kill loses one at most.
#[tokio::test]
async fn killed_drivers_deliver_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.db");
    let store = Store::sqlite(&file).await.unwrap();
    let (mut expected, mut kills) = (BTreeSet::new(), 0);
    let mut random = u64::from(std::process::id()) | 1;
    for round in 0..12 {
        let mut others: Vec<_> =
            (0..2).map(|number| spawn(&file, folder.path(), 10 * round + number)).collect();
        for number in 0..30 {
            expected.insert(ended(&store, 100 * round + number).await);
        }
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let before = delivered(folder.path()).len();
        let start = Instant::now();
        // After it has begun to deliver.
        while delivered(folder.path()).len() == before && start.elapsed() < Duration::from_secs(20)
        {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        tokio::time::sleep(Duration::from_micros((random >> 33) % 40_000)).await;
        for other in &mut others {
            other.kill().unwrap();
            other.wait().unwrap();
            kills += 1;
        }
    }
    let sink = Arc::new(Kept::default());
    let driver = Driver::start(&store, &sink);
    let last = ended(&store, 9999).await;
    expected.insert(last);
    while !sink.ids().contains(&last) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    driver.stop().await;
    let mut times: BTreeMap<Id, usize> = BTreeMap::new();
    for id in delivered(folder.path()).into_iter().chain(sink.ids()) {
        *times.entry(id).or_default() += 1;
    }
    assert!(times.values().all(|times| *times == 1), "some came twice: {times:?}");
    assert!(times.keys().all(|id| expected.contains(id)));
    let lost = expected.len() - times.len();
    assert!(lost <= kills, "{lost} were lost by {kills} kills");
    eprintln!("{} facts, {lost} lost by {kills} kills", expected.len());
}

/// The facts in the logs of other processes.
fn delivered(folder: &Path) -> Vec<Id> {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let logs = files.filter(|path| path.extension().is_some_and(|it| it == "log"));
    let text: String = logs.map(|path| fs::read_to_string(path).unwrap()).collect();
    text.split_terminator('\n').filter_map(|line| line.parse().ok()).collect()
}

/// A driver in a separate process, with a log of its deliveries.
fn spawn(file: &Path, folder: &Path, number: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "view::fact_driver::delivers", "--test-threads=1"])
        .env("MACHINE_TEST_FILE", file)
        .env("MACHINE_TEST_LOG", folder.join(format!("{number}.log")))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Writes each id in one write, so that a line is there as a whole or not at all.
struct Log(PathBuf);

impl FactSink for Log {
    type Error = std::io::Error;

    async fn remember(&self, fact: ExecutionFact) -> Result<(), std::io::Error> {
        let mut log = Files::new().append(true).create(true).open(&self.0)?;
        log.write_all(format!("{}\n", fact.execution_id).as_bytes())
    }
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn delivers() {
    let path = |name: &str| PathBuf::from(std::env::var_os(name).unwrap());
    let store = Store::sqlite(path("MACHINE_TEST_FILE")).await.unwrap();
    let remember = Remember::new(&store, "memory", Log(path("MACHINE_TEST_LOG")));
    remember.run_until(std::future::pending()).await.unwrap();
}
