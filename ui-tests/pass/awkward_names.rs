//! States can have the names of prelude items.

use machine::machine;

#[machine]
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    #[initial]
    #[on(succeed => Ok)]
    #[on(fail => Err)]
    #[on(give_up => None)]
    Some,
    #[terminal]
    Ok,
    #[terminal]
    Err,
    #[terminal]
    None,
}

#[test]
fn runs() {
    assert_eq!(AnyAnswer::from(Answer::new().fail()).status(), answer::Status::Err);
    assert_eq!("ok".parse::<answer::Status>(), Result::Ok(answer::Status::Ok));
}
