//! Read-only projections of machines and journals: for people, for diagnosis, and for the prompts of
//! models. They are pure functions, and change nothing.
//!
//! [`Snapshot`], [`Timeline`] and [`Topology`] are for machines of any kind; [`ExecutionSnapshot`],
//! [`ExecutionTimeline`], [`ConsequenceView`] and [`Prompt`] for executions. Each is for an
//! [`Audience`], which decides at compile time which fields it has; the marks of the definition decide
//! what it shows of the machine's own data.

#[cfg(feature = "store")]
mod approval;
#[cfg(feature = "store")]
mod aside;
#[cfg(feature = "store")]
mod attention;
mod audience;
#[cfg(feature = "store")]
mod children;
#[cfg(feature = "store")]
mod concerns;
mod consequence;
#[cfg(feature = "store")]
mod consequences;
mod data;
#[cfg(feature = "store")]
mod detail;
mod execution;
mod fact;
mod fields;
#[cfg(feature = "store")]
mod found;
mod label;
mod late;
pub(crate) mod line;
pub(crate) mod marks;
#[cfg(feature = "store")]
mod misfit;
#[cfg(feature = "store")]
mod next;
mod note;
#[cfg(feature = "store")]
mod observe_session;
#[cfg(feature = "store")]
mod observer;
#[cfg(feature = "store")]
mod overview;
#[cfg(feature = "store")]
mod possible;
mod prompt;
#[cfg(feature = "store")]
mod remember;
mod session;
mod snapshot;
pub(crate) mod subject;
mod timeline;
mod topology;
mod trace;
mod transition;
#[cfg(feature = "store")]
mod upkeep;
#[cfg(feature = "store")]
mod work_concerns;

pub use crate::contract::{GraphPosition, Mismatch};
pub use crate::language::{Language, OtherLanguage, Phrase, UnknownLanguage};
#[cfg(feature = "store")]
pub use approval::Approval;
#[cfg(feature = "store")]
pub use attention::{Attention, Concern, OpenCall, Reason, Trouble};
pub use audience::{Audience, Diagnostic, Hidden, Human, Internal, Shown};
#[cfg(feature = "store")]
pub use children::{ChildView, OpenChild};
#[cfg(feature = "store")]
pub(crate) use concerns::waits_for_person;
pub use consequence::ConsequenceView;
#[cfg(feature = "store")]
pub use consequences::Consequences;
#[cfg(feature = "store")]
pub use detail::{Detail, MessageView, WaitsBehind};
pub use execution::ExecutionSnapshot;
pub use fact::{ExecutionFact, FinalStatus};
pub use fields::Fields;
pub use label::Label;
pub use late::{LateEvidence, late_evidence};
pub use line::OneLine;
#[cfg(feature = "store")]
pub(crate) use misfit::misfit;
#[cfg(feature = "store")]
pub use next::NextStep;
#[cfg(feature = "store")]
pub use observer::Observer;
#[cfg(feature = "store")]
pub use overview::Overview;
pub use prompt::Prompt;
#[cfg(feature = "store")]
pub use remember::{FactSink, Remember, Remembered};
pub use session::ExecutionTimeline;
pub use snapshot::{LegalMove, PayloadItem, Snapshot};
pub use timeline::{Timeline, TimelineEvent};
pub use topology::{ForbiddenTransition, Topology, TopologyEdge, TopologyNode};
pub use trace::{ExecutionTrace, TraceStep};
pub use transition::{TransitionRecord, transitions};
#[cfg(feature = "store")]
pub use upkeep::Commits;
