//! A worker is frozen (SIGSTOP), another one takes over, and the first one thaws.

mod alone;
mod handler;
mod tool;

use crate::worker::process::Office;

/// A letter that is signed as soon as it is written.
async fn signed() -> Office {
    let office = Office::open().await;
    office.sign().await;
    office
}
