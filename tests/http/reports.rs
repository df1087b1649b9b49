//! Services that report the outcome of a call over HTTP (EX-8).

use std::time::Duration;

use machine::{
    contract::{Answer, Call as ToolCall, NoReceipt, Perform, Planned},
    worker::Worker,
};
use machine_console::http::Http;
use machine_tests::cluster::{Deploy, LIMIT, Live, Request, accepted, deploy, live};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::surfaces::{Answer as Reply, Call, OPERATOR, Place, actors, unknown};

async fn report(place: &Place, call: &Request, body: &Value) -> Reply {
    place.ask(Call::post(&format!("/{}", call.path), body).token(call.token.as_str())).await
}

fn applied() -> Value {
    json!({ "applied": live(17) })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_reports_with_the_token_of_the_call() {
    let place = Place::served().await;
    let call = accepted(&place.store, 17).await;
    assert_eq!(report(&place, &call, &applied()).await.is(200), json!({ "report": "settled" }));
    assert_eq!(report(&place, &call, &applied()).await.is(200), json!({ "report": "known" }));
    let other = json!({ "not_applied": "no" });
    assert_eq!(report(&place, &call, &other).await.is(200), json!({ "report": "kept" }));
    let ended = place.get(&format!("/api/execution/{}/snapshot", call.id)).await;
    assert_eq!(ended["current_status"], "completed");
    assert_eq!(ended["result"], serde_json::to_value(live(17)).unwrap().to_string());
}

/// A caller without the call's token learns nothing from any error.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_and_an_unknown_id_get_the_same_answer() {
    let place = Place::served().await;
    let call = accepted(&place.store, 17).await;
    let other = accepted(&place.store, 18).await;
    let doubt = place.doubt("doubt@example.com").await;
    let order = place.order().await;
    let before = place.contents().await;
    let path = |id: &str| format!("/api/execution/{id}/report");
    let (id, token) = (call.id.to_string(), call.token.as_str());
    let mut answers = Vec::new();
    for (id, token) in [
        (id.as_str(), Some(other.token.as_str())),
        (&id, Some("")),
        (&id, Some(OPERATOR)),
        (&id, None),
        (&unknown().to_string(), Some(token)),
        (&doubt.to_string(), Some(token)),
        (&order.to_string(), Some(token)),
        ("no-id", Some(token)),
    ] {
        // The content of the report does not matter, either.
        for body in [applied(), json!({ "odd": 1 })] {
            let call = Call::post(&path(id), &body);
            let call = match token {
                Some(token) => call.token(token),
                None => call,
            };
            let answer = place.ask(call).await;
            answer.problem(401, "no call has this id and this token");
            answers.push(answer.body);
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(place.contents().await, before);
    // Nor does the token read or write anything else.
    for call in [
        Call::get(&format!("/api/machines/{id}")).header("forwarded", "for=192.0.2.1").token(token),
        Call::post(&format!("/api/machines/{id}/cancel"), &json!({})).token(token),
        Call::post(&format!("/api/machines/{id}/fence"), &json!({})).token(token),
    ] {
        place.ask(call).await.problem(401, "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_report_changes_nothing() {
    let place = Place::served_with(Http::tool::<Deploy>).await;
    let call = accepted(&place.store, 17).await;
    let before = place.contents().await;
    let path = format!("/{}", call.path);
    for body in [json!({}), json!({ "applied": 1, "not_applied": "no" }), json!({ "unknown": "x" })]
    {
        report(&place, &call, &body).await.problem(400, "invalid body");
    }
    report(&place, &call, &json!({ "not_applied": 1 })).await.problem(422, "refusal");
    report(&place, &call, &json!({ "applied": "live" })).await.problem(422, "receipt");
    // It would be cut when it is stored.
    for large in ["not_applied", "applied"] {
        let large = json!({ large: "x".repeat(1025 * 1024) });
        report(&place, &call, &large).await.problem(413, "at most 1048576 bytes");
    }
    let text = Call::bytes(&path, "{}").header("content-type", "text/plain");
    place.ask(text.token(call.token.as_str())).await.problem(415, "");
    let page = Call::post(&path, &applied()).header("origin", "http://other.example");
    place.ask(page.token(call.token.as_str())).await.problem(403, "");
    assert_eq!(place.contents().await, before);
    report(&place, &call, &applied()).await.is(200);
}

/// A service with its own connection: it accepts a deployment, and reports later to the given
/// address.
async fn deployments(listener: TcpListener) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::spawn(async move {
            let mut request = Vec::new();
            // The request is one line of JSON.
            while !request.ends_with(b"\n") {
                if stream.read_buf(&mut request).await.unwrap() == 0 {
                    return;
                }
            }
            let request: Value = serde_json::from_slice(&request).unwrap();
            stream.write_all(b"rollout 12\n").await.unwrap();
            drop(stream);
            let text = |name: &str| request[name].as_str().unwrap().to_owned();
            let call = Call::post(
                &format!("/{}", text("path")),
                &json!({ "applied": { "version": request["version"], "region": "eu" } }),
            );
            let (call, to) = (call.token(&text("token")), text("to").parse().unwrap());
            let sent = tokio::task::spawn_blocking(move || call.send(to)).await.unwrap();
            sent.is(200);
        });
    }
}

/// The client of that service.
struct Client {
    service: std::net::SocketAddr,
    /// Where reports go to.
    reports: std::net::SocketAddr,
}

impl Perform<Deploy> for Client {
    async fn perform(&self, call: &ToolCall<Deploy>) -> Answer<Live> {
        let request = json!({
            "version": call.arguments.version,
            "to": self.reports.to_string(),
            "path": call.report_path(),
            "token": call.callback_token().as_str(),
        });
        let mut stream = TcpStream::connect(self.service).await?;
        stream.write_all(format!("{request}\n").as_bytes()).await?;
        let mut reference = String::new();
        stream.read_to_string(&mut reference).await?;
        if reference.is_empty() {
            return Err(NoReceipt::unknown("it was not accepted"));
        }
        call.accepted(reference.trim(), LIMIT)
    }
}

/// The report may come before or after it is on disk that the call was accepted.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_real_service_calls_back() {
    let place = Place::served_with(Http::tool::<Deploy>).await;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let service = listener.local_addr().unwrap();
    let served = tokio::spawn(deployments(listener));
    let client = Client { service, reports: place.address };
    let worker = Worker::new(&place.store, actors()).tool::<Deploy>(client).start();
    let mut ids = Vec::new();
    for version in 1..=8 {
        let mut planned = Planned::<Deploy>::new(deploy(version)).unwrap();
        place.store.plan(&mut planned).await.unwrap();
        ids.push(planned.id());
    }
    for id in ids {
        let ended = async {
            loop {
                let execution: machine::contract::AnyExecution =
                    place.store.load(id).await.unwrap();
                if execution.status().definition().terminal {
                    break execution.status().definition().name.to_string();
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let ended = tokio::time::timeout(machine_tests::STUCK, ended).await.expect("it ends");
        assert_eq!(ended, "completed");
    }
    worker.stop().await.unwrap();
    served.abort();
}
