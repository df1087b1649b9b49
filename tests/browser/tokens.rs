//! Signing in, and the places where the token is not.

use crate::{
    browser::browse,
    site::{ANN, TOM},
};

const ANONYMOUS: &str = "Not signed in: read-only";

/// The page has a form for the token.
#[tokio::test]
async fn one_signs_in_with_a_button() {
    browse(async |page| {
        page.site.ask("bob@example.com").await;
        page.driver.goto(page.url("")).await.unwrap();
        page.is(".role", ANONYMOUS).await;
        page.shows("needs attention").await;
        assert_eq!(page.count("button.primary").await, 0);
        page.click("header .status button:nth-of-type(2)").await;
        let field = page.find("dialog [name=token]").await;
        field.send_keys("a-wrong-and-unknown-token").await.unwrap();
        page.answer_dialog().await;
        page.holds("dialog", "unknown token").await;
        field.clear().await.unwrap();
        field.send_keys(ANN).await.unwrap();
        page.click("dialog button[type=submit]").await;
        page.is(".role", "As ann").await;
        page.find("main .card button.primary").await;
    })
    .await;
}

/// A new tab gets the token from the others.
#[tokio::test]
async fn a_new_tab_is_signed_in() {
    browse(async |page| {
        page.open_as(ANN, "#/").await;
        let first = page.driver.window().await.unwrap();
        let second = page.driver.new_tab().await.unwrap();
        page.driver.switch_to_window(second.clone()).await.unwrap();
        page.driver.goto(page.url("")).await.unwrap();
        page.is(".role", "As ann").await;
        page.driver.refresh().await.unwrap();
        page.is(".role", "As ann").await;

        // A link is for its own tab. Who signs out, does so in all tabs.
        page.follow(TOM).await;
        page.is(".role", "As tom").await;
        page.follow(ANN).await;
        page.is(".role", "As ann").await;
        page.press("?").await;
        page.click("dialog button[type=button]").await;
        page.is(".role", ANONYMOUS).await;
        page.driver.switch_to_window(first).await.unwrap();
        page.is(".role", ANONYMOUS).await;
        page.driver.refresh().await.unwrap();
        page.is(".role", ANONYMOUS).await;
    })
    .await;
}

/// The only tab, too, is signed in again when it is loaded again, and no token stays where the page
/// can keep one.
#[tokio::test]
async fn a_page_that_is_loaded_again_is_signed_in() {
    browse(async |page| {
        page.follow(ANN).await;
        page.is(".role", "As ann").await;
        assert_eq!(page.run("return location.href").await, page.url("#/"));
        for _ in 0..3 {
            page.driver.refresh().await.unwrap();
            page.is(".role", "As ann").await;
        }
        page.driver.goto("about:blank").await.unwrap();
        page.driver.goto(page.url("#/approvals")).await.unwrap();
        page.is(".role", "As ann").await;
        let traces = "return [location.href, document.title, document.documentElement.outerHTML, \
            JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie].join()";
        let traces = page.run(traces).await;
        assert!(!traces.as_str().unwrap().contains(ANN), "{traces}");
    })
    .await;
}

/// A page that is loaded again does not come back to a token that was refused.
#[tokio::test]
async fn a_token_that_is_refused_is_forgotten() {
    browse(async |page| {
        page.open_as(TOM, "#/").await;
        page.site.stop().await;
        page.site.start_for_tom().await;
        page.driver.refresh().await.unwrap();
        let told = "return /needs a token|not signed in/i.test(document.body.innerText)";
        page.until("the token to be refused", told).await;
        page.driver.refresh().await.unwrap();
        page.is(".role", ANONYMOUS).await;
    })
    .await;
}
