//! A server on loopback with a real file, and what programs do with that file meanwhile.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use machine::{
    Id,
    actor::{Actors, Human},
    clock::{Clock, Millis, SystemClock},
    contract::{AnyExecution, Contract},
    store::{OpenOptions, Store},
};
use machine_console::http::{Access, Http, serve};
use tempfile::TempDir;
use tokio::{
    net::TcpListener,
    sync::{Mutex, oneshot},
    task::JoinHandle,
};

use crate::mail::SendMail;

/// The tokens of the operators Ann and Tom.
pub(crate) const ANN: &str = "the-secret-of-ann";
pub(crate) const TOM: &str = "the-secret-of-tom";

/// A name that a shell would not take literally, and its token.
pub(crate) const ODD_NAME: &str = "Ann O'Neil $HOME";
pub(crate) const ODD: &str = "the-secret-of-ann-o-neil";

pub(crate) struct Site {
    pub(crate) store: Store,
    pub(crate) actors: Actors,
    pub(crate) address: SocketAddr,
    pub(crate) clock: Shifted,
    pub(crate) folder: TempDir,
    file: PathBuf,
    server: Mutex<Server>,
}

/// A server that runs; what stops it, and its end.
type Server = (oneshot::Sender<()>, JoinHandle<()>);

impl Site {
    /// With a file of this name in a new folder.
    pub(crate) async fn open(name: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join(name);
        let clock = Shifted::default();
        let options = OpenOptions::new().clock(clock.clone());
        let store = options.sqlite(&file).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Mutex::new(start(listener, &store, &file, Access::new()));
        let actors = Actors::issue("agent").unwrap();
        Self { store, actors, address, clock, folder, file, server }
    }

    /// Stops the server and its streams.
    pub(crate) async fn stop(&self) {
        let mut server = self.server.lock().await;
        let (stop, ended) = &mut *server;
        drop(std::mem::replace(stop, oneshot::channel().0));
        ended.await.unwrap();
    }

    /// Starts it again at the same address, for this store.
    pub(crate) async fn start(&self, store: &Store) {
        self.start_with(store, &self.file, Access::new()).await;
    }

    async fn start_with(&self, store: &Store, file: &Path, access: Access) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        *self.server.lock().await = start(listener, store, file, access);
    }

    /// Starts the server on a copy of the file, `k.db`.
    pub(crate) async fn replace(&self) {
        let copy = self.folder.path().join("k.db");
        self.store.backup(&copy, |_| {}).await.unwrap();
        self.stop().await;
        let other = OpenOptions::new().sqlite(&copy).await.unwrap();
        self.start_with(&other, &copy, Access::new()).await;
    }

    /// Starts the server with the token of Ann as one of Tom.
    pub(crate) async fn start_for_tom(&self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        let http = Http::new(&self.store, Actors::issue("machine").unwrap())
            .access(Access::new().operator(Human::new("tom").unwrap(), ANN).unwrap());
        *self.server.lock().await =
            run(listener, http.command("machine --db agent.db").database("agent.db"));
    }

    /// Starts the server so that reading needs a token, too.
    pub(crate) async fn start_closed(&self) {
        self.start_with(&self.store, &self.file, Access::new().tokens_only()).await;
    }

    /// An agent asks for a mail; returns the gate and the mail.
    pub(crate) async fn ask(&self, to: &str) -> (Id, Id) {
        self.ask_within(to, None, "monday").await
    }

    /// Sends a request in a session, with a time limit.
    pub(crate) async fn ask_within(
        &self,
        to: &str,
        limit: Option<Duration>,
        session: &str,
    ) -> (Id, Id) {
        let contract = Contract::of(&SendMail::to(to), &self.actors.reasoning_node).unwrap();
        let contract = contract.session(session);
        let asked = contract.ask::<SendMail>(limit, &self.actors.ecs_node);
        let (mut gate, mut mail) = asked.unwrap();
        self.store.ask(&mut gate, &mut mail).await.unwrap();
        (gate.id(), mail.id())
    }

    /// Approves the gate from elsewhere.
    pub(crate) async fn approve(&self, gate: Id, by: &str) {
        let gate = self.store.gate(gate).await.unwrap();
        machine_tests::approve(&self.store, gate, &Human::new(by).unwrap()).await.unwrap();
    }

    /// The state's name of an execution.
    pub(crate) async fn status(&self, id: Id) -> String {
        let execution: AnyExecution = self.store.load(id).await.unwrap();
        execution.status().definition().name.to_string()
    }
}

/// The clock of this computer, set back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shifted(Arc<AtomicI64>);

impl Shifted {
    /// Sets the clock back by this much from now on.
    pub(crate) fn set_back(&self, by: Duration) {
        self.0.store(i64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for Shifted {
    fn now(&self) -> Millis {
        SystemClock.now() - self.0.load(Ordering::SeqCst)
    }
}

fn start(listener: TcpListener, store: &Store, file: &Path, access: Access) -> Server {
    let access = access
        .operator(Human::new("ann").unwrap(), ANN)
        .and_then(|access| access.operator(Human::new("tom").unwrap(), TOM))
        .and_then(|access| access.operator(Human::new(ODD_NAME).unwrap(), ODD))
        .unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    // The commands work in the folder of the file.
    let command = match name {
        "agent.db" => "machine --db agent.db".to_owned(),
        odd => format!("machine --db '{}'", odd.replace('\'', r"'\''")),
    };
    let http = Http::new(store, Actors::issue("machine").unwrap())
        .access(access)
        .command(command)
        .database(name);
    run(listener, http)
}

fn run(listener: TcpListener, http: Http) -> Server {
    let (stop, stopped) = oneshot::channel::<()>();
    let serving =
        async move { serve(listener, http, async { drop(stopped.await) }).await.unwrap() };
    (stop, tokio::spawn(serving))
}
