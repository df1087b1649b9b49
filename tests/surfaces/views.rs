//! Both surfaces show the same documents.

use machine_tests::samples::{contradicted, mail};
use serde_json::{Value, json};

use super::{Call, OPERATOR, Place, act_table::situation_rows};

/// Without what depends on the moment.
fn still(document: Value) -> Value {
    match document {
        Value::String(text) if text.contains(" s ago") => Value::Null,
        Value::Array(items) => items.into_iter().map(still).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(name, _)| name != "duration_in_state_ms");
            fields.map(|(name, value)| (name, still(value))).collect()
        }
        other => other,
    }
}

impl Place {
    /// The document of a command, which is that of a route.
    async fn alike(&self, command: &[&str], path: &str) -> Value {
        let printed = still(self.json(command));
        let answered = still(self.get(path).await);
        for (name, value) in printed.as_object().unwrap() {
            assert_eq!(*value, answered[name], "`{name}` of {command:?} and {path}");
        }
        printed
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_is_shown_alike_in_each_situation() {
    let place = Place::served().await;
    for (number, [situation, offered, ..]) in (0..).zip(situation_rows()) {
        let id = place.make(situation, number).await.id.to_string();
        for audience in ["human", "diagnostic", "internal"] {
            let path = format!("/api/machines/{id}?audience={audience}");
            let shown = place.alike(&["show", &id, "--audience", audience], &path).await;
            let next = shown["next"].as_array().unwrap().iter();
            let next: Vec<_> = next.map(|step| step["do"].as_str().unwrap()).collect();
            assert_eq!(
                next,
                offered.split_whitespace().collect::<Vec<_>>(),
                "{situation}: {shown}"
            );
        }
        let path = format!("/api/machines/{id}/timeline?audience=internal");
        place.alike(&["timeline", &id, "--audience", "internal"], &path).await;
    }
    for audience in ["human", "diagnostic", "internal"] {
        let attention = place.json(&["list", "--attention-only", "--audience", audience]);
        let path = format!("/api/attention?limit=50&audience={audience}");
        assert_eq!(still(attention["attention"].clone()), still(place.get(&path).await));
    }
    let path = "/api/execution/topology";
    place.alike(&["topology", "execution"], path).await;
}

/// A timeline says that its machine cannot be read, which may lack entries; a machine is not shown
/// without that.
#[tokio::test(flavor = "multi_thread")]
async fn a_timeline_says_that_its_machine_cannot_be_read() {
    for (edit, reason) in [
        (
            "DELETE FROM journal WHERE number = (SELECT max(number) FROM journal)",
            "of its journal is missing",
        ),
        ("UPDATE instance SET updated_at = updated_at + 1", "the seal does not match"),
        ("UPDATE instance SET status = 'nonsense'", "the seal does not match"),
    ] {
        let place = Place::served().await;
        let id = place.failed("bob@example.com").await;
        place.edit(edit);
        let id = id.to_string();
        let problem = "newer entries may be missing; `verify` reports the reason";
        for (audience, text) in [("human", problem), ("internal", reason)] {
            let ran = place.run(&["timeline", &id, "--audience", audience]);
            assert_eq!(ran.code, 3, "{edit}: {ran:?}");
            assert!(ran.out.contains(text), "{edit}: {ran:?}");
            assert!(ran.out.contains("PENDING → RUNNING"), "{edit}: {ran:?}");
            let ran = place.run(&["timeline", &id, "--audience", audience, "--json"]);
            assert_eq!(ran.code, 3, "{edit}: {ran:?}");
            let path = format!("/api/machines/{id}/timeline?audience={audience}");
            let answered = place.get(&path).await;
            for timeline in [ran.json(), answered] {
                let said = timeline["problem"].as_str().unwrap();
                assert!(said.contains(problem), "{edit}: {timeline}");
                let error = timeline["error"].as_str();
                assert_eq!(error.is_some(), audience == "internal", "{edit}: {timeline}");
                assert!(error.is_none_or(|it| it.contains(reason)), "{edit}: {timeline}");
                assert!(timeline["events"].as_array().unwrap().len() >= 2, "{edit}: {timeline}");
            }
        }
        place.run(&["show", &id]).failed(1, reason);
        let shown = place.ask(Call::get(&format!("/api/machines/{id}")).token(OPERATOR)).await;
        shown.problem(409, reason);
    }
}

/// A list filters by the names that it offers; a name that nothing has is an error, and lists those
/// that exist.
#[tokio::test(flavor = "multi_thread")]
async fn lists_are_filtered_alike() {
    let place = Place::served().await;
    let order = place.order().await;
    let done = place.sent(mail("done@example.com").session("s 1")).await;
    let doubt = place.doubt("doubt@example.com").await;
    let failed = place.failed("failed@example.com").await;
    let odd = contradicted(&place.store, "odd@example.com").await;
    let (gate, planned) = place.gate("gate@example.com").await;
    let (gate, planned) = (gate.id(), planned.id());
    let (yes, released) = place.gate("yes@example.com").await;
    let (approved, released) = (yes.id(), released.id());
    drop(machine_tests::approve(&place.store, yes, machine_tests::actors::ann()).await.unwrap());
    let key = mail("failed@example.com").idempotency_key().unwrap().as_str().to_owned();
    for (filter, expected) in [
        (&[("machine", "order")][..], &[order][..]),
        (&[("machine", "execution"), ("status", "completed")], &[approved, done]),
        (&[("session", "s 1")], &[done]),
        (&[("key", &*key)], &[failed]),
        (&[("release", "deferred")], &[planned]),
        (&[("release", "released")], &[released]),
        (&[("release", "refused")], &[]),
        // Labels as the lists show them, in any case.
        (&[("status", "SUCCESS")], &[approved, done]),
        (&[("status", "in_doubt")], &[doubt]),
        (&[("status", "CONTRADICTED")], &[odd]),
        (&[("status", "DEFERRED")], &[planned]),
        (&[("status", "Asking")], &[order]),
        // By its name it is every execution in the state.
        (&[("status", "failed")], &[odd, failed]),
        (&[("status", "waiting")], &[gate, doubt]),
        (&[("status", "paid")], &[]),
        (&[("limit", "3")], &[released, approved, planned]),
        (&[("order", "oldest"), ("limit", "2")], &[order, done]),
    ] {
        let (words, path) = asked(filter);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let listed = place.json(&[&["list"], &*words].concat());
        let answered = place.get(&path).await;
        for field in ["machines", "unreadable", "next"] {
            assert_eq!(still(listed[field].clone()), still(answered[field].clone()), "{filter:?}");
        }
        let machines = listed["machines"].as_array().unwrap().iter();
        let ids: Vec<_> = machines.map(|machine| machine["id"].clone()).collect();
        assert_eq!(ids, expected.iter().map(|id| json!(id)).collect::<Vec<_>>(), "{filter:?}");
        // A filter selects what needs attention, too.
        if !matches!(filter[0].0, "limit" | "order") {
            let concerns = listed["attention"]["concerns"].as_array().unwrap();
            assert!(
                concerns.iter().all(|one| ids.contains(&one["id"])),
                "{filter:?}: {concerns:?}"
            );
        }
    }
    for (filter, text) in [
        (&[("machine", "Order")][..], "unknown kind `Order`; known: `execution`, `order`"),
        (&[("status", "nope")], "unknown state `nope`; known: `ASKING`, `CANCELLED`, "),
        (
            &[("machine", "order"), ("status", "SUCCESS")],
            "unknown state `SUCCESS` of `order`; known: `ASKING`, `CANCELLED`, `PAID`, `PAYING`",
        ),
        (&[("session", "s")], "no machine belongs to the session `s`; known: `s 1`"),
    ] {
        let (words, path) = asked(filter);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        place.run(&[&["list"], &*words].concat()).failed(2, text);
        place.read(&path).await.problem(404, text);
    }
    // A key without an execution is an answer; a text that is no key is a mistake.
    let unused = format!("email:send:{:064}", 0);
    assert_eq!(place.json(&["list", "--key", &unused])["machines"], json!([]));
    for wrong in ["nope", "email:send", &unused[..unused.len() - 1], &unused[10..]] {
        let text = "is not an idempotency key, which ends with a colon and 64 hexadecimal digits";
        place.run(&["list", "--key", wrong]).failed(2, text);
        let (_, path) = asked(&[("key", wrong)]);
        place.ask(Call::get(&path).token(OPERATOR)).await.problem(400, text);
    }
    // Pages are whole, although most rows of the state have another label.
    for number in 0..7 {
        drop(place.gate(&format!("{number}@example.com")).await);
    }
    let newer = place.doubt("newer@example.com").await;
    let mut after = String::new();
    for (via, expected) in [("first", newer), ("second", doubt)] {
        let page = place.json(
            &["list", "--status", "IN_DOUBT", "--limit", "1", &format!("--after={after}")]
                [..if after.is_empty() { 5 } else { 6 }],
        );
        assert_eq!(page["machines"][0]["id"], json!(expected), "{via}");
        page["next"].as_str().unwrap_or_default().clone_into(&mut after);
    }
}

/// The options of `list`, and the path of the same list.
fn asked(filter: &[(&str, &str)]) -> (Vec<String>, String) {
    let words = filter.iter().flat_map(|(name, value)| [format!("--{name}"), (*value).to_owned()]);
    let escaped = |value: &str| {
        let bytes: Vec<_> = value.bytes().map(|byte| format!("%{byte:02x}")).collect();
        bytes.concat()
    };
    let query = filter.iter().map(|(name, value)| format!("{name}={}", escaped(value)));
    (words.collect(), format!("/api/machines?{}", query.collect::<Vec<_>>().join("&")))
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_and_the_operator_log_are_shown_alike() {
    let place = Place::served().await;
    let session = "meeting with Bob / a–z?";
    let encoded = "meeting%20with%20Bob%20%2F%20a%E2%80%93z%3F";
    place.sent(mail("bob@example.com").session(session)).await;
    let (gate, _) = place.gate_of(mail("eve@example.com").session(session)).await;
    let (gate, path) = (gate.id().to_string(), format!("/api/execution/{encoded}/timeline"));
    let open = place.alike(&["timeline", "--session", session], &path).await;
    assert_eq!((&open["active_contracts"], &open["ended_at"]), (&json!(2), &Value::Null), "{open}");
    for (person, code) in [("bob O'Neil", 0), ("ann", 1), ("eve", 1)] {
        let words = ["decline", &*gate, "--as", person, "--reason", "no", "--yes"];
        assert_eq!(place.run(&words).code, code, "{person}");
    }
    let over = place.alike(&["timeline", "--session", session], &path).await;
    assert_eq!(over["active_contracts"], 0, "{over}");
    assert!(over["ended_at"].is_i64(), "{over}");

    let log = place.json(&["operations"]);
    let lines = log["operations"].as_array().unwrap();
    let of = |name: &str| lines.iter().map(|line| line[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("number"), [3, 2, 1]);
    assert_eq!(of("by"), ["eve", "ann", "bob O'Neil"]);
    assert!(lines[0]["outcome"].as_str().unwrap().starts_with("refused: "), "{log}");
    let expected = json!({
        "number": 1, "at": lines[2]["at"], "by": "bob O'Neil", "via": "cli", "operation": "decline",
        "machines": [gate], "detail": "no", "outcome": "done",
    });
    assert_eq!(lines[2], expected);
    let (mut paged, mut after) = (Vec::new(), String::new());
    loop {
        let words = ["operations", "--limit", "2", "--after", &*after];
        let page = place.json(&words[..if after.is_empty() { 3 } else { 5 }]);
        let query = if after.is_empty() { String::new() } else { format!("&after={after}") };
        let call = Call::get(&format!("/api/operations?limit=2{query}")).token(OPERATOR);
        let answered = place.ask(call).await.is(200);
        assert_eq!(
            (&page["operations"], &page["next"]),
            (&answered["operations"], &answered["next"])
        );
        paged.extend(page["operations"].as_array().unwrap().clone());
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut after),
            None => break,
        }
    }
    assert_eq!(paged, *lines);
}
