//! A server on loopback that counts payments, in three kinds.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
};

use machine::contract::{Answer, Applied, NoReceipt};
use machine_tests::STUCK;
use serde::{Deserialize, Serialize};

/// The server's means to recognize a payment that it has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dedup {
    /// Nothing: it pays as often as it is asked.
    Nothing,
    /// The idempotency key: the second payment under a key gets the receipt of the first.
    Key,
    /// The fencing token: it refuses one that is lower than the highest that it has seen for the
    /// key.
    Token,
}

impl Dedup {
    pub(crate) const ALL: [Self; 3] = [Self::Nothing, Self::Key, Self::Token];
}

#[derive(Debug, Serialize, Deserialize)]
enum Request {
    Pay(Payment),
    /// Finds the payment under this key.
    Find(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Payment {
    pub(crate) key: String,
    pub(crate) token: String,
    pub(crate) to: String,
    pub(crate) amount: u64,
}

#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Receipt(String),
    /// The token is too low; nothing was paid.
    Stale,
    NotFound,
}

/// The server. What it has paid is what happened.
pub(crate) struct Bank {
    address: SocketAddr,
    ledger: Arc<Ledger>,
}

struct Ledger {
    dedup: Dedup,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    paid: Vec<Payment>,
    receipts: HashMap<String, String>,
    highest: HashMap<String, String>,
    /// Requests to pay that were read, whether they were carried out or not.
    arrived: usize,
    /// Requests wait here before they are carried out, as on a slow network.
    holds_requests: bool,
    /// Replies wait here after that.
    holds_replies: bool,
}

impl Bank {
    pub(crate) fn open(dedup: Dedup) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let ledger =
            Arc::new(Ledger { dedup, state: Mutex::default(), changed: Condvar::default() });
        let served = Arc::clone(&ledger);
        // The threads end with the test program.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let ledger = Arc::clone(&served);
                thread::spawn(move || ledger.serve(&stream));
            }
        });
        Self { address, ledger }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of payments.
    pub(crate) fn count(&self) -> usize {
        self.ledger.state().paid.len()
    }

    /// The payments that were made.
    pub(crate) fn paid(&self) -> Vec<Payment> {
        self.ledger.state().paid.clone()
    }

    /// Requests to pay that arrive from now on are not carried out until
    /// [`release`](Self::release).
    pub(crate) fn hold_requests(&self) {
        self.ledger.state().holds_requests = true;
    }

    /// They are carried out, but not answered until [`release`](Self::release).
    pub(crate) fn hold_replies(&self) {
        self.ledger.state().holds_replies = true;
    }

    pub(crate) fn release(&self) {
        let mut state = self.ledger.state();
        (state.holds_requests, state.holds_replies) = (false, false);
        self.ledger.changed.notify_all();
    }

    /// Waits until this many requests to pay have arrived.
    pub(crate) fn wait_for_requests(&self, count: usize) {
        self.wait_while(|state| state.arrived < count);
    }

    /// Waits until this many payments were made.
    pub(crate) fn wait_for_payments(&self, count: usize) {
        self.wait_while(|state| state.paid.len() < count);
    }

    fn wait_while(&self, mut is_so: impl FnMut(&State) -> bool) {
        let Ledger { state, changed, .. } = &*self.ledger;
        let state = state.lock().unwrap();
        let waited = changed.wait_timeout_while(state, STUCK, |state| is_so(state)).unwrap();
        assert!(!waited.1.timed_out(), "the bank was not asked in time");
    }
}

impl Ledger {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// One request per connection. A client that has gone does not take its request back.
    fn serve(&self, mut stream: &TcpStream) {
        let mut line = String::new();
        if BufReader::new(stream).read_line(&mut line).is_err() {
            return;
        }
        let Ok(request) = serde_json::from_str(&line) else { return };
        let reply = match request {
            Request::Pay(payment) => self.pay(payment),
            Request::Find(key) => {
                self.state().receipts.get(&key).cloned().map_or(Reply::NotFound, Reply::Receipt)
            }
        };
        let _ = writeln!(stream, "{}", serde_json::to_string(&reply).unwrap());
    }

    fn pay(&self, payment: Payment) -> Reply {
        let mut state = self.state();
        state.arrived += 1;
        self.changed.notify_all();
        let mut state = self.changed.wait_while(state, |state| state.holds_requests).unwrap();
        let reply = state.pay(self.dedup, payment);
        self.changed.notify_all();
        drop(self.changed.wait_while(state, |state| state.holds_replies).unwrap());
        reply
    }
}

impl State {
    fn pay(&mut self, dedup: Dedup, payment: Payment) -> Reply {
        let (key, token) = (payment.key.clone(), payment.token.clone());
        if let (Dedup::Key, Some(receipt)) = (dedup, self.receipts.get(&key)) {
            return Reply::Receipt(receipt.clone());
        }
        let highest = self.highest.entry(key.clone()).or_default();
        if dedup == Dedup::Token && token < *highest {
            return Reply::Stale;
        }
        *highest = token;
        self.paid.push(payment);
        let receipt = format!("receipt {}", self.paid.len());
        self.receipts.insert(key, receipt.clone());
        Reply::Receipt(receipt)
    }
}

/// Asks the server, from any process.
fn ask(address: SocketAddr, request: &Request) -> std::io::Result<Reply> {
    let mut stream = TcpStream::connect(address)?;
    writeln!(stream, "{}", serde_json::to_string(request)?)?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

/// Pays, and waits for the reply.
pub(crate) fn pay(address: SocketAddr, payment: Payment) -> Answer {
    match ask(address, &Request::Pay(payment))? {
        Reply::Receipt(receipt) => Ok(Applied::new(receipt)),
        Reply::Stale => Err(NoReceipt::not_applied("the bank has seen a higher token")),
        Reply::NotFound => Err(NoReceipt::unknown("an odd reply")),
    }
}

/// Asks whether it paid under this key. The bank is honest.
pub(crate) fn find(address: SocketAddr, key: &str) -> Answer {
    match ask(address, &Request::Find(key.to_owned()))? {
        Reply::Receipt(receipt) => Ok(Applied::new(receipt)),
        _ => Err(NoReceipt::not_applied("the bank has not paid")),
    }
}
