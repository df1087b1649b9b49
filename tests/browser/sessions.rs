//! Sessions with names that are no part of a path.

use crate::{browser::browse, site::ANN};

#[tokio::test]
async fn a_session_is_found_whatever_its_name() {
    browse(async |page| {
        page.site.ask_within("bob@example.com", None, "50% off?").await;
        page.site.ask_within("other@example.com", None, "monday").await;
        page.open_as(ANN, "#/sessions").await;
        assert_eq!(page.count("tbody tr").await, 2);
        page.click("main a[href='#/sessions/50%25%20off%3F']").await;
        page.is("main h1", "50% off?").await;
        page.shows("bob@example.com").await;
        assert_eq!(page.count("tbody tr").await, 2);
        assert!(!page.text("main").await.contains("other@example.com"));
        // The link of a machine leads back here.
        page.click("tbody a").await;
        page.shows("history").await;
        assert_eq!(page.count(".crumbs a[href='#/sessions/50%25%20off%3F']").await, 1);
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
