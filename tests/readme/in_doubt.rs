//! The commands of the page about calls in doubt, run as it says.

use std::process::{Command, Stdio};

use machine::Id;
use machine_tests::samples::contradicted;

use super::blocks;
use crate::surfaces::{Place, Ran, end};

const PAGE: &str = include_str!("../../machine/src/docs/in_doubt.md");

/// Runs a command of a page, which names the file and the machine by these words.
pub(crate) fn run(place: &Place, command: &str, [file, name]: [&str; 2], id: &str) -> Ran {
    let whole = command.strip_prefix(&format!("machine --db {file} "));
    let whole = whole.expect(command).replace(name, id);
    let asks = ["approve ", "confirm ", "retry ", "fence "];
    let yes = if asks.iter().any(|verb| whole.starts_with(verb)) { " --yes" } else { "" };
    let mut shell = Command::new("sh");
    let whole = format!("{} {whole}{yes}", place.prefix());
    Ran::of(shell.arg("-c").arg(whole).env_remove("MACHINE_DB").stdin(Stdio::null()))
}

/// The execution that a block is about.
async fn about(place: &Place, block: &str) -> Id {
    if block.contains(" fence ") {
        place.running("bob@example.com").await
    } else if block.contains(" acknowledge ") {
        contradicted(&place.store, "bob@example.com").await
    } else {
        place.doubt("bob@example.com").await
    }
}

/// The number of lines in the operator log.
async fn recorded(place: &Place) -> usize {
    place.store.operations(100, None).await.unwrap().items.len()
}

#[tokio::test]
async fn the_commands_run_and_do_what_the_page_says() {
    for block in blocks(PAGE, "sh") {
        let place = Place::new().await;
        let id = about(&place, block).await;
        for command in block.lines() {
            let before = recorded(&place).await;
            run(&place, command, ["shop.db", "ID"], &end(id)).done();
            let (expected, lines) = match command.split(' ').nth(3).unwrap() {
                "confirm" if command.contains(" applied ") => ("SUCCESS", 1),
                "confirm" | "retry" => ("FAILED", 1),
                "acknowledge" => ("CONTRADICTED", 1),
                "fence" => ("IN_DOUBT", 1),
                _ => ("IN_DOUBT", 0),
            };
            assert_eq!(place.label(id).await.to_string(), expected, "{command}");
            assert_eq!(recorded(&place).await, before + lines, "{command}");
        }
    }
    assert_eq!(blocks(PAGE, "sh").len(), 7);
}

#[test]
fn pages_for_people_are_short() {
    for page in [PAGE, super::decisions::PAGE] {
        assert!(page.split_whitespace().count() <= 500);
    }
}
