//! `list`, `show`, `timeline`, `topology` and `prompt`.

use machine::{contract::Contract, machine};
use machine_tests::{
    actors::reasoning_node,
    samples::{asked_in, mail, pending_mail},
};
use serde::{Deserialize, Serialize};

use crate::cli::support::{Place, Ran, bare, end};

#[tokio::test]
async fn what_needs_attention_comes_first() {
    let place = Place::new().await;
    let mut other = pending_mail("eve@example.com");
    place.store.create(&mut other).await.unwrap();
    let (gate, planned) = place.ask("bob@example.com").await;
    let doubt = place.doubt("carl@example.com").await;

    let ran = place.run(&["list"]);
    let position = |text: &str| ran.done().find(text).unwrap_or_else(|| panic!("{text}: {ran:?}"));
    let (doubt, gate) = (end(doubt)[4..].to_owned(), end(gate.id())[4..].to_owned());
    assert!(position("Needs attention") < position(&doubt));
    assert!(position(&doubt) < position(&gate));
    assert!(position(&gate) < position("Machines"));
    assert!(position("Machines") < position(&end(other.id())[4..]));
    assert!(position("Machines") < position(&end(planned.id())[4..]));
    assert!(ran.out.contains(&format!("confirm {doubt} 'applied|not-applied' --as NAME")));
    assert!(ran.out.contains(&format!("approve {gate} --as NAME")));
    assert_eq!(ran.out.matches(&format!(" {gate} │")).count(), 1, "{ran:?}");

    let only = place.run(&["list", "--attention-only"]);
    assert!(!only.done().contains("Machines"), "{only:?}");
}

/// A filter selects before the limit cuts.
#[tokio::test]
async fn what_needs_attention_elsewhere_hides_nothing() {
    let place = Place::new().await;
    let question = async |session: &str| {
        let contract = Contract::ecs_request("Which port?", reasoning_node()).unwrap();
        let mut asked = asked_in(contract.session(session));
        place.store.create(&mut asked).await.unwrap();
        asked.id()
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
async fn what_cannot_be_read_is_not_left_out_in_silence() {
    let place = Place::new().await;
    let mut ids = Vec::new();
    for about in ["ports", "hosts"] {
        let contract = Contract::ecs_request("Which?", reasoning_node()).unwrap();
        let mut asked = asked_in(contract.about(about).session("notes"));
        place.store.create(&mut asked).await.unwrap();
        ids.push(asked.id());
    }
    place.edit(ids[0], "UPDATE instance SET state = '{\"evil\": 1}' WHERE id = ID");
    let timeline = place.run(&["timeline", "--session", "notes"]);
    assert!(timeline.done().contains("1 more cannot be read"), "{timeline:?}");
    let prompt = place.run(&["prompt", "--session", "notes"]);
    let (first, rest) = prompt.done().split_once('\n').unwrap();
    assert!(first.starts_with("(executions that cannot be read: 1;"), "{prompt:?}");
    assert!(rest.contains("\n\n[WAITING] ecs.confirm → hosts"), "{prompt:?}");
    assert_eq!(place.json(&["prompt", "--session", "notes"])["unreadable"], 1);
    let listed = place.run(&["list", "--session", "notes"]);
    assert!(listed.done().contains("unreadable"), "{listed:?}");
}

#[tokio::test]
async fn an_empty_file_has_nothing() {
    let place = Place::new().await;
    assert_eq!(place.run(&["list"]).done(), "There is no machine that matches.\n");
    assert_eq!(place.run(&["list", "--attention-only"]).done(), "Nothing needs attention.\n");
}

#[tokio::test]
async fn filters_select() {
    let place = Place::new().await;
    let order = place.order().await.to_string();
    let mut notes =
        asked_in(Contract::ecs_request("Which port?", reasoning_node()).unwrap().session("notes"));
    place.store.create(&mut notes).await.unwrap();
    let notes = notes.id().to_string();
    let mail = place.failed("bob@example.com").await.to_string();
    let key = mail_key();
    for (filter, found) in [
        (["--machine", "order"], &order),
        (["--status", "asking"], &order),
        (["--session", "notes"], &notes),
        (["--status", "waiting"], &notes),
        (["--key", &key], &mail),
        (["--status", "failed"], &mail),
    ] {
        let listed = place.json(&["list", filter[0], filter[1]]);
        let ids: Vec<_> =
            listed["machines"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
        assert_eq!(ids, [found], "{filter:?}");
        let concerns = listed["attention"]["concerns"].as_array().unwrap();
        assert!(concerns.iter().all(|it| it["id"] == **found), "{filter:?}: {listed}");
    }
    assert_eq!(place.json(&["list", "--status", "paid"])["machines"], serde_json::json!([]));
}

fn mail_key() -> String {
    mail("bob@example.com").idempotency_key().unwrap().as_str().to_owned()
}

#[tokio::test]
async fn pages_follow_each_other() {
    let place = Place::new().await;
    let mut orders = Vec::new();
    for _ in 0..7 {
        orders.push(place.order().await.to_string());
    }
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let mut arguments = vec!["list".to_owned(), "--limit=3".to_owned()];
        arguments.extend(after.map(|after: String| format!("--after={after}")));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let page = place.json(&arguments);
        let ids = page["machines"].as_array().unwrap();
        assert!(ids.len() <= 3);
        found.extend(ids.iter().map(|it| it["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        assert!(place.run(&arguments).done().contains(&format!("--after={next}")));
        after = Some(next.to_owned());
    }
    orders.reverse();
    assert_eq!(found, orders);
    place.run(&["list", "--after=nonsense"]).failed(2, "is not a cursor");
    place.run(&["list", "--limit=0"]).failed(2, "at least 1");
}

#[tokio::test]
async fn ids_can_be_shortened() {
    let place = Place::new().await;
    let (first, second) = (place.order().await, place.order().await);
    for text in [first.to_string(), end(first), first.to_string().to_uppercase()] {
        assert!(place.run(&["show", &text]).done().contains(&first.to_string()), "{text}");
    }
    // The prefix that both share.
    let both = &first.to_string()[..6];
    let ran = place.run(&["show", both]);
    ran.failed(4, "is a part of 2 ids");
    assert!(ran.err.contains(&first.to_string()) && ran.err.contains(&second.to_string()));
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
    assert!(human.contains("IN_DOUBT") && human.contains("Did this take place"), "{human}");
    assert!(human.contains(&format!("confirm {doubt} 'applied|not-applied' --as NAME")), "{human}");
    let key = mail_key();
    assert!(!human.contains(&key) && !human.contains("tool_node"), "{human}");
    let shown = place.json(&["show", &doubt]);
    assert!(shown["execution"].get("idempotency_key").is_none());
    let diagnostic = place.json(&["show", &doubt, "--audience", "diagnostic"]);
    assert_eq!(diagnostic["execution"]["idempotency_key"], *key);
    assert!(diagnostic["execution"].get("action_detail").is_none());
    let internal = place.json(&["show", &doubt, "--audience", "internal"]);
    assert_eq!(internal["execution"]["action_detail"]["args"]["to"], "bob@example.com");

    let timeline = place.run(&["timeline", &doubt]);
    assert!(timeline.done().contains("RUNNING → WAITING (suspend)"), "{timeline:?}");
    assert!(!timeline.out.contains("tool_node"), "{timeline:?}");
    let diagnostic = place.run(&["timeline", &doubt, "--audience", "diagnostic"]);
    assert!(diagnostic.done().contains("tool tool_node test"), "{diagnostic:?}");
    let events = place.json(&["timeline", &doubt])["events"].as_array().unwrap().len();
    assert!(events > 3);
}

#[tokio::test]
async fn a_session_has_a_timeline_and_a_prompt() {
    let place = Place::new().await;
    let contract = || Contract::ecs_request("Which port?", reasoning_node()).unwrap();
    let mut asked = asked_in(contract().session("notes"));
    place.store.create(&mut asked).await.unwrap();
    let timeline = place.run(&["timeline", "--session", "notes"]);
    assert!(timeline.done().starts_with("notes: 1 executions, 0 ended, 1 not ended\n"));
    assert!(timeline.out.contains("running → waiting (suspend)"), "{timeline:?}");
    assert_eq!(place.json(&["timeline", "--session", "notes"])["total_contracts"], 1);
    let prompt = place.run(&["prompt", "--session", "notes"]);
    assert!(prompt.done().contains("\n\n[WAITING] "), "{prompt:?}");
    assert_eq!(place.json(&["prompt", "--session", "notes"])["prompt"], prompt.out.trim_end());
    place.run(&["timeline"]).failed(2, "required");
}

#[tokio::test]
async fn a_topology_is_drawn() {
    let place = Place::new().await;
    place.order().await;
    assert!(place.run(&["topology"]).done().contains("order"));
    let table = place.run(&["topology", "order"]);
    assert!(table.done().contains("terminal     PAID, CANCELLED"), "{table:?}");
    for (format, start) in [
        ("svg", "<svg"),
        ("mermaid", "stateDiagram-v2\n"),
        ("dot", "digraph \"order\""),
        ("json", "{"),
    ] {
        let drawn = place.run(&["topology", "order", "--format", format]);
        assert!(drawn.done().starts_with(start), "{drawn:?}");
    }
    assert_eq!(place.json(&["topology", "order"])["initial_status"], "asking");
    assert_eq!(place.json(&["topology"])["kinds"][0]["machine"], "order");
    place.run(&["topology", "none"]).failed(1, "it has `order`");
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

#[tokio::test]
async fn chinese_on_request() {
    let place = Place::new().await;
    let doubt = place.doubt("bob@example.com").await.to_string();
    let timeline = place.run(&["timeline", &doubt, "--lang", "zh"]);
    assert!(timeline.done().contains("已占用幂等键"), "{timeline:?}");
}

#[test]
fn a_file_is_required() {
    Ran::of(&mut bare(&["list"])).failed(2, "--db FILE");
    Ran::of(bare(&["list"]).env("MACHINE_DB", "/nonexistent/agent.db")).failed(5, "agent.db");
}

#[tokio::test]
async fn a_session_that_nobody_has_is_not_one_in_which_nothing_happened() {
    let place = Place::new().await;
    place.order().await;
    for command in ["timeline", "prompt"] {
        place.run(&[command, "--session", "nope"]).failed(2, "belongs to the session `nope`");
        let json = place.run(&[command, "--session", "nope", "--json"]);
        json.failed(2, "");
        assert_eq!(json.out, "");
    }
}

/// A person copies a command; half of it must not run as another one.
#[tokio::test]
async fn the_command_with_a_choice_is_one_for_a_shell() {
    let place = Place::new().await;
    let doubt = place.doubt("bob@example.com").await;
    let next = place.json(&["show", &doubt.to_string()])["next"].clone();
    let shown = place.run(&["show", &doubt.to_string()]);
    let line = shown.done().lines().find(|line| line.trim().starts_with("confirm ")).unwrap();
    let words = std::process::Command::new("sh")
        .args(["-c", &format!("printf '%s\\n' {line}")])
        .output()
        .unwrap();
    let words = String::from_utf8(words.stdout).unwrap();
    let words: Vec<_> = words.lines().collect();
    assert_eq!(words[2..], ["applied|not-applied", "--as", "NAME"], "{next}");
    place.run(&words).failed(2, "not-applied");
}

#[tokio::test]
async fn an_empty_list_is_shown_as_it_is() {
    let place = Place::new().await;
    let mut queue = Queue::new(Vec::new());
    place.store.create(&mut queue).await.unwrap();
    let shown = place.run(&["show", &queue.id().to_string()]);
    assert!(shown.done().contains("waiting: []"), "{shown:?}");
    assert!(place.run(&["list"]).done().contains("waiting: []"), "{shown:?}");
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Queue {
    #[initial]
    #[on(close => Closed)]
    Open {
        #[audience(human)]
        waiting: Vec<String>,
    },
    #[terminal]
    Closed,
}
