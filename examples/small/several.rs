//! Several calls at once: all shops are asked for a price, and the cheapest answer within ten
//! seconds counts.

use std::time::Duration;

use machine::prelude::*;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Search {
    #[initial]
    #[invoke(prices: [Price] = shops.into_iter().map(|shop| Price { shop }),
        within = Duration::from_secs(10), done = answered)]
    #[on(answered(outcomes: Vec<Outcome<Price>>) => match cheapest(&outcomes) {
        Some(cents) => Found(cents),
        None => SoldOut,
    })]
    Asking { shops: Vec<String> },
    #[terminal]
    Found { cents: u32 },
    #[terminal]
    SoldOut,
}

/// A shop that refused, or was too slow, has no price.
fn cheapest(outcomes: &[Outcome<Price>]) -> Option<u32> {
    outcomes.iter().flatten().min().copied()
}

/// The receipt is the price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(shop.price, idempotent, receipt = u32)]
struct Price {
    shop: String,
}

#[cfg(test)]
mod tests {
    use machine::testing::{Reply, TestEnvironment, TestTool};

    use super::*;

    async fn searched(shops: TestTool<Price>) -> AnySearch {
        let desk =
            TestEnvironment::new(move |worker| worker.machine::<AnySearch>().tool(shops.clone()));
        let names = ["north", "south", "east"].map(str::to_owned);
        let id = desk.create(Search::new(names.into())).await;
        desk.run_until_idle().await;
        desk.advance(Duration::from_mins(1)).await;
        desk.run_until_idle().await;
        desk.load(id).await
    }

    #[tokio::test(start_paused = true)]
    async fn the_cheapest_answer_in_time_counts() {
        let late = Reply::Applied(100).after(Duration::from_secs(20));
        let shops = TestTool::<Price>::new().replies(late).replies(Reply::Applied(300));
        let AnySearch::Found(found) = searched(shops.otherwise(Reply::Applied(250))).await else {
            panic!("two shops have answered")
        };
        assert_eq!(found.state().cents, 250);
    }

    #[tokio::test(start_paused = true)]
    async fn no_shop_has_a_price() {
        let shops = TestTool::<Price>::new().otherwise(Reply::refused("sold out"));
        assert_eq!(searched(shops).await.status(), search::Status::SoldOut);
    }
}
