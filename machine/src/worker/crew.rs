//! Registration of this worker among the live workers, and reports of work that no worker can do.

use std::{collections::BTreeSet, time::Duration};

use futures_util::FutureExt;
use tracing::field::display;

use super::{
    FailedAttempt,
    settings::Settings,
    shared::{Hook, OnError},
};
use crate::{
    clock::{Millis, later},
    contract::execution,
    definition::Definition,
    id::Id,
    observe::undriven::{Needs, PATIENCE, Undriven},
    store::{
        Cause, LoadError, Store, Unavailable,
        backend::{FoundRow, Row},
        inbox::{crew::Registration, protocol::Attempted},
    },
    telemetry,
};

/// The number of machines of each kind that are checked.
const LOOKED_AT: usize = 256;

/// The time between two signs of life, in milliseconds.
const SIGN: u32 = 20_000;

pub(super) struct Crew {
    own: Registration,
    /// Its row may be there.
    may_be_listed: bool,
    /// The unmet needs that were reported, each with what is needed.
    warned: BTreeSet<(Needs, &'static str)>,
    /// The machines that nothing can move and that were reported, each with the time since when.
    stuck: BTreeSet<(Id, Millis)>,
    signed_at: Option<Millis>,
}

impl Crew {
    pub(super) fn new(
        store: &Store,
        kinds: Vec<&'static Definition>,
        tools: Vec<String>,
        other_tools: bool,
    ) -> Self {
        let (store, id) = (store.clone(), Id::fresh());
        Self {
            own: Registration { store, id, kinds, tools, other_tools },
            may_be_listed: false,
            warned: BTreeSet::new(),
            stuck: BTreeSet::new(),
            signed_at: None,
        }
    }

    /// Puts the machines of its kinds under workers, and announces the kinds that it drives.
    pub(super) async fn join(&mut self) -> Result<(), Unavailable> {
        // The row is written although the future is dropped.
        self.may_be_listed = true;
        self.own.join().await
    }

    /// Says from time to time that it looks for work. Called before each look.
    pub(super) fn give_sign_of_life(&mut self, settings: &Settings) {
        let now = self.own.store.now();
        if self.signed_at.is_none_or(|at| now.abs_diff(at) >= u64::from(SIGN)) {
            self.signed_at = Some(now);
            let by = later(now, settings.sweep).saturating_add(SIGN.into());
            self.own.store.inner.worker.looks_again_by(by);
        }
    }

    pub(super) async fn leave(&mut self) {
        if self.may_be_listed && self.own.leave().await.is_ok() {
            self.may_be_listed = false;
        }
    }

    /// Removes workers that have ended, and reports what no worker does, each once.
    pub(super) async fn look(&mut self, on_error: Option<&OnError>) {
        answered(self.own.remove_ended_workers().await);
        let undriven = self.own.store.undriven(PATIENCE, LOOKED_AT).await;
        let Some(undriven) = answered(undriven) else { return };
        self.warn(&undriven, on_error).await;
        // A need that is missing again later is reported again.
        let is_unmet = |needs: &Needs, what: &str| {
            undriven.iter().any(|it| it.unmet.needs == *needs && it.unmet.what() == what)
        };
        self.warned.retain(|(needs, what)| is_unmet(needs, what));
    }

    /// Reports the calls of its machines that no live worker makes, each tool once. A worker that
    /// ends when it is idle does not run for the minute after which [`look`](Self::look) reports
    /// them.
    pub(super) async fn report_calls(&mut self, on_error: Option<&OnError>) {
        let lacking = self.lacking();
        if lacking.is_empty() {
            return;
        }
        let undriven = self.own.store.undriven(Duration::ZERO, LOOKED_AT).await;
        if let Some(mut undriven) = answered(undriven) {
            undriven.retain(|it| lacking.contains(&it.unmet.needs));
            self.warn(&undriven, on_error).await;
        }
    }

    /// The tools that its machines call, and that it does not have.
    fn lacking(&self) -> BTreeSet<Needs> {
        if self.own.other_tools {
            return BTreeSet::new();
        }
        let states = self.own.kinds.iter().flat_map(|kind| kind.states.iter());
        // A tool that is known at run time only has no service here.
        let calls = states.filter_map(|state| state.invocation.as_ref());
        let calls = calls.filter(|call| !call.service.is_empty());
        let names = calls.map(|call| format!("{}.{}", call.service, call.method));
        names.filter(|name| !self.own.tools.contains(name)).map(Needs::Tool).collect()
    }

    /// Reports unmet needs, each once. The program is told of the tools that its own machines call.
    async fn warn(&mut self, undriven: &[Undriven], on_error: Option<&OnError>) {
        let lacking = self.lacking();
        for Undriven { id, unmet } in undriven {
            let (needs, needed) = (&unmet.needs, unmet.what());
            if !self.warned.insert((needs.clone(), needed)) {
                continue;
            }
            let kind = needs.machine();
            telemetry::Undriven { kind, id: display(*id), needed, name: needs.name() }.emit();
            if on_error.is_some() && lacking.contains(needs) {
                let state = match self.own.store.found(*id).await {
                    Ok(FoundRow::Row(row, _)) => state_of(execution::DEFINITION, &row),
                    _ => None,
                };
                let place = (*id, execution::DEFINITION.name(), state);
                tell(on_error, place, Cause::NoTool, &unmet.to_string());
            }
        }
    }

    /// Reports the machines of its kinds that nothing can move, each once.
    pub(super) async fn report_stuck(&mut self, on_error: Option<&OnError>) {
        let stuck = self.own.store.stuck(PATIENCE, LOOKED_AT).await;
        let Some(stuck) = answered(stuck) else { return };
        self.stuck.retain(|known| stuck.contains(known));
        for (id, at) in stuck {
            if self.stuck.contains(&(id, at)) {
                continue;
            }
            let Some(found) = answered(self.own.store.found(id).await) else { return };
            self.stuck.insert((id, at));
            let FoundRow::Row(row, _) = found else { continue };
            let kind = self.own.kinds.iter().find(|kind| kind.name == row.machine);
            let Some(&kind) = kind else { continue };
            let (kind, state) = (kind.name(), state_of(kind, &row));
            telemetry::Stuck { kind, id: display(id), state }.emit();
            tell(on_error, (id, kind, state), Cause::Stuck, &Cause::Stuck.to_string());
        }
    }
}

/// What the store does not answer now, the next look asks again.
fn answered<T>(answer: Result<T, impl Into<LoadError>>) -> Option<T> {
    let postpone = |error: LoadError| {
        telemetry::WorkerPostponed { operation: "crew", error: error.class() }.emit();
    };
    answer.map_err(|error| postpone(error.into())).ok()
}

fn state_of(kind: &'static Definition, row: &Row) -> Option<&'static str> {
    kind.state(&row.status).map(|state| &*kind.states[state].name)
}

/// Tells the program of a machine that no attempt moves on: its id, its kind and its state.
fn tell(
    on_error: Option<&OnError>,
    (id, kind, state): (Id, &'static str, Option<&'static str>),
    cause: Cause,
    error: &str,
) {
    if let Some(Hook(report)) = on_error {
        let (step, attempt, set_aside) = (Attempted::State.name(), 1, false);
        report(&FailedAttempt { id, kind, state, step, attempt, cause, error, set_aside });
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        if self.may_be_listed {
            // It is queued with the first poll. If it is not, the row goes when the process has
            // ended.
            drop(self.own.leave().now_or_never());
        }
    }
}
