//! Kills the program at random moments while it approves and sends.

use std::{
    env,
    io::Read,
    thread,
    time::{Duration, Instant},
};

use machine::contract::AnyExecution;

use crate::world::{World, errors};

/// `CRASH_ROUNDS` kills (default 25), with the random seed `CRASH_SEED`.
///
/// In every round: at most one mail per key; everything that the killed process reported as
/// committed is on disk; and a person can continue from the resulting state, which the test does
/// until the mail is sent once.
#[test]
#[allow(clippy::print_stdout, reason = "the seed must be known when it fails")]
fn killed_at_random_moments() {
    let rounds = number("CRASH_ROUNDS", 25);
    let seed = number("CRASH_SEED", 0x2545_f491_4f6c_dd1d);
    println!("{rounds} rounds from seed {seed}");
    let whole_run = measure();
    let mut random = seed | 1;
    let mut ends = [0; 4];
    for round in 0..rounds {
        // xorshift64: spreads the kills over the run, and is reproducible for a seed.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let moment = whole_run * u32::try_from(random % 1_000).unwrap() / 900;
        let end = one_round(moment, &format!("round {round} of seed {seed}, killed at {moment:?}"));
        ends[end as usize] += 1;
    }
    println!(
        "nothing was committed {}, approved only {}, in doubt {}, sent {}",
        ends[0], ends[1], ends[2], ends[3]
    );
}

/// The state in which a kill left a run.
#[derive(Clone, Copy)]
enum End {
    Waiting,
    Approved,
    InDoubt,
    Sent,
}

fn one_round(moment: Duration, context: &str) -> End {
    let world = World::new();
    let (gate, mail) = world.ask();
    let (gate_text, mail_text) = (gate.to_string(), mail.to_string());

    let mut child = world.command(&["approve", "--yes", &gate_text]).spawn().unwrap();
    thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();

    // The next process recovers.
    let status = world.ok(&["status"]);
    for line in printed.lines().filter_map(|line| line.strip_prefix("committed ")) {
        let (id, path) = line.split_once(": ").unwrap();
        let last = path.rsplit(' ').next().unwrap();
        let found = world.load(id.parse().unwrap());
        assert_eq!(found.status().as_str(), last, "{context}: lost {line}");
    }
    assert!(world.server.received() <= 1, "{context}: two mails");

    let end = match (world.load(gate), world.load(mail)) {
        (AnyExecution::Waiting(_), AnyExecution::Pending(_)) => {
            assert_eq!(world.server.received(), 0, "{context}: sent without approval");
            world.ok(&["approve", "--yes", &gate_text]);
            End::Waiting
        }
        (AnyExecution::Completed(_), AnyExecution::Pending(_)) => {
            assert_eq!(world.server.received(), 0, "{context}: sent without a permit");
            world.ok(&["approve", "--yes", &gate_text]);
            End::Approved
        }
        (AnyExecution::Completed(_), AnyExecution::Waiting(_)) => {
            assert!(status.contains(&format!("IN DOUBT {mail_text}")), "{context}: {status}");
            // While it is in doubt, no command sends it or releases its key.
            let before = world.server.received();
            for command in [["approve", "--yes"], ["reject", "--reason=no"]] {
                let error = world.fails(&[command[0], command[1], &mail_text]);
                assert!(error.contains("in doubt"), "{context}: {error}");
            }
            assert!(!world.run(&["retry", &mail_text]).status.success(), "{context}");
            assert_eq!(world.server.received(), before, "{context}: sent while in doubt");
            settle_truthfully(&world, &mail_text);
            End::InDoubt
        }
        (AnyExecution::Completed(_), AnyExecution::Completed(_)) => End::Sent,
        (gate, mail) => panic!("{context}: {} and {}", gate.status(), mail.status()),
    };
    assert_eq!(world.server.received(), 1, "{context}");
    world.verify();
    let left = std::fs::read_dir(world.folder.path()).unwrap();
    let workers = left
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("-worker-"));
    assert_eq!(workers.count(), 0, "{context}: worker files remain");
    end
}

/// The person checks the mailbox and settles accordingly; retries if there is no mail.
fn settle_truthfully(world: &World, mail: &str) {
    if world.server.received() == 1 {
        world.ok(&["settle", mail, "sent"]);
        let output = world.run(&["retry", mail]);
        assert!(!output.status.success(), "a sent mail was sent again: {}", errors(&output));
    } else {
        world.ok(&["settle", mail, "not-sent"]);
        world.ok(&["retry", mail]);
    }
}

/// The duration of an approval that is not killed.
fn measure() -> Duration {
    let world = World::new();
    let (gate, _) = world.ask();
    let start = Instant::now();
    world.ok(&["approve", "--yes", &gate.to_string()]);
    start.elapsed()
}

fn number(variable: &str, usual: u64) -> u64 {
    match env::var(variable) {
        Ok(text) => {
            text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`, which is not a number"))
        }
        Err(_) => usual,
    }
}
