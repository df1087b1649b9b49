// EX-5: `call` consumes the permit.

use machine::contract::{Answer, Applied, Permit};

async fn send_email(_permit: Permit) -> Answer {
    Ok(Applied::new("accepted"))
}

async fn send_twice(permit: Permit) {
    let _first = permit.call(send_email).await;
    let _second = permit.call(send_email).await;
}

fn main() {}
