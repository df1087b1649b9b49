//! A plain machine names its deadlines, and the program fires them.

use std::{fmt, time::Duration};

use machine::{
    actor::{Actor, Category},
    machine,
    typed::{Deadline, Reason},
};

pub struct Timer;

impl Actor for Timer {
    const KIND: &'static str = "timer";
    const CATEGORY: Category = Category::System;
}

#[derive(Debug)]
pub struct Limits {
    step: Duration,
    whole: Option<Duration>,
    locked: bool,
}

#[derive(Debug, PartialEq)]
pub struct Locked;

impl fmt::Display for Locked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is locked")
    }
}

fn unlocked<S>(_: &S, limits: &Limits) -> Result<(), Locked> {
    if limits.locked { Err(Locked) } else { Ok(()) }
}

/// A job with a limit for each step, and one for all of them.
#[machine(
    context = Limits,
    on(
        expire(reason = format!("{status} took too long")) => Stopped,
        from = Working,
        by = Timer,
        after = context.whole,
        guard = unlocked -> Locked,
    ),
)]
#[derive(Debug)]
pub enum Job {
    #[initial]
    #[on(start(tries = 0) => Reading)]
    Idle,

    #[group(Working)]
    #[on(next => Writing)]
    #[on(
        step_timeout => if source.tries < 1 { Reading(tries = source.tries + 1) } else { Idle },
        by = Timer,
        after = context.step * (source.tries + 1),
    )]
    Reading { tries: u32 },

    #[group(Working)]
    #[on(flush => Idle, by = Timer, after = Duration::from_secs(u64::from(tries)))]
    Writing { tries: u32 },

    #[terminal]
    Stopped { reason: String },
}

fn reading(whole: Option<u64>, locked: bool) -> Job<job::Reading> {
    let whole = whole.map(Duration::from_secs);
    Job::new(Limits { step: Duration::from_secs(5), whole, locked }).start()
}

fn listed(deadlines: impl Iterator<Item = Deadline>) -> Vec<(&'static str, u64)> {
    deadlines.map(|deadline| (deadline.trigger, deadline.after.as_secs())).collect()
}

#[test]
fn a_typed_machine_lists_the_deadlines_of_its_state_and_its_groups() {
    let reading = reading(Some(60), false);
    assert_eq!(listed(reading.deadlines()), [("step_timeout", 5), ("expire", 60)]);
    assert_eq!(listed(reading.next().deadlines()), [("flush", 0), ("expire", 60)]);
}

#[test]
fn an_erased_machine_lists_the_same() {
    let any = AnyJob::from(reading(Some(60), false));
    assert_eq!(listed(any.deadlines()), [("step_timeout", 5), ("expire", 60)]);
}

#[test]
fn none_is_no_deadline() {
    assert_eq!(listed(reading(None, false).deadlines()), [("step_timeout", 5)]);
}

/// A ticket with a last day.
#[machine]
#[derive(Debug)]
pub enum Ticket {
    #[initial]
    #[on(lapse => Lapsed, by = Timer, at = until.checked_mul(1_000))]
    Valid { until: i64 },

    #[terminal]
    Lapsed,
}

#[test]
fn a_deadline_can_be_a_point_in_time() {
    let ticket = Ticket::new(1_700);
    let deadline = ticket.deadlines().next().unwrap();
    let expected = ("lapse", Duration::ZERO, Some(1_700_000));
    assert_eq!((deadline.trigger, deadline.after, deadline.at), expected);
    let any = AnyTicket::from(ticket).fire_deadline("lapse").unwrap();
    assert_eq!(any.status(), ticket::Status::Lapsed);
    assert_eq!(Ticket::new(i64::MAX).deadlines().count(), 0);
}

/// A pass that is checked at a later time each time.
#[machine]
#[derive(Debug)]
pub enum Pass {
    #[initial]
    #[on(check(until = until + 1) => Valid, by = Timer, at = until)]
    #[on(revoke => Revoked)]
    Valid { until: i64 },

    #[terminal]
    Revoked,
}

#[test]
fn a_point_in_time_may_move_on() {
    let pass = Pass::new(7).check(&Timer);
    assert_eq!(pass.deadlines().next().unwrap().at, Some(8));
    assert_eq!(AnyPass::from(pass.revoke()).status(), pass::Status::Revoked);
}

#[test]
fn a_state_without_deadlines_lists_none() {
    let any = AnyJob::from(reading(None, false).next().flush(&Timer));
    assert_eq!(any.deadlines().count(), 0);
}

#[test]
fn a_deadline_fires_as_a_transition() {
    let any = AnyJob::from(reading(Some(60), false)).fire_deadline("expire").unwrap();
    let AnyJob::Stopped(stopped) = any else { panic!("{any:?}") };
    assert_eq!(stopped.state().reason, "reading took too long");
}

#[test]
fn a_deadline_can_lead_to_a_choice() {
    let any = AnyJob::from(reading(None, false)).fire_deadline("step_timeout").unwrap();
    assert_eq!(listed(any.deadlines()), [("step_timeout", 10)], "the data are those of the entry");
    let any = any.fire_deadline("step_timeout").unwrap();
    assert_eq!(any.status(), job::Status::Idle);
}

#[test]
fn a_state_without_the_deadline_refuses() {
    let any = AnyJob::from(reading(None, false).next());
    let refused = any.fire_deadline("step_timeout").unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::NoDeadline);
    assert_eq!(refused.machine.status(), job::Status::Writing);
    let refused = refused.machine.fire_deadline("next").unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::NoDeadline, "not every trigger is a deadline");
}

#[test]
fn a_guard_can_refuse_a_deadline() {
    let refused = AnyJob::from(reading(Some(60), true)).fire_deadline("expire").unwrap_err();
    assert_eq!(refused.reason.reason(), &Reason::DueButRefused("it is locked".to_owned()));
    assert_eq!(refused.machine.status(), job::Status::Reading);
}

#[test]
fn the_actor_can_make_the_transition_earlier() {
    let stopped = reading(Some(60), false).next().expire(&Timer).unwrap();
    assert_eq!(stopped.state().reason, "writing took too long");
    let any = AnyJob::from(reading(Some(60), false));
    let any = any.apply(job::Event::Expire, &Timer).unwrap();
    assert_eq!(any.status(), job::Status::Stopped);
}
