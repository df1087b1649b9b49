use std::sync::mpsc;

use futures_channel::oneshot;
use rusqlite::Connection;

use crate::store::StoreError;

/// The thread that owns the connection. It ends when the last store that uses it is dropped.
pub(super) struct Thread(mpsc::Sender<Job>);

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

impl Thread {
    pub(super) fn start(mut connection: Connection) -> std::io::Result<Self> {
        let (jobs, inbox) = mpsc::channel::<Job>();
        std::thread::Builder::new().name("machine-sqlite".to_owned()).spawn(move || {
            for job in inbox {
                job(&mut connection);
            }
        })?;
        Ok(Self(jobs))
    }

    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, result) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // Fails if the caller's future was dropped; the job is done anyway.
            let _ = answer.send(job(connection));
        });
        self.0.send(job).map_err(|_| StoreError::Stopped)?;
        result.await.map_err(|_| StoreError::Stopped)?
    }
}
