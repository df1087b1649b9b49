//! The parts of a declaration can be from a `macro_rules` macro and from its caller: names are the same, whoever
//! wrote them.

use std::time::Duration;

use machine::{actor::GraphRunner, machine};

/// The shared fields and one transition are from the macro, the states from the caller.
macro_rules! with_shared_fields {
    ($name:ident, $step:expr, { $($body:tt)* }) => {
        #[machine(
            fields(count: u32),
            fields(goal: String, in = Running),
            on(raise(count = count + $step) => Running, from = Running),
        )]
        #[derive(Debug)]
        pub enum $name { $($body)* }
    };
}

with_shared_fields!(Run, count * 10, {
    #[initial]
    #[on(begin(goal) => Running)]
    #[on(begin_with(goal = format!("{count} more")) => Running)]
    Begun,

    #[on(tick(count = count + 1) => Self)]
    #[on(copy(count = source.count, goal = status.to_string()) => Running)]
    #[on(look => match count { 0 => Ended, n if n > 3 && count < 9 => Ended(count = n), _ => Self })]
    #[on(expire => Ended, by = GraphRunner, after = Duration::from_secs(u64::from(count)))]
    Running,

    #[terminal]
    Ended,
});

#[test]
fn expressions_use_fields_of_the_macro() {
    let run = Run::new(1).begin("a shed".to_owned()).tick();
    assert_eq!((*run.count(), run.goal().as_str()), (2, "a shed"));
    assert_eq!(run.deadlines().next().unwrap().after, Duration::from_secs(2));
    let raised = run.raise();
    assert_eq!(*raised.count(), 22);
    assert_eq!(raised.copy().goal(), "running");
    let run = Run::new(4).begin_with();
    assert_eq!(run.goal(), "4 more");
    let run::AfterLook::Ended(ended) = run.look() else { panic!("4 is more than 3") };
    assert_eq!(*ended.count(), 4);
}

/// The fields are from the caller, and transitions around them from the macro.
macro_rules! with_transitions {
    ($name:ident { $($body:tt)* }) => {
        #[machine(on(pause(note) => Paused, from = Active))]
        #[derive(Debug)]
        pub enum $name {
            #[initial]
            #[on(begin(goal, count = 1) => Running)]
            Begun,

            $($body)*

            #[terminal]
            Paused { note: String, count: u8 },
        }
    };
}

with_transitions!(Walk {
    #[group(Active)]
    #[on(tick(count = count + 1) => Self)]
    Running { goal: String, count: u8 },
});

#[test]
fn transitions_of_the_macro_use_fields_of_the_caller() {
    let paused = Walk::new().begin("a shed".to_owned()).tick().pause("noon".to_owned());
    assert_eq!((paused.state().count, paused.state().note.as_str()), (2, "noon"));
}

/// The duration is in part from the macro, and in part from the caller.
macro_rules! with_a_deadline {
    ($name:ident, $more:expr) => {
        #[machine]
        #[derive(Debug)]
        pub enum $name {
            #[initial]
            #[on(expire => Expired, by = GraphRunner, after = Duration::from_secs(u64::from(count + $more)))]
            Open { count: u32 },

            #[terminal]
            Expired,
        }
    };
}

with_a_deadline!(Offer, count * 10);

#[test]
fn expressions_have_names_from_both() {
    let offer = Offer::new(2);
    assert_eq!(offer.deadlines().next().unwrap().after, Duration::from_secs(22));
}
