//! What a consent covers, for a job that a person has answered.

use std::collections::BTreeSet;

use coding_agent::{
    commands::run::Run,
    plan::{
        consent::{Bounds, Consent, Dangerous, Scope, Undo},
        hands::{self, undo},
        job::{
            Answer, AnyJob, Job, Limits,
            job::{AfterConfirm, AfterPlanReady, AfterUnderstand, Executing},
        },
        model::{Plan, VerificationPolicy},
        work::{Entry, Occurrence, SeenDuring, Work},
    },
    workspace::{
        refusal::Code,
        set::{Change, Digest, EditSet, Image},
    },
};
use machine::{
    actor::{Actors, Human},
    stored::Unverified,
};

use crate::desk::{Desk, FILES, patch, place, rename, write};

const CHECK: [&str; 2] = ["grep", "right"];

/// The end of the consent.
const END: i64 = 77_777_777;

fn bounds() -> Bounds {
    let argv = CHECK.map(str::to_owned).to_vec();
    let (paths, argv) = (BTreeSet::from([place("a")]), BTreeSet::from([argv]));
    Bounds { paths, argv, timeout: 100, calls: 2, until: END }
}

fn command(argv: &[&str], timeout: u64) -> Run {
    Run { argv: argv.iter().map(|&word| word.to_owned()).collect(), timeout }
}

fn edit(paths: &[&str], mode: u32) -> EditSet {
    let after = Some(Image { digest: Digest::of(b"new"), mode });
    let change = |path: &&str| Change { path: place(path), from: None, before: None, after };
    EditSet { changes: paths.iter().map(change).collect() }
}

/// A job that repairs, and has made this many calls.
fn job(scope: Option<Scope>, acts: usize) -> Job<Executing> {
    job_with(scope, &vec![None; acts])
}

/// A job that repairs, and whose calls made these sets of edits.
fn job_with(scope: Option<Scope>, sets: &[Option<usize>]) -> Job<Executing> {
    let at = Occurrence { attempt: 1, ..Occurrence::default() };
    let ended = sets.iter().copied().map(entry).collect();
    job_of(scope, Work { at, ended, ..Work::default() })
}

fn entry(set: Option<usize>) -> Entry {
    let (at, what) = (Occurrence::default(), "call".to_owned());
    Entry { at, what, is_ok: true, set, undid: None, seen: None }
}

/// A job that makes calls; without an answer its plan is harmless.
pub fn job_of(scope: Option<Scope>, work: Work) -> Job<Executing> {
    let (actors, ann) = (Actors::issue("desk").unwrap(), Human::new("ann").unwrap());
    let runner = &actors.graph_runner;
    let job = Job::new(Limits::default()).user_message("make it right".to_owned(), &ann);
    let AfterUnderstand::ContextBuilding(job) = job.understand(Work::default(), Vec::new(), runner)
    else {
        panic!("nothing is missing")
    };
    let job = job.context_built(Work::default(), runner);
    let commands = scope.iter().map(|_| command(&CHECK, 100)).collect();
    let verification = VerificationPolicy { commands, ..VerificationPolicy::default() };
    let work = Work { plan: Plan { verification, ..Plan::default() }, ..work };
    match (job.plan_ready(work, &actors.reasoning_node), scope) {
        (AfterPlanReady::Executing(job), None) => job,
        (AfterPlanReady::AwaitingConfirmation(job), Some(scope)) => {
            let AfterConfirm::Executing(job) = job.confirm(Answer::Yes(scope), &ann) else {
                panic!("it is confirmed")
            };
            job
        }
        _ => panic!("a plan with a command asks, and no other"),
    }
}

/// The digest that a tool gets of a call that the person has seen, or why there is no call.
fn confirmed<T: Dangerous>(
    scope: Option<Scope>,
    acts: usize,
    call: T,
    now: i64,
) -> Result<Option<Digest>, Code> {
    allowed(&job(scope, acts), call, now)
}

fn allowed<T: Dangerous>(job: &Job<Executing>, call: T, now: i64) -> Result<Option<Digest>, Code> {
    let confirmed = Consent::of(job).and_then(|consent| consent.confirm(call, now));
    confirmed.map(|it| it.digest()).map_err(|refusal| refusal.code)
}

const DENIED: Result<Option<Digest>, Code> = Err(Code::E_POLICY_DENIED);

#[test]
fn bounds_cover_whole_commands() {
    let table: [(&[&str], u64, usize, i64, bool); 12] = [
        (&CHECK, 100, 0, 0, true),
        (&CHECK, 0, 1, END, true),
        (&CHECK, 101, 0, 0, false),
        (&CHECK, 100, 2, 0, false),
        (&CHECK, 100, 0, END + 1, false),
        (&["grep"], 100, 0, 0, false),
        (&["grep", "right", ""], 100, 0, 0, false),
        (&["grep", "right", "a"], 100, 0, 0, false),
        (&["right", "grep"], 100, 0, 0, false),
        (&["grep right"], 100, 0, 0, false),
        (&["/bin/grep", "right"], 100, 0, 0, false),
        (&["./grep", "right"], 100, 0, 0, false),
    ];
    for (argv, timeout, acts, now, is_covered) in table {
        let call = command(argv, timeout);
        let expected = if is_covered { Ok(Some(Digest::of_call(&call).unwrap())) } else { DENIED };
        let found = confirmed(Some(Scope::Plan(bounds())), acts, call, now);
        assert_eq!(found, expected, "{argv:?} {timeout} {acts} {now}");
    }
}

/// As repairs make them.
#[test]
fn bounds_cover_the_files_of_edits() {
    let table: [(&[&str], usize, i64, bool); 8] = [
        (&["a"], 0, 0, true),
        (&["a"], 1, END, true),
        (&["a"], 2, 0, false),
        (&["a"], 0, END + 1, false),
        (&["b"], 0, 0, false),
        (&["a", "b"], 0, 0, false),
        (&["A"], 0, 0, false),
        (&["a/b"], 0, 0, false),
    ];
    for (paths, acts, now, is_covered) in table {
        let expected = if is_covered { Ok(None) } else { DENIED };
        let found = confirmed(Some(Scope::Plan(bounds())), acts, edit(paths, 0o644), now);
        assert_eq!(found, expected, "{paths:?} {acts} {now}");
    }
}

/// The person has seen exactly the edits whose digests the plan has: a tool can ask for that.
/// Others are made by a repair, or after a command that has changed their files.
#[test]
fn a_plan_makes_the_edits_that_it_showed() {
    let shown =
        [edit(&["a"], 0o644), edit(&["b"], 0o644)].map(|set| Digest::of_call(&set).unwrap());
    for (path, mode, attempt, changed, expected) in [
        ("a", 0o644, 0, "c", Ok(Some(shown[0]))),
        ("a", 0o644, 1, "c", Ok(Some(shown[0]))),
        ("a", 0o755, 0, "c", Err(Code::E_CONFLICT)),
        ("a", 0o755, 0, "a", Ok(None)),
        ("a", 0o755, 1, "c", Ok(None)),
        ("b", 0o644, 0, "b", DENIED),
    ] {
        let seen = Some(SeenDuring {
            command: 1,
            paths: vec![place(changed)],
            is_held: false,
            is_interrupted: false,
        });
        let at = Occurrence { attempt, ..Occurrence::default() };
        let ended = vec![Entry { seen, ..entry(None) }];
        let work = Work { at, ended, shown: shown.to_vec(), ..Work::default() };
        let job = job_of(Some(Scope::Plan(bounds())), work);
        let found = allowed(&job, edit(&[path], mode), 0);
        assert_eq!(found, expected, "{path} {mode:o} {attempt} {changed}");
    }
}

/// What a repair removes, nobody has seen: it counts with the earlier edits of its job, also of a
/// file that they have moved, unless the person has seen that these remove most.
#[test]
fn repairs_keep_most_with_the_edits_before() {
    let text = |cut: u32| (cut..100).fold(String::new(), |text, line| format!("{text}{line}\n"));
    for (first, is_shown, second, is_made) in [
        (30, false, 45, true),
        (30, false, 60, false),
        (30, true, 45, true),
        (30, true, 60, false),
        (70, true, 80, true),
    ] {
        let desk = Desk::new(&[("a", &text(0))]);
        let workspace = desk.open();
        let moved = [rename("a", "b"), write("b", &text(first), Some(&text(0)))];
        let set = workspace.plan(&moved).unwrap();
        let digest = Some(Digest::of_call(&set).unwrap()).filter(|_| is_shown);
        workspace.apply(&set, digest).unwrap();
        let at = Occurrence { attempt: 1, ..Occurrence::default() };
        let shown = digest.into_iter().collect();
        let work = Work { at, ended: vec![entry(Some(1))], shown, ..Work::default() };
        let scope = Scope::Plan(Bounds { paths: BTreeSet::from([place("b")]), ..bounds() });
        let job = job_of(Some(scope), work);
        let repair = workspace.plan(&[write("b", &text(second), Some(&text(first)))]).unwrap();
        let repair = Consent::of(&job).unwrap().confirm(repair, 0).unwrap();
        let report = hands::edit(&workspace, &repair);
        assert_eq!(report.is_ok(), is_made, "{first} {is_shown} {second}: {report:?}");
    }
}

/// A digest covers the first call, with all its arguments; nobody has confirmed a harmless plan.
#[test]
fn a_digest_covers_one_call() {
    let (run, set) = (command(&CHECK, 100), edit(&["a"], 0o644));
    let (ran, made) = (Digest::of_call(&run).unwrap(), Digest::of_call(&set).unwrap());
    let once = |digest| Some(Scope::Once(digest));
    assert_eq!(confirmed(once(ran), 0, run.clone(), END + 1), Ok(Some(ran)));
    assert_eq!(confirmed(once(made), 0, set.clone(), END + 1), Ok(Some(made)));
    assert_eq!(confirmed(once(ran), 1, run.clone(), 0), DENIED);
    assert_eq!(confirmed(once(made), 1, set.clone(), 0), DENIED);
    assert_eq!(confirmed(once(ran), 0, command(&CHECK, 99), 0), DENIED);
    assert_eq!(confirmed(once(made), 0, edit(&["a"], 0o755), 0), DENIED);
    assert_eq!(confirmed(once(made), 0, edit(&["a", "b"], 0o644), 0), DENIED);
    assert_eq!(confirmed(None, 0, run, 0), DENIED);
    assert_eq!(confirmed(None, 0, set, 0), DENIED);
}

/// A scope, the sets of the job, the set to undo, the time, and whether that is covered.
type UndoRow = (Option<Scope>, &'static [usize], usize, i64, bool);

/// The newest edits of the job, while its consent lasts.
#[test]
fn bounds_cover_an_undo() {
    let plan = || Some(Scope::Plan(Bounds { calls: 3, ..bounds() }));
    let once = Some(Scope::Once(Digest::of(b"the edits")));
    let table: [UndoRow; 9] = [
        (plan(), &[4], 4, 0, true),
        (plan(), &[4, 7], 7, END, true),
        (plan(), &[4, 7], 4, 0, false),
        (plan(), &[4], 3, 0, false),
        (plan(), &[], 1, 0, false),
        (plan(), &[4, 7, 8], 8, 0, false),
        (plan(), &[4], 4, END + 1, false),
        (once, &[4], 4, 0, false),
        (None, &[4], 4, 0, false),
    ];
    for (scope, sets, number, now, is_covered) in table {
        let sets: Vec<_> = sets.iter().copied().map(Some).collect();
        let job = job_with(scope, &sets);
        let confirmed = Consent::of(&job).and_then(|consent| consent.confirm(Undo(number), now));
        let code = confirmed.err().map(|refusal| refusal.code);
        let expected = (!is_covered).then_some(Code::E_POLICY_DENIED);
        assert_eq!(code, expected, "{sets:?} {number} {now}");
    }
}

/// Somebody else may have edited since then.
#[test]
fn an_undo_is_of_the_newest_edits() {
    let desk = Desk::new(&FILES);
    let workspace = desk.open();
    for request in [patch("a", "@@\n-one\n+1\n"), patch("b", "@@\n-two\n+2\n")] {
        workspace.apply(&workspace.plan(&[request]).unwrap(), None).unwrap();
    }
    for (number, is_undone) in
        [(1, false), (7, false), (2, true), (2, false), (3, false), (1, true), (1, false)]
    {
        let job = job_with(Some(Scope::Plan(bounds())), &[Some(number)]);
        let call = Consent::of(&job).unwrap().confirm(Undo(number), 0).unwrap();
        assert_eq!(undo(&workspace, &call).is_ok(), is_undone, "{number}");
    }
    assert_eq!(["a", "b"].map(|name| desk.file(name).unwrap()), ["one\n", "two\n"]);
}

/// What is stored is data: with another scope it is no job.
#[test]
fn an_edited_consent_does_not_verify() {
    let job = AnyJob::from(job(Some(Scope::Plan(bounds())), 0));
    let claim = Unverified::of(&job).unwrap();
    assert!(claim.clone().verify::<AnyJob>().is_ok());
    let later = |text: &str| text.replace(&END.to_string(), &(END + 1).to_string());
    let mut state_alone = claim.clone();
    state_alone.record.state = later(&claim.record.state);
    assert_ne!(state_alone.record.state, claim.record.state);
    let everywhere = later(&serde_json::to_string(&claim).unwrap());
    let everywhere: Unverified = serde_json::from_str(&everywhere).unwrap();
    for edited in [state_alone, everywhere] {
        assert!(edited.verify::<AnyJob>().is_err());
    }
}
