//! A file with machines in it, which the command line and the server work on.

use std::{
    any::Any,
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::Mutex,
    time::Duration,
};

use machine::{
    Id,
    actor::{Actors, GraphRunner, Human},
    contract::{
        Action, ActionRefusal, AnyExecution, CallError, Contract, Gate, NoReceipt, Perform,
        Planned, Settled, ToolCall, ToolSpec,
    },
    machine,
    store::{Message, OpenOptions, Store},
    view::Label,
    worker::Worker,
};
use machine_tests::{
    actors::{ecs_node, tool_node},
    samples::{answers, asked, asked_in, mail, receipt},
    stores::{begun, planned, stored},
};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::{store::support::drop_triggers, surfaces::http::Served};

/// A folder with a file in it.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) store: Store,
    /// Of the server, once it has started.
    pub(crate) address: SocketAddr,
    /// Of all servers, one after the other: nobody takes the port between two of them.
    pub(super) listener: Option<TcpListener>,
    pub(super) served: Option<Served>,
    /// Permits of calls that are in flight.
    kept: Mutex<Vec<Box<dyn Any + Send>>>,
}

/// A machine of the program's own.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Order {
    #[initial]
    #[stable]
    #[on(confirm(amount, note) => Paying, by = Human)]
    #[on(cancel(reason) => Cancelled, by = Human)]
    Asking,
    #[stable]
    #[on(audit => Paid, by = GraphRunner)]
    #[on(again => Asking, by = GraphRunner)]
    #[on(accept => Paid, by = Human)]
    Paying {
        #[audience(human)]
        amount: u32,
        note: Option<String>,
    },
    #[terminal]
    Paid,
    #[terminal]
    Cancelled { reason: String },
}

/// A machine of the program's own that makes a call.
#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Errand {
    #[initial]
    #[stable]
    #[invoke(mail, approve, done = sent, failed = not_sent)]
    #[on(sent(receipt) => Sent)]
    #[on(not_sent(why) => NotSent)]
    #[on(confirm(amount) => Paid, by = Human)]
    #[on(cancel(reason) => Cancelled, by = Human)]
    Mailing { mail: ToolCall },
    #[terminal]
    Sent { receipt: String },
    #[terminal]
    NotSent { why: CallError<ActionRefusal> },
    #[terminal]
    Paid { amount: u32 },
    #[terminal]
    Cancelled { reason: String },
}

impl Place {
    pub(crate) async fn new() -> Self {
        Self::with(&OpenOptions::new()).await
    }

    pub(crate) async fn with(options: &OpenOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = options.sqlite(folder.path().join("agent.db")).await.unwrap();
        let (address, kept) = (([127, 0, 0, 1], 0).into(), Mutex::default());
        Self { folder, store, address, listener: None, served: None, kept }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("agent.db")
    }

    pub(crate) async fn label(&self, id: Id) -> Label {
        Label::of(&self.store.load::<AnyExecution>(id).await.unwrap())
    }

    /// Runs the program of the orders and errands until nothing is left to do.
    pub(crate) async fn work(&self) {
        let worker = Worker::new(&self.store, Actors::issue("shop").unwrap()).machine::<AnyOrder>();
        worker.machine::<AnyErrand>().run_until_idle().await.unwrap();
    }

    /// Edits the file, bypassing the library.
    pub(crate) fn edit(&self, sql: &str) {
        let raw = rusqlite::Connection::open(self.file()).unwrap();
        raw.pragma_update(None, "foreign_keys", 0).unwrap();
        drop_triggers(&raw);
        assert!(raw.execute(sql, []).unwrap() > 0, "{sql}");
    }

    /// Edits a machine, bypassing the library: `ID` is its id.
    pub(crate) fn edit_machine(&self, id: Id, sql: &str) {
        let digits = id.to_string().replace('-', "");
        self.edit(&sql.replace("ID", &format!("x'{digits}'")));
    }
}

/// Machines in their situations.
impl Place {
    /// A mail behind a gate.
    pub(crate) async fn gate(&self, to: &str) -> (Gate, Planned<Action>) {
        self.gate_of(mail(to)).await
    }

    pub(crate) async fn gate_of(&self, contract: Contract) -> (Gate, Planned<Action>) {
        self.gate_within(contract, None).await
    }

    /// A gate that may be answered for so long.
    pub(crate) async fn gate_within(
        &self,
        contract: Contract,
        limit: Option<Duration>,
    ) -> (Gate, Planned<Action>) {
        let (mut gate, mut planned) = contract.ask::<Action>(limit, ecs_node()).unwrap();
        self.store.ask(&mut gate, &mut planned).await.unwrap();
        (gate, planned)
    }

    /// A gate whose time to answer has passed.
    pub(crate) async fn expired_gate(&self, contract: Contract) -> Gate {
        let (gate, _) = self.gate_within(contract, Some(Duration::from_millis(1))).await;
        while self.store.now() < gate.expires_at().unwrap() {
            tokio::task::yield_now().await;
        }
        gate
    }

    /// A question to a person.
    pub(crate) async fn question(&self) -> Id {
        let mut question = asked("Which port?");
        self.store.create(&mut question).await.unwrap();
        question.id()
    }

    pub(crate) async fn question_of(&self, contract: Contract) -> Id {
        let mut question = asked_in(contract);
        self.store.create(&mut question).await.unwrap();
        question.id()
    }

    /// A mail that no worker has begun.
    pub(crate) async fn pending(&self, to: &str) -> Id {
        stored(&self.store, mail(to)).await.id()
    }

    /// A call in flight, whose worker is this process.
    pub(crate) async fn running(&self, to: &str) -> Id {
        let (running, permit) = begun(&self.store, mail(to)).await;
        let id = running.id();
        self.kept.lock().unwrap().push(Box::new((running, permit)));
        id
    }

    /// An execution in doubt, whose worker is this process.
    pub(crate) async fn doubt(&self, to: &str) -> Id {
        self.doubt_of(mail(to)).await
    }

    pub(crate) async fn doubt_of(&self, contract: Contract) -> Id {
        let unknown = answers(Err(NoReceipt::unknown("connection lost")));
        let (id, settled) = self.performed(contract, unknown).await;
        assert!(matches!(settled, Settled::InDoubt(_)), "{settled:?}");
        id
    }

    /// An execution that failed.
    pub(crate) async fn failed(&self, to: &str) -> Id {
        let refused = answers(Err(NoReceipt::not_applied("mailbox full")));
        let (id, settled) = self.performed(mail(to), refused).await;
        assert!(matches!(settled, Settled::Failed(_)), "{settled:?}");
        id
    }

    /// A call that was made, with this receipt: `250 OK`.
    pub(crate) async fn sent(&self, contract: Contract) -> Id {
        let (id, settled) = self.performed(contract, receipt("250 OK")).await;
        assert!(matches!(settled, Settled::Completed(_)), "{settled:?}");
        id
    }

    async fn performed(
        &self,
        contract: Contract,
        service: impl Perform<Action> + 'static,
    ) -> (Id, Settled) {
        let planned = planned::<Action>(&self.store, contract).await.unwrap();
        let id = planned.id();
        (id, self.store.perform(planned, service, tool_node()).await.unwrap())
    }

    /// A stored order that waits.
    pub(crate) async fn order(&self) -> Id {
        let mut order = Order::new();
        self.store.create(&mut order).await.unwrap();
        order.id()
    }

    /// A message of ann to a machine, as its program may send it: with what no surface accepts,
    /// too.
    pub(crate) async fn message(&self, id: Id, body: &str) -> Message {
        let message = Message::from_json(body, &Human::new("ann").unwrap()).unwrap();
        self.store.send(id, &message).await.unwrap();
        message
    }

    /// An order with a message that a worker has set aside.
    pub(crate) async fn set_aside(&self) -> (Id, String) {
        let id = self.order().await;
        let message = self.message(id, r#"{"trigger": "confirm", "amount": "three"}"#).await;
        self.work().await;
        (id, message.correlation().to_owned())
    }

    /// An errand whose mail waits behind a gate.
    pub(crate) async fn parent_of(&self, to: &str) -> (Id, Gate, Planned<Action>) {
        let email = ToolSpec::irreversible("email", "send").unwrap();
        let email = email.settling_time(Duration::ZERO).template("", "{to}");
        let arguments = serde_json::json!({ "to": to }).to_string();
        let mut errand = Errand::new(ToolCall::new(&email, &arguments).unwrap());
        self.store.create(&mut errand).await.unwrap();
        let mail = self.store.children(errand.id()).await.unwrap().remove(0).id;
        let AnyExecution::Pending(mail) = self.store.load(mail).await.unwrap() else {
            panic!("it has begun")
        };
        let gate = self.store.gate(mail.context().behind().unwrap()).await.unwrap();
        (errand.id(), gate, Planned::of(mail).unwrap())
    }
}

/// The last digits of an id.
pub(crate) fn end(id: Id) -> String {
    let digits = id.to_string().replace('-', "");
    digits[20..].to_owned()
}

/// An id that no machine has.
pub(crate) fn unknown() -> Id {
    "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap()
}
