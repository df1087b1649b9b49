//! Random legal changes.

use machine::{
    contract::{AnyExecution, Evidence, Execution, Unsettled, execution},
    effects::Change,
};
use machine_tests::actors::{graph_runner, tool_node};
use machine_tests::samples::{mail, read};

use super::{
    child::Worker,
    said::Planned,
    slot::{Item, Slot},
};
use crate::{
    machines::{AnyMeter, Meter, meter},
    support::{BEGUN, applied, not_applied, unknown},
};

/// Settles an execution.
fn settle(
    from: u64,
    running: Execution<execution::Running>,
    outcome: Unsettled,
) -> (Item, Planned) {
    let (entries, status, text) = match outcome.evidence() {
        Evidence::Applied(text) => {
            (vec![format!("applied {text}"), format!("succeed {text}")], "completed", text.as_str())
        }
        Evidence::NotApplied(text) => {
            (vec![format!("not applied {text}"), format!("fail {text}")], "failed", &*text.message)
        }
        Evidence::Unknown(text) => {
            (["unknown", "parked", "suspend"].map(str::to_owned).to_vec(), "waiting", text.as_str())
        }
    };
    let (id, text) = (running.id(), Some(text.to_owned()));
    let planned = Planned { id, from, entries, status: status.to_owned(), text };
    (Item::Settle(Change::settle(running, outcome, tool_node())), planned)
}

#[allow(clippy::result_large_err, reason = "it is the machine that was given")]
impl Worker {
    pub(super) fn create(&mut self, text: &str) -> (Item, Planned) {
        let mut slot = match self.random.below(10) {
            0..4 => Slot::Meter(Meter::new().into()),
            4..6 => Slot::Execution(Execution::new(read(text)).into()),
            // Some of them have the same key.
            _ => {
                let to = format!("person {}", self.random.below(150));
                Slot::Execution(Execution::new(mail(&to)).into())
            }
        };
        let status = if let Slot::Meter(_) = slot { "empty" } else { "pending" };
        let planned = Planned {
            id: slot.id(),
            from: 0,
            entries: vec!["created".to_owned()],
            status: status.to_owned(),
            text: None,
        };
        assert_eq!(slot.durable().journal().version(), 0);
        (Item::Create(slot), planned)
    }

    /// A random legal change; the machine if it has none.
    pub(super) async fn change(
        &mut self,
        slot: Slot,
        text: String,
        alone: bool,
    ) -> Result<(Item, Planned), Slot> {
        let id = slot.id();
        let planned = |from: u64, entries: Vec<String>, status: &str, text: Option<String>| {
            Planned { id, from, entries, status: status.to_owned(), text }
        };
        match slot {
            Slot::Meter(AnyMeter::Finished(_)) | Slot::Lost(_) => Err(slot),
            Slot::Meter(machine) => {
                let from = machine.journal().version();
                let mut machine = machine;
                let mut entries = Vec::new();
                for step in 0..=self.random.below(3) {
                    let text = format!("{text}{step}");
                    let (event, entry) = match machine.status() {
                        meter::Status::Empty => (meter::Event::Add { last: text.clone() }, "add"),
                        meter::Status::Counting => match self.random.below(20) {
                            0 => (meter::Event::Finish { last: text.clone() }, "finish"),
                            1..3 => (meter::Event::Lock { last: text.clone() }, "lock"),
                            _ => (meter::Event::Add { last: text.clone() }, "add"),
                        },
                        meter::Status::Locked => {
                            (meter::Event::Unlock { last: text.clone() }, "unlock")
                        }
                        meter::Status::Finished => break,
                    };
                    entries.push((format!("{entry} {text}"), text));
                    machine = machine.apply(event, graph_runner()).unwrap();
                }
                let text = entries.last().map(|(_, text)| text.clone());
                let entries = entries.into_iter().map(|(entry, _)| entry).collect();
                let planned = planned(from, entries, &machine.status().definition().name, text);
                Ok((Item::Commit(Slot::Meter(machine)), planned))
            }
            Slot::Begun(running, permit) => {
                let from = running.journal().version();
                let outcome = match self.random.below(10) {
                    // A worker that forgets its permit.
                    0 => return Err(Slot::Lost(id)),
                    1..5 => applied(permit, &text).await,
                    5..8 => not_applied(permit, &text).await,
                    _ => unknown(permit, &text).await,
                };
                // A permit of a store that was closed since is not valid: then nothing is called.
                Ok(settle(from, running, outcome))
            }
            Slot::Answered(running, outcome) => {
                let from = running.journal().version();
                Ok(settle(from, running, outcome))
            }
            Slot::Execution(AnyExecution::Pending(pending))
                if pending.context().is_irreversible() =>
            {
                let from = pending.journal().version();
                let entries = BEGUN.map(str::to_owned).to_vec();
                let begin = Change::begin(pending.into(), tool_node());
                Ok((Item::Begin(begin), planned(from, entries, "running", None)))
            }
            Slot::Execution(AnyExecution::Waiting(waiting))
                if alone && waiting.context().is_irreversible() =>
            {
                let from = waiting.journal().version();
                let doubt = self.shared.store.read().await.in_doubt(id).await.unwrap();
                let took_place = self.random.percent(50);
                let (answer, end, status) = if took_place {
                    ("confirmed applied", "succeed", "completed")
                } else {
                    ("confirmed not applied", "fail", "failed")
                };
                let entries =
                    [format!("{answer} {text}"), "resume".to_owned(), format!("{end} {text}")];
                let planned = planned(from, entries.to_vec(), status, Some(text.clone()));
                Ok((Item::Confirm(doubt, took_place, text), planned))
            }
            Slot::Execution(machine) => self.change_execution(machine, text),
        }
    }

    /// Moves an execution that needs no permit.
    fn change_execution(
        &mut self,
        machine: AnyExecution,
        text: String,
    ) -> Result<(Item, Planned), Slot> {
        use execution::Event;

        let (id, from) = (machine.id(), machine.journal().version());
        let irreversible = machine.context().is_irreversible();
        let (event, entry, status) = match machine.status() {
            execution::Status::Pending => (Event::Start, "start".to_owned(), "running"),
            execution::Status::Running if self.random.percent(50) => {
                (Event::Suspend { prompt: text.clone() }, "suspend".to_owned(), "waiting")
            }
            execution::Status::Running => {
                (Event::Succeed { result: text.clone() }, format!("succeed {text}"), "completed")
            }
            execution::Status::Waiting if !irreversible => {
                (Event::Resume, "resume".to_owned(), "running")
            }
            _ => return Err(Slot::Execution(machine)),
        };
        let machine = if let Event::Resume = event {
            machine.apply(event, graph_runner()).unwrap()
        } else {
            machine.apply(event, tool_node()).unwrap()
        };
        let text = matches!(status, "waiting" | "completed").then_some(text);
        let planned = Planned { id, from, entries: vec![entry], status: status.to_owned(), text };
        Ok((Item::Commit(Slot::Execution(machine)), planned))
    }
}
