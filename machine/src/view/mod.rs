//! Read-only projections of machines and journals: for people, for diagnosis, and for the prompts
//! of models. They are pure functions, and change nothing.
//!
//! | to show | see |
//! |---|---|
//! | a machine of any kind | [`Snapshot`]: its state, its data, its legal moves |
//! | | [`Timeline`]: its history |
//! | | [`Topology`]: the states and moves of its kind |
//! | an execution | [`ExecutionSnapshot`]: its state and its action |
//! | | [`ExecutionTimeline`]: the executions of a session, with their transitions |
//! | results to a model | [`ConsequenceView`]: an execution in one line |
//! | | [`Prompt`]: the section of a prompt that reports what happened |
//!
//! The [`Audience`] of a view decides at compile time which fields it has; the marks of the
//! definition decide which of the machine's own data it shows. A [`View`] holds it: its fields can
//! be read, and not set.

pub(crate) mod audience;
mod calls;
mod consequence;
mod data;
mod execution;
mod fact;
mod fields;
mod label;
pub(crate) mod marks;
mod note;
pub(crate) mod prompt;
pub(crate) mod session;
mod snapshot;
pub(crate) mod subject;
pub(crate) mod timeline;
mod topology;
mod trace;
mod transition;
#[allow(clippy::module_inception)]
mod view;

pub use crate::language::{Language, Phrase, UnknownLanguage};

pub use audience::{Audience, Diagnostic, Hidden, Human, Internal, Shown};
pub use calls::{CallView, StageCount, StateCalls};
pub use consequence::ConsequenceView;
pub use execution::ExecutionSnapshot;
pub use fact::{ExecutionFact, FinalStatus};
pub use fields::Fields;
pub use label::Label;
pub use prompt::Prompt;
pub use session::ExecutionTimeline;
pub use snapshot::{LegalMove, PayloadItem, Snapshot};
pub use timeline::{Timeline, TimelineEvent};
pub use topology::{ForbiddenTransition, Topology, TopologyCalls, TopologyEdge, TopologyNode};
pub use trace::{ExecutionTrace, TraceStep};
pub use transition::{TransitionRecord, transitions};
pub use view::View;
