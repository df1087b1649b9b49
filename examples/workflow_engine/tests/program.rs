//! The program as a person uses it.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use crate::process::Process;

/// The time limit for anything.
const PATIENCE: Duration = Duration::from_secs(30);

struct Office(TempDir);

impl Office {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("engine.office")).unwrap();
        std::fs::write(folder.path().join("engine.office/invoice.txt"), "500").unwrap();
        Self(folder)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workflow_engine"));
        command.args(words).arg("--db").arg(self.0.path().join("engine.db"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("TZ", "UTC");
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    fn ok(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Submits a task; returns the ids of its record and its engine.
    fn submit(&self, goal: &str) -> [String; 2] {
        let told = self.ok(&["submit", "--goal", goal]);
        let id = |line: &str| line.split(' ').next().unwrap().to_owned();
        let ids: Vec<_> = told.lines().map(id).collect();
        ids.try_into().unwrap()
    }
}

/// The command that is printed for a trigger, without its payload, for a person to use.
fn printed(shown: &str, trigger: &str, name: &str) -> Vec<String> {
    let is_it = |line: &&str| line.contains(&format!(" {trigger} --as NAME"));
    let line = shown.lines().find(is_it).unwrap_or_else(|| panic!("no {trigger}:\n{shown}"));
    let command = &line[line.find("send ").unwrap()..];
    let command = command.split(" --payload").next().unwrap().replace("NAME", name);
    assert!(command.contains(" --seen "), "{command}");
    command.split(' ').map(str::to_owned).collect()
}

fn words(command: &[String]) -> Vec<&str> {
    command.iter().map(String::as_str).collect()
}

#[test]
fn a_person_sees_all_and_decides() {
    let office = Office::new();
    let [record, engine] = office.submit("pay the invoice");
    let told = office.ok(&["run", "--once"]);
    assert_data_eq!(
        told,
        str![[r"
  [..] asks, executing: sensitive_action
      because   500 is more than the limit of 100
      goal      pay the invoice
      so far    files.read → invoice.txt: 500
      agent     The invoice says how much it is; Bob wants to know that it was paid.
      proposed  pay: bank.pay(amount: 500, to: bob)
      later     write a mail: mail.send(text: it is paid, to: bob)

"]]
    );
    let shown = office.ok(&["show", &engine]);
    for part in [
        "MANUAL_INTERVENTION",
        "reason: sensitive_action",
        "explanation: 500 is more than the limit of 100",
        "proposed_action: pay: bank.pay(amount: 500, to: bob)",
        "reasoning: The invoice says how much it is",
        "goal: pay the invoice",
        "files.read → invoice.txt: 500",
        "user_resume --as NAME",
        "user_modify --as NAME",
        "user_terminate --as NAME",
    ] {
        assert!(shown.contains(part), "{part} is missing:\n{shown}");
    }
    assert!(office.ok(&["list", "--attention-only"]).contains("waits for a person"));

    office.ok(&words(&printed(&shown, "user_resume", "ann")));
    assert_data_eq!(
        office.ok(&["run", "--once"]),
        str![[r"
  [..] COMPLETED: pay the invoice: done
      files.read → invoice.txt: 500
      bank.pay → bob: 500: done
      mail.send → bob: done

"]]
    );
    assert!(office.ok(&["show", &record]).contains("COMPLETED"));
    let timeline = office.ok(&["timeline", &engine, "--audience", "diagnostic"]);
    assert!(timeline.contains("ann"), "who resumed is on record:\n{timeline}");
    let calls = office.ok(&["timeline", "--session", &record]);
    assert!(calls.contains("bank.pay → bob: 500"), "{calls}");
    office.ok(&["verify"]);
}

/// Ann and Ben look at the same intervention, and both answer it; then Ben answers once more.
#[test]
fn an_answer_is_for_the_intervention_that_was_shown() {
    let office = Office::new();
    std::fs::write(office.0.path().join("engine.office/site.down"), "retry\n".repeat(3)).unwrap();
    let [record, engine] = office.submit("publish the report");
    assert!(office.ok(&["run", "--once"]).contains("ambiguity"));
    let shown = office.ok(&["show", &engine]);
    let ann = printed(&shown, "user_modify", "ann");
    let payload = ["--payload", r#"{"instruction": "the final one"}"#];
    office.ok(&[words(&ann), payload.to_vec()].concat());
    let ben = printed(&shown, "user_terminate", "ben");
    let refused = |words: &[&str], part: &str| {
        let output = office.run(words);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains(part), "{error}");
    };
    let why = vec!["--payload", r#"{"why": "too late"}"#];
    refused(&[words(&ben), why].concat(), "ann has already answered");
    assert!(office.ok(&["show", &engine]).contains("answered     with `user_modify`"));
    // Ann's is applied, and Ben's is not kept for the next intervention.
    assert!(office.ok(&["run", "--once"]).contains("high_confidence_failure"));
    let resume = printed(&shown, "user_resume", "ben");
    refused(&words(&resume), "has moved on since you looked at it");
    office.ok(&["run", "--once"]);
    assert!(office.ok(&["show", &record]).contains("OPEN"));

    let shown = office.ok(&["show", &engine]);
    office.ok(&words(&printed(&shown, "user_resume", "ann")));
    assert!(office.ok(&["run", "--once"]).contains("COMPLETED: publish the report"));
    let timeline = office.ok(&["timeline", &engine, "--audience", "diagnostic"]);
    assert!(!timeline.contains("ben"), "{timeline}");
    office.ok(&["verify"]);
}

#[test]
fn what_a_person_cannot_send_is_refused() {
    let office = Office::new();
    let [_, engine] = office.submit("greet bob");
    for (words, part) in [
        (&["plan_ready"][..], "not for people"),
        (&["need_intervention"], "not for people"),
        (&["user_modify"], "needs `instruction`"),
        (&["fly"], "no state of `workflow` takes `fly`"),
    ] {
        let output = office.run(&[&["send", &engine, "--as", "ann"], words].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && error.contains(part), "{words:?}: {error}");
    }
}

/// An engine that waits says so at once, takes what a person sends, and stops when it is asked to.
#[test]
fn it_tells_in_real_time_and_stops() {
    let office = Office::new();
    let mut running = Process::start(&mut office.command(&["run"]));
    let lines = BufReader::new(running.stdout.take().unwrap()).lines();
    let (sender, told) = mpsc::channel();
    let reader = thread::spawn(move || {
        lines.map_while(Result::ok).try_for_each(|line| sender.send(line)).unwrap_or_default();
    });
    let until = |part: &str| while !told.recv_timeout(PATIENCE).unwrap().contains(part) {};
    let [_, engine] = office.submit("invite the team");
    until("asks, planning: sensitive_action");
    let payload = r#"{"instruction": "only us"}"#;
    office.ok(&["send", &engine, "user_modify", "--as", "ann", "--payload", payload]);
    until("COMPLETED: invite the team");
    let output = running.stop();
    assert!(output.status.success(), "{output:?}");
    reader.join().unwrap();
}

#[test]
fn the_story_ends_well() {
    let output = Command::new(env!("CARGO_BIN_EXE_workflow_engine")).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    let account = told.split_once("The outcome of each task.\n").unwrap().1;
    assert_data_eq!(
        account,
        str![[r"
  [..] COMPLETED: greet bob: done
      mail.send → bob: done
  [..] COMPLETED: pay the invoice: done
      files.read → invoice.txt: 500
      bank.pay → bob: 500: [..]
      mail.send → bob: done
  [..] COMPLETED: invite the team: done
      mail.send → team: done
  [..] COMPLETED: publish the report: done
      site.publish → report: failed: retry: the service is down
      site.publish → report: failed: retry: the service is down
      site.publish → report: failed: retry: the service is down
      site.publish → report: done
  [..] TERMINATED: clean up: a person ended it: leave my secrets alone
  (payments that the bank has: 1)

"]]
    );
    for reason in [
        "sensitive_action",
        "high_confidence_failure",
        "ambiguity",
        "user_request",
        "security_violation",
    ] {
        assert!(told.contains(reason), "{reason} is missing:\n{told}");
    }
}
