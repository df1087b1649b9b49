//! The work of a worker on one machine while it holds the lease.

mod adopt;
mod answers;
mod choice;
mod moves;
mod outcomes;
mod park;
mod stuck;
mod writes;

use std::{
    collections::{BTreeSet, HashSet},
    panic::AssertUnwindSafe,
    sync::Arc,
};

use futures_util::FutureExt;
use tracing::{Instrument, Span, field::display};

use self::park::Again;
use super::{
    FailedAttempt, Handler,
    handler::is_of_heads,
    lease::HeldLease,
    shared::{Hook, SKIP_FOR, Shared},
};
use crate::{
    clock::{Millis, later},
    future::panic_text,
    id::Id,
    store::{
        Cause, LoadError, Unavailable,
        backend::ReadyMachine,
        inbox::{
            message::Queued,
            protocol::{self, Attempted, Event, EventOutcome, Schedule, Wake},
        },
    },
    stored::{Durable, Restore, VerifyError},
    telemetry,
    typed::Erased,
};

/// The number of claims of one machine in a row.
const CLAIMS: u32 = 32;

#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact")]
struct Job<'a, H: Handler> {
    handler: &'a H,
    shared: &'a Arc<Shared>,
    lease: Arc<HeldLease>,
    /// The name of its state, if it can be read.
    state: Option<&'static str>,
    /// Not while user code has it.
    machine: Option<H::Machine>,
    due_at: Option<Millis>,
    messages: Vec<Queued>,
    /// The messages that the current state refused.
    passed: HashSet<String>,
    refused: Vec<(String, String)>,
    kept: Vec<(String, String)>,
    /// The revision that the job has seen.
    revision: u64,
    on: Attempted,
    /// The number of attempts, including this one.
    attempt: u32,
    work: Schedule,
    steps: u32,
    /// Since when it has been ready.
    ready_at: Millis,
    is_for_others: bool,
    /// When it is due, if it is ready for another program before.
    timer: Option<Wake>,
    /// The triggers that only other versions of the machine have, as far as the file knows them.
    known_elsewhere: BTreeSet<String>,
    /// Another version of the program has written the machine, and may know more of it.
    is_of_other: bool,
    /// The calls of the current entry; read only if the inbox has an outcome.
    members: HashSet<Id>,
    /// When the machine has waited long enough for the next of its calls.
    overdue_at: Option<Millis>,
    /// Calls of earlier entries that took effect, or that a person declined, and whose outcome was
    /// not taken.
    untaken: HashSet<Id>,
    /// Outcomes of earlier entries that nothing depends on.
    stale: Vec<String>,
    /// Work that waits for a call of the machine.
    waits: Vec<(Attempted, Id)>,
    /// The number of messages that the current state takes, and that come after the handler.
    behind: usize,
    /// Another worker had the lease, did not give it back, and the handler has made no transition
    /// since.
    taken_over: bool,
    /// The lease was given back, or is lost.
    released: bool,
    /// The lease was not given back, and nobody else has it: it ends by itself.
    keeps_lease: bool,
    /// The class of the error that it ended with.
    failed: Option<&'static str>,
}

/// The decision whether a job continues.
#[derive(PartialEq, Eq)]
enum Flow {
    Go,
    End,
}

/// Drives one machine until it waits, ends, or belongs to another worker.
pub(super) async fn run<H: Handler>(
    handler: &H,
    shared: &Arc<Shared>,
    ready: ReadyMachine,
    holder_ended: bool,
) -> Result<(), Unavailable> {
    // Each round sets one thing aside that was tried too often.
    for _ in 0..CLAIMS {
        match claim(handler, shared, (ready.id, ready.wake.at), holder_ended).await? {
            Claimed::Job(mut job, is_takeover) => {
                let span = job.span();
                let is_takeover = is_takeover || ready.worker.is_some();
                let ended = job.run(is_takeover, holder_ended).instrument(span.clone()).await;
                let error = ended.as_ref().err().map(Unavailable::class);
                if let Some(class) = error.or(job.failed) {
                    telemetry::failed(&span, class);
                }
                if job.keeps_lease {
                    // Without the job, the lease is not renewed.
                    drop(job);
                    shared.rest(shared.settings.lease).await;
                }
                return ended;
            }
            Claimed::Again => {}
            Claimed::None => return Ok(()),
        }
    }
    Ok(())
}

#[allow(clippy::large_enum_variant, reason = "short-lived")]
enum Claimed<'a, H: Handler> {
    /// And whether another worker had the lease, and did not give it back.
    Job(Job<'a, H>, bool),
    Again,
    None,
}

async fn claim<'a, H: Handler>(
    handler: &'a H,
    shared: &'a Arc<Shared>,
    (id, ready_at): (Id, Millis),
    holder_ended: bool,
) -> Result<Claimed<'a, H>, Unavailable> {
    let store = &shared.store;
    let read = store.read::<H::Machine>(id).await?;
    let Some(work) = read.work else { return Ok(Claimed::None) };
    let (machine, unreadable) = match read.machine {
        Ok(machine) => (Some(machine), None),
        // A newer program has written it, and drives it.
        Err(LoadError::Unreadable(
            VerifyError::UnknownDefinition { .. } | VerifyError::Incompatible { .. },
        )) => {
            let kind = kind::<H>();
            telemetry::LeftToOthers { kind, id: display(id), error: "other_version" }.emit();
            shared.leave(id, work.revision, SKIP_FOR);
            return Ok(Claimed::None);
        }
        Err(LoadError::NotFound { .. }) => return Ok(Claimed::None),
        Err(error) => (None, Some(error)),
    };
    // What was ready may have been claimed by another worker since then, and be ready again.
    let (token, is_takeover) = (work.token, work.lease.is_some());
    let taken_over = is_takeover || work.taken_over;
    let asked_at = store.inner.clock.uptime();
    let mut job = Job {
        handler,
        shared,
        lease: HeldLease::new(id, token + 1, asked_at, &shared.settings),
        state: None,
        due_at: None,
        machine,
        messages: Vec::new(),
        passed: HashSet::new(),
        refused: Vec::new(),
        kept: Vec::new(),
        revision: work.revision,
        on: Attempted::Recheck,
        attempt: 1,
        work,
        steps: 0,
        ready_at,
        is_for_others: false,
        timer: None,
        known_elsewhere: BTreeSet::new(),
        is_of_other: read.is_of_other,
        members: HashSet::new(),
        overdue_at: None,
        untaken: HashSet::new(),
        stale: Vec::new(),
        waits: Vec::new(),
        behind: 0,
        taken_over,
        released: false,
        keeps_lease: false,
        failed: None,
    };
    job.receive(read.messages);
    job.learn().await?;
    job.choose();
    let now = store.now();
    let event = Event::Claim(protocol::Claim {
        worker: shared.name.clone(),
        token,
        now,
        until: later(now, shared.settings.lease),
        holder_ended,
        on: job.on.clone(),
        // A turn always ends: its last attempt is the library's, and is repeated if the worker is
        // lost.
        max_attempts: match job.on {
            Attempted::State if is_of_heads::<H>() => u32::MAX,
            _ => attempts::<H>(shared),
        },
    });
    match store.under_lease(id, event).await? {
        Some(EventOutcome::Claimed { revision, .. }) if revision == job.revision => {
            shared.leases.add(&job.lease);
        }
        // Something came between the read and the claim.
        Some(EventOutcome::Claimed { .. }) => {
            shared.leases.add(&job.lease);
            let reloaded = job.reload().await;
            if !matches!(reloaded, Ok(Flow::Go)) {
                job.give_up().await;
                return reloaded.map(|_| Claimed::None);
            }
        }
        Some(EventOutcome::SetAside) => {
            job.attempt = attempts::<H>(shared);
            job.report(Cause::NoAnswer, &Cause::NoAnswer.to_string(), true);
            return Ok(Claimed::Again);
        }
        _ => return Ok(Claimed::None),
    }
    if let Some(error) = unreadable {
        // Only a person can help: a backup, or an upgrade function.
        job.fail(Cause::Unreadable, error.class(), error.to_string(), true).await?;
        return Ok(Claimed::None);
    }
    Ok(Claimed::Job(job, is_takeover))
}

fn attempts<H: Handler>(shared: &Shared) -> u32 {
    shared.settings.attempts.saturating_add(u32::from(is_of_heads::<H>()))
}

fn kind<H: Handler>() -> &'static str {
    <H::Machine as Restore>::DEFINITION.name.as_ref()
}

impl<H: Handler> Job<'_, H> {
    fn id(&self) -> Id {
        self.lease.id
    }

    fn span(&self) -> Span {
        let (kind, id, token) = (kind::<H>(), display(self.id()), self.lease.token);
        telemetry::Process {
            name: display(format_args!("process {kind}")),
            kind,
            destination: kind,
            id,
            token,
        }
        .span()
    }

    async fn run(&mut self, is_takeover: bool, holder_ended: bool) -> Result<(), Unavailable> {
        let (kind, id, token) = (kind::<H>(), display(self.id()), self.lease.token);
        if is_takeover {
            telemetry::TakenOver { kind, id: id.clone(), token, holder_ended }.emit();
        }
        let (step, attempt) = (self.on.name(), self.attempt);
        telemetry::Claimed { kind, id, token, step, attempt }.emit();
        let mut flow = Ok(Flow::Go);
        while matches!(flow, Ok(Flow::Go)) {
            flow = self.turn().await;
        }
        self.give_up().await;
        flow.map(drop)
    }

    /// Does one thing. A panic in code of the program that a commit runs, such as a `PartialEq`,
    /// fails it like a panic in the handler.
    async fn turn(&mut self) -> Result<Flow, Unavailable> {
        let (on, attempt) = (self.on.clone(), self.attempt);
        let flow = AssertUnwindSafe(self.step()).catch_unwind().await;
        match flow {
            Ok(flow) => flow,
            Err(panic) => {
                telemetry::Panicked { kind: Some(kind::<H>()), id: Some(display(self.id())) }
                    .emit();
                (self.on, self.attempt) = (on, attempt);
                let why = format!("the machine's code panicked: {}", panic_text(&*panic));
                self.fail(Cause::Panicked, "panic", why, false).await
            }
        }
    }

    async fn step(&mut self) -> Result<Flow, Unavailable> {
        self.steps += 1;
        if !self.lease.is_valid(&self.shared.store) {
            return Ok(Flow::End);
        }
        self.drop_stale().await?;
        match self.on.clone() {
            Attempted::Recheck => self.park(None, Again::OnNews).await,
            Attempted::Deadline => self.fire().await,
            Attempted::Message(correlation) => self.take(&correlation).await,
            // Messages and deadlines move the machine also if its calls cannot be made.
            Attempted::State => match self.adopt().await? {
                Flow::Go if self.on == Attempted::State => self.handle(None, Vec::new()).await,
                flow => Ok(flow),
            },
        }
    }

    /// Does not keep a machine that it has no plan for.
    async fn give_up(&mut self) {
        if self.released {
            return;
        }
        let now = self.shared.store.now();
        let event = Event::HandBack { token: self.lease.token, on: Attempted::Recheck, now };
        if let Err(error) = self.shared.store.under_lease(self.id(), event).await {
            self.keeps_lease = true;
            telemetry::WorkerPostponed { operation: "hand_back", error: error.class() }.emit();
        }
        telemetry::HandedBack { kind: kind::<H>(), id: display(self.id()) }.emit();
    }

    fn receive(&mut self, messages: Vec<Queued>) {
        self.messages = messages;
        self.note_deadlines();
    }

    fn note_deadlines(&mut self) {
        let machine = self.machine.as_ref();
        self.due_at = machine.and_then(|it| it.journal().stored().summary.due_at());
        let states = &<H::Machine as Restore>::DEFINITION.states;
        self.state = machine.map(|it| states[Erased::state_index(it)].name.as_ref());
    }

    fn report(&self, cause: Cause, error: &str, set_aside: bool) {
        self.report_of(self.on.name(), self.attempt, cause, error, set_aside);
    }

    fn report_of(
        &self,
        step: &'static str,
        attempt: u32,
        cause: Cause,
        error: &str,
        set_aside: bool,
    ) {
        if let Some(Hook(report)) = &self.shared.on_error {
            let (id, kind, state) = (self.id(), kind::<H>(), self.state);
            report(&FailedAttempt { id, kind, state, step, attempt, cause, error, set_aside });
        }
    }
}
