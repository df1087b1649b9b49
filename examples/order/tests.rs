//! The order is killed at every moment; it always agrees with its payment, and is paid once.

#![allow(clippy::unwrap_used, reason = "a failing test should panic")]

use pollster::block_on;
use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

use machine::{
    contract::AnyExecution,
    store::{Query, Store},
    view::{ConsequenceView, Label},
};
use tempfile::TempDir;

struct Shop {
    folder: TempDir,
}

impl Shop {
    fn new() -> Self {
        let shop = Self { folder: TempDir::new().unwrap() };
        fs::write(shop.path("shop.bank"), "").unwrap();
        shop
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self, words: &[&str]) -> Child {
        self.start_on("shop.db", words)
    }

    fn start_on(&self, file: &str, words: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_order"));
        command.arg(self.path(file)).args(words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs it to its end; returns its output.
    fn run(&self, words: &[&str]) -> String {
        let output = self.start(words).wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The payments that the bank has.
    fn bank(&self) -> String {
        fs::read_to_string(self.path("shop.bank")).unwrap_or_default()
    }

    /// The states of the order and of its last payment, if they exist: one batch makes both.
    fn states(&self) -> Option<(String, Label)> {
        let store = block_on(Store::sqlite(self.path("shop.db"))).unwrap();
        let report = block_on(store.verify_all(|_| {})).unwrap();
        assert!(report.is_clean(), "{report:?}");
        let orders = block_on(store.list(&Query::new().machine("order"))).unwrap().items;
        let payments = block_on(store.load_all::<AnyExecution>(&Query::new())).unwrap();
        assert_eq!(payments.items.is_empty(), orders.is_empty(), "each order has a payment");
        assert!(orders.len() <= 1, "an order is placed again, and not a second one");
        let order = orders.into_iter().next()?.unwrap();
        let payment = payments.items.into_iter().next_back()?.unwrap();
        Some((order.status, ConsequenceView::of(&payment).consequence_label))
    }

    /// Returns whether these states and the bank agree.
    fn agree(&self, states: Option<&(String, Label)>) -> bool {
        let bank = self.bank();
        let (paid, unpaid) = (bank == "17: 500\n", bank.is_empty());
        let Some((order, payment)) = states else { return unpaid };
        match (order.as_str(), payment) {
            ("paying", Label::NotStarted) | ("paying" | "cart" | "unpaid", Label::Failed) => unpaid,
            ("paying", Label::InProgress | Label::InDoubt) => paid || unpaid,
            ("paying" | "paid", Label::Success) => paid,
            _ => false,
        }
    }

    /// Waits until the bank has it.
    fn until_the_bank_has_it(&self, child: &mut Child) {
        while self.bank().is_empty() {
            let has_ended = child.try_wait().unwrap().is_some();
            assert!(!has_ended || !self.bank().is_empty(), "it ended without a payment");
            thread::yield_now();
        }
    }
}

#[test]
fn paid() {
    let shop = Shop::new();
    assert_eq!(shop.run(&["17", "500"]), "paid\n");
    assert_eq!(shop.states(), Some(("paid".to_owned(), Label::Success)));
    assert_eq!(shop.run(&[]), "paid\n");
    assert_eq!(shop.bank(), "17: 500\n");
}

/// The bank is closed, so that provably no payment was made.
#[test]
fn unpaid() {
    let shop = Shop::new();
    fs::remove_file(shop.path("shop.bank")).unwrap();
    assert_eq!(shop.run(&["17", "500"]), "unpaid\n");
    assert_eq!(shop.states(), Some(("unpaid".to_owned(), Label::Failed)));
}

/// Nothing is placed if a word is missing, and no payment is written into the database.
#[test]
fn misused() {
    let shop = Shop::new();
    for (file, words) in [
        ("shop.db", &["17"][..]),
        ("shop.db", &["17", "500", "600"]),
        ("shop.bank", &["17", "500"]),
    ] {
        let output = shop.start_on(file, words).wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("order FILE [NUMBER CENTS]"), "{told}");
    }
    assert!(!shop.path("shop.db").exists());
    assert_eq!(shop.bank(), "");
}

/// Killed after the bank has it, and before its answer.
#[test]
fn killed_in_between() {
    let shop = killed_in_the_call();
    assert_eq!(shop.run(&[]), "paid\n");
    assert_eq!(shop.states(), Some(("paid".to_owned(), Label::Success)));
    assert_eq!(shop.bank(), "17: 500\n");
}

/// Killed in the call, and the bank cannot be asked: that proves nothing, so the order waits.
#[test]
fn the_bank_cannot_be_asked() {
    let shop = killed_in_the_call();
    fs::rename(shop.path("shop.bank"), shop.path("away")).unwrap();
    assert_eq!(shop.run(&[]), "paying\n");
    assert_eq!(shop.states(), Some(("paying".to_owned(), Label::InDoubt)));
}

/// Killed in the call, which the bank has not got: the customer places the same order again.
#[test]
fn placed_again() {
    let shop = killed_in_the_call();
    fs::write(shop.path("shop.bank"), "").unwrap();
    assert_eq!(shop.run(&[]), "cart\n");
    assert_eq!(shop.states(), Some(("cart".to_owned(), Label::Failed)));
    assert_eq!(shop.run(&["17", "500"]), "paid\n");
    assert_eq!(shop.states(), Some(("paid".to_owned(), Label::Success)));
    assert_eq!(shop.bank(), "17: 500\n");
}

/// A shop whose program was killed in the call. The bank takes 50 ms to answer: the kill comes
/// later only if this process or the computer stalls just then, and the next shop tries again. That
/// happens rarely, and not 20 times in a row.
fn killed_in_the_call() -> Shop {
    let is_hit = |shop: &Shop| {
        let mut child = shop.start(&["17", "500"]);
        shop.until_the_bank_has_it(&mut child);
        child.kill().unwrap();
        child.wait().unwrap();
        let states = shop.states();
        assert!(shop.agree(states.as_ref()), "{states:?}");
        states == Some(("paying".to_owned(), Label::InProgress))
    };
    let mut tries = (0..20).map(|_| Shop::new());
    tries.find(is_hit).expect("a kill right after the payment comes in the call")
}

/// Several processes work at once, one of them is killed in the call: it is paid once.
#[test]
fn several_at_once() {
    let shop = Shop::new();
    let mut first = shop.start(&["17", "500"]);
    shop.until_the_bank_has_it(&mut first);
    let others: Vec<Child> = (0..3).map(|_| shop.start(&[])).collect();
    first.kill().unwrap();
    first.wait().unwrap();
    for other in others {
        let output = other.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(shop.run(&[]), "paid\n");
    assert_eq!(shop.states(), Some(("paid".to_owned(), Label::Success)));
    assert_eq!(shop.bank(), "17: 500\n");
}

/// `CRASH_ROUNDS` kills (default 20), spread over the run.
#[test]
fn killed_at_any_moment() {
    let rounds = std::env::var("CRASH_ROUNDS").map_or(20, |text| text.parse().unwrap());
    let start = Instant::now();
    Shop::new().run(&["17", "500"]);
    let whole_run = start.elapsed();
    for round in 0..rounds {
        let shop = Shop::new();
        let mut child = shop.start(&["17", "500"]);
        thread::sleep(whole_run * round / rounds);
        child.kill().unwrap();
        child.wait().unwrap();

        let states = shop.states();
        assert!(shop.agree(states.as_ref()), "round {round}: {states:?}, {:?}", shop.bank());

        // Whatever it was, the next process continues from there.
        let told = shop.run(if states.is_none() { &["17", "500"] } else { &[] });
        let ended = shop.states();
        assert!(told == "paid\n" || told == "cart\n", "round {round}: {told}");
        assert!(
            shop.agree(ended.as_ref()),
            "round {round}: {ended:?} after {states:?}, {:?}",
            shop.bank()
        );
        if told == "cart\n" {
            assert_eq!(shop.run(&["17", "500"]), "paid\n");
            assert_eq!(shop.bank(), "17: 500\n");
        }
    }
}
