//! What a named person does to stored machines, by the command line or over HTTP. Each act is on record
//! in the operator log of the store.

mod audience;
mod cancel;
mod children;
mod confirm;
mod decide;
mod detail;
mod error;
mod instead;
mod message;
mod operator;
mod requeue;
mod respond;
mod select;

pub(crate) use audience::{Audience, for_audience};
#[cfg(feature = "http")]
pub(crate) use cancel::Cancelled;
#[cfg(feature = "cli")]
pub(crate) use cancel::How;
pub(crate) use confirm::Finding;
pub(crate) use decide::Decided;
#[cfg(feature = "http")]
pub(crate) use detail::Detail;
pub(crate) use error::{Error, Kind};
pub(crate) use message::{Accepted, Draft, Sending};
pub(crate) use operator::Operator;
pub(crate) use select::{Selection, Wanted};
#[cfg(feature = "cli")]
pub(crate) use select::{ended_in, has_kind, has_session};
