//! A request outlives its process: "not applied" counts only after the settling time.

use std::{path::PathBuf, time::Duration};

use machine::{
    Id,
    contract::{Action, Contract, InDoubt, Settled, ToolSpec},
    store::{CommitError, OpenOptions, Store},
    view::Label,
};
use machine_tests::{
    actors::{ann, reasoning_node, tool_node},
    assert_err,
};

use crate::effects::{
    bank::{Bank, Dedup},
    support::{Time, label, stored},
    tool::{Step, Teller},
    worker::{self, Report},
};

const HOUR: Duration = Duration::from_hours(1);
const ALMOST: Duration = Duration::from_millis(3_599_999);

/// A payment that a slow network may still deliver for an hour.
fn wire() -> Contract {
    let spec = ToolSpec::irreversible("bank", "wire").unwrap();
    let spec = spec.settling_time(HOUR).timeout(None);
    Contract::tool_call(&spec, r#"{"to": "bob", "amount": 10}"#, reasoning_node()).unwrap()
}

struct Office {
    _folder: tempfile::TempDir,
    file: PathBuf,
    store: Store,
    time: Time,
    bank: Bank,
}

impl Office {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (file, time) = (folder.path().join("agent.db"), Time::stopped());
        let store = OpenOptions::new().clock(time.clone()).sqlite(&file).await.unwrap();
        Self { _folder: folder, file, store, time, bank: Bank::open(Dedup::Nothing) }
    }

    async fn planned(&self) -> Id {
        stored::<Action>(&self.store, wire()).await.id()
    }

    async fn found_in_doubt(&self) -> InDoubt {
        self.store.recover().await.unwrap().in_doubt.into_iter().next().unwrap()
    }

    /// Neither a person nor the bank can say yet that it did not take effect.
    async fn assert_not_settled(&self, doubt: InDoubt) -> InDoubt {
        let refused = self.store.confirm_not_applied(doubt, "I see nothing", ann()).await;
        let refused = refused.unwrap_err();
        let hour_ms = 3_600_000;
        assert_err!(
            Err::<(), _>(&refused.reason),
            CommitError::NotSettled { left_ms, .. } if (1..=hour_ms).contains(left_ms)
        );
        let teller = Teller::pays(&self.bank);
        let asked = self.store.ask_service::<Action>(refused.machine, &teller, tool_node()).await;
        let refused = asked.unwrap_err();
        assert!(matches!(refused.reason, CommitError::NotSettled { .. }), "{refused}");
        let other = self.planned().await;
        let report = worker::run("acts", &self.file, other, Teller::pays(&self.bank));
        assert_eq!(report, Report::NotBegun("KeyHeld".to_owned()));
        refused.machine
    }
}

/// The worker was killed, and its request arrives later. Without the settling time, the bank's "not
/// found" would have freed the key, and the retry would have paid a second time.
#[tokio::test]
async fn a_request_that_is_on_its_way_takes_effect() {
    let office = Office::open().await;
    let id = office.planned().await;
    office.bank.hold_requests();
    let worker = worker::start("acts", &office.file, id, Teller::pays(&office.bank));
    office.bank.wait_for_requests(1);
    worker.kill();
    let doubt = office.found_in_doubt().await;
    let doubt = office.assert_not_settled(doubt).await;
    assert_eq!(office.bank.count(), 0);

    office.bank.release();
    office.bank.wait_for_payments(1);
    let teller = Teller::pays(&office.bank);
    let settled = office.store.ask_service::<Action>(doubt, &teller, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)), "{settled:?}");
    assert_eq!(label(&office.store, id).await, Label::Success);
    assert_eq!(office.bank.count(), 1);
}

/// The worker was killed before it sent anything. After the settling time, that counts.
#[tokio::test]
async fn what_was_not_found_after_the_settling_time_did_not_take_place() {
    for asks_the_bank in [true, false] {
        let office = Office::open().await;
        let id = office.planned().await;
        let teller = Teller::new(&office.bank, &[Step::Say, Step::Hang]);
        let mut worker = worker::start("acts", &office.file, id, teller);
        assert_eq!(worker.hear::<String>(), "in the call");
        worker.kill();
        let doubt = office.found_in_doubt().await;
        let doubt = office.assert_not_settled(doubt).await;
        // The end of the worker was observed, so its time has begun.
        office.time.add(ALMOST);
        let doubt = office.assert_not_settled(doubt).await;
        office.time.add(Duration::from_millis(1));
        let teller = Teller::pays(&office.bank);
        if asks_the_bank {
            let asked = office.store.ask_service::<Action>(doubt, &teller, tool_node()).await;
            assert!(matches!(asked, Ok(Settled::Failed(_))), "{asked:?}");
        } else {
            let _ = office.store.confirm_not_applied(doubt, "not there", ann()).await.unwrap();
        }
        let next = office.planned().await;
        let report = worker::run("acts", &office.file, next, teller);
        assert_eq!(report, Report::Completed("receipt 1".to_owned()));
        assert_eq!(office.bank.count(), 1);
    }
}
