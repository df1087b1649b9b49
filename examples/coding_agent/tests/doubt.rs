//! A call of which nothing shows whether it took effect, and a job that another worker holds.

use std::{
    fs,
    future::pending,
    sync::{
        Arc, Mutex,
        mpsc::{Sender, channel},
    },
};

use coding_agent::{
    plan::{
        agent::Agent,
        consent::{Bounds, Scope},
        hands::Hands,
        job::{Answer, AnyJob, Job, Limits, job::Driver},
        model::Risk,
    },
    planner::script::Script,
    workspace::{edits::Step, place::Place},
};
use machine::{
    Id,
    actor::{Actors, Human},
    operate::{Finding, Operator},
    store::{Query, Store},
    worker::{Handled, Handler, Task, Worker},
};

use crate::{
    desk::Desk,
    terminal::{TASK, Told, checked, usual, work, written},
};

/// Confirms the plan, and writes to the file in the middle of its edit, so that it is neither as
/// before nor as after.
async fn disturb(desk: &Desk, jobs: &Store, ann: &Human) {
    let file = desk.path("a");
    let watch = move |step: Step, _: &Place| {
        if step == Step::Kept {
            fs::write(&file, "right\n").unwrap();
        }
        Ok(())
    };
    let workspace = Arc::new(Mutex::new(desk.watched(Box::new(watch)).unwrap()));
    let newest = jobs.load_all::<AnyJob>(&Query::new().newest_first().limit(1)).await.unwrap();
    let Some(Ok(AnyJob::AwaitingConfirmation(job))) = newest.items.into_iter().next() else {
        panic!("a plan waits")
    };
    let scope = Scope::Plan(Bounds::of(&job.work().plan, 3, i64::MAX));
    let mut job = AnyJob::from(job.confirm(Answer::Yes(scope), ann));
    jobs.commit(&mut job).await.unwrap();
    let planner: Script = serde_json::from_value(usual()).unwrap();
    let hands = Hands { workspace: Arc::clone(&workspace), jobs: jobs.clone() };
    let agent = Agent { planner, workspace, rate: |_| Risk::Low };
    let worker = Worker::new(jobs, Actors::issue("disturbed").unwrap());
    worker.handler(Driver(agent)).tool(hands).run_until_idle().await.unwrap();
}

/// Confirms what a person has found about the call that the program asks about.
pub async fn confirm(desk: &Desk, asked: &Told, finding: Finding<'_>) {
    let command = asked.one("asks")["commands"][0].as_str().unwrap();
    let call: Id = command.split(' ').rev().nth(3).unwrap().parse().unwrap();
    let jobs = Store::sqlite(desk.store().join("jobs.db")).await.unwrap();
    let (actors, ann) = (Actors::issue("ann").unwrap(), Human::new("ann").unwrap());
    let operator = Operator::new(&jobs, &actors, &ann, "test");
    let doubt = operator.in_doubt(call, finding).await.unwrap();
    operator.confirm(doubt, finding).await.unwrap();
}

#[tokio::test]
async fn a_call_in_doubt_waits_for_a_person() {
    let table: [(Finding<'_>, &[&str], i32); 2] = [
        (Finding::Applied(None), &[], 0),
        (Finding::NotApplied(None), &["--cancel", "not needed"], 4),
    ];
    for (finding, words, code) in table {
        let (desk, ann) = (checked(), Human::new("ann").unwrap());
        written(&desk, &usual());
        assert_eq!(work(&desk, &[TASK]).code, 3);
        let file = desk.store().join("jobs.db");
        let jobs = Store::sqlite(&file).await.unwrap();
        disturb(&desk, &jobs, &ann).await;
        drop(jobs);

        let asked = work(&desk, words);
        assert_eq!(asked.code, 3, "{:?} {}", asked.events, asked.errors);
        let asks = asked.one("asks");
        assert!(asks["questions"][0].as_str().unwrap().contains("edit a"), "{asks}");
        confirm(&desk, &asked, finding).await;

        let ended = work(&desk, &[]);
        assert_eq!(ended.code, code, "{finding:?} {:?} {}", ended.events, ended.errors);
        assert_eq!(desk.file("a").unwrap(), "right\n");
    }
}

/// Holds a job for as long as its process lives.
struct Holds(Sender<()>);

impl Handler for Holds {
    type Machine = AnyJob;

    async fn handle(&self, _: AnyJob, _: &mut Task) -> Handled<AnyJob> {
        let _ = self.0.send(());
        pending().await
    }
}

#[tokio::test]
async fn a_job_that_is_held_is_told() {
    let (desk, ann) = (checked(), Human::new("ann").unwrap());
    written(&desk, &usual());
    assert_eq!(work(&desk, &[]).code, 2, "no task is open");
    let jobs = Store::sqlite(desk.store().join("jobs.db")).await.unwrap();
    let mut job = Job::new(Limits::default()).user_message(TASK.to_owned(), &ann);
    jobs.create(&mut job).await.unwrap();
    let (sender, held) = channel();
    let worker = Worker::new(&jobs, Actors::issue("another").unwrap()).handler(Holds(sender));
    let worker = tokio::spawn(worker.run_until_idle());
    tokio::task::spawn_blocking(move || held.recv()).await.unwrap().unwrap();
    let told = work(&desk, &[]);
    let trace = told.check_error("E_IO", "a worker that may still live holds it: try again");
    assert_eq!(trace, job.id().to_string());
    worker.abort();
}
