//! The server or the person is another one than before, in a tab that stays open.

use crate::{
    browser::browse,
    site::{ANN, TOM},
};

#[tokio::test]
async fn another_file_brings_its_name_and_its_commands() {
    browse(async |page| {
        page.site.ask("bob@example.com").await;
        page.open_as(ANN, "#/").await;
        page.shows("bob@example.com").await;
        assert_eq!(page.text(".brand .data").await, "agent.db");
        page.click(".card button.primary").await;

        // A copy, which knows the position of the page, has other machines by now.
        page.site.replace().await;

        page.is(".brand .data", "k.db").await;
        let toast = page.text("#toast").await;
        assert!(toast.contains("another store: k.db"), "{toast}");
        assert_eq!(page.run("return document.title.endsWith(' · k.db')").await, true);
        // The question of the other file is no longer on the screen.
        assert_eq!(page.run("return document.querySelector('dialog').open").await, false);
        page.shows("bob@example.com").await;
        page.click(".card button.primary").await;
        let command = page.text("dialog .command code").await;
        assert!(command.starts_with("machine --db 'k.db' approve "), "{command}");
    })
    .await;
}

#[tokio::test]
async fn a_page_loaded_while_the_stream_is_broken_is_that_of_its_server() {
    browse(async |page| {
        page.site.ask("bob@example.com").await;
        page.open_as(ANN, "#/").await;
        // From here on the stream does not come back.
        page.run(
            "const real = window.fetch; window.fetch = (url, options) => \
             String(url).includes('api/events') ? Promise.reject(new TypeError('no')) \
                 : real(url, options);",
        )
        .await;
        page.site.replace().await;
        page.holds(".stream", "Reconnecting").await;
        page.click("header a[href='#/approvals']").await;
        page.shows("bob@example.com").await;
        assert_eq!(page.text(".brand .data").await, "k.db");
    })
    .await;
}

#[tokio::test]
async fn the_name_is_that_under_which_the_server_records() {
    browse(async |page| {
        page.site.ask("bob@example.com").await;
        page.open_as(ANN, "#/").await;
        assert_eq!(page.text(".role").await, "As ann");
        page.site.stop().await;
        page.site.start_for_tom().await;
        page.is(".role", "As tom").await;
        let toast = page.text("#toast").await;
        assert!(toast.contains("as another person"), "{toast}");
    })
    .await;
}

#[tokio::test]
async fn a_link_changes_the_person_of_an_open_tab() {
    browse(async |page| {
        let (gate, _) = page.site.ask("bob@example.com").await;
        page.open_as(ANN, "#/approvals").await;
        page.click(".card button.primary").await;
        page.shows("bob@example.com").await;
        assert!(page.dialog().await.contains("under the name ann"));
        // The document stays loaded, as when an address is pasted.
        page.run("window.stays = true").await;
        page.follow(TOM).await;
        page.is(".role", "As tom").await;
        assert_eq!(page.run("return window.stays").await, true);
        assert_eq!(page.run("return location.href").await, page.url("#/"));
        assert_eq!(page.run("return document.querySelector('dialog').open").await, false);
        page.is(".stream", "Live").await;

        page.click(".card button.primary").await;
        let asked = page.dialog().await;
        assert!(asked.contains("under the name tom") && asked.contains("--as tom"), "{asked}");
        page.answer_dialog().await;
        page.shows("nothing. no decision is needed").await;
        assert_eq!(page.site.status(gate).await, "completed");
        page.go("#/log").await;
        page.shows("approve").await;
        let log = page.text("main tbody").await;
        assert!(log.contains("tom") && !log.contains("ann"), "{log}");
    })
    .await;
}

#[tokio::test]
async fn a_link_that_is_refused_leaves_nothing_of_the_person() {
    browse(async |page| {
        page.site.ask("bob@example.com").await;
        page.driver.goto(page.url("")).await.unwrap();
        page.shows("bob@example.com").await;
        assert_eq!(page.text(".role").await, "Not signed in: read-only");
        // The link that `serve --as` prints makes a decider of a reader's tab.
        page.follow(ANN).await;
        page.is(".role", "As ann").await;
        page.has("button.primary", 1).await;
        assert_eq!(page.count("header option").await, 3);

        page.driver.goto(page.url("#token=an-unknown-token")).await.unwrap();
        page.holds("dialog", "unknown token").await;
        page.run("document.querySelector('dialog').close()").await;
        page.is(".role", "Not signed in: read-only").await;
        page.is(".stream", "Live").await;
        page.has("main button.primary", 0).await;
        page.shows("bob@example.com").await;
        assert_eq!(page.count("header option").await, 1);
        assert_eq!(page.run("return sessionStorage.length").await, 0);
    })
    .await;
}
