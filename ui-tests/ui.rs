//! Each file in `fail/` has one mistake, is named after it, and has what the compiler says beside
//! it in a `.stderr` file. Each file in `pass/` compiles and runs.

use std::{collections::BTreeSet, fs, io};

use machine::contract::execution::DEFINITION;

/// EX-2, EX-4 and the mistakes that a declaration can have.
#[test]
fn compiler_says() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*/*.rs");
}

/// EX-2: `fail/execution` holds one file for each illegal move of the one table, and no other.
#[test]
fn every_illegal_move_has_a_case() -> io::Result<()> {
    let triggers: BTreeSet<&str> = DEFINITION.edges.iter().map(|edge| edge.trigger).collect();
    let illegal: BTreeSet<String> = DEFINITION
        .states
        .iter()
        .enumerate()
        .flat_map(|(index, state)| triggers.iter().map(move |trigger| (index, state, trigger)))
        .filter(|(index, _, trigger)| DEFINITION.edge(*index, trigger).is_none())
        .map(|(_, state, trigger)| format!("{}_{trigger}", state.name))
        .collect();
    assert_eq!(illegal.len(), 47, "7 states x 8 triggers - 9 legal moves");

    let names_of = |ending: &str| -> io::Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for entry in fs::read_dir("fail/execution")? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            names.extend(name.strip_suffix(ending).map(str::to_owned));
        }
        Ok(names)
    };
    assert_eq!(names_of(".rs")?, illegal);
    assert_eq!(names_of(".stderr")?, illegal, "each with what the compiler says");
    Ok(())
}

/// Each message of the macro has a case in `fail/declaration`.
#[test]
fn every_message_has_a_case() -> io::Result<()> {
    let is_code =
        |text: &&str| text.strip_prefix('M').is_some_and(|number| number.parse::<u16>().is_ok());
    let messages = fs::read_to_string("../machine-derive/src/message.rs")?;
    let codes: BTreeSet<&str> = messages.split('"').filter(is_code).collect();

    let mut said = String::new();
    for entry in fs::read_dir("fail/declaration")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "stderr") {
            said += &fs::read_to_string(path)?;
        }
    }
    let shown: BTreeSet<&str> = said.split(['[', ']']).filter(is_code).collect();
    assert_eq!(shown, codes);
    Ok(())
}

/// What follows from a mistake is not reported as well.
#[test]
fn one_mistake_makes_one_error() -> io::Result<()> {
    let mut more = Vec::new();
    for folder in fs::read_dir("fail")? {
        for entry in fs::read_dir(folder?.path())? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "stderr") {
                continue;
            }
            let mistakes = if path.ends_with("three_mistakes.stderr") { 3 } else { 1 };
            let said = fs::read_to_string(&path)?;
            let errors = said.lines().filter(|line| line.starts_with("error")).count();
            if errors != mistakes {
                more.push((path, errors));
            }
        }
    }
    assert!(more.is_empty(), "{more:#?}");
    Ok(())
}
