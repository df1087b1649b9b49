//! The program, as processes without a terminal: it repairs repositories, is killed, and gets bad
//! input.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    desk::Desk,
    testing::{Process, Random, number, seed},
};

pub const TASK: &str = "make it right";

/// A check that counts its runs outside of the folder.
pub const CHECK: &str = "#!/bin/sh\necho run >> ../log\ngrep -q right a\n";

/// The longest time of the demo.
const DEMO: Duration = Duration::from_secs(20);

pub const WRONG: &str = "@@\n-old\n+wrong\n";
pub const RIGHT: &str = "@@\n-old\n+right\n";

pub fn git(desk: &Desk, words: &[&str]) {
    let options = ["user.name=ann", "user.email=ann@localhost", "commit.gpgsign=false"];
    let mut git = Command::new("git");
    git.args(options.iter().flat_map(|option| ["-c", *option])).args(words);
    let output = git.current_dir(desk.folder()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

pub fn repository(files: &[(&str, &str)]) -> Desk {
    let desk = Desk::on_disk(files);
    if desk.path("check").exists() {
        fs::set_permissions(desk.path("check"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    git(&desk, &["init", "--quiet"]);
    git(&desk, &["add", "."]);
    git(&desk, &["commit", "--quiet", "--message", "all"]);
    desk
}

pub fn checked() -> Desk {
    repository(&[("a", "old\n"), ("check", CHECK)])
}

/// A plan whose first patch does not pass the checks, and whose repair does.
pub fn script(file: &str, checks: &[&[&str]], wrong: &str, right: &str) -> Value {
    let step = |title: &str, diff: &str| {
        let patch = json!({"tool": "patch", "path": file, "diff": diff});
        json!({
            "title": title,
            "intent": format!("{title} is needed"),
            "tool_calls": [{"tool": "edit", "edits": [patch]}],
            "expected_artifacts": [file],
        })
    };
    let run = |argv: &&[&str]| json!({"argv": argv, "timeout": 60_000});
    let commands: Vec<Value> = checks.iter().map(run).collect();
    let verification =
        json!({"mode": "test", "commands": commands, "required": true, "stop_on_fail": true});
    json!({
        "plan": {"steps": [step("patch", wrong)], "verification": verification},
        "repairs": [["roll_back", [step("repair", right)]]],
    })
}

pub fn usual() -> Value {
    script("a", &[&["./check"]], WRONG, RIGHT)
}

pub fn written(desk: &Desk, script: &Value) -> PathBuf {
    let file = desk.root().join("script.json");
    fs::write(&file, script.to_string()).unwrap();
    file
}

/// What a process told.
pub struct Told {
    pub code: i32,
    pub events: Vec<Value>,
    pub errors: String,
}

impl Told {
    pub fn of(process: Process) -> Self {
        let output = process.ended();
        let text = String::from_utf8(output.stdout).unwrap();
        let events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let errors = String::from_utf8(output.stderr).unwrap();
        Self { code: output.status.code().unwrap(), events, errors }
    }

    pub fn all(&self, event: &str) -> Vec<&Value> {
        self.events.iter().filter(|it| it["event"] == event).collect()
    }

    /// The only event of this kind.
    pub fn one(&self, event: &str) -> &Value {
        let all = self.all(event);
        assert_eq!(all.len(), 1, "{event}: {:?} {}", self.events, self.errors);
        all[0]
    }

    /// Programs get an error as an event, and people as text. Returns its trace.
    pub fn check_error(&self, code: &str, detail: &str) -> &str {
        assert!([1, 2].contains(&self.code), "{detail}: {:?}", self.events);
        let error = self.one("error");
        let [next_step, trace] = ["next_step", "trace"].map(|it| error[it].as_str().unwrap());
        assert!(error["detail"].as_str().unwrap().contains(detail), "{detail}: {error}");
        let text = format!("error: {code}: {next_step} (trace {trace})\n  | ");
        assert!(self.errors.starts_with(&text) && self.errors.contains(detail), "{}", self.errors);
        assert_eq!((error["code"].as_str().unwrap(), trace.is_empty()), (code, false), "{error}");
        trace
    }

    pub fn acts(&self) -> Vec<(&str, bool)> {
        let acts = self.all("act").into_iter();
        acts.map(|it| (it["what"].as_str().unwrap(), it["is_ok"].as_bool().unwrap())).collect()
    }

    fn states(&self) -> Vec<&str> {
        self.all("state").into_iter().map(|it| it["state"].as_str().unwrap()).collect()
    }
}

pub fn agent(desk: &Desk, words: &[&str]) -> Command {
    agent_in(desk, &desk.folder(), words)
}

/// The program in another folder, with the store of the desk.
pub fn agent_in(desk: &Desk, folder: &Path, words: &[&str]) -> Command {
    let mut agent = Command::new(env!("CARGO_BIN_EXE_coding_agent"));
    agent.args(words).arg("--folder").arg(folder).arg("--store").arg(desk.store());
    agent.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    agent
}

pub fn told(desk: &Desk, words: &[&str]) -> Told {
    Told::of(Process::start(&mut agent(desk, words)))
}

/// `do`, with the script of the folder.
pub fn work(desk: &Desk, words: &[&str]) -> Told {
    let script = desk.root().join("script.json");
    told(desk, &[&["do", "--script", script.to_str().unwrap()][..], words].concat())
}

/// Confirmed in a second process, it patches, fails, rolls back, repairs and passes.
fn repairs(files: &[(&str, &str)], file: &str, checks: &[&[&str]], wrong: &str, right: &str) {
    let desk = repository(files);
    written(&desk, &script(file, checks, wrong, right));
    let before = desk.file(file);
    let asked = work(&desk, &[TASK]);
    assert_eq!(asked.code, 3, "{}", asked.errors);
    assert_eq!(desk.file(file), before);
    let plan = asked.one("plan");
    assert!(plan["diff"].as_str().unwrap().contains(wrong.lines().nth(1).unwrap()), "{plan}");
    assert_eq!(plan["bounds"]["paths"], json!([file]));
    let mount = format!("--volume {0}:{0} ", desk.root().display());
    let warned = asked.all("note").iter().any(|it| it["text"].to_string().contains(&mount));
    assert!(warned, "{:?}", asked.events);
    let id = plan["plan"]["plan_id"].as_str().unwrap();
    let way = format!("--confirm {id}");
    assert!(asked.one("asks")["commands"][0].as_str().unwrap().ends_with(&way));

    let done = work(&desk, &["--confirm", id]);
    assert_eq!(done.code, 0, "{:?} {}", done.events, done.errors);
    let edit = format!("edit {file}");
    let acts = done.acts();
    let failed = acts.iter().position(|(_, is_ok)| !is_ok).unwrap();
    assert_eq!(acts[0], (edit.as_str(), true));
    assert_eq!(acts[failed + 1..failed + 3], [("undo edits 1", true), (edit.as_str(), true)]);
    assert_eq!(acts[failed + 3..].len(), checks.len());
    assert!(acts[failed + 3..].iter().all(|(_, is_ok)| *is_ok), "{acts:?}");
    let states = done.states();
    let end = ["recovering", "executing", "verifying", "summarizing", "done"];
    assert!(states.ends_with(&end), "{states:?}");
    let summary = done.one("summary");
    assert_eq!(summary["blocked"], Value::Null);
    assert_eq!(summary["why"], json!(["patch is needed", "repair is needed"]));

    // Told again, and undone.
    assert_eq!(work(&desk, &[]).one("summary"), summary);
    assert_ne!(desk.file(file), before);
    let undone = told(&desk, &["undo"]);
    assert_eq!((undone.code, &undone.one("note")["text"]), (0, &json!("edits 3: undone")));
    assert_eq!(desk.file(file), before);
    assert_eq!(told(&desk, &["undo"]).code, 1);
    let later = work(&desk, &[]);
    assert_eq!(later.one("summary")["undo"], 0);
    assert!(!later.one("summary")["what"].to_string().contains("edit "), "{:?}", later.events);
    assert_eq!(later.one("note")["text"], json!(format!("edits 3: undone since then: {edit}")));
}

#[test]
fn a_test_in_rust_is_repaired() {
    let code = "fn double(number: i32) -> i32 {\n    number + 2\n}\n\n#[test]\nfn doubles() {\n    \
                assert_eq!([double(3), double(0)], [6, 0]);\n}\n";
    repairs(
        &[("lib.rs", code), (".gitignore", "target\n"), ("target/here", "")],
        "lib.rs",
        &[&["rustc", "--test", "-o", "target/check", "lib.rs"], &["./target/check"]],
        "@@\n-    number + 2\n+    number * number\n",
        "@@\n-    number + 2\n+    number * 2\n",
    );
}

#[test]
fn a_test_in_python_is_repaired() {
    let is_there = Command::new("python3").arg("--version").output();
    if !is_there.is_ok_and(|output| output.status.success()) {
        let _ = writeln!(std::io::stderr(), "skipped: needs python3");
        return;
    }
    let test = "import unittest\n\nfrom sums import double\n\n\nclass Test(unittest.TestCase):\n    \
                def test(self):\n        self.assertEqual([double(3), double(0)], [6, 0])\n";
    repairs(
        &[("sums.py", "def double(number):\n    return number + 2\n"), ("test_sums.py", test)],
        "sums.py",
        &[&["python3", "-B", "-m", "unittest"]],
        "@@\n-    return number + 2\n+    return number + 3\n",
        "@@\n-    return number + 2\n+    return number * 2\n",
    );
}

/// Offline, in the folder for temporary files.
#[test]
fn the_demo_repairs_a_program() {
    let start = Instant::now();
    let root = TempDir::new().unwrap();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_coding_agent"));
    demo.args(["demo", "--json"]).env("TMPDIR", root.path()).stdin(Stdio::null());
    let done = Told::of(Process::start(demo.stdout(Stdio::piped()).stderr(Stdio::piped())));
    assert_eq!(done.code, 0, "{:?} {}", done.events, done.errors);
    let results: Vec<bool> = done.acts().iter().map(|(_, is_ok)| *is_ok).collect();
    assert_eq!(results, [true, false, true, true, true], "{:?}", done.events);
    assert!(start.elapsed() < DEMO);
}

/// `CRASH_ROUNDS` kills, spread over the run.
#[test]
fn killed_at_any_moment() {
    let start = Instant::now();
    let desk = checked();
    written(&desk, &usual());
    assert_eq!(work(&desk, &[TASK, "--yes"]).code, 0);
    let whole = start.elapsed();
    for round in 0..number("CRASH_ROUNDS", 15) {
        let desk = checked();
        let script = written(&desk, &usual());
        let words = ["do", "--script", script.to_str().unwrap(), TASK, "--yes"];
        let agent = Process::start(&mut agent(&desk, &words));
        let part = Random::new(seed(), round).below(1000);
        thread::sleep(whole * u32::try_from(part).unwrap() / 1000);
        agent.dies();

        let mut done = work(&desk, &["--yes"]);
        if done.code == 2 {
            // It was killed before the task was stored.
            done = work(&desk, &[TASK, "--yes"]);
        }
        let told = format!("round {round}, {part}: {:?} {}", done.events, done.errors);
        assert_eq!(done.code, 0, "{told}");
        assert_eq!(done.one("summary")["blocked"], Value::Null, "{told}");
        assert_eq!(desk.file("a").as_deref(), Some("right\n"), "{told}");
        assert!(desk.temporary_files().is_empty(), "{told}");
        let runs = fs::read_to_string(desk.root().join("log")).unwrap().lines().count();
        assert!(runs <= started(&desk.store()), "{runs} runs, {told}");
    }
}

/// The number of commands whose records say that they may have been started.
fn started(store: &Path) -> usize {
    let records = fs::read_dir(store.join("commands")).unwrap();
    let is_started = |record: Vec<u8>| {
        let record: Value = serde_json::from_slice(&record).unwrap();
        record["is_started"] == true
    };
    records.filter(|file| is_started(fs::read(file.as_ref().unwrap().path()).unwrap())).count()
}

/// What a person can answer, and how the program then ends.
#[test]
fn answers_on_the_command_line() {
    let table: [(&[&str], i32); 8] = [
        (&["--decline", "too risky"], 4),
        (&["--cancel", "not needed"], 4),
        (&["--confirm", "another plan"], 1),
        (&["--answer", "nobody has asked"], 1),
        (&["--answer", ""], 2),
        (&["another task"], 1),
        (&["--yes"], 0),
        (&["--decline", "no", "--cancel", "no"], 2),
    ];
    for (words, code) in table {
        let desk = checked();
        let mut asks = usual();
        asks["questions"] = json!(["which file?"]);
        written(&desk, &asks);
        assert_eq!(work(&desk, &[]).code, 2, "no task is open");
        let asked = work(&desk, &[TASK]);
        assert_eq!((asked.code, &asked.one("asks")["questions"]), (3, &json!(["which file?"])));
        assert_eq!(work(&desk, &["--answer", "a"]).code, 3);
        // What ends a task needs no planner.
        let ended = if code == 4 {
            told(&desk, &[&["do"][..], words].concat())
        } else {
            work(&desk, words)
        };
        assert_eq!(ended.code, code, "{words:?} {:?} {}", ended.events, ended.errors);
        if code == 4 {
            let blocked = ended.one("summary")["blocked"].as_str().unwrap();
            let is_told = blocked.starts_with("E_POLICY_DENIED: ") && blocked.contains(words[1]);
            assert!(is_told, "{blocked}");
        }
        assert_eq!(desk.file("a").unwrap(), if code == 0 { "right\n" } else { "old\n" });
    }
}

fn contents(desk: &Desk) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| {
        let bytes = fs::read(desk.path(&name)).unwrap();
        (name, bytes)
    };
    desk.files().into_iter().map(read).collect()
}

fn scripted(desk: &Desk, text: &str) {
    fs::write(desk.root().join("script.json"), text).unwrap();
}

fn create(desk: &Desk, file: &str) {
    fs::write(desk.path(file), "").unwrap();
}

fn remove(desk: &Desk, file: &str) {
    fs::remove_file(desk.path(file)).unwrap();
}

/// Nothing in the folder changes.
#[test]
fn bad_input_is_refused() {
    type Spoil = fn(&Desk);
    let (denied, conflict, invalid) = ("E_POLICY_DENIED", "E_CONFLICT", "E_INVALID_ARGS");
    let table: [(&str, Spoil, i32, &str, &str); 6] = [
        ("no repository", |desk| remove(desk, ".git/HEAD"), 1, "E_IO", "repository"),
        ("changes", |desk| create(desk, "new"), 1, conflict, "--dirty"),
        ("a merge", |desk| create(desk, ".git/MERGE_HEAD"), 1, conflict, "middle"),
        ("no script", |desk| remove(desk, "../script.json"), 1, "E_IO", "script"),
        ("no step", |desk| scripted(desk, "{}"), 4, "", ""),
        ("nobody there", |_| {}, 3, "", ""),
    ];
    for (name, spoil, code, kind, error) in table {
        let desk = checked();
        written(&desk, &usual());
        spoil(&desk);
        let before = contents(&desk);
        let refused = work(&desk, &[TASK]);
        assert_eq!(refused.code, code, "{name}: {:?} {}", refused.events, refused.errors);
        if code == 1 {
            refused.check_error(kind, error);
        }
        assert_eq!(contents(&desk), before, "{name}");
    }
    let desk = checked();
    for (script, error) in [
        ("{", "line 1"),
        ("[]", "expected a map"),
        (r#"{"shell": "rm"}"#, "unknown field"),
        (r#"{"reads": [{"tool": "read", "path": "../b"}]}"#, "`..`"),
    ] {
        scripted(&desk, script);
        work(&desk, &[TASK]).check_error(invalid, error);
    }
    written(&desk, &usual());
    let another = desk.open();
    work(&desk, &[TASK]).check_error(denied, "in use by another agent");
    drop(another);
    let usage = [(told(&desk, &["do", TASK]), "no planner"), (work(&desk, &[]), "no task is open")];
    for (refused, error) in usage {
        assert_eq!(refused.code, 2, "{error}");
        refused.check_error(invalid, error);
    }
    told(&desk, &["undo"]).check_error(invalid, "there is no edit to undo");
    fs::remove_dir_all(desk.folder()).unwrap();
    work(&desk, &[TASK]).check_error("E_IO", "No such file");
}
