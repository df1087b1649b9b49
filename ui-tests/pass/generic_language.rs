//! Every feature of the language in machines with type, const and lifetime parameters, which most
//! states do not mention.

use std::{fmt::Debug, time::Duration};

use machine::{
    actor::{Actors, GraphRunner, ToolNode},
    machine,
    typed::Erased,
};

/// A deadline in a state that mentions no parameter, one that computes with a parameter, and one of
/// a group.
#[machine(
    context = Limits<T>,
    on(expire => Failed, from = Running, by = GraphRunner, after = context.total),
)]
#[derive(Debug, Clone, PartialEq)]
pub enum Retry<'a, T: Clone, E, const N: usize>
where
    E: Debug + Clone,
{
    #[initial]
    #[was = "begin"]
    #[on(try_it(name, tries = 0, last = None) => Trying, by = ToolNode, was = "begin")]
    #[on(hurry(name = "now", tries = 0, last = None) => Trying, by = GraphRunner, after = Duration::from_secs(N as u64))]
    Idle,

    #[group(Running)]
    #[on(failed(error: E) => if tries + 1 < N {
        Waiting(tries = tries + 1, last = Some(error), before = status)
    } else {
        Failed
    }, guard = known -> String)]
    #[on(done(value) => Done, by = ToolNode | GraphRunner)]
    Trying {
        name: &'a str,
        #[was = "attempts"]
        tries: usize,
        last: Option<E>,
    },

    #[group(Running)]
    #[on(try_again => Trying, by = GraphRunner, after = pause::<N>(tries))]
    #[on(forget(last = None) => Self)]
    Waiting { name: &'a str, tries: usize, last: Option<E>, before: retry::Status },

    #[terminal]
    #[only_after(Trying)]
    Done { value: T },

    #[terminal]
    #[only_after(Running)]
    Failed,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Limits<T> {
    total: Option<Duration>,
    fallback: T,
}

fn known<T, E: Debug + Clone>(
    _: &retry::Trying<'_, E>,
    limits: &Limits<T>,
    _: &E,
) -> Result<(), String> {
    limits.total.map(|_| ()).ok_or_else(|| "no limit".to_owned())
}

fn pause<const N: usize>(tries: usize) -> Duration {
    Duration::from_millis((N * tries) as u64)
}

type Idle = Retry<'static, retry::Idle, u8, &'static str, 3>;

fn idle() -> Idle {
    Retry::new(Limits { total: Some(Duration::from_secs(60)), fallback: 7 })
}

fn due<'a, T: Clone, E: Debug + Clone, const N: usize>(
    any: &AnyRetry<'a, T, E, N>,
) -> Vec<(&'static str, Duration)> {
    any.deadlines().map(|deadline| (deadline.trigger, deadline.after)).collect()
}

fn deadlines_fire(actors: &Actors) {
    let idle = idle();
    assert_eq!(idle.deadlines().next().unwrap().after, Duration::from_secs(3));
    let trying = AnyRetry::from(idle).fire_deadline("hurry").unwrap();
    assert_eq!(due(&trying), [("expire", Duration::from_secs(60))]);

    let AnyRetry::Trying(trying) = trying else { panic!("it was to hurry") };
    let retry::AfterFailed::Waiting(waiting) = trying.failed("busy").unwrap() else {
        panic!("one of three")
    };
    assert_eq!(waiting.state().before, retry::Status::Trying);
    let waiting = AnyRetry::from(waiting);
    assert_eq!(
        due(&waiting),
        [("try_again", Duration::from_millis(3)), ("expire", Duration::from_secs(60))]
    );
    let AnyRetry::Waiting(waiting) = waiting else { panic!("it waits") };
    let waiting = waiting.forget();
    assert_eq!(waiting.state().last, None);
    let trying = waiting.try_again(&actors.graph_runner);
    let failed = AnyRetry::from(trying).fire_deadline("expire").unwrap();
    assert_eq!(failed.status(), retry::Status::Failed);
}

fn moves_as_events(actors: &Actors) {
    let event = retry::Event::TryIt { name: "parcel" };
    let any: AnyRetry<'_, u8, &str, 3> = idle().into();
    assert!(any.why_not(&event, &actors.graph_runner).is_some());
    let any = any.apply(event, &actors.tool_node).unwrap();
    let any = any.apply(retry::Event::Done { value: 9 }, &actors.tool_node).unwrap();
    let AnyRetry::Done(done) = any else { panic!("it is done") };
    assert_eq!((done.state().value, done.context().fallback), (9, 7));
}

fn guards_refuse(actors: &Actors) {
    let idle: Idle = Retry::new(Limits { total: None, fallback: 0 });
    let refused = idle.try_it("parcel", &actors.tool_node).failed("busy").unwrap_err();
    assert_eq!(refused.reason, "no limit");
    assert_eq!(refused.machine.deadlines().count(), 0);
}

fn definitions_draw() {
    let definition = <AnyRetry<'_, u8, String, 2> as Erased>::DEFINITION;
    assert_eq!(definition.states.len(), 5);
    assert!(definition.mermaid().contains("failed"));
}

/// Only a lifetime, and a deadline that needs none of it.
#[machine]
#[derive(Debug)]
pub enum Borrowed<'a> {
    #[initial]
    #[on(keep(text) => Kept)]
    #[on(give_up => GivenUp, by = GraphRunner, after = Duration::from_secs(1))]
    Open,
    #[terminal]
    Kept { text: &'a str },
    #[terminal]
    GivenUp,
}

/// A const parameter alone, in a deadline of a group and nowhere else.
#[machine(on(stop => Stopped, from = Active, by = GraphRunner, after = Duration::from_secs(SECONDS)))]
#[derive(Debug)]
pub enum Timer<const SECONDS: u64> {
    #[initial]
    #[group(Active)]
    #[on(pause => Paused)]
    Runs,
    #[group(Active)]
    #[on(resume => Runs)]
    Paused,
    #[terminal]
    Stopped,
}

/// Parameters with defaults.
#[machine]
#[derive(Debug)]
pub enum Buffer<T = u8, const SIZE: usize = 4> {
    #[initial]
    #[on(fill(items) => Full)]
    Empty,
    #[on(check(ok: bool) => if ok { Self } else { Empty })]
    Full { items: [T; SIZE] },
}

fn filled(buffer: Buffer<buffer::Empty>) -> AnyBuffer {
    let full: Buffer<buffer::Full> = buffer.fill([1, 2, 3, 4]);
    full.check(true).into()
}

/// A library's machine: code for every parameter.
fn run_out<const SECONDS: u64>(timer: AnyTimer<SECONDS>) -> Result<timer::Status, Duration> {
    let due = timer.deadlines().next().ok_or(Duration::ZERO)?;
    let stopped = timer.fire_deadline(due.trigger).map_err(|_| due.after)?;
    Ok(stopped.status())
}

#[test]
fn runs() {
    let actors = Actors::issue("retry").unwrap();
    deadlines_fire(&actors);
    moves_as_events(&actors);
    guards_refuse(&actors);
    definitions_draw();

    assert_eq!(filled(Buffer::new()).status(), buffer::Status::Full);

    let open: Borrowed<'_, borrowed::Open> = Borrowed::new();
    assert_eq!(open.deadlines().count(), 1);
    assert_eq!(open.keep("it").deadlines().count(), 0);

    let paused: Timer<timer::Paused, 5> = Timer::new().pause();
    assert_eq!(paused.deadlines().next().unwrap().after, Duration::from_secs(5));
    assert_eq!(run_out(paused.into()), Ok(timer::Status::Stopped));
}
