//! Tests of the suite: it must find the defect of each broken twin.

use std::{sync::Arc, thread, time::Duration};

use super::{
    SUITE, broken_promises,
    defect::{Defect, TWINS},
    doorbell, run,
    twin::Twin,
};

#[test]
fn every_defect_breaks_its_promise() {
    let missed = |&(defect, promise): &(Defect, &'static str)| {
        // Twins that ring do so while they write.
        doorbell::PATIENCE.set(Duration::from_millis(100));
        let broken = broken_promises(&|settings| Arc::new(Twin::new(settings, Some(defect))));
        let found: Vec<_> = broken.into_iter().map(|(promise, _)| promise).collect();
        (!found.contains(&promise)).then(|| format!("{promise} misses {defect:?}: {found:?}"))
    };
    let missed: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = TWINS.iter().map(|twin| scope.spawn(move || missed(twin))).collect();
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

/// So the suite finds the defect of a twin, not the twin itself.
#[test]
fn a_twin_without_a_defect_passes() {
    run("twin", &|settings| Arc::new(Twin::new(settings, None)));
}
