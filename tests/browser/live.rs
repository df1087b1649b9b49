//! Changes made elsewhere arrive without disturbing a person at work.

use std::time::Duration;

use machine::store::Store;
use tokio::time::sleep;

use crate::{
    browser::browse,
    mail::{TAKES, work},
    site::ANN,
};

#[tokio::test]
async fn a_transition_arrives_while_one_watches() {
    browse(async |page| {
        let (gate, mail) = page.site.ask("bob@example.com").await;
        page.open_as(ANN, &format!("#/machines/{mail}")).await;
        assert_eq!(page.text("h1 .badge").await, "DEFERRED");
        page.site.approve(gate, "tom").await;
        work(&page.site.store, TAKES).await;
        page.is("h1 .badge", "SUCCESS").await;
        // The diagram is lit at its end, and the picture and the list have every entry.
        assert_eq!(page.text(".state.current").await, "COMPLETED");
        page.shows("running → completed (succeed)").await;
        page.has(".arrow.taken", 1).await;
        assert_eq!(page.count(".arrow.last").await, 1);
    })
    .await;
}

#[tokio::test]
async fn rows_under_the_pointer_stay_in_place() {
    browse(async |page| {
        page.site.ask("first@example.com").await;
        let (second, _) = page.site.ask("second@example.com").await;
        page.open_as(ANN, "#/approvals").await;
        let button = "li:nth-child(2) button.primary";
        let place = format!(
            "const box = document.querySelector('{button}').getBoundingClientRect(); \
             return [box.x, box.y, box.width, box.height]"
        );
        let element = page.find(button).await;
        page.driver.action_chain().move_to_element_center(&element).perform().await.unwrap();
        let before = page.run(&place).await;
        page.run("window.button = document.querySelector('li:nth-child(2) button.primary')").await;

        page.site.ask("third@example.com").await;
        page.site.approve(second, "tom").await;
        page.holds(".held", "2").await;
        assert_eq!(page.run(&place).await, before);
        assert_eq!(page.count(".cards li").await, 2);
        // Its subject is settled, so the button is disabled and says why.
        assert_eq!(
            page.run("return window.button.isConnected && window.button.disabled").await,
            true
        );
        page.shows("it was answered or has changed").await;

        page.click(".held").await;
        page.holds("main", "third").await;
        assert_eq!(page.count(".cards li").await, 2);
    })
    .await;
}

#[tokio::test]
async fn two_hundred_updates_keep_the_caret_and_the_scroll_position() {
    browse(async |page| {
        for number in 0..12 {
            page.site.ask(&format!("{number}@example.com")).await;
        }
        page.open_as(ANN, "#/").await;
        page.run("document.querySelector('.card:nth-child(3) details').open = true").await;
        page.click("[name=session]").await;
        page.press("mon").await;
        page.until("the filter", "return location.hash.includes('session=mon')").await;
        page.run(
            "window.field = document.activeElement; window.field.setSelectionRange(1, 2); \
             window.place = scrollY; \
             window.details = document.querySelector('.card:nth-child(3) details');",
        )
        .await;
        assert!(page.run("return window.place > 0").await == true, "there is something to scroll");
        for number in 0..200 {
            page.site.ask(&format!("more-{number}@example.com")).await;
            if number == 100 {
                // In the middle of it all.
                page.press("x").await;
            }
        }
        page.until(
            "the updates",
            "return Number(document.querySelector('.held').innerText.match(/\\d+/)) >= 88",
        )
        .await;
        sleep(Duration::from_millis(500)).await;
        let kept = page
            .run(
                "return [document.activeElement === window.field, window.field.value, \
                 window.field.selectionStart, window.field.selectionEnd, scrollY - window.place, \
                 window.details.isConnected && window.details.open]",
            )
            .await;
        assert_eq!(kept, serde_json::json!([true, "mxn", 2, 2, 0, true]));
    })
    .await;
}

#[tokio::test]
async fn a_lost_connection_is_said_and_found_again() {
    browse(async |page| {
        let (gate, mail) = page.site.ask("bob@example.com").await;
        page.open_as(ANN, &format!("#/machines/{mail}")).await;
        page.site.stop().await;
        page.holds(".stream", "Reconnecting").await;
        page.site.approve(gate, "tom").await;
        work(&page.site.store, TAKES).await;
        page.site.start(&page.site.store).await;
        page.is("h1 .badge", "SUCCESS").await;
        assert_eq!(page.text(".stream").await, "Live");

        // So is a page that was opened meanwhile.
        page.site.stop().await;
        page.click("header a[href='#/sessions']").await;
        page.shows("no connection").await;
        page.site.start(&page.site.store).await;
        page.shows("monday").await;
        assert_eq!(page.count("main [role=alert]").await, 0);
    })
    .await;
}

#[tokio::test]
async fn another_file_is_loaded_as_a_whole() {
    browse(async |page| {
        page.site.ask("bob@example.com").await;
        page.open_as(ANN, "#/approvals").await;
        page.shows("bob@example.com").await;
        page.site.stop().await;
        // An older copy, which does not know the position of the page.
        page.site.start(&Store::memory()).await;
        page.shows("nothing waits for an approval").await;
        assert!(page.text("#toast").await.contains("Everything was reloaded"));
    })
    .await;
}
