//! Tests of the suite: it must find the defect of each broken twin.

use std::{sync::Arc, thread};

use super::{SUITE, broken_promises, defect::Defect, run, twin::Twin};

/// Each defect, and the promise whose check must find it. Other checks may find it too.
const TWINS: [(Defect, &str); 44] = [
    (Defect::AcknowledgesEarly, "acknowledged"),
    (Defect::AllowsRepetition, "key_applied"),
    (Defect::AllowsUsedKey, "effect_kept"),
    (Defect::ClosesNever, "closed"),
    (Defect::DropsSecondWrite, "all_or_nothing"),
    (Defect::DrivesOnce, "drives"),
    (Defect::ForgetsChain, "chain"),
    (Defect::ForgetsChildren, "children"),
    (Defect::ForgetsEffect, "effect_kept"),
    (Defect::ForgetsIdentity, "identity_kept"),
    (Defect::ForgetsKey, "key_held"),
    (Defect::ForgetsOpened, "prune"),
    (Defect::ForgetsPruned, "prune"),
    (Defect::ForgetsSelfSends, "lease"),
    (Defect::ForgetsTries, "inbox"),
    (Defect::KeepsWorkers, "crew"),
    (Defect::FreesKeyOnDelete, "attempts_stay"),
    (Defect::FreesKeyOnPrune, "prune"),
    (Defect::IgnoresCommitId, "commit_id"),
    (Defect::IgnoresCursor, "queries"),
    (Defect::IgnoresDueTime, "queries"),
    (Defect::IgnoresEffectsOfBatch, "effect_kept"),
    (Defect::IgnoresOffset, "offset"),
    (Defect::IgnoresSessionCursor, "sessions"),
    (Defect::IgnoresSpace, "key_spaces"),
    (Defect::IgnoresVersion, "compare_and_set"),
    (Defect::KeepsEffectOfRefused, "effect_kept"),
    (Defect::KeepsOneAttempt, "attempts_stay"),
    (Defect::KeepsToken, "lease"),
    (Defect::LosesContext, "summary"),
    (Defect::LosesSummary, "summary"),
    (Defect::MistakesTool, "effect_kept"),
    (Defect::Reorders, "order"),
    (Defect::ReusesToken, "token_rises"),
    (Defect::ReversesAgenda, "agenda"),
    (Defect::RewritesOutcome, "operations"),
    (Defect::RingsNever, "doorbell"),
    (Defect::RingsOnce, "doorbell"),
    (Defect::ReplacesMessages, "correlation"),
    (Defect::SkipsSequenceNumber, "order"),
    (Defect::SuppressesMessages, "correlation"),
    (Defect::WritesDefinitionsTwice, "definitions"),
    (Defect::WritesDespiteRefusal, "lease"),
    (Defect::WritesOneByOne, "all_or_nothing"),
];

#[test]
fn every_defect_breaks_its_promise() {
    let missed = |&(defect, promise): &(Defect, &'static str)| {
        let broken = broken_promises(&|settings| Arc::new(Twin::new(settings, Some(defect))));
        let found: Vec<_> = broken.into_iter().map(|(promise, _)| promise).collect();
        (!found.contains(&promise)).then(|| format!("{promise} misses {defect:?}: {found:?}"))
    };
    let missed: Vec<_> = thread::scope(|scope| {
        let threads = TWINS.each_ref().map(|twin| scope.spawn(move || missed(twin)));
        threads
            .into_iter()
            .filter_map(|it| it.join().unwrap_or_else(|_| Some("panic".into())))
            .collect()
    });
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn every_promise_has_a_twin_that_breaks_it() {
    for (promise, _) in SUITE {
        assert!(TWINS.iter().any(|(_, broken)| *broken == promise), "{promise}");
    }
}

/// So what the suite finds in a twin is its defect, and not the twin itself.
#[test]
fn a_twin_without_a_defect_passes() {
    run("twin", &|settings| Arc::new(Twin::new(settings, None)));
}
