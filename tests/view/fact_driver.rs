//! Facts reach a sink at most once, whatever the sink and the processes do.

use std::{
    collections::BTreeSet,
    fmt,
    fs::{self, OpenOptions as Files},
    io::Write,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use machine::{
    observe::{FactExporter, FactSink, FactsExported},
    store::LoadError,
};
use machine_tests::{random::Random, samples::Ticket};
use tokio::sync::oneshot;

use crate::{view::prelude::*, worker::prelude::until};

/// Keeps its input, after an action of the test.
#[derive(Default)]
struct Kept {
    facts: Mutex<Vec<View<ExecutionFact>>>,
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

    async fn remember(&self, fact: View<ExecutionFact>) -> Result<(), Refused> {
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
        until(&format!("{count} facts arrive"), async || self.ids().len() >= count).await;
    }
}

/// A file, and the logs of other processes that deliver its facts.
struct Place {
    folder: tempfile::TempDir,
    store: Store,
}

impl Place {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::sqlite(folder.path().join("agent.db")).await.unwrap();
        Self { folder, store }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("agent.db")
    }

    /// Starts two drivers in processes of their own, each with a log of its deliveries.
    fn others(&self, round: usize) -> [Child; 2] {
        [0, 1].map(|number| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "view::fact_driver::delivers", "--test-threads=1"])
                .env("MACHINE_TEST_FILE", self.file())
                .env("MACHINE_TEST_LOG", self.folder.path().join(format!("{round}-{number}.log")))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
    }

    /// The facts in the logs of other processes.
    fn delivered(&self) -> Vec<Id> {
        let files = fs::read_dir(self.folder.path()).unwrap().map(|file| file.unwrap().path());
        let logs = files.filter(|path| path.extension().is_some_and(|it| it == "log"));
        let text: String = logs.map(|path| fs::read_to_string(path).unwrap()).collect();
        text.split_terminator('\n').filter_map(|line| line.parse().ok()).collect()
    }
}

fn kill(others: [Child; 2]) {
    for mut other in others {
        other.kill().unwrap();
        other.wait().unwrap();
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
async fn a_backup_resumes_at_its_position() {
    let (place, sink) = (Place::new().await, Arc::new(Kept::default()));
    ended(&place.store, 0).await;
    Driver::delivers(&place.store, &sink, 1).await;
    let copy = place.folder.path().join("copy.db");
    place.store.backup(&copy, |_| {}).await.unwrap();

    let restored = Store::sqlite(&copy).await.unwrap();
    let later = ended(&restored, 1).await;
    Driver::delivers(&restored, &sink, 2).await;
    assert_eq!(sink.ids()[1..], [later]);
}

/// A driver that runs until it is stopped.
struct Driver {
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<Result<FactsExported, LoadError>>,
}

impl Driver {
    fn start(store: &Store, sink: &Arc<Kept>) -> Self {
        Self::with(FactExporter::new(store, "memory", Arc::clone(sink)))
    }

    fn with(remember: FactExporter<Arc<Kept>>) -> Self {
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

    /// Runs until the sink has this many.
    async fn delivers(store: &Store, sink: &Arc<Kept>, count: usize) -> FactsExported {
        let driver = Self::start(store, sink);
        sink.wait_for(count).await;
        driver.stop().await
    }

    async fn stop(self) -> FactsExported {
        let _ = self.stop.send(());
        self.task.await.unwrap().unwrap()
    }
}

/// One fact for each execution that ends, in order, and none for anything else.
#[tokio::test]
async fn each_end_is_a_fact() {
    let place = Place::new().await;
    for store in [Store::memory(), place.store] {
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
        assert_eq!(Driver::delivers(&store, &sink, 1).await.delivered, 1);
        assert_eq!(sink.ids(), expected);
        let other = Arc::new(Kept::default());
        let driver = Driver::with(FactExporter::new(&store, "another", Arc::clone(&other)));
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
    let remember = FactExporter::new(&store, "memory", Arc::clone(&sink));
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

/// The driver ends on request, also while idle, and when the store cannot be used.
#[tokio::test]
async fn a_driver_ends() {
    let (place, sink) = (Place::new().await, Arc::new(Kept::default()));
    let store = &place.store;
    let driver = Driver::start(store, &sink);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(driver.stop().await, FactsExported::default());

    ended(store, 0).await;
    let observer = OpenOptions::new().read_only(place.file()).await.unwrap();
    let refused = Driver::start(&observer, &sink).task.await.unwrap();
    assert_err!(refused, LoadError::Unavailable(error) if error.is_read_only());
    assert!(sink.ids().is_empty());

    let driver = Driver::start(store, &sink);
    sink.wait_for(1).await;
    store.close().await.unwrap();
    let ended = driver.task.await.unwrap();
    assert_err!(ended, LoadError::Unavailable(error) if error.is_stopped());
}

/// An execution that was pruned before its delivery is not delivered, and does not end the driver.
#[tokio::test]
async fn pruned_executions_are_not_facts() {
    let store = Store::memory();
    ended(&store, 0).await;
    let kept = ended(&store, 1).await;
    let all = machine::store::Prune::ended_for(Duration::ZERO);
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(store.prune(&all, ann(), |_| {}).await.unwrap().machines, 1);
    let sink = Arc::new(Kept::default());
    assert_eq!(Driver::delivers(&store, &sink, 1).await.delivered, 1);
    assert_eq!(sink.ids(), [kept]);
}

/// Several drivers with one name, in this process and in others, share the facts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_drivers_share_the_facts() {
    let (place, sink) = (Place::new().await, Arc::new(Kept::default()));
    let others = place.others(0);
    let mut drivers = Vec::new();
    for _ in 0..3 {
        drivers.push(Driver::start(&Store::sqlite(place.file()).await.unwrap(), &sink));
    }
    let mut expected = BTreeSet::new();
    for number in 0..150 {
        expected.insert(ended(&place.store, number).await);
    }
    let found = || [place.delivered(), sink.ids()].concat();
    until("all are delivered", async || found().len() >= expected.len()).await;
    // Whatever would come twice would come now.
    tokio::time::sleep(Duration::from_millis(200)).await;
    for driver in drivers {
        driver.stop().await;
    }
    kill(others);
    let found = found();
    assert_eq!(found.len(), expected.len(), "some came twice");
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
}

/// Processes are killed with SIGKILL at any moment: no fact comes twice, and each kill loses one at most.
#[tokio::test]
async fn killed_drivers_deliver_nothing_twice() {
    let (place, sink) = (Place::new().await, Arc::new(Kept::default()));
    let (mut expected, mut kills) = (BTreeSet::new(), 0);
    let mut random = Random::of("killed drivers");
    for round in 0..12 {
        let before = place.delivered().len();
        let others = place.others(round);
        for number in 0..30 {
            expected.insert(ended(&place.store, 100 * round + number).await);
        }
        until("they begin to deliver", async || place.delivered().len() > before).await;
        tokio::time::sleep(Duration::from_micros(random.number() % 40_000)).await;
        kill(others);
        kills += 2;
    }
    let driver = Driver::start(&place.store, &sink);
    let last = ended(&place.store, 9999).await;
    expected.insert(last);
    until("the last one arrives", async || sink.ids().contains(&last)).await;
    driver.stop().await;
    let found = [place.delivered(), sink.ids()].concat();
    let once: BTreeSet<Id> = found.iter().copied().collect();
    assert_eq!(found.len(), once.len(), "some came twice: {found:?}");
    assert!(once.is_subset(&expected));
    let lost = expected.len() - once.len();
    assert!(lost <= kills, "{lost} were lost by {kills} kills");
    eprintln!("{} facts, {lost} lost by {kills} kills", expected.len());
}

/// Writes each id in one write, so that a line is there as a whole or not at all.
struct Log(PathBuf);

impl FactSink for Log {
    type Error = std::io::Error;

    async fn remember(&self, fact: View<ExecutionFact>) -> Result<(), std::io::Error> {
        let mut log = Files::new().append(true).create(true).open(&self.0)?;
        log.write_all(format!("{}\n", fact.execution_id).as_bytes())
    }
}

#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn delivers() {
    let path = |name: &str| PathBuf::from(std::env::var_os(name).unwrap());
    let store = Store::sqlite(path("MACHINE_TEST_FILE")).await.unwrap();
    let remember = FactExporter::new(&store, "memory", Log(path("MACHINE_TEST_LOG")));
    remember.run_until(std::future::pending()).await.unwrap();
}
