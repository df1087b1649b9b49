//! Registration of this worker among the live workers, and reports of work that no worker can do.

use std::collections::BTreeSet;

use tracing::field::display;

use crate::{
    definition::Definition,
    id::Id,
    observe::undriven::{Needs, Undriven},
    store::{Store, Unavailable, inbox::crew::Joining},
    telemetry,
};

/// The number of machines of each kind that are checked.
const LOOKED_AT: usize = 256;

/// A worker among those of all processes.
pub(super) struct Crew {
    store: Store,
    id: Id,
    kinds: Vec<&'static Definition>,
    senders: Vec<&'static str>,
    tools: Vec<String>,
    other_tools: bool,
    /// Its row may be there.
    may_be_listed: bool,
    /// The unmet needs that were reported.
    warned: BTreeSet<Needs>,
}

impl Crew {
    pub(super) fn new(
        store: &Store,
        kinds: Vec<&'static Definition>,
        senders: Vec<&'static str>,
        tools: Vec<String>,
        other_tools: bool,
    ) -> Self {
        let (store, id, warned) = (store.clone(), Id::fresh(), BTreeSet::new());
        Self { store, id, kinds, senders, tools, other_tools, may_be_listed: false, warned }
    }

    /// Puts the machines of its kinds under workers, and announces the kinds that it drives.
    pub(super) async fn join(&mut self) -> Result<(), Unavailable> {
        // The row is written although the future is dropped.
        self.may_be_listed = true;
        self.store.join(&self.joining()).await
    }

    /// Says in the file why the worker does not start.
    pub(super) async fn refuse(&self, why: String) {
        if let Err(error) = self.store.refuse(&self.joining(), why).await {
            telemetry::WorkerPostponed { operation: "crew", error: error.class() }.emit();
        }
    }

    fn joining(&self) -> Joining<'_> {
        Joining {
            id: self.id,
            kinds: self.kinds.clone(),
            senders: self.senders.clone(),
            tools: self.tools.iter().map(String::as_str).collect(),
            other_tools: self.other_tools,
        }
    }

    pub(super) async fn leave(&mut self) {
        if self.may_be_listed && self.store.leave(vec![self.id]).await.is_ok() {
            self.may_be_listed = false;
        }
    }

    /// Removes workers that have ended, and reports what no worker does, each thing once.
    pub(super) async fn look(&mut self) {
        if let Err(error) = self.store.remove_ended_workers().await {
            telemetry::WorkerPostponed { operation: "crew", error: error.class() }.emit();
        }
        let undriven = match self.store.undriven(LOOKED_AT).await {
            Ok(undriven) => undriven,
            Err(error) => {
                telemetry::WorkerPostponed { operation: "crew", error: error.class() }.emit();
                return;
            }
        };
        for Undriven { id, machine, needs } in &undriven {
            if !self.warned.contains(needs) {
                let (id, kind, needed) = (display(*id), machine.as_str(), needs.what());
                telemetry::Undriven { kind, id, needed, name: needs.name() }.emit();
                self.warned.insert(needs.clone());
            }
        }
        // A need that is missing again later is reported again.
        self.warned.retain(|needs| undriven.iter().any(|it| it.needs == *needs));
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        if self.may_be_listed {
            self.store.leave_later(self.id);
        }
    }
}
