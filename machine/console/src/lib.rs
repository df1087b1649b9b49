//! The console of [`machine`]: the command line, the HTTP interface and the inspector. It only presents: what it shows are
//! the views of [`machine::view::Observer`], and every act goes through [`machine::operate::Operator`].

mod audience;
mod debug;
mod json;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "http")]
pub mod http;
