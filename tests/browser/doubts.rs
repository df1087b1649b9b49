//! Actions in doubt, failures, and retries.

use machine::contract::{Contract, Execution, NotDone};

use crate::{
    browser::browse,
    mail::{Server, TAKES, work},
    site::ANN,
};

#[tokio::test]
async fn a_person_settles_what_is_in_doubt() {
    browse(async |page| {
        let (gate, mail) = page.site.ask("bob@example.com").await;
        page.site.approve(gate, "ann").await;
        work(&page.site.store, Server(|_| Err(NotDone::unknown("the line went dead")))).await;
        page.open_as(ANN, "#/").await;
        page.shows("in doubt").await;
        page.shows("its effect is unknown").await;
        page.click(".card.in_doubt button.primary").await;
        page.find("dialog [name=applied][value=true]").await.click().await.unwrap();
        page.find("dialog [name=receipt]").await.send_keys("250 in the log").await.unwrap();
        page.answer_dialog().await;
        page.shows("no decision is needed").await;
        assert_eq!(page.site.status(mail).await, "completed");
    })
    .await;
}

#[tokio::test]
async fn a_failure_is_retried_and_the_attempts_are_drawn_together() {
    browse(async |page| {
        let (gate, mail) = page.site.ask("bob@example.com").await;
        page.site.approve(gate, "ann").await;
        work(&page.site.store, Server(|_| Err(NotDone::not_applied("554 no mail today")))).await;
        page.open_as(ANN, &format!("#/machines/{mail}")).await;
        page.shows("554 no mail today").await;
        page.click("#next button.primary").await;
        page.answer_dialog().await;
        page.until(
            "the other attempt",
            "return document.querySelector('.scroller').textContent.includes('Attempt 2 of 2')",
        )
        .await;
        work(&page.site.store, TAKES).await;
        page.go("#/sessions/monday").await;
        page.shows("attempt 2 of 2").await;
        page.shows("250 OK queued as 17").await;
        // The decided action is not offered again.
        page.go(&format!("#/machines/{mail}")).await;
        assert_eq!(page.count("#next button.primary").await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_question_that_is_not_a_gate_is_answered() {
    browse(async |page| {
        let actors = &page.site.actors;
        let question = Contract::ecs_request("Which room?", &actors.reasoning_node).unwrap();
        let mut asked = Execution::new(question)
            .start(&actors.ecs_node)
            .suspend("Which room?".to_owned(), &actors.ecs_node);
        page.site.store.create(&mut asked).await.unwrap();
        page.open_as(ANN, &format!("#/machines/{}", asked.id())).await;
        page.shows("Which room?").await;
        page.click("#next button.primary").await;
        page.find("dialog [name=response]").await.send_keys("the blue one").await.unwrap();
        page.answer_dialog().await;
        page.until("its end", "return document.querySelector('h1 .badge').innerText === 'SUCCESS'")
            .await;
        page.shows("the blue one").await;
    })
    .await;
}
