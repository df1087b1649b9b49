//! The calls that machines made by entering their states.

use machine_tests::invoked::{asked, doubtful, placed};

use crate::{browser::browse, site::ANN};

#[tokio::test]
async fn the_page_shows_what_calls_do() {
    browse(async |page| {
        let store = &page.site.store;
        let (asking, _) = asked(store, 1).await;
        let (doubt, call) = placed(store, 2).await;
        doubtful(store, call).await;

        page.open_as(ANN, "#/?machine=purchase").await;
        page.has("table.machines tbody tr", 2).await;
        page.shows("asking (asked)").await;
        page.shows("paying (in doubt)").await;
        page.go("#/?calls=asked").await;
        page.has("table.machines tbody tr", 1).await;
        assert_eq!(page.count(&format!("table.machines a[href*='{asking}']")).await, 1);

        page.go(&format!("#/machines/{asking}")).await;
        page.holds("h1", "ASKING (asked)").await;
        page.shows("it waits for its gate").await;
        page.go(&format!("#/machines/{doubt}")).await;
        page.holds("h1", "PAYING (in doubt)").await;
        page.shows("moves out of the state wait for it").await;
        page.holds(".diagram", "payment: Charge").await;
        page.click(&format!("section[aria-labelledby=calls] a[href*='{call}']")).await;
        page.holds("h1", "IN DOUBT").await;
    })
    .await;
}
