//! The console of [`machine`]: the command line, the HTTP interface and the inspector. It only
//! presents: what it shows are the views of [`machine::observe::Observer`], and every act goes
//! through [`machine::operate::Operator`].

// Links are checked where all that they lead to is built.
#![cfg_attr(not(all(feature = "cli", feature = "http")), allow(rustdoc::broken_intra_doc_links))]

mod about;
mod audience;
mod debug;
mod json;
mod page;
mod stage;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "http")]
pub mod http;
