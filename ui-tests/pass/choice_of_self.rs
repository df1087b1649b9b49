//! `Self` is the state that is left: of one state, of a group, and of a choice.

use machine::machine;

/// A job with two working states.
#[machine(
    on(rename(name) => Self, from = Working),
    on(restart => if failures > 0 { Reading } else { Self }, from = Working),
    on(retry => if failures < 2 { Self(failures = failures + 1) } else { Failed }, from = Working),
)]
#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    #[initial]
    #[group(Working)]
    #[on(next => Writing)]
    #[on(check => if name.is_empty() { Failed } else { Self })]
    #[on(count(failures = failures + 1) => Self)]
    Reading { name: String, failures: u32 },

    #[group(Working)]
    #[on(finish => Done)]
    Writing { name: String, failures: u32 },

    #[terminal]
    Done { name: String },

    #[terminal]
    Failed,
}

fn job() -> Job<job::Reading> {
    Job::new("a".to_owned(), 0)
}

#[test]
fn self_of_one_state_is_that_state() {
    let reading: Job<job::Reading> = job().count().count();
    assert_eq!(reading.state().failures, 2);
}

#[test]
fn self_of_a_group_returns_the_same_state() {
    let reading: Job<job::Reading> = job().rename("b".to_owned());
    let writing: Job<job::Writing> = reading.next().rename("c".to_owned());
    assert_eq!(writing.finish().state().name, "c");
}

#[test]
fn code_for_any_state_of_the_group_gets_the_same_state_back() {
    fn shout<S: job::Working>(job: Job<S>) -> Job<S> {
        job.rename("LOUD".to_owned())
    }
    assert_eq!(shout(job()).next().finish().state().name, "LOUD");
    assert_eq!(shout(job().next()).finish().state().name, "LOUD");
}

#[test]
fn self_in_a_choice_of_one_state_is_a_variant_with_its_name() {
    use job::AfterCheck;

    let AfterCheck::Reading(reading) = job().check() else { panic!("it has a name") };
    assert!(matches!(reading.rename(String::new()).check(), AfterCheck::Failed(_)));
}

#[test]
fn self_in_a_choice_of_a_group_is_the_variant_same() {
    use job::AfterRetry;

    let AfterRetry::Same(reading) = job().retry() else { panic!("the first") };
    let writing: Job<job::Writing> = reading.next();
    let AfterRetry::Same(writing) = writing.retry() else { panic!("the second") };
    assert_eq!(writing.state().failures, 2);
    assert!(matches!(writing.retry(), AfterRetry::Failed(_)));
}

#[test]
fn a_state_by_its_name_and_same_are_two_variants() {
    use job::AfterRestart;

    assert!(matches!(job().restart(), AfterRestart::Same(_)));
    assert!(matches!(job().count().restart(), AfterRestart::Reading(_)));
    let AfterRestart::Same(writing) = job().next().restart() else { panic!("no failures") };
    let writing: Job<job::Writing> = writing;
    assert_eq!(writing.state().failures, 0);
    let AfterRestart::Reading(reading) = job().count().next().restart() else { panic!("failed") };
    assert_eq!(reading.state().failures, 1);
}

#[test]
fn code_for_any_state_of_the_group_can_make_the_choice() {
    use job::AfterRetry;

    fn give_up<S: job::Working>(mut job: Job<S>) -> Job<job::Failed> {
        loop {
            match job.retry() {
                AfterRetry::Same(same) => job = same,
                AfterRetry::Failed(failed) => return failed,
            }
        }
    }
    let _failed = give_up(job());
    let _failed = give_up(job().next());
}

#[test]
fn the_outcome_converts_into_the_erased_machine() {
    assert_eq!(AnyJob::from(job().retry()).status(), job::Status::Reading);
    assert_eq!(AnyJob::from(job().next().retry()).status(), job::Status::Writing);
}

#[test]
fn the_erased_machine_stays_in_its_state() {
    let mut any = AnyJob::from(job().next());
    any.apply_mut(job::Event::Rename { name: "b".to_owned() }).unwrap();
    assert_eq!(any.status(), job::Status::Writing);
    for status in [job::Status::Writing, job::Status::Writing, job::Status::Failed] {
        any.apply_mut(job::Event::Retry).unwrap();
        assert_eq!(any.status(), status);
    }
}
