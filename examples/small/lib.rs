//! Small programs, one idea each, with the test that runs it.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a failing test should panic"))]

#[cfg(test)]
mod approval;
#[cfg(test)]
mod deadline;
#[cfg(test)]
mod model;
#[cfg(test)]
mod review;
#[cfg(test)]
mod server;
#[cfg(test)]
mod several;
#[cfg(test)]
mod socket;
#[cfg(test)]
mod upgrade;
pub mod upload;
#[cfg(test)]
mod views;
