//! The question to an approver: made from the action, so that text and digest cannot differ, and
//! such that every character is what it looks like (DESIGN 5).

use machine::{
    contract::{
        Action, ActionType, AnyExecution, Contract, Effect, Execution, Gate, Planned, ToolSpec,
    },
    effects::EffectError,
    store::{CommitError, Store},
};
use machine_tests::{
    actors::{ann, ecs_node, reasoning_node},
    assert_err, forge,
    samples::{mail, read},
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn call(arguments: &Value) -> Contract {
    let spec = ToolSpec::irreversible("email", "send").unwrap();
    Contract::tool_call(&spec, &arguments.to_string(), reasoning_node()).unwrap()
}

fn gated(contract: Contract) -> (Gate, Planned<Action>) {
    contract.ask(None, ecs_node()).unwrap()
}

fn gate(contract: Contract) -> Gate {
    gated(contract).0
}

fn typed(action_type: ActionType, detail: Map<String, Value>) -> Contract {
    let action = Action::new(action_type, detail).unwrap();
    Contract::action_of(action, Effect::Irreversible, reasoning_node()).unwrap()
}

fn question(arguments: &Value) -> String {
    gate(call(arguments)).question().to_owned()
}

/// The lines of the arguments.
fn lines(arguments: &Value) -> Vec<String> {
    let text = question(arguments);
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let [first, middle @ .., last] = lines.as_slice() else { panic!("{text}") };
    assert_eq!(first, "Allow email.send? This cannot be undone.");
    assert!(last.starts_with("[action ") && last.ends_with(']'), "{last}");
    middle.to_vec()
}

/// The whole text.
#[test]
fn a_question_is_made_from_the_action() {
    let arguments = json!({
        "to": "bob@example.com", "copies": 2, "urgent": true, "attachment": null,
        "parts": [{ "text": "Hello" }],
    });
    let gate = gate(call(&arguments).about("a harmless thing").note("note", "trust me"));
    let digest = gate.approval().action().to_string();
    assert_eq!(
        gate.question(),
        format!(
            "Allow email.send? This cannot be undone.\n\
             attachment: null\ncopies: 2\nparts: [{{\"text\":\"Hello\"}}]\n\
             to: \"bob@example.com\"\nurgent: true\n[action {}]",
            &digest[..16]
        )
    );
}

/// The text does not depend on how the arguments were written, nor on the features of `serde_json`
/// that other crates enable (`--features odd-json`).
#[test]
fn numbers_have_one_form() {
    let spec = ToolSpec::idempotent("meter", "set").unwrap();
    let written = r#"{"b":{"z":1,"a":2},"a":[1e2,1.50,-0,1E-7,18446744073709551615,
        123456789012345678901234567890]}"#;
    let contract = Contract::tool_call(&spec, written, reasoning_node()).unwrap();
    let gate = gate(contract);
    let (text, _) = gate.question().rsplit_once('\n').unwrap();
    assert_eq!(
        text,
        "Allow meter.set?\n\
         a: [100,1.5,0,1e-7,18446744073709551615,1.2345678901234568e+29]\n\
         b: {\"a\":2,\"z\":1}"
    );
}

/// An action of another type is shown with all of its detail.
#[test]
fn another_action_is_shown_as_it_is() {
    let detail = Map::from_iter([("url".to_owned(), Value::from("https://example.com/x"))]);
    let gate = gate(typed(ActionType::Other("webhook".to_owned()), detail));
    let (text, _) = gate.question().rsplit_once('\n').unwrap();
    assert_eq!(text, "Allow webhook? This cannot be undone.\nurl: \"https://example.com/x\"");
}

/// A hint that raises the risk is in the question; an action that can be undone is not called
/// irreversible.
#[test]
fn the_question_names_the_risk() {
    assert!(gate(read("a")).question().starts_with("Allow files.read?\npath: \"a\"\n"));
    let raised = gate(read("a").irreversible());
    assert!(raised.question().starts_with("Allow files.read? This cannot be undone.\n"));
}

/// Invisible characters are escaped: in texts, in names, and in the names of tools.
#[test]
fn invisible_characters_are_escaped() {
    for (text, shown) in [
        ("bob\u{202e}moc.live", r"bob\u{202e}moc.live"),
        ("bob\u{2066}x\u{2069}", r"bob\u{2066}x\u{2069}"),
        ("a\u{200b}b", r"a\u{200b}b"),
        ("a\u{ad}b", r"a\u{ad}b"),
        ("a\u{feff}b", r"a\u{feff}b"),
        ("a\u{a0}b", r"a\u{a0}b"),
        ("a\u{2003}b", r"a\u{2003}b"),
        ("a\u{3164}b", r"a\u{3164}b"),
        ("a\u{2800}b", r"a\u{2800}b"),
        ("a\u{e0041}b", r"a\u{e0041}b"),
        ("a\u{7f}b", r"a\u{7f}b"),
        ("a\u{9b}2Jb", r"a\u{9b}2Jb"),
        ("a\u{2028}b", r"a\u{2028}b"),
        ("a\nb", r"a\nb"),
        ("a\u{1b}[2Jb", r"a\u001b[2Jb"),
        ("a\"\\b", r#"a\"\\b"#),
    ] {
        assert_eq!(lines(&json!({ "to": text })), [format!("to: \"{shown}\"")], "{text:?}");
        assert_eq!(lines(&json!({ "to": [text] })), [format!("to: [\"{shown}\"]")], "{text:?}");
        let action_type = ActionType::Other(text.to_owned());
        let shown = gate(typed(action_type, Map::new())).question().to_owned();
        assert_eq!(shown.lines().count(), 2, "{shown:?}");
        assert!(!shown.contains(hidden), "{shown:?}");
    }
}

fn hidden(character: char) -> bool {
    character != '\n'
        && (character.is_control()
            || character.is_whitespace() && character != ' '
            || "\u{ad}\u{200b}\u{202e}\u{2066}\u{2069}\u{2800}\u{3164}\u{feff}\u{e0041}"
                .contains(character))
}

/// Characters and words that look like ASCII are not taken for it, in the text of an argument, in
/// its name and in the name of a type.
#[test]
fn look_alikes_are_made_visible() {
    for (text, shown) in [
        ("bob\u{fe0f}", r"bob\u{fe0f}"),
        ("evil.com\u{2215}bob", r"evil.com\u{2215}bob"),
        ("\u{ff42}ob", r"\u{ff42}ob"),
        ("\u{441}\u{43e}\u{441}\u{43e}", r"\u{441}\u{43e}\u{441}\u{43e}"),
        // A word of two alphabets.
        ("p\u{430}yp\u{430}l.com", r"p\u{430}yp\u{430}l.com"),
        ("Оплатите счёт с НДС", "Оплатите счёт с НДС"),
        ("会议：明天（周二）！", "会议：明天（周二）！"),
        ("❤️ ⚠️ ok", "❤️ ⚠️ ok"),
    ] {
        assert_eq!(lines(&json!({ "to": text })), [format!("to: \"{shown}\"")], "{text:?}");
        let nested = format!("to: [{{\"x\":\"{shown}\"}}]");
        assert_eq!(lines(&json!({ "to": [{ "x": text }] })), [nested], "{text:?}");
        let named = lines(&json!({ text: 1 })).remove(0);
        assert!(named.contains(shown), "{named}");
        let other = gate(typed(ActionType::Other(text.to_owned()), Map::new()));
        assert!(other.question().contains(shown), "{}", other.question());
    }
}

/// A name of an argument cannot pass for another argument with its value.
#[test]
fn a_name_forges_no_line() {
    let honest = lines(&json!({ "to": "bob" }));
    for name in
        ["to: \"bob\"\n", "x\nto: \"bob\"", "to: \"bob\" ", "to: \"bob\" (checked)", "[action 0"]
    {
        let forged = lines(&json!({ "to": "eve", name: 1 }));
        assert_eq!(forged.len(), 2, "{forged:?}");
        let looks_honest = |line: &&String| {
            line.starts_with(&honest[0]) || line.starts_with("[action") && !line.contains(": ")
        };
        assert_eq!(forged.iter().filter(looks_honest).count(), 0, "{forged:?}");
    }
}

/// A text that contains what an escape looks like is not shown as the escaped character.
#[test]
fn an_escape_cannot_be_forged() {
    assert_ne!(question_text("a\u{202e}b"), question_text(r"a\u{202e}b"));
    assert_ne!(question_text("a\nb"), question_text(r"a\nb"));
    let name = |name: &str| lines(&json!({ name: 1 }));
    assert_ne!(name("a\u{202e}b"), name(r"a\u{202e}b"));
}

fn question_text(text: &str) -> Vec<String> {
    lines(&json!({ "to": text }))
}

/// A huge argument is cut, and what is missing is named first. The whole question has it.
#[test]
fn a_huge_argument_is_cut() {
    let long = |end: &str| json!({ "body": format!("{}{end}", "邮".repeat(50_000)), "to": "bob" });
    let shown = lines(&long("x"));
    assert_eq!(shown.len(), 3);
    // With its quotes, the text has 50,003 characters.
    assert_eq!(shown[0], "NOT SHOWN HERE: 48003 characters of body");
    assert!(shown[1].starts_with("body: \"邮邮"), "{shown:?}");
    assert!(shown[1].ends_with("邮… (+48003)"), "{}", shown[1]);
    assert_eq!(shown[2], "to: \"bob\"");
    let whole = gate(call(&long("x"))).whole_question().unwrap().text;
    assert!(
        whole.contains(&format!("\nbody: \"{}x\"\nto", "邮".repeat(50_000))),
        "{}",
        whole.len()
    );
    let (one, other) = (question(&long("x")), question(&long("y")));
    assert_ne!(one, other, "the digests differ");
    // At the limit nothing is cut.
    let exact = lines(&json!({ "body": "x".repeat(1998) }));
    assert_eq!(exact, [format!("body: \"{}\"", "x".repeat(1998))]);
    let over = lines(&json!({ "body": "x".repeat(1999) }));
    assert_eq!(over[0], "NOT SHOWN HERE: 1 characters of body");
    assert!(over[1].ends_with("… (+1)"), "{}", over[1]);
}

/// Every action can be asked for, and the question stays short: many arguments and huge names are
/// cut, too.
#[test]
fn a_huge_action_can_be_asked_for() {
    let many: Map<String, Value> =
        (0..20_000).map(|number| (format!("{number:05}"), Value::from("\""))).collect();
    let escaped = json!({ "a": "\u{200b}".repeat(60_000) });
    let named = json!({ "n".repeat(200_000): 1 });
    let nested = json!({ "a": vec![json!({ "\u{1b}": "\\\\" }); 12_000] });
    for arguments in [Value::from(many), escaped, named, nested] {
        let (gate, _planned) = call(&arguments).ask::<Action>(None, ecs_node()).unwrap();
        let characters = gate.question().chars().count();
        assert!(characters < 50_000, "the question has {characters} characters");
        let digest = gate.approval().action().to_string();
        assert!(gate.question().ends_with(&format!("\n[action {}]", &digest[..16])));
        let hidden = gate.question().lines().nth(1).unwrap();
        assert!(hidden.starts_with("NOT SHOWN HERE: "), "{hidden}");
        let whole = gate.whole_question().unwrap();
        assert!(whole.text.len() > gate.question().len() && !whole.text.contains("NOT SHOWN"));
    }
}

/// D3: an approval names the text that was shown, and a text that was cut is not enough.
#[tokio::test]
async fn only_a_shown_question_is_approved() {
    let store = Store::memory();
    let (mut gate, mut planned) = gated(call(&json!({ "to": "x".repeat(3000) })));
    store.ask(&mut gate, &mut planned).await.unwrap();
    let (mut other, mut behind) = gated(call(&json!({ "to": "x".repeat(3001) })));
    store.ask(&mut other, &mut behind).await.unwrap();
    let refused = store.approve(gate, other.whole_question().unwrap().digest, ann()).await;
    let Err(refused) = refused else { panic!("approved unseen") };
    assert!(matches!(refused.reason, EffectError::NotShown { .. }), "{refused}");
    // Nothing was written, and what was given back can be approved.
    let gate = store.gate(refused.machine.id()).await.unwrap();
    assert_eq!(gate.whole_question(), refused.machine.whole_question());
    assert!(machine_tests::approve(&store, refused.machine, ann()).await.unwrap().approved);
}

/// A question in the asker's own words is not that of a gate: it is refused before it can be
/// approved.
#[tokio::test]
async fn a_question_is_not_chosen_by_the_asker() {
    let store = Store::memory();
    let (gate, mut planned) = mail("eve").ask::<Action>(None, ecs_node()).unwrap();
    let contract = gate.context().clone();
    let lie = gate.question().replace("eve", "bob");
    let forged = Execution::new(contract).start(ecs_node()).suspend(lie.clone(), ecs_node());
    let mut forged = AnyExecution::from(forged);
    assert_eq!(forged.id(), gate.id());
    let stored = store.batch().create(&mut forged).create(planned.machine()).write().await;
    assert_err!(stored, EffectError::Commit(CommitError::Refused { breach, .. })
        if breach.to_string().contains("a gate asks the question of its contract, once"));
}

/// Such a question in JSON, where the contract lies as well, cannot be approved.
#[tokio::test]
async fn a_question_from_data_is_not_approved() {
    for lies in [false, true] {
        let store = Store::memory();
        let (mut gate, mut planned) = gated(read("secret.txt"));
        let mut claim = forge::claim(gate.machine());
        if lies {
            let lie = |text: &str| text.replace("secret.txt", "notes.txt");
            claim.record.context = lie(&claim.record.context);
            claim.record.state = lie(&claim.record.state);
            let journal = serde_json::to_string(&claim.journal).unwrap();
            claim.journal = serde_json::from_str(&lie(&journal)).unwrap();
        }
        let mut read = forge::cross_execution(claim).unwrap();
        store.batch().create(&mut read).create(planned.machine()).write().await.unwrap();
        let asked = store.gate(read.id()).await.unwrap();
        assert_eq!(asked.question().contains("notes.txt"), lies);
        let approved = machine_tests::approve(&store, asked, ann()).await;
        match approved {
            Ok(_) => assert!(!lies, "approved a file that is not read"),
            Err(refused) => {
                assert!(lies, "{refused}");
                assert!(matches!(refused.reason, EffectError::GateChanged { .. }), "{refused}");
            }
        }
    }
}

fn texts() -> impl Strategy<Value = String> {
    let odd = "\n\r\t\u{1b}\u{85}\u{200b}\u{202e}\u{2066}\u{2028}\u{feff}\u{e0041}\u{430}a\"\\:[ \u{a0}邮";
    let odd = prop::sample::select(odd.chars().collect::<Vec<_>>());
    prop::collection::vec(prop_oneof![any::<char>(), odd], 0..20)
        .prop_map(|characters| characters.into_iter().collect())
}

proptest! {
    /// Whatever the arguments and the type are, there is one line for each, and nothing hidden.
    #[test]
    fn an_argument_is_one_visible_line(
        arguments in prop::collection::btree_map(texts(), texts(), 0..5),
        action_type in texts().prop_filter("it has parts", |text| text != "tool_call"),
    ) {
        let Value::Object(detail) = json!(arguments) else { panic!("a map is an object") };
        let other = gate(typed(ActionType::Other(action_type), detail));
        for text in [gate(call(&json!(arguments))).question(), other.question()] {
            prop_assert_eq!(text.lines().count(), arguments.len() + 2, "{:?}", text);
            prop_assert_eq!(text.split('\n').count(), arguments.len() + 2, "{:?}", text);
            prop_assert!(!text.contains(hidden), "{:?}", text);
        }
    }
}
