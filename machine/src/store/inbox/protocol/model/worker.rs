use super::{
    super::{
        AfterMove, Attempted, Cause, Claim, Event, EventOutcome, Fail, Fault as Failure, Moved,
        MovedBy, Switch, Wait,
    },
    defect::Protocol,
    seen::Seen,
    world::{Fault, NOW, World, number},
};
use crate::clock::Millis;

/// The maximum number of attempts.
pub(super) const MAX_ATTEMPTS: u32 = 2;

/// The first moment after now.
const SOON: Millis = 1;

/// A worker. It reads no clock: a worker frozen at any point resumes later with its old knowledge.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Worker {
    Idle,
    /// It will claim the work that it has read.
    Has {
        token: u64,
        seen: Seen,
    },
    /// It has the lease, and works.
    Works {
        token: u64,
        seen: Seen,
    },
    /// It has the lease, and its data is stale.
    IsStale {
        token: u64,
        seen: Seen,
    },
    /// It has read everything again.
    Turns {
        token: u64,
        was: Seen,
        seen: Seen,
    },
}

impl Worker {
    /// Claims the work that it has read.
    pub(super) fn claim(&mut self, world: &mut World, protocol: Protocol) {
        let &mut Self::Has { token, seen } = self else { return };
        let event = Event::Claim(Claim {
            token,
            now: NOW,
            until: SOON,
            holder_ended: world.facts.holder_crashed,
            on: seen.chooses(),
            max_attempts: MAX_ATTEMPTS,
            ..Claim::default()
        });
        *self = Self::Idle;
        if let Some(EventOutcome::Claimed { token, revision }) = world.apply_event(protocol, &event)
        {
            if token <= world.facts.highest {
                world.facts.fault = Some(Fault::TokenAgain);
            }
            world.facts.highest = world.facts.highest.max(token);
            world.facts.holder_crashed = false;
            let is_new = revision == seen.revision;
            *self =
                if is_new { Self::Works { token, seen } } else { Self::IsStale { token, seen } };
        }
    }

    pub(super) fn renew(&self, world: &mut World, protocol: Protocol) {
        if let Some(token) = self.token() {
            world.apply_event(protocol, &Event::Renew { token, until: SOON });
        }
    }

    /// Commits a transition: the version must be the one that it has read, and the token the
    /// newest.
    pub(super) fn commit(&mut self, world: &mut World, protocol: Protocol, next: (bool, usize)) {
        let Self::Works { seen, .. } = self else { return };
        let by = match seen.chooses() {
            Attempted::State => MovedBy::Handler,
            _ => MovedBy::Input,
        };
        self.moves(world, protocol, by, next);
    }

    /// Commits a transition that says only that it took over: the machine stays.
    pub(super) fn take_over(&mut self, world: &mut World, protocol: Protocol, messages: usize) {
        self.moves(world, protocol, MovedBy::Takeover, (true, messages));
    }

    fn moves(
        &mut self,
        world: &mut World,
        protocol: Protocol,
        by: MovedBy,
        (goes_on, messages): (bool, usize),
    ) {
        let &mut Self::Works { token, seen } = self else { return };
        if world.version != seen.version {
            *self = Self::IsStale { token, seen };
            return;
        }
        let handled = match seen.chooses() {
            Attempted::Message(name) => Some(name),
            _ => None,
        };
        let place = seen.place + usize::from(by != MovedBy::Takeover);
        let mut after = Seen { place, version: seen.version + 1, ..seen };
        after.passed = [false; 2];
        if by != MovedBy::Takeover {
            (after.due_at, after.is_due) = (None, false);
        }
        (after.handler_may, after.deadline_may) = (true, true);
        if let Some(name) = &handled {
            after.queued[number(name)] = false;
        }
        let next = if goes_on && after.place < 2 * messages {
            AfterMove::Go(after.chooses())
        } else {
            AfterMove::Yield { now: NOW }
        };
        let event = Event::Moved(Moved {
            token,
            revision: seen.revision,
            by,
            handled: handled.clone(),
            refused: vec![],
            next,
            max_attempts: MAX_ATTEMPTS,
        });
        let outcome = world.apply_event(protocol, &event);
        *self = Self::Idle;
        if outcome.is_some() {
            if let Some(name) = &handled {
                world.facts.handled[number(name)] += 1;
            }
            match by {
                MovedBy::Takeover => world.version += 1,
                _ => world.moves(protocol, messages),
            }
        }
        if outcome == Some(EventOutcome::Goes) {
            *self = Self::Works { token, seen: after };
        }
    }

    pub(super) fn park(&mut self, world: &mut World, protocol: Protocol) {
        let &mut Self::Works { token, seen } = self else { return };
        let Seen { revision, due_at, .. } = seen;
        let (now, on) = (NOW, seen.chooses());
        let event = Event::Wait(Wait { token, revision, now, on, due_at, ..Wait::default() });
        if world.apply_event(protocol, &event).is_some() {
            world.facts.parked = Some((seen.revision, seen.passed));
            // An attempt that ended was no crash.
            if seen.chooses() == Attempted::State {
                world.facts.crashed_by_handler = 0;
            }
        }
        *self = Self::Idle;
    }

    /// The state does not take the message after all.
    pub(super) fn pass(&mut self, world: &mut World, protocol: Protocol) {
        let &mut Self::Works { token, seen: was } = self else { return };
        let Attempted::Message(name) = was.chooses() else { return };
        let mut seen = was;
        seen.passed[number(&name)] = true;
        let goes = Self::turns(world, protocol, (token, was, seen), vec![(name, String::new())]);
        // An attempt that ended was no crash.
        if let (Self::Works { .. }, Attempted::Message(name)) = (&goes, was.chooses()) {
            world.facts.crashed_by[number(&name)] = 0;
        }
        *self = goes;
    }

    /// Reads again, under the lease.
    pub(super) fn read_again(&mut self, world: &World) {
        let &mut Self::IsStale { token: held, seen: was } = self else { return };
        *self = match world.read() {
            Some((token, seen)) if token == held => Self::Turns { token, was, seen },
            _ => Self::Idle,
        };
    }

    pub(super) fn turn(&mut self, world: &mut World, protocol: Protocol) {
        let &mut Self::Turns { token, was, seen } = self else { return };
        *self = Self::turns(world, protocol, (token, was, seen), Vec::new());
    }

    /// Turns to other work.
    fn turns(
        world: &mut World,
        protocol: Protocol,
        (token, was, seen): (u64, Seen, Seen),
        kept: Vec<(String, String)>,
    ) -> Self {
        let (was, on, revision) = (was.chooses(), seen.chooses(), seen.revision);
        let event = Event::Switch(Switch {
            token,
            revision,
            was,
            on,
            kept,
            max_attempts: MAX_ATTEMPTS,
            ..Switch::default()
        });
        let goes = world.apply_event(protocol, &event) == Some(EventOutcome::Goes);
        if goes { Self::Works { token, seen } } else { Self::Idle }
    }

    pub(super) fn fail(&mut self, world: &mut World, protocol: Protocol) {
        let &mut Self::Works { token, seen } = self else { return };
        let event = Event::Fail(Fail {
            token,
            on: seen.chooses(),
            fault: Failure::new(Cause::Failed, ""),
            revision: seen.revision,
            now: NOW,
            retry_at: SOON,
            due_at: seen.due_at,
            others_at: None,
            max_attempts: MAX_ATTEMPTS,
            hopeless: false,
        });
        if world.apply_event(protocol, &event).is_some() {
            world.facts.parked = Some((seen.revision, seen.passed));
        }
        *self = Self::Idle;
    }

    pub(super) fn hand_back(&mut self, world: &mut World, protocol: Protocol) {
        let &mut Self::Works { token, seen } = self else { return };
        let event = Event::HandBack { token, on: seen.chooses(), now: NOW };
        world.apply_event(protocol, &event);
        *self = Self::Idle;
    }

    /// The process ends without telling the store.
    pub(super) fn crash(&mut self, world: &mut World) {
        let has_lease = world.state.work.as_ref().is_some_and(|work| work.lease.is_some());
        if has_lease && self.token() == Some(world.facts.highest) {
            world.facts.holder_crashed = true;
            if let Self::Works { seen, .. } = self {
                match seen.chooses() {
                    // It has begun again since.
                    Attempted::State | Attempted::Deadline if !world.counts(seen) => {}
                    Attempted::Message(name) => world.facts.crashed_by[number(&name)] += 1,
                    Attempted::State => world.facts.crashed_by_handler += 1,
                    Attempted::Deadline => world.facts.crashed_by_deadline += 1,
                    Attempted::Recheck => {}
                }
            }
        }
        *self = Self::Idle;
    }

    pub(super) fn seen_mut(&mut self) -> Option<&mut Seen> {
        match self {
            Self::Idle | Self::IsStale { .. } => None,
            Self::Has { seen, .. } | Self::Works { seen, .. } | Self::Turns { seen, .. } => {
                Some(seen)
            }
        }
    }

    /// The token under which it would write.
    pub(super) fn token(&self) -> Option<u64> {
        match self {
            Self::Idle | Self::Has { .. } => None,
            Self::Works { token, .. } | Self::IsStale { token, .. } | Self::Turns { token, .. } => {
                Some(*token)
            }
        }
    }
}
