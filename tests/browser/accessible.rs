//! axe-core finds nothing serious, on each view, light and dark.

use std::{env, fs};

use serde_json::json;

use crate::{
    browser::browse,
    mail::{TAKES, work},
    site::ANN,
    skipped,
};

const CHECK: &str = "const done = arguments[arguments.length - 1]; \
    axe.run(document, { resultTypes: ['violations'] }).then((result) => done(result.violations \
    .filter((one) => one.impact === 'serious' || one.impact === 'critical') \
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`)))";

#[tokio::test]
async fn axe_finds_nothing_serious() {
    let Some(path) = env::var_os("AXE_JS") else { return skipped("needs AXE_JS") };
    let axe = fs::read_to_string(path).unwrap();
    browse(async move |page| {
        let (gate, mail) = page.site.ask("bob@example.com").await;
        page.site.approve(gate, "ann").await;
        work(&page.site.store, TAKES).await;
        let (waiting, _) = page.site.ask("eve@example.com").await;
        let open = page.site.claim().await;
        // axe-core comes from outside, which the policy of the page forbids.
        page.send("Page.setBypassCSP", json!({ "enabled": true })).await;
        page.open_as(ANN, "#/definitions").await;
        let definition = page.run("return document.querySelector('tbody a').hash").await;
        for scheme in ["light", "dark"] {
            let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
            page.send("Emulation.setEmulatedMedia", json!({ "features": [feature] })).await;
            for view in [
                "#/",
                "#/approvals",
                "#/sessions",
                "#/sessions/monday",
                "#/turns",
                "#/definitions",
                definition.as_str().unwrap(),
                "#/log",
                &format!("#/machines/{mail}"),
                &format!("#/machines/{waiting}"),
                &format!("#/machines/{open}?audience=internal"),
                "dialog",
            ] {
                if view == "dialog" {
                    page.click("#next button").await;
                } else {
                    page.go(view).await;
                }
                page.run(&axe).await;
                let found = page.driver.execute_async(CHECK, Vec::new()).await.unwrap();
                assert_eq!(found.json(), &json!([]), "{view} {scheme}");
            }
        }
    })
    .await;
}
