//! The processes of the workers.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use machine::{actor::Actors, store::Store, worker::Worker};
use tokio::signal::unix::{SignalKind, signal};

use super::{
    errands::{Guide, Lines, Pay, Read, Services},
    random::Random,
};
use crate::worker::process::{Member, Process, close, orders, say};

pub(crate) struct Crew {
    members: Vec<Member>,
    pub(crate) kills: usize,
}

impl Crew {
    pub(crate) fn start(count: usize, lines: &Lines, random: &mut Random) -> Self {
        let members = (0..count).map(|_| start(lines, random)).collect();
        Self { members, kills: 0 }
    }

    /// Kills one with SIGKILL, and starts another one.
    pub(crate) fn kill_one(&mut self, lines: &Lines, random: &mut Random) {
        let position = random.below(self.members.len());
        self.members.remove(position).process.kill();
        self.members.push(start(lines, random));
        self.kills += 1;
    }

    pub(crate) fn stop(self) {
        self.members.iter().for_each(Member::terminate);
        self.members.into_iter().for_each(|member| member.process.join());
    }
}

fn start(lines: &Lines, random: &mut Random) -> Member {
    Member::of(Process::start("worker::killed::crew::works", &(lines, random.next())))
}

/// Drives everything until SIGTERM.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn works() {
    let (lines, seed): (Lines, u64) = orders();
    let store = Store::sqlite(lines.database()).await.unwrap();
    let random = Mutex::new(Random::new(seed));
    let services = Arc::new(Services { lines: lines.clone(), random });
    let mut terminated = signal(SignalKind::terminate()).unwrap();
    say(&std::process::id());
    let stop = async {
        terminated.recv().await;
    };
    Worker::new(&store, Actors::issue("worker").unwrap())
        .handler(Guide(lines))
        .tool::<Read>(Arc::clone(&services))
        .tool::<Pay>(services)
        .lease(Duration::from_secs(1))
        .sweep(Duration::from_millis(200))
        .backoff(Duration::from_millis(50), Duration::from_secs(1))
        .concurrency(8)
        .run_until(stop)
        .await
        .unwrap();
    close(store).await;
}
