//! The definition of a machine, as plain data: the one table.
//!
//! | to | see |
//! |---|---|
//! | read the table | [`Definition`]: the states, the edges, who may take them |
//! | | [`StateDef`]: a state with its fields |
//! | | [`Edge`]: a trigger from one state to another, with its payload and actors |
//! | | [`Move`]: the edges of one trigger in one state |
//! | | [`Invocation`]: the call, or the set of calls, of a state |
//! | draw it | [`Definition::mermaid`]: a Mermaid state diagram |
//! | compare two versions | [`Definition::compare`]: whether the newer one reads the data of the older one |
//! | | [`Fingerprint`]: identifies a version |
//! | choose what people see | [`Mark`]: the audience of a member of a context |

mod audience;
#[cfg(feature = "alloc")]
mod compare;
#[cfg(not(feature = "alloc"))]
mod cow;
#[cfg(feature = "alloc")]
mod diagram;
mod fingerprint;
#[cfg(feature = "alloc")]
mod fires;
#[cfg(feature = "store")]
mod fit;
mod invocation;
#[cfg(feature = "durable")]
mod json;
mod moves;
#[doc(hidden)]
pub mod rows;
mod stays;
mod table;

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;

pub use audience::{Audience, Mark};
#[cfg(feature = "durable")]
pub(crate) use compare::before;
#[cfg(feature = "alloc")]
pub use compare::{Comparison, Difference};
#[cfg(not(feature = "alloc"))]
use cow::Cow;
pub use fingerprint::Fingerprint;
#[cfg(feature = "store")]
pub(crate) use fit::Fit;
pub use invocation::{ApprovalDef, Invocation};
pub use moves::Move;
pub use stays::Stays;
pub use table::{ActorDef, DeadlineDef, Definition, Edge, Field, GroupDef, Rows, StateDef, Text};
