//! Decisions about what is shown, and filters by what is shown.

use std::{path::Path, time::Duration};

use machine::{
    actor::{GraphRunner, Human},
    machine,
};
use machine_tests::samples::contradicted;
use serde::{Deserialize, Serialize};

use crate::{browser::browse, site::ANN};

/// D3: before, the rest of a long argument was nowhere, and the action was approved all the same.
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
            page.until("a dialog", "return document.querySelector('dialog').innerText.includes('A part of this is not shown')")
                .await;
            assert!(!page.text("dialog").await.contains("eve@example.com"));
            assert!(page.text("dialog .command").await.contains("--whole"));
            let is_off = "return document.querySelector('dialog button[type=submit]').disabled";
            assert_eq!(page.run(is_off).await, true);
            page.answer_dialog().await;
            assert_eq!(page.site.status(gate).await, "waiting");
            page.click("dialog .warning button").await;
            page.until("all", "return document.querySelector('dialog').innerText.includes('eve@example.com')")
                .await;
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

/// D7: before, it said "for as long as it takes", next to the deadline.
#[tokio::test]
async fn a_wait_with_a_deadline_says_so() {
    browse(async |page| {
        let mut loan = Loan::new();
        page.site.store.create(&mut loan).await.unwrap();
        page.open_as(ANN, &format!("#/machines/{}", loan.id())).await;
        page.shows("it waits for one of the moves below; when its deadline passes").await;
        assert!(!page.text("#next").await.contains("as long as it takes"));
    })
    .await;
}

/// Several at once are approved only if each of them was shown.
#[tokio::test]
async fn what_hides_a_part_is_not_approved_with_others() {
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

/// D5: before, there was nothing that a person could do about it.
#[tokio::test]
async fn what_is_contradicted_is_dealt_with() {
    browse(async |page| {
        let id = contradicted(&page.site.store, "bob@example.com").await;
        page.open_as(ANN, "#/").await;
        page.find(".card.contradicted").await;
        page.click(".card.contradicted button.primary, .card.contradicted .actions button").await;
        let dialog = page.text("dialog").await;
        assert!(dialog.contains("Was this dealt with?"), "{dialog}");
        assert!(dialog.contains(&format!("acknowledge {id} --as ann")), "{dialog}");
        page.answer_dialog().await;
        page.shows("nothing. no decision is needed").await;
        page.go(&format!("#/machines/{id}")).await;
        page.shows("a person has acknowledged that").await;
        page.shows("there is nothing that a person can do here").await;
    })
    .await;
}

/// F1 and F3: before, the state that the list shows matched nothing, and a typo was an empty list.
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
        page.shows("there is no kind `order`; there are `execution`").await;
        // The filters stay, so that the name can be corrected.
        assert_eq!(
            page.run("return document.querySelector('[name=machine]').value").await,
            "Order"
        );
        let field = page.find("[name=machine]").await;
        field.clear().await.unwrap();
        field.send_keys("execution").await.unwrap();
        page.until("all", &format!("{rows} === 4")).await;
        assert!(!page.text("main").await.contains("There is no"));
    })
    .await;
}

/// F6: before, the page had no heading, no id, no way back, and no reason.
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
