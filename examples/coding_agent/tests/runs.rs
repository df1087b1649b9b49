//! Commands of the agent. Processes that must not end read from a pipe to which nobody writes.

use std::{
    env,
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
        process::ExitStatusExt,
    },
    path::Path,
    process::{self, Command},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{CWD, Mode, mkfifoat},
    process::{Signal, getpgid, getpid, getppid, kill_process, setpgid},
};
use serde_json::{Value, json};

use crate::{
    commands::{
        run::{Ending, Report, Run},
        runner::{Commands, Moment, Watch},
    },
    desk::{Desk, FILES, place},
    testing::{STUCK, signal},
    workspace::{
        edits::Workspace,
        refusal::{self, Code},
        set::Digest,
        tools::Search,
    },
};

/// Set to the moment at which the process of [`an_agent_that_dies`] kills itself.
const DIES: &str = "CODING_AGENT_DIES";

/// A command with a process in the background; it writes the numbers of both.
const BLOCKED: &str = "read line < pipe & echo $! > child; echo $$ > started; read line < pipe";

pub fn command(argv: &[&str]) -> Run {
    let argv = argv.iter().map(|&argument| argument.to_owned()).collect();
    Run { argv, timeout: u64::try_from(STUCK.as_millis()).unwrap() }
}

fn shell(script: &str) -> Run {
    command(&["sh", "-c", script])
}

fn desk() -> Desk {
    let desk = Desk::new(&FILES);
    mkfifoat(CWD, desk.path("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    desk
}

/// Runs a command that a person has confirmed.
fn run(desk: &Desk, run: &Run) -> Report {
    let workspace = desk.open();
    Commands::new(&workspace).run(run, Some(Digest::of_call(run).unwrap())).unwrap()
}

/// The number of a process that a command has written to a file.
fn written(desk: &Desk, file: &str) -> Option<u32> {
    desk.file(file)?.trim().parse().ok()
}

pub fn lives(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_report_has_what_it_printed_and_its_end() {
    let desk = desk();
    let report = run(&desk, &shell("echo out; echo err >&2; exit 3"));
    assert_eq!((report.number, report.ending, report.is_held), (1, Ending::Exited(3), false));
    assert_eq!((&*report.stdout.end, &*report.stderr.end), ("out\n", "err\n"));
    let report = run(&desk, &shell("kill -9 $$"));
    assert_eq!((report.number, report.ending), (2, Ending::Killed(9)));
    // No shell reads the arguments, and there is no input.
    let report = run(&desk, &command(&["env", "cat", "a", "-"]));
    assert_eq!((&*report.stdout.end, report.ending), ("one\n", Ending::Exited(0)));
    let report = run(&desk, &command(&["grep", "-c", "$HOME; exit 7", "a"]));
    assert_eq!((&*report.stdout.end, report.ending), ("0\n", Ending::Exited(1)));
}

#[test]
fn a_long_output_keeps_its_end() {
    let script = "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i + 1)); done";
    let text = run(&desk(), &shell(script)).stdout;
    let all = (0..20_000).map(|number| number.to_string()).collect::<Vec<_>>().join("\n") + "\n";
    assert!(text.left_out > 0 && text.end.len() > 10_000);
    assert_eq!(all[text.left_out..], text.end);
}

/// A process in the background holds the output, which does not keep the command running.
#[test]
fn what_stays_in_the_background_is_killed() {
    let desk = desk();
    let report = run(&desk, &shell("read line < pipe & echo $! > child; echo out"));
    assert_eq!((report.ending, report.is_held), (Ending::Exited(0), false));
    assert_eq!(report.stdout.end, "out\n");
    assert!(!lives(written(&desk, "child").unwrap()));
}

/// Job control gives it a group of its own.
#[test]
fn what_leaves_the_group_is_reported() {
    let desk = desk();
    let script = "set -m; read line < pipe & echo $! > child; echo out";
    let report = run(&desk, &command(&["bash", "-c", script]));
    assert_eq!((report.ending, report.is_held), (Ending::Exited(0), true));
    assert_eq!(report.stdout.end, "out\n");
    let child = written(&desk, "child").unwrap();
    assert!(lives(child));
    signal(child, "KILL");
}

#[test]
#[ignore = "another test runs it as a command"]
fn leaves_its_group() {
    setpgid(None, Some(getpgid(getppid()).unwrap())).unwrap();
    fs::write("child", process::id().to_string()).unwrap();
    thread::sleep(STUCK);
    fs::write("survived", "").unwrap();
}

/// A command that joins the group of the agent is killed by its own number.
#[test]
fn a_command_that_leaves_its_group_is_killed() {
    let desk = desk();
    let this = env::current_exe().unwrap();
    let argv = [this.to_str().unwrap(), "--exact", "runs::leaves_its_group", "--ignored"];
    let report = run(&desk, &Run { timeout: 2000, ..command(&argv) });
    assert_eq!(report.ending, Ending::TimedOut, "{:?}", report.stdout);
    // On a slow computer it may not have come to that.
    assert!(!written(&desk, "child").is_some_and(lives));
    assert_eq!(desk.file("survived"), None);
}

#[test]
fn a_timeout_kills_the_group() {
    let desk = desk();
    for timeout in [0, 300] {
        let report = run(&desk, &Run { timeout, ..shell(BLOCKED) });
        assert_eq!(report.ending, Ending::TimedOut);
        // On a slow computer it may not have come to that.
        for file in ["child", "started"] {
            assert!(!written(&desk, file).is_some_and(lives), "{file}");
        }
    }
}

/// A command's changes are seen. They are no edits of the agent, so undo leaves them alone.
#[test]
fn changes_are_seen() {
    let desk = desk();
    let script = "echo new > a; rm b; mkdir target deep; echo > target/x; echo > deep/y; \
                  echo > .git/z";
    let report = run(&desk, &shell(script));
    assert_eq!(report.seen, ["a", "b", "deep/y"].map(place));
    assert_eq!(desk.open().undo().unwrap_err().why, refusal::NOTHING_TO_UNDO.1);
    assert_eq!(desk.file("a").unwrap(), "new\n");
    assert!(run(&desk, &command(&["cat", "a"])).seen.is_empty());
}

/// No tool can have such a name. It is escaped where people read it.
#[test]
fn changes_of_names_that_cannot_be_shown_are_seen() {
    let desk = desk();
    for name in [&b"a\xff"[..], b"b\nc", b"same\xff"] {
        fs::write(desk.folder().join(OsStr::from_bytes(name)), "old\n").unwrap();
    }
    let script = "echo new > \"$(printf 'a\\377')\"; rm \"$(printf 'b\\nc')\"; \
                  mkdir \"$(printf 'd\\001')\"; echo new > \"$(printf 'd\\001')/e\"";
    let report = run(&desk, &shell(script));
    assert_eq!(report.seen, [r"a\xff", r"b\nc", r"d\x01/e"].map(place), "{:?}", report.stderr);
    let found = desk.open().search(&Search { text: "old".to_owned(), under: None }).unwrap();
    assert!(
        found.starts_with("lines found: 0\n") && found.contains("not searched: same"),
        "{found}"
    );
}

/// The program itself, with a secret in its environment.
#[test]
fn the_environment_is_not_leaked() {
    let (desk, script) = (Desk::on_disk(&[("check", "#!/bin/sh\nenv\n")]), "script.json");
    fs::set_permissions(desk.path("check"), fs::Permissions::from_mode(0o755)).unwrap();
    let call = json!({"tool": "run", "argv": ["./check"], "timeout": 60_000});
    let plan = json!({"plan": {"steps": [{"tool_calls": [call]}]}});
    fs::write(desk.root().join(script), plan.to_string()).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_coding_agent"));
    program.current_dir(desk.root()).args(["do", "look", "--yes", "--dirty", "--script", script]);
    program.args(["--folder", "folder", "--store", "store"]);
    let output = program.env("API_KEY", "a secret").env("LANG", "C").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let record = fs::read(desk.store().join("commands/1")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    let text = record["report"]["stdout"]["end"].as_str().unwrap();
    assert!(text.contains("LANG=C\n"), "{text}");
    assert!(!text.contains("API_KEY") && !text.contains("a secret"), "{text}");
    // Nor what was read, to others.
    for entry in fs::read_dir(desk.root()).unwrap().map(Result::unwrap) {
        let mode = entry.metadata().unwrap().permissions().mode();
        let is_of_agent = entry.file_name().to_str().unwrap().starts_with("store");
        if is_of_agent {
            assert_eq!(mode & 0o77, 0, "{entry:?}");
        }
    }
}

#[test]
fn dangerous_commands_ask() {
    let desk = desk();
    symlink("/bin/sh", desk.path("tool")).unwrap();
    let workspace = desk.open();
    let commands = Commands::new(&workspace);
    let shell = refusal::SHELL.1;
    let table: [(&[&str], &str); 7] = [
        (&["sh", "-c", "echo > made"], shell),
        (&["./tool", "-c", "echo > made"], shell),
        (&["git", "reset", "--hard"], refusal::DESTROYS.1),
        (&["no-such-program"], refusal::NO_PROGRAM.1),
        (&["./sub", "x"], refusal::NO_PROGRAM.1),
        (&[""], refusal::NO_PROGRAM.1),
        (&[], refusal::NO_PROGRAM.1),
    ];
    for (argv, why) in table {
        for confirmed in [None, Some(Digest::of(b"another"))] {
            let refused = commands.run(&command(argv), confirmed).unwrap_err();
            assert_eq!(refused.why, why, "{argv:?}");
            let is_dangerous = refused.code == Code::E_POLICY_DENIED;
            assert_eq!(is_dangerous, why == shell || why == refusal::DESTROYS.1);
        }
    }
    assert_eq!(desk.file("made"), None);
    assert_eq!(workspace.store.numbers_in("commands").unwrap(), [0; 0]);
}

/// The process of the tests below; run as a test by itself it does nothing.
#[test]
fn an_agent_that_dies() {
    let Ok(moment) = env::var(DIES) else { return };
    let [folder, store] = ["folder", "store"].map(Path::new);
    let workspace = Workspace::open(folder, store, Box::new(|_, _| Ok(()))).unwrap();
    let watch: Watch = Box::new(move |now| {
        if format!("{now:?}") == moment {
            let begin = Instant::now();
            let is_awaited = |file: &str| {
                let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
                now == Moment::Started && !text.ends_with('\n')
            };
            while is_awaited("started") {
                assert!(begin.elapsed() < STUCK);
                thread::sleep(Duration::from_millis(2));
            }
            kill_process(getpid(), Signal::KILL).unwrap();
        }
        Ok(())
    });
    let run = shell(BLOCKED);
    let commands = Commands { workspace: &workspace, watch };
    commands.run(&run, Some(Digest::of_call(&run).unwrap())).unwrap();
}

/// A folder whose agent was killed at this moment of a command.
fn killed_at(moment: Moment) -> Desk {
    let desk = desk();
    let mut agent = Command::new(env::current_exe().unwrap());
    agent.args(["--exact", "runs::an_agent_that_dies"]).current_dir(desk.root());
    let output = agent.env(DIES, format!("{moment:?}")).output().unwrap();
    assert_eq!(output.status.signal(), Some(Signal::KILL.as_raw()), "{output:?}");
    desk
}

/// What the next agent finds.
fn interrupted(workspace: &Workspace) -> Report {
    Commands::new(workspace).find(0, &shell(BLOCKED)).unwrap().unwrap()
}

#[test]
fn a_command_is_not_started_without_its_agent() {
    let desk = killed_at(Moment::Recorded);
    let workspace = desk.open();
    let report = interrupted(&workspace);
    assert_eq!((report.number, report.ending), (1, Ending::NotStarted));
    assert!(report.seen.is_empty(), "{report:?}");
    assert_eq!(desk.file("started"), None);
}

#[test]
fn a_command_ends_after_its_agent() {
    let desk = killed_at(Moment::Started);
    let processes = ["child", "started"].map(|file| written(&desk, file).unwrap());
    assert!(processes.into_iter().all(lives));
    let workspace = desk.open();
    let report = interrupted(&workspace);
    assert_eq!((report.number, report.ending), (1, Ending::Interrupted));
    assert_eq!(report.seen, ["child", "started"].map(place));
    assert!(!processes.into_iter().any(lives));
    drop(workspace);
    assert_eq!(run(&desk, &command(&["cat", "a"])).number, 2);
}

/// The number of a group may be that of another by now.
#[test]
fn another_process_is_not_killed() {
    let desk = killed_at(Moment::Started);
    let file = desk.store().join("commands/1");
    let mut record: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let start = &mut record["group"]["start"];
    *start = (start.as_u64().unwrap() + 1).into();
    fs::write(&file, record.to_string()).unwrap();
    let workspace = desk.open();
    assert_eq!(interrupted(&workspace).ending, Ending::Interrupted);
    for file in ["child", "started"] {
        let process = written(&desk, file).unwrap();
        assert!(lives(process));
        signal(process, "KILL");
    }
}
