//! The picture of the README.
//! `cargo test --package machine-tests --features browser --test browser -- --ignored screenshot`
//! writes it.

use std::{fs, path::Path, time::Duration};

use machine::contract::{Applied, NoReceipt};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    browser::browse,
    mail::{Server, TAKES, work},
    site::ANN,
};

const LARGEST: usize = 200 * 1024;

#[tokio::test]
#[ignore = "writes a file of the repository"]
async fn screenshot() {
    browse(async |page| {
        let site = &page.site;
        let mut minutes = 26;
        let mut pass = async |more| {
            minutes -= more;
            site.clock.set_back(Duration::from_mins(minutes));
        };
        pass(0).await;
        for to in ["bob@example.com", "dave@example.com", "carol@example.com"] {
            let (gate, _) = site.ask(to).await;
            pass(4).await;
            site.approve(gate, "ann").await;
            pass(1).await;
            let server = match to {
                "dave@example.com" => Server(|_| Err(NoReceipt::not_applied("554 no mail today"))),
                "carol@example.com" => Server(|_| Err(NoReceipt::unknown("the line went dead"))),
                _ => Server(|_| Ok(Applied::new("250 OK queued as 17"))),
            };
            work(&site.store, server).await;
        }
        site.ask("eve@example.com").await;
        pass(3).await;
        let (gate, mail) = site.ask("grace@example.com").await;
        pass(5).await;
        site.approve(gate, "tom").await;
        pass(1).await;
        work(&site.store, TAKES).await;
        page.open_as(ANN, "#/").await;
        page.send(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": false }),
        )
        .await;
        for (name, view) in [
            ("inspector.png", "#/".to_owned()),
            ("inspector-machine.png", format!("#/machines/{mail}")),
        ] {
            page.go(&view).await;
            sleep(Duration::from_millis(500)).await;
            let picture = page.driver.screenshot_as_png().await.unwrap();
            assert!(picture.len() < LARGEST, "{}", picture.len());
            let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machine/console/src/docs");
            fs::write(docs.join(name), picture).unwrap();
        }
    })
    .await;
}
