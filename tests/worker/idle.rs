//! A worker that runs until nothing is ready does not end while it has left something to do.

use rusqlite::Connection;
use tokio::time::sleep;

use crate::worker::prelude::*;

/// Longer than the busy timeout of the store.
const BUSY: Duration = Duration::from_millis(300);

const LEASE: Duration = Duration::from_millis(150);

/// Another process locks the file while the handler is called for the first time: the transition
/// cannot be written, nor the lease be given back; or the lease runs out before the handler ends.
#[tokio::test]
async fn a_machine_that_could_not_be_written_is_tried_again() {
    for takes in [Duration::ZERO, STUCK] {
        let (_folder, file) = new_file();
        let options = OpenOptions::new().busy_timeout(Duration::from_millis(20));
        let store = options.sqlite(&file).await.unwrap();
        let (id, calls) = (ticket(&store).await, Count::default());
        let called = calls.clone();
        let opens = does(move |machine: AnyTicket, _| {
            let (file, is_first) = (file.clone(), called.add() == 0);
            Box::pin(async move {
                let AnyTicket::New(ticket) = machine else { return Ok(Next::Wait) };
                if is_first {
                    let raw = Connection::open(file)?;
                    raw.execute_batch("BEGIN IMMEDIATE")?;
                    tokio::spawn(async move {
                        sleep(BUSY).await;
                        raw.execute_batch("ROLLBACK").unwrap();
                    });
                    sleep(takes).await;
                }
                Ok(Next::to(ticket.open(graph_runner())))
            })
        });
        settle(worker(&store).lease(LEASE).handler(opens)).await;
        is(&store, id, "open").await;
        assert!(calls.get() > 1, "its first transition was not written");
    }
}
