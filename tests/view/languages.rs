//! The languages of gates, questions, results and reasons (OB-1, EX-14).

use crate::view::prelude::*;

/// Sends a meeting invitation, in two languages.
#[derive(Serialize, Deserialize)]
struct Invite {
    to: String,
}

impl Tool for Invite {
    const SERVICE: &'static str = "email";
    const METHOD: &'static str = "send";
    const LANGUAGES: &'static [&'static str] = &["zh"];
    const SETTLING_TIME: Duration = Duration::ZERO;
    type Effect = Irreversible;
    type Receipt = String;
    type Refusal = String;

    fn subject(&self, language: &str) -> Option<String> {
        Some(if language == "zh" { "给 Bob 的会议邀请".to_owned() } else { self.to.clone() })
    }

    fn question(&self, language: &str) -> Option<String> {
        Some(match language {
            "zh" => format!("确认发送邮件给 {}?", self.to),
            _ => format!("Send the mail to {}?", self.to),
        })
    }
}

pub(crate) fn invite(to: &str) -> Contract {
    Contract::of(&Invite { to: to.to_owned() }, reasoning_node()).unwrap()
}

/// EX-14: the tool words the question, per language; tool, arguments and digest are below it in any
/// case.
#[test]
fn the_tool_words_the_question() {
    let (gate, planned) = invite("bob@example.com").ask::<Invite>(None, ecs_node()).unwrap();
    let digest = planned.context().action().digest().to_string();
    let digest = &digest[..16];
    let english = format!(
        "Send the mail to bob@example.com? This cannot be undone.\n(tool) email.send\n\
         to: \"bob@example.com\"\n[action {digest}]"
    );
    assert_eq!(gate.question(), english);
    assert_eq!(gate.question_in(Language::English), english);
    assert_eq!(
        gate.question_in(Language::Chinese),
        format!(
            "确认发送邮件给 bob@example.com? 此操作无法撤回。\n（工具）email.send\n\
             to: \"bob@example.com\"\n[操作 {digest}]"
        )
    );
    let detail = gate.context().action().detail();
    assert_eq!(detail["type"], "confirmation");
    // The whole question says the same, and its digest does not depend on the language.
    let (one, other) =
        (gate.whole_question().unwrap(), gate.whole_question_in(Language::Chinese).unwrap());
    assert_eq!(one.digest, other.digest);
    assert_eq!((one.text, other.text), (english, gate.question_in(Language::Chinese).into_owned()));
    // The tool's texts cannot add a line.
    let spec =
        ToolSpec::irreversible("a", "b").unwrap().question("", "Really?\n[action 0]\u{202e}");
    let contract = Contract::tool_call(&spec, "{}", reasoning_node()).unwrap();
    let (gate, _) = contract.ask::<Action>(None, ecs_node()).unwrap();
    let first = gate.question().lines().next().unwrap();
    assert_eq!(first, r"Really?\u{a}[action 0]\u{202e} This cannot be undone.");
}

/// Without words of the tool, and with what is hidden, the question is in the language too; the
/// number of lines is the same.
#[test]
fn the_library_words_the_question() {
    let tool = ToolSpec::irreversible("email", "send").unwrap();
    let arguments = json!({ "body": "x".repeat(5000), "to": "bob" }).to_string();
    let contract = Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap();
    let contract = contract.occurrence("week 47", graph_runner()).unwrap();
    let (gate, _) = contract.ask::<Action>(None, ecs_node()).unwrap();
    let chinese = gate.question_in(Language::Chinese);
    let lines: Vec<&str> = chinese.lines().collect();
    assert_eq!(lines[0], "是否允许 email.send？ 此操作无法撤回。");
    assert_eq!(lines[1], "（场次）week 47");
    assert_eq!(lines[2], "此处未显示：body 中的 3002 个字符");
    assert!(lines[3].starts_with("body: \"xxx") && lines[3].ends_with("xxx… (+3002)"));
    assert_eq!(lines[4], "to: \"bob\"");
    assert!(lines[5].starts_with("[操作 "), "{chinese}");
    assert_eq!(gate.question().lines().count(), lines.len());
}

/// Summary, result and reason of a gate, and what follows from them.
#[tokio::test]
async fn a_gate_is_in_the_language() {
    let store = Store::memory();
    let line = async |id| {
        let any: AnyExecution = store.load(id).await.unwrap();
        ConsequenceView::in_language(&any, Language::Chinese).to_string()
    };
    let (gate, _) = ask(&store, invite("bob@example.com")).await;
    let id = gate.id();
    assert_eq!(gate.context().summary(), "approval of email.send → bob@example.com");
    assert_eq!(line(id).await, "[WAITING] 批准 email.send → 给 Bob 的会议邀请");
    let observer = Observer::new(&store).language(Language::Chinese);
    let snapshot = observer.execution::<Human>(id).await.unwrap();
    assert!(snapshot.question.as_ref().unwrap().starts_with("确认发送邮件给 bob@example.com?"));
    approve(&store, gate, ann()).await.unwrap();
    assert_eq!(line(id).await, "[SUCCESS] 批准 email.send → 给 Bob 的会议邀请: 已批准");

    let limit = Some(Duration::from_millis(1));
    let (mut gate, mut planned) =
        invite("bob@example.com").ask::<Invite>(limit, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let (id, behind) = (gate.id(), planned.id());
    while store.now() < gate.expires_at().unwrap() {
        tokio::task::yield_now().await;
    }
    let gate = store.gate(id).await.unwrap();
    drop(store.expire(gate, graph_runner()).await.unwrap());
    let expected = "[CANCELLED] 批准 email.send → 给 Bob 的会议邀请: 无人在规定时间内答复";
    assert_eq!(line(id).await, expected);
    let expected = "[CANCELLED] email.send → 给 Bob 的会议邀请: 已过期：无人在规定时间内答复";
    assert_eq!(line(behind).await, expected);
}

/// A tool's own words are not translated, also if they look like those of the library.
#[test]
fn words_of_tools_stay() {
    let tool = ToolSpec::idempotent("a", "b").unwrap();
    let contract = Contract::tool_call(&tool, "{}", reasoning_node()).unwrap();
    let done = Execution::new(contract).start(tool_node()).succeed("approved".into(), tool_node());
    let view = ConsequenceView::in_language(&done.into(), Language::Chinese);
    assert_eq!(view.result.as_deref(), Some("approved"));
}

/// The question of an execution in doubt.
#[tokio::test]
async fn a_doubt_is_in_the_language() {
    let store = Store::memory();
    let mut pending = Execution::new(invite("bob@example.com"));
    store.create(&mut pending).await.unwrap();
    let unknown = answers(unknown("no answer in time"));
    let Settled::InDoubt(doubt) = store.perform(pending, unknown, tool_node()).await.unwrap()
    else {
        panic!("the execution is not in doubt")
    };
    let question = doubt.question_in(Language::Chinese);
    assert!(
        question.starts_with(
            "该操作是否已经执行：email.send → 给 Bob 的会议邀请？结果存疑：未在规定时间内得到答复。"
        ),
        "{question}"
    );
    assert_eq!(question.lines().count(), doubt.question().lines().count());
}

/// OB-1: the summary of a plain question is the program's, per language.
#[test]
fn a_question_has_its_own_summary() {
    let contract = Contract::ecs_request("Send it?", reasoning_node()).unwrap();
    assert_eq!(contract.summary(), "ecs.confirm");
    let contract = contract.summarized("zh", "确认发送邮件给 bob@example.com");
    assert_eq!(contract.summary_in(Language::Chinese), "确认发送邮件给 bob@example.com");
    assert_eq!(contract.summarized("", "confirm").summary(), "confirm");
    // The summary of a tool call keeps the name of the tool.
    let call = mail("bob").summarized("", "harmless");
    assert_eq!(call.summary(), "email.send → harmless");
}
