//! The processes of the workers.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use machine::{actor::Actors, store::OpenOptions, worker::Worker};
use machine_tests::STUCK;

use super::{
    Random,
    errands::{Guide, Lines, Pay, Read, Services},
    trips::trip::Driver,
};
use crate::worker::process::{Member, Process, close, orders, say_id};

pub(crate) struct Crew {
    members: Vec<Member>,
    /// With the time when they thaw.
    frozen: Vec<(Member, Instant)>,
    pub(crate) kills: usize,
    pub(crate) freezes: usize,
}

impl Crew {
    pub(crate) fn start(count: usize, lines: &Lines, random: &mut Random) -> Self {
        let members = (0..count).map(|_| start(lines, random)).collect();
        Self { members, frozen: Vec::new(), kills: 0, freezes: 0 }
    }

    /// Kills one with SIGKILL, and starts another one; or freezes one with SIGSTOP, for up to two
    /// leases.
    pub(crate) fn disturb_one(&mut self, lines: &Lines, random: &mut Random) {
        if self.members.is_empty() {
            return;
        }
        let member = self.members.remove(random.below(self.members.len()));
        if self.kills > self.freezes {
            member.process.stop();
            let time = Duration::from_millis(random.number() % 2000);
            self.frozen.push((member, Instant::now() + time));
            self.freezes += 1;
        } else {
            member.process.kill();
            self.members.push(start(lines, random));
            self.kills += 1;
        }
    }

    /// Thaws those whose time has come.
    pub(crate) fn thaw(&mut self) {
        let now = Instant::now();
        for (mut member, _) in self.frozen.extract_if(.., |(_, at)| *at <= now) {
            member.process.thaw();
            self.members.push(member);
        }
    }

    pub(crate) fn stop(mut self) {
        for (mut member, _) in self.frozen.drain(..) {
            member.process.thaw();
            self.members.push(member);
        }
        self.members.iter().for_each(Member::terminate);
        self.members.into_iter().for_each(|member| member.process.join());
    }
}

fn start(lines: &Lines, random: &mut Random) -> Member {
    Member::of(Process::start("worker::killed::crew::works", &(lines, random.number())))
}

/// Drives everything until SIGTERM.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn works() {
    let (lines, seed): (Lines, u64) = orders();
    // The parent waits for the id only: it may have frozen another worker that has the lock, and
    // thaws it after this.
    let stop = say_id();
    let options = OpenOptions::new().busy_timeout(STUCK);
    let store = options.sqlite(lines.database()).await.unwrap();
    let random = Mutex::new(Random::new(seed));
    let services = Arc::new(Services { lines, random });
    let worker = Worker::new(&store, Actors::issue("worker").unwrap())
        .handler(Driver(Guide))
        .tool::<Read>(Arc::clone(&services))
        .tool::<Pay>(services)
        .lease(Duration::from_secs(1))
        .sweep(Duration::from_millis(200))
        .backoff(Duration::from_millis(50), Duration::from_secs(1))
        .concurrency(8);
    worker.run_until(stop).await.unwrap();
    close(store).await;
}
