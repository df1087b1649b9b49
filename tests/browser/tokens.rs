//! Signing in, and the places where the token is not.

use std::{fs, path::Path};

use crate::{
    browser::{browse, browse_and_look},
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

/// The only tab, too, is signed in again when it is loaded again; a link is not followed twice.
#[tokio::test]
async fn a_page_that_is_loaded_again_is_signed_in() {
    browse(async |page| {
        let code = page.site.code(ANN).await;
        let link = page.url(&format!("#code={code}"));
        page.driver.goto(&link).await.unwrap();
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
        page.driver.goto(&link).await.unwrap();
        page.holds("dialog", "link was used").await;
        page.is(".role", ANONYMOUS).await;
    })
    .await;
}

/// Neither `History` nor `Favicons` nor any other file of the browser has the token.
#[tokio::test]
async fn the_token_is_in_no_file_of_the_browser() {
    browse_and_look(
        async |page| {
            page.open_as(ANN, "#/").await;
            page.driver.refresh().await.unwrap();
            page.is(".role", "As ann").await;
            let tab = page.driver.new_tab().await.unwrap();
            page.driver.switch_to_window(tab).await.unwrap();
            page.driver.goto(page.url("#/approvals")).await.unwrap();
            page.is(".role", "As ann").await;
        },
        |profile| {
            let wide: Vec<u8> = ANN.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let mut looked_at = 0;
            look(profile, &mut |file, bytes| {
                looked_at += 1;
                for token in [ANN.as_bytes(), &wide] {
                    let found = bytes.windows(token.len()).any(|part| part == token);
                    assert!(!found, "the token is in {}", file.display());
                }
            });
            assert!(looked_at > 10, "the browser has only {looked_at} files");
        },
    )
    .await;
}

fn look(folder: &Path, at: &mut impl FnMut(&Path, &[u8])) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            look(&path, at);
        } else if kind.is_file() {
            at(&path, &fs::read(&path).unwrap());
        }
    }
}
