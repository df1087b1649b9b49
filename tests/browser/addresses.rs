//! The address says what is shown.

use crate::{browser::browse, site::ANN};

#[tokio::test]
async fn back_and_forward_and_links_show_the_same_again() {
    browse(async |page| {
        page.site.ask_within("bob@example.com", None, "monday").await;
        page.site.ask_within("eve@example.com", None, "tuesday").await;
        page.open_as(ANN, "#/").await;
        page.find("[name=session]").await.send_keys("tuesday").await.unwrap();
        page.has(".machines tbody tr", 2).await;
        assert_eq!(page.run("return location.hash").await, "#/?session=tuesday");
        page.click(".machines tbody tr:last-child a[href*=machines]").await;
        page.shows("entries").await;
        page.click(".stepper button").await;
        page.until("a step", "return location.hash.includes('step=0')").await;
        let link = page.run("return location.href").await;

        page.driver.back().await.unwrap();
        page.has(".machines tbody tr", 2).await;
        assert_eq!(
            page.run("return document.querySelector('[name=session]').value").await,
            "tuesday"
        );
        page.driver.back().await.unwrap();
        page.has(".machines tbody tr", 4).await;
        assert_eq!(page.run("return document.querySelector('[name=session]').value").await, "");
        page.driver.forward().await.unwrap();
        page.driver.forward().await.unwrap();
        page.holds(".stepper output", "Entry 0 ").await;

        page.driver.goto("about:blank").await.unwrap();
        page.driver.goto(link.as_str().unwrap()).await.unwrap();
        page.holds(".stepper output", "Entry 0 ").await;
        assert_eq!(page.text(".state.current").await, "PENDING");
    })
    .await;
}

#[tokio::test]
async fn where_everything_needs_a_token_the_page_asks_for_one() {
    browse(async |page| {
        page.site.ask("bob@example.com").await;
        page.site.stop().await;
        page.site.start_closed().await;
        page.driver.goto(page.url("")).await.unwrap();
        page.shows("this server needs a token").await;
        let field = page.find("main [name=token]").await;
        field.send_keys("a-wrong-and-unknown-token\n").await.unwrap();
        page.shows("unknown token").await;
        let field = page.find("main [name=token]").await;
        field.clear().await.unwrap();
        field.send_keys(&format!("{ANN}\n")).await.unwrap();
        page.shows("bob@example.com").await;
        page.is(".stream", "Live").await;
    })
    .await;
}

/// Types into a filter of the shown list, and keeps what applies it.
const TYPE: &str = "const field = document.querySelector('[name=session]'); \
    const timer = window.setTimeout; \
    window.setTimeout = (apply) => void (window.apply = apply); \
    field.focus(); \
    field.value = 'tuesday'; \
    field.dispatchEvent(new Event('input', { bubbles: true })); \
    window.setTimeout = timer;";
/// Applies it, and returns the address.
const APPLY: &str = "window.apply(); return location.hash";

#[tokio::test]
async fn a_filter_of_an_earlier_page_is_not_applied() {
    browse(async |page| {
        page.open_as(ANN, "#/").await;
        page.run(TYPE).await;
        assert_eq!(page.run(APPLY).await, "#/?session=tuesday");

        page.run(TYPE).await;
        page.run("window.calls = document.querySelector('[name=calls]')").await;
        page.go("#/approvals").await;
        assert_eq!(page.run(APPLY).await, "#/approvals");
        let change = "window.calls.value = 'running'; \
            window.calls.dispatchEvent(new Event('change')); return location.hash";
        assert_eq!(page.run(change).await, "#/approvals");

        // To the same list without the filter, whose field is empty again.
        page.go("#/").await;
        page.run(TYPE).await;
        page.click(".filters a").await;
        assert_eq!(page.run(APPLY).await, "#/");
        let value = "return document.querySelector('[name=session]').value === ''";
        page.until("the empty filter", value).await;

        // A list that loses the focus can change at that moment.
        page.run(
            "const calls = document.querySelector('[name=calls]'); \
             calls.focus(); \
             calls.value = 'running'; \
             calls.onblur = () => { window.blurred = true; calls.dispatchEvent(new Event('change')); }; \
             location.hash = '#/?order=oldest'",
        )
        .await;
        page.until("the next address", "return window.blurred === true").await;
        assert_eq!(page.run("return location.hash").await, "#/?order=oldest");
    })
    .await;
}
