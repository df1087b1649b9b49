//! Tools as types: what a contract takes from a value of one, and what is read back from it.

use std::time::Duration;

use machine::{
    contract::{
        Callable, Contract, Effect, Execution, InvalidContract, Irreversible, Planned, Tool,
        ToolSpec,
    },
    view::Language,
};
use machine_tests::{
    actors::{graph_runner, reasoning_node, tool_node},
    assert_err,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SendMail {
    to: String,
    #[serde(default)]
    at: u64,
}

impl Tool for SendMail {
    const SERVICE: &'static str = "email";
    const METHOD: &'static str = "send";
    type Effect = Irreversible;
    type Receipt = u16;
    type Refusal = String;
    const TIMEOUT: Option<Duration> = Some(Duration::from_secs(5));
    const SETTLING_TIME: Duration = Duration::from_mins(10);
    const LANGUAGES: &'static [&'static str] = &["zh"];

    fn subject(&self, language: &str) -> Option<String> {
        match language {
            "zh" => Some(format!("给{}的邮件", self.to)),
            _ => Some(self.to.clone()),
        }
    }

    /// When it is sent does not make it another mail.
    fn identity(&self) -> Option<Value> {
        Some(json!({ "to": self.to }))
    }
}

fn mail(to: &str, at: u64) -> SendMail {
    SendMail { to: to.to_owned(), at }
}

pub(super) fn of<T: Tool>(tool: &T) -> Result<Contract, InvalidContract> {
    Contract::of(tool, reasoning_node())
}

/// The value, the constants and the functions of the type, and nothing else.
#[test]
fn a_contract_is_made_from_a_value() {
    let contract = of(&mail("bob", 7)).unwrap();
    let detail = json!({
        "service": "email", "method": "send",
        "args": { "to": "bob", "at": 7 }, "identity": { "to": "bob" },
    });
    assert_eq!(&json!(contract.action().detail()), &detail);
    assert_eq!((contract.effect(), contract.is_irreversible()), (Effect::Irreversible, true));
    assert_eq!(contract.timeout(), Some(Duration::from_secs(5)));
    assert_eq!(contract.settling_time(), Duration::from_mins(10));
    assert_eq!(contract.summary(), "email.send → bob");
    assert_eq!(contract.summary_in(Language::Chinese), "email.send → 给bob的邮件");

    let planned: Planned<SendMail> = Planned::new(contract).unwrap();
    assert_eq!(planned.arguments(), &mail("bob", 7));
}

/// The key covers the identity that a tool declares; the digest covers all arguments.
#[test]
fn the_identity_makes_the_key() {
    let (one, later, other) =
        (of(&mail("bob", 1)).unwrap(), of(&mail("bob", 2)).unwrap(), of(&mail("eve", 1)).unwrap());
    assert_eq!(one.idempotency_key(), later.idempotency_key());
    assert_ne!(one.action().digest(), later.action().digest());
    assert_ne!(one.idempotency_key(), other.idempotency_key());
}

/// A contract of another tool, or of no tool, is refused; the execution comes back.
#[test]
fn a_contract_of_another_tool_is_refused() {
    let spec = ToolSpec::irreversible("email", "sent").unwrap();
    let other = Contract::tool_call(&spec, r#"{"to":"bob","at":1}"#, reasoning_node()).unwrap();
    let question = Contract::ecs_request("Sure?", reasoning_node()).unwrap();
    for (contract, what) in [(other, "`email.sent`"), (question, "the type `ecs_request`")] {
        let refused = Planned::<SendMail>::new(contract.clone());
        assert_err!(refused, InvalidContract::OtherTool { expected, found }
            if expected == "email.send" && found.contains(what));
        let pending = Execution::new(contract);
        let id = pending.id();
        let refused = Planned::<SendMail>::of(pending).unwrap_err();
        assert_eq!(refused.machine.id(), id);
        assert!(refused.to_string().contains("use the matching tool"), "{refused}");
    }
}

/// Arguments that do not fit the type, an identity that the type does not derive, and an effect
/// that is lower than that of the type are refused.
#[test]
fn a_contract_that_does_not_fit_is_refused() {
    let spec = ToolSpec::irreversible("email", "send").unwrap();
    let call = |arguments: &str| Contract::tool_call(&spec, arguments, reasoning_node()).unwrap();
    for arguments in ["{}", r#"{"to":1}"#, r#"{"to":"bob","at":-1}"#, r#"{"to":"bob","bcc":"eve"}"#]
    {
        let refused = Planned::<SendMail>::new(call(arguments));
        assert_err!(refused, InvalidContract::Arguments { tool, .. } if tool == "email.send");
    }
    // The call was planned without the identity of the type.
    let refused = Planned::<SendMail>::new(call(r#"{"to":"bob","at":1}"#));
    assert_err!(refused, InvalidContract::OtherIdentity { tool } if tool == "email.send");

    let reads = ToolSpec::idempotent("bank", "pay").unwrap();
    let lowered = Contract::tool_call(&reads, r#"{"cents":1}"#, reasoning_node()).unwrap();
    assert_err!(Planned::<Pay>::new(lowered), InvalidContract::EffectLowered { tool }
        if tool == "bank.pay");
    // A contract may be more careful than its tool, and its tool may not be less.
    let lowered = Contract::tool_call(&reads, r#"{"cents":1}"#, reasoning_node()).unwrap();
    assert_err!(Planned::<Pay>::new(lowered.irreversible()), InvalidContract::EffectLowered { .. });
}

#[derive(Debug, Serialize, Deserialize, Tool)]
#[tool(bank.pay, irreversible, receipt = u64)]
struct Pay {
    cents: u64,
}

/// The defaults: 30 seconds, a minute to settle, no subject, the arguments as the identity.
#[test]
fn a_tool_has_defaults() {
    let contract = of(&Pay { cents: 5 }).unwrap();
    assert_eq!(contract.timeout(), Some(Duration::from_secs(30)));
    assert_eq!(contract.settling_time(), Duration::from_mins(1));
    assert_eq!(contract.summary(), "bank.pay");
    assert!(!contract.action().detail().contains_key("identity"));
    let spec = ToolSpec::irreversible("bank", "pay").unwrap();
    let same = Contract::tool_call(&spec, r#"{"cents":5}"#, reasoning_node()).unwrap();
    assert_eq!(contract.idempotency_key(), same.idempotency_key());
    assert_eq!(contract.action(), same.action());
}

/// The places of a summary are filled once, with what the argument is, and nothing else.
#[test]
fn a_template_is_filled_once() {
    let arguments = json!({
        "to": "bob", "n": 1.5, "list": [1, "a"], "none": null, "yes": true,
        "{": "brace", "a}b": "odd", "": "empty", "evil": "{to}{evil}{missing}",
    });
    for (template, filled) in [
        ("", ""),
        ("to {to}", "to bob"),
        ("{to}{to}", "bobbob"),
        ("{n} {list} {none} {yes}", r#"1.5 [1,"a"] null true"#),
        ("{missing}", "{missing}"),
        ("{ to }", "{ to }"),
        ("{to", "{to"),
        ("to}", "to}"),
        ("{}", "empty"),
        ("{evil}", "{to}{evil}{missing}"),
        ("{evil} {to}", "{to}{evil}{missing} bob"),
        ("{{to}}", "{bob}"),
        ("邮件给{to}，谢谢", "邮件给bob，谢谢"),
    ] {
        let spec = ToolSpec::idempotent("s", "m").unwrap().template("", template);
        let contract = Contract::tool_call(&spec, &arguments.to_string(), reasoning_node());
        assert_eq!(contract.unwrap().summary(), format!("s.m → {filled}"), "{template}");
    }
}

/// A template for a language is used for that language.
#[test]
fn templates_know_languages() {
    let spec = ToolSpec::idempotent("files", "read").unwrap();
    let spec =
        spec.template("", "{path}").template("zh", "文件{path}").template("zh", "档案{path}");
    let contract = Contract::tool_call(&spec, r#"{"path":"a"}"#, reasoning_node()).unwrap();
    assert_eq!(contract.summary(), "files.read → a");
    assert_eq!(contract.summary_in(Language::Chinese), "files.read → 档案a", "the last one");
    let only = ToolSpec::idempotent("files", "read").unwrap().template("zh", "文件{path}");
    let contract = Contract::tool_call(&only, r#"{"path":"a"}"#, reasoning_node()).unwrap();
    assert_eq!(
        (&*contract.summary(), &*contract.summary_in(Language::Chinese)),
        ("files.read", "files.read → 文件a")
    );
}

/// An idempotent tool may start without a permit, and be repeated without a person.
#[test]
fn an_idempotent_tool_can_be_repeated() {
    #[derive(Debug, PartialEq, Serialize, Deserialize, Tool)]
    #[tool(files.read, idempotent)]
    struct Read {
        path: String,
    }
    let read = Read { path: "a.txt".to_owned() };
    let planned: Planned<Read> = Planned::new(of(&read).unwrap()).unwrap();
    let failed = planned.start(tool_node()).fail("no such file".to_owned(), None, tool_node());
    let again = Planned::<Read>::repeat(&failed, reasoning_node()).unwrap();
    assert_eq!(again.arguments(), &read);
    assert_ne!(again.id(), failed.id());
    let contract = again.context();
    assert_eq!((contract.retry_of(), contract.decided_by()), (None, None));

    // A hint that raised its risk stays.
    let raised = of(&read).unwrap().irreversible();
    let failed = Execution::new(raised).start(tool_node()).fail("x".to_owned(), None, tool_node());
    let again = Planned::<Read>::repeat(&failed, reasoning_node()).unwrap();
    assert!(again.context().is_irreversible());
    let retry = Contract::retry(&failed, machine_tests::actors::ann());
    let refused = Planned::<SendMail>::new(retry);
    assert_err!(refused, InvalidContract::OtherTool { .. });

    // So does the occasion, and what else its contract says.
    let weekly = of(&read).unwrap().session("s").occurrence("2026-W47", graph_runner()).unwrap();
    let failed =
        Execution::new(weekly.clone()).start(tool_node()).fail("x".into(), None, tool_node());
    let again = Planned::<Read>::repeat(&failed, reasoning_node()).unwrap();
    assert_eq!(again.context().action(), weekly.action());
    assert_eq!(again.context().session_id(), Some("s"));
}

/// Any tool is planned as an action, too, with the arguments as they are stored, and text as its
/// receipt.
#[test]
fn any_tool_is_an_action() {
    fn with_text<T: Callable<Receipt = String>>(planned: &Planned<T>) -> &T {
        planned.arguments()
    }
    let contract = of(&mail("bob", 1)).unwrap();
    let planned = Planned::<machine::contract::Action>::new(contract.clone()).unwrap();
    assert_eq!(with_text(&planned), contract.action());
}
