//! Ten thousand of everything: the work of the browser is bounded, in elements rather than in time.

use machine::machine;
use serde::{Deserialize, Serialize};

use crate::{browser::browse, site::ANN};

/// The most elements that a page may have.
const ELEMENTS: u64 = 4000;

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Lamp {
    #[initial]
    #[on(switch => On)]
    Off,
    #[on(switch => Off)]
    On,
}

#[tokio::test]
async fn ten_thousand_machines() {
    browse(async |page| {
        for _ in 0..20 {
            let mut lamps: Vec<_> = (0..500).map(|_| Lamp::new()).collect();
            let mut batch = page.site.store.batch();
            for lamp in &mut lamps {
                batch = batch.create(lamp);
            }
            batch.write().await.unwrap();
        }
        page.open_as(ANN, "#/").await;
        page.shows("lamp").await;
        assert_eq!(page.count(".machines tbody tr").await, 50);
        let elements = page.count("*").await;
        assert!(elements < ELEMENTS, "{elements}");
        page.click("nav a[href*=after]").await;
        page.until("the next page", "return location.hash.includes('after=') && document.querySelectorAll('.machines tbody tr').length === 50").await;
    })
    .await;
}

#[tokio::test]
async fn ten_thousand_entries() {
    browse(async |page| {
        let mut lamp = AnyLamp::from(Lamp::new());
        page.site.store.create(&mut lamp).await.unwrap();
        for _ in 0..10 {
            for _ in 0..1000 {
                lamp = match lamp {
                    AnyLamp::Off(lamp) => lamp.switch().into(),
                    AnyLamp::On(lamp) => lamp.switch().into(),
                };
            }
            page.site.store.commit(&mut lamp).await.unwrap();
        }
        page.open_as(ANN, &format!("#/machines/{}", lamp.id())).await;
        page.holds(".stepper output", "Entry 10,000 of 10,000").await;
        assert_eq!(page.count(".entries tbody tr").await, 51);
        let elements = page.count("*").await;
        assert!(elements < ELEMENTS, "{elements}");
        // The path has been taken five thousand times in each direction.
        page.holds(".diagram", "×5,000").await;
        page.click("[aria-label='One entry back']").await;
        page.holds(".stepper output", "Entry 9,999 ").await;
        assert_eq!(page.count("[aria-current=step]").await, 1);
        page.click("section > p.actions button").await;
        page.is(".entries th button", "9800").await;
        for _ in 0..8 {
            page.run("document.querySelector('.picture .actions button').click()").await;
        }
        let elements = page.count("*").await;
        assert!(elements < ELEMENTS, "{elements} after zooming in");
    })
    .await;
}
