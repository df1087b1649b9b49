//! Approving and declining.

use std::time::Duration;

use machine::contract::NoReceipt;
use serde_json::json;
use tokio::time::sleep;

use crate::{
    browser::browse,
    mail::{Server, TAKES, work},
    site::{ANN, TOM},
};

#[tokio::test]
async fn one_approves_and_sees_it_complete() {
    browse(async |page| {
        let (gate, mail) = page.site.ask("bob@example.com").await;
        page.open_as(ANN, "#/approvals").await;
        // The exact action, and since when.
        page.shows("to: \"bob@example.com\"").await;
        page.shows("waiting for").await;
        page.click(".card button.primary").await;
        let asked = page.dialog().await;
        assert!(asked.contains("to: \"bob@example.com\""), "{asked}");
        assert!(
            asked.contains(&format!("machine --db agent.db approve {gate} --as ann")),
            "{asked}"
        );
        assert!(asked.contains("recorded under the name ann"), "{asked}");
        page.answer_dialog().await;
        page.shows("nothing waits for an approval").await;
        assert_eq!(page.site.status(gate).await, "completed");

        page.go(&format!("#/machines/{mail}")).await;
        work(&page.site.store, TAKES).await;
        page.is("h1 .badge", "SUCCESS").await;
        page.shows("250 OK queued as 17").await;
        page.go("#/log").await;
        page.shows("approve").await;
        page.shows("ann").await;
    })
    .await;
}

#[tokio::test]
async fn a_double_click_decides_nothing() {
    browse(async |page| {
        let (gate, _) = page.site.ask("bob@example.com").await;
        page.open_as(ANN, "#/approvals").await;
        let button = page.find(".card button.primary").await;
        // The page's time stands still, so that these clicks are quick on every computer.
        page.run("const now = performance.now(); performance.now = () => now").await;
        page.driver.action_chain().double_click_element(&button).perform().await.unwrap();
        page.find("dialog[open]").await;
        // A click where the dialog has its button comes too early, too.
        page.run("document.querySelector('dialog button[type=submit]').click()").await;
        sleep(Duration::from_millis(100)).await;
        assert_eq!(page.site.status(gate).await, "waiting");
        page.run("const later = performance.now() + 1000; performance.now = () => later").await;
        // And two quick ones send one answer.
        page.run("const yes = document.querySelector('dialog button[type=submit]'); yes.click(); yes.click()")
            .await;
        page.shows("nothing waits for an approval").await;
        page.go("#/log").await;
        page.shows("approve").await;
        assert_eq!(page.count("tbody tr").await, 1);
    })
    .await;
}

#[tokio::test]
async fn several_are_declined_at_once_with_a_reason() {
    browse(async |page| {
        let (first, _) = page.site.ask("bob@example.com").await;
        let (second, _) = page.site.ask("eve@example.com").await;
        let (third, _) = page.site.ask("zoe@example.com").await;
        page.open_as(ANN, "#/approvals").await;
        page.click("li:nth-child(1) input[type=checkbox]").await;
        page.click("li:nth-child(3) input[type=checkbox]").await;
        assert!(page.text(".bulk").await.contains("2 selected"));
        page.click(".bulk button:nth-of-type(2)").await;
        let asked = page.dialog().await;
        assert!(asked.contains("bob@example.com") && asked.contains("zoe@example.com"), "{asked}");
        assert!(!asked.contains("eve@example.com"), "{asked}");
        page.find("dialog [name=reason]").await.send_keys("not today").await.unwrap();
        page.answer_dialog().await;
        page.has(".cards li", 1).await;
        for (gate, status) in [(first, "rejected"), (second, "waiting"), (third, "rejected")] {
            assert_eq!(page.site.status(gate).await, status);
        }
    })
    .await;
}

#[tokio::test]
async fn the_second_of_two_people_reads_who_was_faster() {
    browse(async |page| {
        let (gate, _) = page.site.ask("bob@example.com").await;
        page.open_as(TOM, "#/approvals").await;
        page.click(".card button.primary").await;
        // The stream of Tom's page breaks off and cannot continue, so the page hears nothing of it.
        page.send("Network.enable", json!({})).await;
        page.send("Network.setBlockedURLs", json!({ "urls": ["*/api/events*"] })).await;
        page.site.stop().await;
        page.site.start(&page.site.store).await;
        page.site.approve(gate, "ann").await;
        page.answer_dialog().await;
        page.holds("dialog", "Refused").await;
        let refusal = page.text("dialog [role=alert]").await;
        assert!(refusal.contains("was approved by ann"), "{refusal}");
        assert_eq!(page.count("dialog button[type=submit]").await, 0);
        assert_eq!(page.site.status(gate).await, "completed");
    })
    .await;
}

#[tokio::test]
async fn an_open_dialog_reports_an_earlier_answer() {
    browse(async |page| {
        page.open_as(TOM, "#/").await;
        for view in ["#/approvals", "#/", "#/machines/"] {
            let (gate, _) = page.site.ask("bob@example.com").await;
            page.go(&view.replace("machines/", &format!("machines/{gate}"))).await;
            page.click("main .steps button.primary").await;
            page.site.approve(gate, "ann").await;
            page.holds("dialog", "can no longer be decided").await;
            page.has("dialog button[type=submit]:disabled", 1).await;
            page.run("document.querySelector('dialog').close()").await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_stale_approval_is_explained_and_cannot_be_selected() {
    browse(async |page| {
        let limit = Some(Duration::from_millis(1));
        page.site.ask_within("late@example.com", limit, "monday").await;
        page.site.ask("bob@example.com").await;
        sleep(Duration::from_millis(50)).await;
        page.open_as(ANN, "#/approvals").await;
        page.shows("can no longer be approved").await;
        let stale = page.text(".card.gone").await;
        assert!(stale.contains("late@example.com"), "{stale}");
        let why = page.text(".card.gone .why").await;
        assert!(why.contains("expired"), "{why}");
        assert_eq!(page.count(".card.gone button.primary, .card.gone input").await, 0);
        assert_eq!(page.count(".card input").await, 1);
    })
    .await;
}

#[tokio::test]
async fn without_a_token_there_are_no_buttons() {
    browse(async |page| {
        let (gate, _) = page.site.ask("bob@example.com").await;
        for view in ["#/", "#/approvals", &format!("#/machines/{gate}")] {
            page.go(view).await;
            page.shows("decisions need an operator token").await;
            assert_eq!(page.count("main .primary, main input[type=checkbox]").await, 0);
            // The command is still shown, for people with access to the file.
            page.unfold().await;
            page.shows(&format!("machine --db agent.db approve {gate}")).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_dialog_says_when_its_time_has_passed() {
    browse(async |page| {
        let (gate, _) = page.site.ask_within("bob@example.com", Some(LIMIT), "monday").await;
        // The page of the gate shows no effect, as a gate has none.
        page.open_as(ANN, &format!("#/machines/{gate}")).await;
        assert!(!page.text(".facts").await.to_lowercase().contains("effect"));
        page.go("#/").await;
        page.run(MOVABLE_CLOCK).await;
        page.click(".card button.primary").await;
        page.holds("dialog", "answered until").await;
        assert_eq!(page.count("dialog button[type=submit]:disabled").await, 0);
        page.run("window.ahead = 2 * 3600 * 1000; window.waits.forEach((done) => done())").await;
        page.has("dialog button[type=submit]:disabled", 1).await;
        assert!(page.text("dialog [role=alert]").await.contains("time to answer has passed"));
        assert_eq!(page.site.status(gate).await, "waiting");
    })
    .await;
}

const LIMIT: Duration = Duration::from_hours(1);

/// From now on the test moves the clocks of the page and of the answers, and ends the long timers
/// of the page.
const MOVABLE_CLOCK: &str = "
    const [now, parse, later] = [Date.now, Date.parse, window.setTimeout];
    window.ahead = 0;
    window.waits = [];
    Date.now = () => now() + window.ahead;
    Date.parse = (text) => parse(text) + window.ahead;
    window.setTimeout = (done, ms, ...rest) =>
        ms > 600 * 1000 ? window.waits.push(done) : later(done, ms, ...rest);
";

#[tokio::test]
async fn a_failure_is_retried_and_the_attempts_are_drawn_together() {
    browse(async |page| {
        let (gate, mail) = page.site.ask("bob@example.com").await;
        page.site.approve(gate, "ann").await;
        work(&page.site.store, Server(|_| Err(NoReceipt::not_applied("554 no mail today")))).await;
        page.open_as(ANN, &format!("#/machines/{mail}")).await;
        page.shows("554 no mail today").await;
        page.click("#next button.primary").await;
        page.answer_dialog().await;
        page.holds(".scroller", "Attempt 2 of 2").await;
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
