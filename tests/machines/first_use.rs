//! Machines that new users wrote with two of three fields as copies: a pod, a subscription, a retry
//! that a library exports, and an elevator. Each field is declared once. (The other two are a turn
//! of an agent and the orchestrator.)

use std::{collections::BTreeSet, time::Duration};

use machine::{actor::GraphRunner, machine};
use machine_tests::actors::graph_runner;
use syn::{Item, ItemEnum};

/// A pod on a node.
#[machine(
    fields(node: String, restarts: u32, in = Bound),
    fields(reason: String, in = Failed | Terminating | CrashLoop),
    on(evict(reason) => Terminating, from = Bound | CrashLoop),
    on(delete(reason) => Terminating, from = Pending | CrashLoop | Running)
)]
#[derive(Debug, PartialEq)]
enum Pod {
    #[initial]
    #[on(schedule(node, restarts = 0) => Creating)]
    Pending,

    #[group(Bound)]
    #[on(started => Running)]
    #[on(pull_failed(reason) => CrashLoop)]
    Creating,

    #[group(Bound)]
    #[on(probed => Ready)]
    #[on(crashed(reason) => if restarts < 3 { Creating(restarts = restarts + 1) } else { CrashLoop })]
    Running,

    #[group(Bound)]
    #[on(probe_failed => Running)]
    #[on(finished => Succeeded)]
    Ready,

    #[on(fail => Failed)]
    CrashLoop,

    #[on(ended => Failed)]
    Terminating,

    #[terminal]
    Succeeded,

    #[terminal]
    Failed,
}

/// A subscription with a trial, whose end is in the data.
#[machine(
    fields(plan: String, in = Trial | Paying),
    fields(period_end: u64, in = Paying),
    on(cancel(reason: String) => Cancelled, from = Trial | Paying)
)]
#[derive(Debug, PartialEq)]
enum Subscription {
    #[initial]
    #[on(begin(plan, trial_end) => Trial)]
    New,

    #[on(paid(period_end) => Active)]
    #[on(trial_over => Cancelled, by = GraphRunner, at = trial_end)]
    Trial { trial_end: i64 },

    #[group(Paying)]
    #[on(renew(period_end) => Active)]
    #[on(charge_failed(last_error, retries = 0) => PastDue)]
    Active,

    #[group(Paying)]
    #[on(charge_failed(last_error, retries = retries + 1) => PastDue)]
    #[on(paid(period_end) => Active)]
    #[on(pause => Paused)]
    PastDue { retries: u32, last_error: String },

    #[group(Paying)]
    #[on(resume => Active)]
    Paused,

    #[terminal]
    Cancelled,
}

/// A retry that knows neither what it tries nor how that fails.
#[machine(fields(failures: u32, in = Trying | Waiting), fields(error: E, in = Waiting | Failed))]
#[derive(Debug, PartialEq)]
enum Retry<T, E> {
    #[initial]
    #[on(done(value) => Done)]
    #[on(failed(error) => if failures < 2 { Waiting(failures = failures + 1) } else { Failed })]
    Trying,

    #[on(again => Trying, by = GraphRunner, after = Duration::from_secs(1) * failures)]
    Waiting,

    #[terminal]
    Done { value: T },

    #[terminal]
    Failed,
}

/// An elevator, which also takes a call while it moves.
#[machine(
    fields(floor: u8),
    fields(to: u8, in = Moving | Stopping),
    on(call(to) => Self, from = Moving),
    on(arrive(floor) => Stopping, from = Moving),
    on(alarm => Stuck, from = Moving | Stopping)
)]
#[derive(Debug, PartialEq)]
enum Elevator {
    #[initial]
    #[on(close => Closed)]
    Open,

    #[on(up(to) => Up)]
    #[on(down(to) => Down)]
    #[on(open => Open)]
    Closed,

    #[group(Moving)]
    Up,

    #[group(Moving)]
    Down,

    #[on(stopped => if floor == to { Open } else if floor < to { Up } else { Down })]
    Stopping,

    #[on(repaired => Open)]
    Stuck,
}

/// Reads data in any state of the group.
fn place<S: pod::Bound>(pod: &Pod<S>) -> (&str, u32) {
    (pod.node(), *pod.restarts())
}

/// The fields that a machine declares, for several states or for one; `None` for another enum.
fn declared(item: &ItemEnum) -> Option<Vec<String>> {
    let macro_call = item.attrs.iter().find(|it| it.path().is_ident("machine"))?;
    let options = macro_call.meta.require_list().map(|list| list.tokens.to_string());
    let options: String = options.unwrap_or_default().split_whitespace().collect();
    let shared = options.split("fields(").skip(1).filter_map(|it| it.split(')').next());
    let shared = shared.flat_map(|it| it.split(',')).filter_map(|it| it.split_once(':'));
    let mut names: Vec<String> = shared.map(|(name, _)| name.to_owned()).collect();
    let own = item.variants.iter().flat_map(|it| &it.fields);
    names.extend(own.filter_map(|it| Some(it.ident.as_ref()?.to_string())));
    Some(names)
}

#[test]
fn no_machine_declares_a_field_again() {
    let (mut machines, mut fields) = (0, 0);
    for source in
        [include_str!("first_use.rs"), include_str!("orchestrator.rs"), include_str!("turn.rs")]
    {
        for item in syn::parse_file(source).unwrap().items {
            let Item::Enum(item) = item else { continue };
            let Some(names) = declared(&item) else { continue };
            let distinct: BTreeSet<_> = names.iter().collect();
            assert_eq!(distinct.len(), names.len(), "{}: {names:?}", item.ident);
            machines += 1;
            fields += names.len();
        }
    }
    assert_eq!((machines, fields), (6, 26));
}

#[test]
fn a_pod_restarts_on_its_node() {
    let running = Pod::new().schedule("n1".to_owned()).started();
    let pod::AfterCrashed::Creating(creating) = running.crashed("oom".to_owned()) else {
        panic!("the first crash")
    };
    assert_eq!(place(&creating), ("n1", 1));
    let any = AnyPod::from(creating.evict("the node drains".to_owned()));
    assert_eq!((any.node(), any.reason().map(String::as_str)), (None, Some("the node drains")));
    let failed = Pod::new().delete("not needed".to_owned()).ended();
    assert_eq!(failed.into_parts(), pod::Failed { reason: "not needed".to_owned() });
}

#[test]
fn a_subscription_is_cancelled_while_it_pays_and_before() {
    let trial = || Subscription::new().begin("pro".to_owned(), 1_209_600_000);
    let ends: Vec<_> = trial().deadlines().map(|one| (one.trigger, one.at)).collect();
    assert_eq!(ends, [("trial_over", Some(1_209_600_000))]);
    let past_due =
        trial().paid(30).charge_failed("card".to_owned()).charge_failed("bank".to_owned());
    assert_eq!((past_due.plan().as_str(), past_due.state().retries), ("pro", 1));
    let any = AnySubscription::from(past_due.pause());
    assert_eq!((any.plan().map(String::as_str), any.period_end()), (Some("pro"), Some(&30)));
    let AnySubscription::Paused(paused) = any else { panic!("it is paused") };
    for cancelled in [paused.cancel("too dear".into()), trial().cancel("no use".into())] {
        assert_eq!(cancelled.into_parts(), subscription::Cancelled);
    }
}

#[test]
fn a_retry_gives_up_with_the_last_error() {
    let mut retry: Retry<retry::Trying, u8, &str> = Retry::from(retry::Trying { failures: 0 });
    for (failures, error) in [(1, "busy"), (2, "late")] {
        let retry::AfterFailed::Waiting(waiting) = retry.failed(error) else {
            panic!("{failures}")
        };
        assert_eq!((*waiting.failures(), *waiting.error()), (failures, error));
        retry = waiting.again(graph_runner());
    }
    let any = AnyRetry::from(retry.failed("gone"));
    assert_eq!((any.error(), any.failures()), (Some(&"gone"), None));
}

#[test]
fn an_elevator_takes_a_call_while_it_moves() {
    let stopping = Elevator::new(1).close().up(5).call(3).arrive(3);
    assert_eq!((*stopping.floor(), *stopping.to()), (3, 3));
    let elevator::AfterStopped::Open(open) = stopping.stopped() else { panic!("it is there") };
    assert_eq!(open.into_parts(), elevator::Open { floor: 3 });
    assert_eq!(*Elevator::new(1).close().down(0).alarm().repaired().floor(), 1);
}
