//! Events as JSON.

use machine::{contract::execution::Event, machine};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// An event is an object with the trigger's name and the payload.
#[test]
fn an_event_is_its_trigger_and_its_payload() {
    let text = || "x".to_owned();
    for (event, form) in [
        (Event::Start, json!({ "trigger": "start" })),
        (Event::Succeed { result: text() }, json!({ "trigger": "succeed", "result": "x" })),
        (
            Event::Fail { error: text(), refusal: None },
            json!({ "trigger": "fail", "error": "x", "refusal": null }),
        ),
        (Event::Reject { reason: text() }, json!({ "trigger": "reject", "reason": "x" })),
        (Event::Suspend { prompt: text() }, json!({ "trigger": "suspend", "prompt": "x" })),
        (Event::Cancel { reason: text() }, json!({ "trigger": "cancel", "reason": "x" })),
        (Event::Resume, json!({ "trigger": "resume" })),
        (Event::Timeout, json!({ "trigger": "timeout" })),
    ] {
        assert_eq!(form["trigger"], event.trigger());
        assert_eq!(serde_json::to_value(&event).unwrap(), form);
        assert_eq!(serde_json::from_value::<Event>(form).unwrap(), event);
    }
}

/// Unknown triggers and wrong payloads are errors.
#[test]
fn other_json_is_no_event() {
    for json in [
        r#"{"trigger":"explode"}"#,
        r#"{"trigger":"succeed"}"#,
        r#"{"trigger":"succeed","result":1}"#,
        r#"{"result":"x"}"#,
        r#""start""#,
        "null",
    ] {
        assert!(serde_json::from_str::<Event>(json).is_err(), "{json}");
    }
}

#[machine]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Rocket {
    #[initial]
    #[on(fire_stage_2 => Gone)]
    #[on(r#abort => Gone)]
    Ready,
    #[terminal]
    Gone,
}

/// The JSON uses the trigger name of the definition and the journal, also if it ends in a digit.
#[test]
fn the_json_names_the_trigger_as_it_is_written() {
    for event in [rocket::Event::FireStage2, rocket::Event::Abort] {
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(json["trigger"], event.trigger());
    }
}
