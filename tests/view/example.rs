//! The worked example of EX-14 in both branches, in every view, from machines in memory and from a
//! store. Whole values are compared, so a field that differs anywhere fails.

use crate::view::{languages::invite, prelude::*};

/// The results of the example: the mail, its gate, and the attempts, in memory.
struct Story {
    gate: Id,
    attempts: Vec<AnyExecution>,
}

fn contract() -> Contract {
    invite("bob@example.com").session("mails")
}

/// The mail is sent.
async fn sent(store: &Store) -> Story {
    let (gate, mail) = approved(store, contract()).await;
    match store.perform(mail, receipt("邮件已发送"), tool_node()).await.unwrap() {
        Settled::Completed(done) => Story { gate, attempts: vec![done.into()] },
        other => panic!("{other:?}"),
    }
}

/// SMTP refuses; a person says retry; the second attempt is sent.
async fn refused_then_sent(store: &Store) -> Story {
    let (gate, mail) = approved(store, contract()).await;
    let refuses = answers(refused("SMTP connection refused"));
    let Settled::Failed(failed) = store.perform(mail, refuses, tool_node()).await.unwrap() else {
        panic!("it was refused")
    };
    let mut again = Execution::new(Contract::retry(&failed, ann()));
    store.create(&mut again).await.unwrap();
    match store.perform(again, receipt("邮件已发送"), tool_node()).await.unwrap() {
        Settled::Completed(done) => Story { gate, attempts: vec![failed.into(), done.into()] },
        other => panic!("{other:?}"),
    }
}

/// Every view of a machine in memory equals that of the store.
async fn same_in_store(store: &Store, live: &AnyExecution, language: Language) {
    let observer = Observer::new(store).language(language);
    let (id, now) = (live.id(), store.now());
    macro_rules! same {
        ($($audience:ty),*) => {$(
            let stored = observer.execution::<$audience>(id).await.unwrap();
            assert_eq!(stored, ExecutionSnapshot::of(live, now, language));
            let stored = observer.snapshot::<$audience>(id).await.unwrap();
            assert_eq!(stored, Snapshot::of(live, now).unwrap());
            let history = store.history(id).await.unwrap();
            let stored = observer.timeline::<$audience>(id).await.unwrap();
            assert_eq!(stored, Timeline::of(&history));
        )*};
    }
    same!(Human, Diagnostic, Internal);
    let stored = ConsequenceView::in_language(&store.load(id).await.unwrap(), language);
    assert_eq!(stored, ConsequenceView::in_language(live, language));
}

/// Compares the session with that of the example.
async fn same_session(store: &Store, session: &str, language: Language) {
    let observer = Observer::new(store).language(language);
    macro_rules! same {
        ($($audience:ty),*) => {$(
            let live = live_session::<$audience>(store, session, language).await;
            assert_eq!(observer.session::<$audience>(session).await.unwrap(), live);
        )*};
    }
    same!(Human, Diagnostic, Internal);
}

/// EX-14, in memory and in a store, in both languages, for every audience.
#[tokio::test]
async fn views_from_memory_and_from_stores_are_equal() {
    for is_refused in [false, true] {
        let place = still().await;
        let store = &place.store;
        let story = if is_refused { refused_then_sent(store).await } else { sent(store).await };
        let gate = load(store, story.gate).await;
        for language in Language::ALL {
            for live in story.attempts.iter().chain([&gate]) {
                same_in_store(store, live, language).await;
            }
            same_session(store, "mails", language).await;
        }
    }
}

/// Without what differs from run to run.
fn steady(mut json: Value, times: &[&str]) -> Value {
    for name in times {
        let found = json.as_object_mut().unwrap().remove(*name);
        assert!(found.is_some_and(|value| !value.is_null()), "{name}");
    }
    json
}

/// OB-1, field by field, of the mail that was sent.
#[tokio::test]
async fn the_snapshot_of_the_mail() {
    let place = still().await;
    let store = &place.store;
    let story = sent(store).await;
    let observer = Observer::new(store);
    let live = &story.attempts[0];
    let id = live.id();
    let for_people = json!({
        "execution_id": id,
        "action_type": "tool_call",
        "action_summary": "email.send → bob@example.com",
        "current_status": "completed",
        "label": "SUCCESS",
        "session": "mails",
        "is_terminal": true,
        "is_stable": true,
        "is_resumable": false,
        "has_side_effects": true,
        "took_effect": true,
        "irreversible": true,
        "release": null,
        "human_confirmed": true,
        "acknowledged": false,
        "question": null,
        "waits_for_service": false,
        "answer_by": null,
        "result": "邮件已发送",
        "error_message": null,
        "transition_count": 2,
        "last_trigger": "succeed",
        "last_actor_category": "tool",
        "approved_by": "ann",
        "answered_by": null,
    });
    let times = ["created_at", "entered_at", "duration_in_state_ms"];
    let snapshot = observer.execution::<Human>(id).await.unwrap();
    assert_eq!(steady(json!(snapshot), &times), for_people);

    let mut for_developers = for_people.clone();
    for_developers["last_actor"] = json!("tool_node");
    let key = live.context().idempotency_key().unwrap().as_str();
    for_developers["idempotency_key"] = json!(key);
    for_developers["timeout_seconds"] = json!(30.0);
    let snapshot = observer.execution::<Diagnostic>(id).await.unwrap();
    assert_eq!(steady(json!(snapshot), &times), for_developers);

    let snapshot = observer.execution::<Internal>(id).await.unwrap();
    let detail = json!(snapshot.action_detail);
    assert_eq!(detail["args"], json!({ "to": "bob@example.com" }), "{detail}");
}

/// OB-1 of a question that waits, and of the attempt that failed.
#[tokio::test]
async fn the_snapshots_of_the_gate_and_of_the_failure() {
    let place = still().await;
    let store = &place.store;
    let (gate, mail) = ask(store, contract()).await;
    let observer = Observer::new(store);
    let waiting = observer.execution::<Human>(gate.id()).await.unwrap();
    assert_eq!((waiting.is_stable, waiting.is_resumable, waiting.is_terminal), (true, true, false));
    assert_eq!((&*waiting.current_status, waiting.transition_count), ("waiting", 2));
    assert!(
        waiting
            .question
            .as_ref()
            .unwrap()
            .starts_with("Send the mail to bob@example.com? This cannot be undone.")
    );
    let deferred = observer.execution::<Human>(mail.id()).await.unwrap();
    assert_eq!((&*deferred.current_status, deferred.is_stable), ("pending", false));
    assert_eq!((deferred.last_trigger.as_deref(), deferred.transition_count), (None, 0));
    // It is marked as irreversible, and has not run.
    assert!(deferred.has_side_effects && deferred.irreversible && !deferred.took_effect);

    store.decline(gate, "not now", ann()).await.unwrap();
    let story = refused_then_sent(store).await;
    let failed = observer.execution::<Human>(story.attempts[0].id()).await.unwrap();
    assert_eq!(failed.error_message.as_deref(), Some("SMTP connection refused"));
    assert_eq!((&*failed.current_status, failed.took_effect), ("failed", false));
    assert!(failed.is_terminal && failed.is_stable && failed.human_confirmed);
}

/// OB-4: the timeline of the session, with both attempts linked by their key.
#[tokio::test]
async fn the_timeline_of_the_session() {
    let place = still().await;
    let store = &place.store;
    let story = refused_then_sent(store).await;
    let observer = Observer::new(store);
    let timeline = observer.session::<Human>("mails").await.unwrap();
    let ids: Vec<Id> = story.attempts.iter().map(AnyExecution::id).collect();
    assert_eq!(timeline.attempts, [ids]);
    assert_eq!(
        (timeline.total_contracts, timeline.terminal_contracts, timeline.active_contracts),
        (3, 3, 0)
    );
    assert!(!timeline.has_suspended && timeline.has_irreversible_completed);
    assert!(timeline.contracts.is_sorted_by_key(|contract| contract.created_at));
    assert!(timeline.transitions.is_sorted_by_key(|transition| transition.timestamp));
    assert_eq!(timeline.transitions.len(), 4 + 2 + 2);
    assert_eq!(timeline.started_at, Some(timeline.contracts[0].created_at));
    let last = timeline.contracts.iter().map(|contract| contract.entered_at).max();
    assert_eq!((timeline.ended_at, timeline.unreadable), (last, 0));

    // One that is open: the session has not ended.
    drop(ask(store, invite("eve@example.com").session("mails")).await);
    let timeline = observer.session::<Human>("mails").await.unwrap();
    assert_eq!(
        (timeline.total_contracts, timeline.terminal_contracts, timeline.active_contracts),
        (5, 3, 2)
    );
    assert!(timeline.has_suspended && timeline.ended_at.is_none());
    let other = observer.session::<Human>("others").await.unwrap();
    assert_eq!((other.total_contracts, other.started_at, other.ended_at), (0, None, None));
}

/// OB-8: the prompts of both branches, in both languages.
#[tokio::test]
async fn the_prompts() {
    let place = still().await;
    let store = &place.store;
    drop(refused_then_sent(store).await);
    let prompt = async |language| {
        let observer = Observer::new(store).language(language);
        let found = observer.consequences("mails").await.unwrap();
        Prompt { language, ..found.prompt() }.to_string()
    };
    assert_eq!(
        prompt(Language::English).await,
        "Tool results:\n\n\
         [FAILED] email.send → bob@example.com: SMTP connection refused\n\
         [SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] email.send → bob@example.com: 邮件已发送\n\n\
         Continue with the user's request based on the results above.\n\
         Note: actions marked ⚠️ IRREVERSIBLE have taken effect and cannot be undone."
    );
    assert_eq!(
        prompt(Language::Chinese).await,
        "【工具执行结果】\n\n\
         [FAILED] email.send → 给 Bob 的会议邀请: SMTP connection refused\n\
         [SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] email.send → 给 Bob 的会议邀请: 邮件已发送\n\n\
         请根据以上执行结果继续处理用户的请求。\n\
         注意：标记 ⚠️ IRREVERSIBLE 的操作已在现实中生效，无法撤回。"
    );
}

/// The timeline of one execution: what happened, with the answer for people and without names.
#[tokio::test]
async fn the_timeline_of_the_mail() {
    let place = still().await;
    let store = &place.store;
    let story = sent(store).await;
    let id = story.attempts[0].id();
    let observer = Observer::new(store);
    let timeline = observer.timeline::<Human>(id).await.unwrap();
    let texts: Vec<&str> = timeline.events.iter().map(|event| &*event.text).collect();
    assert_eq!(
        texts,
        [
            "created as PENDING",
            "acquired its idempotency key",
            "PENDING → RUNNING (start)",
            "permitted, approved by a person",
            "evidence: it took effect",
            "RUNNING → COMPLETED (succeed)",
        ]
    );
    let last = timeline.events.last().unwrap();
    assert_eq!(json!(last.payload), json!({ "result": "邮件已发送" }));
    let json = json!(timeline).to_string();
    assert!(!json.contains("\"test\"") && !json.contains("tool_node"), "{json}");
    let developers = observer.timeline::<Diagnostic>(id).await.unwrap();
    assert_eq!(developers.events[2].actor.as_deref(), Some("tool_node"));
    assert_eq!(developers.events[2].actor_name.as_deref(), Some("test"));
}
