//! The program as a person uses it.

use std::{
    io::{BufRead, BufReader},
    process::Command,
    sync::mpsc,
    thread,
};

use snapbox::{assert_data_eq, str};

use crate::{
    site::Site,
    testing::{Process, STUCK},
};

const INVOICE: (&str, &str) = ("invoice.txt", "500");

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
    let office = Site::new(&[INVOICE]);
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

/// A waiting engine reports it at once, accepts messages of people, and stops on request.
#[test]
fn it_tells_in_real_time_and_stops() {
    let office = Site::new(&[INVOICE]);
    let mut running = Process::start(&mut office.command(&["run"]));
    let lines = BufReader::new(running.stdout.take().unwrap()).lines();
    let (sender, told) = mpsc::channel();
    let reader = thread::spawn(move || {
        lines.map_while(Result::ok).try_for_each(|line| sender.send(line)).unwrap_or_default();
    });
    let until = |part: &str| while !told.recv_timeout(STUCK).unwrap().contains(part) {};
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
      site.publish → report: failed: the service is down
      site.publish → report: failed: the service is down
      site.publish → report: failed: the service is down
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
