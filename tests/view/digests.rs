//! Secret arguments in views (OB-14): every audience, in every view, sees their digests.

use std::collections::BTreeMap;

use machine::contract::{Call, Perform, Secret};
use machine_tests::tool;
use proptest::prelude::*;

use crate::view::{
    prelude::*,
    secrets::{Shown, secret},
};

/// Sets passwords.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SetPasswords {
    user: String,
    password: Secret<String>,
    older: Vec<Secret<Value>>,
    tokens: BTreeMap<String, Secret<u64>>,
}

impl Tool for SetPasswords {
    const SERVICE: &'static str = "accounts";
    const METHOD: &'static str = "set_passwords";
    type Effect = Irreversible;
    type Receipt = String;
    type Refusal = String;

    fn subject(&self, _: &str) -> Option<String> {
        Some(self.user.clone())
    }

    fn identity(&self) -> Option<Value> {
        // It repeats a secret.
        Some(json!({ "user": self.user, "password": self.password }))
    }
}

/// Echoes the request.
struct Accounts;

impl Perform<SetPasswords> for Accounts {
    async fn perform(&self, call: &Call<SetPasswords>) -> Answer {
        let got = &call.arguments;
        assert!(!format!("{call:?}").contains(got.password.expose()), "{call:?}");
        Ok(Applied::new(format!("{} characters", got.password.expose().len())))
    }
}

fn tool(seed: u64) -> SetPasswords {
    SetPasswords {
        user: "bob".to_owned(),
        password: Secret::new(secret(seed, "password")),
        older: vec![
            Secret::new(json!({ "was": secret(seed, "object") })),
            Secret::new(json!([secret(seed, "list")])),
        ],
        tokens: [("a/b~c".to_owned(), Secret::new(seed | 1 << 60))].into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn no_view_has_a_secret(seed: u64, answered: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let store = Store::memory();
            let contract = Contract::of(&tool(seed), reasoning_node()).unwrap().session("s");
            let (mut gate, mut planned) = contract.ask::<SetPasswords>(None, ecs_node()).unwrap();
            store.ask(&mut gate, &mut planned).await.unwrap();
            let (gate_id, planned_id) = (gate.id(), planned.id());
            let whole = gate.whole_question().unwrap().text;
            assert!(whole.contains("password: \"blake3:"), "{whole}");
            let mut shown = whole + gate.question();
            if answered {
                approve(&store, gate, ann()).await.unwrap();
                let settled = store.perform(planned, Accounts, tool_node()).await.unwrap();
                let Settled::Completed(done) = settled else { panic!("{settled:?}") };
                let length = secret(seed, "password").len();
                assert_eq!(done.state().result, format!("{length} characters"));
            }
            let ids = [gate_id, planned_id];
            shown += &Shown::of::<Human>(&store, &ids, "s", true).await.text;
            shown += &Shown::of::<Diagnostic>(&store, &ids, "s", true).await.text;
            shown += &Shown::of::<Internal>(&store, &ids, "s", true).await.text;
            let loaded = [load(&store, gate_id).await, load(&store, planned_id).await];
            let debug = format!("{loaded:?}");
            shown += &debug;
            for place in ["password", "object", "list"] {
                assert!(!shown.contains(&secret(seed, place)), "{place} is shown");
            }
            assert!(!shown.contains(&(seed | 1 << 60).to_string()), "the token is shown");
            // Arguments that are not secret are shown.
            assert!(shown.contains("accounts.set_passwords → bob"));
        });
    }
}

/// An approval is for the real value: the action with another secret is another action, and has
/// another key.
#[test]
fn an_approval_covers_the_value() {
    let of = |seed| Contract::of(&tool(seed), reasoning_node()).unwrap();
    assert_ne!(of(1).action().digest(), of(2).action().digest());
    assert_ne!(of(1).idempotency_key(), of(2).idempotency_key());
    let question = |seed| {
        let (gate, _) = of(seed).ask::<Action>(None, ecs_node()).unwrap();
        gate.question().to_owned()
    };
    assert_ne!(question(1), question(2));
    assert_eq!(question(1), question(1));
    let read: Planned<SetPasswords> = Planned::new(of(7)).unwrap();
    assert_eq!(read.arguments(), &tool(7));
}

/// A tool that is known at run time only has secrets, too; its templates show digests.
#[test]
fn a_tool_known_at_run_time_has_secrets() {
    let spec = ToolSpec::irreversible("accounts", "set").unwrap();
    let spec = spec.secret("password").secret("missing").template("", "{user} {password}");
    let arguments = r#"{"user": "bob", "password": {"value": "s3cr3t"}}"#;
    let contract = Contract::tool_call(&spec, arguments, reasoning_node()).unwrap();
    assert!(contract.summary().starts_with("accounts.set → bob blake3:"), "{}", contract.summary());
    assert_eq!(contract.action().arguments().unwrap()["password"]["value"], "s3cr3t");
    let (gate, _) = contract.clone().ask::<Action>(None, ecs_node()).unwrap();
    assert!(!gate.question().contains("s3cr3t"), "{}", gate.question());
    assert!(!format!("{contract:?}").contains("s3cr3t"), "{contract:?}");
    // A mark without its argument is refused.
    let forged = json!({
        "service": "a", "method": "b", "args": { "c": 1 }, "secrets": ["/d"],
    });
    let Value::Object(detail) = forged else { unreachable!() };
    let refused = Action::new(ActionType::ToolCall, detail).unwrap_err();
    assert!(refused.to_string().contains("`secrets` name a path"), "{refused}");
}

/// A secret that is the name of an entry cannot be hidden, so it is refused.
#[test]
fn a_secret_name_is_refused() {
    tool!(Named { of: BTreeMap<Secret<String>, u8> } = "a", "b", Irreversible);
    let named = Named { of: [(Secret::new("s3cr3t".to_owned()), 1)].into() };
    let refused = Contract::of(&named, reasoning_node()).unwrap_err().to_string();
    assert!(refused.contains("make it the value of a field"), "{refused}");
    assert!(!refused.contains("s3cr3t"), "{refused}");
}
