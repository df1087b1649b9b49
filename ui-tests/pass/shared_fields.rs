//! Fields that several states share, transitions out of several states, and code for any state.

use machine::machine;

/// A list of names, as a type of the user's.
type Names = Vec<String>;

#[machine(
    durable,
    fields(
        /// What is wanted.
        #[audience(human)]
        goal: String,
        #[was = "people"]
        names: Names,
        in = Working | Finished,
    ),
    fields(epoch: u64),
    on(
        /// Ends it early.
        stop(why) => Stopped,
        from = Working | Held,
    ),
)]
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
enum Flow {
    #[initial]
    #[on(start(goal, names = Vec::new(), epoch = epoch + 1) => Planning)]
    Idle,

    #[group(Working)]
    #[group(Open)]
    #[on(add(name: String, names = with(names, name)) => Self)]
    #[on(execute(step) => Executing)]
    #[on(hold => Held)]
    Planning,

    #[group(Working)]
    #[on(finish => Finished)]
    Executing { step: u32 },

    #[group(Open)]
    #[on(resume(goal, names) => Planning)]
    Held,

    #[terminal]
    Finished,

    #[terminal]
    Stopped { why: String },
}

fn with(mut names: Names, name: String) -> Names {
    names.push(name);
    names
}

/// Reads in any state that works.
fn title<S: flow::Working>(flow: &Flow<S>) -> String {
    format!("{} by {}", flow.goal(), flow.names().len())
}

/// Every state has an epoch.
fn epoch<S: flow::AnyState>(flow: &Flow<S>) -> u64 {
    *flow.epoch()
}

/// Erases any state.
fn erased<S: flow::AnyState>(flow: Flow<S>) -> AnyFlow {
    flow.into()
}

#[test]
fn they_are_fields_of_each_state_and_methods_of_the_machine() {
    let planning = Flow::new(3).start("a shed".to_owned()).add("ann".to_owned());
    let expected = flow::Planning { goal: "a shed".into(), names: vec!["ann".into()], epoch: 4 };
    assert_eq!(planning.state(), &expected);
    assert_eq!(title(&planning), "a shed by 1");
    let executing = planning.execute(7);
    assert_eq!((title(&executing), epoch(&executing)), ("a shed by 1".to_owned(), 4));

    let any = erased(executing);
    assert_eq!((any.goal().map(String::as_str), *any.epoch()), (Some("a shed"), 4));
    let AnyFlow::Executing(executing) = any else { panic!("{any:?}") };
    let finished = executing.finish();
    assert_eq!((finished.goal(), finished.names().len()), (&"a shed".to_owned(), 1));

    let idle = AnyFlow::from(Flow::new(0));
    assert_eq!((idle.goal(), idle.names(), *idle.epoch()), (None, None, 0));
}

#[test]
fn a_transition_leaves_states_and_groups() {
    let planning = || Flow::new(0).start("a shed".to_owned());
    let held = planning().hold();
    for stopped in [planning().stop("late".into()), held.stop("late".into())] {
        assert_eq!(stopped.state(), &flow::Stopped { epoch: 1, why: "late".to_owned() });
    }
    for state in [flow::Status::Planning, flow::Status::Held] {
        let stop = flow::DEFINITION.find_move(state as usize, "stop").unwrap();
        assert_eq!(&*stop.edge().docs, "Ends it early.");
    }
    let stop = flow::Event::Stop { why: "late".to_owned() };
    let idle = AnyFlow::from(Flow::new(0));
    assert!(idle.why_not(&stop, &machine::actor::Anyone).is_some());
}

/// Values are computed as they are written, whatever the order of the fields: one that consumes a field of
/// the source comes last.
#[machine(fields(steps: Names, in = Begun | Ended))]
enum Job {
    #[initial]
    #[on(end(count = steps.len(), steps = reversed(steps)) => Ended)]
    #[on(stop(count = steps.len()) => if count > 1 {
        Ended(steps = reversed(steps))
    } else {
        Ended(count = 7, steps = reversed(steps))
    })]
    Begun { count: usize },

    #[terminal]
    Ended { count: usize },
}

fn reversed(mut names: Names) -> Names {
    names.reverse();
    names
}

#[test]
fn values_are_computed_in_the_order_in_which_they_are_written() {
    let job = |count| Job::new(vec!["a".to_owned(), "b".to_owned()], count);
    let ended = job(0).end();
    assert_eq!((ended.state().count, ended.steps().concat()), (2, "ba".to_owned()));
    for (before, after) in [(1, 7), (2, 2)] {
        let job::AfterStop::Ended(ended) = job(before).stop();
        assert_eq!((ended.state().count, ended.steps().concat()), (after, "ba".to_owned()));
    }
}

/// Fields of a generic machine.
#[machine(fields(value: T, in = Full | Sealed), fields(count: u32))]
#[derive(Debug)]
enum Slot<T: Clone, const N: usize> {
    #[initial]
    #[on(fill(value: T) => if count < 3 { Full(value, count = count + 1) } else { Self })]
    Empty,

    #[group(Held)]
    #[on(seal => Sealed)]
    #[on(take => Empty)]
    Full,

    #[group(Held)]
    #[terminal]
    Sealed,
}

/// A type of the machine's parameters is no supertrait of a group, but any other is.
fn count<S: slot::Held, T: Clone>(slot: &Slot<S, T, 8>) -> u32 {
    *slot.count()
}

fn is_a_state<S: slot::AnyState>(_: &S) {}

#[test]
fn a_generic_machine_has_them_too() {
    let slot::AfterFill::Full(full) = Slot::<_, String, 8>::new(0).fill("pear".to_owned()) else {
        panic!("it was empty")
    };
    assert_eq!((full.value().as_str(), count(&full)), ("pear", 1));
    is_a_state(full.state());
    let any = AnySlot::from(full.seal());
    assert_eq!((any.value().map(String::as_str), *any.count()), (Some("pear"), 1));
    assert_eq!(AnySlot::<u8, 1>::from(Slot::new(0)).value(), None);
}

/// A machine with a context, and one without.
#[machine(context = u8)]
#[derive(Debug, PartialEq)]
enum Order {
    #[initial]
    #[on(pay => Paid)]
    Cart { items: Vec<u32>, context: bool },

    #[terminal]
    Paid,
}

#[machine]
enum Lamp {
    #[initial]
    #[on(switch => Lit)]
    Dark,

    #[on(switch => Dark)]
    Lit,
}

#[test]
fn the_data_of_the_first_state_by_name_and_taken_apart() {
    let order = Order::from((7, order::Cart { items: vec![1], context: true }));
    let (context, state) = order.into_parts();
    assert_eq!((context, state), (7, order::Cart { items: vec![1], context: true }));
    let (context, order::Paid) = Order::new(8, vec![], false).pay().into_parts();
    assert_eq!(context, 8);
    let order: Order<order::Cart> = (9, order::Cart { items: vec![], context: false }).into();
    assert_eq!(*order.context(), 9);

    let order::Cart { .. } = order.into_state();
    let lamp::Lit = Lamp::from(lamp::Dark).switch().into_parts();
    assert_eq!(Flow::from(flow::Idle { epoch: 2 }).epoch(), &2);
}
