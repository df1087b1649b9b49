//! What people, developers and models see of a machine: fields without a mark are internal, so no
//! view shows the card.

use machine::prelude::*;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Booking {
    #[initial]
    #[invoke(reservation: Reserve = Reserve { room }, done = reserved, failed = refused)]
    #[on(reserved(voucher) => Reserved)]
    #[on(refused(why) => Refused)]
    Asked {
        #[audience(human)]
        room: String,
        card: String,
    },
    #[terminal]
    Reserved {
        #[audience(human)]
        room: String,
        #[audience(diagnostic)]
        voucher: String,
        card: String,
    },
    #[terminal]
    Refused { why: CallError },
}

/// `about` is what its line in lists and prompts says besides the name of the tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(hotel.reserve, idempotent, about = "{room}")]
struct Reserve {
    room: String,
}

#[cfg(test)]
mod tests {
    use machine::{
        testing::{Reply, TestEnvironment, TestTool},
        view::{Diagnostic, Human},
    };

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_audience_has_a_view() {
        let hotel = TestTool::<Reserve>::new().otherwise(Reply::applied("voucher 7"));
        let desk =
            TestEnvironment::new(move |worker| worker.machine::<AnyBooking>().tool(hotel.clone()));
        let (room, card) = ("the blue room".to_owned(), "4111 1111".to_owned());
        let id = desk.create(Booking::new(room, card)).await;
        desk.run_until_idle().await;
        let observer = desk.observer();

        let people = observer.snapshot::<Human>(id).await.unwrap();
        assert_eq!(people.state.to_string(), "room: the blue room");
        let developers = observer.snapshot::<Diagnostic>(id).await.unwrap();
        assert_eq!(developers.state.to_string(), "room: the blue room, voucher: voucher 7");

        // The calls of a machine without a session are in one that is named after it.
        let calls = observer.consequences(&id.to_string()).await.unwrap();
        assert_eq!(
            calls.prompt().to_string(),
            "Tool results:\n\n\
             [SUCCESS] hotel.reserve → the blue room: voucher 7\n\n\
             Continue with the user's request based on the results above."
        );
    }
}
