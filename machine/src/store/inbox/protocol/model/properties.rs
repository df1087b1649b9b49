use stateright::Property;

use super::{
    super::{AfterMove, Attempted, Delivery, Event, MessageState, Moved, MovedBy},
    crowd::Crowd,
    seen::Seen,
    worker::{MAX_ATTEMPTS, Worker},
    world::{Fault, NOW, World},
};

pub(super) const ONE_WRITER: &str = "at most one worker can write";
pub(super) const NEWEST_TOKEN: &str = "nothing is accepted under an old token";
pub(super) const TOKENS_RISE: &str = "each claim gets a token that is higher than all before";
pub(super) const HOLDER: &str = "the holder is refused nothing";
pub(super) const ONCE: &str = "a message moves the machine at most once";
pub(super) const WITH_COMMIT: &str = "a message is handled if and only if it moved the machine";
pub(super) const KEPT: &str =
    "a message that was sent is there, and waits only for a machine that lives";
pub(super) const AWAKE: &str = "a machine that sleeps has nothing to do";
pub(super) const COUNTED: &str = "attempts are counted before the work";
pub(super) const POISON: &str = "nothing crashes more workers than attempts are allowed";
pub(super) const PATIENCE: &str = "a message is set aside only after all attempts, or at the end";
pub(super) const NOT_SUPPRESSED: &str =
    "a message that is answered with duplicate is the one that is there";
pub(super) const NOT_DISPLACED: &str = "a message keeps its correlation id until it is set aside";
pub(super) const RECOVERS: &str = "one healthy worker finishes what others have left";

/// This violation is never seen.
macro_rules! never {
    ($name:ident, $fault:ident) => {
        Property::always($name, |_: &Crowd, world: &World| world.facts.fault != Some(Fault::$fault))
    };
}

pub(super) fn all() -> Vec<Property<Crowd>> {
    vec![
        Property::always(ONE_WRITER, one_writer),
        never!(NEWEST_TOKEN, OldToken),
        never!(TOKENS_RISE, TokenAgain),
        never!(HOLDER, HolderRefused),
        Property::always(ONCE, |_: &Crowd, world: &World| {
            world.facts.handled.iter().all(|times| *times <= 1)
        }),
        Property::always(WITH_COMMIT, with_commit),
        Property::always(KEPT, kept),
        Property::always(AWAKE, |_: &Crowd, world: &World| awake(world)),
        Property::always(COUNTED, |_: &Crowd, world: &World| {
            world.workers.iter().all(|it| counted(world, it))
        }),
        Property::always(POISON, poison),
        Property::always(PATIENCE, patience),
        never!(NOT_SUPPRESSED, Suppressed),
        never!(NOT_DISPLACED, Displaced),
        Property::always(RECOVERS, recovers),
    ]
}

/// Situations that must be reachable, so that the other properties do not hold vacuously.
pub(super) fn possible() -> Vec<Property<Crowd>> {
    vec![
        Property::sometimes(
            "every message is handled, and the machine ends",
            |crowd: &Crowd, world: &World| {
                let handled = &world.facts.handled[..crowd.messages];
                world.state.ended && handled.iter().all(|times| *times == 1)
            },
        ),
        Property::sometimes(
            "a frozen worker goes on under an old token",
            |_: &Crowd, world: &World| {
                world
                    .workers
                    .iter()
                    .filter_map(Worker::token)
                    .any(|token| token < world.facts.highest)
            },
        ),
        Property::sometimes(
            "a message comes before its machine is driven",
            |_: &Crowd, world: &World| world.state.work.is_none() && world.facts.sent[0],
        ),
        Property::sometimes("a message comes too late", |crowd: &Crowd, world: &World| {
            let last = world.message(crowd.messages - 1);
            world.state.ended
                && world.facts.handled == [0; 2]
                && last.is_some_and(|it| it.status == Delivery::SetAside)
        }),
        Property::sometimes(
            "a message is handled that took the place of one that was set aside",
            |_: &Crowd, world: &World| {
                let is_other =
                    |it: &MessageState| it.sent.as_ref().is_some_and(|sent| !sent.body.is_empty());
                world.facts.handled[0] == 1 && world.message(0).is_some_and(is_other)
            },
        ),
        Property::sometimes("the machine sleeps", |_: &Crowd, world: &World| is_asleep(world)),
    ]
}

fn one_writer(crowd: &Crowd, world: &World) -> bool {
    let can_write = |worker: &&Worker| {
        let Some(token) = worker.token() else { return false };
        let (handled, refused) = (None, Vec::new());
        let event = Event::Moved(Moved {
            token,
            revision: 0,
            by: MovedBy::Input,
            handled,
            refused,
            next: AfterMove::Yield { now: NOW },
            max_attempts: MAX_ATTEMPTS,
        });
        crowd.protocol.step(&world.state, &event).is_ok()
    };
    world.workers.iter().filter(can_write).count() <= 1
}

/// So a crash before the write leaves it queued, and nothing handles it again.
fn with_commit(crowd: &Crowd, world: &World) -> bool {
    (0..crowd.messages).all(|message| {
        let status = world.message(message).map(|it| it.status);
        (status == Some(Delivery::Handled)) == (world.facts.handled[message] > 0)
    })
}

fn kept(crowd: &Crowd, world: &World) -> bool {
    (0..crowd.messages).all(|message| {
        let status = world.message(message).map(|it| it.status);
        let waits = status == Some(Delivery::Queued);
        let has_ended = world.place == 2 * crowd.messages;
        world.facts.sent[message] == status.is_some() && !(waits && has_ended)
    })
}

fn is_asleep(world: &World) -> bool {
    let work = world.state.work.as_ref();
    work.is_some_and(|work| work.lease.is_none() && work.wake.is_none())
}

/// No wakeup is lost: the worker that parked the machine had seen the current revision.
fn awake(world: &World) -> bool {
    if !is_asleep(world) {
        return true;
    }
    let (Some((revision, passed)), Some((_, now))) = (world.facts.parked, world.read()) else {
        return false;
    };
    let left_over = Seen { passed, ..now };
    let waits = world.due_at.is_some() && now.deadline_may;
    !left_over.moves() && !waits && now.revision == revision
}

fn counted(world: &World, worker: &Worker) -> bool {
    let Worker::Works { token, seen } = worker else { return true };
    let has_lease = world.state.work.as_ref().is_some_and(|work| work.lease.is_some());
    // News let the handler begin again.
    let Some((newest, _)) = world.read().filter(|_| has_lease) else { return true };
    let on = seen.chooses();
    let begins_again = matches!(on, Attempted::State | Attempted::Deadline) && !world.counts(seen);
    if newest != *token || begins_again {
        return true;
    }
    world.attempts(&on).is_none_or(|attempts| attempts > 0)
}

fn poison(_: &Crowd, world: &World) -> bool {
    let facts = &world.facts;
    let others = [facts.crashed_by_handler, facts.crashed_by_deadline];
    facts.crashed_by.into_iter().chain(others).all(|crashed| u32::from(crashed) <= MAX_ATTEMPTS)
}

fn patience(_: &Crowd, world: &World) -> bool {
    let is_patient = |status, attempts| status != Delivery::SetAside || attempts >= MAX_ATTEMPTS;
    world.state.ended || world.state.messages.values().all(|it| is_patient(it.status, it.attempts))
}

/// From every state, one worker that neither fails nor crashes finishes all the work: no state is a
/// dead end. This is the model's form of "eventually".
fn recovers(crowd: &Crowd, world: &World) -> bool {
    let mut world = World { workers: Vec::new(), ..world.clone() };
    let protocol = crowd.protocol;
    for _ in 0..20 {
        if world.state.work.is_none() || is_asleep(&world) {
            return awake(&world);
        }
        world.tick();
        let Some((token, seen)) = world.read() else { return true };
        let mut worker = Worker::Has { token, seen };
        worker.claim(&mut world, protocol);
        while let Worker::Works { seen, .. } = &worker {
            if seen.moves() {
                worker.commit(&mut world, protocol, (true, crowd.messages));
            } else {
                worker.park(&mut world, protocol);
            }
        }
    }
    false
}
