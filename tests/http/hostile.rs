//! Invalid and hostile requests. Each has a clear answer, and nothing is changed.

use serde_json::json;

use crate::{
    http::routes::operations,
    surfaces::{Call, OPERATOR, Place, shown, unknown},
};

const APPROVE: &str = "/api/approvals/approve";

/// The bytes of a request with the operator's token.
fn request(method: &str, target: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Authorization: Bearer {OPERATOR}\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_is_not_there_and_a_wrong_method_are_problems() {
    let place = Place::served().await;
    let before = place.contents().await;
    for path in "/nothing /api /api/ /api/nothing /ecs /ecs/nothing // /%00 /api/machines/ \
        /api//machines /api/health/"
        .split(' ')
    {
        let answer = place.ask(Call::get(path).token(OPERATOR)).await;
        answer.problem(404, "");
    }
    let id = unknown().to_string();
    for (_, path) in operations() {
        let path = path.replace("{id}", &id).replace("{execution_id}", &id);
        let path = path.replace(['{', '}'], "x");
        for method in ["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "BREW"] {
            let answer = place.raw(request(method, &path, "", b"")).await;
            answer.problem(405, "Allow");
            assert!(answer.header("allow").is_some(), "{method} {path}: {answer:?}");
        }
    }
    assert_eq!(place.contents().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_fit_is_a_problem() {
    let place = Place::served().await;
    let (gate, _) = place.gate("bob@example.com").await;
    let before = place.contents().await;
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(20_000), close.repeat(20_000));
    let gates = format!(r#""gates":[{}]"#, shown(&gate));
    let bodies: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"{".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"\"x\"".to_vec(),
        format!("[[{}]]", shown(&gate)).into_bytes(),
        format!(" [[{}]]", shown(&gate)).into_bytes(),
        b"\xff\xfe".to_vec(),
        b"{\"gates\":[\"\xff\"]}".to_vec(),
        format!("{{{gates}}} x").into_bytes(),
        format!("{{{gates},{gates}}}").into_bytes(),
        format!("{{{gates},\"more\":1}}").into_bytes(),
        format!("\u{feff}{{{gates}}}").into_bytes(),
        deep("[", "]").into_bytes(),
        format!("{{\"gates\":{}}}", deep("[", "]")).into_bytes(),
        deep("{\"gates\":", "}").into_bytes(),
        b"{\"gates\":[\"../../etc/passwd\"]}".to_vec(),
        b"{\"gates\":[\"\\u0000\"]}".to_vec(),
        b"{\"gates\":[\"\\ud800\"]}".to_vec(),
        b"{\"gates\":[1e999]}".to_vec(),
    ];
    for body in bodies {
        let text = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
        let call = Call::bytes(APPROVE, body).header("content-type", "application/json");
        let answer = place.ask(call.token(OPERATOR)).await;
        assert_eq!(answer.status, 400, "{text}: {answer:?}");
        answer.problem(400, "invalid body");
    }
    for kind in ["", "text/plain", "application/json-seq", "text/json", "application/x-json"] {
        let body = format!("{{{gates}}}");
        let call = Call::bytes(APPROVE, body).header("content-type", kind).token(OPERATOR);
        place.ask(call).await.problem(415, "application/json");
    }
    place.ask(Call::bytes(APPROVE, "{}").token(OPERATOR)).await.problem(415, "application/json");
    assert_eq!(place.contents().await, before);
    let call = Call::bytes(APPROVE, format!("{{{gates}}}")).token(OPERATOR);
    place.ask(call.header("content-type", "Application/JSON; charset=utf-8")).await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payload_that_is_deep_is_stored_or_refused() {
    let place = Place::served().await;
    let order = place.order().await;
    for depth in [10, 100, 120, 127, 128, 1000, 50_000] {
        let note = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let body = format!(r#"{{"trigger":"confirm","payload":{{"amount":1,"note":{note}}}}}"#);
        let call = Call::bytes(&format!("/api/machines/{order}/send"), body);
        let answer =
            place.ask(call.header("content-type", "application/json").token(OPERATOR)).await;
        answer.problem(if depth < 126 { 422 } else { 400 }, "");
    }
    place.get(&format!("/api/machines/{order}?audience=internal")).await;
    place.contents().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_has_a_limit() {
    let place = Place::served().await;
    let before = place.contents().await;
    let json = "Content-Type: application/json\r\n";
    assert!(include_str!("../../machine/console/src/docs/http.md").contains("at most 2 MiB,"));
    let large = vec![b' '; 2 * 1024 * 1024 + 1];
    let sized = format!("{json}Content-Length: {}\r\n", large.len());
    place.raw(request("POST", APPROVE, &sized, &large)).await.problem(413, "2097152");
    // It says that it is large, and sends nothing.
    let claimed = format!("{json}Content-Length: 99999999999\r\n");
    place.raw(request("POST", APPROVE, &claimed, b"")).await.problem(413, "2097152");
    // It does not say how large it is.
    let chunks = format!("{:x}\r\n{}\r\n", 1000, "x".repeat(1000)).repeat(2200);
    let chunked = format!("{json}Transfer-Encoding: chunked\r\n");
    place.raw(request("POST", APPROVE, &chunked, chunks.as_bytes())).await.problem(413, "2097152");
    let fits = vec![b' '; 2 * 1024 * 1024];
    let sized = format!("{json}Content-Length: {}\r\n", fits.len());
    place.raw(request("POST", APPROVE, &sized, &fits)).await.problem(400, "invalid body");
    // Two sizes, or none that can be read.
    for sizes in [
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: x\r\n",
    ] {
        let answer = place.raw(request("POST", APPROVE, &format!("{json}{sizes}"), b"{}")).await;
        assert_eq!(answer.status, 400, "{answer:?}");
    }
    assert_eq!(place.contents().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_paths_and_queries_name_nothing() {
    let place = Place::served().await;
    let before = place.contents().await;
    let names = ".. ../.. %2e%2e %2e%2e%2f%2e%2e ..%2f..%2fetc%2fpasswd %00 %0a %ff \
        %F0%9F%98%80 x%27%20OR%201=1-- %3Cscript%3E %252e 01890a5d \
        01890a5dac96774bbcceb302099a805 * %25"
        .split(' ');
    for name in names {
        for path in [
            format!("/api/machines/{name}"),
            format!("/api/machines/{name}/timeline"),
            format!("/api/execution/{name}/snapshot"),
            format!("/api/execution/{name}/timeline"),
            format!("/api/definitions/{name}"),
            format!("/inspector/{name}"),
        ] {
            let answer = place.raw(request("GET", &path, "", b"")).await;
            assert!(matches!(answer.status, 400 | 404), "{path}: {answer:?}");
            answer.problem(answer.status, "");
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        }
    }
    for query in ["%", "%zz", "=", "&&&=", "limit", "%00=1", "limit=%00", "session=%ff"] {
        let answer = place.raw(request("GET", &format!("/api/machines?{query}"), "", b"")).await;
        assert!(matches!(answer.status, 200 | 400 | 404), "{query}: {answer:?}");
    }
    // Values that are longer than a name.
    for long in [5_000, 60_000] {
        let long = "x".repeat(long);
        for path in
            [format!("/api/execution/{long}/timeline"), format!("/api/machines?session={long}")]
        {
            place.raw(request("GET", &path, "", b"")).await.problem(400, "too long");
        }
        place.raw(request("GET", &format!("/api/machines/{long}"), "", b"")).await.problem(404, "");
    }
    // Requests that no server takes are refused by the connection.
    for path in
        [format!("/{}", "x".repeat(1 << 20)), format!("/api/machines?{}", "x".repeat(1 << 20))]
    {
        let answer = place.raw(request("GET", &path, "", b"")).await;
        assert!(matches!(answer.status, 0 | 414 | 431), "{answer:?}");
    }
    let many = (0..5000).map(|at| format!("X-{at}: x\r\n")).collect::<Vec<_>>().concat();
    let answer = place.raw(request("GET", "/api/health", &many, b"")).await;
    assert!(matches!(answer.status, 0 | 431), "{answer:?}");
    assert_eq!(place.contents().await, before);
    place.read("/api/health").await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_not_http_are_refused() {
    let place = Place::served().await;
    for bytes in [
        &b"\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: \x00\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\n Host: localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let bytes = [bytes, &b"\r\n\r\n"[..]].concat();
        let address = place.address;
        let answer = tokio::task::spawn_blocking(move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            std::io::Write::write_all(&mut stream, &bytes).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut text = Vec::new();
            let _ = std::io::Read::read_to_end(&mut stream, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let answer = answer.await.unwrap();
        assert!(!answer.contains(" 200 ") && !answer.contains(" 500 "), "{answer}");
    }
    // Two requests on one connection: the second is parsed as a request, not as part of a body.
    let smuggled = b"POST /api/approvals/approve HTTP/1.1\r\nHost: localhost\r\n\
        Content-Length: 4\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
        0\r\n\r\nGET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answer = place.raw(*smuggled).await;
    assert!(!answer.body.contains("\"ok\""), "{answer:?}");
    place.read("/api/health").await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn data_of_a_machine_cannot_break_out() {
    let place = Place::served().await;
    let evil = "</script><script>alert(1)</script>\r\nX-Evil: 1\u{202e}\u{0}";
    let id = place.sent(machine_tests::samples::mail(evil)).await;
    for path in [format!("/api/machines/{id}?audience=internal"), "/api/machines".to_owned()] {
        let answer = place.ask(Call::get(&path).token(OPERATOR)).await;
        answer.is(200);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("x-evil"), None);
    }
    let reason = json!({ "reason": evil });
    place.post(&format!("/api/machines/{id}/cancel"), &reason).await.problem(409, "");
}

/// Invisible characters are escaped in every answer and event, and read back unchanged: a person
/// may look at them in a terminal.
#[tokio::test(flavor = "multi_thread")]
async fn no_answer_has_characters_that_cannot_be_seen() {
    let place = Place::served().await;
    let odd = "a\u{9b}2Jb\u{85}c\u{202e}d\u{e0041}e";
    let mut question = machine_tests::samples::asked(odd);
    place.store.create(&mut question).await.unwrap();
    let (gate, planned) = place.gate(odd).await;
    let paths = [
        format!("/api/machines/{}", question.id()),
        format!("/api/machines/{}", gate.id()),
        format!("/api/machines/{}", planned.id()),
        format!("/api/machines/{}/timeline", question.id()),
        "/api/machines".to_owned(),
        "/api/approvals".to_owned(),
        "/api/attention".to_owned(),
        format!("/api/machines/{odd}").replace(|one: char| !one.is_ascii(), "%C2%9B"),
    ];
    let mut found = 0;
    for path in paths {
        let answer = place.ask(Call::get(&path).token(OPERATOR)).await;
        let is_seen = |one: char| !one.is_control() && !"\u{202e}\u{e0041}".contains(one);
        assert!(answer.body.chars().all(is_seen), "{path}: {:?}", answer.body);
        assert!(answer.header("content-type").unwrap().contains("json"), "{path}");
        found += usize::from(answer.json().to_string().contains(odd));
    }
    assert!(found > 0, "no answer has the text");
}
