//! A deadline: an offer that is not accepted in time expires. The test moves the clock, and a week
//! takes a millisecond.

use std::time::Duration;

use machine::prelude::*;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Offer {
    #[initial]
    #[on(accept => Accepted, by = Human)]
    #[on(expire => Expired, by = GraphRunner, after = limit)]
    Open { limit: Duration },
    #[terminal]
    Accepted,
    #[terminal]
    Expired,
}

#[cfg(test)]
mod tests {
    use machine::testing::TestEnvironment;

    use super::*;

    const DAY: Duration = Duration::from_hours(24);
    const WEEK: Duration = Duration::from_hours(24 * 7);

    #[tokio::test(start_paused = true)]
    async fn an_offer_expires() {
        let shop = TestEnvironment::new(Worker::machine::<AnyOffer>);
        let id = shop.create(Offer::new(WEEK)).await;
        for (time, expected) in [(DAY * 6, offer::Status::Open), (DAY, offer::Status::Expired)] {
            shop.advance(time).await;
            shop.run_until_idle().await;
            assert_eq!(shop.load::<AnyOffer>(id).await.status(), expected);
        }
    }

    /// What came first counts, however late a worker looks at it.
    #[tokio::test(start_paused = true)]
    async fn an_answer_in_time_counts_although_no_worker_runs() {
        let shop = TestEnvironment::new(Worker::machine::<AnyOffer>);
        let id = shop.create(Offer::new(WEEK)).await;
        shop.advance(DAY * 6).await;
        let accept = Message::new(&offer::Event::Accept, &shop.person("ann")).unwrap();
        shop.store().send(id, &accept).await.unwrap();
        shop.advance(WEEK).await;
        shop.run_until_idle().await;
        assert_eq!(shop.load::<AnyOffer>(id).await.status(), offer::Status::Accepted);
    }
}
