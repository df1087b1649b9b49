//! A worker is frozen (SIGSTOP), another one takes over, and the first one thaws.

mod alone;
mod handler;
mod tool;

use crate::worker::process::{LEASE, Office, Orders};

/// A letter that is signed as soon as it is written.
async fn signed() -> Office {
    let office = Office::open().await;
    office.sign().await;
    office
}

/// With a short lease, so that others can take over soon.
fn orders(office: &Office, name: &str) -> Orders {
    Orders { lease: LEASE, ..office.orders(name) }
}
