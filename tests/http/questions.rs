//! Answers to questions that are not gates (OB-15).

use machine::contract::Contract;
use machine::store::OpenOptions;
use machine_tests::{actors::reasoning_node, samples::mail};
use serde_json::{Value, json};

use crate::http::support::{Place, execution, unknown};

fn answer(id: machine::Id, response: &str) -> Value {
    json!({ "execution_id": id, "response": response })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_answers_and_the_question_is_continued() {
    let place = Place::new().await;
    let asked = Contract::ecs_request("Which port?", reasoning_node()).unwrap();
    let id = place.question_of(asked).await;
    let stored = place.post("/ecs/respond", &answer(id, "8080")).await;
    assert_eq!(stored.is(200), json!({ "execution_id": id, "status": "waiting" }));
    let done = place.post("/ecs/continue", &execution(id)).await.is(200);
    assert!(done["age_ms"].is_u64(), "{done}");
    let expected = json!({
        "execution_id": id, "status": "completed", "age_ms": done["age_ms"], "warnings": [],
    });
    assert_eq!(done, expected);
    let snapshot = place.get(&format!("/api/execution/{id}/snapshot")).await;
    assert_eq!(snapshot["result"], "8080");
    let log = place.get("/api/operations").await;
    let names: Vec<_> =
        log["operations"].as_array().unwrap().iter().map(|it| &it["operation"]).collect();
    assert_eq!(names, ["continue", "respond"]);
}

/// Checks the age limit of a question, and the number that are continued (EX-7).
#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_continued_with_checks() {
    let place = Place::new().await;
    let asked = || Contract::ecs_request("Which port?", reasoning_node()).unwrap().session("s 1");
    let (id, _other) = (place.question_of(asked()).await, place.question_of(asked()).await);
    place.post("/ecs/respond", &answer(id, "8080")).await.is(200);
    // It has waited for longer than the answer is old.
    while machine::clock::now() <= place.store.history(id).await.unwrap().entries[2].at {
        tokio::task::yield_now().await;
    }
    let body = json!({ "execution_id": id, "max_age_ms": 0 });
    place.post("/ecs/continue", &body).await.problem(409, "the limit is 0 ms");
    let body = json!({ "execution_id": id, "max_age_ms": 86_400_000, "resuming": 1 });
    let done = place.post("/ecs/continue", &body).await.is(200);
    assert_eq!(done["status"], "completed");
    assert_eq!(done["warnings"], json!(["the caller resumes 1 of the session, and 2 waited"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_outlives_the_server() {
    let mut place = Place::new().await;
    let id = place.question().await;
    place.post("/ecs/respond", &answer(id, "8080")).await.is(200);
    place.stop().await;
    place.store.close().await.unwrap();
    place.store = OpenOptions::new().sqlite(place.file()).await.unwrap();
    place.restart().await;
    place.post("/ecs/continue", &execution(id)).await.is(200);
    let snapshot = place.get(&format!("/api/execution/{id}/snapshot")).await;
    assert_eq!(
        (&snapshot["current_status"], &snapshot["result"]),
        (&json!("completed"), &json!("8080"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_a_question_is_refused() {
    let place = Place::new().await;
    let question = place.question().await;
    let (gate, planned) = place.gate("gate@example.com").await;
    let doubt = place.doubt("doubt@example.com").await;
    let sent = place.sent(mail("sent@example.com")).await;
    let order = place.order().await;
    // It has not been answered yet.
    let problem = place.post("/ecs/continue", &execution(question)).await.problem(409, "");
    assert!(problem["legal_moves"].is_array() && problem["next"].is_array(), "{problem}");
    for (id, text) in [
        (gate.id(), "gate"),
        (planned.id(), "PENDING"),
        (doubt, "in doubt"),
        (sent, "COMPLETED"),
        (order, ""),
    ] {
        for (path, body) in [("/ecs/respond", answer(id, "x")), ("/ecs/continue", execution(id))] {
            let problem = place.post(path, &body).await.problem(409, text);
            assert!(problem["legal_moves"].is_array() && problem["next"].is_array(), "{problem}");
        }
    }
    place.post("/ecs/respond", &answer(unknown(), "x")).await.problem(404, "");
    place.post("/ecs/continue", &execution(unknown())).await.problem(404, "");
    place.post("/ecs/respond", &answer(question, "")).await.problem(400, "empty");
    // Twice.
    place.post("/ecs/respond", &answer(question, "8080")).await.is(200);
    place.post("/ecs/respond", &answer(question, "9090")).await.problem(409, "");
    place.post("/ecs/continue", &execution(question)).await.is(200);
    place.post("/ecs/continue", &execution(question)).await.problem(409, "COMPLETED");
    let snapshot = place.get(&format!("/api/execution/{question}/snapshot")).await;
    assert_eq!(snapshot["result"], "8080");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_answers_at_once_one_is_stored() {
    let place = Place::new().await;
    let id = place.question().await;
    let asked = (0..8).map(|at| {
        place.ask(
            crate::http::support::Call::post("/ecs/respond", &answer(id, &format!("answer {at}")))
                .token(crate::http::support::OPERATOR),
        )
    });
    let asked: Vec<_> = asked.collect();
    let mut stored = 0;
    for answer in join(asked).await {
        match answer.status {
            200 => stored += 1,
            409 => drop(answer.problem(409, "")),
            other => panic!("{other}: {answer:?}"),
        }
    }
    assert_eq!(stored, 1);
}

/// All of these at once.
async fn join<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in futures.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(output) = future.as_mut().poll(context)
            {
                *done = Some(output);
            }
        }
        if done.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    done.into_iter().flatten().collect()
}
