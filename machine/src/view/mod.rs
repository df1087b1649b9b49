//! Read-only projections of machines and journals: for people, for diagnosis, and for the prompts of
//! models. They are pure functions, and change nothing.
//!
//! [`Snapshot`], [`Timeline`] and [`Topology`] are for machines of any kind; [`ExecutionSnapshot`],
//! [`ExecutionTimeline`], [`ConsequenceView`] and [`Prompt`] for executions. Each is for an
//! [`Audience`], which decides at compile time which fields it has; the marks of the definition decide
//! what it shows of the machine's own data.

#[cfg(feature = "sqlite")]
pub(crate) mod aside;
#[cfg(feature = "sqlite")]
mod attention;
mod audience;
#[cfg(feature = "sqlite")]
mod concerns;
mod consequence;
#[cfg(feature = "sqlite")]
mod consequences;
mod data;
mod execution;
mod fact;
mod fields;
#[cfg(feature = "sqlite")]
mod found;
mod label;
mod late;
pub(crate) mod line;
pub(crate) mod marks;
#[cfg(feature = "sqlite")]
mod misfit;
#[cfg(feature = "sqlite")]
mod next;
mod note;
#[cfg(feature = "sqlite")]
mod observe_session;
#[cfg(feature = "sqlite")]
mod observer;
#[cfg(feature = "sqlite")]
mod overview;
mod position;
#[cfg(feature = "sqlite")]
mod possible;
mod prompt;
#[cfg(feature = "sqlite")]
mod remember;
mod session;
mod snapshot;
pub(crate) mod subject;
mod timeline;
mod topology;
mod trace;
mod transition;
#[cfg(feature = "sqlite")]
mod work_concerns;

pub use crate::language::{Language, OtherLanguage, Phrase, UnknownLanguage};
#[cfg(feature = "sqlite")]
pub use attention::{Attention, Concern, OpenCall, Reason, Trouble};
pub use audience::{Audience, Diagnostic, Hidden, Human, Internal, Shown};
#[cfg(any(feature = "cli", feature = "http"))]
pub(crate) use audience::{due, is_hidden};
#[cfg(feature = "sqlite")]
pub(crate) use concerns::waits_for_person;
pub use consequence::ConsequenceView;
#[cfg(feature = "sqlite")]
pub use consequences::Consequences;
pub use execution::ExecutionSnapshot;
pub use fact::{ExecutionFact, FinalStatus};
pub use fields::Fields;
pub use label::Label;
pub use late::{LateEvidence, late_evidence};
#[cfg(any(feature = "cli", feature = "http"))]
pub(crate) use misfit::misfit;
#[cfg(feature = "sqlite")]
pub use next::NextStep;
#[cfg(feature = "sqlite")]
pub use observer::Observer;
#[cfg(feature = "sqlite")]
pub use overview::Overview;
pub use position::{GraphPosition, Mismatch};
pub use prompt::Prompt;
#[cfg(feature = "sqlite")]
pub use remember::{FactSink, Remember, Remembered};
pub use session::ExecutionTimeline;
pub use snapshot::{LegalMove, PayloadItem, Snapshot};
pub use timeline::{Timeline, TimelineEvent};
pub use topology::{ForbiddenTransition, Topology, TopologyEdge, TopologyNode};
pub use trace::{ExecutionTrace, TraceStep};
pub use transition::{TransitionRecord, transitions};
