//! Events that arrive at run time follow the same rules as the types.

use machine::{
    contract::{AnyExecution, Execution, execution::Event},
    journal::Fact,
    stored::{Durable, Unverified},
};
use machine_tests::samples::read;
use proptest::prelude::*;

use crate::stored::model::{Who, apply, apply_mut, next};

fn pending() -> AnyExecution {
    Execution::new(read("a.txt")).into()
}

/// The complete state of a machine, including its journal.
fn all_of(machine: &AnyExecution) -> String {
    let claim = Unverified::of(machine as &dyn Durable).unwrap();
    serde_json::to_string(&claim).unwrap()
}

/// Moves one machine with `apply` and another with `apply_mut`, and compares both with the model.
fn walk(steps: Vec<(Event, Who)>) -> Result<(), TestCaseError> {
    let (mut moved, mut in_place) = (pending(), pending());
    let mut status = moved.status();
    for (event, who) in steps {
        let (trigger, before) = (event.trigger(), all_of(&moved));
        let before_in_place = all_of(&in_place);
        let expected = next(status, trigger, who);
        let result = apply(moved, event.clone(), who);
        let result_in_place = apply_mut(&mut in_place, event, who);
        moved = match (result, expected) {
            (Ok(machine), Some(to)) => {
                status = to;
                let last = &machine.journal().uncommitted().last().unwrap().fact;
                prop_assert!(
                    matches!(last, Fact::Moved { trigger: by, .. } if by == trigger),
                    "{last:?}"
                );
                prop_assert_eq!(result_in_place, Ok(()));
                machine
            }
            (Err(refused), None) => {
                prop_assert_eq!(&all_of(&refused.machine), &before);
                prop_assert_eq!(all_of(&in_place), before_in_place);
                let reason = &refused.reason;
                prop_assert_eq!(
                    (reason.state(), reason.trigger()),
                    (&*status.definition().label, trigger)
                );
                prop_assert_eq!(result_in_place, Err(refused.reason));
                refused.machine
            }
            (result, expected) => {
                return Err(TestCaseError::fail(format!(
                    "{status} -{trigger}-> by {who:?}: expected {expected:?}, found {result:?}"
                )));
            }
        };
        prop_assert_eq!(moved.status(), status);
        prop_assert_eq!(in_place.status(), status);
        prop_assert_eq!(
            moved.journal().uncommitted().len(),
            in_place.journal().uncommitted().len()
        );
    }
    Ok(())
}

/// Every event in every state by every actor.
#[test]
fn the_machine_does_what_the_model_says_for_each_pair() {
    let text = || "text".to_owned();
    let ends = [
        Event::Succeed { result: text() },
        Event::Fail { error: text(), refusal: None },
        Event::Reject { reason: text() },
        Event::Suspend { prompt: text() },
        Event::Cancel { reason: text() },
    ];
    let mut paths = vec![vec![], vec![Event::Start]];
    paths.extend(ends.clone().map(|end| vec![Event::Start, end]));
    let others = [Event::Start, Event::Resume, Event::Timeout];
    for path in paths {
        for event in others.iter().chain(&ends) {
            for who in Who::ALL {
                let path = path.iter().map(|event| (event.clone(), Who::Tool));
                walk(path.chain([(event.clone(), who)]).collect()).unwrap();
            }
        }
    }
}
