//! The reports of the library: the documented spans and events, with their fields and parents, one
//! for each transition, and nothing personal.
//!
//! `PROPTEST_CASES` sets the cases of the properties.
#![allow(clippy::unwrap_used)]

mod calls;
mod capture;
mod errand;
mod forgotten;
mod parents;
mod people;
mod secrets;
mod storage;
mod table;
mod transitions;
mod visits;
mod work;
mod world;
