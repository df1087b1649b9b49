//! Sessions with names that are no part of a path.

use crate::{browser::browse, site::ANN};

#[tokio::test]
async fn a_session_is_never_empty_because_of_its_name() {
    browse(async |page| {
        for name in ["", ".", ".."] {
            page.site.ask_within(&format!("to-{}@example.com", name.len()), None, name).await;
        }
        page.site.ask_within("other@example.com", None, "monday").await;
        page.open_as(ANN, "#/sessions").await;
        assert_eq!(page.count("tbody tr").await, 4);
        let rows = [("#/sessions/", 0, "''"), ("#/sessions/.", 1, "."), ("#/sessions/..", 2, "..")];
        for (address, length, word) in rows {
            page.go("#/sessions").await;
            page.click(&format!("main a[href='{address}']")).await;
            page.shows(&format!("to-{length}@example.com")).await;
            assert_eq!(page.count("tbody tr").await, 2, "{address}");
            assert!(!page.text("main").await.contains("other@example.com"));
            let command = page.text("main code").await;
            assert_eq!(command, format!("machine --db agent.db timeline --session {word}"));
            // The link of a machine leads back here.
            page.click("tbody a").await;
            page.shows("history").await;
            assert_eq!(page.count(&format!(".crumbs a[href='{address}']")).await, 1);
        }
    })
    .await;
}

#[tokio::test]
async fn an_unknown_session_is_an_error() {
    browse(async |page| {
        page.site.ask("bob@example.com").await;
        page.open_as(ANN, "#/").await;
        for name in ["nope", ".."] {
            page.driver.goto(page.url(&format!("#/sessions/{name}"))).await.unwrap();
            page.shows("no machine belongs to the session").await;
            assert!(!page.text("main").await.contains("0 executions"));
        }
    })
    .await;
}
