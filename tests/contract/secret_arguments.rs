//! Secrets in stored arguments, and in those that a newer program reads from them.

use machine::{
    contract::{Contract, Execution, InvalidContract, Irreversible, Planned, Secret},
    view::{ExecutionSnapshot, Internal, Language},
};
use machine_tests::{actors::reasoning_node, tool};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Account {
    user: String,
    password: Secret<String>,
}

tool!(Enter { account: Account } = "accounts", "enter", Irreversible);
tool!(
    EnterAs {
        #[serde(deserialize_with = "joined")]
        account: String
    } = "accounts",
    "enter",
    Irreversible
);

fn joined<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let account = Account::deserialize(from)?;
    Ok(format!("{}:{}", account.user, account.password.expose()))
}

/// A secret is its digest in the error, as in views, also if the newer tool no longer marks it, or
/// makes a text of the object that has it. Digests in an object are as short as others.
#[test]
fn secrets_are_not_in_the_error() {
    let (user, password) = ("bob".to_owned(), Secret::new("correct horse".to_owned()));
    let account = Account { user: user.clone(), password: password.clone() };
    let login = Contract::of(&Login { user, password }, reasoning_node()).unwrap();
    let enter = Contract::of(&Enter { account }, reasoning_node()).unwrap();
    drop(Planned::<Login>::new(login.clone()).unwrap());
    for (contract, refused, argument) in [
        (&login, Planned::<Loud>::new(login.clone()).map(drop), "password"),
        (&login, Planned::<Open>::new(login.clone()).map(drop), "password"),
        (&enter, Planned::<EnterAs>::new(enter.clone()).map(drop), "account"),
    ] {
        let execution = Execution::new(contract.clone()).into();
        let snapshot = ExecutionSnapshot::<Internal>::of(&execution, 0, Language::English);
        let shown = snapshot.action_detail["args"][argument].clone();
        let refused = refused.unwrap_err();
        let text = format!("{refused} {refused:?}").to_lowercase();
        assert!(!text.contains("horse"), "{text}");
        let InvalidContract::OtherArguments { place, stored, read, .. } = refused else {
            panic!("{refused}")
        };
        assert_eq!(&*place, argument);
        assert_eq!(serde_json::from_str::<Value>(&stored).unwrap(), shown);
        assert!(read.starts_with("\"blake3:") && read != stored, "{read}");
    }
}
