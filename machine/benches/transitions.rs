//! The cost of a transition, compared to handwritten code that does the same (DESIGN 8).
//!
//! `cargo bench --package machine --bench transitions`

#![allow(missing_docs, unreachable_pub, missing_debug_implementations, dead_code)]
#![allow(clippy::unused_self, reason = "a handwritten typestate moves its machine too")]

mod harness;

use std::hint::black_box;

use harness::ratio;
use machine::machine;

/// The execution machine, not durable: seven states, nine moves, a number as data.
#[machine]
pub enum Job {
    #[initial]
    #[on(start => Running)]
    Pending,
    #[on(succeed(result) => Completed)]
    #[on(fail(error) => Failed)]
    #[on(reject(reason) => Rejected)]
    #[on(suspend(prompt) => Waiting)]
    #[on(cancel(reason) => Cancelled)]
    Running,
    #[stable]
    #[on(resume => Running)]
    #[on(cancel(reason) => Cancelled)]
    #[on(timeout(reason) => Cancelled)]
    Waiting { prompt: u64 },
    #[terminal]
    Completed { result: u64 },
    #[terminal]
    Failed { error: u64 },
    #[terminal]
    Rejected { reason: u64 },
    #[terminal]
    Cancelled { reason: u64 },
}

/// The same, handwritten: a typestate, and an enum with a match.
mod by_hand {
    pub struct Pending;
    pub struct Running;
    pub struct Waiting(pub u64);
    pub struct Completed(pub u64);

    pub struct Job<S>(pub S);

    impl Job<Pending> {
        pub fn start(self) -> Job<Running> {
            Job(Running)
        }
    }

    impl Job<Running> {
        pub fn suspend(self, prompt: u64) -> Job<Waiting> {
            Job(Waiting(prompt))
        }
        pub fn succeed(self, result: u64) -> Job<Completed> {
            Job(Completed(result))
        }
    }

    impl Job<Waiting> {
        pub fn resume(self) -> Job<Running> {
            Job(Running)
        }
    }

    #[derive(Clone, Copy)]
    pub enum State {
        Pending,
        Running,
        Waiting(u64),
        Completed(u64),
        Failed(u64),
        Rejected(u64),
        Cancelled(u64),
    }

    #[derive(Clone, Copy)]
    pub enum Event {
        Start,
        Succeed(u64),
        Fail(u64),
        Reject(u64),
        Suspend(u64),
        Cancel(u64),
        Resume,
        Timeout(u64),
    }

    /// The unchanged machine, and the refused event.
    pub struct Refused {
        pub state: State,
        pub event: &'static str,
    }

    impl State {
        pub fn apply(self, event: Event) -> Result<Self, Refused> {
            Ok(match (self, event) {
                (Self::Pending, Event::Start) | (Self::Waiting(_), Event::Resume) => Self::Running,
                (Self::Running, Event::Succeed(result)) => Self::Completed(result),
                (Self::Running, Event::Fail(error)) => Self::Failed(error),
                (Self::Running, Event::Reject(reason)) => Self::Rejected(reason),
                (Self::Running, Event::Suspend(prompt)) => Self::Waiting(prompt),
                (Self::Running | Self::Waiting(_), Event::Cancel(reason))
                | (Self::Waiting(_), Event::Timeout(reason)) => Self::Cancelled(reason),
                (state, event) => return Err(Refused { state, event: event.name() }),
            })
        }
    }

    impl Event {
        fn name(self) -> &'static str {
            match self {
                Self::Start => "start",
                Self::Succeed(_) => "succeed",
                Self::Fail(_) => "fail",
                Self::Reject(_) => "reject",
                Self::Suspend(_) => "suspend",
                Self::Cancel(_) => "cancel",
                Self::Resume => "resume",
                Self::Timeout(_) => "timeout",
            }
        }
    }
}

const TIMES: u64 = 2_000_000;

fn main() {
    ratio(
        "typed_transition_vs_hand_written",
        15,
        || {
            for number in 0..TIMES {
                let waiting = Job::new().start().suspend(black_box(number));
                let done = waiting.resume().succeed(black_box(number));
                black_box(done.state().result);
            }
        },
        || {
            for number in 0..TIMES {
                let waiting = by_hand::Job(by_hand::Pending).start().suspend(black_box(number));
                let done = waiting.resume().succeed(black_box(number));
                black_box(done.0.0);
            }
        },
    );
    ratio(
        "apply_vs_hand_written_match",
        15,
        || {
            for number in 0..TIMES {
                let mut job = AnyJob::from(Job::new());
                for event in [
                    job::Event::Start,
                    job::Event::Suspend { prompt: number },
                    job::Event::Resume,
                    job::Event::Succeed { result: number },
                ] {
                    job = match job.apply(black_box(event)) {
                        Ok(job) => job,
                        Err(refused) => refused.machine,
                    };
                }
                black_box(&job);
            }
        },
        || {
            for number in 0..TIMES {
                let mut job = by_hand::State::Pending;
                for event in [
                    by_hand::Event::Start,
                    by_hand::Event::Suspend(number),
                    by_hand::Event::Resume,
                    by_hand::Event::Succeed(number),
                ] {
                    job = match job.apply(black_box(event)) {
                        Ok(job) => job,
                        Err(refused) => {
                            black_box(refused.event);
                            refused.state
                        }
                    };
                }
                black_box(&job);
            }
        },
    );
}
