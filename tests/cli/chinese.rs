//! `--lang zh`, and what no command shows.

use std::time::Duration;

use machine::{
    Id,
    contract::{Contract, ToolSpec},
};
use machine_tests::actors::{graph_runner, reasoning_node};

use crate::surfaces::{Place, end, situations};

/// A mail in two languages, with a secret.
fn mail(number: u8) -> Contract {
    let tool = ToolSpec::irreversible("email", "send").unwrap().settling_time(Duration::ZERO);
    let tool = tool.template("", "bob").template("zh", "会议邀请");
    let tool = tool.question("zh", "确认发送邮件?").secret("password");
    let to = format!("bob{number}@example.com");
    let arguments = serde_json::json!({ "to": to, "password": "s3cr3t-of-bob" }).to_string();
    Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap().session("mails")
}

/// Machines in every situation, and a gate of a mail in two languages.
async fn fill(place: &Place) -> (Vec<Id>, Id) {
    let mut ids = Vec::new();
    // Why these gates can no longer be answered is the text of an error, which is English.
    let is_shown =
        |situation: &&str| !matches!(*situation, "expired" | "orphan" | "stale" | "stale behind");
    for (number, situation) in (0..).zip(situations().filter(is_shown)) {
        ids.push(place.make(situation, number).await.id);
    }
    let expired = place.expired_gate(mail(3)).await.id();
    let expired = place.store.gate(expired).await.unwrap();
    drop(place.store.expire(expired, graph_runner()).await.unwrap());
    let (declined, _) = place.gate_of(mail(2)).await;
    place.run(&["decline", &end(declined.id()), "--as", "ann", "--yes"]).done();
    let (gate, planned) = place.gate_of(mail(4)).await;
    ids.extend([declined.id(), gate.id(), planned.id()]);
    (ids, gate.id())
}

/// Names that are the same in every language: of tools, arguments, fields, states, triggers,
/// commands and people, and what people and tools said.
const NAMES: &str = "
    email send files read calendar ecs cluster deploy version Worker tool path to bob eve example com ann test mails password blake3
    WAITING RUNNING PENDING COMPLETED FAILED REJECTED CANCELLED ASKING PAYING PAID MAILING NOT_SENT asking paying paid errand
    waiting running pending completed failed rejected cancelled
    SUCCESS IN DOUBT IN_DOUBT CONTRADICTED NOT_STARTED DEFERRED IN_PROGRESS IRREVERSIBLE human confirmed
    start succeed fail reject suspend cancel resume timeout confirm audit accept
    execution order prompt result reason error refusal amount note u32 Option String
    approve decline respond retry requeue acknowledge fence send show as message NAME applied not payload audience internal
    overdue seen after limit late newest human tool_node ecs_node graph_runner sent queued mail db
    connection lost mailbox full OK yes or no
";

/// The words in Latin letters that are no names.
fn words(text: &str, ids: &[Id]) -> Vec<String> {
    // A line break in a cell.
    let mut text = text.replace(r"\n", " ");
    for id in ids {
        text = text.replace(&id.to_string(), "");
    }
    let words = text.split(|one: char| !(one.is_ascii_alphanumeric() || one == '_'));
    words
        .filter(|word| {
            // Parts of ids and digests have a digit.
            word.chars().any(|one| one.is_ascii_alphabetic())
                && !word.chars().any(|one| one.is_ascii_digit())
                && !word.chars().all(|one| one.is_ascii_hexdigit())
                && !NAMES.split_whitespace().any(|name| name == *word)
        })
        .map(str::to_owned)
        .collect()
}

/// The prompt has no English text; a machine is shown in English, with its summary and its question
/// in Chinese.
#[tokio::test(flavor = "multi_thread")]
async fn what_models_and_approvers_read_is_chinese() {
    let place = Place::new().await;
    let (ids, gate) = fill(&place).await;
    let prompt = place.run(&["prompt", "--session", "mails", "--lang", "zh"]);
    let left = words(prompt.done(), &ids);
    assert!(left.is_empty(), "{left:?}: {prompt:?}");
    let start = "【工具执行结果】\n\n[";
    assert!(prompt.out.starts_with(start), "{prompt:?}");
    assert!(prompt.out.contains("email.send → 会议邀请"), "{prompt:?}");
    place.run(&["show", &gate.to_string(), "--lang", "zh"]).shows(&[
        "state        WAITING",
        "about        批准 email.send → 会议邀请",
        "Question",
        "确认发送邮件? 此操作无法撤回。",
    ]);
}

/// No command shows a secret, except for `export`, which copies what is stored.
#[tokio::test(flavor = "multi_thread")]
async fn no_command_shows_a_secret() {
    const SECRET: &str = "s3cr3t-of-bob";
    let place = Place::new().await;
    let (gate, planned) = place.gate_of(mail(4)).await;
    let (gate, planned) = (gate.id(), planned.id());
    for audience in ["human", "diagnostic", "internal"] {
        for format in [&[][..], &["--json"]] {
            let run = |arguments: &[&str]| {
                let all = [arguments, &["--audience", audience], format].concat();
                let ran = place.run(&all);
                assert!(!ran.done().contains(SECRET), "{arguments:?}: {ran:?}");
            };
            run(&["list"]);
            run(&["timeline", "--session", "mails"]);
            for id in [gate, planned] {
                run(&["show", &id.to_string()]);
                run(&["timeline", &id.to_string()]);
            }
        }
    }
    let prompt = place.run(&["prompt", "--session", "mails"]);
    assert!(!prompt.done().contains(SECRET));
    let asked = place.run(&["approve", &end(gate), "--as", "ann", "--whole"]);
    asked.failed(2, "password: \"blake3:");
    assert!(!asked.err.contains(SECRET), "{asked:?}");
    let exported = place.run(&["export", &planned.to_string()]);
    assert!(exported.done().contains(SECRET), "{exported:?}");
}
