//! A handler, and a copy of it with a mistake that people make: the kit finds it.

use std::time::Duration;

use machine::testing::{Coverage, Reply, TestTool};

use super::{
    shop::{AnySale, Sale, sale::Status},
    shop_of, sold, status,
};

/// The test of a user, as a text for each finding.
async fn findings(ended_is_paid: bool) -> Vec<String> {
    let mut findings = Vec::new();
    let mut coverage = Coverage::of::<AnySale>();
    for (reply, expected) in [
        (Reply::applied("receipt 7"), Status::Paid),
        (Reply::refused("no money"), Status::Unpaid),
        (Reply::unknown("the line went dead"), Status::Paying),
    ] {
        let bank = TestTool::new().replies(reply.clone());
        let shop = shop_of(&bank, ended_is_paid);
        let sale = sold(&shop).await;
        let found = status(&shop, sale).await;
        if found != expected {
            findings.push(format!("{reply:?}: {found:?} instead of {expected:?}"));
        }
        if bank.calls().len() != 1 {
            findings.push(format!("{reply:?}: {} calls", bank.calls().len()));
        }
        findings.extend(shop.failures());
        // One expires.
        shop.create(Sale::new(1)).await;
        shop.advance(Duration::from_hours(24 * 7)).await;
        shop.run_until_idle().await;
        shop.cover(&mut coverage).await;
    }
    let missing = coverage.missing_transitions();
    findings.extend(missing.iter().map(|edge| format!("no test reaches {edge}")));
    findings
}

#[tokio::test(start_paused = true)]
async fn a_handler_without_a_mistake_passes() {
    assert_eq!(findings(false).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_mistake_is_found() {
    let findings = findings(true).await;
    let first = r#"Refused("no money"): Paid instead of Unpaid"#;
    assert_eq!(findings.first().map(String::as_str), Some(first), "{findings:?}");
}
