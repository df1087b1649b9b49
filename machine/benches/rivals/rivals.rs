//! The same machine, without data, in other crates. Each ratio is our time over theirs.
//!
//! ```sh
//! cargo run --release --ignore-rust-version --manifest-path machine/benches/rivals/Cargo.toml
//! ```
//!
//! `state-machines` asks for a newer compiler than this project, but builds with this one.

#![allow(missing_docs, unreachable_pub, missing_debug_implementations, dead_code)]
#![allow(clippy::pedantic, clippy::result_large_err, reason = "the code of other crates' macros")]

#[path = "../harness/mod.rs"]
mod harness;

use std::hint::black_box;

use harness::ratio;

const TIMES: u64 = 200_000;
const LAPS: usize = 20;

mod ours {
    use machine::machine;

    #[machine]
    pub enum Job {
        #[initial]
        #[on(start => Running)]
        Pending,
        #[on(succeed => Completed)]
        #[on(fail => Failed)]
        #[on(suspend => Waiting)]
        #[on(cancel => Cancelled)]
        Running,
        #[on(resume => Running)]
        #[on(cancel => Cancelled)]
        Waiting,
        #[terminal]
        Completed,
        #[terminal]
        Failed,
        #[terminal]
        Cancelled,
    }
}

mod by_statum {
    use statum::{machine, state, transition};

    #[state]
    pub enum Status {
        Pending,
        Running,
        Waiting,
        Completed,
    }

    #[machine]
    pub struct Job<Status> {
        number: u64,
    }

    #[transition]
    impl Job<Pending> {
        pub fn start(self) -> Job<Running> {
            self.transition()
        }
    }

    #[transition]
    impl Job<Running> {
        pub fn suspend(self) -> Job<Waiting> {
            self.transition()
        }
        pub fn succeed(self) -> Job<Completed> {
            self.transition()
        }
    }

    #[transition]
    impl Job<Waiting> {
        pub fn resume(self) -> Job<Running> {
            self.transition()
        }
    }

    pub fn new(number: u64) -> Job<Pending> {
        Job::<Pending>::builder().number(number).build()
    }
}

mod by_smlang {
    use smlang::statemachine;

    statemachine! {
        transitions: {
            *Pending + Start = Running,
            Running + Succeed = Completed,
            Running + Fail = Failed,
            Running + Suspend = Waiting,
            Running + Cancel = Cancelled,
            Waiting + Resume = Running,
            Waiting + Cancel = Cancelled,
        }
    }

    pub struct Context;

    impl StateMachineContext for Context {}
}

mod by_statig {
    use statig::prelude::*;

    #[derive(Default)]
    pub struct Job;

    pub enum Event {
        Start,
        Succeed,
        Fail,
        Suspend,
        Cancel,
        Resume,
    }

    #[state_machine(initial = "State::pending()")]
    impl Job {
        #[state]
        fn pending(event: &Event) -> Outcome<State> {
            match event {
                Event::Start => Transition(State::running()),
                _ => Super,
            }
        }
        #[state]
        fn running(event: &Event) -> Outcome<State> {
            match event {
                Event::Succeed => Transition(State::completed()),
                Event::Fail => Transition(State::failed()),
                Event::Suspend => Transition(State::waiting()),
                Event::Cancel => Transition(State::cancelled()),
                _ => Super,
            }
        }
        #[state]
        fn waiting(event: &Event) -> Outcome<State> {
            match event {
                Event::Resume => Transition(State::running()),
                Event::Cancel => Transition(State::cancelled()),
                _ => Super,
            }
        }
        #[state]
        fn completed(event: &Event) -> Outcome<State> {
            let _ = event;
            Super
        }
        #[state]
        fn failed(event: &Event) -> Outcome<State> {
            let _ = event;
            Super
        }
        #[state]
        fn cancelled(event: &Event) -> Outcome<State> {
            let _ = event;
            Super
        }
    }
}

mod by_rust_fsm {
    use rust_fsm::state_machine;

    state_machine! {
        pub job(Pending)

        Pending(Start) => Running,
        Running => {
            Succeed => Completed,
            Fail => Failed,
            Suspend => Waiting,
            Cancel => Cancelled,
        },
        Waiting => {
            Resume => Running,
            Cancel => Cancelled,
        }
    }
}

mod by_state_machines {
    use state_machines::state_machine;

    state_machine! {
        name: Job,
        dynamic: true,
        initial: Pending,
        states: [Pending, Running, Waiting, Completed, Failed, Cancelled],
        events {
            start { transition: { from: Pending, to: Running } }
            succeed { transition: { from: Running, to: Completed } }
            fail { transition: { from: Running, to: Failed } }
            suspend { transition: { from: Running, to: Waiting } }
            cancel { transition: { from: [Running, Waiting], to: Cancelled } }
            resume { transition: { from: Waiting, to: Running } }
        }
    }
}

fn ours_typed() {
    for _ in 0..TIMES {
        let mut running = ours::Job::new().start();
        for _ in 0..LAPS {
            running = black_box(running.suspend()).resume();
        }
        let _ = black_box(running.succeed());
    }
}

fn ours_erased() {
    use machine::actor::Anyone;
    use ours::{AnyJob, job::Event};
    for _ in 0..TIMES {
        let mut job = AnyJob::from(ours::Job::new());
        let step = |job: AnyJob, event| match job.apply(black_box(event), &Anyone) {
            Ok(job) => job,
            Err(refused) => refused.machine,
        };
        job = step(job, Event::Start);
        for _ in 0..LAPS {
            job = step(job, Event::Suspend);
            job = step(job, Event::Resume);
        }
        black_box(step(job, Event::Succeed));
    }
}

fn main() {
    ratio("typed_vs_statum", 9, ours_typed, || {
        for number in 0..TIMES {
            let mut running = by_statum::new(number).start();
            for _ in 0..LAPS {
                running = black_box(running.suspend()).resume();
            }
            let _ = black_box(running.succeed());
        }
    });
    ratio("typed_vs_state_machines", 9, ours_typed, || {
        use by_state_machines::Job;
        for _ in 0..TIMES {
            let Ok(mut running) = Job::new(()).start() else { return };
            for _ in 0..LAPS {
                let Ok(waiting) = running.suspend() else { return };
                let Ok(again) = black_box(waiting).resume() else { return };
                running = again;
            }
            let _ = black_box(running.succeed());
        }
    });
    ratio("apply_vs_state_machines", 9, ours_erased, || {
        use by_state_machines::{DynamicJob, JobEvent};
        for _ in 0..TIMES {
            let mut job = DynamicJob::new(());
            let _ = job.handle(black_box(JobEvent::Start));
            for _ in 0..LAPS {
                let _ = job.handle(black_box(JobEvent::Suspend));
                let _ = job.handle(black_box(JobEvent::Resume));
            }
            let _ = black_box(job.handle(black_box(JobEvent::Succeed)));
        }
    });
    ratio("apply_vs_smlang", 9, ours_erased, || {
        use by_smlang::{Context, Events, StateMachine};
        for _ in 0..TIMES {
            let mut job = StateMachine::new(Context);
            let _ = job.process_event(black_box(Events::Start));
            for _ in 0..LAPS {
                let _ = job.process_event(black_box(Events::Suspend));
                let _ = job.process_event(black_box(Events::Resume));
            }
            let _ = black_box(job.process_event(black_box(Events::Succeed)));
        }
    });
    ratio("apply_vs_statig", 9, ours_erased, || {
        use by_statig::{Event, Job};
        use statig::prelude::*;
        for _ in 0..TIMES {
            let mut job = Job.state_machine();
            job.handle(&black_box(Event::Start));
            for _ in 0..LAPS {
                job.handle(&black_box(Event::Suspend));
                job.handle(&black_box(Event::Resume));
            }
            job.handle(&black_box(Event::Succeed));
            black_box(&job);
        }
    });
    ratio("apply_vs_rust_fsm", 9, ours_erased, || {
        use by_rust_fsm::job::{Input, StateMachine};
        for _ in 0..TIMES {
            let mut job = StateMachine::new();
            let _ = job.consume(&black_box(Input::Start));
            for _ in 0..LAPS {
                let _ = job.consume(&black_box(Input::Suspend));
                let _ = job.consume(&black_box(Input::Resume));
            }
            let _ = black_box(job.consume(&black_box(Input::Succeed)));
        }
    });
}
