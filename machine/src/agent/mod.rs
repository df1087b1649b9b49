//! Turns of agents.
//!
//! An *agent* has one *head*, and with it at most one active *turn*. A turn begins with an
//! enqueued task and ends with a deliverable, whatever happens to its model, its calls and its
//! workers: each enqueued task is answered by one [event](TaskEvent) and one deliverable.
//!
//! | term | meaning |
//! |---|---|
//! | box | cards in order; a turn reads its context box, and writes to its output box |
//! | card | an immutable record of a turn: an answer, a call, a result, the deliverable |
//! | deliverable | the card with the result of a turn |
//! | epoch | rises when a turn is dispatched, and when another worker takes it over |
//! | head | the epoch of an agent and its active turn |
//! | member | a call of a step; its id has the turn, the step and its index |
//! | step | one answer of the model, with its calls and their results |
//! | waiting set | the calls of the step that were made and have no result |
//!
//! The protocol is one pure function: [`decide`] answers a [request](TurnRequest) with the one
//! [batch](TurnBatch) of its writes, or with a [refusal](TurnRefusal).
//!
//! - A worker writes under the [epoch](TurnEpoch) in which it took the turn. A request under
//!   another epoch is refused.
//! - A stop or a limit sets a reason. From then on the turn can only deliver, and the queued turns
//!   that it has delegated are stopped too.
//! - Each call of an answer has one result: of the call, of a call that is closed instead of made,
//!   or of the delivery, if the turn ends before.
//! - The deliverable, the event and the idle head are one batch. The deliverable is a card of this
//!   turn in its output box.
//! - A call leaves the waiting set once. A later result is refused; its execution keeps it.
//! - A call to another agent has a deadline, because two agents could wait for each other.
//! - The turns that write to a box are turns of one agent, which run one after the other.
//!
//! [`Agents`] are the agents of a store. The head of each is a [machine](AgentHead) that moves only
//! as the protocol decides. The other rows are written in the batch of its transition. A
//! [`Driver`] runs the turns on workers: it dispatches a turn when the one before is delivered,
//! raises the epoch of a turn that another worker has not given back, makes the calls of your
//! [`Agent`], reports their results, and delivers what it returns.
//!
//! The answer of a model, its calls, the executions and the waiting set are one batch. Each result
//! is a batch of its own, in the order in which the calls end or are overdue. A call that fails
//! leaves the others alone. A call that takes longer than its limit runs on: its result stays with
//! the execution. An idempotent call is made each time. An irreversible one that is made again,
//! with the same arguments, is joined if it is under way, or if it has ended in this turn and its
//! result was not reported; otherwise it is not made, because it has [already been
//! done](crate::contract::CallError::AlreadyDone), perhaps in an earlier turn. A tool can say that
//! it repeats [per call](crate::contract::ToolSpec::per_call). The card of a result has one of
//! these bodies:
//!
//! | body | the call |
//! |---|---|
//! | `{"receipt": text}` | took effect |
//! | `{"delivered": true}` | has [submitted](CallTarget::Submit) the result of the turn |
//! | `{"error": {..}}` | did not, for the reason of a [`CallError`](crate::contract::CallError) |
//! | `{"error": {"overdue": {..}}}` | is under way, in this execution or turn |
//! | `{"error": {"refused": text}}` | is refused by the protocol |
//! | `{"error": {"not_made": text}}` | was not made before the turn was stopped |
//! | `{"error": {"interrupted": text}}` | had no result when the stopped turn was delivered |
//! | `{"answer": json}` | was [answered](Agents::answer) from outside |
//! | `{"end": .., "deliverable": id}` | was a turn of another agent, with this end |
//!
//! When all calls have results, a [`Conversation`] has the messages for the model.
//!
//! A turn always ends. It is delivered with its [reason](StopReason), and the next one begins, when
//!
//! - a person [stops it](Agents::stop),
//! - it exceeds a limit; its time limit is a deadline of the head,
//! - the [attempts](crate::worker::Worker::attempts) of its agent are used up, or
//! - its terms cannot be read.
//!
//! The delivery itself needs a store that can be written, and rows that can be read: not damaged,
//! and of a form that the program knows. Otherwise, after the last attempt, the head is [set
//! aside](crate::store::Store::set_aside) until a person
//! [requeues](crate::store::Store::requeue) it.
//!
//! Turns that were delivered long ago can be [pruned](Agents::prune) while their agent works on
//! others. Their ids stay, and say so; what a live turn can read stays.
//!
//! [`AgentEvents`] makes the [events](AgentEvent) of agents from the journal of the store, from any
//! position on. A transition of a head has these:
//!
//! | subject | transition |
//! |---|---|
//! | `evt.agent.{agent}.step` | an answer of the model, its calls, a result of a call, the delivery |
//! | `evt.agent.{agent}.task` | the delivery |
//! | `evt.agent.{agent}.state` | each one, with the state and the epoch of the head after it |
//!
//! No journal has what a turn does between two transitions. [`Signalling`] tells a function of the
//! worker's program, best effort: a signal may be lost, and nothing waits for it.
//!
//! What a store refuses changes nothing:
//!
//! | refused | error |
//! |---|---|
//! | a turn of an agent that was not created | [`TurnRefusal::UnknownAgent`] |
//! | the stop of a turn that was not enqueued | [`TurnRefusal::UnknownTurn`] |
//! | an action of a person while the agent has another active turn | [`TurnRefusal::Busy`] |
//! | the id of a known turn with another task | [`TurnRefusal::TurnIdConflict`] |
//! | an answer to a call that is not answered from outside | [`TurnRefusal::UnknownCall`] |
//! | a second answer to a call, with another text | [`TurnRefusal::FinishedCall`] |
//! | a context box that is also the output box | [`TurnRefusal::SameBox`] |
//! | an output box that live turns of another agent write to | [`TurnRefusal::BoxTaken`] |
//! | a task that reads more cards than its context box has | [`AgentError::MissingCards`] |
//! | an agent whose name is not a line of visible text | [`CommitError::Refused`] |
//!
//! [`CommitError::Refused`]: crate::store::CommitError::Refused
//!
//! ```
//! use machine::{
//!     Id,
//!     agent::{
//!         AgentId, BoxId, Head, Limits, NewTurn, Phase, Task, Terms, TurnId, TurnRequest,
//!         TurnRows, decide,
//!     },
//! };
//!
//! let id = |last: char| -> Result<Id, _> {
//!     format!("01890a5d-ac96-774b-bcce-b302099a805{last}").parse()
//! };
//! let planner = AgentId("planner".to_owned());
//! let mut rows = TurnRows::default();
//! rows.heads.insert(planner.clone(), Head::default());
//!
//! let task = Task {
//!     context_box: BoxId(id('1')?),
//!     context_cards: 0,
//!     output_box: BoxId(id('2')?),
//!     trace: id('3')?,
//!     terms: Terms {
//!         limits: Limits { steps: Some(20), ..Limits::default() },
//!         ..Terms::default()
//!     },
//! };
//! let new = NewTurn { id: TurnId(id('4')?), agent: planner.clone(), task };
//! let batch = decide(&rows, &TurnRequest::UiAction { new, now: 0 })?;
//! rows.apply(&batch);
//! let head = &rows.heads[&planner];
//! assert_eq!(head.epoch, 1);
//! assert_eq!(head.active.as_ref().map(|turn| turn.phase), Some(Phase::Dispatched));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod activity;
mod agents;
mod card;
mod decide;
mod deliver;
mod driver;
mod error;
mod events;
mod head;
mod head_machine;
mod held;
mod ids;
mod limits;
mod overview;
mod prompt;
mod prune;
mod queue;
mod record;
mod refusal;
mod request;
mod rows;
mod stop;
mod stored;
mod waits;
mod why;
mod work;
mod written;

pub use activity::{Activity, Signalling};
pub use agents::Agents;
pub use card::{Card, CardKind, MAX_CARD, NewCard};
pub use decide::decide;
pub use driver::{Agent, Driver};
pub use error::AgentError;
pub use events::{AgentEvent, AgentEventKind, AgentEvents, StepPhase};
pub use head::{ActiveTurn, CallSource, Head, Member, Phase};
pub use head_machine::{AgentHead, AnyAgentHead, HeadContext, agent_head};
pub use ids::{AgentId, BoxId, CardId, MemberId, TurnEpoch, TurnId};
pub use limits::{Limits, Resource, Usage};
pub use overview::{AgentOverview, DeliveredTurn, QueuedTurn, TurnOverview, WaitingCall};
pub use prompt::{Conversation, ConversationError};
pub use prune::PrunedTurns;
pub use record::{
    BoxUse, EdgePhase, Primitive, Task, TaskEvent, Terms, TurnEdge, TurnRecord, TurnStatus,
};
pub use refusal::TurnRefusal;
pub use request::{
    MAX_MEMBERS, MAX_NAME, MAX_REJECTED, NewAnswer, NewDelivery, NewMember, NewSource, NewTurn,
    SUBMIT_RESULT, TurnRequest, WaitOutcome,
};
pub use rows::{TurnBatch, TurnRows};
pub use why::{AfterExecution, StopReason, TurnEnd, TurnStop};
pub use work::{AgentCall, CallTarget, Deliverable, ModelAnswer, Work};
