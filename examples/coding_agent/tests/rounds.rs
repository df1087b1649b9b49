//! Jobs over time: answers that come late, deadlines, pauses, and further rounds.

use std::time::{Duration, Instant};

use coding_agent::{
    plan::{
        consent::Scope,
        job::{Answer, AnyJob, Limits},
    },
    planner::script::Script,
    workspace::{
        refusal::Code,
        tools::{Lookup, Read},
    },
};

use crate::{
    desk::place,
    plans::{Office, bounds, script, summary},
};

/// Two people answer; the second has not seen that the plan is over.
#[tokio::test]
async fn a_late_confirmation_is_refused() {
    let office = Office::new(script());
    let job = office.asks().await;
    let (id, scope) = (job.id(), Scope::Plan(bounds(&job.work().plan)));
    let AnyJob::AwaitingConfirmation(same) = office.jobs.load::<AnyJob>(id).await.unwrap() else {
        panic!("it waits")
    };
    office.answer(same, Answer::No("too risky".to_owned())).await;
    let mut late = AnyJob::from(job.confirm(Answer::Yes(scope), &office.ann));
    assert!(office.jobs.commit(&mut late).await.is_err());
    assert!(summary(office.run(id).await).what.is_empty());
    assert_eq!(office.file(), "old\n");
}

/// A consent is of one round.
#[tokio::test]
async fn the_next_round_asks_again() {
    let office = Office::new(script());
    let job = office.asks().await;
    let (id, scope) = (job.id(), Scope::Plan(bounds(&job.work().plan)));
    office.answer(job, Answer::Yes(scope)).await;
    let AnyJob::Done(job) = office.run(id).await else { panic!("it is done") };
    let mut job = job.next_round(&office.ann).user_message("once more".to_owned(), &office.ann);
    office.jobs.commit(&mut job).await.unwrap();
    let AnyJob::AwaitingConfirmation(job) = office.run(id).await else { panic!("it asks") };
    assert_eq!((job.goal().as_str(), job.work().ended.len()), ("once more", 0));
    assert_eq!(office.file(), "wrong\n");
}

/// The request has one deadline, also while a person is asked.
#[tokio::test]
async fn a_request_that_takes_too_long_ends() {
    let office = Office::new(script());
    let limits = Limits { request: Duration::ZERO, ..Limits::default() };
    let blocked = summary(office.begin(limits).await).blocked.unwrap();
    assert!(blocked.starts_with("E_TOOL_TIMEOUT: "), "{blocked}");
    assert_eq!(office.file(), "old\n");
}

/// Only an error of the system is worth another try, after each pause; a planner reads it then.
#[tokio::test]
async fn a_read_is_tried_again_after_each_pause() {
    let pauses = [20, 30].map(Duration::from_millis).to_vec();
    let whole = pauses.iter().sum::<Duration>();
    // The system refuses a name of that length.
    for (path, code, waits) in
        [("x".repeat(300), Code::E_IO, true), ("none".to_owned(), Code::E_CONFLICT, false)]
    {
        let read = Read { path: place(&path), from: None, lines: None };
        let office = Office::new(Script { reads: vec![Lookup::Read(read)], ..script() });
        let pauses = if waits { pauses.clone() } else { vec![Duration::from_hours(1); 3] };
        let start = Instant::now();
        let job = office.begin(Limits { pauses, ..Limits::default() }).await;
        let AnyJob::AwaitingConfirmation(job) = job else { panic!("it asks") };
        assert!(!waits || start.elapsed() >= whole, "{code:?}");
        let readings = job.work().readings.iter().map(|it| it.result.clone());
        let codes: Vec<_> = readings.map(|result| result.unwrap_err().code).collect();
        assert_eq!(codes, [code]);
    }
}
