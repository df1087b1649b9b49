//! `--lang zh`, and what no command shows in any language.

use std::time::Duration;

use machine::{
    Id,
    contract::{Action, Contract, NotDone, ToolSpec},
};
use machine_tests::{
    actors::{ann, ecs_node, graph_runner, reasoning_node, tool_node},
    samples::{answers, contradicted, read, receipt},
};

use crate::cli::support::{Place, end};

/// A mail in two languages, with a secret.
fn mail(number: u8) -> Contract {
    let tool = ToolSpec::irreversible("email", "send").unwrap().settling_time(Duration::ZERO);
    let tool = tool.template("", "bob").template("zh", "会议邀请");
    let tool = tool.question("zh", "确认发送邮件?").secret("password");
    let to = format!("bob{number}@example.com");
    let arguments = serde_json::json!({ "to": to, "password": "s3cr3t-of-bob" }).to_string();
    Contract::tool_call(&tool, &arguments, reasoning_node()).unwrap().session("mails")
}

/// Executions in every state, and machines of the program's own.
async fn fill(place: &Place) -> Vec<Id> {
    let store = &place.store;
    let mut ids = Vec::new();
    let ask = async |number, limit| {
        let (mut gate, mut planned) = mail(number).ask::<Action>(limit, ecs_node()).unwrap();
        store.ask(&mut gate, &mut planned).await.unwrap();
        (gate, planned)
    };
    // Approved and refused, declined, expired, open.
    let (gate, planned) = ask(1, None).await;
    ids.extend([gate.id(), planned.id()]);
    machine_tests::approve(store, gate, ann()).await.unwrap();
    let refused = answers(Err(NotDone::not_applied("550")));
    drop(store.perform(planned, refused, tool_node()).await.unwrap());
    let (gate, planned) = ask(2, None).await;
    ids.extend([gate.id(), planned.id()]);
    place.run(&["decline", &end(gate.id()), "--as", "ann", "--yes"]).done();
    let (gate, planned) = ask(3, Some(Duration::from_millis(1))).await;
    ids.extend([gate.id(), planned.id()]);
    while store.now() < gate.expires_at().unwrap() {
        tokio::task::yield_now().await;
    }
    drop(store.expire(store.gate(gate.id()).await.unwrap(), graph_runner()).await.unwrap());
    let (gate, planned) = ask(4, None).await;
    ids.extend([gate.id(), planned.id()]);
    // In doubt, contradicted, done, running.
    let mut planned = machine::contract::Planned::<Action>::new(mail(5)).unwrap();
    store.plan(&mut planned).await.unwrap();
    ids.push(planned.id());
    let unknown = answers(Err(NotDone::unknown("no answer in time")));
    drop(store.perform(planned, unknown, tool_node()).await.unwrap());
    ids.push(contradicted(store, "eve").await);
    let mut planned =
        machine::contract::Planned::<Action>::new(read("a").session("mails")).unwrap();
    store.plan(&mut planned).await.unwrap();
    ids.push(planned.id());
    drop(store.perform(planned, receipt("12"), tool_node()).await.unwrap());
    let mut running = machine::contract::Execution::new(read("b")).start(tool_node());
    store.create(&mut running).await.unwrap();
    ids.extend([running.id(), place.order().await]);
    ids
}

/// Names that are the same in every language: of tools, arguments, fields, states, triggers, commands and people, and
/// what people and tools said.
const NAMES: &str = "
    email send files read calendar path to bob eve example com ann test mails password blake3
    WAITING RUNNING PENDING COMPLETED FAILED REJECTED CANCELLED ASKING PAYING PAID asking paying paid
    waiting running pending completed failed rejected cancelled
    SUCCESS IN DOUBT IN_DOUBT CONTRADICTED NOT_STARTED DEFERRED IN_PROGRESS IRREVERSIBLE human confirmed
    start succeed fail reject suspend cancel resume timeout confirm audit accept
    execution order prompt result reason error amount note u32 Option String
    approve decline respond retry acknowledge fence send show as NAME applied not payload audience internal
    overdue seen after newest human tool_node ecs_node graph_runner sent queued mail db
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

#[tokio::test(flavor = "multi_thread")]
async fn nothing_in_english_is_left() {
    let place = Place::new().await;
    let ids = fill(&place).await;
    let mut commands: Vec<Vec<String>> = vec![
        vec!["list".into()],
        vec!["list".into(), "--attention-only".into()],
        vec!["list".into(), "--limit".into(), "2".into()],
        vec!["timeline".into(), "--session".into(), "mails".into()],
        vec!["prompt".into(), "--session".into(), "mails".into()],
    ];
    for id in &ids {
        commands.push(vec!["show".into(), id.to_string()]);
        commands.push(vec!["timeline".into(), id.to_string()]);
    }
    let mut english = Vec::new();
    for command in commands {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.extend(["--lang", "zh"]);
        let ran = place.run(&arguments);
        let left = words(ran.done(), &ids);
        if !left.is_empty() {
            english.push(format!("{command:?} has {left:?}:\n{}", ran.out));
        }
        assert!(!ran.out.is_ascii(), "{command:?}: {}", ran.out);
    }
    assert!(english.is_empty(), "{}", english.join("\n"));
    let shown = place.run(&["show", &ids[6].to_string(), "--lang", "zh"]);
    assert!(shown.done().contains("确认发送邮件? 此操作无法撤回。"), "{shown:?}");
    let prompt = place.run(&["prompt", "--session", "mails", "--lang", "zh"]);
    let start = "【工具执行结果】\n\n[";
    assert!(prompt.done().starts_with(start), "{prompt:?}");
    assert!(prompt.out.contains("email.send → 会议邀请"), "{prompt:?}");
}

/// No command shows a secret, except for `export`, which copies what is stored.
#[tokio::test(flavor = "multi_thread")]
async fn no_command_shows_a_secret() {
    const SECRET: &str = "s3cr3t-of-bob";
    let place = Place::new().await;
    let ids = fill(&place).await;
    for audience in ["human", "diagnostic", "internal"] {
        for format in [&[][..], &["--json"]] {
            let run = |arguments: &[&str]| {
                let all = [arguments, &["--audience", audience], format].concat();
                let ran = place.run(&all);
                assert!(!ran.done().contains(SECRET), "{arguments:?}: {ran:?}");
            };
            run(&["list"]);
            run(&["timeline", "--session", "mails"]);
            for id in &ids {
                run(&["show", &id.to_string()]);
                run(&["timeline", &id.to_string()]);
            }
        }
    }
    let prompt = place.run(&["prompt", "--session", "mails"]);
    assert!(!prompt.done().contains(SECRET));
    let asked = place.run(&["approve", &end(ids[6]), "--as", "ann", "--whole"]);
    asked.failed(2, "password: \"blake3:");
    assert!(!asked.err.contains(SECRET), "{asked:?}");
    let exported = place.run(&["export", &ids[7].to_string()]);
    assert!(exported.done().contains(SECRET), "{exported:?}");
}
