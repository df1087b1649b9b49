//! Everything works without a pointer.

use std::time::Duration;

use serde_json::Value;
use thirtyfour::Key;
use tokio::time::sleep;

use crate::{browser::browse, page::Page, site::ANN};

/// Presses Tab until the element with this text has the focus.
async fn tab_to(page: &Page, text: &str) {
    let focused = "const it = document.activeElement; return it.innerText || it.ariaLabel || ''";
    for _ in 0..60 {
        page.press(Key::Tab).await;
        if page.run(focused).await.as_str() == Some(text) {
            let outline = "const { outlineStyle, outlineWidth } = \
                getComputedStyle(document.activeElement); return `${outlineStyle} ${outlineWidth}`";
            assert_eq!(page.run(outline).await, "solid 3px", "the focus of {text} can be seen");
            return;
        }
    }
    panic!("the focus never came to {text}");
}

#[tokio::test]
async fn one_approves_by_keys() {
    browse(async |page| {
        let (gate, _) = page.site.ask("bob@example.com").await;
        page.site.ask("eve@example.com").await;
        page.open_as(ANN, "#/approvals").await;
        page.press(Key::Tab).await;
        assert_eq!(page.run("return document.activeElement.id").await, "skip");
        page.press(Key::Enter).await;
        assert_eq!(page.run("return document.activeElement.id").await, "main");
        tab_to(&page, "Approve…").await;
        page.press(Key::Enter).await;
        page.find("dialog[open]").await;
        assert_eq!(
            page.run("return document.activeElement.innerText").await,
            "Approve this action?"
        );
        // Escape leaves, and the focus is where it was.
        page.press(Key::Escape).await;
        page.has("dialog[open]", 0).await;
        assert_eq!(page.run("return document.activeElement.innerText").await, "Approve…");
        assert_eq!(page.site.status(gate).await, "waiting");

        page.press(Key::Enter).await;
        tab_to(&page, "Approve").await;
        sleep(Duration::from_millis(600)).await;
        page.press(Key::Enter).await;
        page.has(".card", 1).await;
        assert_eq!(page.site.status(gate).await, "completed");
        // The button is gone; the focus is not lost.
        page.until("the focus", "return document.activeElement !== document.body").await;
    })
    .await;
}

#[tokio::test]
async fn shortcuts_do_not_break_typing() {
    browse(async |page| {
        let (_, mail) = page.site.ask("bob@example.com").await;
        page.open_as(ANN, "#/").await;
        page.press("?").await;
        page.find("dialog[open]").await;
        assert!(page.dialog().await.contains("What it does"));
        page.press(Key::Escape).await;
        page.press("ga").await;
        page.until("approvals", "return location.hash === '#/approvals'").await;
        page.press("go").await;
        page.find(".filters").await;
        page.press("/").await;
        page.press("ga?u/,.").await;
        assert_eq!(page.run("return document.activeElement.value").await, "ga?u/,.");
        assert_eq!(page.count("dialog[open]").await, 0);

        page.go(&format!("#/machines/{mail}")).await;
        let entry = "return document.querySelector('.stepper output').innerText";
        let last: Value = page.run(entry).await;
        page.press("<").await;
        page.holds(".stepper output", "Entry 0 ").await;
        page.press(">").await;
        assert_eq!(page.run(entry).await, last);
    })
    .await;
}
