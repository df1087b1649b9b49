//! The table of all spans and events. `docs/tracing.md` has the same; a test compares the two.

use std::fmt::Arguments;

use tracing::field::DisplayValue;

use super::{
    ToolName, field,
    signal::{member, signals},
};
use crate::{actor::Category, id::Id};

/// Commits and their writes.
pub(super) const STORE: &str = "machine::store";
/// Calls of tools.
pub(super) const CALL: &str = "machine::call";
/// Executions in doubt.
pub(super) const DOUBT: &str = "machine::doubt";
/// Approvals.
pub(super) const GATE: &str = "machine::gate";
/// Messages to machines.
pub(super) const MESSAGE: &str = "machine::message";
/// Activity of workers.
pub(super) const WORKER: &str = "machine::worker";
/// The file, and the threads of the store.
pub(super) const STORAGE: &str = "machine::storage";

type Displayed<T> = DisplayValue<T>;

signals! {
    /// A batch is written, from its checks to the answer.
    span Commit = "machine.commit", STORE, DEBUG {
        size: u64 => BATCH_SIZE,
        events: u64 => BATCH_EVENTS,
    }
    fixed {}
    later { ERROR_TYPE, OTEL_STATUS, }

    /// The move of a handler asked child machines to cancel. With the option, the transition leaves
    /// them as they are.
    event VisitCancelled<'a> = "machine.visit.cancelled", STORE, WARN {
        kind, id,
        trigger: &'a str => TRIGGER,
        children: u64 => VISIT_CHILDREN,
        option: &'static str => VISIT_OPTION,
    }

    /// A new machine is on disk.
    event Created<'a> = "machine.created", STORE, INFO {
        kind, id,
        state: &'a str => STATE,
        actor, version,
    }

    /// A transition is on disk. There is one event for each.
    event Transition<'a> = "machine.transition", STORE, INFO {
        kind, id,
        from: &'a str => FROM,
        to: &'a str => TO,
        trigger: &'a str => TRIGGER,
        actor, version,
    }

    /// A worker was fenced: its answers from now on are late.
    event Fenced = "machine.fenced", STORE, WARN { kind, id, epoch }

    /// A program resumes another number of machines than wait.
    event ResumeMismatch = "machine.resume.mismatch", STORE, WARN {
        kind,
        resuming: u64 => RESUMING,
        waiting: u64 => WAITING,
    }

    /// A machine that waits is about to be resumed, or a gate to be answered.
    event Resuming<'a> = "machine.resume", STORE, INFO {
        kind: &'a str => KIND,
        id,
        state: &'a str => STATE,
        age_ms: u64 => AGE_MS,
    }

    /// An execution is not in the state that belongs to where the graph is.
    event PositionMismatch = "machine.graph.mismatch", STORE, WARN {
        id,
        position: &'static str => POSITION,
        state: &'static str => STATE,
    }

    /// A machine was skipped, because it cannot be read.
    event Skipped = "machine.skipped", STORE, ERROR { error }

    /// A tool is called: from the start of its execution to the settled outcome. If the call
    /// continues after its timeout, the span ends with the call.
    span ExecuteTool<'a> = "execute_tool", CALL, INFO {
        name: Displayed<Arguments<'a>> => OTEL_NAME,
        tool: Displayed<ToolName<'a>> => GEN_AI_TOOL,
        id: Displayed<Id> => GEN_AI_CALL_ID,
        irreversible: bool => IRREVERSIBLE,
        resumed: bool => RESUMED,
    }
    fixed {
        OTEL_KIND = "internal",
        GEN_AI_OPERATION = "execute_tool",
        GEN_AI_TOOL_TYPE = "function",
    }
    later { OUTCOME, ERROR_TYPE, OTEL_STATUS, }

    /// A service is asked for the outcome of a call that is in doubt.
    span AskService<'a> = "machine.ask_service", CALL, INFO {
        name: Displayed<Arguments<'a>> => OTEL_NAME,
        tool: Displayed<ToolName<'a>> => GEN_AI_TOOL,
        id: Displayed<Id> => GEN_AI_CALL_ID,
    }
    fixed { OTEL_KIND = "internal", }
    later { OUTCOME, ERROR_TYPE, OTEL_STATUS, }

    /// The permit for a call is on disk.
    event CallBegun = "machine.call.begun", CALL, DEBUG { kind, id, epoch }

    /// The answer of a service, or its absence, is on disk.
    event CallAnswered = "machine.call.answered", CALL, INFO { kind, id, epoch, evidence }

    /// A service has accepted a call, and reports its outcome later.
    event CallAccepted = "machine.call.accepted", CALL, INFO { kind, id, epoch }

    /// Late evidence is on disk. It changes no state.
    event CallLate = "machine.call.late", CALL, WARN { kind, id, epoch, evidence }

    /// An idempotent call gave no receipt, and is made again after the delay.
    event CallRetried = "machine.call.retried", CALL, WARN {
        id,
        attempt: u64 => CALL_ATTEMPT,
        evidence,
        delay_ms: u64 => DELAY_MS,
    }

    /// The timeout of a call has passed, and the call continues.
    event CallTimedOut = "machine.call.timed_out", CALL, WARN { id }

    /// An execution ends without a call.
    event CallClosed = "machine.call.closed", CALL, INFO { kind, id }

    /// An outcome is not on disk. The worker tries again until it is.
    event CallUnsettled = "machine.call.unsettled", CALL, ERROR { id, error }

    /// The evidence of a late call was not written.
    event CallLost = "machine.call.lost", CALL, ERROR { error }

    /// Executions whose worker ended or timed out are looked for.
    span Recover = "machine.recover", DOUBT, INFO {}
    fixed {}
    later {
        RECOVERED_IN_DOUBT, RECOVERED_SETTLED, RECOVERED_INTERRUPTED, RECOVERED_FAILED,
        ERROR_TYPE, OTEL_STATUS,
    }

    /// An execution is in doubt.
    event DoubtParked = "machine.doubt.parked", DOUBT, WARN {
        kind, id,
        worker: &'static str => LIVENESS,
    }

    /// The call of an execution in doubt was cut off, and its process is still running.
    event DoubtCutOff = "machine.doubt.cut_off", DOUBT, WARN { kind, id }

    /// The call of an execution in doubt has ended.
    event DoubtWorkerEnded = "machine.doubt.worker_ended", DOUBT, INFO { kind, id }

    /// A person, or the service, said whether an action in doubt took effect.
    event DoubtConfirmed = "machine.doubt.confirmed", DOUBT, INFO {
        kind, id,
        applied: bool => APPLIED,
        actor,
    }

    /// A person freed a key before it could be known that the action did not take effect.
    event DoubtOverridden = "machine.doubt.overridden", DOUBT, WARN { kind, id, actor }

    /// A service was asked, and the execution stays in doubt.
    event DoubtRemains = "machine.doubt.remains", DOUBT, DEBUG { error }

    /// A person is asked for approval.
    event GateAsked = "machine.gate.asked", GATE, INFO { kind, id }

    /// A person approved an action.
    event GateApproved = "machine.gate.approved", GATE, INFO { kind, id, actor }

    /// A person answered a question that is not a gate.
    event QuestionAnswered = "machine.question.answered", GATE, INFO { kind, id, actor }

    /// A person declined an action.
    event GateDeclined = "machine.gate.declined", GATE, INFO { kind, id, actor }

    /// A gate was not answered in time.
    event GateExpired = "machine.gate.expired", GATE, INFO { kind, id }

    /// A gate was withdrawn.
    event GateWithdrawn = "machine.gate.withdrawn", GATE, INFO { kind, id }

    /// A message is sent with `Store::send`.
    span Send = "machine.send", MESSAGE, INFO { id }
    fixed {
        OTEL_NAME = "send",
        OTEL_KIND = "producer",
        MESSAGING_SYSTEM = "machine",
        MESSAGING_OPERATION = "send",
        MESSAGING_TYPE = "send",
    }
    later { ERROR_TYPE, OTEL_STATUS, }

    /// A message is on disk, or was before.
    event MessageSent = "machine.message.sent", MESSAGE, DEBUG { id, outcome: &'static str => SENT }

    /// A message caused the transition that was just committed.
    event MessageHandled = "machine.message.handled", MESSAGE, DEBUG { kind, id }

    /// Messages can never be handled. They are kept, set aside.
    event MessagesRefused = "machine.message.refused", MESSAGE, WARN { kind, id, messages }

    /// A person returned work that was set aside, or a machine that nothing can move, to the
    /// workers.
    event Requeued = "machine.requeued", MESSAGE, INFO { id, messages }

    /// A worker drives a machine, from the claim until it waits, ends, or belongs to another
    /// worker.
    span Process<'a> = "machine.process", WORKER, INFO {
        name: Displayed<Arguments<'a>> => OTEL_NAME,
        kind,
        destination: &'static str => MESSAGING_DESTINATION,
        id, token,
    }
    fixed {
        OTEL_KIND = "consumer",
        MESSAGING_SYSTEM = "machine",
        MESSAGING_OPERATION = "process",
        MESSAGING_TYPE = "process",
    }
    later { ERROR_TYPE, OTEL_STATUS, }

    /// A worker has claimed a machine.
    event Claimed = "machine.worker.claimed", WORKER, DEBUG { kind, id, token, step, attempt }

    /// A worker took over a machine from another worker.
    event TakenOver = "machine.worker.taken_over", WORKER, WARN {
        kind, id, token,
        holder_ended: bool => HOLDER_ENDED,
    }

    /// A machine waits.
    event Waits = "machine.worker.waits", WORKER, DEBUG {
        kind, id,
        delay_ms: Option<u64> => DELAY_MS,
    }

    /// A worker gives a machine back: it has done many steps, or it stops.
    event HandedBack = "machine.worker.handed_back", WORKER, DEBUG { kind, id }

    /// The lease is lost: a handler was stopped, or a transition was refused.
    event LeaseLost = "machine.worker.lease_lost", WORKER, WARN { kind, id, token }

    /// A handler, a deadline or a message failed, and is tried again after the delay.
    event Failed = "machine.worker.failed", WORKER, WARN {
        kind, id,
        state: Option<&'static str> => STATE,
        step, attempt,
        delay_ms: u64 => DELAY_MS,
        error,
    }

    /// The same, and it is not tried again until a person requeues it.
    event SetAside = "machine.worker.set_aside", WORKER, ERROR {
        kind, id,
        state: Option<&'static str> => STATE,
        step, attempt, error,
    }

    /// A machine needs another program, and is left to other workers for a while.
    event LeftToOthers = "machine.worker.left_to_others", WORKER, WARN { kind, id, error }

    /// A machine needs what no live worker has: for a minute or longer, or, for a call of a machine
    /// that the worker drives, when `run_until_idle` ends. There is one event for each thing that
    /// is missing.
    event Undriven<'a> = "machine.worker.undriven", WORKER, WARN {
        kind: &'a str => KIND,
        id,
        needed: &'static str => NEEDED,
        name: &'a str => NEEDED_NAME,
    }

    /// For a minute or longer, nothing can move a machine whose handler waits. There is one event
    /// for each time.
    event Stuck = "machine.worker.stuck", WORKER, WARN {
        kind, id,
        state: Option<&'static str> => STATE,
    }

    /// The attempts at a machine were interrupted, so it runs in isolation.
    event Suspect = "machine.worker.suspect", WORKER, WARN { kind, id, attempt }

    /// User code panicked where nothing else catches it. The machine is skipped for a while.
    event Panicked = "machine.worker.panicked", WORKER, ERROR {
        kind: Option<&'static str> => KIND,
        id: Option<Displayed<Id>> => ID,
    }

    /// A worker did not start: it cannot read what it is to drive, or cannot use its store. Its
    /// error has the details.
    event NotStarted = "machine.worker.not_started", WORKER, ERROR { error }

    /// A worker cannot use its store now. It tries again.
    event WorkerWaits = "machine.worker.unavailable", WORKER, WARN { operation, error }

    /// A worker skipped an operation that it or another worker can do later.
    event WorkerPostponed = "machine.worker.postponed", WORKER, DEBUG { operation, error }

    /// A worker was asked to stop, and waits for the work that it has begun.
    event Stopping = "machine.worker.stopping", WORKER, INFO {
        machines: u64 => MACHINES,
        calls: u64 => CALLS,
        grace_ms,
    }

    /// A worker stopped its jobs, because they did not end in time.
    event Stopped = "machine.worker.stopped", WORKER, INFO { grace_ms }

    /// The storage failed, or a thread of the store did.
    event StorageFailed = "machine.storage.failed", STORAGE, ERROR { operation, status }

    /// The storage did not do what can be done later, or in another way.
    event StoragePostponed = "machine.storage.postponed", STORAGE, DEBUG { operation, status }

    /// The write-ahead log was copied into the database, as far as possible.
    event Checkpoint = "machine.storage.checkpoint", STORAGE, TRACE {
        mode: i32 => CHECKPOINT_MODE,
        frames: i32 => CHECKPOINT_FRAMES,
        done: i32 => CHECKPOINT_DONE,
    }
}
