//! The bare names of the states (EX-1).

use machine::contract::execution::{DEFINITION, Status};
use proptest::prelude::*;

/// Name, `Display`, JSON and order agree with the definition.
#[test]
fn every_status_goes_there_and_back() {
    assert_eq!(Status::ALL.len(), DEFINITION.states.len());
    for (status, state) in Status::ALL.iter().zip(&*DEFINITION.states) {
        assert_eq!(status.to_string(), state.name);
        assert_eq!(status.as_str(), state.name);
        assert_eq!(status.definition(), state);
        assert_eq!(state.name.parse::<Status>().as_ref(), Ok(status));
        let json = serde_json::to_string(status).unwrap();
        assert_eq!(json, format!("\"{}\"", state.name));
        assert_eq!(serde_json::from_str::<Status>(&json).unwrap(), *status);
    }
    assert!(Status::ALL.is_sorted());
}

/// Format widths work.
#[test]
fn a_status_can_be_padded() {
    assert_eq!(format!("[{:>9}]", Status::Failed), "[   failed]");
}

/// Unknown text is an error that names the states and quotes at most 40 characters.
#[test]
fn unknown_text_is_an_error() {
    let error = "done".parse::<Status>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`done` is not a state of `execution`; the states are pending, running, waiting, completed, \
         failed, rejected, cancelled"
    );
    let long = "é".repeat(100_000).parse::<Status>().unwrap_err().to_string();
    assert!(long.starts_with(&format!("`{}`", "é".repeat(40))), "{} bytes", long.len());
    let json = serde_json::from_str::<Status>("\"RUNNING\"").unwrap_err();
    assert!(json.to_string().contains("`RUNNING` is not a state of `execution`"), "{json}");
}

proptest! {
    /// Only the seven names are statuses.
    #[test]
    fn only_names_are_statuses(text in "\\PC*|[ a-z]{0,12}") {
        let known = DEFINITION.states.iter().any(|state| state.name == text);
        prop_assert_eq!(text.parse::<Status>().is_ok(), known);
    }
}
