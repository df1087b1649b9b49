//! Legal moves as tools, and tool calls back to moves.

mod choices;

use machine::{
    actor::{Actor, Anyone, Category, ToolNode},
    machine,
    tools::{MoveError, call, definitions},
    view::Topology,
};
use machine_tests::actors::tool_node;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A person who may approve.
#[derive(Debug)]
struct Approver;

impl Actor for Approver {
    const KIND: &'static str = "approver";
    const CATEGORY: Category = Category::Human;
}

/// The recipient of a mail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Recipient {
    address: String,
}

/// A mail before it is sent.
#[machine]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Draft {
    /// Being written.
    #[initial]
    #[on(address(to) => Addressed)]
    Empty,
    /// It has a recipient.
    #[on(address(to) => Addressed)]
    #[on(approve(copies) => Approved, by = Approver)]
    Addressed { to: Recipient },
    /// It may be sent.
    #[on(send => Sent)]
    /// Deletes what was written.
    #[on(withdraw => Empty)]
    Approved { to: Recipient, copies: u8 },
    /// It was sent.
    #[terminal]
    Sent { to: Recipient, copies: u8 },
}

/// Models and people read the doc comment of a transition, too.
#[test]
fn a_transition_has_its_docs() {
    let to = Recipient { address: "bob@example.com".to_owned() };
    let approved = AnyDraft::from(Draft::new().address(to).approve(1, &Approver));
    let tools = definitions(&approved, &Anyone);
    let descriptions: Vec<_> = tools.iter().map(|tool| &*tool.description).collect();
    let expected = [
        "APPROVED to SENT. SENT: It was sent.",
        "APPROVED to EMPTY. Deletes what was written. EMPTY: Being written.",
    ];
    assert_eq!(descriptions, expected);
    let topology = json!(Topology::of(draft::DEFINITION));
    let docs = |trigger: &str| {
        let mut edges = topology["edges"].as_array().unwrap().iter();
        edges.find(|edge| edge["trigger"] == trigger).unwrap().get("docs")
    };
    assert_eq!(docs("withdraw"), Some(&json!("Deletes what was written.")));
    assert_eq!(docs("send"), None);
}

fn empty() -> AnyDraft {
    AnyDraft::from(Draft::new())
}

fn addressed() -> AnyDraft {
    call(empty(), "address", r#"{"to": {"address": "bob@example.com"}}"#, &Anyone).unwrap()
}

/// A tool definition in the form of model APIs: name, description, an object schema.
#[test]
fn a_move_is_a_tool() {
    let tools = definitions(&empty(), &Anyone);
    assert_eq!(tools.len(), 1);
    let tool = serde_json::to_value(&tools[0]).unwrap();
    assert_eq!(tool["name"], "address");
    assert_eq!(tool["description"], "EMPTY to ADDRESSED. ADDRESSED: It has a recipient.");
    let schema = &tool["input_schema"];
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["required"], json!(["to"]));
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema["properties"].get("trigger").is_none());
    assert_eq!(schema["properties"]["to"]["$ref"], "#/$defs/Recipient");
    assert_eq!(schema["$defs"]["Recipient"]["properties"]["address"]["type"], "string");
}

/// An actor is offered only the moves that it may make.
#[test]
fn each_actor_is_offered_its_own() {
    let names = |tools: Vec<machine::tools::ToolDefinition>| -> Vec<String> {
        tools.into_iter().map(|tool| tool.name).collect()
    };
    assert_eq!(names(definitions(&addressed(), &Anyone)), ["address"]);
    assert_eq!(names(definitions(&addressed(), &Approver)), ["address", "approve"]);
}

#[machine]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Job {
    #[initial]
    #[on(run => Done, by = ToolNode)]
    Queued,
    #[terminal]
    Done,
}

/// Not an actor of the library, in spite of its kind.
#[derive(Debug)]
struct Stranger;

impl Actor for Stranger {
    const KIND: &'static str = "tool_node";
    const CATEGORY: Category = Category::Tool;
}

/// An actor with the kind of a library actor is offered nothing of that actor's, and cannot call
/// it.
#[test]
fn a_stranger_is_offered_nothing() {
    let queued = || AnyJob::from(Job::new());
    assert_eq!(definitions(&queued(), tool_node()).len(), 1);
    assert_eq!(definitions(&queued(), &Stranger), []);
    let refused = call(queued(), "run", "{}", &Stranger).unwrap_err();
    assert!(matches!(refused.reason, MoveError::Illegal(_)), "{refused}");
    call(queued(), "run", "{}", tool_node()).unwrap();
}

/// A refusal says what is legal instead, and leaves the machine unchanged.
#[test]
fn a_refusal_says_what_can_be_done() {
    let refused = call(addressed(), "send", "{}", &Approver).unwrap_err();
    assert!(matches!(refused.reason, MoveError::Illegal(_)));
    assert_eq!(
        refused.to_string(),
        "ADDRESSED cannot `send`; from ADDRESSED you can: address -> ADDRESSED, approve -> APPROVED"
    );
    assert_eq!(refused.machine.status(), draft::Status::Addressed);

    let refused = call(addressed(), "approve", r#"{"copies": 1}"#, &Anyone).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`anyone` may not `approve` from ADDRESSED; these may: approver"
    );
    let refused = call(addressed(), "delete_everything", "{}", &Approver).unwrap_err();
    assert!(refused.to_string().starts_with("unknown move `delete_everything`"), "{refused}");
}

/// Arguments that are not JSON, or not those of the move.
#[test]
fn wrong_arguments_are_refused() {
    for (arguments, said) in [
        ("{", "EOF"),
        ("[]", "not a JSON object"),
        ("7", "not a JSON object"),
        ("", "missing field `copies`"),
        (r#"{"copies": 300}"#, "300"),
        (r#"{"copies": "two"}"#, "invalid type"),
    ] {
        let refused = call(addressed(), "approve", arguments, &Approver).unwrap_err();
        assert!(matches!(refused.reason, MoveError::Arguments { .. }), "{arguments}");
        assert!(refused.to_string().contains(said), "{arguments}: {refused}");
        assert_eq!(refused.machine.status(), draft::Status::Addressed);
    }
}

/// An argument cannot select another move.
#[test]
fn an_argument_does_not_name_the_move() {
    let forged = r#"{"trigger": "send", "copies": 1}"#;
    let approved = call(addressed(), "approve", forged, &Approver).unwrap();
    assert_eq!(approved.status(), draft::Status::Approved);
}

proptest! {
    /// A model that calls only what it is offered, with arguments of the schema, never makes an
    /// illegal move.
    #[test]
    fn offered_tools_are_legal_moves(choices in prop::collection::vec((0_usize..4, any::<u8>()), 0..12)) {
        let mut draft = empty();
        for (choice, copies) in choices {
            let offered = definitions(&draft, &Approver);
            if offered.is_empty() {
                prop_assert_eq!(draft.status(), draft::Status::Sent);
                break;
            }
            let tool = &offered[choice % offered.len()];
            let properties = tool.input_schema["properties"].as_object().unwrap();
            let arguments: serde_json::Map<String, Value> = properties
                .keys()
                .map(|name| match name.as_str() {
                    "to" => (name.clone(), json!({"address": "bob@example.com"})),
                    _ => (name.clone(), json!(copies)),
                })
                .collect();
            let arguments = Value::Object(arguments).to_string();
            match call(draft, &tool.name, &arguments, &Approver) {
                Ok(next) => draft = next,
                Err(refused) => return Err(TestCaseError::fail(refused.to_string())),
            }
        }
    }
}
