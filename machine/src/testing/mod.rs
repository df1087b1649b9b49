//! Tests of workflows: a worker on a store in memory, in virtual time, with tools that answer as
//! the test says.
//!
//! [`TestEnvironment`] drives the machines of a test, step by step or until nothing is ready.
//! [`TestTool`] is a service whose answers the test sets. [`Coverage`] reports which states and
//! transitions a test has reached, and which events were refused. [`assert_upgrades`] checks a
//! program against the definition of a released version.
//!
//! Time is that of a paused tokio runtime: it moves when the test
//! [advances](TestEnvironment::advance) it, and it jumps to the next timer while a call is in
//! flight and nothing else can happen. So a test of a deadline of a week takes a millisecond. Use
//! `#[tokio::test(start_paused = true)]`.
//!
//! ```
//! use std::time::Duration;
//!
//! use machine::actor::GraphRunner;
//! use machine::machine;
//! use machine::observe::WaitingFor;
//! use machine::testing::{Coverage, TestEnvironment};
//! use machine::worker::{Handled, Next, Task};
//! use serde::{Deserialize, Serialize};
//!
//! /// A parcel.
//! #[machine(durable)]
//! #[derive(Debug, Serialize, Deserialize)]
//! pub enum Parcel {
//!     #[initial]
//!     #[on(pack => Packed, by = GraphRunner)]
//!     Ordered,
//!     #[stable]
//!     #[on(expire => Returned, by = GraphRunner, after = Duration::from_hours(24 * 7))]
//!     Packed,
//!     #[terminal]
//!     Returned,
//! }
//!
//! struct Depot;
//!
//! impl parcel::Handle for Depot {
//!     async fn ordered(
//!         &self,
//!         parcel: Parcel<parcel::Ordered>,
//!         task: &mut Task,
//!     ) -> Handled<AnyParcel> {
//!         Ok(Next::to(parcel.pack(&task.actors().graph_runner)))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let depot = TestEnvironment::new(|worker| worker.handler(parcel::Driver(Depot)));
//! let id = depot.create(Parcel::new()).await;
//! depot.run_until_idle().await;
//! assert_eq!(depot.load::<AnyParcel>(id).await.status(), parcel::Status::Packed);
//! depot.assert_waits_for(id, WaitingFor::Deadline).await;
//! depot.assert_attention(&[]).await; // nothing is for a person
//!
//! depot.advance(Duration::from_hours(24 * 7)).await;
//! depot.run_until_idle().await;
//! assert_eq!(depot.load::<AnyParcel>(id).await.status(), parcel::Status::Returned);
//!
//! let mut coverage = Coverage::of::<AnyParcel>();
//! depot.cover(&mut coverage).await;
//! assert!(coverage.is_complete(), "{coverage}");
//! # }
//! ```

mod clock;
mod coverage;
mod environment;
mod tool;
mod upgrades;

pub use clock::TestClock;
pub use coverage::Coverage;
pub use environment::TestEnvironment;
pub use tool::{Reply, TestTool};
pub use upgrades::assert_upgrades;
