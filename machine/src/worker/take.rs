//! The choice among ready machines.

use std::{sync::Arc, time::Duration};

use tokio::task;
use tracing::field::display;

use super::serve::Loop;
use crate::{
    clock::millis_between,
    store::{Unavailable, lock::lock},
    telemetry,
};

impl Loop {
    /// Starts ready machines while there is capacity. Returns the time until more are ready.
    pub(super) async fn take(&mut self, ended: &[String]) -> Result<Option<Duration>, Unavailable> {
        let shared = Arc::clone(&self.shared);
        // A handler that blocks its thread for longer than its lease does not stop other machines.
        let is_lost = |job: &task::Id| {
            self.busy.get(job).is_some_and(|id| shared.leases.is_lost(*id, &shared.store))
        };
        self.alone = self.alone.filter(|alone| !is_lost(alone));
        let room = shared.settings.concurrency.saturating_sub(self.jobs.len());
        if room == 0 || self.alone.is_some() {
            return Ok(None);
        }
        // Machines that run already, and machines that are left to others, may come first.
        let left = lock(&shared.left).len();
        let limit = room + self.busy.len() + left + 1;
        let mut next: Option<Duration> = None;
        let mut ready = Vec::new();
        let mut suspect = None;
        for name in &self.names {
            let found =
                shared.store.ready(std::slice::from_ref(name), limit, ended.to_vec()).await?;
            let now = shared.store.now();
            let mut of_kind = Vec::new();
            for ready in found {
                let holder_ended =
                    ready.worker.as_ref().is_some_and(|worker| ended.contains(worker));
                if !ready.wake.is_due(now) && !holder_ended {
                    let wait = Duration::from_millis(millis_between(now, ready.wake.at).max(1));
                    next = Some(next.map_or(wait, |next| next.min(wait)));
                } else if !self.is_busy(ready.id) && !shared.is_left(ready.id, ready.revision) {
                    if ready.worker.is_some() && ready.attempts >= SUSPECT {
                        suspect.get_or_insert((name.clone(), ready, holder_ended));
                    } else {
                        of_kind.push((ready, holder_ended));
                    }
                }
            }
            ready.push((name.clone(), of_kind.into_iter()));
        }
        if let Some((name, ready, holder_ended)) = suspect {
            // It waits for running machines, and ready machines wait for it.
            if self.busy.keys().all(is_lost) {
                let (id, attempt) = (ready.id, ready.attempts);
                self.alone = self.begin(&name, ready, holder_ended);
                if let (Some(_), Some((&kind, _))) = (self.alone, self.kinds.get_key_value(&*name))
                {
                    telemetry::Suspect { kind, id: display(id), attempt }.emit();
                }
            }
            return Ok(None);
        }
        // Round robin over the kinds, so that no kind starves.
        let mut room = room;
        loop {
            let mut took = false;
            for (name, of_kind) in &mut ready {
                if room == 0 {
                    return Ok(next);
                }
                let Some((ready, holder_ended)) = of_kind.next() else { continue };
                took = true;
                // One that is listed twice is begun once.
                if self.begin(name, ready, holder_ended).is_some() {
                    room -= 1;
                }
            }
            if !took {
                return Ok(next);
            }
        }
    }
}

/// After this many consecutive interrupted attempts, a machine runs in isolation.
const SUSPECT: u32 = 2;
