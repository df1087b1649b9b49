//! Views read from a store: one machine in detail, pages of machines, what needs a person, what can
//! be done next.
//!
//! An [`Observer`] reads, and changes nothing. Its results are made of the pure projections of
//! [`view`](crate::view).
//!
//! | to | see |
//! |---|---|
//! | find what needs a person | [`Attention`]: each [`Concern`], most urgent first |
//! | | [`Approval`]: a gate that waits for an answer |
//! | list machines | [`Overview`]: a machine in one line |
//! | show one machine | [`Detail`]: its state, its inbox, its calls, its children |
//! | | [`Waiting`]: the reason why it has not moved on |
//! | | [`NextStep`]: an action that a person can take, with its command |
//! | prompt a model | [`Consequences`]: the executions of a session |

mod approval;
mod aside;
mod attention;
mod calls;
mod check;
mod children;
mod concern_list;
mod concerns;
mod consequences;
mod detail;
mod execution_concern;
mod misfit;
mod next;
mod observer;
mod overview;
mod possible;
mod receipt;
mod reworded;
mod session;
pub(crate) mod undriven;
mod upkeep;
mod waiting;
mod work_concerns;

pub use approval::Approval;
pub use attention::{Attention, Concern, ConcernReason, OpenCall, Trouble};
pub use children::{ChildView, OpenChild};
pub use consequences::Consequences;
pub use detail::{Detail, MessageView, WaitsBehind};
pub(crate) use misfit::{may_be, misfit};
pub use next::NextStep;
pub(crate) use next::placeholder;
pub use observer::Observer;
pub use overview::Overview;
pub use waiting::{Waiting, WaitingFor};
