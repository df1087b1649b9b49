//! The execution contract: an action, its constraints, its execution, and how it is called and
//! approved.
//!
//! | to | see |
//! |---|---|
//! | declare a tool | [`Tool`](trait@Tool): its arguments, effect, receipt and refusal, as a type |
//! | | [`ToolSpec`]: a tool that is known at run time only |
//! | implement its service | [`Perform`]: makes the call, and can look up later whether it took effect |
//! | | [`Call`]: the approved arguments, the key and the deadline |
//! | | [`Answer`]: the receipt, or why there is none |
//! | read how a call ended | [`Outcome`]: the receipt, or a `CallError` |
//! | make a call without a workflow | [`Contract`]: an action with its constraints |
//! | | [`Execution`]: the machine of one attempt |
//! | ask a person | [`Gate`]: the question whether a call may run |
//! | settle a doubt | [`InDoubt`]: a call that may have taken effect |

mod accessors;
mod action;
mod answer;
mod answer_rules;
mod approval;
mod call;
mod call_record;
mod call_stage;
mod callable;
mod callback;
#[cfg(feature = "store")]
mod close;
#[allow(clippy::module_inception)]
mod contract;
mod effect;
mod execution_machine;
mod fact;
mod fold;
mod fork;
mod gate;
mod in_doubt;
mod in_flight;
mod invalid;
mod invoked;
mod key;
mod limits;
mod origin;
pub(crate) mod outcome;
mod permit;
mod permit_check;
mod planned;
mod position;
mod progress;
mod question;
pub(crate) mod refusal;
#[cfg(feature = "tools")]
mod registry;
mod release;
mod retry;
mod rules;
mod same_arguments;
mod secret;
mod shown;
mod terms;
mod tool;
mod tool_call;
mod tool_spec;
mod unsettled;
mod wording;

pub use crate::stored::Decision;
pub use crate::{
    future::BoxFuture,
    process::{Liveness, Process},
};
pub use action::{Action, ActionType};
pub use answer::{Answer, Applied, NoReceipt, OrRefused, Report};
pub(crate) use answer::{Answered, text_of};
pub use approval::ApprovalRequest;
pub use call::{Attempt, Call, Perform, ServiceFn, Token, service_fn};
pub(crate) use call_record::CallRecord;
pub use call_stage::CallStage;
pub use callable::{Callable, Repeatable, ToolAnswer};
pub(crate) use callable::{Maker, TypedTool};
#[cfg(feature = "store")]
pub use callback::Reporter;
pub use callback::{Accepted, CallbackToken};
#[cfg(feature = "store")]
pub(crate) use close::close;
pub use contract::Contract;
pub(crate) use effect::sealed::Sealed;
pub use effect::{AnswersLater, Effect, EffectType, Idempotent, Irreversible, NeedsNoPermit};
pub use execution_machine::{AnyExecution, Execution, execution};
pub(crate) use fact::NOT_APPROVED;
pub use fact::{CallFact, Closing, Evidence};
pub(crate) use fork::{append, fork};
pub(crate) use gate::AnsweredGate;
pub use gate::{Gate, WholeQuestion, decision};
pub use in_doubt::InDoubt;
pub(crate) use in_doubt::{accept, record, waits_for};
pub(crate) use in_flight::CallHandle;
pub use in_flight::InFlight;
pub use invalid::InvalidContract;
pub(crate) use invoked::invoked;
#[doc(hidden)]
pub use invoked::{Invoke, Invoked, row_of};
pub use key::IdempotencyKey;
pub(crate) use limits::{MAX_RECEIPT, bounded, bounded_receipt};
pub use machine_derive::Tool;
pub use origin::Origin;
pub use outcome::{CallError, FoundBy, Outcome, outcome, refusal};
pub use permit::Permit;
pub(crate) use permit_check::{Owner, PermitCheck};
pub use planned::Planned;
pub use position::{GraphPosition, Mismatch};
pub(crate) use progress::Progress;
pub use question::Question;
pub use refusal::{ActionRefusal, Refusal};
#[cfg(feature = "tools")]
pub use registry::Registry;
pub use release::Release;
pub use secret::Secret;
pub(crate) use secret::hide_in_contract;
pub use tool::Tool;
pub(crate) use tool::tool_name;
pub use tool_call::ToolCall;
pub use tool_spec::ToolSpec;
pub use unsettled::{LateCall, Settled, Unsettled, receipt};
pub use wording::without_arguments;
pub(crate) use wording::{Extent, visible};
