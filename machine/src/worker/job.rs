//! The work of a worker on one machine while it holds the lease.

mod choice;
mod moves;
mod writes;

use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

use tracing::{Instrument, Span, field::display};

use super::{
    FailedAttempt, Handler,
    lease::Lease,
    shared::{LEFT_TO_OTHERS, OnError, Shared},
};
use crate::{
    clock::Millis,
    id::Id,
    store::{
        Cause, LoadError, Unavailable,
        backend::Agenda,
        inbox::{
            message::Queued,
            protocol::{self, Event, On, Outcome, Work},
        },
    },
    stored::{Durable, Restore, VerifyError},
    telemetry,
    typed::Erased,
};

/// After this many steps a machine goes to the end of the queue.
const STEPS: u32 = 32;

/// A machine under a lease.
struct Job<'a, H: Handler> {
    handler: &'a H,
    shared: &'a Arc<Shared>,
    lease: Arc<Lease>,
    /// The name of its state, if it can be read.
    state: Option<&'static str>,
    /// Not while user code has it.
    machine: Option<H::Machine>,
    /// When its next deadline is due.
    due_at: Option<Millis>,
    messages: Vec<Queued>,
    /// The messages that the current state refused.
    passed: HashSet<String>,
    refused: Vec<(String, String)>,
    kept: Vec<(String, String)>,
    /// The news that the job has seen.
    news: u64,
    on: On,
    /// The number of attempts, this one included.
    attempt: u32,
    work: Work,
    steps: u32,
    /// Since when it has been ready.
    ready_at: Millis,
    /// A message waits for a worker that knows its sender.
    is_for_others: bool,
    /// The triggers that only other versions of the machine have, as far as the file knows them.
    known_elsewhere: BTreeSet<String>,
    /// Another version of the program has written the machine, and may know more of it.
    is_of_other: bool,
    /// The lease was given back, or is lost.
    released: bool,
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
    agenda: Agenda,
    holder_ended: bool,
) -> Result<(), Unavailable> {
    // Each round sets one thing aside that was tried too often.
    for _ in 0..STEPS {
        match claim(handler, shared, (agenda.id, agenda.at), holder_ended).await? {
            Claim::Job(mut job) => {
                let span = job.span();
                let ended = job.run(&agenda, holder_ended).instrument(span.clone()).await;
                let error = ended.as_ref().err().map(Unavailable::class);
                if let Some(class) = error.or(job.failed) {
                    telemetry::failed(&span, class);
                }
                return ended;
            }
            Claim::Again => {}
            Claim::None => return Ok(()),
        }
    }
    Ok(())
}

#[allow(clippy::large_enum_variant, reason = "it lives shortly")]
enum Claim<'a, H: Handler> {
    Job(Job<'a, H>),
    Again,
    None,
}

async fn claim<'a, H: Handler>(
    handler: &'a H,
    shared: &'a Arc<Shared>,
    (id, ready_at): (Id, Millis),
    holder_ended: bool,
) -> Result<Claim<'a, H>, Unavailable> {
    let store = &shared.store;
    let read = store.read::<H::Machine>(id).await?;
    let Some(work) = read.work else { return Ok(Claim::None) };
    let (machine, unreadable) = match read.machine {
        Ok(machine) => (Some(machine), None),
        // A newer program has written it, and drives it.
        Err(LoadError::Unreadable(
            VerifyError::UnknownDefinition { .. } | VerifyError::Incompatible { .. },
        )) => {
            let kind = kind::<H>();
            telemetry::LeftToOthers { kind, id: display(id), error: "other_version" }.emit();
            shared.leave(id, work.news, LEFT_TO_OTHERS);
            return Ok(Claim::None);
        }
        Err(LoadError::NotFound { .. }) => return Ok(Claim::None),
        Err(error) => (None, Some(error)),
    };
    let token = work.token;
    let asked_at = store.uptime();
    let mut job = Job {
        handler,
        shared,
        lease: Lease::new(id, token + 1, asked_at, &shared.settings),
        state: None,
        due_at: None,
        machine,
        messages: Vec::new(),
        passed: HashSet::new(),
        refused: Vec::new(),
        kept: Vec::new(),
        news: work.news,
        on: On::Look,
        attempt: 1,
        work,
        steps: 0,
        ready_at,
        is_for_others: false,
        known_elsewhere: BTreeSet::new(),
        is_of_other: read.is_of_other,
        released: false,
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
        until: now.saturating_add(shared.settings.lease_ms()),
        holder_ended,
        on: job.on.clone(),
        most: shared.settings.attempts,
    });
    match store.under_lease(id, event).await? {
        Some(Outcome::Claimed { news, .. }) if news == job.news => {
            shared.leases.add(&job.lease);
        }
        // Something came between the read and the claim.
        Some(Outcome::Claimed { .. }) => {
            shared.leases.add(&job.lease);
            if job.reload().await? == Flow::End {
                job.give_up().await;
                return Ok(Claim::None);
            }
        }
        Some(Outcome::SetAside) => {
            job.attempt = shared.settings.attempts;
            job.report(Cause::NoAnswer, &Cause::NoAnswer.to_string(), true);
            return Ok(Claim::Again);
        }
        _ => return Ok(Claim::None),
    }
    if let Some(error) = unreadable {
        // Only a person can help: a backup, or an upgrade function.
        job.fail(Cause::Unreadable, error.class(), error.to_string(), true).await?;
        return Ok(Claim::None);
    }
    Ok(Claim::Job(job))
}

/// The name of the handler's machine.
fn kind<H: Handler>() -> &'static str {
    <H::Machine as Restore>::DEFINITION.name.as_ref()
}

impl<H: Handler> Job<'_, H> {
    fn id(&self) -> Id {
        self.lease.id
    }

    /// The span of a job.
    fn span(&self) -> Span {
        let (kind, id, token) = (kind::<H>(), display(self.id()), self.lease.token);
        let name = display(telemetry::SpanName::process(kind));
        telemetry::Process { name, kind, destination: kind, id, token }.span()
    }

    async fn run(&mut self, agenda: &Agenda, holder_ended: bool) -> Result<(), Unavailable> {
        let (kind, id, token) = (kind::<H>(), display(self.id()), self.lease.token);
        if agenda.worker.is_some() {
            telemetry::TakenOver { kind, id: id.clone(), token, holder_ended }.emit();
        }
        let (step, attempt) = (self.on.name(), self.attempt);
        telemetry::Claimed { kind, id, token, step, attempt }.emit();
        let ended = loop {
            match self.turn().await {
                Ok(Flow::Go) => {}
                Ok(Flow::End) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.give_up().await;
        ended
    }

    /// Does one thing.
    async fn turn(&mut self) -> Result<Flow, Unavailable> {
        self.steps += 1;
        if !self.lease.is_valid(&self.shared.store) {
            return Ok(Flow::End);
        }
        match self.on.clone() {
            On::Look => self.park(None, None).await,
            On::Deadline => self.fire().await,
            On::Message(correlation) => self.take(&correlation).await,
            On::State => self.handle().await,
        }
    }

    /// Does not keep a machine that it has no plan for.
    async fn give_up(&mut self) {
        if self.released {
            return;
        }
        let now = self.shared.store.now();
        let event = Event::HandBack { token: self.lease.token, on: On::Look, now };
        if let Err(error) = self.shared.store.under_lease(self.id(), event).await {
            // The lease ends by itself.
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

    /// Tells the program that an attempt has failed.
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
        if let Some(OnError(report)) = &self.shared.on_error {
            let (id, kind, state) = (self.id(), kind::<H>(), self.state);
            report(&FailedAttempt { id, kind, state, step, attempt, cause, error, set_aside });
        }
    }
}
