//! What is written, as it is written. Names are not resolved yet.

mod declaration;
mod options;
mod state;
mod transition;

pub(crate) use declaration::{Declaration, declaration};
pub(crate) use options::Options;
pub(crate) use state::State;
pub(crate) use transition::{Guard, Item, Transition};
