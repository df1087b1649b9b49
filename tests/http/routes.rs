//! Every route of the `OpenAPI` document answers as the document says.

use std::collections::BTreeSet;

use machine::Id;
use machine_console::http::Http;
use machine_tests::{
    cluster::{accepted, live},
    samples::mail,
};
use serde_json::{Value, json};

use crate::{
    cli::turns::delivered,
    surfaces::{Call, OPERATOR, Place, execution, unknown},
};

pub(crate) fn document() -> Value {
    serde_json::from_str(&Http::openapi()).unwrap()
}

/// The methods, in capitals, and paths of the document.
pub(crate) fn operations() -> Vec<(String, String)> {
    let document = document();
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().keys();
        methods.map(|method| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
    });
    operations.collect()
}

impl Place {
    /// A request that works, on machines that are made for it.
    async fn good(&self, method: &str, path: &str) -> Call {
        let at = |id: Id, rest: &str| format!("/api/machines/{id}/{rest}");
        let session = || mail("bob@example.com").session("s 1");
        match (method, path) {
            (
                "GET",
                "/api/health"
                | "/api/attention"
                | "/api/machines"
                | "/api/sessions"
                | "/api/definitions"
                | "/api/approvals"
                | "/api/execution/topology"
                | "/api/operations",
            ) => {
                drop(self.gate_of(session()).await);
                self.doubt(&format!("{path}@example.com")).await;
                self.post("/ecs/continue", &execution(self.question().await)).await;
                Call::get(path)
            }
            ("GET", "/api/agents") => {
                delivered(self).await;
                Call::get(path)
            }
            ("GET", "/api/machines/{id}") => {
                Call::get(&format!("/api/machines/{}", self.order().await))
            }
            ("GET", "/api/machines/{id}/timeline") => {
                Call::get(&at(self.question().await, "timeline"))
            }
            ("GET", "/api/execution/{execution_id}/snapshot") => {
                let id = self.sent(mail("snapshot@example.com")).await;
                Call::get(&format!("/api/execution/{id}/snapshot?audience=internal"))
            }
            ("GET", "/api/execution/{session_id}/timeline") => {
                self.sent(mail("timeline@example.com").session("s 2")).await;
                Call::get("/api/execution/s%202/timeline?audience=internal")
            }
            ("GET", "/api/definitions/{fingerprint}") => {
                self.order().await;
                let known = self.get("/api/definitions").await;
                let fingerprint = known["definitions"][0]["fingerprint"].as_str().unwrap();
                Call::get(&path.replace("{fingerprint}", fingerprint))
            }
            ("GET", "/api/approvals/{id}") => {
                let (gate, _) = self.gate("show@example.com").await;
                Call::get(&format!("/api/approvals/{}", gate.id()))
            }
            ("POST", "/api/execution/{execution_id}/report") => {
                let call = accepted(&self.store, 17).await;
                Call::post(&format!("/{}", call.path), &json!({ "applied": live(17) }))
                    .token(call.token.as_str())
            }
            ("POST", _) => {
                let (situation, act) = situation_of(path);
                let number = path.bytes().map(u32::from).sum();
                let made = self.make(situation, number).await;
                self.request(&made, act).await
            }
            other => panic!("no request exercises {other:?}; add one"),
        }
    }
}

/// An act that uses a route, and a situation in which it is done.
pub(crate) fn situation_of(path: &str) -> (&'static str, &'static str) {
    match path.rsplit('/').next().unwrap() {
        "approve" => ("gate", "approve"),
        "decline" => ("gate", "decline"),
        "confirm" => ("doubt", "applied"),
        "acknowledge" => ("contradicted", "acknowledge"),
        "retry" => ("failed", "retry"),
        "cancel" => ("question", "cancel"),
        "fence" => ("running", "fence"),
        "requeue" => ("set aside", "requeue"),
        "send" => ("order", "send"),
        "respond" => ("question", "respond"),
        "continue" => ("answered", "resume"),
        _ => panic!("no request exercises {path}; add one"),
    }
}

/// The schema of a document in which only the described fields may occur.
fn strict(document: &Value, schema: &Value) -> Value {
    fn parts(value: &Value, of_all: bool, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match (&**name, value) {
                        ("$ref", Value::String(target)) if of_all => {
                            found.insert(target.rsplit('/').next().unwrap().to_owned());
                        }
                        _ => parts(value, name == "allOf", found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| parts(item, of_all, found)),
            _ => {}
        }
    }
    let mut components = document["components"].clone();
    let mut is_part = BTreeSet::new();
    parts(&components, false, &mut is_part);
    for (name, schema) in components["schemas"].as_object_mut().unwrap() {
        let is_whole = schema.get("properties").is_some() || schema.get("allOf").is_some();
        if is_whole && !is_part.contains(name) {
            schema["unevaluatedProperties"] = false.into();
        }
    }
    json!({ "components": components, "allOf": [schema] })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_as_it_is_described() {
    let place = Place::served().await;
    let document = document();
    place.order().await;
    for (method, path) in operations() {
        if path == "/api/events" {
            // It never ends: see `stream`.
            continue;
        }
        let described = &document["paths"][&path][method.to_lowercase()]["responses"];
        let good = place.good(&method, &path).await;
        // A report has the token of its call.
        let good = if path.ends_with("/report") { good } else { good.token(OPERATOR) };
        let answer = place.ask(good).await;
        let response = &described[answer.status.to_string()];
        assert!(answer.status < 300, "{method} {path}: {answer:?}");
        let content = response["content"].as_object();
        let content = content.unwrap_or_else(|| panic!("{method} {path}: {answer:?}"));
        let kind = answer.header("content-type").unwrap();
        let (described, content) = content.iter().next().unwrap();
        assert_eq!(kind, described, "{method} {path}");
        if kind != "application/json" {
            continue;
        }
        let schema = strict(&document, &content["schema"]);
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let found = answer.json();
        let errors: Vec<_> = validator.iter_errors(&found).map(|it| it.to_string()).collect();
        assert!(errors.is_empty(), "{method} {path}: {errors:#?} in {found:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_problem_is_as_it_is_described() {
    let place = Place::served().await;
    let document = document();
    let schema = strict(&document, &json!({ "$ref": "#/components/schemas/Problem" }));
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let answers = [
        place.read("/api/nothing").await,
        place.read("/api/machines?limit=0").await,
        place.read("/api/machines?audience=internal").await,
        place.read(&format!("/api/machines/{}", unknown())).await,
        place.ask(Call::bytes("/api/approvals/approve", "{}").token(OPERATOR)).await,
        place.post(&format!("/api/machines/{}/retry", place.question().await), &json!({})).await,
    ];
    for answer in answers {
        answer.problem(answer.status, "");
        let found = answer.json();
        assert!(validator.is_valid(&found), "{found:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_served() {
    let place = Place::served().await;
    let answer = place.read("/api/openapi.json").await;
    assert_eq!(answer.is(200), document());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert!(document()["openapi"].as_str().unwrap().starts_with("3.1"));
}

#[test]
fn the_document_is_whole() {
    fn check(document: &Value, value: &Value) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(target)) = fields.get("$ref") {
                    let path = target.strip_prefix('#').unwrap();
                    assert!(document.pointer(path).is_some(), "{target} is not there");
                }
                fields.values().for_each(|value| check(document, value));
            }
            Value::Array(items) => items.iter().for_each(|item| check(document, item)),
            _ => {}
        }
    }
    let document = document();
    check(&document, &document);
    let mut names = BTreeSet::new();
    for (method, path) in operations() {
        let operation = &document["paths"][&path][method.to_lowercase()];
        let name = operation["operationId"].as_str().unwrap().to_owned();
        assert!(names.insert(name), "{method} {path} has the name of another one");
        let responses = &operation["responses"];
        for (status, response) in responses.as_object().unwrap() {
            assert!(response["description"].is_string(), "{method} {path} {status}");
        }
    }
}
