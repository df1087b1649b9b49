//! Tests of the HTTP server, on files that the library wrote.
//!
//! `MACHINE_HTTP_CUTS=100` and `MACHINE_HTTP_TRANSITIONS=10000` make the test of cut streams as
//! long as it is meant; `MACHINE_HTTP_SUBSCRIBERS=1000` that of subscribers; `MACHINE_LARGE_TESTS`
//! those of pages.

mod access;
mod acts;
mod approvals;
mod crowd;
mod cuts;
mod executions;
mod files;
mod fill;
mod forwarded;
mod guard;
mod hostile;
mod lists;
mod log;
mod page;
mod reports;
mod routes;
mod serve;
mod sockets;
mod sse;
mod stream;
mod withheld;
