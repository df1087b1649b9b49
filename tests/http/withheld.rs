//! The arguments of an action: shown to callers with a token, its secrets never (OB-14).

use machine::{
    contract::{Contract, ToolSpec},
    view::Language,
};
use machine_tests::actors::reasoning_node;
use serde_json::Value;

use crate::surfaces::{Call, OPERATOR, Place, READER};

const BODY: &str = "the plan is blue";
const SECRET: &str = "s3cr3t-of-bob";
const SIGN_IN: &str = "sign in or send one";

fn mail() -> Contract {
    let tool = ToolSpec::irreversible("email", "send").unwrap().secret("password");
    let tool = tool.template("", "{to}");
    let arguments = serde_json::json!({ "to": "bob", "body": BODY, "password": SECRET });
    let contract = Contract::tool_call(&tool, &arguments.to_string(), reasoning_node()).unwrap();
    contract.session("s")
}

/// Every route that shows something of these machines.
async fn paths(place: &Place) -> Vec<String> {
    let (gate, planned) = place.gate_of(mail()).await;
    let question = place.question().await;
    let mut paths = vec!["/api/attention".to_owned(), "/api/machines".to_owned()];
    for id in [gate.id(), planned.id(), question] {
        paths.push(format!("/api/machines/{id}"));
        paths.push(format!("/api/machines/{id}/timeline"));
        paths.push(format!("/api/execution/{id}/snapshot"));
    }
    paths.push("/api/execution/s/timeline".to_owned());
    paths.push("/api/approvals".to_owned());
    paths
}

/// Without a token, on this computer: the summary, the first line of the question, and how to see
/// the rest.
#[tokio::test(flavor = "multi_thread")]
async fn a_caller_without_a_token_sees_no_arguments() {
    for language in Language::ALL {
        let place = Place::served_with(|http| http.language(language)).await;
        let mut with_arguments = 0;
        for path in paths(&place).await {
            let local = place.read(&path).await;
            assert_eq!(local.status, 200, "{path}: {local:?}");
            assert!(!local.body.contains(BODY), "{path} shows the arguments: {local:?}");
            let reader = place.ask(Call::get(&path).token(READER)).await;
            let shows = reader.body.contains(BODY);
            with_arguments += usize::from(shows);
            assert_eq!(local.body.contains(SIGN_IN), shows, "{path}: {local:?}");
        }
        assert!(with_arguments >= 6, "{with_arguments} routes show arguments to a reader");
        let listed = place.read("/api/approvals").await.is(200);
        let approval = &listed["approvals"][0];
        assert_eq!(approval["digest"], Value::Null, "{approval}");
        assert_eq!(approval["question"].as_str().unwrap().lines().count(), 2, "{approval}");
        let whole = format!("/api/approvals/{}", approval["gate"].as_str().unwrap());
        place.read(&whole).await.problem(401, SIGN_IN);
        assert!(place.ask(Call::get(&whole).token(READER)).await.body.contains(BODY));
        // A question that is not the library's stays whole.
        let plain = place.question_of(Contract::ecs_request("a?", reasoning_node()).unwrap()).await;
        let shown = place.read(&format!("/api/machines/{plain}")).await.is(200);
        assert_eq!(shown["execution"]["question"], "yes or no?");
    }
}

/// The real value is in the file and in no answer to anyone; an approval is for that value.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_in_no_answer() {
    let place = Place::served().await;
    let mut paths = paths(&place).await;
    let whole = place.get("/api/approvals").await["approvals"][0]["gate"].clone();
    paths.push(format!("/api/approvals/{}", whole.as_str().unwrap()));
    for audience in ["human", "diagnostic", "internal"] {
        for path in &paths {
            let is_for_all = path.starts_with("/api/approvals");
            let path =
                if is_for_all { path.clone() } else { format!("{path}?audience={audience}") };
            let answer = place.ask(Call::get(&path).token(OPERATOR)).await;
            assert_eq!(answer.status, 200, "{path}: {answer:?}");
            assert!(!answer.body.contains(SECRET), "{path} shows the secret: {answer:?}");
        }
    }
    let shown = place.get(paths.last().unwrap()).await;
    let question = shown["question"].as_str().unwrap();
    assert!(question.contains("password: \"blake3:"), "{question}");
    let log = [place.file(), place.file().with_extension("db-wal")];
    let mut stored = log.iter().filter_map(|file| std::fs::read(file).ok());
    let has = |bytes: Vec<u8>| bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
    assert!(stored.any(has), "the file has the arguments, as the guarantees say");
}
