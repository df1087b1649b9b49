//! Jobs from the message to the summary, with a planner that follows a script (OR-3).

use std::{
    collections::BTreeSet,
    fs,
    sync::{Arc, Mutex},
};

use coding_agent::{
    commands::run::Run,
    plan::{
        agent::Agent,
        consent::{Bounds, Scope},
        hands::Hands,
        job::{
            Answer, AnyJob, Job, Limits,
            job::{AwaitingConfirmation, Driver},
        },
        model::{Call, Mode, Plan, Risk, Step, VerificationPolicy},
        work::Summary,
    },
    planner::{Rung, script::Script},
    workspace::{
        edits::Workspace,
        set::Digest,
        tools::{Lookup, Read, Request, Search},
    },
};
use machine::{
    Id,
    actor::{Actors, Human},
    store::Store,
    worker::Worker,
};
use schemars::schema_for;
use serde_json::Value;

use crate::{
    desk::{Desk, place, rename, write},
    testing::{STUCK, signal},
};

const CHECK: [&str; 4] = ["grep", "-q", "right", "a"];

fn step(id: &str, diff: &str) -> Step {
    let patch = Request::Patch { path: "a".parse().unwrap(), diff: diff.to_owned() };
    Step {
        id: id.to_owned(),
        intent: format!("{id} is needed"),
        tool_calls: vec![Call::Edit { edits: vec![patch] }],
        expected_artifacts: vec!["a".parse().unwrap()],
        ..Step::default()
    }
}

/// The first patch does not pass the check.
pub fn script() -> Script {
    let timeout = u64::try_from(STUCK.as_millis()).unwrap();
    let check = Run { argv: CHECK.map(str::to_owned).to_vec(), timeout };
    let verification = VerificationPolicy {
        mode: Mode::Test,
        commands: vec![check],
        required: true,
        stop_on_fail: true,
    };
    let steps = vec![step("patch", "@@\n-old\n+wrong\n")];
    let plan = Plan { steps, verification, ..Plan::default() };
    Script { plan, ..Script::default() }
}

pub struct Office {
    pub desk: Desk,
    pub jobs: Store,
    workspace: Arc<Mutex<Workspace>>,
    script: Script,
    pub ann: Human,
}

impl Office {
    pub fn new(script: Script) -> Self {
        let desk = Desk::new(&[("a", "old\n")]);
        let workspace = Arc::new(Mutex::new(desk.open()));
        let (jobs, ann) = (Store::memory(), Human::new("ann").unwrap());
        Self { desk, jobs, workspace, script, ann }
    }

    pub async fn run(&self, job: Id) -> AnyJob {
        let workspace = Arc::clone(&self.workspace);
        let hands = Hands { workspace: Arc::clone(&workspace), jobs: self.jobs.clone() };
        let agent = Agent { planner: self.script.clone(), workspace, rate: |_| Risk::Low };
        let worker = Worker::new(&self.jobs, Actors::issue("desk").unwrap());
        worker.handler(Driver(agent)).tool(hands).run_until_idle().await.unwrap();
        self.jobs.load(job).await.unwrap()
    }

    pub async fn begin(&self, limits: Limits) -> AnyJob {
        let mut job = Job::new(limits).user_message("make it right".into(), &self.ann);
        self.jobs.create(&mut job).await.unwrap();
        self.run(job.id()).await
    }

    pub async fn asks(&self) -> Job<AwaitingConfirmation> {
        match self.begin(Limits::default()).await {
            AnyJob::AwaitingConfirmation(job) => job,
            other => panic!("{other:?}"),
        }
    }

    pub async fn answer(&self, job: Job<AwaitingConfirmation>, answer: Answer) -> Summary {
        let id = job.id();
        let mut job = AnyJob::from(job.confirm(answer, &self.ann));
        self.jobs.commit(&mut job).await.unwrap();
        summary(self.run(id).await)
    }

    pub fn file(&self) -> String {
        self.desk.file("a").unwrap()
    }
}

pub fn summary(job: AnyJob) -> Summary {
    match job {
        AnyJob::Done(job) => job.state().summary.clone(),
        other => panic!("{other:?}"),
    }
}

pub fn bounds(plan: &Plan) -> Bounds {
    Bounds::of(plan, 3, i64::MAX)
}

#[tokio::test]
async fn a_failing_check_is_rolled_back_and_repaired() {
    let repairs = vec![(Rung::RollBack, vec![step("repair", "@@\n-old\n+right\n")])];
    let reads = vec![Lookup::Search(Search { text: "old".to_owned(), under: None })];
    let office = Office::new(Script { repairs, reads, ..script() });
    let job = office.asks().await;
    let found = job.work().readings[0].result.as_ref().unwrap();
    assert!(found.contains("a:1: old"), "{found}");
    assert_eq!(office.file(), "old\n");
    let scope = Scope::Plan(bounds(&job.work().plan));
    let summary = office.answer(job, Answer::Yes(scope)).await;
    assert_eq!(office.file(), "right\n");
    let check = format!("run {CHECK:?}");
    assert_eq!(summary.what, [("edit a".to_owned(), Some(3)), (check.clone(), None)]);
    assert_eq!(summary.why, ["patch is needed", "repair is needed"]);
    assert_eq!(summary.verified, [(check, true)]);
    assert_eq!((summary.risk, summary.undo, summary.blocked), (Risk::High, 1, None));
    let workspace = office.workspace.lock().unwrap();
    // Edits, their undo, and the repair; the check ran again after it.
    assert_eq!(workspace.store.numbers().unwrap(), [3, 2, 1]);
    assert_eq!(workspace.store.numbers_in("commands").unwrap(), [2, 1]);
}

#[tokio::test]
async fn nothing_is_done_without_consent() {
    let plan = script().plan;
    let scopes = [
        Scope::Once(Digest::of(b"another")),
        Scope::Plan(Bounds { paths: BTreeSet::new(), ..bounds(&plan) }),
        Scope::Plan(Bounds { until: 0, ..bounds(&plan) }),
        Scope::Plan(Bounds { calls: 0, ..bounds(&plan) }),
    ];
    let mut answers: Vec<Answer> = scopes.into_iter().map(Answer::Yes).collect();
    answers.push(Answer::No("too risky".to_owned()));
    for answer in answers {
        let office = Office::new(script());
        let job = office.asks().await;
        let summary = office.answer(job, answer.clone()).await;
        assert!(summary.blocked.unwrap().starts_with("E_POLICY_DENIED: "), "{answer:?}");
        assert_eq!((summary.what.len(), office.file().as_str()), (0, "old\n"), "{answer:?}");
    }
}

#[tokio::test]
async fn consent_can_be_for_the_first_call_alone() {
    let office = Office::new(script());
    let job = office.asks().await;
    let first = job.work().first().unwrap();
    let summary = office.answer(job, Answer::Yes(Scope::Once(first))).await;
    assert_eq!((summary.what, summary.undo), (vec![("edit a".to_owned(), Some(1))], 1));
    assert_eq!(office.file(), "wrong\n");
    assert!(summary.blocked.unwrap().starts_with("E_POLICY_DENIED: "));
}

/// Undo leaves it alone. Job control gives a process a group of its own.
#[tokio::test]
async fn what_a_command_leaves_is_seen() {
    let root = tempfile::tempdir().unwrap();
    let pipe = root.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let leaves = format!("set -m; cat {} & echo $! > made", pipe.display());
    let table: [(&[&str], &str); 2] = [
        (&["sed", "w made", "a"], "seen during command 1: made"),
        (
            &["bash", "-c", &leaves],
            "seen during command 1: a process that it started still runs; made",
        ),
    ];
    for (argv, text) in table {
        let argv = argv.iter().map(|&word| word.to_owned()).collect();
        let run = Run { argv, timeout: u64::try_from(STUCK.as_millis()).unwrap() };
        let steps = vec![Step { tool_calls: vec![Call::Run(run)], ..Step::default() }];
        let plan = Plan { steps, ..Plan::default() };
        let office = Office::new(Script { plan, ..Script::default() });
        let job = office.asks().await;
        let scope = Scope::Plan(bounds(&job.work().plan));
        let summary = office.answer(job, Answer::Yes(scope)).await;
        let left = office.desk.file("made").unwrap();
        if let Ok(process) = left.trim().parse() {
            signal(process, "KILL");
        }
        let seen: Vec<_> = summary.seen.iter().map(ToString::to_string).collect();
        assert_eq!((seen, summary.undo), (vec![text.to_owned()], 0));
    }
}

/// A repair has the bounds of its plan, whatever it says that it will edit. One of a plan without
/// danger has no bounds: nobody has confirmed it.
#[tokio::test]
async fn a_repair_needs_the_consent_as_well() {
    let check = script().plan.verification.commands[0].clone();
    let touch = ["touch", "b"].map(str::to_owned).to_vec();
    for call in [
        Call::Edit { edits: vec![write("b", "new\n", None)] },
        Call::Edit { edits: vec![rename("a", "b")] },
        Call::Run(Run { argv: touch, ..check.clone() }),
        Call::Run(Run { timeout: check.timeout + 1, ..check }),
    ] {
        let told = format!("{call:?}");
        let expected_artifacts = ["a", "b"].map(place).to_vec();
        let beyond = Step { tool_calls: vec![call], expected_artifacts, ..Step::default() };
        let repairs = vec![(Rung::Smallest, vec![beyond])];

        let office = Office::new(Script { repairs: repairs.clone(), ..script() });
        let job = office.asks().await;
        let scope = Scope::Plan(bounds(&job.work().plan));
        let blocked = office.answer(job, Answer::Yes(scope)).await.blocked.unwrap();
        assert!(blocked.starts_with("E_POLICY_DENIED: "), "{told}: {blocked}");
        assert_eq!((&*office.file(), office.desk.file("b")), ("wrong\n", None), "{told}");

        let read = Call::Read(Read { path: place("none"), from: None, lines: None });
        let steps = vec![Step { tool_calls: vec![read], ..Step::default() }];
        let plan = Plan { steps, ..Plan::default() };
        let office = Office::new(Script { plan, repairs, ..Script::default() });
        let blocked = summary(office.begin(Limits::default()).await).blocked.unwrap();
        assert!(blocked.starts_with("E_POLICY_DENIED: "), "{told}: {blocked}");
        assert_eq!((&*office.file(), office.desk.file("b")), ("old\n", None), "{told}");
    }
}

/// A person edits between the plan and the confirmation: a digest and a plan are of what was shown,
/// also if the edits would still fit.
#[tokio::test]
async fn a_file_that_changes_before_the_confirmation_stays() {
    for (is_once, text, code) in [
        (true, "old\nmine\n", "E_POLICY_DENIED: "),
        (false, "old\nmine\n", "E_CONFLICT: "),
        (false, "mine\n", "E_CONFLICT: "),
    ] {
        let office = Office::new(script());
        let job = office.asks().await;
        let (first, plan) = (job.work().first().unwrap(), bounds(&job.work().plan));
        fs::write(office.desk.path("a"), text).unwrap();
        let scope = if is_once { Scope::Once(first) } else { Scope::Plan(plan) };
        let blocked = office.answer(job, Answer::Yes(scope)).await.blocked.unwrap();
        assert!(blocked.starts_with(code), "{text:?}: {blocked}");
        assert_eq!(office.file(), text);
    }
}

/// Each line that follows the task answers a question, however many lines the task has.
#[tokio::test]
async fn what_is_missing_is_asked() {
    for task in ["make it right", "make\n\nit right\n", ""] {
        let questions = ["which file?", "which line?"].map(str::to_owned);
        let office = Office::new(Script { questions: questions.to_vec(), ..script() });
        let mut job = Job::new(Limits::default()).user_message(task.into(), &office.ann);
        office.jobs.create(&mut job).await.unwrap();
        let id = job.id();
        for (open, answer) in [(&questions[..], "a"), (&questions[1..], "1")] {
            let AnyJob::Clarifying(job) = office.run(id).await else { panic!("{task:?}: asks") };
            assert_eq!(job.state().questions, open, "{task:?}");
            let mut job = job.clarification_answer(answer.to_owned(), &office.ann);
            office.jobs.commit(&mut job).await.unwrap();
        }
        let AnyJob::AwaitingConfirmation(job) = office.run(id).await else { panic!("{task:?}") };
        assert_eq!(job.work().plan.goal, format!("{task}\na\n1"));
    }
}

#[tokio::test]
async fn a_plan_without_steps_is_no_plan() {
    let office = Office::new(Script::default());
    let summary = summary(office.begin(Limits::default()).await);
    assert!(summary.blocked.unwrap().starts_with("E_MODEL: "));
    assert_eq!(office.file(), "old\n");
}

#[test]
fn a_plan_has_a_schema() {
    let schema = serde_json::to_value(schema_for!(Plan)).unwrap();
    assert_eq!(schema["properties"]["plan_id"]["type"], "string");
    assert_eq!(schema["additionalProperties"], Value::Bool(false));
    let plan = serde_json::to_string(&script().plan).unwrap();
    serde_json::from_str::<Plan>(&plan).unwrap();
    assert!(serde_json::from_str::<Plan>(r#"{"steps": [], "shell": "rm"}"#).is_err());
}
