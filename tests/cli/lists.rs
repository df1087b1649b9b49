//! `list`, `show`, `timeline`, `topology` and `prompt`.

use std::process::Stdio;

use machine::{
    Id,
    contract::{AnyExecution, Contract},
};
use machine_tests::{actors::reasoning_node, invoked::reading, samples::mail};
use serde_json::{Value, json};

use crate::surfaces::{Place, Ran, bare, end};

#[tokio::test]
async fn concerns_come_first() {
    let place = Place::new().await;
    let other = place.pending("eve@example.com").await;
    let (gate, planned) = place.gate("bob@example.com").await;
    let doubt = place.doubt("carl@example.com").await;

    let ran = place.run(&["list"]);
    let position = |text: &str| ran.done().find(text).unwrap_or_else(|| panic!("{text}: {ran:?}"));
    let (doubt, gate) = (end(doubt)[4..].to_owned(), end(gate.id())[4..].to_owned());
    assert!(position("Needs attention") < position(&doubt));
    assert!(position(&doubt) < position(&gate));
    assert!(position(&gate) < position("Machines"));
    assert!(position("Machines") < position(&end(other)[4..]));
    assert!(position("Machines") < position(&end(planned.id())[4..]));
    for found in ["applied", "not-applied"] {
        assert!(ran.out.contains(&format!("confirm {doubt} {found} --as NAME")), "{ran:?}");
    }
    assert!(ran.out.contains(&format!("approve {gate} --as NAME")));
    assert_eq!(ran.out.matches(&format!(" {gate} │")).count(), 1, "{ran:?}");

    let only = place.run(&["list", "--attention-only"]);
    assert!(!only.done().contains("Machines"), "{only:?}");
}

/// A filter selects before the limit cuts.
#[tokio::test]
async fn concerns_of_other_machines_hide_nothing() {
    let place = Place::new().await;
    let question = async |session: &str| {
        let contract = Contract::ecs_request("Which port?", reasoning_node()).unwrap();
        place.question_of(contract.session(session)).await
    };
    for _ in 0..4 {
        question("loud").await;
    }
    let doubt = place.doubt("bob@example.com").await;
    let quiet = question("quiet").await;
    for arguments in [&["--limit", "2"][..], &["--limit", "2", "--attention-only"]] {
        let arguments = [&["list", "--session", "quiet"], arguments].concat();
        let listed = place.run(&arguments);
        assert!(listed.done().contains("waits for a person"), "{listed:?}");
        assert!(!listed.out.contains("There are more"), "{listed:?}");
        let concerns = &place.json(&arguments)["attention"]["concerns"];
        assert_eq!(concerns.as_array().unwrap().len(), 1, "{concerns}");
        assert_eq!(concerns[0]["id"], quiet.to_string());
    }
    let loud = place.json(&["list", "--session", "loud", "--limit", "2"]);
    assert_eq!(loud["attention"]["concerns"].as_array().unwrap().len(), 2);
    assert_eq!(loud["attention"]["truncated"], true);
    let waiting = place.json(&["list", "--status", "waiting", "--limit", "9"]);
    assert_eq!(waiting["attention"]["concerns"].as_array().unwrap().len(), 6, "{waiting}");
    let doubtful = place.json(&["list", "--key", &mail_key(), "--limit", "1"]);
    assert_eq!(doubtful["attention"]["concerns"][0]["id"], doubt.to_string(), "{doubtful}");
    let none = place.run(&["list", "--status", "failed", "--attention-only"]);
    assert_eq!(none.done(), "Nothing needs attention.\n");
}

/// The views of a session say that some of its executions cannot be read.
#[tokio::test]
async fn unreadable_executions_are_counted() {
    let place = Place::new().await;
    let mut ids = Vec::new();
    for about in ["ports", "hosts"] {
        let contract = Contract::ecs_request("Which?", reasoning_node()).unwrap();
        ids.push(place.question_of(contract.about(about).session("notes")).await);
    }
    place.edit_machine(ids[0], "UPDATE instance SET state = '{\"evil\": 1}' WHERE id = ID");
    let timeline = place.run(&["timeline", "--session", "notes"]);
    assert!(timeline.done().contains("1 more cannot be read"), "{timeline:?}");
    let prompt = place.run(&["prompt", "--session", "notes"]);
    let (first, rest) = prompt.done().split_once('\n').unwrap();
    assert!(first.starts_with("(unreadable executions: 1;"), "{prompt:?}");
    assert!(rest.contains("\n\n[WAITING] ecs.confirm → hosts"), "{prompt:?}");
    assert_eq!(place.json(&["prompt", "--session", "notes"])["unreadable"], 1);
    let listed = place.run(&["list", "--session", "notes"]);
    assert!(listed.done().contains("unreadable"), "{listed:?}");
}

fn mail_key() -> String {
    mail("bob@example.com").idempotency_key().unwrap().as_str().to_owned()
}

#[tokio::test]
async fn ids_can_be_shortened() {
    let place = Place::new().await;
    let (first, second) = (place.order().await, place.order().await);
    for text in [first.to_string(), end(first), first.to_string().to_uppercase()] {
        assert!(place.run(&["show", &text]).done().contains(&first.to_string()), "{text}");
    }
    place.run(&["show", &end(first)[5..]]).failed(4, "is too short; give the last 8 digits");
    // Both end with the same digits.
    let twin = format!("{}{}", &first.to_string()[..24], &end(second));
    place.edit_machine(
        first,
        &format!("UPDATE instance SET id = x'{}' WHERE id = ID", twin.replace('-', "")),
    );
    let ran = place.run(&["show", &end(second)]);
    ran.failed(4, "matches 2 ids");
    assert!(ran.err.contains(&twin) && ran.err.contains(&second.to_string()));
    let longer = format!("{}{}", &second.to_string()[19..23], &end(second));
    assert!(place.run(&["show", &longer]).done().contains(&second.to_string()));
    for unknown in ["00000000-0000-7000-8000-000000000000", "ffffffffffff", "bob", "", "ä", "-"] {
        let ran = place.run(&["show", "--", unknown]);
        assert_eq!((ran.code, ran.out.as_str()), (4, ""), "{unknown:?}: {ran:?}");
    }
}

#[tokio::test]
async fn each_audience_sees_its_own() {
    let place = Place::new().await;
    let doubt = place.doubt("bob@example.com").await.to_string();
    let human = place.run(&["show", &doubt]).done().to_owned();
    assert!(human.contains("IN_DOUBT") && human.contains("Did this take effect"), "{human}");
    assert!(human.contains(&format!("confirm {doubt} not-applied --as NAME")), "{human}");
    assert!(!human.contains(&mail_key()) && !human.contains("tool_node"), "{human}");

    let timeline = place.run(&["timeline", &doubt]);
    assert!(timeline.done().contains("RUNNING → WAITING (suspend)"), "{timeline:?}");
    assert!(!timeline.out.contains("tool_node"), "{timeline:?}");
    let diagnostic = place.run(&["timeline", &doubt, "--audience", "diagnostic"]);
    assert!(diagnostic.done().contains("tool tool_node test"), "{diagnostic:?}");

    let order = end(place.order().await);
    place.run(&["cancel", &order, "--as", "ann", "--reason", "enough"]).done();
    place.work().await;
    place.run(&["show", &order]).shows(&["hidden       1 field; --audience internal shows it"]);
    let internal = place.run(&["show", &order, "--audience", "internal"]);
    assert!(internal.done().contains("reason: enough"), "{internal:?}");
    assert!(!internal.out.contains("--audience"), "{internal:?}");
}

#[tokio::test]
async fn a_session_has_a_timeline_and_a_prompt() {
    let place = Place::new().await;
    let contract = Contract::ecs_request("Which port?", reasoning_node()).unwrap();
    place.question_of(contract.session("notes")).await;
    let timeline = place.run(&["timeline", "--session", "notes"]);
    assert!(timeline.done().starts_with("notes: 1 executions, 0 ended, 1 not ended\n"));
    assert!(timeline.out.contains("running → waiting (suspend)"), "{timeline:?}");
    assert_eq!(place.json(&["timeline", "--session", "notes"])["total_contracts"], 1);
    let prompt = place.run(&["prompt", "--session", "notes"]);
    assert!(prompt.done().contains("\n\n[WAITING] "), "{prompt:?}");
    assert_eq!(place.json(&["prompt", "--session", "notes"])["prompt"], prompt.out.trim_end());
    place.run(&["timeline"]).failed(2, "required");
}

/// Without a session of its own, that of a call is the id of its machine.
#[tokio::test]
async fn the_end_of_an_id_names_its_session() {
    let place = Place::new().await;
    let (errand, _gate, mail) = place.parent_of("bob@example.com").await;
    place.run(&["timeline", "--session", &end(errand)]).shows(&[&mail.id().to_string()]);
    let prompt = place.json(&["prompt", "--session", &end(errand)]);
    assert_eq!(prompt["session"], errand.to_string());
    let listed = place.json(&["list", "--session", &end(errand)]);
    assert!(ids(&listed).contains(&mail.id().to_string()), "{listed}");
    // It is no session, although it is a machine.
    let unknown = place.run(&["timeline", "--session", &end(mail.id())]);
    unknown.failed(2, "no machine belongs to the session");
}

#[tokio::test]
async fn a_topology_is_drawn() {
    let place = Place::new().await;
    place.order().await;
    assert!(place.run(&["topology"]).done().contains("order"));
    let table = place.run(&["topology", "order"]);
    assert!(table.done().contains("terminal     PAID, CANCELLED"), "{table:?}");
    for (format, start) in [("svg", "<svg"), ("mermaid", "stateDiagram-v2\n"), ("json", "{")] {
        let drawn = place.run(&["topology", "order", "--format", format]);
        assert!(drawn.done().starts_with(start), "{drawn:?}");
    }
    assert_eq!(place.json(&["topology", "order"])["initial_status"], "asking");
    assert_eq!(place.json(&["topology"])["kinds"][0]["machine"], "order");
    place.run(&["topology", "none"]).failed(2, "it has `order`");
}

#[tokio::test]
async fn colours_only_where_they_are_wanted() {
    let place = Place::new().await;
    place.doubt("bob@example.com").await;
    assert!(!place.run(&["list"]).done().contains('\u{1b}'));
    assert!(place.run(&["list", "--color", "always"]).done().contains('\u{1b}'));
    let plain = Ran::of(place.command(&["list", "--color", "never"]).env("CLICOLOR_FORCE", "1"));
    assert!(!plain.done().contains('\u{1b}'));
}

#[test]
fn a_file_is_required() {
    Ran::of(&mut bare(&["list"])).failed(2, "--db FILE");
    Ran::of(bare(&["list"]).env("MACHINE_DB", "/nonexistent/agent.db")).failed(5, "agent.db");
}

#[tokio::test]
async fn an_empty_list_is_shown_as_it_is() {
    let place = Place::new().await;
    let id = end(reading(&place.store, 0).await);
    place.run(&["show", &id, "--audience", "internal"]).shows(&["reads: []"]);
}

/// An unknown session differs from an empty one, and an empty file from one in which nothing
/// matches.
#[tokio::test]
async fn what_nothing_has_is_named() {
    let place = Place::new().await;
    place.sent(mail("bob@example.com").session("monday")).await;
    for command in ["timeline", "prompt"] {
        let unknown = place.run(&[command, "--session", "mond"]);
        unknown.failed(2, "no machine belongs to the session `mond`; known: `monday`");
        let json = place.run(&[command, "--session", "mond", "--json"]);
        assert_eq!((json.code, &*json.out), (2, ""));
    }
    place.run(&["list", "--status", "UNCONFIRMED"]).failed(2, "unknown state `UNCONFIRMED`");
    place.order().await;
    let other = place.run(&["list", "--release", "deferred", "--machine", "order"]);
    other.failed(1, "only executions of the library have gates");
    let empty = Place::new().await;
    empty.run(&["list", "--session", "x"]).failed(2, "none exist");
    // Of the library's own kind there may be none yet.
    let none = empty.run(&["list", "--machine", "execution", "--status", "SUCCESS"]);
    none.shows(&["No machine matches"]);
}

/// The ids of the machines of a document, in its order.
fn ids(document: &Value) -> Vec<String> {
    let machines = document["machines"].as_array().unwrap().iter();
    machines.map(|machine| machine["id"].as_str().unwrap().to_owned()).collect()
}

/// The machine that a parent waits for, and what a person does about it.
#[tokio::test]
async fn a_parent_shows_the_gate_of_its_child() {
    let place = Place::new().await;
    let (id, gate, planned) = place.parent_of("bob@example.com").await;
    let (of, child) = (gate.id(), planned.id());
    let text = place.run(&["show", &end(id)]);
    text.shows(&["DEFERRED", &format!("its gate {of}"), &format!("approve {of} --as NAME")]);
    text.shows(&[&format!(
        "waits for    its child {child}: email.send → bob@example.com, DEFERRED"
    )]);
    assert_eq!(place.json(&["show", &end(child)])["parent"], json!(id));
    let open = place.json(&["show", &end(id)])["children"][0]["open"].clone();
    assert_eq!((&open["label"], &open["gate"]), (&json!("DEFERRED"), &json!(of)), "{open}");
    assert!(open["question"].as_str().unwrap().starts_with("Allow email.send?"), "{open}");
    place.run(&["approve", &end(of), "--as", "ann", "--yes"]).done();
    place.work().await;
    let open = place.json(&["show", &end(id)])["children"][0]["open"].clone();
    assert_eq!((&open["label"], &open["gate"]), (&json!("NOT_STARTED"), &json!(null)), "{open}");
    // No worker has its tool.
    assert!(open["missing"].as_str().unwrap().contains("email.send"), "{open}");
}

/// `--order oldest` reverses the list.
#[tokio::test]
async fn the_newest_machine_is_first() {
    let place = Place::new().await;
    let mut orders = Vec::new();
    for _ in 0..3 {
        orders.push(place.order().await.to_string());
    }
    let oldest = orders.clone();
    orders.reverse();
    assert_eq!(ids(&place.json(&["list"])), orders);
    let page = place.run(&["list", "--limit", "1", "--order=oldest"]);
    let next = page.done().split("for the next page, pass ").nth(1).unwrap().trim().to_owned();
    let arguments: Vec<_> =
        ["list", "--limit", "1", "--json"].into_iter().chain(next.split(' ')).collect();
    let next: Value = serde_json::from_str(place.run(&arguments).done()).unwrap();
    assert_eq!(ids(&next), [oldest[1].clone()]);
    place.run(&["list", "--after=oldest.1"]).failed(1, "order");
    place.run(&["list", "--after=nonsense"]).failed(2, "is not a cursor");
    for command in ["list", "operations"] {
        for wrong in ["0", "-1", "x", "99999999999999999999"] {
            let ran = place.run(&[command, &format!("--limit={wrong}")]);
            ran.failed(2, "it must be a number from 1 to 4294967295");
        }
    }
}

/// All that have not ended are reported, even beyond the limit; a list shows the others.
#[tokio::test]
async fn unreadable_machines_always_need_attention() {
    let place = Place::new().await;
    let (gate, _planned) = place.gate("bob@example.com").await;
    let orders = [place.order().await, place.order().await];
    let done = place.sent(mail("bob@example.com").session("monday")).await;
    for number in 0..3 {
        place.sent(mail(&format!("{number}@example.com")).session("monday")).await;
    }
    place.edit_machine(gate.id(), "UPDATE instance SET updated_at = updated_at + 1 WHERE id = ID");
    place.edit_machine(orders[0], "UPDATE instance SET status = 'paid' WHERE id = ID");
    place.edit_machine(orders[1], "UPDATE instance SET status = 'nowhere' WHERE id = ID");
    place.edit_machine(
        done,
        "UPDATE context SET body = replace(body, 'bob', 'eve') WHERE instance = (SELECT no FROM instance WHERE id = ID)",
    );
    place.store.load::<AnyExecution>(done).await.unwrap_err();
    let broken = [gate.id(), orders[0], orders[1]];
    let attention = place.json(&["list", "--attention-only", "--limit", "1"]);
    let concerns = attention["attention"]["concerns"].as_array().unwrap();
    let unreadable = concerns.iter().filter(|one| one["reason"] == "unreadable");
    let mut unreadable: Vec<_> = unreadable.map(|one| one["id"].as_str().unwrap()).collect();
    let mut expected: Vec<_> = broken.iter().map(Id::to_string).collect();
    unreadable.sort_unstable();
    expected.sort_unstable();
    assert_eq!(unreadable, expected, "{attention:#}");
    let listed = place.run(&["list"]);
    for id in broken.into_iter().chain([done]) {
        assert!(listed.done().contains(&end(id)[4..]), "{id}: {listed:?}");
    }
}

#[tokio::test]
async fn a_closed_output_is_not_an_error() {
    let place = Place::new().await;
    place.order().await;
    let mut command = place.command(&["list"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
