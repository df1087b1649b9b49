//! Several workers, one after the other of which is killed or frozen.

use std::time::{Duration, Instant};

use machine::store::Position;
use machine_tests::random::Random;

use super::Member;

/// Workers at work. Up to five times a second one of them is killed, or frozen and thawed later,
/// but only after a machine has moved, so that they get on with their work on a slow computer, too.
pub(crate) struct Crew {
    start: Box<dyn FnMut() -> Member>,
    random: Random,
    members: Vec<Member>,
    /// With the time when they thaw.
    frozen: Vec<(Member, Instant)>,
    disturbed_at: Instant,
    /// The newest entry when the last one was disturbed.
    seen: Position,
    pub(crate) kills: usize,
    pub(crate) freezes: usize,
}

impl Crew {
    /// Starts so many on a file whose newest entry is this one. They must say their ids before they
    /// open the file: this process may have frozen another worker that has its lock, and thaws it
    /// later.
    pub(crate) fn start(
        count: usize,
        seen: Position,
        random: Random,
        mut start: impl FnMut() -> Member + 'static,
    ) -> Self {
        let members = (0..count).map(|_| start()).collect();
        let (start, frozen, disturbed_at) = (Box::new(start), Vec::new(), Instant::now());
        Self { start, random, members, frozen, disturbed_at, seen, kills: 0, freezes: 0 }
    }

    /// Disturbs one, if it is time to and the file has grown to this entry since the last time.
    /// Thaws those whose time has come.
    pub(crate) fn disturb(&mut self, newest: Position) {
        if Instant::now() >= self.disturbed_at && newest != self.seen {
            self.disturb_one();
            let pause = Duration::from_millis(200 + self.random.number() % 800);
            (self.seen, self.disturbed_at) = (newest, Instant::now() + pause);
        }
        let now = Instant::now();
        for (mut member, _) in self.frozen.extract_if(.., |(_, at)| *at <= now) {
            member.process.thaw();
            self.members.push(member);
        }
    }

    /// Kills one with SIGKILL, and starts another one; or freezes one with SIGSTOP, for up to two
    /// seconds.
    fn disturb_one(&mut self) {
        if self.members.is_empty() {
            return;
        }
        let member = self.members.remove(self.random.below(self.members.len()));
        if self.kills > self.freezes {
            member.process.stop();
            let time = Duration::from_millis(self.random.number() % 2000);
            self.frozen.push((member, Instant::now() + time));
            self.freezes += 1;
        } else {
            member.process.kill();
            self.members.push((self.start)());
            self.kills += 1;
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
