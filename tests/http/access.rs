//! Access control: the requests that each caller may make.

use machine_console::http::Access;
use serde_json::json;

use crate::http::{
    routes::operations,
    support::{Call, OPERATOR, Place, READER, access, execution, shown, unknown},
};

/// A request for a route, about things that are not there.
fn call(method: &str, path: &str) -> Call {
    let path = path
        .replace("{id}", &unknown().to_string())
        .replace("{execution_id}", &unknown().to_string())
        .replace("{session_id}", "nothing")
        .replace("{machine}", "nothing")
        .replace("{fingerprint}", "nothing");
    match (method, &*path) {
        ("GET", _) => Call::get(&path),
        (_, "/api/approvals/approve") => {
            let gate = json!({ "id": unknown(), "digest": "0".repeat(64) });
            Call::post(&path, &json!({ "gates": [gate] }))
        }
        (_, "/api/approvals/decline") => Call::post(&path, &json!({ "gates": [unknown()] })),
        (_, "/ecs/continue") => Call::post(&path, &execution(unknown())),
        (_, "/ecs/respond") => {
            Call::post(&path, &json!({ "execution_id": unknown(), "response": "x" }))
        }
        (_, path) if path.ends_with("/confirm") => Call::post(path, &json!({ "applied": true })),
        (_, path) if path.ends_with("/send") => Call::post(path, &json!({ "trigger": "x" })),
        _ => Call::post(&path, &json!({})),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_role_reaches_its_routes() {
    let open = Place::new().await;
    let closed = Place::with(|http| http.access(access().tokens_only())).await;
    let before = open.contents().await;
    let apart = |path: &str| {
        // A report has its own token: see `reports`.
        path == "/api/events" || path.starts_with("/api/sign-in") || path.ends_with("/report")
    };
    let routes = operations().into_iter().filter(|(_, path)| !apart(path));
    for (method, path) in routes {
        let nobody = open.ask(call(&method, &path)).await.status;
        let reader = open.ask(call(&method, &path).token(READER)).await.status;
        let operator = open.ask(call(&method, &path).token(OPERATOR)).await.status;
        let stranger = open.ask(call(&method, &path).token("an-unknown-token")).await;
        stranger.problem(401, "not known");
        assert_eq!(stranger.header("www-authenticate"), Some("Bearer"));
        closed.ask(call(&method, &path)).await.problem(401, "send a token");
        let found = if path.contains('{') && path != "/api/execution/topology" { 404 } else { 200 };
        let expected = match (&*method, &*path) {
            ("GET", "/api/operations") => (403, 200, 200),
            ("GET", _) => (found, found, found),
            // A machine that is not there is named in the body, too.
            (_, "/api/machines/{id}/requeue") => (401, 403, operator),
            _ => (401, 403, 404),
        };
        assert_eq!((nobody, reader, operator), expected, "{method} {path}");
    }
    for (method, path) in [("GET", "/api/events"), ("GET", "/api/health")] {
        closed.ask(call(method, path)).await.problem(401, "send a token");
    }
    // The operator's attempts are recorded, if anything was tried; the others' are not.
    for operation in open.get("/api/operations").await["operations"].as_array().unwrap() {
        assert_eq!(operation["by"], "ann");
    }
    let after = open.contents().await;
    let _ = (before, after);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_changes_nothing() {
    let place = Place::new().await;
    let (gate, _) = place.gate("bob@example.com").await;
    let before = place.contents().await;
    for token in [None, Some(READER), Some("an-unknown-token"), Some("")] {
        let body = json!({ "gates": [shown(&gate)] });
        let call = Call::post("/api/approvals/approve", &body);
        let call = match token {
            Some(token) => call.token(token),
            None => call,
        };
        let answer = place.ask(call).await;
        assert!(matches!(answer.status, 401 | 403), "{answer:?}");
        answer.problem(answer.status, "");
    }
    assert_eq!(place.contents().await, before);
}

/// A4: who may not write learns nothing about the body or the path. Before, a wrong body was 400 for everybody.
#[tokio::test(flavor = "multi_thread")]
async fn the_caller_comes_before_the_body() {
    let place = Place::new().await;
    let writes = |(method, path): &(String, String)| {
        method == "POST" && !path.contains("sign-in") && !path.ends_with("/report")
    };
    for (_, path) in operations().into_iter().filter(writes) {
        let path = path.replace("{id}", "not-an-id");
        for body in ["", "[]", "{", r#"{"odd": 1}"#] {
            let call = || Call::bytes(&path, body).header("content-type", "application/json");
            place.ask(call()).await.problem(401, "needs the token of an operator");
            place.ask(call().token(READER)).await.problem(403, "this token can only read");
            let operator = place.ask(call().token(OPERATOR)).await;
            assert!(matches!(operator.status, 400 | 404), "{path}: {operator:?}");
        }
        let form = Call::bytes(&path, "x").header("content-type", "text/plain");
        place.ask(form).await.problem(401, "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn audiences_are_for_their_roles() {
    let place = Place::new().await;
    let id = place.doubt("bob@example.com").await;
    let paths = [
        "/api/attention".to_owned(),
        "/api/machines".to_owned(),
        format!("/api/machines/{id}"),
        format!("/api/machines/{id}/timeline"),
        format!("/api/execution/{id}/snapshot"),
    ];
    for path in paths {
        for (audience, expected) in [
            ("human", [200, 200, 200]),
            ("diagnostic", [403, 200, 200]),
            ("internal", [403, 403, 200]),
        ] {
            let path = format!("{path}?audience={audience}");
            let statuses = [
                place.read(&path).await.status,
                place.ask(Call::get(&path).token(READER)).await.status,
                place.ask(Call::get(&path).token(OPERATOR)).await.status,
            ];
            assert_eq!(statuses, expected, "{path}");
        }
        // By default the document is for people, and has nothing else.
        let default = place.get(&path).await.to_string();
        let key = "idempotency_key";
        assert!(!default.contains(key) && !default.contains("action_detail"), "{default}");
    }
    let snapshot = |audience| format!("/api/execution/{id}/snapshot?audience={audience}");
    let human = place.get(&snapshot("human")).await;
    assert!(human.get("idempotency_key").is_none() && human.get("last_actor").is_none());
    let diagnostic = place.get(&snapshot("diagnostic")).await;
    assert!(diagnostic["idempotency_key"].is_string());
    assert!(diagnostic.get("action_detail").is_none());
    let internal = place.get(&snapshot("internal")).await;
    assert_eq!(internal["action_detail"]["args"]["to"], "bob@example.com", "{internal}");
    place.read("/api/machines?audience=root").await.problem(400, "audience");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authorization_that_is_not_one_is_refused() {
    let place = Place::new().await;
    for value in [
        "",
        "Bearer",
        "Bearer ",
        "bearer",
        "Basic YW5uOmFubg==",
        OPERATOR,
        "Bearer\tx",
        "Bearer operator-token-of-ann x",
        "Bearer operator-token-of-an",
        "Bearer OPERATOR-TOKEN-OF-ANN",
        "Token operator-token-of-ann",
    ] {
        let answer = place.ask(Call::get("/api/health").header("authorization", value)).await;
        answer.problem(401, "");
        assert!(!answer.body.contains("operator-token"), "{answer:?}");
    }
    let twice = Call::get("/api/health").token(OPERATOR).token(OPERATOR);
    place.ask(twice).await.problem(401, "once");
    let health = place.get("/api/health").await;
    assert_eq!(health["access"], json!({ "role": "operator", "name": "ann" }));
    let scheme = Call::get("/api/health").header("authorization", &format!("bEARER {OPERATOR}"));
    assert_eq!(place.ask(scheme).await.is(200)["access"]["role"], "operator");
    let raw = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
        Authorization: Bearer \xff\xfe\r\n\r\n";
    place.raw(*raw).await.problem(401, "");
    assert_eq!(
        place.read("/api/health").await.is(200)["access"],
        json!({ "role": "local", "name": null })
    );
}

#[test]
fn a_token_is_of_one_person() {
    let person = |name| machine::actor::Human::new(name).unwrap();
    let access =
        machine_console::http::Access::new().operator(person("ann"), "secret-of-ann").unwrap();
    let error = access.clone().reader(person("bob"), "secret-of-ann").unwrap_err();
    assert!(error.to_string().contains("the same token"), "{error}");
    let error = access.reader(person("bob"), "short").unwrap_err();
    assert!(error.to_string().contains("at least 12"), "{error}");
}

#[test]
fn tokens_are_not_in_debug_texts() {
    let text = format!("{:?}", access());
    assert!(!text.contains("token-of"), "{text}");
    let short = Access::new().operator(machine::actor::Human::new("ann").unwrap(), "short");
    assert!(short.unwrap_err().to_string().contains("at least 12"));
}
