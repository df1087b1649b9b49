//! Access control: the requests that each caller may make.

use serde_json::json;

use crate::{
    http::routes::{operations, situation_of},
    surfaces::{Call, OPERATOR, Place, READER, access, unknown},
};

impl Place {
    /// A request for a route, about things that are not there.
    async fn call(&self, method: &str, path: &str) -> Call {
        if method == "POST" {
            let nothing = self.make("unknown", 0).await;
            return self.request(&nothing, situation_of(path).1).await;
        }
        let path = path
            .replace("{id}", &unknown().to_string())
            .replace("{execution_id}", &unknown().to_string())
            .replace("{session_id}", "nothing")
            .replace("{machine}", "nothing")
            .replace("{fingerprint}", "nothing");
        Call::get(&path)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_role_reaches_its_routes() {
    let open = Place::served().await;
    let closed = Place::served_with(|http| http.access(access().tokens_only())).await;
    let before = open.contents().await;
    let apart = |path: &str| {
        // A report has its own token: see `reports`.
        path == "/api/events" || path.ends_with("/report")
    };
    let routes = operations().into_iter().filter(|(_, path)| !apart(path));
    let routes: Vec<_> = routes.collect();
    for (method, path) in &routes {
        for token in [None, Some(READER), Some("")] {
            let call = open.call(method, path).await;
            open.ask(match token {
                Some(token) => call.token(token),
                None => call,
            })
            .await;
        }
    }
    assert_eq!(open.contents().await, before);
    for (method, path) in routes {
        let anonymous = open.ask(open.call(&method, &path).await).await.status;
        let reader = open.ask(open.call(&method, &path).await.token(READER)).await.status;
        let operator = open.ask(open.call(&method, &path).await.token(OPERATOR)).await.status;
        let stranger = open.ask(open.call(&method, &path).await.token("an-unknown-token")).await;
        stranger.problem(401, "unknown token");
        assert_eq!(stranger.header("www-authenticate"), Some("Bearer"));
        closed.ask(open.call(&method, &path).await).await.problem(401, "send a token");
        let found = if path.contains('{') && path != "/api/execution/topology" { 404 } else { 200 };
        let expected = match (&*method, &*path) {
            ("GET", "/api/operations") => (403, 200, 200),
            ("GET", _) => (found, found, found),
            _ => (401, 403, 404),
        };
        assert_eq!((anonymous, reader, operator), expected, "{method} {path}");
    }
    for (method, path) in [("GET", "/api/events"), ("GET", "/api/health")] {
        closed.ask(open.call(method, path).await).await.problem(401, "send a token");
    }
    // The operator's attempts are recorded, if anything was tried; the others' are not.
    for operation in open.get("/api/operations").await["operations"].as_array().unwrap() {
        assert_eq!(operation["by"], "ann");
    }
}

/// A caller who may not write learns nothing about the body or the path.
#[tokio::test(flavor = "multi_thread")]
async fn the_caller_comes_before_the_body() {
    let place = Place::served().await;
    let writes = |(method, path): &(String, String)| method == "POST" && !path.ends_with("/report");
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
    let place = Place::served().await;
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
    let place = Place::served().await;
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
fn a_token_is_long_secret_and_of_one_person() {
    let person = |name| machine::actor::Human::new(name).unwrap();
    for (token, text) in [(OPERATOR, "the same token"), ("short", "at least 12")] {
        let error = access().reader(person("eve"), token).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
        let error = access().operator(person("eve"), token).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    let text = format!("{:?}", access());
    assert!(!text.contains("token-of"), "{text}");
}
