//! Events for machines of a program.

use machine::{
    Id,
    actor::{Actors, Human},
    machine,
    worker::{Handled, Handler, Task, Worker},
};
use serde::{Deserialize, Serialize};

use crate::{
    browser::browse,
    mail::rest,
    site::{ANN, Site},
};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Claim {
    /// A person has to decide.
    #[initial]
    #[stable]
    #[on(settle(cents, note) => Settled, by = Human)]
    Open {
        #[audience(human)]
        about: String,
        /// Not for people.
        secret: String,
    },
    #[terminal]
    Settled {
        #[audience(human)]
        cents: u32,
        #[audience(human)]
        note: String,
    },
}

impl Site {
    /// A claim that waits for a person.
    pub(crate) async fn claim(&self) -> Id {
        let mut open = Claim::new("a broken window".to_owned(), "hunter2".to_owned());
        self.store.create(&mut open).await.unwrap();
        open.id()
    }
}

#[tokio::test]
async fn an_event_with_what_it_takes_is_sent() {
    browse(async |page| {
        let id = page.site.claim().await;
        page.open_as(ANN, &format!("#/machines/{id}")).await;
        page.shows("a broken window").await;
        let shown = page.run("return document.body.textContent").await;
        assert!(!shown.as_str().unwrap().contains("hunter2"));

        page.click("#next button").await;
        // The dialog shows the data to decide on.
        page.holds("dialog", "a broken window").await;
        page.find("dialog [name='value cents']").await.send_keys("17 euros").await.unwrap();
        page.find("dialog [name='value note']").await.send_keys("1700").await.unwrap();
        page.answer_dialog().await;
        // Numbers are parsed, and a refusal keeps the input.
        page.holds("dialog .warning", "“cents” is a whole number (u32)").await;
        let field = page.find("dialog [name='value cents']").await;
        field.clear().await.unwrap();
        field.send_keys("99999999999").await.unwrap();
        page.click("dialog button[type=submit]").await;
        page.holds("dialog .warning", "a different type").await;
        assert!(page.site.store.inbox(id).await.unwrap().is_empty());
        assert_eq!(
            page.run("return document.querySelector(\"dialog [name='value note']\").value").await,
            "1700"
        );
        field.clear().await.unwrap();
        field.send_keys("1700").await.unwrap();
        page.click("dialog button[type=submit]").await;
        page.shows("messages to it").await;
        let worker = Worker::new(&page.site.store, Actors::issue("claims").unwrap());
        rest(worker.machine::<AnyClaim>()).await;
        page.is("h1 .badge", "SETTLED").await;

        // The data of the state, compared with the entry before.
        page.shows("+ added").await;
        page.shows("− removed").await;
        let table = page.text(".difference").await;
        assert!(table.contains("cents") && table.contains("1700"), "{table}");
        assert!(table.contains("about") && table.contains("a broken window"), "{table}");
    })
    .await;
}

#[tokio::test]
async fn audiences_see_what_is_theirs() {
    browse(async |page| {
        let id = page.site.claim().await;
        page.open_as(ANN, &format!("#/machines/{id}")).await;
        page.find("header option[value=internal]").await.click().await.unwrap();
        page.shows("hunter2").await;
        assert_eq!(page.run("return location.hash.includes('audience=internal')").await, true);
        page.find("header option[value=human]").await.click().await.unwrap();
        page.until("less", "return !document.body.textContent.includes('hunter2')").await;
    })
    .await;
}

struct Fails;

impl Handler for Fails {
    type Machine = AnyClaim;

    async fn handle(&self, _: AnyClaim, _: &mut Task) -> Handled<AnyClaim> {
        Err("no rule for card 4111".into())
    }
}

/// From the first attempt on; the text of the error is for the program.
#[tokio::test]
async fn failures_show_their_reason() {
    browse(async |page| {
        let id = page.site.claim().await;
        let worker = Worker::new(&page.site.store, Actors::issue("claims").unwrap());
        rest(worker.handler(Fails)).await;
        for place in ["#/".to_owned(), format!("#/machines/{id}")] {
            page.open_as(ANN, &place).await;
            page.shows("the program returned an error; 1 attempt").await;
            page.shows("The audience “internal” sees the error").await;
            let shown = page.run("return document.body.textContent").await;
            assert!(!shown.as_str().unwrap().contains("card 4111"), "{shown}");
            page.find("header option[value=internal]").await.click().await.unwrap();
            page.shows("no rule for card 4111").await;
            page.find("header option[value=human]").await.click().await.unwrap();
        }
    })
    .await;
}
