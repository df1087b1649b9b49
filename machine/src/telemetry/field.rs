//! The names of all fields, each once. Those without the prefix `machine.` are OpenTelemetry's.

/// A field of spans and events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignalField {
    /// The name, such as `machine.id`.
    pub name: &'static str,
    /// The meaning of the value, with its unit.
    pub meaning: &'static str,
}

macro_rules! fields {
    ($( #[doc = $meaning:literal] $field:ident = $name:literal; )*) => {
        $(
            #[doc = $meaning]
            pub(crate) const $field: &str = $name;
        )*

        /// All fields of [`SIGNALS`](super::SIGNALS), by name.
        pub static FIELDS: &[SignalField] =
            &[$( SignalField { name: $name, meaning: $meaning.trim_ascii() } ),*];
    };
}

fields! {
    /// The result code of SQLite, extended where SQLite gives one.
    DB_STATUS = "db.response.status_code";
    /// The class of an error. Absent if there was none.
    ERROR_TYPE = "error.type";
    /// `execute_tool`.
    GEN_AI_OPERATION = "gen_ai.operation.name";
    /// The id of the execution.
    GEN_AI_CALL_ID = "gen_ai.tool.call.id";
    /// The service and the method of the tool, such as `email.send`.
    GEN_AI_TOOL = "gen_ai.tool.name";
    /// `function`.
    GEN_AI_TOOL_TYPE = "gen_ai.tool.type";
    /// The category of the actor: `tool`, `system`, `agent` or `human`; never the name.
    ACTOR = "machine.actor.category";
    /// The number of events for inboxes and leases in the batch.
    BATCH_EVENTS = "machine.batch.events";
    /// The number of machines in the batch.
    BATCH_SIZE = "machine.batch.size";
    /// The number of the call, from 1.
    CALL_ATTEMPT = "machine.call.attempt";
    /// The evidence of the service: `applied`, `not_applied` or `unknown`.
    EVIDENCE = "machine.call.evidence";
    /// The contract says that the action is irreversible.
    IRREVERSIBLE = "machine.call.irreversible";
    /// `completed`, `failed`, `accepted`, `in_doubt`, `timed_out`, `fenced`, `not_begun` or `not_settled`.
    OUTCOME = "machine.call.outcome";
    /// The call was interrupted before, and is made again.
    RESUMED = "machine.call.resumed";
    /// The frames that were copied into the database.
    CHECKPOINT_DONE = "machine.checkpoint.done";
    /// The frames in the write-ahead log.
    CHECKPOINT_FRAMES = "machine.checkpoint.frames";
    /// The mode, as a number of SQLite: 0 passive, 1 full, 2 restart, 3 truncate.
    CHECKPOINT_MODE = "machine.checkpoint.mode";
    /// The time until the next try, in milliseconds. Absent if only a message wakes the machine.
    DELAY_MS = "machine.delay_ms";
    /// A person found that the action took effect.
    APPLIED = "machine.doubt.applied";
    /// The liveness of the call, which can take effect unless it has ended: `alive`, `cut_off`, `ended` or `unknown`.
    LIVENESS = "machine.doubt.worker";
    /// The fencing epoch of the machine.
    EPOCH = "machine.epoch";
    /// Where the graph is: `resume_begins` or `resume_ends`.
    POSITION = "machine.graph.position";
    /// The machine.
    ID = "machine.id";
    /// The name of the definition, such as `order`.
    KIND = "machine.kind";
    /// The process that had the lease before has ended; otherwise its lease has.
    HOLDER_ENDED = "machine.lease.holder_ended";
    /// The fencing token of the lease.
    TOKEN = "machine.lease.token";
    /// The number of messages.
    MESSAGES = "machine.message.count";
    /// `queued`, `duplicate` or `ended` (the machine has ended; the message is set aside).
    SENT = "machine.message.outcome";
    /// The number of executions that could not be read.
    RECOVERED_FAILED = "machine.recover.failed";
    /// The number of executions in doubt.
    RECOVERED_IN_DOUBT = "machine.recover.in_doubt";
    /// The number of idempotent calls that were interrupted.
    RECOVERED_INTERRUPTED = "machine.recover.interrupted";
    /// The number of executions that were settled by late evidence.
    RECOVERED_SETTLED = "machine.recover.settled";
    /// The time that the machine has waited since it entered its state, in milliseconds.
    AGE_MS = "machine.resume.age_ms";
    /// The number of machines that the program says it resumes.
    RESUMING = "machine.resume.resuming";
    /// The number of machines that wait.
    WAITING = "machine.resume.waiting";
    /// The state of the machine.
    STATE = "machine.state";
    /// The source state.
    FROM = "machine.state.from";
    /// The target state.
    TO = "machine.state.to";
    /// The operation of the storage, or of the worker, that failed.
    OPERATION = "machine.storage.operation";
    /// The trigger of the transition.
    TRIGGER = "machine.trigger";
    /// The number of entries in the journal, with this one.
    VERSION = "machine.version";
    /// The number of the attempt, from 1.
    ATTEMPT = "machine.worker.attempt";
    /// The number of calls of tools that have not ended.
    CALLS = "machine.worker.calls";
    /// The time that the jobs have to end, in milliseconds.
    GRACE_MS = "machine.worker.grace_ms";
    /// The number of machines that the worker is driving.
    MACHINES = "machine.worker.machines";
    /// The part that no live worker has: `handler`, `tool`, `move`, `sender` or `definition`.
    NEEDED = "machine.worker.needed";
    /// Its name: that of the kind, the tool, the trigger, or the kind of the sender.
    NEEDED_NAME = "machine.worker.needed.name";
    /// The task of the worker: `look`, `state`, `deadline` or `message`.
    STEP = "machine.worker.step";
    /// The name of the definition.
    MESSAGING_DESTINATION = "messaging.destination.name";
    /// `send` or `process`.
    MESSAGING_OPERATION = "messaging.operation.name";
    /// `send` or `process`.
    MESSAGING_TYPE = "messaging.operation.type";
    /// `machine`.
    MESSAGING_SYSTEM = "messaging.system";
    /// The kind of the span: `internal`, `producer` or `consumer`.
    OTEL_KIND = "otel.kind";
    /// The name of the span for OpenTelemetry.
    OTEL_NAME = "otel.name";
    /// `ERROR`. Absent if there was none.
    OTEL_STATUS = "otel.status_code";
}
