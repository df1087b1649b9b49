use stateright::{Model, Property};

use super::{
    super::{Attempted, Event},
    defect::Protocol,
    properties,
    worker::Worker,
    world::{self, Budget, World},
};
use crate::clock::Millis;

/// Workers around one machine.
#[derive(Debug, Clone)]
pub(super) struct Crowd {
    pub(super) protocol: Protocol,
    pub(super) workers: usize,
    pub(super) messages: usize,
    /// When the deadline of the first place is due.
    pub(super) due_at: Option<Millis>,
    pub(super) budget: Budget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Drive,
    Send(usize),
    /// Another message with the correlation id of the first one.
    SendOther,
    /// The machine is changed without the lease.
    Change,
    /// A machine for which this one waits has ended.
    Notify,
    Requeue,
    Tick,
    Worker(usize, Act),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Read,
    Claim,
    Renew,
    Commit { goes_on: bool },
    TakeOver,
    Wait,
    Pass,
    ReadAgain,
    Switch,
    Fail,
    HandBack,
    Crash,
}

impl Model for Crowd {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self.workers, self.due_at, self.budget)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        actions.extend((0..self.messages).map(Action::Send));
        actions.extend([Action::Drive, Action::Tick]);
        if world.left.others > 0 && world.facts.sent[0] {
            actions.push(Action::SendOther);
        }
        if !world.state.ended && world.left.outsiders > 0 {
            actions.extend([Action::Change, Action::Notify]);
        }
        if world.left.requeues > 0 {
            actions.push(Action::Requeue);
        }
        for (place, worker) in world.workers.iter().enumerate() {
            // A duplicate of the previous one has the same effect.
            if place == 0 || world.workers[place - 1] != *worker {
                let acts = acts(world, worker);
                actions.extend(acts.into_iter().map(|act| Action::Worker(place, act)));
            }
        }
    }

    fn next_state(&self, last: &World, action: Action) -> Option<World> {
        let mut world = last.clone();
        match action {
            Action::Drive => {
                world.apply_event(self.protocol, &Event::Drive { now: world::NOW });
            }
            Action::Send(message) => world.send(self.protocol, message),
            Action::SendOther => {
                world.left.others -= 1;
                world.send_other(self.protocol);
            }
            Action::Change => {
                world.left.outsiders -= 1;
                world.change(self.protocol);
            }
            Action::Notify => {
                world.left.outsiders -= 1;
                world.apply_event(self.protocol, &Event::Notify { moved: false, now: world::NOW });
            }
            Action::Requeue => {
                world.left.requeues -= 1;
                world.requeue(self.protocol);
            }
            Action::Tick => world.tick(),
            Action::Worker(place, act) => {
                let mut worker = world.workers.remove(place);
                self.acts(&mut world, &mut worker, act);
                world.workers.push(worker);
                world.workers.sort();
            }
        }
        (world != *last).then_some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = properties::all();
        if self.protocol.0.is_none() {
            all.extend(properties::possible());
        }
        all
    }
}

/// The possible acts of a worker.
fn acts(world: &World, worker: &Worker) -> Vec<Act> {
    let left = &world.left;
    let mut acts = match worker {
        Worker::Idle | Worker::Has { .. } if left.claims == 0 => vec![],
        Worker::Idle => vec![Act::Read],
        Worker::Has { .. } => vec![Act::Claim],
        Worker::Works { seen, .. } => {
            let mut acts = vec![Act::Renew];
            if seen.moves() {
                acts.extend([Act::Commit { goes_on: true }, Act::Commit { goes_on: false }]);
            } else {
                acts.push(Act::Wait);
            }
            let is_taken_over = world.state.work.as_ref().is_some_and(|work| work.taken_over);
            if is_taken_over && seen.chooses() == Attempted::State {
                acts.push(Act::TakeOver);
            }
            let is_message = matches!(seen.chooses(), Attempted::Message(_));
            acts.extend((left.refusals > 0 && is_message).then_some(Act::Pass));
            acts.extend((left.failures > 0).then_some(Act::Fail));
            acts.extend((left.hand_backs > 0).then_some(Act::HandBack));
            acts
        }
        Worker::IsStale { .. } => vec![Act::ReadAgain],
        Worker::Turns { .. } => vec![Act::Switch],
    };
    acts.extend((left.crashes > 0 && *worker != Worker::Idle).then_some(Act::Crash));
    acts
}

impl Crowd {
    fn acts(&self, world: &mut World, worker: &mut Worker, act: Act) {
        let protocol = self.protocol;
        match act {
            Act::Read => {
                if let Some((token, seen)) = world.read() {
                    *worker = Worker::Has { token, seen };
                }
            }
            Act::Claim => {
                world.left.claims -= 1;
                worker.claim(world, protocol);
            }
            Act::Renew => worker.renew(world, protocol),
            Act::Commit { goes_on } => worker.commit(world, protocol, (goes_on, self.messages)),
            Act::TakeOver => worker.take_over(world, protocol, self.messages),
            Act::Wait => worker.park(world, protocol),
            Act::Pass => {
                world.left.refusals -= 1;
                worker.pass(world, protocol);
            }
            Act::ReadAgain => worker.read_again(world),
            Act::Switch => worker.turn(world, protocol),
            Act::Fail => {
                world.left.failures -= 1;
                worker.fail(world, protocol);
            }
            Act::HandBack => {
                world.left.hand_backs -= 1;
                worker.hand_back(world, protocol);
            }
            Act::Crash => {
                world.left.crashes -= 1;
                worker.crash(world);
            }
        }
    }
}
