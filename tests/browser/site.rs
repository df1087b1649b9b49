//! A server on loopback with a real file, and what programs do with that file meanwhile.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use machine::{
    Id,
    actor::{Actors, Human},
    contract::{AnyExecution, Contract},
    http::{Access, Http, serve},
    store::Store,
};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot};

use crate::mail::SendMail;

/// The tokens of the operators Ann and Tom.
pub(crate) const ANN: &str = "the-secret-of-ann";
pub(crate) const TOM: &str = "the-secret-of-tom";

pub(crate) struct Site {
    pub(crate) store: Store,
    pub(crate) actors: Actors,
    pub(crate) address: SocketAddr,
    folder: TempDir,
    /// Dropping it stops the server.
    _stop: oneshot::Sender<()>,
}

impl Site {
    pub(crate) async fn open() -> Self {
        let folder = TempDir::new().unwrap();
        let store = Store::sqlite(folder.path().join("agent.db")).await.unwrap();
        let access = Access::new()
            .operator(Human::new("ann").unwrap(), ANN)
            .and_then(|access| access.operator(Human::new("tom").unwrap(), TOM))
            .unwrap();
        let http = Http::new(&store, Actors::issue("inspector").unwrap())
            .access(access)
            .command("machine --db agent.db");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(serve(listener, http, async { drop(stopped.await) }));
        let actors = Actors::issue("agent").unwrap();
        Self { store, actors, address, folder, _stop: stop }
    }

    /// A path next to the file of the store.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// An agent asks for a mail; returns the gate and the mail.
    pub(crate) async fn ask(&self, to: &str) -> (Id, Id) {
        self.ask_within(to, None, "monday").await
    }

    /// The same with a time limit, in a session.
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

    /// Somebody approves, elsewhere.
    pub(crate) async fn approve(&self, gate: Id, by: &str) {
        let gate = self.store.gate(gate).await.unwrap();
        self.store.approve(gate, &Human::new(by).unwrap()).await.unwrap();
    }

    /// The state's name of an execution.
    pub(crate) async fn status(&self, id: Id) -> String {
        let execution: AnyExecution = self.store.load(id).await.unwrap();
        execution.status().definition().name.to_string()
    }
}
