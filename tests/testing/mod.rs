//! The testing kit: virtual time, tools that answer as the test says, coverage.

mod bugs;
mod shop;
mod upgrades;

use std::time::Duration;

use machine::{
    Id,
    actor::Human,
    observe::{ConcernReason, WaitingFor},
    store::{Message, Query},
    testing::{Coverage, Reply, TestEnvironment, TestTool},
    view::{Internal, Label},
};
use machine_tests::actors::graph_runner;
use shop::{AnyReturned, AnySale, AnyVisa, Charge, Returned, Sale, Shop, Visa, returned, sale};

fn ann() -> Human {
    Human::new("ann").unwrap()
}

fn shop(bank: &TestTool<Charge>) -> TestEnvironment {
    shop_of(bank, false)
}

fn shop_of(bank: &TestTool<Charge>, ended_is_paid: bool) -> TestEnvironment {
    let bank = bank.clone();
    TestEnvironment::new(move |worker| {
        worker.handler(sale::Driver(Shop { ended_is_paid })).tool(bank.clone())
    })
}

/// A sale that was confirmed, run until nothing is ready.
async fn sold(shop: &TestEnvironment) -> Id {
    let id = shop.create(Sale::new(500)).await;
    shop.send(id, &sale::Event::Confirm {}, &ann()).await;
    id
}

async fn status(shop: &TestEnvironment, id: Id) -> sale::Status {
    shop.load::<AnySale>(id).await.status()
}

/// The only execution in the store.
async fn payment(shop: &TestEnvironment) -> Id {
    let page = shop.store().list(&Query::new().machine("execution")).await.unwrap();
    let [Ok(line)] = &page.items[..] else { panic!("{:?}", page.items) };
    line.id
}

#[tokio::test(start_paused = true)]
async fn a_reply_decides_how_a_call_ends() {
    use sale::Status::{Paid, Paying, Unpaid};
    let settled = Duration::from_secs(1);
    let cases = [
        (Reply::applied("receipt 7"), Paid, Label::Success),
        (Reply::refused("no money"), Unpaid, Label::Failed),
        (Reply::unknown("the line went dead"), Paying, Label::InDoubt),
        (Reply::CutOff("the client was dropped".to_owned()), Paying, Label::InDoubt),
        (Reply::applied("receipt 8").after(settled), Paid, Label::Success),
        // Longer than the timeout.
        (Reply::applied("receipt 9").after(Duration::from_mins(5)), Paying, Label::InDoubt),
        (Reply::Never, Paying, Label::InDoubt),
    ];
    for (reply, expected, label) in cases {
        let bank = TestTool::new().replies(reply.clone());
        let shop = shop(&bank);
        let id = sold(&shop).await;
        assert_eq!(status(&shop, id).await, expected, "{reply:?}");
        shop.assert_label(payment(&shop).await, label).await;
        assert_eq!(bank.calls(), [Charge { cents: 500 }], "{reply:?}");
        assert_eq!(shop.failures(), Vec::<String>::new(), "{reply:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_receipt_is_taken_when_its_time_comes() {
    let late = Reply::applied("receipt 7").after(Duration::from_mins(5));
    let shop = shop(&TestTool::new().replies(late));
    let id = sold(&shop).await;
    let payment = payment(&shop).await;
    shop.assert_label(payment, Label::InDoubt).await;
    shop.advance(Duration::from_mins(5)).await;
    shop.run_until_idle().await;
    shop.assert_label(payment, Label::Success).await;
    assert_eq!(status(&shop, id).await, sale::Status::Paid);
}

#[tokio::test(start_paused = true)]
async fn a_status_query_settles_a_doubt() {
    for (found, expected) in [
        (Reply::applied("found 7"), sale::Status::Paid),
        (Reply::refused("not found"), sale::Status::Unpaid),
    ] {
        let bank = TestTool::new().replies(Reply::unknown("no answer")).finds(found);
        let shop = shop(&bank);
        let id = sold(&shop).await;
        // "Not found" counts after the settling time of the tool.
        for _ in 0..3 {
            shop.advance(Duration::from_mins(1)).await;
            shop.run_until_idle().await;
        }
        assert_eq!(status(&shop, id).await, expected, "{}", shop.story(payment(&shop).await).await);
        assert_eq!(bank.calls().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_not_expected_is_refused_and_says_so() {
    let shop = shop(&TestTool::new());
    let id = sold(&shop).await;
    assert_eq!(status(&shop, id).await, sale::Status::Unpaid);
    let view = shop.consequence(payment(&shop).await).await;
    let expected = "the test has set no reply to this call: add one with `TestTool::replies`";
    assert_eq!(view.error_message.as_deref(), Some(expected));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_of_a_week_fires_when_the_test_says() {
    let shop = shop(&TestTool::new());
    let id = shop.create(Sale::new(1)).await;
    let almost_a_week = Duration::from_millis(7 * 24 * 3_600_000 - 1);
    for (passed, expected) in
        [(almost_a_week, sale::Status::Open), (Duration::from_millis(1), sale::Status::Expired)]
    {
        shop.advance(passed).await;
        shop.run_until_idle().await;
        assert_eq!(status(&shop, id).await, expected);
    }
}

/// It would fire without an end, and fill the file.
#[tokio::test(start_paused = true)]
async fn a_deadline_that_is_due_again_waits() {
    let office = TestEnvironment::new(machine::prelude::Worker::machine::<AnyVisa>);
    let visa = office.create(Visa::new(0, 0, 0)).await;
    for expected in 1..=3 {
        office.run_until_idle().await;
        let AnyVisa::Valid(valid) = office.load(visa).await else { panic!("it is valid") };
        assert_eq!(valid.state().reminders, expected, "{}", office.story(visa).await);
        let failures = office.failures();
        assert_eq!(failures.len(), usize::try_from(expected).unwrap(), "{failures:?}");
        assert!(
            failures[0].contains("due already when it entered its state again"),
            "{failures:?}"
        );
        let attention = office.observer().attention::<Internal>(&Query::new()).await.unwrap();
        assert!(attention.concerns.iter().any(|it| it.id == Some(visa)), "{attention:?}");
        office.advance(Duration::from_secs(1)).await;
    }
}

/// After a downtime: at each of its times that have passed, and at once.
#[tokio::test(start_paused = true)]
async fn a_deadline_whose_time_advances_catches_up() {
    let office = TestEnvironment::new(machine::prelude::Worker::machine::<AnyVisa>);
    // It is due in 1970, in 2001, and then in 2033.
    let visa = office.create(Visa::new(0, 1_000_000_000_000, 0)).await;
    office.run_until_idle().await;
    let AnyVisa::Valid(valid) = office.load(visa).await else { panic!("it is valid") };
    assert_eq!(valid.state().reminders, 2, "{}", office.story(visa).await);
    assert_eq!(office.failures(), Vec::<String>::new());
}

/// Each step is one transition, in the order in which they happen.
#[tokio::test(start_paused = true)]
async fn steps_are_single_transitions() {
    use sale::Status::{Confirmed, Open, Paid, Paying};

    let shop = shop(&TestTool::new().otherwise(Reply::applied("receipt 7")));
    let id = shop.create(Sale::new(500)).await;
    assert!(!shop.step().await, "an open sale waits for a person");
    let message = Message::new(&sale::Event::Confirm {}, &ann()).unwrap();
    shop.store().send(id, &message).await.unwrap();
    let mut statuses = vec![status(&shop, id).await];
    while shop.step().await {
        let status = status(&shop, id).await;
        if *statuses.last().unwrap() != status {
            statuses.push(status);
        }
    }
    assert_eq!(statuses, [Open, Confirmed, Paying, Paid]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_attempt_is_reported_and_tried_again() {
    let shop = shop(&TestTool::new());
    let id = shop.create(Sale::new(shop::BROKEN)).await;
    shop.send(id, &sale::Event::Confirm {}, &ann()).await;
    let [failure] = &shop.failures()[..] else { panic!("{:?}", shop.failures()) };
    assert!(failure.contains("the till is broken"), "{failure}");
    shop.advance(Duration::from_secs(1)).await;
    shop.run_until_idle().await;
    assert_eq!(shop.failures().len(), 2);
}

/// The whole test of a user: every state and every transition of the sale.
#[tokio::test(start_paused = true)]
async fn coverage_names_what_is_missing() {
    let mut coverage = Coverage::of::<AnySale>();
    assert_eq!(coverage.missing_states().len(), 6);

    let paid = shop(&TestTool::new().otherwise(Reply::applied("receipt 7")));
    sold(&paid).await;
    paid.cover(&mut coverage).await;
    assert_eq!(coverage.missing_states(), ["UNPAID", "EXPIRED"]);
    assert_eq!(
        coverage.missing_transitions(),
        ["OPEN -expire-> EXPIRED", "PAYING -refuse-> UNPAID"]
    );
    let text = coverage.to_string();
    assert!(text.starts_with("sale: 4 of 6 states, 3 of 5 transitions\n"), "{text}");
    assert!(
        text.contains("  never reached: UNPAID\n")
            && text.contains("  made: OPEN -confirm-> CONFIRMED\n"),
        "{text}"
    );

    let unpaid = shop(&TestTool::new());
    sold(&unpaid).await;
    unpaid.create(Sale::new(1)).await;
    unpaid.advance(Duration::from_hours(24 * 7)).await;
    unpaid.run_until_idle().await;
    unpaid.cover(&mut coverage).await;
    assert!(coverage.is_complete(), "{coverage}");
}

/// Events that a test sends, and those that wait in an inbox.
#[tokio::test(start_paused = true)]
async fn coverage_has_the_refusals_of_a_run() {
    let shop = shop(&TestTool::new().replies(Reply::unknown("the line went dead")));
    let id = sold(&shop).await;
    shop.send(id, &sale::Event::Confirm {}, &ann()).await;
    shop.send(id, &sale::Event::Accept {}, &ann()).await;
    let open = shop.create(Sale::new(1)).await;
    let pay = Message::new(&sale::Event::Pay {}, graph_runner()).unwrap();
    shop.store().send(open, &pay).await.unwrap();
    shop.run_until_idle().await;
    let mut coverage = Coverage::of::<AnySale>();
    shop.cover(&mut coverage).await;
    let refusals = |coverage: &Coverage| {
        let text = coverage.to_string();
        let refused = text.lines().filter_map(|line| line.strip_prefix("  refused: "));
        refused.map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = ["pay in OPEN", "accept in PAYING", "confirm in PAYING"];
    assert_eq!(refusals(&coverage), expected, "{coverage}");

    // The message is set aside when its machine ends, and what was refused stays refused.
    shop.advance(Duration::from_hours(24 * 7)).await;
    shop.run_until_idle().await;
    shop.cover(&mut coverage).await;
    assert_eq!(refusals(&coverage), expected, "{coverage}");
}

#[tokio::test(start_paused = true)]
async fn coverage_has_the_refusals_of_guards() {
    let office = TestEnvironment::new(machine::prelude::Worker::machine::<AnyReturned>);
    let id = office.create(Returned::new()).await;
    let refund = returned::Event::Refund { charge: Charge { cents: 0 } };
    office.send(id, &refund, &ann()).await;
    let mut coverage = Coverage::of::<AnyReturned>();
    office.cover(&mut coverage).await;
    assert!(coverage.to_string().contains("  refused: refund in ASKED\n"), "{coverage}");
}

#[tokio::test(start_paused = true)]
async fn what_a_machine_waits_for_and_what_needs_attention() {
    let late = Duration::from_mins(5);
    let shop = shop(&TestTool::new().replies(Reply::applied("receipt 7").after(late)));
    let id = shop.create(Sale::new(500)).await;
    shop.assert_waits_for(id, WaitingFor::Person).await;
    shop.assert_attention(&[(id, ConcernReason::WaitsForPerson)]).await;

    shop.send(id, &sale::Event::Confirm {}, &ann()).await;
    shop.assert_waits_for(id, WaitingFor::Child).await;
    shop.assert_attention(&[(payment(&shop).await, ConcernReason::InDoubt)]).await;

    shop.advance(late).await;
    shop.run_until_idle().await;
    shop.assert_waits_for(id, None).await;
    shop.assert_attention(&[]).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "waits for a person, who can `confirm`; expected: Some(Deadline)")]
async fn a_machine_that_waits_for_something_else_fails_the_test() {
    let shop = shop(&TestTool::new());
    let id = shop.create(Sale::new(1)).await;
    shop.assert_waits_for(id, WaitingFor::Deadline).await;
}

#[tokio::test]
#[should_panic(expected = "write `#[tokio::test(start_paused = true)]`")]
async fn time_that_is_not_paused_says_what_to_do() {
    shop(&TestTool::new()).advance(Duration::from_secs(1)).await;
}
