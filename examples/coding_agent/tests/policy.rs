//! What a person reads, which commands ask each time, and where they run.

use std::{fs, ops::Range, path::Path};

use coding_agent::{
    plan::{
        consent::{Bounds, Scope},
        job::Answer,
        model::{Plan, Step},
        trouble::Trouble,
        work::Work,
    },
    planner::script::Script,
};
use machine::{
    observe::Observer,
    store::Store,
    view::{Human, Internal},
};
use serde_json::json;

use crate::{
    commands::runner::Commands,
    desk::{Desk, FILES, place},
    face::Told,
    plans::{Office, bounds, script},
    runs::command,
    terminal::{self, RIGHT, TASK, WRONG, repository, script as planned, usual, work, written},
    workspace::{
        place::Place,
        refusal::{Code, DESTROYS, SHELL, Why},
        set::Digest,
    },
};

/// A shell is seen by its name, and git by what it is told. What another program starts, or
/// deletes itself, is not seen: a person who does not read the commands needs a container.
#[test]
fn dangers_are_seen_by_their_names() {
    let (shell, destroys) = (Some(SHELL), Some(DESTROYS));
    let table: [(&[&str], Option<Why>); 36] = [
        (&["bash", "-c", "true"], shell),
        (&["/usr/bin/dash", "-c", "true"], shell),
        (&["../../bin/sh", "file"], shell),
        (&["busybox", "sh", "-c", "true"], shell),
        (&["env", "-i", "A=b", "sh"], shell),
        (&["env", "-S", "sh\t-c true"], shell),
        (&["nice", "-n", "5", "/bin/zsh"], shell),
        (&["timeout", "9", "fish"], shell),
        (&["find", ".", "-exec", "sh", "-c", "true", ";"], shell),
        (&["xargs", "-I{}", "ksh"], shell),
        (&["make", "SHELL=/bin/bash"], shell),
        (&["git", "rebase", "--exec=sh -c true"], shell),
        (&["git", "-c", "core.editor=sh", "commit"], shell),
        (&["git", "-c", "alias.x=!sh", "x"], shell),
        (&["git", "-C", ".", "reset"], destroys),
        (&["git", "--git-dir=.git", "checkout", "--", "."], destroys),
        (&["git", "-c", "alias.x=reset --hard", "x"], destroys),
        (&["git", "checkout-index", "--all", "--force"], destroys),
        (&["git", "read-tree", "-u", "--reset", "HEAD"], destroys),
        (&["git", "switch", "--discard-changes", "main"], destroys),
        (&["git", "restore", "."], destroys),
        (&["git", "rm", "-rf", "."], destroys),
        (&["git", "stash"], destroys),
        (&["/usr/lib/git-core/git-reset", "--hard"], destroys),
        (&["/usr/bin/git", "clean", "-fdx"], destroys),
        (&["timeout", "9", "git", "reset"], destroys),
        (&["git", "status"], None),
        (&["git", "diff", "--stat"], None),
        (&["git", "log", "--oneline", "reset.rs"], None),
        (&["cargo", "test", "--", "push_sh", "shell"], None),
        (&["python3", "-m", "unittest"], None),
        // Each of these can do anything.
        (&["cargo", "x"], None),
        (&["make"], None),
        (&["python3", "-c", "import os; os.remove('a')"], None),
        (&["./check"], None),
        (&["rm", "-rf", "."], None),
    ];
    for (argv, danger) in table {
        assert_eq!(command(argv).danger(Path::new("")), danger, "{argv:?}");
    }
}

/// What `--yes` confirms: `script` is a program of the folder that the plan does not edit.
#[test]
fn checks_are_known_by_all_their_words() {
    let checks: [&[&str]; 16] = [
        &["cargo", "test"],
        &["cargo", "test", "--offline", "--quiet", "--lib", "module::name"],
        &["cargo", "check", "--workspace"],
        &["cargo", "clippy", "--all-targets"],
        &["cargo", "build", "--release"],
        &["cargo", "fmt", "--check"],
        &["npm", "test"],
        &["pytest", "-q", "tests/test_sums.py::test"],
        &["python3", "-m", "pytest"],
        &["python3", "-m", "unittest", "test_sums"],
        &["python3", "-B", "-m", "unittest"],
        &["go", "test", "./..."],
        &["go", "vet", "./sums"],
        &["make", "test"],
        &["./script"],
        &["./sub/script"],
    ];
    let others: [&[&str]; 42] = [
        &[],
        &[""],
        &["cargo"],
        &["cargo", "x"],
        &["cargo", "run"],
        &["cargo", "fmt"],
        &["cargo", "fmt", "--check", "--", "a"],
        &["cargo", "clippy", "--fix"],
        &["cargo", "test", "--config", "build.rustc-wrapper='rm'"],
        &["cargo", "test", "--manifest-path=/tmp/Cargo.toml"],
        &["cargo", "build", "--target-dir", "/tmp"],
        &["/tmp/cargo", "test"],
        &["./cargo", "test"],
        &["make"],
        &["make", "test", "install"],
        &["make", "-f", "/tmp/Makefile", "test"],
        &["npm", "test", "--prefix", "/tmp"],
        &["npm", "install"],
        &["go", "test", "-exec", "rm"],
        &["go", "test", "../..."],
        &["pytest", "../other"],
        &["pytest", "/tmp"],
        &["pytest", "-p", "plugin"],
        &["pytest", "@words"],
        &["python3", "-c", "import os; os.remove('a')"],
        &["python3", "-m", "http.server"],
        &["perl", "-e", "unlink 'a'"],
        &["rm", "-rf", "."],
        &["find", ".", "-delete"],
        &["git", "status"],
        &["git", "apply", "-R", "diff"],
        &["git", "branch", "-D", "main"],
        &["git", "commit", "-a"],
        &["git", "push", "--force"],
        &["git", "update-ref", "refs/heads/main", "HEAD~1"],
        &["git", "worktree", "remove", "--force", "other"],
        &["./edited"],
        &["./script", "now"],
        &["./../script"],
        &["./.git/hooks/pre-commit"],
        &["script"],
        &["/bin/script"],
    ];
    for (argv, is_check) in
        checks.map(|argv| (argv, true)).into_iter().chain(others.map(|argv| (argv, false)))
    {
        let is_kept = |path: &Place| path.split().1 == "script";
        assert_eq!(command(argv).is_check(is_kept), is_check, "{argv:?}");
    }
}

/// `--yes` does not confirm a plan with any of these. A person can, also edits that remove most of
/// a file.
#[test]
fn the_policy_asks() {
    let lines = |sign: &str, numbers: Range<u32>| {
        numbers.fold(String::new(), |text, number| format!("{text}{sign}more {number}\n"))
    };
    let long = format!("old\n{}", lines("", 0..30));
    let most = format!("@@\n-old\n{}+wrong\n", lines("-", 0..30));
    let checks = |argv: &[&str]| planned("a", &[argv], WRONG, RIGHT);
    let edits = |diff: &str| planned("a", &[&["./check"]], diff, RIGHT);
    let expects = |files: &[&str]| {
        let mut script = usual();
        script["plan"]["steps"][0]["expected_artifacts"] = json!(files);
        script
    };
    let mut twice = planned("a", &[&["grep", "-q", "right", "a"]], "@@\n-old\n+older\n", RIGHT);
    let calls = &mut twice["plan"]["steps"][0]["tool_calls"];
    let mut second = calls[0].clone();
    second["edits"][0]["diff"] = json!(most.replace("-old", "-older").replace("wrong", "right"));
    calls.as_array_mut().unwrap().push(second);
    // In a call of its own each time, less than half.
    let check: [&[&str]; 1] = [&["grep", "-q", "old", "a"]];
    let mut little = planned("a", &check, &format!("@@\n{}", lines("-", 0..12)), RIGHT);
    let calls = little["plan"]["steps"][0]["tool_calls"].as_array_mut().unwrap();
    let mut second = calls[0].clone();
    second["edits"][0]["diff"] = json!(format!("@@\n{}", lines("-", 12..24)));
    calls.push(second);
    let mut deleted = usual();
    deleted["plan"]["steps"][0]["tool_calls"][0]["edits"] =
        json!([{"tool": "delete", "path": "a", "read": Digest::of(long.as_bytes())}]);
    deleted["plan"]["verification"]["commands"][0]["argv"] =
        json!(["grep", "-q", "right", "check"]);
    let edited = planned("check", &[&["./check"]], "@@\n-grep -q right a\n+true\n", "");
    let mut wrong = Vec::new();
    for (task, script, objection) in [
        (TASK, checks(&["sh", "-c", "true"]), "a shell"),
        (TASK, checks(&["git", "reset", "--hard"]), "destroy"),
        (TASK, checks(&["git", "push", "--force"]), "no known check"),
        (TASK, edited, "no known check"),
        (TASK, expects(&["b"]), "expects to change"),
        (TASK, expects(&["a", "check"]), "expects to change"),
        (TASK, edits(&most), "removes most"),
        (TASK, twice, "removes most"),
        (TASK, little, "removes most"),
        (TASK, deleted, "removes most"),
        (TASK, edits("@@\n-none\n+wrong\n"), "cannot be shown"),
        ("Remove it", usual(), "an undo"),
    ] {
        let desk = repository(&[("a", &long), ("check", terminal::CHECK)]);
        written(&desk, &script);
        let asked = work(&desk, &[task, "--yes"]);
        let plan = asked.all("plan").pop();
        let objections = plan.map_or(String::new(), |plan| plan["objections"].to_string());
        if asked.code != 3 || !objections.contains(objection) {
            wrong.push(format!("{objection}: {} {objections} {}", asked.code, asked.errors));
        } else if objection == "removes most" {
            let id = plan.and_then(|plan| plan["plan"]["plan_id"].as_str()).unwrap();
            let done = work(&desk, &["--confirm", id]);
            if done.code != 0 || done.acts().contains(&("edit a", false)) {
                wrong.push(format!("{objection}, confirmed: {} {:?}", done.code, done.events));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// As edits are made there: not in another folder that has come to its path.
#[test]
fn a_command_runs_in_the_folder_that_was_opened() {
    let desk = Desk::new(&FILES);
    let workspace = desk.open();
    fs::rename(desk.folder(), desk.root().join("moved")).unwrap();
    fs::create_dir(desk.folder()).unwrap();
    fs::write(desk.path("a"), "another\n").unwrap();
    let commands = Commands::new(&workspace);
    let report = commands.run(&command(&["cat", "a"]), None).unwrap();
    assert_eq!(report.stdout.end, "one\n");
    assert!(report.seen.is_empty(), "{report:?}");
}

/// It has all files that a confirmation covers, and a model cannot write lines of its own.
#[test]
fn a_person_reads_lines_of_the_program() {
    let forged = || "sums\nDone:".to_owned();
    let expected_artifacts = ["Cargo.toml", "a"].map(place).to_vec();
    let step = Step { title: forged(), intent: forged(), expected_artifacts, ..Step::default() };
    let plan = Plan { id: "7".to_owned(), steps: vec![step], ..Plan::default() };
    let (bounds, texts) = (Bounds::of(&plan, 3, 0), [forged()]);
    let trouble = Trouble::new(Code::E_IO, "7", forged());
    let summary = Work { plan: plan.clone(), ..Work::default() }.summary(None);
    let table = [
        (
            Told::Plan { plan: &plan, diff: "+a\n", bounds: &bounds, objections: &texts },
            "The plan 7, of Low risk:\n  sums\\nDone:: sums\\nDone:\n  it and its repairs may \
             edit Cargo.toml\n  it and its repairs may edit a\n  careful: sums\\nDone:\n+a\n",
        ),
        (
            Told::Asks { questions: &texts, commands: &[] },
            "sums\\nDone:\nAnswer with one of these:\n  ",
        ),
        (Told::Note { text: &texts[0] }, "sums\\nDone:"),
        (
            Told::Error { next_step: trouble.next_step(), trouble: &trouble },
            "error: E_IO: check the disk and the permissions, and send the task again (trace 7)\n  \
             | sums\n  | Done:",
        ),
        (
            Told::Summary(&summary),
            "Done:\nbecause:\n  sums\\nDone:\nnot verified: no check has run\nThe risk is Low. \
             Sets of edits that `undo` takes back: 0.",
        ),
    ];
    for (told, text) in table {
        assert_eq!(told.to_string(), text);
    }
}

/// The end of the detail, in lines that cannot be taken for those of the program.
#[test]
fn what_is_in_the_way_is_told() {
    let long = format!("{}{}", "first\n".repeat(40), "x".repeat(300));
    let x = "x".repeat(200);
    for (detail, told) in [
        ("", String::new()),
        ("too risky", "\n  | too risky".to_owned()),
        ("one\nDone:\n", "\n  | one\n  | Done:".to_owned()),
        (long.as_str(), format!("{}\n  | {x}", "\n  | first".repeat(11))),
    ] {
        let trouble = Trouble::new(Code::E_IO, "7", detail).to_string();
        let (_, rest) = trouble.split_once("(trace 7)").unwrap();
        assert_eq!(rest, told);
    }
}

/// The words of the person, the call that is refused and why, or the output of a command.
#[tokio::test]
async fn a_person_reads_why_a_task_is_blocked() {
    type Says = fn(&Plan) -> Option<Answer>;
    let mut fails = script();
    fails.plan.verification.commands = vec![command(&["cat", "--", "no-such-file"])];
    let once = |digest| Answer::Yes(Scope::Once(digest));
    let cases: [(Script, Says, &[&str]); 3] = [
        (script(), |_| Some(Answer::No("too risky".to_owned())), &["| too risky"]),
        (script(), |_| None, &["| run ", "grep", "the consent does not cover this call"]),
        (
            fails,
            |plan| Some(Answer::Yes(Scope::Plan(bounds(plan)))),
            &["no-such-file", "| (`commands/1` of the store has more)"],
        ),
    ];
    for (script, answer, texts) in cases {
        let office = Office::new(script);
        let job = office.asks().await;
        let answer = answer(&job.work().plan);
        let answer = answer.unwrap_or_else(|| once(job.work().first().unwrap()));
        let blocked = office.answer(job, answer).await.blocked.unwrap();
        for text in texts {
            assert!(blocked.contains(text), "{text:?}: {blocked}");
        }
    }
}

/// OR-7: the code, the next step, the trace, and the end of the detail. The trace leads to the job,
/// whose history in the store has the rest for its developers.
#[tokio::test]
async fn the_rest_of_the_detail_is_in_the_store() {
    let (secret, end) = ("the password is 77", "line 30");
    let lines = "i=0\nwhile [ $i -lt 30 ]; do i=$((i + 1)); echo line $i; done";
    let check = format!("#!/bin/sh\necho {secret}\n{lines}\nexit 1\n");
    let desk = repository(&[("a", "old\n"), ("check", &check)]);
    let mut script = usual();
    script["repairs"] = json!([]);
    written(&desk, &script);
    let told = work(&desk, &[TASK, "--yes"]);
    let screen = format!("{:?} {}", told.events, told.errors);
    assert_eq!((told.code, screen.contains(secret)), (4, false), "{screen}");
    let blocked = told.one("summary")["blocked"].as_str().unwrap();
    let (before, after) = blocked.split_once("(trace ").unwrap();
    let next_step = "read the output of the command, and repair what it reports";
    assert_eq!(before, format!("E_BUILD_FAIL: {next_step} "));
    let (trace, detail) = after.split_once(')').unwrap();
    assert!(detail.contains(end), "{detail}");

    let (job, _) = trace.split_once('/').unwrap().0.rsplit_once('-').unwrap();
    let job = job.parse().unwrap();
    let jobs = Store::sqlite(desk.store().join("jobs.db")).await.unwrap();
    let observer = Observer::new(&jobs);
    let people = observer.timeline::<Human>(job).await.unwrap();
    let developers = observer.timeline::<Internal>(job).await.unwrap();
    let [people, developers] =
        [serde_json::to_string(&people), serde_json::to_string(&developers)].map(Result::unwrap);
    assert!(!people.contains(secret), "{people}");
    assert!(developers.contains(secret) && developers.contains(trace), "{developers}");
}
