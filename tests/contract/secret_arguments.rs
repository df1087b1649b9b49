//! Secrets in stored arguments, and in those that a newer program reads from them.

use std::collections::BTreeMap;

use machine::contract::{Contract, InvalidContract, Irreversible, Planned, Secret};
use machine_tests::{actors::reasoning_node, assert_err, tool};
use serde::{Deserialize, Deserializer, de::IgnoredAny};

tool!(Login { user: String, password: Secret<String> } = "accounts", "login", Irreversible);
tool!(
    Loud { user: String, #[serde(deserialize_with = "loud")] password: Secret<String> } = "accounts",
    "login",
    Irreversible
);
tool!(
    Open {
        user: String,
        #[serde(deserialize_with = "open")]
        password: String
    } = "accounts",
    "login",
    Irreversible
);

fn open<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(String::deserialize(from)?.to_uppercase())
}

fn loud<'de, D: Deserializer<'de>>(from: D) -> Result<Secret<String>, D::Error> {
    open(from).map(Secret::new)
}

tool!(Fill { keys: Secret<BTreeMap<String, u8>> } = "vault", "fill", Irreversible);
tool!(
    FillNone {
        #[serde(deserialize_with = "none")]
        keys: Secret<BTreeMap<String, u8>>
    } = "vault",
    "fill",
    Irreversible
);

fn none<'de, D: Deserializer<'de>>(from: D) -> Result<Secret<BTreeMap<String, u8>>, D::Error> {
    IgnoredAny::deserialize(from)?;
    Ok(Secret::new(BTreeMap::new()))
}

/// Neither the value nor a name in a secret is in the error, also if the newer tool no longer marks
/// it.
#[test]
fn secrets_are_not_in_the_error() {
    let (user, password) = ("bob".to_owned(), Secret::new("correct horse".to_owned()));
    let keys = Secret::new(BTreeMap::from([("correct horse".to_owned(), 1)]));
    let login = Contract::of(&Login { user, password }, reasoning_node()).unwrap();
    let fill = Contract::of(&Fill { keys }, reasoning_node()).unwrap();
    drop(Planned::<Login>::new(login.clone()).unwrap());
    for (refused, argument) in [
        (Planned::<Loud>::new(login.clone()).map(drop), "password"),
        (Planned::<Open>::new(login).map(drop), "password"),
        (Planned::<FillNone>::new(fill).map(drop), "keys"),
    ] {
        assert_err!(refused, InvalidContract::OtherArguments { place, .. } if place == argument);
        let text = format!("{refused:?} {}", refused.as_ref().unwrap_err()).to_lowercase();
        assert!(!text.contains("horse"), "{text}");
    }
}
