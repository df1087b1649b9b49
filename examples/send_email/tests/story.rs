//! The whole story, as the README starts it: what people do, they do with the commands of the
//! library.

use std::process::Command;

use machine::Id;

use crate::world::{World, errors, printed};

const STORY: &str = include_str!("story.txt");

#[test]
fn the_story_runs() {
    let output = Command::new(env!("CARGO_BIN_EXE_send_email")).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let told = printed(&output);
    for scene in told.split("\n==") {
        assert!(scene.lines().count() <= 24, "more than a screen:\n{scene}");
    }
    assert!(!told.split_whitespace().any(|it| it.parse::<Id>().is_ok()), "long ids:\n{told}");
    for line in told.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    snapbox::assert_data_eq!(told, snapbox::file!["story.txt"]);
}

/// The commands at its end do what it says, together with the one that the list shows.
#[test]
fn the_next_commands_run() {
    let next = STORY.lines().filter_map(|it| it.strip_prefix("  cargo run --package examples -- "));
    let [ask, list, work] = next.collect::<Vec<_>>()[..] else { panic!("not three commands") };
    let world = World::new();
    world.ok(ask);
    let listed = world.ok(list);
    let gate = listed.split(" approve ").nth(1).unwrap().split_whitespace().next().unwrap();
    world.ok(&format!("approve {gate} --as ann --yes"));
    world.ok(work);
    assert_eq!(world.server.received(), 1);
    world.verify();
}

/// Each command that this program shows runs as it is printed, with the name of a person.
#[test]
fn printed_commands_run() {
    let program = env!("CARGO_BIN_EXE_send_email");
    for verb in ["approve", "decline"] {
        let world = World::new();
        // By the agent, or by the list.
        let asked = world.ok("ask --to bob@example.com");
        let listed = if verb == "approve" { asked } else { world.ok("list") };
        let commands = listed.match_indices(program).map(|(start, _)| &listed[start..]);
        let mut commands = commands.map(|text| text.split(['\n', '│']).next().unwrap().trim_end());
        let command = commands.find(|it| it.contains(&format!(" {verb} "))).unwrap();
        let command = format!("{} --yes", command.replace("NAME", "ann"));
        let output = Command::new("sh").args(["-c", &command]).output().unwrap();
        assert!(output.status.success(), "{command}: {}", errors(&output));
        let attention = world.ok("list --attention-only");
        assert!(!attention.contains(verb), "{attention}");
    }
}
