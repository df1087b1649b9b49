//! Decisions about what is shown, and filters by what is shown.

use std::{path::Path, time::Duration};

use machine::{
    actor::{GraphRunner, Human},
    machine,
};
use machine_tests::samples::contradicted;
use serde::{Deserialize, Serialize};

use crate::{browser::browse, site::ANN};

/// A long argument must be expanded before the approval.
#[tokio::test]
async fn a_question_is_approved_when_all_of_it_is_shown() {
    browse(async |page| {
        let to = format!("bob@example.com {} eve@example.com", "x".repeat(20_000));
        let (gate, mail) = page.site.ask(&to).await;
        for (place, button) in [
            ("#/approvals".to_owned(), ".card button.primary"),
            (format!("#/machines/{mail}"), "#next button.primary"),
        ] {
            page.open_as(ANN, &place).await;
            page.shows("not shown here: 18034 characters of to").await;
            page.click(button).await;
            page.holds("dialog", "Part of this is not shown").await;
            assert!(!page.dialog().await.contains("eve@example.com"));
            assert!(page.text("dialog .command").await.contains("--whole"));
            let is_off = "return document.querySelector('dialog button[type=submit]').disabled";
            assert_eq!(page.run(is_off).await, true);
            page.answer_dialog().await;
            assert_eq!(page.site.status(gate).await, "waiting");
            page.click("dialog .warning button").await;
            page.holds("dialog", "eve@example.com").await;
            assert_eq!(page.run(is_off).await, false);
            if place == "#/approvals" {
                page.run("document.querySelector('dialog').close()").await;
            }
        }
        page.answer_dialog().await;
        page.until("the end", "return !document.querySelector('dialog').open").await;
        assert_eq!(page.site.status(gate).await, "completed");
    })
    .await;
}

/// A machine that a person ends, or its deadline.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Loan {
    #[initial]
    #[stable]
    #[on(give_back => Ended, by = Human)]
    #[on(expire => Ended, by = GraphRunner, after = Duration::from_hours(1))]
    Held,
    #[terminal]
    Ended,
}

/// A state with a deadline does not claim to wait without one.
#[tokio::test]
async fn a_wait_with_a_deadline_says_so() {
    browse(async |page| {
        let mut loan = Loan::new();
        page.site.store.create(&mut loan).await.unwrap();
        page.open_as(ANN, &format!("#/machines/{}", loan.id())).await;
        page.shows("it waits for one of the moves below; when its deadline passes").await;
        assert!(!page.text("#next").await.contains("without a deadline"));
    })
    .await;
}

/// Several at once are approved only if each of them was shown.
#[tokio::test]
async fn partly_hidden_questions_are_excluded_from_bulk_approval() {
    browse(async |page| {
        page.site.ask("bob@example.com").await;
        page.site.ask(&"x".repeat(3000)).await;
        page.open_as(ANN, "#/approvals").await;
        page.click("li:nth-child(1) input[type=checkbox]").await;
        let is_off = "return document.querySelector('.bulk button.primary').disabled";
        assert_eq!(page.run(is_off).await, false);
        page.click("li:nth-child(2) input[type=checkbox]").await;
        page.shows("1 of them hide a part").await;
        assert_eq!(page.run(is_off).await, true);
    })
    .await;
}

/// The dialog names the command, and the concern disappears.
#[tokio::test]
async fn a_contradiction_is_acknowledged_in_the_page() {
    browse(async |page| {
        let id = contradicted(&page.site.store, "bob@example.com").await;
        page.open_as(ANN, "#/").await;
        page.find(".card.contradicted").await;
        page.click(".card.contradicted button.primary, .card.contradicted .actions button").await;
        let dialog = page.dialog().await;
        assert!(dialog.contains("Acknowledge this contradiction?"), "{dialog}");
        assert!(dialog.contains(&format!("acknowledge {id} --as ann")), "{dialog}");
        page.answer_dialog().await;
        page.shows("nothing. no decision is needed").await;
        page.go(&format!("#/machines/{id}")).await;
        page.shows("a person has acknowledged that").await;
        page.shows("there is nothing to do here").await;
    })
    .await;
}

/// The filter accepts the label that the list shows, and reports a typo.
#[tokio::test]
async fn a_filter_takes_what_the_list_shows() {
    browse(async |page| {
        let (gate, _) = page.site.ask("bob@example.com").await;
        page.site.ask("eve@example.com").await;
        page.site.approve(gate, "ann").await;
        page.open_as(ANN, "#/").await;
        let rows = "return document.querySelectorAll('.machines tbody tr').length";
        for (state, count) in [("success", 1), ("NOT_STARTED", 1), ("deferred", 1), ("waiting", 1)]
        {
            page.go(&format!("#/?status={state}")).await;
            page.until(state, &format!("{rows} === {count}")).await;
        }
        page.go("#/?machine=Order").await;
        page.shows("unknown kind `order`; known: `execution`").await;
        // The filters stay, so that the name can be corrected.
        assert_eq!(
            page.run("return document.querySelector('[name=machine]').value").await,
            "Order"
        );
        let field = page.find("[name=machine]").await;
        field.clear().await.unwrap();
        field.send_keys("execution").await.unwrap();
        page.until("all", &format!("{rows} === 4")).await;
        assert!(!page.text("main").await.to_lowercase().contains("unknown kind"));
    })
    .await;
}

/// The page has a heading, the id, a way back, and the reason.
#[tokio::test]
async fn a_machine_that_cannot_be_read_has_a_page() {
    browse(async |page| {
        let (_, mail) = page.site.ask("bob@example.com").await;
        break_row(&page.site.folder.path().join("agent.db"), &mail.to_string());
        page.driver.goto(page.url(&format!("#/machines/{mail}"))).await.unwrap();
        page.shows("cannot be read").await;
        let shown = page.text("main").await;
        assert!(!shown.contains("seal"), "{shown}");
        page.open_as(ANN, &format!("#/machines/{mail}")).await;
        page.shows("the seal does not match").await;
        assert!(page.text("main h1").await.contains(&mail.to_string()));
        page.click("main .crumbs a").await;
        page.shows("needs attention").await;
        page.find(".card.unreadable").await;
    })
    .await;
}

fn break_row(file: &Path, id: &str) {
    let raw = rusqlite::Connection::open(file).unwrap();
    let mut select = raw.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").unwrap();
    let names = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let names: Vec<_> = names.map(Result::unwrap).collect();
    for name in names {
        raw.execute(&format!("DROP TRIGGER {name}"), []).unwrap();
    }
    let sql = format!(
        "UPDATE instance SET updated_at = updated_at + 1 WHERE id = x'{}'",
        id.replace('-', "")
    );
    assert_eq!(raw.execute(&sql, []).unwrap(), 1);
}
