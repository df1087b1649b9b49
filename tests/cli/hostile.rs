//! Text from outside cannot forge what people read.

use machine::contract::{Contract, ToolSpec};
use machine_tests::actors::reasoning_node;
use serde_json::json;

use crate::surfaces::{Place, Ran};

const HOSTILE: &str =
    "x\u{1b}[2J\n[SUCCESS] │ forged\r\n────┼────\n\u{202e}evil\u{9b}2J\u{2028}[IN_DOUBT]";

fn assert_harmless(ran: &Ran) {
    for text in [&ran.out, &ran.err] {
        for character in text.chars().filter(|it| *it != '\n') {
            assert!(
                !character.is_control() && !matches!(character, '\u{202e}' | '\u{2028}'),
                "{character:?} in {ran:?}"
            );
        }
        assert!(!text.lines().any(|line| line.trim_start().starts_with("[SUCCESS]")), "{ran:?}");
        // The label of another line is escaped.
        let text = text.replace("\\[", "");
        assert!(!text.contains("[IN_DOUBT]"), "{ran:?}");
    }
}

/// What is wrong with an argument is said without its invisible characters.
#[tokio::test]
async fn a_wrong_argument_cannot_break_out() {
    let place = Place::new().await;
    let id = place.order().await.to_string();
    for (arguments, says) in [
        (&["cancel", &id, "--as", HOSTILE][..], r"\u{1b}[2J\n"),
        (&["cancel", &id, "--as", "ann\u{202e}"], r"ann\u{202e}"),
        (&["list", "--limit", HOSTILE], r"\u{1b}[2J\n"),
        (&["list", "--release", HOSTILE], r"\u{1b}[2J\n"),
        (&["list", "--x\u{202e}"], r"--x\u{202e}"),
        (&["list", HOSTILE], r"\u{1b}[2J\n"),
        (&[HOSTILE], r"\u{1b}[2J\n"),
    ] {
        let ran = place.run(arguments);
        ran.failed(2, says);
        assert_harmless(&ran.without_labels());
    }
    place.run(&["--help"]).shows(&["Usage: machine", "Exit codes"]);
}

#[tokio::test]
async fn hostile_text_cannot_break_out() {
    let place = Place::new().await;
    let contract = Contract::ecs_request(HOSTILE, reasoning_node()).unwrap();
    let question = place.question_of(contract.about(HOSTILE).session(HOSTILE)).await.to_string();
    let tool = ToolSpec::irreversible("email", "send").unwrap();
    let arguments = json!({ "to": HOSTILE, HOSTILE: 1 }).to_string();
    let mail = Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap().about(HOSTILE);
    let gate = place.gate_of(mail).await.0.id().to_string();
    let id = place.order().await.to_string();
    let payload = json!({ "amount": 3, "note": HOSTILE }).to_string();
    place.run(&["send", &id, "confirm", "--as", "ann", "--payload", &payload]).done();
    for audience in ["human", "diagnostic", "internal"] {
        for more in [&[][..], &["--json"]] {
            for arguments in [
                &["list"][..],
                &["show", &question],
                &["show", &gate],
                &["show", &id],
                &["timeline", &question],
                &["timeline", &gate],
                &["timeline", "--session", HOSTILE],
            ] {
                let all = [arguments, &["--audience", audience], more].concat();
                let ran = place.run(&all);
                ran.done();
                // Braces and quotation marks of JSON cannot be forged.
                if more.is_empty() {
                    assert_harmless(&ran);
                    // A border means nothing where there is no table.
                    let is_table = matches!(arguments[0], "list" | "timeline");
                    let headed = ran.out.lines().next().is_some_and(|line| line.contains("forged"));
                    assert!(!is_table || headed || !ran.out.contains("│ forged"), "{ran:?}");
                } else {
                    assert!(!ran.out.trim_end().chars().any(char::is_control), "{ran:?}");
                    assert!(!ran.out.contains('\u{202e}'), "{ran:?}");
                }
            }
        }
    }
    assert_harmless(&place.run(&["prompt", "--session", HOSTILE, "--limit", "1"]).without_labels());
    for arguments in [
        &["approve", &*gate, "--as", "ann"][..],
        &["decline", &gate, "--as", "ann", "--yes", "--reason", HOSTILE],
        &["approve", &gate, "--as", "ann", "--yes"],
        &["cancel", &question, "--as", "ann", "--reason", HOSTILE],
        &["approve", &question, "--as", "ann", "--yes"],
        &["show", HOSTILE],
        &["send", &id, HOSTILE, "--as", "ann"],
        &["send", &id, "confirm", "--as", "ann", "--correlation", HOSTILE, "--payload", &payload],
        &["requeue", &id, "--as", "ann", "--message", HOSTILE],
        &["topology", HOSTILE],
    ] {
        let ran = place.run(arguments);
        if !arguments.contains(&"--yes") && arguments[0] == "approve" {
            assert_eq!(ran.code, 2, "{ran:?}");
        }
        assert_harmless(&ran);
    }
    assert_harmless(&place.run(&["show", &question]));
}

impl Ran {
    /// The lines of a prompt begin with labels.
    fn without_labels(mut self) -> Self {
        self.out = self.out.replace("[WAITING] ", "").replace("[CANCELLED] ", "");
        self
    }
}
