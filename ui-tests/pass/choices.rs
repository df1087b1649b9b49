//! Choices: one trigger, several targets, decided by data.

use machine::{
    actor::{Actor, Anyone, Category},
    machine,
};

pub struct User;

impl Actor for User {
    const KIND: &'static str = "user";
    const CATEGORY: Category = Category::Human;
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Yes(String),
    No(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    dangerous: bool,
}

#[derive(Debug, PartialEq)]
pub struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it is closed")
    }
}

fn open(_: &order::Awaiting, limit: &u32, _: &Answer) -> Result<(), Closed> {
    if *limit > 0 { Ok(()) } else { Err(Closed) }
}

/// An order.
#[machine(context = u32, on(ping => Self, from = Busy))]
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// Thinks.
    #[initial]
    #[group(Busy)]
    #[on(plan(plan) => if plan.dangerous { Awaiting } else { Executing(scope = "all".to_owned()) })]
    #[on(retry => if failures < *context { Self(failures = failures + 1) } else { Failed })]
    Planning { failures: u32 },

    /// Waits.
    #[group(Busy)]
    #[on(confirm(answer: Answer) => match answer {
        Answer::Yes(scope) => Executing(scope),
        Answer::No(why) if why.is_empty() => Failed,
        Answer::No(why) => Summarizing(blocked = Some(why)),
    }, by = User, guard = open -> Closed)]
    #[on(replace(plan) => if source.plan.dangerous && failures > 2 { Failed } else { Self })]
    Awaiting { failures: u32, plan: Plan },

    #[on(done => Summarizing(blocked = None))]
    Executing { plan: Plan, scope: String },

    #[terminal]
    Summarizing { blocked: Option<String> },

    #[terminal]
    Failed,
}

fn main() {
    use order::{AfterConfirm, AfterPlan, AfterReplace, AfterRetry};

    let planning = Order::new(2, 0).ping();
    let AfterRetry::Planning(planning) = planning.retry() else { panic!() };
    let AfterRetry::Planning(planning) = planning.retry() else { panic!() };
    assert_eq!(planning.state().failures, 2);
    assert!(matches!(planning.retry(), AfterRetry::Failed(_)));

    let plan = |dangerous| Plan { dangerous };
    let AfterPlan::Executing(executing) = Order::new(2, 0).plan(plan(false)) else { panic!() };
    assert_eq!(executing.done().state().blocked, None);
    let AfterPlan::Awaiting(awaiting) = Order::new(2, 3).plan(plan(true)) else { panic!() };
    let any: AnyOrder = awaiting.replace(plan(false)).into();
    assert_eq!(any.status(), order::Status::Failed);

    let AfterPlan::Awaiting(awaiting) = Order::new(2, 0).plan(plan(true)) else { panic!() };
    let AfterReplace::Awaiting(awaiting) = awaiting.replace(plan(false)) else { panic!() };
    assert!(!awaiting.state().plan.dangerous);
    let no = Answer::No("too much".to_owned());
    match awaiting.confirm(no, &User).unwrap() {
        AfterConfirm::Summarizing(end) => assert_eq!(end.state().blocked.as_deref(), Some("too much")),
        other => panic!("{other:?}"),
    }

    // Erased, the same.
    let mut any = AnyOrder::from(Order::new(2, 0));
    any.apply_mut(order::Event::Plan { plan: plan(true) }, &Anyone).unwrap();
    let moves: Vec<String> = any.available(&User).map(|legal| legal.to_string()).collect();
    assert_eq!(
        moves,
        [
            "confirm -> EXECUTING or FAILED or SUMMARIZING",
            "replace -> FAILED or AWAITING",
            "ping -> AWAITING"
        ]
    );
    any.apply_mut(order::Event::Confirm { answer: Answer::Yes("it".to_owned()) }, &User).unwrap();
    assert_eq!(any.status(), order::Status::Executing);

    let edges: Vec<String> =
        order::DEFINITION.leaving(1).map(|edge| edge.label().to_string()).collect();
    assert_eq!(
        edges,
        [
            "confirm [answer is Answer::Yes(scope)]",
            "confirm [answer is Answer::No(why) and why.is_empty()]",
            "confirm [answer is Answer::No(why)]",
            "replace [source.plan.dangerous && failures > 2]",
            "replace [else]",
            "ping",
        ]
    );
}
