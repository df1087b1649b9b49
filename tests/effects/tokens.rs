//! Fencing tokens rise from permit to permit, so that a service can refuse an old one.

use machine::{
    contract::{Contract, Settled, Token},
    effects::Batch,
};
use machine_tests::actors::{ann, tool_node};
use machine_tests::samples::mail;

use crate::store::support::{Place, begin_of, not_applied, on_both, unknown};

on_both! {
    a_token_rises_from_attempt_to_attempt,
    the_permits_of_a_batch_have_tokens_that_rise,
}

async fn token(place: &Place, contract: Contract) -> Token {
    let (running, permit) = place.begun(contract).await;
    let token = permit.token();
    let outcome = not_applied(permit, "connection refused").await;
    let _ = place.store.settle(running, outcome, tool_node()).await.unwrap();
    token
}

fn rise(tokens: &[Token]) {
    for pair in tokens.windows(2) {
        assert!(pair[0] < pair[1], "{tokens:?}");
        // A service may compare them as text.
        assert!(pair[0].to_string() < pair[1].to_string(), "{tokens:?}");
    }
}

/// Begin, fail, retry, begin: also across keys, and across reopening.
async fn a_token_rises_from_attempt_to_attempt(mut place: Place) {
    let mut tokens = Vec::new();
    for round in 0..12 {
        tokens.push(token(&place, mail("bob")).await);
        if round % 3 == 0 {
            tokens.push(token(&place, mail("ann")).await);
        }
        if round % 4 == 1 {
            place = place.reopened().await;
        }
    }
    // One that was in doubt is an attempt too.
    let (running, permit) = place.begun(mail("bob")).await;
    tokens.push(permit.token());
    let outcome = unknown(permit, "read timed out").await;
    let settled = place.store.settle(running, outcome, tool_node()).await.unwrap();
    let Settled::InDoubt(doubt) = settled else { panic!("{settled:?}") };
    let _ = place.store.confirm_not_applied(doubt, "not there", ann()).await.unwrap();
    tokens.push(token(&place, mail("bob")).await);
    rise(&tokens);
}

async fn the_permits_of_a_batch_have_tokens_that_rise(place: Place) {
    let mut begins = Vec::new();
    for to in ["ann", "bob", "carl", "dora"] {
        begins.push(begin_of(place.stored(mail(to)).await));
    }
    let batch = begins.iter_mut().fold(place.store.batch(), Batch::begin);
    batch.write().await.unwrap();
    let begun: Vec<_> = begins.into_iter().filter_map(|begin| begin.finish().ok()).collect();
    let tokens: Vec<_> = begun.iter().map(|(_, permit)| permit.token()).collect();
    rise(&tokens);
    assert_eq!(begun.len(), 4);
    for (running, permit) in begun {
        assert_eq!(permit.execution_id(), running.id());
    }
}
