//! A choice is one tool: the model supplies the data, and the data select the branch.

use std::{collections::BTreeSet, time::Duration};

use machine::{
    actor::{Actor, Anyone, Category},
    machine,
    tools::{MoveError, ToolDefinition, call, definitions},
};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tools::Approver;

/// Closes forgotten reports.
#[derive(Debug)]
struct Janitor;

impl Actor for Janitor {
    const KIND: &'static str = "janitor";
    const CATEGORY: Category = Category::System;
}

/// An approver's decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    /// The amount.
    Grant(u32),
    /// The reason.
    Deny(String),
    /// The question.
    AskBack(String),
}

fn is_within_limit(_: &expense::Submitted, verdict: &Verdict) -> Result<(), String> {
    if matches!(verdict, Verdict::Grant(1001..)) {
        Err("more than 1000 needs two approvers".to_owned())
    } else {
        Ok(())
    }
}

/// An expense report.
#[machine]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Expense {
    /// Being written.
    #[initial]
    #[on(submit(amount) => if amount < 20 { Paid(amount) } else { Submitted(amount, questions = 0) })]
    Draft,

    /// An approver reads it.
    #[on(decide(verdict: Verdict) => match verdict {
        Verdict::Grant(granted) => Paid(amount = granted.min(amount)),
        Verdict::AskBack(_) if questions < 2 => Self(questions = questions + 1),
        Verdict::AskBack(reason) | Verdict::Deny(reason) => Refused(reason),
    }, by = Approver, guard = is_within_limit -> String)]
    #[on(forget(reason = "not decided".to_owned()) => Refused, by = Janitor,
         after = Duration::from_hours(24))]
    Submitted { amount: u32, questions: u8 },

    /// The money is on its way.
    #[terminal]
    Paid { amount: u32 },

    #[terminal]
    Refused { reason: String },
}

fn draft() -> AnyExpense {
    AnyExpense::from(Expense::new())
}

fn submitted() -> AnyExpense {
    call(draft(), "submit", r#"{"amount": 900}"#, &Anyone).unwrap()
}

fn decide(expense: AnyExpense, verdict: &Value) -> AnyExpense {
    call(expense, "decide", &json!({ "verdict": verdict }).to_string(), &Approver).unwrap()
}

fn names(tools: &[ToolDefinition]) -> Vec<&str> {
    tools.iter().map(|tool| &*tool.name).collect()
}

#[test]
fn a_choice_is_offered_as_one_tool() {
    let tools = definitions(&draft(), &Anyone);
    assert_eq!(names(&tools), ["submit"]);
    assert_eq!(
        tools[0].description,
        "DRAFT to PAID or SUBMITTED. PAID when: amount < 20. PAID: The money is on its way. \
         SUBMITTED when: else. SUBMITTED: An approver reads it."
    );
    assert_eq!(tools[0].input_schema["required"], json!(["amount"]));

    let tools = definitions(&submitted(), &Approver);
    assert_eq!(names(&tools), ["decide"]);
    assert_eq!(
        tools[0].description,
        "SUBMITTED to PAID or SUBMITTED or REFUSED. PAID when: verdict is \
         Verdict::Grant(granted). PAID: The money is on its way. SUBMITTED when: verdict is \
         Verdict::AskBack(_) and questions < 2. SUBMITTED: An approver reads it. REFUSED when: \
         verdict is Verdict::AskBack(reason) | Verdict::Deny(reason)."
    );
    let schema = &tools[0].input_schema;
    assert_eq!(schema["properties"]["verdict"]["$ref"], "#/$defs/Verdict");
    assert_eq!(schema["$defs"]["Verdict"]["oneOf"].as_array().unwrap().len(), 3);
    assert_eq!(schema["additionalProperties"], false);
}

/// The move of a deadline is offered only to the actor that it fires as.
#[test]
fn a_deadline_is_offered_to_its_actor_only() {
    assert_eq!(names(&definitions(&submitted(), &Anyone)), Vec::<&str>::new());
    let tools = definitions(&submitted(), &Janitor);
    assert_eq!(names(&tools), ["forget"]);
    assert_eq!(tools[0].input_schema["properties"], json!({}));
    let refused = call(submitted(), "forget", "{}", &Janitor).unwrap();
    let AnyExpense::Refused(refused) = refused else { panic!("{refused:?}") };
    assert_eq!(refused.state().reason, "not decided");
}

#[test]
fn the_data_of_a_call_select_the_branch() {
    let paid = call(draft(), "submit", r#"{"amount": 19}"#, &Anyone).unwrap();
    let AnyExpense::Paid(paid) = paid else { panic!("{paid:?}") };
    assert_eq!(paid.state().amount, 19);
    assert_eq!(submitted().status(), expense::Status::Submitted);

    let AnyExpense::Paid(paid) = decide(submitted(), &json!({"grant": 1000})) else {
        panic!("it was granted")
    };
    assert_eq!(paid.state().amount, 900, "no more than was asked for");

    let question = json!({"ask_back": "what for?"});
    let mut expense = submitted();
    for asked in 1..=2 {
        expense = decide(expense, &question);
        let AnyExpense::Submitted(submitted) = &expense else { panic!("{expense:?}") };
        assert_eq!(submitted.state().questions, asked);
    }
    let AnyExpense::Refused(refused) = decide(expense, &question) else { panic!("once too often") };
    assert_eq!(refused.state().reason, "what for?");
}

#[test]
fn a_call_that_is_refused_leaves_the_machine_as_it_was() {
    for (arguments, said) in [
        (r#"{"verdict": {"grant": 1001}}"#, "more than 1000 needs two approvers"),
        (r#"{"verdict": {"burn": 1}}"#, "unknown variant `burn`"),
        (r#"{"verdict": "grant"}"#, "newtype variant"),
        (r#"{"verdict": {"grant": 1, "deny": "x"}}"#, "expected map with a single key"),
        ("{}", "missing field `verdict`"),
    ] {
        let refused = call(submitted(), "decide", arguments, &Approver).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains(said), "{arguments}: {text}");
        let by_guard = matches!(refused.reason, MoveError::Illegal(_));
        assert_eq!(by_guard, said.ends_with("approvers"), "{text}");
        let AnyExpense::Submitted(submitted) = refused.machine else { panic!("{arguments}") };
        assert_eq!(submitted.state(), &expense::Submitted { amount: 900, questions: 0 });
    }
    let refused = call(draft(), "decide", r#"{"verdict": {"grant": 1}}"#, &Approver).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "DRAFT cannot `decide`; from DRAFT you can: submit -> PAID or SUBMITTED"
    );
}

fn verdict() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0_u32..2000).prop_map(|amount| json!({ "grant": amount })),
        "[a-z ]{0,8}".prop_map(|reason| json!({ "deny": reason })),
        "[a-z ]{0,8}".prop_map(|question| json!({ "ask_back": question })),
    ]
}

proptest! {
    /// A call that fits the schema reaches a state that the description names, or the guard
    /// refuses.
    #[test]
    fn a_call_leads_where_the_description_says(
        amount in 0_u32..40,
        verdicts in prop::collection::vec(verdict(), 0..6),
    ) {
        let arguments = [json!({ "amount": amount })];
        let verdicts = verdicts.into_iter().map(|verdict| json!({ "verdict": verdict }));
        let mut expense = draft();
        for arguments in arguments.into_iter().chain(verdicts) {
            let tools = definitions(&expense, &Approver);
            let tool_names: BTreeSet<&str> = names(&tools).into_iter().collect();
            prop_assert_eq!(tool_names.len(), tools.len(), "each move is one tool");
            let Some(tool) = tools.first() else { break };
            match call(expense, &tool.name, &arguments.to_string(), &Approver) {
                Ok(next) => {
                    let label = &expense::DEFINITION.states[next.status() as usize].label;
                    let named = format!("{label} when: ");
                    prop_assert!(tool.description.contains(&named), "{} reached", label);
                    expense = next;
                }
                Err(refused) => {
                    let text = refused.to_string();
                    prop_assert!(text.contains("more than 1000"), "{}", text);
                    expense = refused.machine;
                }
            }
        }
    }
}
