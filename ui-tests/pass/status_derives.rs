//! `status(derive(..))`: derives for the enum of the bare states, such as those that only enums have.

use machine::machine;

mod words {
    pub(super) use serde::Deserialize;
}

#[machine(status(derive(serde::Serialize, self::words::Deserialize)))]
#[derive(Debug, Clone, PartialEq)]
enum Door {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[cfg(not(any()))]
    #[on(close => Closed)]
    Open,
}

#[test]
fn runs() {
    let text = serde_json::to_string(&AnyDoor::from(Door::new().open()).status()).unwrap();
    assert_eq!(text, r#""Open""#);
    assert_eq!(serde_json::from_str::<door::Status>(&text).unwrap(), door::Status::Open);
}
